//! One block at a time, by tables: NOT constant time, because they are indexed by secrets.
//!
//! A table entry is a word of 64 bits: what one S-box adds to the other half, in spread form. The
//! two high bits of each byte of a spread half are a fixed tag. So four S-boxes share a table of
//! 256 entries, and a byte is an index without being masked. Both halves carry the tags; adding
//! table entries and keys leaves them unchanged.
//!
//! The chain from round to round is: take a byte of the word, load, add. Keys are not part of it.
//! Nor are the initial and final permutations in CBC and between the three parts of triple DES,
//! where they cancel out.

use inout::InOutBuf;
use lanecrypt_kernels::opaque;

use super::schedule::KEYS;
use super::spec;

/// Bits 6 and 7 of each byte: which quarter of its table the byte indexes.
const TAGS: u64 = 0xc080_4000_c080_4000;

/// A block after the initial permutation: its halves, spread and tagged.
#[derive(Clone, Copy)]
pub(super) struct Halves {
    pub(super) left: u64,
    pub(super) right: u64,
}

impl Halves {
    /// The initial permutation and the expansion.
    #[inline(always)]
    pub(super) fn of(block: [u8; 8]) -> Self {
        let (left, right) = permute(u64::from_le_bytes(block));
        Self { left: spread(left) ^ TAGS, right: spread(right) ^ TAGS }
    }

    /// The sum of two blocks.
    #[inline(always)]
    pub(super) fn plus(self, block: [u8; 8]) -> Self {
        let (left, right) = permute(u64::from_le_bytes(block));
        Self { left: self.left ^ spread(left), right: self.right ^ spread(right) }
    }

    /// The final permutation.
    #[inline(always)]
    pub(super) fn block(self) -> [u8; 8] {
        unpermute(gather(self.left), gather(self.right)).to_le_bytes()
    }

    /// All rounds of `N` times DES, each time with the swap of the halves at its end.
    #[inline(always)]
    pub(super) fn rounds<const N: usize, const BACK: bool>(self, keys: &[[u64; KEYS]; N]) -> Self {
        let mut halves = self;
        for i in 0..N {
            halves = halves.sixteen::<BACK>(&keys[if BACK { N - 1 - i } else { i }]);
        }
        halves
    }

    #[inline(always)]
    fn sixteen<const BACK: bool>(self, keys: &[u64; KEYS]) -> Self {
        let key = |i: usize| keys[if BACK { KEYS - 1 - i } else { i }];
        // The table indices of two successive rounds.
        let (mut index, mut other) = (self.right ^ key(0), self.left);
        for i in (1..KEYS - 1).step_by(2) {
            other = add(opaque::word(other ^ key(i)), index);
            index = add(opaque::word(index ^ key(i + 1)), other);
        }
        Self { left: index, right: other ^ key(KEYS - 1) }
    }
}

/// Encrypts, or decrypts if `back`, blocks in place, each by itself.
pub(super) fn crypt(keys: &[[u64; KEYS]], back: bool, blocks: &mut [[u8; 8]]) {
    fn run<const N: usize, const BACK: bool>(keys: &[[u64; KEYS]; N], blocks: &mut [[u8; 8]]) {
        for block in blocks {
            *block = Halves::of(*block).rounds::<N, BACK>(keys).block();
        }
    }
    match (keys.first_chunk(), keys.first_chunk(), back) {
        (Some(three), _, false) => run::<3, false>(three, blocks),
        (Some(three), _, true) => run::<3, true>(three, blocks),
        (None, Some(one), false) => run::<1, false>(one, blocks),
        (None, Some(one), true) => run::<1, true>(one, blocks),
        (None, None, _) => {}
    }
}

/// Encrypts a chain of blocks.
pub(super) fn cbc_encrypt<const N: usize>(
    keys: &[[u64; KEYS]; N],
    iv: &mut [u8; 8],
    blocks: InOutBuf<'_, '_, [u8; 8]>,
) {
    let mut blocks = blocks;
    let mut halves = Halves::of(*iv);
    for mut block in blocks.reborrow() {
        halves = halves.plus(*block.get_in()).rounds::<N, false>(keys);
        *block.get_out() = halves.block();
    }
    *iv = halves.block();
}

/// Adds the round function, without its key, to the other half: S-boxes, P, and E of the next
/// round.
///
/// Bytes that need one shift come first, and those that need the most come last, so that little is
/// left to do when they arrive. No two table entries have a bit in common.
#[inline(always)]
pub(super) fn add(half: u64, index: u64) -> u64 {
    let [low, high] = &TABLES;
    let [a, b, c, d, ..] = index.to_le_bytes().map(usize::from);
    let [e, f, g, h, ..] = opaque::word(index >> 32).to_le_bytes().map(usize::from);
    let half = opaque::word(half ^ (low[a] | high[h]));
    let half = opaque::word(half ^ (low[d] | high[e]));
    let half = opaque::word(half ^ (low[c] | high[g]));
    half ^ (low[b] | high[f])
}

/// The outputs of the S-boxes in the low four places of a word, and of those in the high four.
static TABLES: [[u64; 256]; 2] = {
    let mut tables = [[0; 256]; 2];
    let mut at = 0;
    while at < 512 {
        let (place, x) = (at / 64, at % 64);
        let sbox = spec::sbox_at(place);
        let answer = spec::substitute(sbox, x);
        let mut half = 0;
        let mut bit = 0;
        while bit < 32 {
            let (from, output) = spec::source(bit);
            if from == sbox {
                half |= ((answer >> (3 - output) & 1) as u32) << (31 - bit);
            }
            bit += 1;
        }
        tables[place / 4][at % 256] = spread(half);
        at += 1;
    }
    tables
};

/// Half a block, its first bit the most significant, in the form of [`spec`].
const fn spread(half: u32) -> u64 {
    let even = half.rotate_right(3) & 0x3f3f_3f3f;
    let odd = half.rotate_left(1) & 0x3f3f_3f3f;
    (even as u64) << 32 | odd as u64
}

/// The half that was spread.
fn gather(spread: u64) -> u32 {
    let [a, b, c, d, e, f, g, h] = (spread & 0x1e1e_1e1e_1e1e_1e1e).to_le_bytes();
    u32::from_le_bytes([e, f, g, h]).rotate_left(3)
        | u32::from_le_bytes([a, b, c, d]).rotate_right(1)
}

/// The initial permutation, of a block whose first byte is the least significant: the bits of all
/// bytes come together by their place, those of even places as the left half.
fn permute(block: u64) -> (u32, u32) {
    let x = transpose(block);
    let x = swap(x, 8, 0x0000_ff00_0000_ff00);
    let [a, b, c, d, e, f, g, h] = swap(x, 16, 0x0000_0000_ffff_0000).to_le_bytes();
    (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
}

/// The final permutation.
fn unpermute(left: u32, right: u32) -> u64 {
    let x = swap(u64::from(right) << 32 | u64::from(left), 16, 0x0000_0000_ffff_0000);
    transpose(swap(x, 8, 0x0000_ff00_0000_ff00))
}

/// Transposes a matrix of eight by eight bits.
fn transpose(x: u64) -> u64 {
    let x = swap(x, 7, 0x00aa_00aa_00aa_00aa);
    let x = swap(x, 14, 0x0000_cccc_0000_cccc);
    swap(x, 28, 0x0000_0000_f0f0_f0f0)
}

/// Swaps the bits under `mask` with those `by` places above them.
fn swap(x: u64, by: u32, mask: u64) -> u64 {
    let t = (x >> by ^ x) & mask;
    x ^ t ^ t << by
}
