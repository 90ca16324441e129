//! The numbers of algorithms.

use core::ffi::{c_char, c_int};
use core::num::NonZeroU16;

use lanecrypt_engine::Algorithm;

use crate::code::Code;
use crate::ffi_args::{answer, give, text};

/// The algorithm with this number.
pub(crate) fn of_number(number: c_int) -> Result<Algorithm, Code> {
    let number = u16::try_from(number).ok().and_then(NonZeroU16::new);
    number.and_then(Algorithm::of_c_number).ok_or(Code::UnknownAlgorithm)
}

/// The number of an algorithm; 0 for those of the feature `legacy`, which have none.
pub(crate) fn number(algorithm: Algorithm) -> c_int {
    algorithm.c_number().map_or(0, |number| number.get().into())
}

/// What a caller must know about an algorithm. Lengths are in bytes.
#[repr(C)]
pub(crate) struct Info {
    pub(crate) authenticates: c_int,
    pub(crate) random_nonces: c_int,
    pub(crate) key_len: usize,
    pub(crate) shortest_key_len: usize,
    pub(crate) nonce_len: usize,
    pub(crate) tag_len: usize,
    pub(crate) block_len: usize,
}

/// The number of the algorithm with this name; 0 if there is none.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_algorithm_by_name(name: *const c_char) -> c_int {
    // SAFETY: the caller lends the string for the call.
    let Ok(name) = (unsafe { text(name) }) else { return 0 };
    // SAFETY: the same.
    let name = unsafe { name.read() };
    let name = str::from_utf8(name).ok().and_then(|name| name.parse().ok());
    name.map_or(0, number)
}

/// The name of an algorithm; null if there is none with this number.
#[unsafe(no_mangle)]
extern "C" fn lc_algorithm_name(algorithm: c_int) -> *const c_char {
    of_number(algorithm).map_or(core::ptr::null(), |algorithm| algorithm.c_name().as_ptr())
}

/// The lengths of an algorithm.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_algorithm_info(algorithm: c_int, info: *mut Info) -> c_int {
    answer(|| {
        let algorithm = of_number(algorithm)?;
        let described = Info {
            authenticates: algorithm.is_aead().into(),
            random_nonces: algorithm.needs_random_nonces().into(),
            key_len: algorithm.key_lengths().longest(),
            shortest_key_len: algorithm.key_lengths().shortest(),
            nonce_len: algorithm.nonce_length(),
            tag_len: algorithm.tag_length(),
            block_len: algorithm.granularity(),
        };
        // SAFETY: the caller lends the place for the call.
        unsafe { give(info, described) }
    })
}
