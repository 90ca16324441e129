//! One face for everything that gives out random bytes, so that each check can be run against the
//! generators of the crate and against deliberately wrong ones.

use core::cell::RefCell;

use lanecrypt_random::{
    Generator, Owned, PerCpu, PerThread, Shared, SingleThread, StaticGenerator, Strict,
};

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

impl<G: StaticGenerator> Drawer for PerThread<G> {
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

impl<G: StaticGenerator> Drawer for PerCpu<G> {
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

impl<G: Generator> Drawer for Shared<G> {
    #[inline]
    fn fill(&self, out: &mut [u8]) {
        self.fill(out);
    }

    #[inline]
    fn u32(&self) -> u32 {
        self.u32()
    }

    #[inline]
    fn u64(&self) -> u64 {
        self.u64()
    }
}

/// Not for signal handlers.
impl<G: Generator> Drawer for SingleThread<G> {
    fn fill(&self, out: &mut [u8]) {
        self.fill(out);
    }

    fn u32(&self) -> u32 {
        self.u32()
    }

    fn u64(&self) -> u64 {
        self.u64()
    }
}

/// A [`Shared`] generator that lives as long as the process.
pub(crate) fn shared<G: Generator>() -> &'static Shared<G> {
    Box::leak(Box::new(Shared::new().expect("the kernel has randomness")))
}

/// A generator that is owned; not for signal handlers.
pub(crate) struct OwnedDrawer<G>(RefCell<Owned<G>>);

impl<G: Generator> OwnedDrawer<G> {
    pub(crate) fn new(generator: Owned<G>) -> Self {
        Self(RefCell::new(generator))
    }

    pub(crate) fn reseed(&self) {
        self.0.borrow_mut().reseed().expect("the kernel has randomness");
    }
}

impl<G: Generator> Drawer for OwnedDrawer<G> {
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
