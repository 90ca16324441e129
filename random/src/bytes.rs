//! Random bytes as a value.

use core::mem::MaybeUninit;

use lanecrypt_kernels::wipe;

use crate::fill;

/// Arrays up to this size are returned in general purpose registers, to which they pass through the
/// stack.
const IN_REGISTERS: usize = 16;

/// `N` random bytes. Aborts like [`fill`].
///
/// In optimised builds the bytes are written directly to the caller's memory, and leave no copy on
/// the stack or in vector registers. This function is never inlined, so its machine code is the
/// same for every caller. The caller's use of the array can leave copies, like every move in Rust.
/// Use [`fill`] to put a key that must be wiped into memory that is wiped:
///
/// ```
/// let mut key = zeroize::Zeroizing::new([0; 32]);
/// lanecrypt_random::fill(&mut *key);
/// # assert_ne!(*key, [0; 32]);
/// ```
#[inline(never)]
#[must_use]
pub fn bytes<const N: usize>() -> [u8; N] {
    if N <= IN_REGISTERS {
        return few();
    }
    let mut out = MaybeUninit::<[u8; N]>::uninit();
    // With only this call between the array and the return, the compiler uses one array for both.
    // SAFETY: the array has room for `N` bytes.
    unsafe { fill_at(out.as_mut_ptr().cast(), N) };
    // SAFETY: all of it was filled.
    unsafe { out.assume_init() }
}

/// At most [`IN_REGISTERS`] bytes.
#[inline(always)]
fn few<const N: usize>() -> [u8; N] {
    let mut words = [0_u64; IN_REGISTERS / 8];
    // SAFETY: the words have room for `N` bytes, as the caller has seen.
    unsafe { fill_at(words.as_mut_ptr().cast(), N) };
    // Word by word, because whole arrays go through vector registers.
    let word: *const u64 = words.as_ptr();
    // SAFETY: the pointer is to the first of two words.
    let first = unsafe { word.read_volatile() };
    // SAFETY: this one is to the second.
    let second = unsafe { word.wrapping_add(1).read_volatile() };
    wipe::words(&mut words);
    let both = u128::from(first.to_le()) | u128::from(second.to_le()) << 64;
    // SAFETY: the number has at least `N` bytes, and any bytes make an array.
    unsafe { core::mem::transmute_copy::<u128, [u8; N]>(&both.to_le()) }
}

/// Fills `length` bytes. An `extern "C"` function does not unwind. Otherwise the compiler would
/// have to keep the bytes apart from the caller's array until it returns.
///
/// # Safety
///
/// `out` can be written for `length` bytes.
#[inline(never)]
unsafe extern "C" fn fill_at(out: *mut u8, length: usize) {
    // SAFETY: the caller's promise; whatever fills bytes writes them without reading them before.
    fill(unsafe { core::slice::from_raw_parts_mut(out, length) });
}
