//! How the measured loops draw from our generators, in every place.

use core::marker::PhantomData;
use std::sync::Arc;

use lanecrypt_peers::{Draw, Failed};
use lanecrypt_random::{EntropyError, Generator, Held, PerCpu, PerThread, Placed, Shared, Single};

use crate::unsynchronised::Unsynchronised;

/// The functions at the root of `lanecrypt_random`, as most programs call them.
pub(crate) struct Root;

impl Draw for Root {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        lanecrypt_random::fill(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(lanecrypt_random::u32())
    }

    fn rekey(&mut self) -> Result<(), Failed> {
        keyed(PerThread::<lanecrypt_random::Erasing>::reseed())
    }
}

/// The calling thread's generator.
pub(crate) struct OfThread<G>(PhantomData<G>);

impl<G: Placed> OfThread<G> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<G: Placed> Draw for OfThread<G> {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        PerThread::<G>::fill(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(PerThread::<G>::u32())
    }

    fn rekey(&mut self) -> Result<(), Failed> {
        keyed(PerThread::<G>::reseed())
    }
}

/// The processor's generator.
pub(crate) struct OfCpu<G>(PhantomData<G>);

impl<G: Placed> OfCpu<G> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<G: Placed> Draw for OfCpu<G> {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        PerCpu::<G>::fill(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(PerCpu::<G>::u32())
    }

    fn rekey(&mut self) -> Result<(), Failed> {
        keyed(PerCpu::<G>::reseed())
    }
}

/// A generator that its user holds.
pub(crate) struct InHand<G>(pub(crate) Held<G>);

impl<G: Generator> Draw for InHand<G> {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        self.0.fill(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(self.0.u32())
    }

    fn rekey(&mut self) -> Result<(), Failed> {
        keyed(self.0.reseed())
    }
}

/// The generator of a program of one thread.
pub(crate) struct OfProgram<G>(pub(crate) Single<G>);

impl<G: Generator> Draw for OfProgram<G> {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        self.0.fill(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(self.0.u32())
    }

    fn rekey(&mut self) -> Result<(), Failed> {
        keyed(self.0.reseed())
    }
}

/// One generator of all threads, behind a lock.
pub(crate) struct OfAll<G>(pub(crate) Arc<Shared<G>>);

impl<G: Generator> Draw for OfAll<G> {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        self.0.fill(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(self.0.u32())
    }

    fn rekey(&mut self) -> Result<(), Failed> {
        keyed(self.0.reseed())
    }
}

/// One state of all threads, without a lock.
pub(crate) struct OfNobody(pub(crate) Arc<Unsynchronised>);

impl Draw for OfNobody {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        self.0.fill(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(self.0.word())
    }

    fn rekey(&mut self) -> Result<(), Failed> {
        self.0.rekey(&lanecrypt_random::bytes());
        Ok(())
    }
}

fn keyed(result: Result<(), EntropyError>) -> Result<(), Failed> {
    result.map_err(|_| Failed)
}
