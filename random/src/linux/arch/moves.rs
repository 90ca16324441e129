//! Moving bytes by words.

use crate::linux::words::overlapping;

/// Moves 16 bytes or more.
#[inline(always)]
pub(crate) fn wide(source: &mut [u8], out: &mut [u8]) {
    // The last 8 to 15 bytes go by two words.
    let words = out.len() / 8 * 8 - 8;
    for at in (0..words).step_by(8) {
        // SAFETY: a plain integer.
        unsafe { overlapping::<u64>(&mut source[at..at + 8], &mut out[at..at + 8]) };
    }
    // SAFETY: a plain integer.
    unsafe { overlapping::<u64>(&mut source[words..], &mut out[words..]) };
}
