//! One face for everything that gives out random bytes, so that each check can be run against the
//! generators of the crate and against deliberately wrong ones.

use core::cell::RefCell;

use lanecrypt_random::{Erasing, PerThread, SeedCore, Strict, ThreadCore};

/// A source of random bytes. Requests go through a shared reference, as they do where a signal
/// handler draws from the generator that it interrupted.
pub(crate) trait Drawer {
    fn fill(&self, out: &mut [u8]);

    fn u32(&self) -> u32 {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        u32::from_ne_bytes(bytes)
    }

    fn u64(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_ne_bytes(bytes)
    }
}

impl<C: ThreadCore> Drawer for PerThread<C> {
    #[inline]
    fn fill(&self, out: &mut [u8]) {
        Self::fill(out);
    }

    #[inline]
    fn u32(&self) -> u32 {
        Self::u32()
    }

    #[inline]
    fn u64(&self) -> u64 {
        Self::u64()
    }
}

/// A generator that is owned; not for signal handlers.
pub(crate) struct Held<C>(RefCell<Erasing<C>>);

impl<C: SeedCore> Held<C> {
    pub(crate) fn new(generator: Erasing<C>) -> Self {
        Self(RefCell::new(generator))
    }
}

impl<C: SeedCore> Drawer for Held<C> {
    fn fill(&self, out: &mut [u8]) {
        self.0.borrow_mut().fill(out);
    }

    fn u32(&self) -> u32 {
        self.0.borrow_mut().u32()
    }

    fn u64(&self) -> u64 {
        self.0.borrow_mut().u64()
    }
}

/// The calling thread's generator, kernel bytes mixed into each request.
pub(crate) struct StrictThread;

impl Drawer for StrictThread {
    fn fill(&self, out: &mut [u8]) {
        let mut generator: Strict = lanecrypt_random::strict();
        generator.fill(out);
    }
}
