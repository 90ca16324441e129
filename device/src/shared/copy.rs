//! The routines that copy to and from shared memory: bytes of any length, and words of a ring.

use super::arch::{sixteen, sixty_four};

/// Copies bytes of which one side may be changed by another process meanwhile.
///
/// The compiler assumes nothing about the source, in particular not that it is unchanged. A copy of
/// bytes that change meanwhile is a mixture.
///
/// # Safety
///
/// `from` is valid for reads and `to` for writes of `length` bytes, and they do not overlap.
/// Nothing has a reference to the shared one of them.
#[inline]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
    let mut at = 0;
    while length - at >= 64 {
        // SAFETY: `at` is at least 64 less than `length`.
        let from = unsafe { from.add(at) };
        // SAFETY: as above.
        let to = unsafe { to.add(at) };
        // SAFETY: both have 64 more bytes.
        unsafe { sixty_four(from, to) };
        at += 64;
    }
    while length - at >= 16 {
        // SAFETY: `at` is at least 16 less than `length`.
        let from = unsafe { from.add(at) };
        // SAFETY: as above.
        let to = unsafe { to.add(at) };
        // SAFETY: both have 16 more bytes.
        unsafe { sixteen(from, to) };
        at += 16;
    }
    if at < length && length >= 16 {
        // The last sixteen bytes, some of them for the second time.
        at = length - 16;
        // SAFETY: `at` is 16 less than `length`.
        let from = unsafe { from.add(at) };
        // SAFETY: as above.
        let to = unsafe { to.add(at) };
        // SAFETY: both have 16 more bytes.
        unsafe { sixteen(from, to) };
        return;
    }
    while at < length {
        // SAFETY: `at` is less than `length`.
        let from = unsafe { from.add(at) };
        // SAFETY: as above.
        let to = unsafe { to.add(at) };
        // SAFETY: it is valid for reads; a byte has no alignment.
        let byte = unsafe { from.read_volatile() };
        // SAFETY: it is valid for writes.
        unsafe { to.write_volatile(byte) };
        at += 1;
    }
}

/// Copies words of which one side may be changed by another process meanwhile, each by one access.
///
/// # Safety
///
/// `from` is valid for reads of `N` words and aligned for them. Nothing has a reference to them.
#[inline(always)]
pub(super) unsafe fn read_words<const N: usize>(from: *const u64) -> [u64; N] {
    let mut words = [0; N];
    for (at, word) in words.iter_mut().enumerate() {
        // SAFETY: `at` is less than `N`.
        let from = unsafe { from.add(at) };
        // SAFETY: it is aligned and valid for reads.
        *word = unsafe { from.read_volatile() };
    }
    words
}

/// The same in the other direction. The words are in registers: storing them twice, with wider
/// loads in between, would stall.
///
/// # Safety
///
/// `to` is valid for writes of `N` words and aligned for them. Nothing has a reference to them.
#[inline(always)]
pub(super) unsafe fn write_words<const N: usize>(to: *mut u64, words: [u64; N]) {
    for (at, word) in words.into_iter().enumerate() {
        // SAFETY: `at` is less than `N`.
        let to = unsafe { to.add(at) };
        // SAFETY: it is aligned and valid for writes.
        unsafe { to.write_volatile(word) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_at_every_place() {
        let from: Vec<u8> = (0..=255).cycle().take(400).map(|byte: u8| byte ^ 0x5a).collect();
        for offset in 0..17 {
            for length in 0..300 {
                let mut to = vec![0xee; 400];
                let (source, target) = (&from[offset..], &mut to[16 - offset..]);
                assert!(source.len() >= length && target.len() >= length);
                // SAFETY: both are that long, and are different vectors.
                unsafe { copy(source.as_ptr(), target.as_mut_ptr(), length) };
                let begin = 16 - offset;
                assert_eq!(to[begin..begin + length], from[offset..offset + length]);
                assert!(to[..begin].iter().all(|&byte| byte == 0xee), "{offset} {length}");
                assert!(to[begin + length..].iter().all(|&byte| byte == 0xee), "{offset} {length}");
            }
        }
    }
}
