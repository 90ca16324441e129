//! A small generator that protects itself in the way of the real one, and can be made to leave out
//! any one of the protections: the checks must accept it whole and reject it with each defect.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering, compiler_fence};

use lanecrypt_kernels::chacha::ChaCha;
use lanecrypt_kernels::{Isa, StreamCore, wipe};
use lanecrypt_random::SeedCore;

use super::drawer::Drawer;

/// What a [`Toy`] does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    None,
    /// Bytes stay in the page when they are handed out.
    KeepsBytes,
    /// The key of the last refill stays in the page.
    KeepsKey,
    /// The stack and the registers are left as the cipher left them.
    KeepsTraces,
    /// The page is ordinary memory, which a forked child inherits.
    KeepsPageOnFork,
    /// A draw does not see that it interrupts another one.
    DoesNotClaim,
    /// A draw does not see that a fork emptied the page under it.
    DoesNotLookAtLive,
}

const PAGE: usize = 8192;
/// The buffer comes first, then the fields, as in the real one.
const BUFFER: usize = PAGE - 64;
const LEFT: usize = BUFFER;
const LIVE: usize = BUFFER + 4;
const KEY: usize = BUFFER + 16;
const LARGEST: usize = BUFFER - 32;

/// The small generator.
pub(crate) struct Toy {
    page: *mut u8,
    claimed: AtomicBool,
    defect: Defect,
}

// SAFETY: the tests draw from it on one thread; the claim keeps its signal handlers apart.
unsafe impl Sync for Toy {}

impl Toy {
    pub(crate) fn new(defect: Defect) -> Self {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping touches no memory that is in use.
        let page = unsafe { libc::mmap(null_mut(), PAGE, protection, flags, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        if defect != Defect::KeepsPageOnFork {
            // SAFETY: the range is exactly the fresh mapping.
            let result = unsafe { libc::madvise(page, PAGE, libc::MADV_WIPEONFORK) };
            assert_eq!(result, 0);
        }
        Self { page: page.cast(), claimed: AtomicBool::new(false), defect }
    }

    fn read(&self, field: usize) -> usize {
        // SAFETY: the field lies in the page, is aligned, and the page is never unmapped.
        let value = unsafe { self.page.wrapping_add(field).cast::<u32>().read_volatile() };
        value as usize
    }

    fn write(&self, field: usize, value: usize) {
        let value = u32::try_from(value).expect("fields hold small numbers");
        // SAFETY: as in `read`.
        unsafe { self.page.wrapping_add(field).cast::<u32>().write_volatile(value) }
    }

    fn seed(&self) {
        self.write(LEFT, 0);
        self.write(LIVE, 1);
        let mut key = [0; 32];
        kernel(&mut key);
        for (i, &byte) in key.iter().enumerate() {
            // SAFETY: the key lies in the page.
            unsafe { self.page.wrapping_add(KEY + i).write_volatile(byte) }
        }
        wipe::memory(&mut key);
    }

    fn refill(&self) {
        // SAFETY: the page is mapped, and only this draw uses it; the key is 32 of its bytes.
        let key = unsafe { &mut *self.page.wrapping_add(KEY).cast::<[u8; 32]>() };
        let buffer = self.page.cast::<[u8; BUFFER]>();
        // SAFETY: as above; the buffer does not overlap the key.
        let buffer = unsafe { &mut *buffer };
        let isa = Isa::detect();
        keystream(isa, key, buffer);
        // The new key goes where it belongs, the old one is left where the new one was.
        key.swap_with_slice(&mut buffer[..32]);
        if self.defect != Defect::KeepsKey {
            wipe::memory(&mut buffer[..32]);
        }
        if self.defect != Defect::KeepsTraces {
            wipe::stack::<8192>();
            // The C library copies by the widest registers that the processor has.
            wipe::registers();
        }
        self.write(LEFT, LARGEST);
    }

    fn draw(&self, out: &mut [u8]) {
        if self.read(LIVE) == 0 {
            self.seed();
        }
        if self.read(LEFT) < out.len() {
            self.refill();
        }
        // A fork or a handler may have emptied the page since: stay inside of it all the same.
        let left = self.read(LEFT).max(out.len());
        for (i, out) in out.iter_mut().enumerate() {
            let place = self.page.wrapping_add(BUFFER - left + i);
            // SAFETY: the request is no longer than the bytes left, which end with the buffer.
            *out = unsafe { place.read_volatile() };
            if self.defect != Defect::KeepsBytes {
                // SAFETY: as above.
                unsafe { place.write_volatile(0) }
            }
        }
        compiler_fence(Ordering::SeqCst);
        self.write(LEFT, left - out.len());
    }
}

impl Drawer for Toy {
    fn fill(&self, out: &mut [u8]) {
        // Only this thread and its signal handlers look at the flag.
        if self.defect != Defect::DoesNotClaim && self.claimed.swap(true, Ordering::Relaxed) {
            return kernel(out);
        }
        loop {
            for part in out.chunks_mut(LARGEST) {
                self.draw(part);
            }
            if self.read(LIVE) != 0 || self.defect == Defect::DoesNotLookAtLive {
                break;
            }
        }
        self.claimed.store(false, Ordering::Relaxed);
    }
}

impl Drop for Toy {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own.
        unsafe { libc::munmap(self.page.cast(), PAGE) };
    }
}

#[inline(never)]
fn keystream(isa: Isa, key: &[u8; 32], out: &mut [u8]) {
    ChaCha::<20>::from_seed(isa, key).keystream(out);
}

/// Random bytes from the kernel, by system call.
pub(crate) fn kernel(out: &mut [u8]) {
    for part in out.chunks_mut(256) {
        // SAFETY: the pointer and the length describe memory that may be written.
        let result = unsafe { libc::getrandom(part.as_mut_ptr().cast(), part.len(), 0) };
        assert_eq!(usize::try_from(result), Ok(part.len()));
    }
}
