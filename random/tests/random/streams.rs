//! What comes out: the traits, the look of the bytes, what a copied state repeats and what not.

use crate::common::drawer::{Drawer, OwnedDrawer, StrictThread, shared};
use crate::common::{maps, processors, windows};
#[cfg(feature = "study")]
use lanecrypt_random::Inlined;
use lanecrypt_random::{
    AesCtr, ChaCha, Erasing, ErasingCore, Fastest, Generator, Isa, Level, Owned, PerCpu, PerThread,
    Rekeying, Salsa, SingleThread, StaticGenerator,
};
use lanecrypt_random::{Arc4, Hc128};
use lanecrypt_testing::harness::{Case, skipped, times};

pub(crate) const CASES: &[Case] = &[
    Case("streams::rand_core_010", rand_core_010),
    #[cfg(feature = "rand_core_09")]
    Case("streams::rand_core_09", rand_core_09),
    #[cfg(feature = "rand_core_06")]
    Case("streams::rand_core_06", rand_core_06),
    Case("streams::generators_differ", generators_differ),
    Case("streams::every_length_is_filled", every_length_is_filled),
    Case("streams::memory_need_not_be_initialised", memory_need_not_be_initialised),
    Case("streams::bits_look_random", bits_look_random),
    Case("streams::copied_state", copied_state),
    Case("streams::defects_are_found", defects_are_found),
];

/// Draws of all three kinds, by functions of one of the traits.
fn drawn(u32: u32, u64: u64, fill: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    fill(&mut bytes);
    bytes.extend_from_slice(&u32.to_ne_bytes());
    bytes.extend_from_slice(&u64.to_ne_bytes());
    bytes
}

fn held<C: ErasingCore + 'static>() -> Owned<Erasing<C>> {
    Owned::new().expect("the kernel has randomness")
}

fn rand_core_010() {
    use rand_core::{CryptoRng, Rng};
    fn draw(generator: &mut impl CryptoRng) -> Vec<u8> {
        drawn(generator.next_u32(), generator.next_u64(), |out| generator.fill_bytes(out))
    }
    fn as_object(generator: &mut dyn Rng) -> Vec<u8> {
        drawn(generator.next_u32(), generator.next_u64(), |out| generator.fill_bytes(out))
    }
    let mut chacha = held::<ChaCha<20>>();
    let records = [
        draw(&mut lanecrypt_random::rng()),
        draw(&mut PerThread::<Erasing<AesCtr<256>>>::new()),
        draw(&mut lanecrypt_random::strict()),
        draw(&mut chacha),
        draw(&mut held::<ChaCha<12>>()),
        draw(&mut held::<AesCtr<256>>().strict()),
        as_object(&mut lanecrypt_random::rng()),
        as_object(&mut chacha),
    ];
    windows::assert_unique("rand_core 0.10", records.iter().map(Vec::as_slice));
}

#[cfg(feature = "rand_core_09")]
fn rand_core_09() {
    use rand_core_09::CryptoRng;
    fn draw(generator: &mut impl CryptoRng) -> Vec<u8> {
        drawn(generator.next_u32(), generator.next_u64(), |out| generator.fill_bytes(out))
    }
    let records = [
        draw(&mut lanecrypt_random::rng()),
        draw(&mut lanecrypt_random::strict()),
        draw(&mut held::<ChaCha<8>>()),
    ];
    windows::assert_unique("rand_core 0.9", records.iter().map(Vec::as_slice));
}

#[cfg(feature = "rand_core_06")]
fn rand_core_06() {
    use rand_core_06::{CryptoRng, RngCore};
    fn draw(generator: &mut (impl CryptoRng + RngCore)) -> Vec<u8> {
        let mut bytes = vec![0; 48];
        generator.try_fill_bytes(&mut bytes).expect("it never fails");
        bytes.extend(drawn(generator.next_u32(), generator.next_u64(), |out| {
            generator.fill_bytes(out);
        }));
        bytes
    }
    let records = [
        draw(&mut lanecrypt_random::rng()),
        draw(&mut lanecrypt_random::strict()),
        draw(&mut held::<ChaCha<8>>()),
    ];
    windows::assert_unique("rand_core 0.6", records.iter().map(Vec::as_slice));
}

fn isas() -> Vec<Isa> {
    let levels = Level::built().iter().filter_map(|&level| {
        let isa = Isa::of_processor().at_most(level);
        if isa.level() == level {
            return Some(isa);
        }
        skipped("streams", &format!("this processor lacks {level}"));
        None
    });
    levels.collect()
}

/// A kind of generator at every place.
fn places<G: StaticGenerator>() -> Vec<Box<dyn Drawer>> {
    fn held<G: Generator>() -> Owned<G> {
        Owned::new().expect("the kernel has randomness")
    }
    /// A generator that lives as long as the process.
    struct Behind(&'static dyn Drawer);
    impl Drawer for Behind {
        fn fill(&self, out: &mut [u8]) {
            self.0.fill(out);
        }
        fn u32(&self) -> u32 {
            self.0.u32()
        }
        fn u64(&self) -> u64 {
            self.0.u64()
        }
    }
    let single = SingleThread::<G>::new().expect("the kernel has randomness");
    vec![
        Box::new(PerThread::<G>::new()),
        Box::new(PerCpu::<G>::new()),
        Box::new(Behind(shared::<G>())),
        Box::new(single),
        Box::new(OwnedDrawer::new(held::<G>())),
    ]
}

/// Every kind of generator at every place, and owned ones at every level.
fn generators() -> Vec<Box<dyn Drawer>> {
    fn at<G: Generator>(isa: Isa) -> Box<dyn Drawer> {
        Box::new(OwnedDrawer::new(Owned::<G>::with_isa(isa).expect("the kernel has randomness")))
    }
    let mut all: Vec<Box<dyn Drawer>> = vec![Box::new(StrictThread)];
    all.extend(places::<Erasing<Fastest>>());
    all.extend(places::<Erasing<ChaCha<8>>>());
    all.extend(places::<Erasing<ChaCha<12>>>());
    all.extend(places::<Erasing<ChaCha<20>>>());
    all.extend(places::<Erasing<Salsa<20>>>());
    all.extend(places::<Erasing<AesCtr<128>>>());
    all.extend(places::<Erasing<AesCtr<256>>>());
    all.extend(places::<Rekeying<ChaCha<20>>>());
    all.extend(places::<Rekeying<Salsa<8>>>());
    all.extend(places::<Rekeying<AesCtr<256>>>());
    all.extend(places::<Rekeying<Arc4>>());
    all.extend(places::<Rekeying<Hc128>>());
    #[cfg(feature = "study")]
    all.extend(places::<Inlined<Hc128>>());
    for isa in isas() {
        all.push(at::<Erasing<Fastest>>(isa));
        all.push(at::<Erasing<ChaCha<8>>>(isa));
        all.push(at::<Erasing<ChaCha<12>>>(isa));
        all.push(at::<Erasing<ChaCha<20>>>(isa));
        all.push(at::<Erasing<Salsa<12>>>(isa));
        all.push(at::<Erasing<AesCtr<256>>>(isa));
        all.push(at::<Rekeying<Salsa<20>>>(isa));
        all.push(at::<Rekeying<AesCtr<128>>>(isa));
    }
    all
}

fn generators_differ() {
    let mut records = Vec::new();
    // Two of each: a generator that always starts in the same state repeats the other one.
    for generator in generators().into_iter().chain(generators()) {
        for length in [16, 100, 5000, 20_000] {
            let mut bytes = vec![0; length];
            generator.fill(&mut bytes);
            records.push(bytes);
            records.push(generator.u64().to_ne_bytes().to_vec());
            records.push(generator.u32().to_ne_bytes().to_vec());
        }
    }
    windows::assert_unique("all generators", records.iter().map(Vec::as_slice));
}

/// Every byte of a request is written, none before or after it, at any alignment.
fn every_length_is_filled() {
    let small = (0..300).chain((300..20_000).step_by(times(977, 1)));
    let lengths: Vec<usize> = small.chain([8096, 8097, (1 << 20) - 1, (1 << 20) + 17]).collect();
    let mut buffer = vec![0; (1 << 20) + 200];
    for generator in generators() {
        for (i, &length) in lengths.iter().enumerate() {
            let begin = 64 + i % 64;
            let end = begin + length;
            let area = &mut buffer[..end + 64];
            // A byte that was never written stays what it was in each of twelve attempts: one in
            // 2^96 otherwise. Long requests are looked at as a whole.
            let attempts = if length < 300 { 12 } else { 1 };
            let mut changed = vec![false; length];
            for attempt in 0..attempts {
                area.fill(attempt);
                generator.fill(&mut area[begin..end]);
                let margins = area[..begin].iter().chain(&area[end..]);
                assert!(margins.copied().all(|byte| byte == attempt), "{length} bytes at {begin}");
                for (changed, &byte) in changed.iter_mut().zip(&area[begin..end]) {
                    *changed |= byte != attempt;
                }
            }
            if attempts > 1 {
                assert!(changed.iter().all(|&changed| changed), "{length} bytes");
            } else {
                // Sixteen in a row that did not change.
                let unchanged = changed.windows(16).any(|part| part.iter().all(|&c| !c));
                assert!(!unchanged, "{length} bytes");
            }
        }
    }
}

/// What comes back is the memory that was given, all of it, and random.
fn memory_need_not_be_initialised() {
    let mut records = Vec::new();
    for length in [0, 1, 16, 33, 8096, 8097, 100_000] {
        let mut memory = Vec::<u8>::with_capacity(length);
        let place = memory.spare_capacity_mut();
        let address = place.as_ptr().cast();
        let filled = lanecrypt_random::fill_uninit(&mut place[..length]);
        assert_eq!((filled.as_ptr(), filled.len()), (address, length));
        records.push(filled.to_vec());
    }
    windows::assert_unique("uninitialised", records.iter().map(Vec::as_slice));
}

/// Ones, and patterns of four bits (FIPS 140-1's monobit and poker tests, for any length): whether
/// both lie within eight standard deviations.
fn looks_random(bytes: &[u8]) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let float = |count: u64| count as f64;
    let bits = float(8 * bytes.len() as u64);
    let ones: u64 = bytes.iter().map(|byte| u64::from(byte.count_ones())).sum();
    let mut hits = [0_u64; 16];
    for byte in bytes {
        hits[usize::from(byte >> 4)] += 1;
        hits[usize::from(byte & 15)] += 1;
    }
    let expected = bits / 64.0;
    let poker: f64 = hits.map(|hits| (float(hits) - expected).powi(2) / expected).iter().sum();
    // Fifteen degrees of freedom; above 110 lies one in 10^16.
    (float(ones) - bits / 2.0).abs() < 8.0 * (bits / 4.0).sqrt() && poker < 110.0
}

fn bits_look_random() {
    for generator in generators() {
        let mut bytes = vec![0; times(1 << 18, 1 << 24)];
        // One large request, small ones, words.
        generator.fill(&mut bytes);
        assert!(looks_random(&bytes));
        bytes.chunks_mut(37).for_each(|part| generator.fill(part));
        assert!(looks_random(&bytes));
        for part in bytes.chunks_exact_mut(4) {
            part.copy_from_slice(&generator.u32().to_ne_bytes());
        }
        assert!(looks_random(&bytes));
        for part in bytes.chunks_exact_mut(8) {
            part.copy_from_slice(&generator.u64().to_ne_bytes());
        }
        assert!(looks_random(&bytes));
    }
}

/// Puts the generators' memory back into an earlier state, as a copied virtual machine would. The
/// plain generator repeats what was buffered; the strict one draws kernel bytes at each request.
fn copied_state() {
    let _ = lanecrypt_random::u32();
    let mut generator = held::<ChaCha<20>>().strict();
    let mut rekeying = Owned::<Rekeying<Salsa<20>>>::new().expect("randomness").strict();
    // The state of one processor.
    processors::stay_on(processors::allowed()[0]);
    let mut per_cpu = PerCpu::<Erasing<AesCtr<256>>>::new().strict();
    per_cpu.fill(&mut [0; 64]);
    let pages: Vec<_> = maps::wiped_on_fork().into_iter().filter(|m| !m.droppable).collect();
    if pages.is_empty() {
        return skipped("streams::copied_state", "the kernel does not empty pages on fork");
    }
    let twice = |draw: &mut dyn FnMut(&mut [u8]), length: usize| {
        let before: Vec<Vec<u8>> = pages.iter().map(|page| page.read()).collect();
        let mut both = [vec![0; length], vec![0; length]];
        draw(&mut both[0]);
        pages.iter().zip(&before).for_each(|(page, bytes)| page.write(bytes));
        draw(&mut both[1]);
        both
    };
    // The buffer is full enough for this: the state was really put back.
    let [first, second] = twice(&mut |out| lanecrypt_random::fill(out), 64);
    assert_eq!(first, second);
    for length in [1, 16, 64, 1000, 8096, 8097, 100_000] {
        for _ in 0..8 {
            let per_thread = twice(&mut |out| lanecrypt_random::strict().fill(out), length);
            let held = twice(&mut |out| generator.fill(out), length);
            let rekeying = twice(&mut |out| rekeying.fill(out), length);
            let per_cpu = twice(&mut |out| per_cpu.fill(out), length);
            for pair in [per_thread, held, rekeying, per_cpu].iter().filter(|_| length >= 16) {
                windows::assert_unique("a copied state", pair.iter().map(Vec::as_slice));
            }
        }
    }
    let [first, second] =
        twice(&mut |out| out.copy_from_slice(&lanecrypt_random::strict().u64().to_ne_bytes()), 8);
    assert_ne!(first, second);
    // With the vDSO kernel bytes go into each refill: only what was buffered repeats.
    if lanecrypt_random::capabilities().vdso {
        let [first, second] = twice(&mut |out| lanecrypt_random::fill(out), 8096);
        assert_ne!(first[8000..], second[8000..], "a refill without kernel bytes");
    }
}

/// The checks of this file reject bytes that are not random.
fn defects_are_found() {
    let mut good = vec![0; 100_000];
    lanecrypt_random::fill(&mut good);
    assert!(looks_random(&good));
    let mut bad = good.clone();
    bad.iter_mut().step_by(50).for_each(|byte| *byte = 0);
    assert!(!looks_random(&bad), "one in fifty bytes was not written");
    let mut bad = good.clone();
    bad.iter_mut().step_by(3).for_each(|byte| *byte |= 1);
    assert!(!looks_random(&bad), "a bit is stuck now and then");
    assert!(windows::unique([&good[..100], &good[50..70]]).is_err(), "twenty bytes repeat");
    assert!(windows::unique([&good[..100], &[0; 16]]).is_err(), "zeros");
    windows::unique([&good[..100], &good[100..]]).expect("nothing repeats");
}
