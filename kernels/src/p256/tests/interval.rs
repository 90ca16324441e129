//! All values that a word may have, as an interval: arithmetic on it fails where one of them would
//! overflow or be negative.

use crate::words::{Step, Words, Words32, Words52};

#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) low: u64,
    pub(super) high: u64,
}

const MASK52: u64 = (1 << 52) - 1;

impl Interval {
    pub(super) const ANY: Self = Self::new(0, u64::MAX);

    pub(super) const fn new(low: u64, high: u64) -> Self {
        Self { low, high }
    }

    /// The greatest product of 52 bits. Only reductions multiply longer words, by constants: they
    /// take the low 52 bits.
    #[track_caller]
    fn product52(a: Self, b: Self) -> u128 {
        let fits = |number: Self| number.high <= MASK52;
        assert!(fits(a) && fits(b) || !fits(a) && fits(b) && b.low == b.high, "{a:x?} {b:x?}");
        u128::from(a.high.min(MASK52)) * u128::from(b.high)
    }
}

impl Words for Interval {
    const LANES: usize = 1;

    fn outline<S: Step>(step: S) -> S::Output {
        step.run()
    }

    fn splat(word: u64) -> Self {
        Self::new(word, word)
    }
    fn load(words: &[u64; 8]) -> Self {
        Self::splat(words[0])
    }
    fn store(self) -> [u64; 8] {
        unreachable!("an interval is not a word")
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
        unreachable!("for hashes")
    }
    #[track_caller]
    fn add(self, other: Self) -> Self {
        let high = self.high.checked_add(other.high);
        Self::new(self.low + other.low, high.expect("no overflow"))
    }
    #[track_caller]
    fn sub(self, other: Self) -> Self {
        if self.high == 0 && other.high == 1 {
            // A mask.
            return Self::ANY;
        }
        let low = self.low.checked_sub(other.high);
        Self::new(low.expect("nothing negative"), self.high - other.low)
    }
    fn and(self, other: Self) -> Self {
        if other.low == other.high && self.high <= other.high && (other.high + 1).is_power_of_two()
        {
            return self;
        }
        Self::new(0, self.high.min(other.high))
    }
    fn or(self, other: Self) -> Self {
        let bits = u64::BITS - (self.high | other.high).leading_zeros();
        Self::new(0, u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0))
    }
    fn xor(self, other: Self) -> Self {
        self.or(other)
    }
    fn shl<const BITS: u32>(self) -> Self {
        // Bits that are lost make any word, which is never added.
        let fits = self.high <= u64::MAX >> BITS;
        if fits { Self::new(self.low << BITS, self.high << BITS) } else { Self::ANY }
    }
    fn shr<const BITS: u32>(self) -> Self {
        Self::new(self.low >> BITS, self.high >> BITS)
    }
    fn shr_signed<const BITS: u32>(self) -> Self {
        unreachable!("nothing is negative")
    }
    fn rotate_right<const BITS: u32>(self) -> Self {
        unreachable!("for hashes")
    }
    fn swap_bytes(self) -> Self {
        unreachable!("for hashes")
    }
    fn is_zero(self) -> Self {
        Self::ANY
    }
    fn select(_: Self, one: Self, other: Self) -> Self {
        Self::new(one.low.min(other.low), one.high.max(other.high))
    }
    fn look_up(self, table: &[u64; 16]) -> Self {
        let ends = (table.iter().min(), table.iter().max());
        let (Some(&low), Some(&high)) = ends else { unreachable!("16 entries") };
        Self::new(low, high)
    }
}

impl Words52 for Interval {
    #[track_caller]
    fn add_low(self, a: Self, b: Self) -> Self {
        let product = u64::try_from(Self::product52(a, b)).unwrap_or(u64::MAX);
        self.add(Self::new(0, product.min(MASK52)))
    }
    #[track_caller]
    fn add_high(self, a: Self, b: Self) -> Self {
        let high = u64::try_from(Self::product52(a, b) >> 52).expect("52 bits");
        self.add(Self::new(0, high))
    }
}

impl Words32 for Interval {
    #[track_caller]
    fn multiply(self, other: Self) -> Self {
        assert!(self.high < 1 << 32 && other.high < 1 << 32, "{self:x?} {other:x?}");
        Self::new(self.low * other.low, self.high * other.high)
    }
}
