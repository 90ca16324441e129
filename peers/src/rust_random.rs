//! Peer: the generators of the rust-random project, crates `rand`, `chacha20` and `rand_hc`.

use rand::rngs::{ChaCha8Rng, ChaCha12Rng, ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng};
use rand_hc::Hc128Rng;

use crate::{Draw, Failed, Generator, GeneratorPeer, generator};

// A crate's version cannot be asked for, so they stand here; tests/crate_versions.rs holds them
// to the lock file.
const RAND: &str = "rand 0.10.3, chacha20 0.10.2";
const RAND_HC: &str = "rand_hc 0.5.1";

pub(crate) fn generators() -> [GeneratorPeer; 6] {
    let peer = |api, subject, version: &str, make| {
        GeneratorPeer::tried("rand", api, subject, Ok(version.to_owned()), make)
    };
    [
        peer("thread-rng", "chacha12", RAND, || generator(ThreadRng)),
        peer("thread-rng-held", "chacha12", RAND, || generator(Held(rand::rng()))),
        peer("chacha8-rng", "chacha8", RAND, owned::<ChaCha8Rng>),
        peer("chacha12-rng", "chacha12", RAND, owned::<ChaCha12Rng>),
        peer("chacha20-rng", "chacha20", RAND, owned::<ChaCha20Rng>),
        peer("hc128-rng", "hc128", RAND_HC, owned::<Hc128Rng>),
    ]
}

/// A generator of its own, seeded by the kernel.
fn owned<R: SeedableRng + Rng + 'static>() -> Option<Box<dyn Generator>> {
    generator(Held(R::try_from_rng(&mut SysRng).ok()?))
}

/// The thread's generator, looked up at every request, as most programs use it.
struct ThreadRng;

impl Draw for ThreadRng {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        rand::rng().fill_bytes(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(rand::rng().next_u32())
    }
}

/// A generator or a handle that the caller keeps.
struct Held<R>(R);

impl<R: Rng> Draw for Held<R> {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        self.0.fill_bytes(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(self.0.next_u32())
    }
}
