//! Cases for stream cores: every instruction set against the portable kernel.

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, Seek, StreamCore};

use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::Numbers;

/// A key and a nonce of a stream cipher with blocks of 64 bytes.
pub(crate) trait Stream {
    type Core: Seek;
    /// The cipher, for messages.
    const NAME: &str;
    /// One past the last block.
    const END: u128;

    fn random(numbers: &mut Numbers) -> Self;

    /// A core at block 0.
    fn core(&self, isa: Isa) -> Self::Core;

    /// A core at `block`.
    fn core_at(&self, isa: Isa, block: u64) -> Self::Core {
        let mut core = self.core(isa);
        core.seek(block);
        core
    }

    /// Keystream from `block` on.
    fn keystream(&self, isa: Isa, block: u64, len: usize) -> Vec<u8> {
        let mut out = vec![0xa5; len];
        self.core_at(isa, block).keystream(&mut out);
        out
    }
}

/// Each length up to a little over 1 KiB, and those around whole widths up to 5 KiB.
pub(crate) fn every_length<S: Stream>() {
    let stream = S::random(&mut Numbers(1));
    let expected = stream.keystream(Isa::PORTABLE, 7, 5200);
    let around = (1..=5).flat_map(|n| n * 1024 - 70..=n * 1024 + 70);
    for len in (0..=1100).chain(around) {
        for isa in levels() {
            let out = stream.keystream(isa, 7, len);
            assert_eq!(out, expected[..len], "{}, {len} bytes, {isa:?}", S::NAME);
        }
    }
}

/// The carry into the high word of a counter of 64 bits, at every place within every width.
pub(crate) fn carry_in_every_lane<S: Stream>() {
    let stream = S::random(&mut Numbers(3));
    for before in 0..=34 {
        let start = (9 << 32) - before;
        for blocks in [1, 2, 3, 4, 6, 8, 12, 16, 33] {
            let of = |isa| stream.keystream(isa, start, 64 * blocks);
            let expected = of(Isa::PORTABLE);
            for isa in levels() {
                let place = format!("{before} before the carry, {blocks}, {isa:?}");
                assert_eq!(of(isa), expected, "{}, {place}", S::NAME);
            }
        }
    }
}

/// The blocks next to a carry of a counter of 64 bits are those that the counter's value names.
pub(crate) fn wide_counter_carries<S: Stream>() {
    let stream = S::random(&mut Numbers(4));
    for isa in levels() {
        let both = stream.keystream(isa, u64::from(u32::MAX), 128);
        let second = stream.keystream(isa, 1 << 32, 64);
        let first = stream.keystream(isa, 0, 64);
        assert_eq!(both[64..], second, "{}, {isa:?}", S::NAME);
        assert_ne!(second, first, "{}, {isa:?}", S::NAME);
    }
}

/// What is left of a counter of 64 bits, to the last block.
pub(crate) fn remaining_of_wide_counter<S: Stream>() {
    let mut core = S::random(&mut Numbers(5)).core(Isa::PORTABLE);
    assert_eq!(core.remaining(), u64::MAX);
    core.keystream(&mut [0; 1]);
    assert_eq!(core.remaining(), u64::MAX);
    core.keystream(&mut [0; 1]);
    assert_eq!(core.remaining(), u64::MAX - 1);
    core.seek(u64::MAX);
    assert_eq!(core.remaining(), 1);
    core.keystream(&mut []);
    assert_eq!(core.remaining(), 1);
    core.keystream(&mut [0; 64]);
    assert_eq!(core.remaining(), 0);
    core.keystream(&mut []);
    assert_eq!(core.remaining(), 0);
    core.seek(1 << 32);
    assert_eq!(core.remaining(), u64::MAX - (1 << 32) + 1);
}

/// One random key, nonce, place in the stream, offset and length, cut into requests; XOR in place
/// and from one buffer to another; nothing but the request's bytes may change.
pub(crate) fn random_case<S: Stream>(numbers: &mut Numbers) {
    const GUARD: usize = 80;
    let stream = S::random(numbers);
    // No case runs past the last block, but many come close to the end or to a carry.
    let widest = 40;
    let near = |edge: u128, numbers: &mut Numbers| edge - 1 - numbers.below(widest) as u128;
    let start = match numbers.below(4) {
        0 => numbers.below(100) as u128,
        1 => near(1 << 32, numbers),
        2 => near(S::END, numbers),
        _ => u128::from(numbers.number()) % S::END,
    };
    let left = usize::try_from((S::END - start).min(widest as u128)).expect("at most 40");
    let len = if numbers.below(8) == 0 { 64 * left } else { numbers.below(64 * left + 1) };
    let start = u64::try_from(start).expect("before the end");

    let mut expected = vec![0; len];
    let mut core = stream.core_at(Isa::PORTABLE, start);
    for block in expected.chunks_mut(64) {
        core.keystream(block);
    }
    let text: Vec<u8> = (0..len).map(|_| numbers.array::<1>()[0]).collect();
    let cut = 64 * numbers.below(len / 64 + 1);
    let offset = numbers.below(GUARD);

    for isa in levels() {
        let place = format!("{}, {isa:?}, block {start}, {len} bytes cut at {cut}", S::NAME);
        let core = || stream.core_at(isa, start);
        let mut buffer = vec![0x5a; offset + len + GUARD];

        let mut writing = core();
        let (front, back) = buffer[offset..offset + len].split_at_mut(cut);
        writing.keystream(front);
        writing.keystream(back);
        assert_eq!(buffer[offset..offset + len], expected, "keystream, {place}");
        let used = len.div_ceil(64) as u128;
        let remaining = u64::try_from(S::END - u128::from(start) - used).unwrap_or(u64::MAX);
        assert_eq!(writing.remaining(), remaining, "{place}");

        let (front, back) = buffer[offset..offset + len].split_at_mut(cut);
        let mut apart = core();
        apart.xor(InOutBuf::new(&text[..cut], front).expect("equal lengths"));
        apart.xor(InOutBuf::new(&text[cut..], back).expect("equal lengths"));
        let xored = buffer[offset..].iter().zip(&text).map(|(a, b)| a ^ b);
        assert!(xored.eq(expected.iter().copied()), "XOR apart, {place}");

        core().xor((&mut buffer[offset..offset + len]).into());
        assert_eq!(buffer[offset..offset + len], text, "XOR in place, {place}");
        let outside = buffer[..offset].iter().chain(&buffer[offset + len..]);
        assert!(outside.into_iter().all(|&b| b == 0x5a), "bytes outside changed, {place}");
    }
}
