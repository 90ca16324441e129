//! The settings of a signature, as the default provider's context tells them.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;

use lanecrypt_rsa::Padding;

use crate::abi::{INTEGER, Param, UTF8};
use crate::fallback::Signatures;
use crate::hasher::Name;
use crate::signature::{self, Side};

/// `RSA_..._PADDING`
const PKCS1: c_int = 1;
const PSS: c_int = 6;

/// `RSA_PSS_SALTLEN_...`: as long as the digest; when a signature is made, the longest, when it is
/// checked, any; the longest; as before, but no longer than the digest.
const DIGEST: c_int = -1;
const AUTO: c_int = -2;
const LONGEST: c_int = -3;
const AUTO_DIGEST: c_int = -4;

/// The settings of a context.
#[derive(Default)]
pub(crate) struct Settings {
    mode: i32,
    salt: i32,
    hash: Name,
    mask: Name,
}

impl Settings {
    /// The padding for keys of so many bits; none if it is not one of ours.
    pub(super) fn padding(&self, side: Side, bits: usize) -> Option<Padding> {
        let hash = self.hash.hash()?;
        match self.mode {
            PKCS1 => Some(Padding::pkcs1v15(hash)),
            PSS if self.mask.hash() == Some(hash) => {
                let salt = salt_length(self.salt, side, hash.length(), bits)?;
                Some(Padding::pss_with_salt_length(hash, salt))
            }
            _ => None,
        }
    }

    /// ParamsOut, or settings for another context: the last two are for PSS only.
    fn params(&mut self) -> [Param; 5] {
        let integer = |name: &'static CStr, place: &mut i32| {
            let mut param = Param::described(name.as_ptr(), INTEGER, size_of::<i32>());
            param.data = ptr::from_mut(place).cast();
            param
        };
        [
            self.hash.param(c"digest"),
            integer(c"pad-mode", &mut self.mode),
            self.mask.param(c"mgf1-digest"),
            integer(c"saltlen", &mut self.salt),
            Param::END,
        ]
    }
}

impl signature::Settings for Settings {
    unsafe fn of(functions: &Signatures, context: *mut c_void) -> Option<Self> {
        let get_params = functions.get_params?;
        let mut settings = Self::default();
        let mut params = settings.params();
        // SAFETY: the caller says so; each param_out has a place of its size.
        let status = unsafe { get_params(context, params.as_mut_ptr()) };
        (status == 1).then_some(settings)
    }

    fn list<T>(&mut self, set: impl FnOnce(*const Param) -> T) -> T {
        let is_pss = self.mode == PSS;
        let mut params = self.params();
        for param in params.iter_mut().filter(|param| param.data_type == UTF8) {
            Name::shorten(param);
        }
        if !is_pss {
            params[2] = Param::END;
        }
        set(params.as_ptr())
    }
}

/// The length of a salt in bytes; none if it is not fixed.
fn salt_length(setting: c_int, side: Side, digest: usize, bits: usize) -> Option<usize> {
    let longest = (bits - 1).div_ceil(8).checked_sub(digest + 2)?;
    match (setting, side) {
        (DIGEST, _) => Some(digest),
        (LONGEST, _) | (AUTO, Side::Sign) => Some(longest),
        (AUTO_DIGEST, Side::Sign) => Some(longest.min(digest)),
        (length, _) => usize::try_from(length).ok().filter(|&length| length <= longest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_salts() {
        let of = |setting, side| salt_length(setting, side, 32, 2048);
        assert_eq!(of(DIGEST, Side::Verify), Some(32));
        assert_eq!(of(AUTO, Side::Sign), Some(222));
        assert_eq!(of(AUTO, Side::Verify), None);
        assert_eq!(of(LONGEST, Side::Verify), Some(222));
        assert_eq!(of(AUTO_DIGEST, Side::Sign), Some(32));
        assert_eq!(of(AUTO_DIGEST, Side::Verify), None);
        assert_eq!([of(0, Side::Sign), of(222, Side::Sign)], [Some(0), Some(222)]);
        assert_eq!([of(223, Side::Sign), of(-5, Side::Sign)], [None, None]);
        // The message has one byte less than the modulus.
        assert_eq!(salt_length(LONGEST, Side::Sign, 32, 2049), Some(222));
        assert_eq!(salt_length(DIGEST, Side::Sign, 64, 512), None);
    }
}
