//! A generator that many threads share, with a lock that can be left out or put where a forked
//! child inherits it: the checks must accept it whole and reject it with each fault.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};
use std::thread::yield_now;

use lanecrypt_kernels::chacha::ChaCha;
use lanecrypt_kernels::{Isa, StreamCore};
use lanecrypt_random::SeedCore;

use super::drawer::Drawer;
use super::toy::kernel;

/// What a [`Careless`] generator does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Any number of threads draw at the same time.
    DoesNotLock,
    /// The lock lies in ordinary memory.
    KeepsLockOnFork,
}

const PAGE: usize = 4096;
/// The buffer comes first, then the lock and the number of bytes left.
const BUFFER: usize = PAGE - 64;
const LOCK: usize = BUFFER;
const LEFT: usize = BUFFER + 4;

/// The shared generator. Each refill is keyed by the kernel.
pub(crate) struct Careless {
    page: *mut u8,
    outside: AtomicU32,
    fault: Fault,
}

// SAFETY: the lock keeps threads apart, or their races are what the test is about; every access is
// volatile or atomic.
unsafe impl Sync for Careless {}

impl Careless {
    pub(crate) fn new(fault: Fault) -> Self {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping touches no memory that is in use.
        let page = unsafe { libc::mmap(null_mut(), PAGE, protection, flags, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        // SAFETY: the range is exactly the fresh mapping.
        assert_eq!(unsafe { libc::madvise(page, PAGE, libc::MADV_WIPEONFORK) }, 0);
        Self { page: page.cast(), outside: AtomicU32::new(0), fault }
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: the word lies in the page, aligned, and is only used as an atomic.
        unsafe { &*self.page.wrapping_add(at).cast::<AtomicU32>() }
    }

    fn lock(&self) -> &AtomicU32 {
        if self.fault == Fault::KeepsLockOnFork { &self.outside } else { self.word(LOCK) }
    }

    /// Takes the lock and keeps it.
    pub(crate) fn hold(&self) {
        self.lock().store(1, Ordering::Release);
    }

    fn byte(&self, at: usize) -> *mut u8 {
        assert!(at < BUFFER);
        self.page.wrapping_add(at)
    }

    fn draw(&self, out: &mut [u8]) {
        for out in out {
            let mut left = self.word(LEFT).load(Ordering::Relaxed) as usize;
            if left == 0 {
                let mut seed = [0; 32];
                kernel(&mut seed);
                let mut fresh = [0; BUFFER];
                ChaCha::<8>::from_seed(Isa::PORTABLE, &seed).keystream(&mut fresh);
                for (at, byte) in fresh.into_iter().enumerate() {
                    // SAFETY: the byte lies in the page.
                    unsafe { self.byte(at).write_volatile(byte) };
                }
                left = BUFFER;
            }
            // SAFETY: as above; there are at most `BUFFER` left.
            *out = unsafe { self.byte(BUFFER - left).read_volatile() };
            self.word(LEFT).store(u32::try_from(left - 1).expect("small"), Ordering::Relaxed);
        }
    }
}

impl Drawer for Careless {
    fn fill(&self, out: &mut [u8]) {
        if self.fault != Fault::DoesNotLock {
            let free = || {
                let exchange =
                    self.lock().compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
                exchange.is_ok()
            };
            while !free() {
                yield_now();
            }
        }
        self.draw(out);
        self.lock().store(0, Ordering::Release);
    }
}
