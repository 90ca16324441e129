//! ARC4's known bias: its second byte of keystream is zero twice as often as it should be (Mantin
//! and Shamir, "A Practical Attack on Broadcast RC4", FSE 2001). A statistic that finds it in the
//! cipher and nothing in the generators shows that it could find something there.

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::StreamCore;
use lanecrypt_random::{
    AesCtr, ChaCha, Erasing, Generator, Owned, PerCpu, PerThread, Rekeying, Salsa, SeedCore, bytes,
};
use lanecrypt_testing::harness::{Case, times};

pub(crate) const CASES: &[Case] = &[
    Case("bias::arc4_second_byte", arc4_second_byte),
    Case("bias::seeded_cores", seeded_cores),
    Case("bias::reseeded_generators", reseeded_generators),
    Case("bias::running_generators", running_generators),
];

/// Positions whose bytes are counted.
const POSITIONS: usize = 16;

fn keys() -> usize {
    times(200_000, 4_000_000)
}

/// How often each of the first bytes was zero.
struct Zeros {
    counts: [u64; POSITIONS],
    streams: u64,
}

impl Zeros {
    fn of(streams: usize, mut next: impl FnMut() -> [u8; POSITIONS]) -> Self {
        let mut counts = [0; POSITIONS];
        for _ in 0..streams {
            for (count, byte) in counts.iter_mut().zip(next()) {
                *count += u64::from(byte == 0);
            }
        }
        Self { counts, streams: streams as u64 }
    }

    /// By how many standard deviations the count at a position lies above that of random bytes.
    fn deviation(&self, position: usize) -> f64 {
        let streams = self.streams as f64;
        let (mean, share) = (streams / 256.0, 1.0 / 256.0);
        (self.counts[position] as f64 - mean) / (streams * share * (1.0 - share)).sqrt()
    }

    /// Asserts that no position stands out. Six standard deviations: once in 30 million runs of 16.
    fn assert_none(&self, what: &str) {
        for position in 0..POSITIONS {
            let deviation = self.deviation(position);
            assert!(deviation.abs() < 6.0, "{what}: byte {position}: {deviation:.1} deviations");
        }
    }
}

/// The first bytes of so many streams under random keys.
fn first_bytes<C: StreamCore>(new: impl Fn(&[u8; 32]) -> C) -> Zeros {
    Zeros::of(keys(), || {
        let mut out = [0; POSITIONS];
        new(&bytes()).keystream(&mut out);
        out
    })
}

fn arc4_second_byte() {
    use lanecrypt_random::Arc4;
    let zeros = first_bytes(|key: &[u8; 32]| {
        let key = lanecrypt_kernels_legacy::arc4::Key::from(
            <&[u8; 16]>::try_from(&key[..16]).expect("16"),
        );
        Arc4::new(Isa::detect(), &key, &())
    });
    let (deviation, share) = (zeros.deviation(1), zeros.counts[1] as f64 / zeros.streams as f64);
    println!(
        "  second byte of ARC4: zero in {:.4} of {} (random: {:.4}), {deviation:.0} deviations",
        share,
        zeros.streams,
        1.0 / 256.0
    );
    // Twice as often: with 200,000 keys that is 28 standard deviations.
    assert!(deviation > 20.0 && (share * 128.0 - 1.0).abs() < 0.1);
    assert!(zeros.deviation(0).abs() < 6.0, "the first byte is not biased towards zero");

    // With the first 3,072 bytes dropped, as the generator drops them, the bias is gone.
    Zeros::of(keys() / 8, || {
        let mut out = [0; POSITIONS];
        Arc4::from_seed(Isa::detect(), &bytes()).keystream(&mut out);
        out
    })
    .assert_none("ARC4 after the discarded bytes");
}

/// The same statistic of the other ciphers, as the generators key them.
fn seeded_cores() {
    fn check<C: SeedCore>(streams: usize) {
        let next = || {
            let mut out = [0; POSITIONS];
            C::from_seed(Isa::detect(), &bytes()).keystream(&mut out);
            out
        };
        Zeros::of(streams, next).assert_none(core::any::type_name::<C>());
    }
    check::<ChaCha<8>>(keys());
    check::<ChaCha<20>>(keys());
    check::<Salsa<8>>(keys());
    check::<Salsa<20>>(keys());
    check::<AesCtr<128>>(keys());
    check::<AesCtr<256>>(keys());
    check::<lanecrypt_random::Hc128>(keys() / 8);
}

/// The first bytes after each of many new keys of a generator.
fn reseeded_generators() {
    fn check<G: Generator>(streams: usize) {
        let mut generator = Owned::<G>::new().expect("the kernel has randomness");
        let next = || {
            let mut out = [0; POSITIONS];
            generator.reseed().expect("the kernel has randomness");
            generator.fill(&mut out);
            out
        };
        Zeros::of(streams, next).assert_none(core::any::type_name::<G>());
    }
    check::<Erasing<ChaCha<20>>>(keys() / 10);
    check::<Rekeying<ChaCha<8>>>(keys() / 10);
    check::<Rekeying<Salsa<20>>>(keys() / 10);
    check::<Rekeying<lanecrypt_random::Arc4>>(keys() / 20);
    #[cfg(feature = "study")]
    check::<lanecrypt_random::Inlined<lanecrypt_random::Hc128>>(keys() / 20);
}

/// One stream cut into pieces: nothing stands out in a generator that runs on.
fn running_generators() {
    fn check(what: &str, mut fill: impl FnMut(&mut [u8])) {
        let next = || {
            let mut out = [0; POSITIONS];
            fill(&mut out);
            out
        };
        Zeros::of(keys(), next).assert_none(what);
    }
    check("PerThread", PerThread::<Erasing<ChaCha<20>>>::fill);
    check("PerCpu", PerCpu::<Erasing<AesCtr<256>>>::fill);
    check("Salsa20", PerThread::<Rekeying<Salsa<20>>>::fill);
    check("ARC4", PerThread::<Rekeying<lanecrypt_random::Arc4>>::fill);
    check("HC-128", PerCpu::<Rekeying<lanecrypt_random::Hc128>>::fill);
}
