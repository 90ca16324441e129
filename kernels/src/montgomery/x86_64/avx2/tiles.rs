//! Sums of products of blocks of digits, in vectors of four.
//!
//! A block of four digits times a block of four digits is a tile of 16 products, which are added to
//! seven sums in registers. A tile needs eight loads. Written in assembly, because compilers do not
//! keep all operands in the sixteen registers, and because they know products of 32 bits only as
//! products of 64 bits whose upper halves they must find to be zero.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::montgomery::Quad;
use crate::montgomery::digits::SHORT;

/// Bits of a digit.
pub(super) const WIDTH: i32 = 29;
const _: () = assert!(SHORT.width == 29 && SHORT.block == BLOCK);
/// Digits of a block.
pub(super) const BLOCK: usize = 4;
/// Adjacent digits, lowest first.
pub(super) type Block = [Quad; BLOCK];

/// How many tiles a column may have before its sums are carried. A tile adds at most four products,
/// below 2^58 each, to a sum. If the column before had as many, its products that reach into this
/// one make four a tile with those of this one. So sums are below 60 times 2^58, and there is room
/// for carries.
const TILES: usize = 15;

/// Sums of a column of blocks, and those that reach into the next one.
pub(super) type Sums = [__m256i; 2 * BLOCK];

/// Four products: of the digits in `ymm8` to `ymm11` with the digit at `$other`.
#[rustfmt::skip]
macro_rules! row {
    ($other:literal, $offset:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            "vmovdqa ymm12, [", $other, " + ", $offset, "]\n",
            "vpmuludq ymm13, ymm8, ymm12\n",
            "vpmuludq ymm14, ymm9, ymm12\n",
            "vpmuludq ymm15, ymm10, ymm12\n",
            "vpmuludq ymm12, ymm11, ymm12\n",
            "vpaddq ", $a, ", ", $a, ", ymm13\n",
            "vpaddq ", $b, ", ", $b, ", ymm14\n",
            "vpaddq ", $c, ", ", $c, ", ymm15\n",
            "vpaddq ", $d, ", ", $d, ", ymm12\n",
        )
    };
}

/// `$count` tiles: of the blocks from `$one` on upwards and from `$other` on downwards.
#[rustfmt::skip]
macro_rules! tiles {
    ($one:literal, $other:literal, $count:literal) => {
        concat!(
            "test ", $count, ", ", $count, "\n",
            "jz 3f\n",
            "2:\n",
            "vmovdqa ymm8, [", $one, "]\n",
            "vmovdqa ymm9, [", $one, " + 32]\n",
            "vmovdqa ymm10, [", $one, " + 64]\n",
            "vmovdqa ymm11, [", $one, " + 96]\n",
            row!($other, "0", "ymm0", "ymm1", "ymm2", "ymm3"),
            row!($other, "32", "ymm1", "ymm2", "ymm3", "ymm4"),
            row!($other, "64", "ymm2", "ymm3", "ymm4", "ymm5"),
            row!($other, "96", "ymm3", "ymm4", "ymm5", "ymm6"),
            "add ", $one, ", 128\n",
            "sub ", $other, ", 128\n",
            "dec ", $count, "\n",
            "jnz 2b\n",
            "3:\n",
        )
    };
}

/// Blocks whose products are summed: the first of one and the last of the other, the second and the
/// last but one, and so on. There are as many of both.
#[derive(Clone, Copy)]
pub(super) struct Pairs<'a> {
    pub(super) one: &'a [Block],
    pub(super) other: &'a [Block],
}

impl Pairs<'_> {
    /// Takes away the first pairs, at most so many.
    #[inline]
    fn take(&mut self, most: usize) -> Self {
        let count = self.one.len().min(most);
        let (now, later) = self.one.split_at(count);
        let (before, last) = self.other.split_at(self.other.len() - count);
        *self = Self { one: later, other: before };
        Self { one: now, other: last }
    }
}

/// Adds the products of two lists of pairs, and `below` in between.
#[inline]
#[target_feature(enable = "avx2")]
fn add_tiles(sums: &mut Sums, below: &[__m256i; BLOCK], lists: [Pairs<'_>; 2]) {
    for Pairs { one, other } in lists {
        assert_eq!(one.len(), other.len(), "pairs of blocks");
    }
    let [first, second] = lists;
    let last = |list: &[Block]| list.as_ptr().wrapping_add(list.len()).wrapping_sub(1);
    let [a, b, c, d, e, f, g, _] = sums;
    // SAFETY: the assembly reads as many blocks of each `one` from the first on, and of each
    // `other` from the last on downwards. They are aligned to 32 bytes, as `Quad` is. It reads
    // `below`, too. What it changes is declared.
    unsafe {
        asm!(
            tiles!("{x0}", "{y0}", "{n0}"),
            "vpaddq ymm0, ymm0, [{below}]",
            "vpaddq ymm1, ymm1, [{below} + 32]",
            "vpaddq ymm2, ymm2, [{below} + 64]",
            "vpaddq ymm3, ymm3, [{below} + 96]",
            tiles!("{x1}", "{y1}", "{n1}"),
            below = in(reg) below.as_ptr(),
            x0 = inout(reg) first.one.as_ptr() => _,
            y0 = inout(reg) last(first.other) => _,
            n0 = inout(reg) first.one.len() => _,
            x1 = inout(reg) second.one.as_ptr() => _,
            y1 = inout(reg) last(second.other) => _,
            n1 = inout(reg) second.one.len() => _,
            inout("ymm0") *a, inout("ymm1") *b, inout("ymm2") *c, inout("ymm3") *d,
            inout("ymm4") *e, inout("ymm5") *f, inout("ymm6") *g,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(readonly, nostack),
        );
    }
}

/// The products of the lower halves of words.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn product(one: __m256i, other: __m256i) -> __m256i {
    let product;
    // SAFETY: the assembly multiplies registers, see the head of this file for why.
    unsafe {
        asm!("vpmuludq {}, {}, {}", out(ymm_reg) product, in(ymm_reg) one, in(ymm_reg) other,
            options(pure, nomem, nostack, preserves_flags));
    }
    product
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add(sum: &mut __m256i, number: __m256i) {
    *sum = _mm256_add_epi64(*sum, number);
}

/// Adds the products of two lists of pairs and the sums of the column before. Products of the first
/// list count `weight` times. The caller has added as many as those of one tile, and will add as
/// many again.
///
/// The sums of the column before come last to be known, so the first list does not wait for them.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_column(
    sums: &mut Sums,
    mut below: [__m256i; BLOCK],
    lists: [Pairs<'_>; 2],
    weight: usize,
) {
    let [mut first, mut second] = lists;
    let mut room = TILES - 2;
    loop {
        let now = first.take(room / weight);
        room -= weight * now.one.len();
        let rest = if first.one.is_empty() { room } else { 0 };
        add_tiles(sums, &below, [now, second.take(rest)]);
        if first.one.is_empty() && second.one.is_empty() {
            return;
        }
        carry(sums);
        below = [_mm256_setzero_si256(); BLOCK];
        room = TILES - 1;
    }
}

/// Carries each digit to the next one, all at once. The last one keeps its carry; no products are
/// added to it.
#[inline]
#[target_feature(enable = "avx2")]
fn carry(sums: &mut Sums) {
    let ones = _mm256_set1_epi64x((1 << WIDTH) - 1);
    let mut below = _mm256_setzero_si256();
    let [sums @ .., last] = sums;
    for sum in sums {
        let over = _mm256_srli_epi64::<WIDTH>(*sum);
        *sum = _mm256_add_epi64(_mm256_and_si256(*sum, ones), below);
        below = over;
    }
    add(last, below);
}
