//! Words of which only the least and the greatest value are known.

use core::cell::Cell;

use crate::words::{Step, Words, Words32, Words52};

/// All words from the first number to the second. Operations panic if a word of the operands may
/// overflow or have too many bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval(u128, u128);

const ALL: u128 = u64::MAX as u128;

thread_local! {
    /// How often a factor of 19 had more than 52 bits, and how often bits from 52 on were taken.
    static TRUNCATED: Cell<[u32; 2]> = const { Cell::new([0; 2]) };
}

/// A fold takes the low 52 bits of a column twice, for both halves of the product with 19, and the
/// bits above them once: panics if any bits are lost.
pub(super) fn check_truncations() {
    let [truncated, above] = TRUNCATED.take();
    assert!(above > 0, "columns have more than 52 bits");
    assert_eq!(truncated, 2 * above);
}

impl Interval {
    pub(super) fn up_to(most: u64) -> Self {
        Self(0, most.into())
    }

    pub(super) fn most(self) -> u64 {
        u64::try_from(self.1).expect("a word")
    }

    fn checked(self) -> Self {
        assert!(self.0 <= self.1 && self.1 <= ALL, "{self:?}");
        self
    }

    /// The product of 104 bits.
    fn product52(self, other: Self) -> Self {
        let Self(mut least, mut most) = self;
        if most >> 52 > 0 {
            assert_eq!((other.0, other.1), (19, 19), "too many bits of {self:?}");
            let [truncated, above] = TRUNCATED.get();
            TRUNCATED.set([truncated + 1, above]);
            (least, most) = (0, (1 << 52) - 1);
        }
        assert!(other.1 >> 52 == 0, "too many bits of {other:?}");
        Self(least * other.0, most * other.1)
    }
}

impl Words for Interval {
    const LANES: usize = 1;

    fn outline<S: Step>(step: S) -> S::Output {
        step.run()
    }

    fn splat(word: u64) -> Self {
        Self(word.into(), word.into())
    }
    fn load(words: &[u64; 8]) -> Self {
        Self::splat(words[0])
    }
    fn store(self) -> [u64; 8] {
        unreachable!("an interval is not a word");
    }
    fn store_to(self, _: &mut [u64; 8]) {
        unreachable!("an interval is not a word");
    }
    fn rotate_left<const BITS: u32>(self) -> Self {
        unreachable!("the field turns no words");
    }
    fn xor_and_not(self, _: Self, _: Self) -> Self {
        unreachable!("for hashes");
    }
    fn load_rows(_: [&[u8; 64]; 8]) -> [Self; 8] {
        unreachable!("the field has no rows");
    }
    fn rotate_right<const BITS: u32>(self) -> Self {
        unreachable!("the field turns no words");
    }
    fn swap_bytes(self) -> Self {
        unreachable!("the field swaps no bytes");
    }
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1).checked()
    }
    fn sub(self, other: Self) -> Self {
        assert!(self.0 >= other.1, "{self:?} - {other:?} may be negative");
        Self(self.0 - other.1, self.1 - other.0)
    }
    fn and(self, other: Self) -> Self {
        // No more bits than either has; a mask of low bits keeps what fits.
        assert!((other.1 + 1).is_power_of_two() && other.0 == other.1, "a mask of low bits");
        if self.1 <= other.1 { self } else { Self(0, other.1) }
    }
    fn or(self, other: Self) -> Self {
        Self(self.0.max(other.0), (self.1 + other.1).min(ALL))
    }
    fn xor(self, other: Self) -> Self {
        Self(0, (self.1 | other.1).next_power_of_two().max(2) * 2 - 1).checked()
    }
    /// Some shifts drop bits on purpose. A sum with any word fails then.
    fn shl<const BITS: u32>(self) -> Self {
        let most = self.1 << BITS;
        if most > ALL { Self(0, ALL) } else { Self(self.0 << BITS, most) }
    }
    fn shr<const BITS: u32>(self) -> Self {
        if BITS == 52 {
            let [truncated, above] = TRUNCATED.get();
            TRUNCATED.set([truncated, above + 1]);
        }
        Self(self.0 >> BITS, self.1 >> BITS)
    }
    fn shr_signed<const BITS: u32>(self) -> Self {
        Self(0, ALL)
    }
    fn is_zero(self) -> Self {
        Self(0, ALL)
    }
    fn select(_: Self, one: Self, other: Self) -> Self {
        Self(one.0.min(other.0), one.1.max(other.1))
    }
    fn look_up(self, table: &[u64; 16]) -> Self {
        assert!(self.1 < 16);
        table
            .iter()
            .map(|&word| Self::splat(word))
            .reduce(|a, b| Self::select(a, a, b))
            .expect("16")
    }
}

impl Words52 for Interval {
    fn add_low(self, a: Self, b: Self) -> Self {
        let Self(least, most) = a.product52(b);
        let low = if most >> 52 == 0 { Self(least, most) } else { Self(0, (1 << 52) - 1) };
        self.add(low)
    }
    fn add_high(self, a: Self, b: Self) -> Self {
        let Self(least, most) = a.product52(b);
        self.add(Self(least >> 52, most >> 52))
    }
}

impl Words32 for Interval {
    fn multiply(self, other: Self) -> Self {
        assert!(self.1 >> 32 == 0 && other.1 >> 32 == 0, "too many bits: {self:?} times {other:?}");
        Self(self.0 * other.0, self.1 * other.1)
    }
}
