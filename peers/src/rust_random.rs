//! Peer: the generators of the rust-random project, crates `rand`, `chacha20` and `rand_hc`.

use lanecrypt_kernels::Level;
use rand::rngs::{ChaCha8Rng, ChaCha12Rng, ChaCha20Rng, SysRng};
use rand::{Rng, SeedableRng};
use rand_hc::Hc128Rng;

use crate::project::{Hold, Project};
use crate::{Draw, Failed, Generator, Peer, PeerLibraries, generator};

// A crate's version cannot be asked for, so they stand here; tests/peers/crate_versions.rs holds
// them to the lock file.
const RAND: &str = "rand 0.10.3, chacha20 0.10.2";
const RAND_HC: &str = "rand_hc 0.5.1";

pub(crate) struct RustRandom;

impl Project for RustRandom {
    fn source(&self) -> &'static str {
        "rand"
    }

    /// `chacha20` chooses AVX2; higher code takes a setting of the build.
    fn hold(&self, level: Level) -> Hold {
        if level.includes(Level::Avx2) { Hold::Yes } else { Hold::No }
    }

    fn generators(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Generator>> {
        let peer = |api, subject, version, make: fn() -> Option<_>| {
            Peer::generator(["rand", api, subject], &Ok(version), move |_| make())
        };
        vec![
            peer("thread-rng", "chacha12", RAND, || generator(ThreadRng)),
            peer("thread-rng-held", "chacha12", RAND, || {
                generator(Held(rand::rng(), |held| held.reseed().map_err(|_| Failed)))
            }),
            peer("chacha8-rng", "chacha8", RAND, owned::<ChaCha8Rng>),
            peer("chacha12-rng", "chacha12", RAND, owned::<ChaCha12Rng>),
            peer("chacha20-rng", "chacha20", RAND, owned::<ChaCha20Rng>),
            peer("hc128-rng", "hc128", RAND_HC, owned::<Hc128Rng>),
        ]
    }
}

/// A generator of its own, seeded by the kernel.
fn owned<R: SeedableRng + Rng + 'static>() -> Option<Box<dyn Generator>> {
    let rekey = |held: &mut R| {
        *held = R::try_from_rng(&mut SysRng).map_err(|_| Failed)?;
        Ok(())
    };
    generator(Held(R::try_from_rng(&mut SysRng).ok()?, rekey))
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

    fn rekey(&mut self) -> Result<(), Failed> {
        rand::rng().reseed().map_err(|_| Failed)
    }
}

/// A generator that the caller keeps, or a handle to the thread's, and how it takes a new key.
struct Held<R>(R, fn(&mut R) -> Result<(), Failed>);

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

    fn rekey(&mut self) -> Result<(), Failed> {
        self.1(&mut self.0)
    }
}

/// The HC-128 of `rand_hc`, to compare keystreams with: fills `out` from the start of the stream.
pub fn hc128_keystream(key: &[u8; 16], nonce: &[u8; 16], out: &mut [u8]) {
    let mut seed = [0; 32];
    seed[..16].copy_from_slice(key);
    seed[16..].copy_from_slice(nonce);
    Hc128Rng::from_seed(seed).fill_bytes(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_take_new_keys() {
        for peer in RustRandom.generators(&PeerLibraries::new()) {
            let mut generator = peer.make().expect("crates are always there");
            assert!(generator.rekey(), "{}", peer.api);
            assert_ne!(generator.words(2), generator.words(2));
        }
    }

    #[test]
    fn the_reference_keystream_begins_as_its_author_says() {
        // The first words of the paper's test vector 1: key and nonce zero.
        let mut out = [0; 8];
        hc128_keystream(&[0; 16], &[0; 16], &mut out);
        assert_eq!(out, [0x82, 0x00, 0x15, 0x73, 0xA0, 0x03, 0xFD, 0x3B]);
    }
}
