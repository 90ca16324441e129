//! Keccak-f[1600] and the sponges of SHA-3 and SHAKE (FIPS 202), several messages side by side.
//!
//! A column of the state is one sponge. [`run`] gives each message a free column, whatever its
//! function and length, and permutes all columns together.
//!
//! Constant time: additions modulo 2, masks and rotations only. The order of the work depends on
//! lengths, and on what a [`Blocks`] answers.
//!
//! | level | columns | form |
//! |---|---|---|
//! | `Portable` | 1 | words of 64 bits |
//! | `Avx2` | 4 | registers of 256 bits |
//! | `Avx512` | 8, or 4 | registers of 512 bits, or 256 for few; rotations, three-way functions |

#[cfg(test)]
mod tests;
pub(crate) mod x86_64;

use crate::wipe;
use crate::words::Words;

/// The states of eight sponges: for each word, those of all columns.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct State([[u64; 8]; 25]);

/// A block of a message or of output, as long as the longest, and more: words of 64 bits, lowest
/// byte first.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Block([u8; 192]);

impl Block {
    const ZERO: Self = Self([0; 192]);
}

/// The permutation of one level.
pub(crate) trait Permutation {
    /// How many columns a number of messages should be given.
    fn columns(messages: usize) -> usize;

    /// Permutes the first `used` columns, and maybe more.
    fn permute(state: &mut State, used: usize);

    /// Adds a block to each of the first `used` columns, and maybe to more. Where there is no bit
    /// in `kept`, the column was zero before.
    fn absorb(state: &mut State, used: usize, blocks: &[Block; 8], kept: &[u64; 8]);

    /// Copies the first 24 words of each of the first `used` columns, and maybe of more.
    fn squeeze(state: &State, used: usize, blocks: &mut [Block; 8]);
}

/// [`Permutation::absorb`] of the first column.
pub(crate) fn absorb_one(state: &mut State, blocks: &[Block; 8], kept: &[u64; 8]) {
    let (words, _) = blocks[0].0.as_chunks();
    for (row, word) in state.0.iter_mut().zip(words) {
        row[0] = row[0] & kept[0] ^ u64::from_le_bytes(*word);
    }
    state.0[24][0] &= kept[0];
}

/// [`Permutation::squeeze`] of the first column.
pub(crate) fn squeeze_one(state: &State, blocks: &mut [Block; 8]) {
    let (words, _) = blocks[0].0.as_chunks_mut();
    for (word, row) in words.iter_mut().zip(&state.0) {
        *word = row[0].to_le_bytes();
    }
}

/// A function of FIPS 202.
#[derive(Clone, Copy)]
pub(crate) enum Function {
    Sha3_256,
    Sha3_512,
    Shake128,
    Shake256,
}

impl Function {
    /// Bytes of a block.
    const fn rate(self) -> usize {
        match self {
            Self::Sha3_256 | Self::Shake256 => 136,
            Self::Sha3_512 => 72,
            Self::Shake128 => 168,
        }
    }

    /// What follows a message: the bits of the function, and the first of the padding.
    const fn suffix(self) -> u8 {
        match self {
            Self::Sha3_256 | Self::Sha3_512 => 0x06,
            Self::Shake128 | Self::Shake256 => 0x1f,
        }
    }
}

/// A message and where its digest goes.
pub(crate) struct Message<'a, B> {
    pub(crate) function: Function,
    /// The message is `head` and then `tail`.
    pub(crate) head: &'a [u8],
    pub(crate) tail: &'a [u8],
    pub(crate) output: Output<'a, B>,
}

/// Where the output of a sponge goes.
pub(crate) enum Output<'a, B> {
    /// At most one block.
    Bytes(&'a mut [u8]),
    /// Blocks of SHAKE128.
    Blocks(B),
}

/// Takes blocks of SHAKE128.
pub(crate) trait Blocks {
    /// Takes the next block, and answers whether it was the last one.
    fn take(&mut self, block: &[u8; 168]) -> bool;
}

/// A message that has a column.
struct Lane<'a, B> {
    message: Message<'a, B>,
    /// How many of its bytes are absorbed; `None` if all are, with the padding.
    absorbed: Option<usize>,
}

/// Computes the digests of messages, in at most `columns` columns.
///
/// A level has one copy of it, whatever the messages come from.
pub(crate) fn run<'a, P: Permutation, B: Blocks>(
    columns: usize,
    messages: &mut dyn Iterator<Item = Message<'a, B>>,
) {
    let mut state = State([[0; 8]; 25]);
    let mut blocks = [const { Block::ZERO }; 8];
    let mut lanes: [Option<Lane<'a, B>>; 8] = [const { None }; 8];
    let lanes = &mut lanes[..columns];
    loop {
        let (mut used, mut absorbs, mut kept) = (0, false, [u64::MAX; 8]);
        for (column, (lane, block)) in lanes.iter_mut().zip(&mut blocks).enumerate() {
            if lane.is_none() {
                *lane = messages.next().map(|message| Lane { message, absorbed: Some(0) });
                kept[column] = 0;
            }
            *block = Block::ZERO;
            if let Some(lane) = lane {
                absorbs |= lane.absorb(block);
                used = column + 1;
            }
        }
        if used == 0 {
            break;
        }
        if absorbs {
            P::absorb(&mut state, used, &blocks, &kept);
        }
        P::permute(&mut state, used);
        if lanes.iter().flatten().any(|lane| lane.absorbed.is_none()) {
            P::squeeze(&state, used, &mut blocks);
            for (lane, block) in lanes.iter_mut().zip(&blocks) {
                if lane.as_mut().is_some_and(|lane| lane.squeeze(block)) {
                    *lane = None;
                }
            }
        }
    }
    wipe::words(state.0.as_flattened_mut());
    blocks.iter_mut().for_each(|block| wipe::memory(&mut block.0));
}

impl<B: Blocks> Lane<'_, B> {
    /// Writes the next block of the message, if one is left, over zeros; whether one was.
    #[inline]
    fn absorb(&mut self, Block(block): &mut Block) -> bool {
        let Some(at) = self.absorbed else { return false };
        let Message { function, head, tail, .. } = self.message;
        let rate = function.rate();
        // A seed and its number, as most messages are.
        if let (0, Some((seed, [])), [] | [_] | [_, _]) = (at, head.split_first_chunk(), tail) {
            let (place, rest) = block.split_first_chunk_mut::<32>().expect("32 of 192 bytes");
            *place = *seed;
            if let [first, ..] = *tail {
                rest[0] = first;
            }
            if let [_, second] = *tail {
                rest[1] = second;
            }
            rest[tail.len()] = function.suffix();
            block[rate - 1] ^= 0x80;
            self.absorbed = None;
            return true;
        }
        // A block within a long message.
        let part = if at < head.len() { &head[at..] } else { &tail[at - head.len()..] };
        if let (136, Some(bytes)) = (rate, part.first_chunk::<136>()) {
            *block.first_chunk_mut().expect("136 of 192 bytes") = *bytes;
            self.absorbed = Some(at + rate);
            return true;
        }
        let head = &head[at.min(head.len())..];
        let tail = &tail[(at - at.min(self.message.head.len())).min(tail.len())..];
        let of_head = head.len().min(rate);
        let of_tail = tail.len().min(rate - of_head);
        block[..of_head].copy_from_slice(&head[..of_head]);
        block[of_head..of_head + of_tail].copy_from_slice(&tail[..of_tail]);
        let filled = of_head + of_tail;
        self.absorbed = if filled == rate {
            Some(at + rate)
        } else {
            block[filled] = function.suffix();
            block[rate - 1] ^= 0x80;
            None
        };
        true
    }

    /// Takes a block of output, if the message is absorbed; whether it was the last one.
    #[inline]
    fn squeeze(&mut self, Block(block): &Block) -> bool {
        if self.absorbed.is_some() {
            return false;
        }
        match &mut self.message.output {
            Output::Bytes(bytes) => {
                bytes.copy_from_slice(&block[..bytes.len()]);
                true
            }
            Output::Blocks(blocks) => blocks.take(block.first_chunk().expect("168 of 192 bytes")),
        }
    }
}

// Closures and functions like `map` would be compiled without the instructions of a level, so there
// are none in what works on registers.

/// Keccak-f[1600] of as many columns as `W` has lanes.
#[inline(always)]
fn permute<W: Words>(state: &mut State) {
    let mut a = [W::splat(0); 25];
    for (a, words) in a.iter_mut().zip(&state.0) {
        *a = W::load(words);
    }
    for [one, other] in ROUNDS.as_chunks().0 {
        a = round(&a);
        a[0] = a[0].xor(W::splat(*one));
        a = round(&a);
        a[0] = a[0].xor(W::splat(*other));
    }
    for (words, a) in state.0.iter_mut().zip(a) {
        a.store_to(words);
    }
}

/// A row of the next state, of five words of the state with the sums of their columns.
macro_rules! row {
    ($a:ident $c:ident $r:ident $d:ident: $($x:literal $y:literal $($bits:literal)?),+) => {
        not_linear([$({
            let word = $a[$x + 5 * $y];
            // Without an instruction for three words, the words of a column share a sum.
            let word = if W::LANES == 8 {
                word.xor3($c[($x + 4) % 5], $r[($x + 1) % 5])
            } else {
                word.xor($d[$x])
            };
            $(let word = word.rotate_left::<$bits>();)?
            word
        }),+])
    };
}

/// A round without its constant. Words are in the order of FIPS 202: word (x, y) is `x + 5 y`.
#[inline(always)]
fn round<W: Words>(a: &[W; 25]) -> [W; 25] {
    let (mut c, mut r, mut d) = ([a[0]; 5], [a[0]; 5], [a[0]; 5]);
    for x in 0..5 {
        c[x] = a[x].xor3(a[x + 5], a[x + 10]).xor3(a[x + 15], a[x + 20]);
        r[x] = c[x].rotate_left::<1>();
    }
    for x in 0..5 {
        d[x] = c[(x + 4) % 5].xor(r[(x + 1) % 5]);
    }
    let [a0, a1, a2, a3, a4] = row!(a c r d: 0 0, 1 1 44, 2 2 43, 3 3 21, 4 4 14);
    let [b0, b1, b2, b3, b4] = row!(a c r d: 3 0 28, 4 1 20, 0 2 3, 1 3 45, 2 4 61);
    let [c0, c1, c2, c3, c4] = row!(a c r d: 1 0 1, 2 1 6, 3 2 25, 4 3 8, 0 4 18);
    let [d0, d1, d2, d3, d4] = row!(a c r d: 4 0 27, 0 1 36, 1 2 10, 2 3 15, 3 4 56);
    let [e0, e1, e2, e3, e4] = row!(a c r d: 2 0 62, 3 1 55, 4 2 39, 0 3 41, 1 4 2);
    [
        a0, a1, a2, a3, a4, b0, b1, b2, b3, b4, c0, c1, c2, c3, c4, d0, d1, d2, d3, d4, e0, e1, e2,
        e3, e4,
    ]
}

/// The only step that is not linear, of a row.
#[inline(always)]
fn not_linear<W: Words>([a, b, c, d, e]: [W; 5]) -> [W; 5] {
    [
        a.xor_and_not(c, b),
        b.xor_and_not(d, c),
        c.xor_and_not(e, d),
        d.xor_and_not(a, e),
        e.xor_and_not(b, a),
    ]
}

/// Keccak-f[1600] of the first column, by words of 64 bits.
#[inline(never)]
pub(crate) fn permute_one(state: &mut State) {
    permute::<u64>(state);
}

const ROUNDS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];
