//! Messages one after the other, in passes of eight blocks of ChaCha20: the last blocks of a
//! message and the first ones of the next run together, and a pass hashes the data of the pass
//! before. Alone, a message has nothing to hash beside its first blocks, and nothing beside the
//! hash of its last ones.

use core::arch::x86_64::*;
use core::mem;

use inout::InOutBuf;

use super::streams;
use crate::arx::State;
use crate::arx::x86_64::avx2::{put_whole, splat, splat_all, sums};
use crate::chacha::x86_64::avx2::{double_rounds, double_rounds_beside};
use crate::chacha::{ietf, words};
use crate::chacha20poly1305::lanes::{Lane, is_alone, one};
use crate::chacha20poly1305::{SEAL, parts};
use crate::isa::Mode;
use crate::poly1305::Poly1305;
use crate::{Isa, Level, wipe};

pub(crate) const NEEDS: Level = Level::Avx2;

/// Blocks of a pass.
const BLOCKS: usize = 8;

/// Double rounds of a block; beside each, three blocks of 16 bytes are hashed.
const ROUNDS: usize = 10;

#[target_feature(enable = "avx2,bmi2")]
pub(crate) fn run<const MODE: bool>(lanes: &mut [Lane<'_>], mode: Mode<MODE>) {
    if lanes.iter().all(|lane| lane.data.len() <= streams::LONGEST) {
        streams::run(lanes, mode);
    } else {
        for lane in lanes.iter_mut().filter(|lane| is_alone(lane)) {
            one::<MODE>(lane);
        }
        in_turn::<MODE>(lanes);
    }
}

/// A message in flight.
struct Message<'l> {
    /// Of its next block.
    state: State,
    isa: Isa,
    aad: &'l [u8],
    /// After block 0.
    hash: Option<Poly1305>,
    /// The data without keystream.
    data: InOutBuf<'l, 'l, u8>,
    /// How many more blocks it needs.
    left: usize,
    /// Its blocks in the current pass: the first, and how many.
    first: usize,
    blocks: usize,
    /// The data of the pass before, and where their keystream begins.
    part: InOutBuf<'l, 'l, u8>,
    at: usize,
    /// Bytes of associated data and of data.
    sizes: (u64, u64),
    tag: &'l mut [u8; 16],
}

/// The most messages in flight: those that have a block in one pass or in the one before.
const MANY: usize = 2 * BLOCKS;

/// All messages but those that gain nothing.
#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn in_turn<const MODE: bool>(lanes: &mut [Lane<'_>]) {
    let mut waiting = lanes.iter_mut().filter(|lane| !is_alone(lane));
    let mut flight = [const { None::<Message<'_>> }; MANY];
    let (mut begin, mut end) = (0_usize, 0_usize);
    let mut streams = [[0; 64 * BLOCKS]; 2];
    let [mut stream, mut earlier] = streams.each_mut();
    loop {
        let begun = end;
        let mut start = [_mm256_setzero_si256(); 16];
        let mut filled = 0;
        if let Some(message) = begun.checked_sub(1).and_then(|at| flight[at % MANY].as_mut()) {
            message.take(&mut start, &mut filled);
        }
        while filled < BLOCKS
            && let Some(lane) = waiting.next()
        {
            let mut message = Message::of(lane);
            message.take(&mut start, &mut filled);
            flight[end % MANY] = Some(message);
            end += 1;
        }
        let mut x = start;
        let mut rounds = ROUNDS;
        let mut ended = 0;
        for at in begin..begun {
            let Some(message) = &mut flight[at % MANY] else { continue };
            message.hash_part::<MODE>(&mut x, &mut rounds, earlier);
            if message.blocks == 0 {
                ended += 1;
                if let Some(message) = flight[at % MANY].take() {
                    message.end();
                }
            }
        }
        begin += ended;
        if filled == 0 {
            break;
        }
        if rounds > 0 {
            x = double_rounds(x, rounds);
        }
        put_whole::<false, BLOCKS>(sums(x, start), stream.as_mut_slice().into());
        for at in begin..end {
            if let Some(message) = &mut flight[at % MANY] {
                message.apply::<MODE>(stream);
            }
        }
        mem::swap(&mut stream, &mut earlier);
    }
    wipe::memory(streams.as_flattened_mut());
}

impl<'l> Message<'l> {
    #[inline]
    fn of(lane: &'l mut Lane<'_>) -> Self {
        let Lane { key, isa, nonce, aad, data, tag, .. } = lane;
        Self {
            state: ietf(key, nonce),
            isa: *isa,
            aad,
            hash: None,
            left: 1 + data.len().div_ceil(64),
            sizes: (aad.len() as u64, data.len() as u64),
            data: data.reborrow(),
            first: 0,
            blocks: 0,
            part: (&mut [][..]).into(),
            at: 0,
            tag,
        }
    }

    /// Takes as many of the blocks from `filled` on as it needs, and sets them to its words.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn take(&mut self, start: &mut [__m256i; 16], filled: &mut usize) {
        self.first = *filled;
        self.blocks = self.left.min(BLOCKS - *filled);
        self.left -= self.blocks;
        if self.blocks == 0 {
            return;
        }
        #[expect(clippy::cast_possible_truncation, reason = "less than eight")]
        let first = splat(self.first as u32);
        let numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let mut own = splat_all(&words(&self.state, self.state.counter));
        own[12] = _mm256_add_epi32(own[12], _mm256_sub_epi32(numbers, first));
        if self.blocks == BLOCKS {
            *start = own;
        } else {
            // Blocks after these are set later.
            let before = _mm256_cmpgt_epi32(first, numbers);
            for (word, own) in start.iter_mut().zip(own) {
                *word = _mm256_blendv_epi8(own, *word, before);
            }
        }
        self.state.counter = self.state.counter.wrapping_add(self.blocks as u64);
        *filled += self.blocks;
    }

    /// Hashes its data of the pass before, if any, beside double rounds, of which `rounds` are
    /// left.
    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn hash_part<const MODE: bool>(
        &mut self,
        x: &mut [__m256i; 16],
        rounds: &mut usize,
        stream: &[u8; 64 * BLOCKS],
    ) {
        let Some(hash) = &mut self.hash else { return };
        let mut part = mem::replace(&mut self.part, (&mut [][..]).into());
        let bytes = if MODE == SEAL { &*part.get_out() } else { part.get_in() };
        let (blocks, last) = bytes.as_chunks::<16>();
        let (threes, _) = blocks.as_chunks::<3>();
        let threes = &threes[..threes.len().min(*rounds)];
        if !threes.is_empty() {
            *x = double_rounds_beside(*x, hash, threes);
            *rounds -= threes.len();
        }
        for block in &blocks[3 * threes.len()..] {
            hash.absorb_number(u128::from_le_bytes(*block));
        }
        hash.absorb_few(last);
        if MODE != SEAL {
            parts::xor(&stream[self.at..], part);
        }
    }

    /// Applies its blocks of a pass: block 0 begins the hash, the others are keystream.
    #[inline]
    fn apply<const MODE: bool>(&mut self, stream: &[u8; 64 * BLOCKS]) {
        self.at = 64 * self.first;
        let after = self.at + 64 * self.blocks;
        if self.hash.is_none()
            && let Some(block) = stream[self.at..].first_chunk()
        {
            self.hash = Some(parts::begun(self.isa, block, self.aad));
            self.at += 64;
        }
        let data = mem::replace(&mut self.data, (&mut [][..]).into());
        let bytes = data.len().min(after - self.at);
        let (mut part, rest) = data.split_at(bytes);
        if MODE == SEAL {
            parts::xor(&stream[self.at..], part.reborrow());
        }
        (self.part, self.data) = (part, rest);
        self.blocks = 0;
    }

    /// Writes the tag.
    #[inline]
    fn end(self) {
        if let Some(hash) = self.hash {
            *self.tag = parts::tag(hash, self.sizes.0, self.sizes.1, None);
        }
    }
}
