//! The numbers of a key, exported by the default provider.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;

use lanecrypt_rsa::{Components, CrtComponents, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::abi::{PAIR, PRIVATE, Param, UNSIGNED};
use crate::fallback::Keys;
use crate::params::Settings;

/// A key as it is used here.
#[expect(clippy::large_enum_variant, reason = "a key has one")]
pub(super) enum Numbers {
    Private(PrivateKey),
    Public(PublicKey),
}

impl Numbers {
    pub(super) fn private(&self) -> Option<&PrivateKey> {
        match self {
            Self::Private(key) => Some(key),
            Self::Public(_) => None,
        }
    }

    pub(super) fn public(&self) -> &PublicKey {
        match self {
            Self::Private(key) => key.public_key(),
            Self::Public(key) => key,
        }
    }
}

/// The names of what two primes make, and of what a third one adds.
const NAMES: [&CStr; 9] = [
    c"n",
    c"e",
    c"d",
    c"rsa-factor1",
    c"rsa-factor2",
    c"rsa-exponent1",
    c"rsa-exponent2",
    c"rsa-coefficient1",
    c"rsa-factor3",
];

/// Numbers, most significant byte first.
type Exported = [Option<Zeroizing<Vec<u8>>>; NAMES.len()];

/// Reads a key; none if it is not one for us.
///
/// # Safety
///
/// The key is one of these functions.
pub(super) unsafe fn read(keys: &Keys, key: *mut c_void) -> Option<Numbers> {
    let (has, export) = (keys.has?, keys.export?);
    // SAFETY: the caller says so.
    let is_private = unsafe { has(key, PRIVATE) } == 1;
    let selection = if is_private { PAIR } else { PAIR & !PRIVATE };
    let mut exported = Exported::default();
    let place = (&raw mut exported).cast();
    // SAFETY: the caller says so, and `take` gets what it wants.
    if unsafe { export(key, selection, Some(take), place) } != 1 {
        return None;
    }
    let numbers = exported.each_ref().map(|number| number.as_ref().map(|bytes| bytes.as_slice()));
    match numbers {
        [Some(n), Some(e), Some(d), Some(p), Some(q), Some(dp), Some(dq), Some(qinv), None] => {
            let crt = Some(CrtComponents { p, q, dp, dq, qinv });
            let key = PrivateKey::from_components(&Components { n, e, d, crt });
            key.ok().map(Numbers::Private)
        }
        // Without the primes, or with more of them, the default provider signs.
        [Some(_), Some(_), Some(_), ..] => None,
        [Some(n), Some(e), None, ..] => PublicKey::new(n, e).ok().map(Numbers::Public),
        _ => None,
    }
}

/// A new public key of the default provider, or null.
///
/// # Safety
///
/// The functions and the context are those of one provider.
pub(super) unsafe fn write(keys: &Keys, context: *mut c_void, public: &PublicKey) -> *mut c_void {
    let (Some(new), Some(import), Some(free)) = (keys.new, keys.import, keys.free) else {
        return ptr::null_mut();
    };
    // SAFETY: the caller says so.
    let key = unsafe { new(context) };
    if key.is_null() {
        return key;
    }
    let mut n = public.n();
    if cfg!(target_endian = "little") {
        n.reverse();
    }
    let mut e = public.e().to_ne_bytes();
    let number = |name: &'static CStr, bytes: &mut [u8]| {
        let mut param = Param::described(name.as_ptr(), UNSIGNED, bytes.len());
        param.data = bytes.as_mut_ptr().cast();
        param
    };
    let params = [number(c"n", &mut n), number(c"e", &mut e), Param::END];
    // SAFETY: a key of the function, and a list.
    if unsafe { import(key, PAIR & !PRIVATE, params.as_ptr()) } == 1 {
        return key;
    }
    // SAFETY: a key of the function, which nobody else has.
    unsafe { free(key) };
    ptr::null_mut()
}

/// Copies what is exported. `place` is [`Exported`].
unsafe extern "C" fn take(params: *const Param, place: *mut c_void) -> c_int {
    // SAFETY: `read` passes it.
    let Some(exported) = (unsafe { place.cast::<Exported>().as_mut() }) else { return 0 };
    // SAFETY: a list of the default provider's.
    for setting in unsafe { Settings::new(params) } {
        let name = setting.name();
        let place = NAMES.iter().zip(&mut *exported).find(|(own, _)| name.is(own));
        if let (Some((_, place)), Some(bytes)) = (place, setting.number_bytes()) {
            let mut bytes = Zeroizing::new(bytes.to_vec());
            if cfg!(target_endian = "little") {
                bytes.reverse();
            }
            *place = Some(bytes);
        }
    }
    1
}
