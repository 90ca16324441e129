//! Random numbers.

use core::ffi::c_int;

use lanecrypt_random as random;

use crate::code::Code;
use crate::ffi_args::{Bytes, answer, give};

/// Fills memory with random bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_random(out: *mut u8, len: usize) -> c_int {
    answer(|| {
        let out = Bytes::output(out, len)?;
        // SAFETY: the caller lends the bytes for the call. They are only written.
        Ok(random::try_fill(unsafe { out.write() })?)
    })
}

/// A random number of 32 bits.
#[unsafe(no_mangle)]
extern "C" fn lc_random_u32() -> u32 {
    random::u32()
}

/// A random number of 64 bits.
#[unsafe(no_mangle)]
extern "C" fn lc_random_u64() -> u64 {
    random::u64()
}

/// A random number below a bound; 0 if the bound is 0.
#[unsafe(no_mangle)]
extern "C" fn lc_random_below(bound: u64) -> u64 {
    match bound.checked_sub(1) {
        Some(highest) => random::range(0..=highest),
        None => 0,
    }
}

/// A random number of a range.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_random_range(low: u64, high: u64, out: *mut u64) -> c_int {
    answer(|| {
        if low > high {
            return Err(Code::Range);
        }
        // SAFETY: the caller lends the place for the call.
        unsafe { give(out, random::range(low..=high)) }
    })
}
