//! Ciphers without authentication: what AES-CTR, -CBC and -XTS have in common.

pub(crate) mod cbc;
pub(crate) mod ctr;
mod padding;
mod record;
pub(crate) mod xts;

use core::ffi::c_void;

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, wipe};

use crate::abi::{Context, DescribedContext, Param, described};
use crate::cipher::{CipherContext, Request};
use crate::count::Count;
use crate::info::Info;
use crate::memory::{Buffers, Plain};
use crate::params::{ParamsOut, Settings};

/// The length of vectors, and of blocks if there are any.
pub(crate) const BLOCK: usize = 16;
/// The longest code of a record of TLS.
const LONGEST_CODE: usize = 64;

/// A keyed cipher in a mode.
///
/// # Safety
///
/// As for [`Plain`].
pub(crate) unsafe trait Mode: Sized {
    const INFO: Info;
    /// Whether a call without a vector takes the last one again.
    const RESTORES_IV: bool;
    /// Whether padding and records of TLS can be set.
    const HAS_SETTINGS: bool = true;

    fn empty(isa: Isa) -> Self;
    fn set_key(&mut self, key: &[u8]);
    /// Whether the key may be used.
    fn admits(_key: &[u8], _encrypts: bool) -> bool {
        true
    }
    /// The next bytes, as `EVP_Cipher` gives them.
    fn crypt(context: &mut PlainContext<Self>, data: InOutBuf<'_, '_, u8>) -> bool;
    fn update(context: &mut PlainContext<Self>, request: Request) -> Option<usize>;
    fn finish(context: &mut PlainContext<Self>, out: *mut u8, room: usize) -> Option<usize>;
}

/// The context of one cipher.
#[repr(C, align(64))]
pub(crate) struct PlainContext<M: Mode> {
    pub(crate) encrypts: bool,
    pub(crate) has_key: bool,
    pub(crate) has_iv: bool,
    pub(crate) pads: bool,
    /// Bytes of `block`: used ones of keystream, or those that wait.
    pub(crate) filled: usize,
    /// The number that OpenSSL calls `num`.
    pub(crate) number: u32,
    /// The version of TLS whose records these are, and the length of their code.
    tls_version: u32,
    tls_code: usize,
    pub(crate) count: Count,
    pub(crate) iv: [u8; BLOCK],
    first_iv: [u8; BLOCK],
    pub(crate) block: [u8; BLOCK],
    /// The code of the last record.
    code: [u8; LONGEST_CODE],
    has_code: bool,
    pub(crate) cipher: M,
}

// SAFETY: plain bytes, numbers and a key, which are as the trait says.
unsafe impl<M: Mode> Plain for PlainContext<M> {}

impl<M: Mode> Drop for PlainContext<M> {
    /// The key wipes itself.
    fn drop(&mut self) {
        wipe::memory(&mut self.block);
        wipe::memory(&mut self.code);
    }
}

impl<M: Mode> CipherContext for PlainContext<M> {
    const INFO: Info = M::INFO;
    const GETTABLE: DescribedContext = gettable;
    const SETTABLE: DescribedContext = settable;
    const SKIPS_EMPTY: bool = false;

    #[inline]
    fn new(isa: Isa) -> Self {
        Self {
            encrypts: false,
            has_key: false,
            has_iv: false,
            pads: true,
            filled: 0,
            number: 0,
            tls_version: 0,
            tls_code: 0,
            count: Count::of_new_context(),
            iv: [0; BLOCK],
            first_iv: [0; BLOCK],
            block: [0; BLOCK],
            code: [0; LONGEST_CODE],
            has_code: false,
            cipher: M::empty(isa),
        }
    }

    fn count(&mut self) -> &mut Count {
        &mut self.count
    }

    fn init(&mut self, encrypts: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> bool {
        (self.number, self.filled, self.encrypts) = (0, 0, encrypts);
        if let Some(iv) = iv {
            let Ok(iv) = iv.try_into() else { return false };
            (self.iv, self.first_iv, self.has_iv) = (iv, iv, true);
        } else if self.has_iv && M::RESTORES_IV {
            self.iv = self.first_iv;
        }
        if let Some(key) = key {
            if key.len() != M::INFO.key || !M::admits(key, encrypts) {
                return false;
            }
            self.cipher.set_key(key);
            self.has_key = true;
        }
        true
    }

    fn update(&mut self, request: Request) -> Option<usize> {
        let done = if self.has_key { M::update(self, request) } else { None };
        self.count.one_more();
        done
    }

    fn finish(&mut self, out: *mut u8, room: usize) -> Option<usize> {
        M::finish(self, out, room)
    }

    /// The next bytes, without padding.
    fn cipher(&mut self, request: Request) -> Option<usize> {
        let data = request.data();
        self.count.one_more();
        let good = self.has_key && data.is_some_and(|data| M::crypt(self, data));
        good.then_some(request.length)
    }

    fn get(&mut self, params_out: ParamsOut<'_>) -> bool {
        for mut param_out in params_out {
            let name = param_out.name();
            let good = if name.is(c"ivlen") {
                param_out.size(BLOCK)
            } else if name.is(c"keylen") {
                param_out.size(M::INFO.key)
            } else if name.is(c"padding") {
                param_out.small(self.pads.into())
            } else if name.is(c"iv") {
                param_out.octets_or_pointer(&self.first_iv)
            } else if name.is(c"updated-iv") {
                param_out.octets_or_pointer(&self.iv)
            } else if name.is(c"num") {
                param_out.small(self.number)
            } else if name.is(c"tls-mac") {
                let code = self.code.get(..self.tls_code).filter(|_| self.has_code);
                param_out.octets_pointer(code, self.tls_code)
            } else {
                true
            };
            if !good {
                return false;
            }
        }
        true
    }

    fn set(&mut self, settings: Settings<'_>) -> bool {
        let small = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
        for setting in settings {
            let name = setting.name();
            let good = if !M::HAS_SETTINGS && !name.is(c"keylen") {
                Some(())
            } else if name.is(c"padding") {
                small(setting.number()).map(|pads| self.pads = pads != 0)
            } else if name.is(c"num") {
                small(setting.number()).map(|number| self.number = number)
            } else if name.is(c"keylen") {
                setting.size().filter(|&length| length == M::INFO.key).map(|_| ())
            } else if name.is(c"tls-version") {
                small(setting.number()).map(|version| self.tls_version = version)
            } else if name.is(c"tls-mac-size") {
                let length = setting.size().filter(|&length| length <= LONGEST_CODE);
                length.map(|length| self.tls_code = length)
            } else {
                Some(())
            };
            if good.is_none() {
                return false;
            }
        }
        true
    }
}

impl Request {
    /// Whether input and output, which may be a block longer, have bytes in common.
    fn overlaps(self) -> bool {
        let (out, input) = (self.out.addr(), self.input.addr());
        let end = |start: usize| start.saturating_add(self.length).saturating_add(BLOCK);
        out < end(input) && input < end(out)
    }

    /// The buffers, if the output has room for all of the input.
    #[inline]
    fn data<'a>(self) -> Option<InOutBuf<'a, 'a, u8>> {
        match self.buffers() {
            Some(Buffers::Data(data)) => Some(data),
            _ => None,
        }
    }
}

unsafe extern "C" fn gettable(_: Context, _: *mut c_void) -> *const Param {
    described!(
        c"keylen" size, c"ivlen" size, c"padding" unsigned, c"num" unsigned, c"iv" octets,
        c"updated-iv" octets, c"tls-mac" octets_pointer,
    )
}

unsafe extern "C" fn settable(_: Context, _: *mut c_void) -> *const Param {
    described!(
        c"padding" unsigned, c"num" unsigned, c"tls-version" unsigned, c"tls-mac-size" size,
    )
}
