//! The portable versions of what `x86_64` does with instructions of x86-64.

/// Whether options of sockets have their usual numbers.
pub(super) const USUAL_OPTIONS: bool = cfg!(any(target_arch = "aarch64", target_arch = "riscv64"));

#[inline(always)]
pub(super) unsafe fn sixty_four(from: *const u8, to: *mut u8) {
    for part in 0..4 {
        // SAFETY: 16 bytes from there on are within the 64.
        let from = unsafe { from.add(16 * part) };
        // SAFETY: as above.
        let to = unsafe { to.add(16 * part) };
        // SAFETY: both have 16 bytes.
        unsafe { sixteen(from, to) };
    }
}

#[inline(always)]
pub(super) unsafe fn sixteen(from: *const u8, to: *mut u8) {
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
