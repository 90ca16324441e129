//! The one routine that copies to and from shared memory.

/// Copies bytes of which one side may be changed by another process meanwhile.
///
/// The compiler knows nothing about what is copied: it neither reads a byte twice nor assumes that it
/// stays as it was. What is copied while it changes is a mixture.
///
/// # Safety
///
/// `from` is valid for reads and `to` for writes of `length` bytes, and they do not overlap. Nothing
/// has a reference to the shared one of them.
#[inline]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
    let whole = length & !15;
    let mut at = 0;
    while at < whole {
        // SAFETY: `at` is at least 16 less than `length`.
        let from = unsafe { from.add(at) };
        // SAFETY: as above.
        let to = unsafe { to.add(at) };
        // SAFETY: both have 16 more bytes.
        unsafe { sixteen(from, to) };
        at += 16;
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

#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn sixteen(from: *const u8, to: *mut u8) {
    // SAFETY: every x86-64 processor has these instructions. They read and write the 16 bytes that
    // the caller vouches for, and change nothing else but the named register.
    unsafe {
        core::arch::asm!(
            "movups {bytes}, xmmword ptr [{from}]",
            "movups xmmword ptr [{to}], {bytes}",
            bytes = out(xmm_reg) _,
            from = in(reg) from,
            to = in(reg) to,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn sixteen(from: *const u8, to: *mut u8) {
    let (words, rooms) = (from.cast::<u64>(), to.cast::<u64>());
    if words.is_aligned() && rooms.is_aligned() {
        // SAFETY: it is aligned and valid for 16 bytes.
        let first = unsafe { words.read_volatile() };
        // SAFETY: as above.
        let second = unsafe { words.add(1) };
        // SAFETY: as above.
        let second = unsafe { second.read_volatile() };
        // SAFETY: it is aligned and valid for 16 bytes.
        unsafe { rooms.write_volatile(first) };
        // SAFETY: as above.
        let behind = unsafe { rooms.add(1) };
        // SAFETY: as above.
        unsafe { behind.write_volatile(second) };
        return;
    }
    for at in 0..16 {
        // SAFETY: both have 16 bytes.
        let from = unsafe { from.add(at) };
        // SAFETY: as above.
        let to = unsafe { to.add(at) };
        // SAFETY: it is valid for reads; a byte has no alignment.
        let byte = unsafe { from.read_volatile() };
        // SAFETY: it is valid for writes.
        unsafe { to.write_volatile(byte) };
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
