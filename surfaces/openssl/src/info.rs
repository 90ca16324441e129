//! What OpenSSL asks about a cipher before it has a context.

use core::ffi::{CStr, c_int, c_void};

use crate::abi::{Param, described};
use crate::memory::status;
use crate::params::ParamsOut;

/// The fixed properties of a cipher. Lengths are bytes.
pub(crate) struct Info {
    /// The number of the mode (`EVP_CIPH_..._MODE`).
    pub(crate) mode: u32,
    pub(crate) key: usize,
    pub(crate) iv: usize,
    /// The length of a block; 1 for ciphers that take any length.
    pub(crate) block: usize,
    pub(crate) is_aead: bool,
    /// Whether OpenSSL leaves initialization vectors to the cipher.
    pub(crate) own_iv: bool,
}

/// Modes of operation.
pub(crate) const NO_MODE: u32 = 0;
pub(crate) const CBC: u32 = 2;
pub(crate) const CTR: u32 = 5;
pub(crate) const GCM: u32 = 6;
pub(crate) const XTS: u32 = 0x10001;

/// Properties that no cipher here has.
const NONE: [&CStr; 4] = [c"cts", c"tls-multi", c"has-randkey", c"encrypt-then-mac"];

impl Info {
    /// A cipher with authentication, for messages of any length.
    pub(crate) const fn aead(mode: u32, key: usize) -> Self {
        Self { iv: 12, is_aead: true, own_iv: true, ..Self::plain(mode, key) }
    }

    /// A cipher without authentication, for messages of any length.
    pub(crate) const fn plain(mode: u32, key: usize) -> Self {
        Self { mode, key, iv: 16, block: 1, is_aead: false, own_iv: false }
    }

    /// Answers params_out.
    ///
    /// # Safety
    ///
    /// `params` is as [`ParamsOut::new`] wants it.
    pub(crate) unsafe fn get_params(&self, params: *mut Param) -> c_int {
        // SAFETY: the caller says so.
        let mut params_out = unsafe { ParamsOut::new(params) };
        status(params_out.all(|mut param_out| {
            let name = param_out.name();
            if name.is(c"mode") {
                param_out.small(self.mode)
            } else if name.is(c"keylen") {
                param_out.size(self.key)
            } else if name.is(c"ivlen") {
                param_out.size(self.iv)
            } else if name.is(c"blocksize") {
                param_out.size(self.block)
            } else if name.is(c"aead") {
                param_out.small(self.is_aead.into())
            } else if name.is(c"custom-iv") {
                param_out.small(self.own_iv.into())
            } else if NONE.iter().any(|property| name.is(property)) {
                param_out.small(0)
            } else {
                true
            }
        }))
    }
}

/// The parameters that [`Info::get_params`] answers.
pub(crate) unsafe extern "C" fn gettable(_: *mut c_void) -> *const Param {
    described!(
        c"mode" unsigned, c"keylen" size, c"ivlen" size, c"blocksize" size, c"aead" integer,
        c"custom-iv" integer, c"cts" integer, c"tls-multi" integer, c"has-randkey" integer,
        c"encrypt-then-mac" integer,
    )
}
