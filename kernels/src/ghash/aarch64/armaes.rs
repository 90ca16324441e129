//! GHASH with PMULL: ten blocks, then one reduction. Constant time in key and data.
//!
//! Numbers have their halves exchanged, as [`turned`] makes them from blocks by one instruction. A
//! product takes three multiplications. Those of the sums of halves are made for two blocks at a
//! time; the sums of powers are kept.

use core::arch::aarch64::*;
use core::arch::asm;

use crate::Level;
use crate::ghash::portable::divided_by_x;
use crate::ghash::{FOLD, POWERS, ROOM};
use crate::simd::*;

pub(crate) const NEEDS: Level = Level::ArmAes;

/// The powers that are kept, and so the blocks that can share a reduction. The sums of their halves
/// stand before them, in the same order.
pub(crate) const WIDTH: usize = 10;

#[target_feature(enable = "aes")]
pub(crate) fn fill(powers: &mut [[u8; 16]; ROOM], h: &[u8; 16]) {
    fill_from(powers, load128(h));
}

/// The lowest ten powers of `h`.
#[inline]
#[target_feature(enable = "aes")]
pub(crate) fn fill_from(powers: &mut [[u8; 16]; ROOM], h: Block) {
    let h = turned(h);
    let h = of_number(divided_by_x(u128::from(low_half(h)) << 64 | u128::from(high_half(h))));
    let h2 = reduce_turned(multiply(h, h));
    let (sums, powers) = powers.split_at_mut(POWERS - WIDTH);
    let mut sums = sums.as_flattened_mut().as_chunks_mut().0.iter_mut().rev();
    let mut pair = [h, h2];
    for (i, places) in powers[..WIDTH].as_chunks_mut::<2>().0.iter_mut().rev().enumerate() {
        if i > 0 {
            pair = pair.map(|power| reduce_turned(multiply(power, h2)));
        }
        for (place, power) in places.iter_mut().rev().zip(pair) {
            store128(place, power);
            if let Some(sum) = sums.next() {
                *sum = (low_half(power) ^ high_half(power)).to_le_bytes();
            }
        }
    }
}

#[target_feature(enable = "aes")]
pub(crate) fn absorb(powers: &[[u8; 16]; ROOM], state: &mut [u8; 16], blocks: &[[u8; 16]]) {
    let mut sum = turned(load128(state));
    let (parts, rest) = blocks.as_chunks::<8>();
    for part in parts {
        sum = absorb_part(powers, sum, part);
    }
    if !rest.is_empty() {
        sum = absorb_part(powers, sum, rest);
    }
    store128(state, turned(sum));
}

/// At least one block, and no more than there are powers.
#[inline]
#[target_feature(enable = "aes")]
fn absorb_part(powers: &[[u8; 16]; ROOM], sum: Block, blocks: &[[u8; 16]]) -> Block {
    let mut products = Product::zero();
    let (mut before, mut exponent) = (sum, blocks.len());
    let (pairs, rest) = blocks.as_chunks();
    for [a, b] in pairs {
        let pair = [xor128(turned(load128(a)), before), turned(load128(b))];
        products = products.add_pair(powers, exponent, pair);
        exponent -= 2;
        before = zero128();
    }
    if let [block] = rest {
        products = products.add_power(powers, 1, xor128(turned(load128(block)), before));
    }
    reduce_turned(products.completed())
}

/// A product of 256 bits in three parts of 128: of the halves in the first places, of sums of
/// halves or mixed, and of the halves in the second places.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    first: Block,
    middle: Block,
    second: Block,
}

impl Product {
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn zero() -> Self {
        Self { first: zero128(), middle: zero128(), second: zero128() }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn add(self, other: Self) -> Self {
        Self {
            first: xor128(self.first, other.first),
            middle: xor128(self.middle, other.middle),
            second: xor128(self.second, other.second),
        }
    }

    /// Adds the product of `x` and the power of that exponent.
    #[inline]
    #[target_feature(enable = "aes")]
    pub(crate) fn add_power(self, powers: &[[u8; 16]; ROOM], exponent: usize, x: Block) -> Self {
        let power = load128(&powers[POWERS - exponent]);
        self.add_by_three(x, power, sums_from(powers, exponent))
    }

    /// Adds the products of a pair and the powers from that of `exponent` down.
    #[inline]
    #[target_feature(enable = "aes")]
    pub(crate) fn add_pair(
        self,
        powers: &[[u8; 16]; ROOM],
        exponent: usize,
        [a, b]: [Block; 2],
    ) -> Self {
        // Else the compiler computes the first sum once more, alone.
        let sums = opaque128(xor128(low_halves(a, b), high_halves(a, b)));
        let sums_of_powers = sums_from(powers, exponent);
        let middle = xor128(self.middle, first(sums, sums_of_powers));
        let this = Self { middle: xor128(middle, second(sums, sums_of_powers)), ..self };
        let powers = [&powers[POWERS - exponent], &powers[POWERS - exponent + 1]];
        this.add_outer(a, load128(powers[0])).add_outer(b, load128(powers[1]))
    }

    /// Adds the product of `a` and `b`; the first half of `sums` is the sum of the halves of `b`.
    /// The middle part is complete after `completed`.
    #[inline]
    #[target_feature(enable = "aes")]
    pub(crate) fn add_by_three(self, a: Block, b: Block, sums: Block) -> Self {
        let middle = xor128(self.middle, first(sum_of_halves(a), sums));
        Self { middle, ..self }.add_outer(a, b)
    }

    #[inline]
    #[target_feature(enable = "aes")]
    fn add_outer(self, a: Block, b: Block) -> Self {
        let (first, second) = (first(a, b), second(a, b));
        Self { first: xor128(self.first, first), second: xor128(self.second, second), ..self }
    }

    /// Subtracts the two other parts from the middle one.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn completed(self) -> Self {
        Self { middle: xor128(self.middle, xor128(self.first, self.second)), ..self }
    }

    /// Makes the compiler finish this sum and these blocks before it continues with either, so that
    /// multiplications stand between the rounds of AES.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(crate) fn in_order(&mut self, blocks: &mut [InRounds; 8]) {
        let [a, b, c, d, e, f, g, h] = blocks.each_mut().map(InRounds::block_mut);
        // SAFETY: the assembly is empty and leaves the registers as they were.
        unsafe {
            asm!("/* {0:v} {1:v} {2:v} {3:v} {4:v} {5:v} {6:v} {7:v} {8:v} {9:v} {10:v} */",
                inout(vreg) self.first, inout(vreg) self.middle, inout(vreg) self.second,
                inout(vreg) *a, inout(vreg) *b, inout(vreg) *c, inout(vreg) *d,
                inout(vreg) *e, inout(vreg) *f, inout(vreg) *g, inout(vreg) *h,
                options(pure, nomem, nostack, preserves_flags));
        }
    }
}

/// The sums of the halves of the power of `exponent` and of the one below.
#[inline]
#[target_feature(enable = "neon")]
fn sums_from(powers: &[[u8; 16]; ROOM], exponent: usize) -> Block {
    let sums = &powers.as_flattened()[16 * (POWERS - WIDTH) - 8 * exponent..];
    load128(sums.first_chunk().expect("powers follow"))
}

/// The sum of the halves of a number, in both.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn sum_of_halves(x: Block) -> Block {
    xor128(x, exchanged(x))
}

#[inline]
#[target_feature(enable = "aes")]
pub(crate) fn multiply(a: Block, b: Block) -> Product {
    let other = exchanged(b);
    let middle = xor128(first(a, other), second(a, other));
    Product { first: first(a, b), middle, second: second(a, b) }
}

/// The product of the first halves.
#[inline]
#[target_feature(enable = "aes")]
fn first(a: Block, b: Block) -> Block {
    let half = |v| vgetq_lane_p64::<0>(vreinterpretq_p64_u8(v));
    vreinterpretq_u8_p128(vmull_p64(half(a), half(b)))
}

/// The product of the second halves. The compiler must not know where registers come from: it
/// would load or move halves alone.
#[inline]
#[target_feature(enable = "aes")]
fn second(a: Block, b: Block) -> Block {
    let [a, b] = [a, b].map(|x| vreinterpretq_p64_u8(opaque128(x)));
    vreinterpretq_u8_p128(vmull_high_p64(a, b))
}

/// H^4 down to H^1 of a key as POLYVAL has it: numbers whose halves are not exchanged.
#[inline]
#[target_feature(enable = "aes")]
pub(crate) fn four_from(h1: Block) -> [Block; 4] {
    let h2 = reduce(multiply(h1, h1));
    [reduce(multiply(h2, h2)), reduce(multiply(h2, h1)), h2, h1]
}

/// Each of two steps folds the lowest half into the part above: the half itself, which the exchange
/// of the halves puts in its place, and its product with x^7 + x^2 + x.
#[inline]
#[target_feature(enable = "aes")]
pub(crate) fn reduce(x: Product) -> Block {
    let middle = xor128(x.middle, xor128(exchanged(x.first), folded(x.first)));
    xor128(x.second, xor128(exchanged(middle), folded(middle)))
}

/// The same for numbers with exchanged halves.
#[inline]
#[target_feature(enable = "aes")]
pub(crate) fn reduce_turned(x: Product) -> Block {
    let middle = xor128(x.middle, xor128(exchanged(x.second), folded(x.second)));
    xor128(middle, exchanged(xor128(x.first, folded(middle))))
}

#[inline]
#[target_feature(enable = "aes")]
fn folded(x: Block) -> Block {
    first(x, of_halves([FOLD; 2]))
}
