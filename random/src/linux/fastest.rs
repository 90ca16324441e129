//! The default core of a generator.

use inout::InOutBuf;
use lanecrypt_kernels::aes::AesCtr;
use lanecrypt_kernels::chacha::ChaCha;
use lanecrypt_kernels::{Isa, StreamCore};
use zeroize::ZeroizeOnDrop;

use crate::linux::core_type::{ErasingCore, SeedCore};

/// The fastest core that the processor runs in constant time: AES-256 in counter mode if it has AES
/// instructions, otherwise ChaCha20.
///
/// Both have keys of 256 bits. The level of the instruction set decides when the core gets its key,
/// once for each refill. Handing out bytes does not depend on it.
#[derive(Debug)]
pub struct Fastest(Core);

/// All bytes zero is the first variant with all bytes zero.
#[derive(Debug)]
#[repr(u8)]
#[expect(clippy::large_enum_variant, reason = "the larger one is the usual one")]
enum Core {
    Aes(AesCtr<256>),
    ChaCha(ChaCha<20>),
}

impl Fastest {
    /// The name of the core on processors of this level: `"aes-256-ctr"` or `"chacha20"`.
    #[must_use]
    pub fn name(isa: Isa) -> &'static str {
        if Self::is_aes(isa) { "aes-256-ctr" } else { "chacha20" }
    }

    #[inline]
    fn is_aes(isa: Isa) -> bool {
        isa.has_aes()
    }
}

impl StreamCore for Fastest {
    type Key = [u8; 32];
    type Nonce = [u8; 8];
    /// One block of ChaCha20, or four of AES.
    const BLOCK: usize = 64;

    /// In counter mode the nonce is the first half of the first counter block.
    #[inline]
    fn new(isa: Isa, key: &[u8; 32], nonce: &[u8; 8]) -> Self {
        Self(if Self::is_aes(isa) {
            let mut counter = [0; 16];
            counter[..8].copy_from_slice(nonce);
            Core::Aes(AesCtr::<256>::new(isa, key, &counter))
        } else {
            Core::ChaCha(ChaCha::new(isa, &key.into(), nonce))
        })
    }

    fn remaining(&self) -> u64 {
        match &self.0 {
            Core::Aes(core) => core.remaining() / 4,
            Core::ChaCha(core) => core.remaining(),
        }
    }

    #[inline]
    fn keystream(&mut self, out: &mut [u8]) {
        match &mut self.0 {
            Core::Aes(core) => core.keystream(out),
            Core::ChaCha(core) => core.keystream(out),
        }
    }

    #[inline]
    fn xor(&mut self, data: InOutBuf<'_, '_, u8>) {
        match &mut self.0 {
            Core::Aes(core) => core.xor(data),
            Core::ChaCha(core) => core.xor(data),
        }
    }
}

/// Each core wipes itself.
impl ZeroizeOnDrop for Fastest {}

// SAFETY: this holds for both cores, and all bytes zero is the first variant with all bytes zero.
// If a fork empties the tag in the middle of a method, the method continues with the core that it
// has found.
unsafe impl SeedCore for Fastest {
    #[inline]
    fn stack(isa: Isa) -> usize {
        if Self::is_aes(isa) { AesCtr::<256>::stack(isa) } else { ChaCha::<20>::stack(isa) }
    }

    /// The seed is the key; the nonce is zero.
    #[inline]
    fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self {
        Self::new(isa, seed, &[0; 8])
    }
}

impl ErasingCore for Fastest {}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::Level;

    use super::*;

    fn stream<C: SeedCore>(isa: Isa, seed: &[u8; 32]) -> Vec<u8> {
        let mut core = C::from_seed(isa, seed);
        let mut out = vec![0; 100_000];
        // Whole blocks of both, then a part of one.
        let (first, rest) = out.split_at_mut(64 * 7);
        core.keystream(first);
        core.keystream(rest);
        out
    }

    #[test]
    fn it_is_the_core_of_its_name_at_every_level() {
        for &level in Level::built() {
            let isa = Isa::of_processor().at_most(level);
            let aes = isa.has_aes();
            assert_eq!(Fastest::name(isa), if aes { "aes-256-ctr" } else { "chacha20" });
            let seed = [level as u8 + 1; 32];
            let named = if aes { stream::<AesCtr<256>> } else { stream::<ChaCha<20>> };
            assert!(stream::<Fastest>(isa, &seed) == named(isa, &seed), "at {level}");
        }
    }

    #[test]
    fn all_bytes_zero_is_a_value() {
        // SAFETY: what this test is about.
        let mut core: Fastest = unsafe { core::mem::zeroed() };
        let mut out = [0xEE; 80];
        core.keystream(&mut out);
        assert!(matches!(core.0, Core::Aes(_)));
        assert_ne!(out, [0xEE; 80]);
    }
}
