//! Words of 64 bits of several numbers side by side: the arithmetic that field code is written in.
//!
//! Field code is generic over [`Words`]. It runs on registers of AVX-512 (eight numbers), of AVX2
//! (four), and on a plain `u64` (one number), which is the specification.

pub(crate) mod x86_64;

use crate::opaque;

/// A word of 64 bits of each of several numbers.
///
/// A register implements it for functions that have its instructions, and only these name its type.
/// All methods are inlined there.
pub(crate) trait Words: Copy {
    /// How many numbers there are side by side: at most eight.
    const LANES: usize;

    /// Runs a step in a function of its own, where that is as fast as to inline it. So there is one
    /// copy of its code, and not one for each call.
    fn outline<S: Step>(step: S) -> S::Output;

    /// The same for a step of many products, which takes far longer than a call.
    #[inline(always)]
    fn outline_long<S: Step>(step: S) -> S::Output {
        Self::outline(step)
    }

    /// The same word in each lane.
    fn splat(word: u64) -> Self;
    /// A word for each of eight lanes; only the first `LANES` count.
    fn load(words: &[u64; 8]) -> Self;
    /// The words of the lanes; those above `LANES` are zero.
    fn store(self) -> [u64; 8];
    /// Eight words of each of eight lanes, little-endian, one row of bytes for each lane; only the
    /// first `LANES` rows count.
    fn load_rows(rows: [&[u8; 64]; 8]) -> [Self; 8];
    /// Stores the words of the lanes; those above `LANES` stay.
    fn store_to(self, words: &mut [u64; 8]);

    /// Sums modulo 2^64.
    fn add(self, other: Self) -> Self;
    /// Differences modulo 2^64.
    fn sub(self, other: Self) -> Self;
    /// Bits that both have.
    fn and(self, other: Self) -> Self;
    /// Bits that either has.
    fn or(self, other: Self) -> Self;
    /// Bits that one of them has.
    fn xor(self, other: Self) -> Self;
    /// Words moved up by `BITS`, which is less than 64.
    fn shl<const BITS: u32>(self) -> Self;
    /// Words moved down by `BITS`, which is less than 64; zeros fill in.
    fn shr<const BITS: u32>(self) -> Self;
    /// Words moved down by `BITS`, with copies of the sign.
    fn shr_signed<const BITS: u32>(self) -> Self;
    /// Words turned right by `BITS`, which is from 1 to 63.
    fn rotate_right<const BITS: u32>(self) -> Self;
    /// Words with their bytes in reverse order.
    fn swap_bytes(self) -> Self;
    /// Bits that one or all of three have.
    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }
    /// Bits that at least two of three have.
    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        // In SHA-2, the second sum is the first one of the round before.
        self.xor(b).and(b.xor(c)).xor(b)
    }
    /// Each bit of `one` where `self` has that bit, of `other` elsewhere; [`select`](Self::select)
    /// takes masks of whole words only.
    #[inline(always)]
    fn choose(self, one: Self, other: Self) -> Self {
        other.xor(self.and(one.xor(other)))
    }
    /// Words rotated up by `BITS`, from 1 to 63.
    fn rotate_left<const BITS: u32>(self) -> Self;
    /// `self`, with those bits changed that `bits` has and `except` has not.
    fn xor_and_not(self, bits: Self, except: Self) -> Self;
    /// All bits where a word is zero, none elsewhere.
    fn is_zero(self) -> Self;
    /// The bits of `one` where `mask` has bits, those of `other` elsewhere.
    fn select(mask: Self, one: Self, other: Self) -> Self;
    /// Entry `self` of a table, for each lane: all entries are read, whatever the indices, which
    /// are less than 16.
    fn look_up(self, table: &[u64; 16]) -> Self;
}

/// A part of a computation with its inputs.
///
/// It is not a closure: the compiler does not inline those into functions with more instructions.
pub(crate) trait Step {
    /// Its result.
    type Output;

    /// Computes the result. Inlined always.
    fn run(self) -> Self::Output;
}

/// Products of 52 bits (IFMA).
pub(crate) trait Words52: Words {
    /// `self` and the low 52 bits of the product of the low 52 bits of each.
    fn add_low(self, a: Self, b: Self) -> Self;
    /// `self` and the bits from 52 on of the product of the low 52 bits of each.
    fn add_high(self, a: Self, b: Self) -> Self;
}

/// Products of 32 bits.
#[cfg_attr(not(feature = "isa-avx2"), allow(dead_code, reason = "only AVX2 has such products"))]
pub(crate) trait Words32: Words {
    /// The product of the low 32 bits of each.
    fn multiply(self, other: Self) -> Self;
    /// Keeps words in memory: products read them there, so that they take no registers.
    #[inline(always)]
    fn keep<const N: usize>(_: &mut [Self; N]) {}
    /// The same words, of which the compiler knows nothing. Where it knows a factor, it may make a
    /// product of 64 bits of one of 32, which processors lack.
    #[inline(always)]
    fn opaque(self) -> Self {
        self
    }
}

impl Words for u64 {
    const LANES: usize = 1;

    #[inline(never)]
    fn outline<S: Step>(step: S) -> S::Output {
        step.run()
    }

    #[inline(always)]
    fn splat(word: u64) -> Self {
        word
    }
    #[inline(always)]
    fn load(words: &[u64; 8]) -> Self {
        words[0]
    }
    #[inline(always)]
    fn store(self) -> [u64; 8] {
        [self, 0, 0, 0, 0, 0, 0, 0]
    }
    #[inline(always)]
    fn load_rows([row, ..]: [&[u8; 64]; 8]) -> [Self; 8] {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(row.as_chunks().0) {
            *word = Self::from_le_bytes(*bytes);
        }
        words
    }
    #[inline(always)]
    fn store_to(self, words: &mut [u64; 8]) {
        words[0] = self;
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }
    #[inline(always)]
    fn shl<const BITS: u32>(self) -> Self {
        self << BITS
    }
    #[inline(always)]
    fn shr<const BITS: u32>(self) -> Self {
        self >> BITS
    }
    #[inline(always)]
    fn shr_signed<const BITS: u32>(self) -> Self {
        (self.cast_signed() >> BITS).cast_unsigned()
    }
    #[inline(always)]
    fn rotate_right<const BITS: u32>(self) -> Self {
        self.rotate_right(BITS)
    }
    #[inline(always)]
    fn swap_bytes(self) -> Self {
        self.swap_bytes()
    }
    #[inline(always)]
    fn rotate_left<const BITS: u32>(self) -> Self {
        self.rotate_left(BITS)
    }
    #[inline(always)]
    fn xor_and_not(self, bits: Self, except: Self) -> Self {
        self ^ bits & !except
    }
    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        // A sum that the next round needs, too, would take a register from it.
        (self ^ b) & c ^ self & b
    }
    #[inline(always)]
    fn is_zero(self) -> Self {
        // The highest bit of `!x & (x - 1)` is set only if `x` is zero.
        core::hint::black_box(!self & self.wrapping_sub(1)).shr_signed::<63>()
    }
    #[inline(always)]
    fn select(mask: Self, one: Self, other: Self) -> Self {
        // The compiler must not know that it is a mask, and branch.
        other ^ opaque::word(mask) & (one ^ other)
    }
    #[inline(always)]
    fn look_up(self, table: &[u64; 16]) -> Self {
        let mut entry = 0;
        for (index, &word) in (0..).zip(table) {
            entry |= word & (self ^ index).is_zero();
        }
        entry
    }
}

impl Words52 for u64 {
    #[inline(always)]
    fn add_low(self, a: Self, b: Self) -> Self {
        self.wrapping_add((a & MASK52).wrapping_mul(b & MASK52) & MASK52)
    }
    #[inline(always)]
    fn add_high(self, a: Self, b: Self) -> Self {
        let product = u128::from(a & MASK52) * u128::from(b & MASK52);
        self.wrapping_add(low_word(product >> 52))
    }
}

impl Words32 for u64 {
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        (self & 0xffff_ffff) * (other & 0xffff_ffff)
    }
}

const MASK52: u64 = (1 << 52) - 1;

#[expect(clippy::cast_possible_truncation, reason = "the low word is what is asked for")]
const fn low_word(number: u128) -> u64 {
    number as u64
}
