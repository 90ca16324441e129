//! Messages side by side with guards around them: every other byte of memory stays as it was.

use inout::InOutBuf;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::{BlockEncrypt, Isa, into_blocks};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases};

/// Bytes before and behind every buffer, at least.
const GUARD: usize = 64;

/// The most bytes of a message.
const MOST: usize = 4096;

/// Where a message lies in memory, of which all is one piece.
pub(crate) struct Place {
    input: usize,
    /// The same where it stays in place.
    output: usize,
    len: usize,
}

/// The places of messages of so many bytes, and how large the memory is.
pub(crate) fn places(numbers: &mut Numbers, lens: &[usize]) -> (Vec<Place>, usize) {
    let mut end = 0;
    let mut next = |numbers: &mut Numbers, len: usize| {
        let start = end + GUARD + numbers.below(17);
        end = start + len;
        start
    };
    let mut places = Vec::new();
    for &len in lens {
        let input = next(numbers, len);
        let output = if numbers.below(2) == 0 { input } else { next(numbers, len) };
        places.push(Place { input, output, len });
    }
    (places, end + GUARD + 16)
}

/// The data of all messages.
pub(crate) fn buffers<'a>(memory: &'a mut [u8], places: &[Place]) -> Vec<InOutBuf<'a, 'a, u8>> {
    let mut at = 0;
    let mut rest = memory;
    let mut cut = |start: usize, len: usize| {
        let (_, tail) = core::mem::take(&mut rest).split_at_mut(start - at);
        let (buffer, tail) = tail.split_at_mut(len);
        (rest, at) = (tail, start + len);
        buffer
    };
    places
        .iter()
        .map(|place| {
            let input = cut(place.input, place.len);
            if place.output == place.input {
                return input.into();
            }
            InOutBuf::new(input, cut(place.output, place.len)).expect("equal lengths")
        })
        .collect()
}

/// Runs messages side by side, and in a copy of the memory one by one. The message that the first
/// byte that differs belongs to, or follows.
pub(crate) fn difference(
    numbers: &mut Numbers,
    lens: &[usize],
    lanes: impl FnOnce(Vec<InOutBuf<'_, '_, u8>>),
    alone: impl Fn(usize, InOutBuf<'_, '_, u8>),
) -> Option<usize> {
    let (places, size) = places(numbers, lens);
    let mut memory = numbers.bytes(size);
    let mut expected = memory.clone();
    lanes(buffers(&mut memory, &places));
    buffers(&mut expected, &places).into_iter().enumerate().for_each(|(at, data)| alone(at, data));
    wrong(&memory, &expected, &places)
}

pub(crate) fn wrong(memory: &[u8], expected: &[u8], places: &[Place]) -> Option<usize> {
    let byte = memory.iter().zip(expected).position(|(byte, expected)| byte != expected)?;
    Some(places.iter().rposition(|place| place.input <= byte).unwrap_or(0))
}

/// Sizes of a batch in units: equal, few, or anything.
pub(crate) fn lengths(numbers: &mut Numbers, unit: usize) -> Vec<usize> {
    let count = [1, 4, 9, 20, 33, 70, 300][numbers.below(7)];
    // A few long ones are enough in a large batch.
    let most = [MOST, 700, 200, 64][numbers.below(4).max(count / 100)] / unit;
    let equal = (numbers.below(4) == 0).then(|| numbers.below(most + 1));
    (0..=numbers.below(count))
        .map(|_| unit * equal.unwrap_or_else(|| numbers.below(most + 1)))
        .collect()
}

/// The levels of so many keys: all one, or any.
pub(crate) fn mixed(numbers: &mut Numbers, isa: Isa, count: usize) -> Vec<Isa> {
    let levels: Vec<_> = levels().collect();
    let mix = numbers.below(4) == 0;
    (0..count).map(|_| if mix { levels[numbers.below(levels.len())] } else { isa }).collect()
}

pub(crate) fn chains<C: BlockEncrypt<N>, const N: usize>(
    seed: u64,
    key: impl Fn(Isa, &[u8; 32]) -> C,
    run: impl Fn(&mut [Lane<'_, C, N>]),
) {
    let numbers = &mut Numbers(seed);
    for case in 0..cases(24) {
        for isa in levels() {
            let lens = lengths(numbers, N);
            let bytes: Vec<[u8; 32]> = lens.iter().map(|_| numbers.array()).collect();
            let ivs: Vec<[u8; N]> = lens.iter().map(|_| numbers.array()).collect();
            let levels = mixed(numbers, isa, lens.len());
            let keys: Vec<_> =
                levels.iter().zip(&bytes).map(|(&isa, key_bytes)| key(isa, key_bytes)).collect();
            let before = ivs.clone();
            let wrong = difference(
                numbers,
                &lens,
                |buffers| {
                    let messages = keys.iter().zip(&ivs).zip(buffers);
                    let mut lanes: Vec<_> = messages
                        .map(|((key, iv), data)| Lane { key, iv, blocks: into_blocks(data).0 })
                        .collect();
                    run(&mut lanes);
                },
                |at, data| {
                    let key = key(Isa::PORTABLE, &bytes[at]);
                    key.cbc_encrypt(&mut { ivs[at] }, into_blocks(data).0);
                },
            );
            assert_eq!(wrong, None, "case {case}, {isa:?}, {lens:?}");
            assert_eq!(ivs, before, "case {case}, {isa:?}");
        }
    }
}

/// The first bytes of a key.
pub(crate) fn first<const K: usize>(key: &[u8; 32]) -> &[u8; K] {
    key.first_chunk().expect("keys have at most 32 bytes")
}
