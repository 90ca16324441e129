//! Rows of 32 coefficients of a polynomial, and arithmetic modulo q on them.
//!
//! Coefficients are signed words of 16 bits that are congruent to what they stand for. The comments
//! name bounds of absolute values; tests run the code on intervals, which proves that no word
//! overflows.

/// The modulus.
pub(crate) const Q: i16 = 3329;
/// The inverse of the modulus modulo 2^16.
pub(crate) const Q_INVERSE: i16 = -3327;

/// A polynomial of 256 coefficients, in the order of FIPS 203, also where the number-theoretic
/// transform was applied.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Poly(pub(crate) [[i16; 32]; 8]);

impl Poly {
    pub(crate) const ZERO: Self = Self([[0; 32]; 8]);
}

/// Arithmetic modulo q on rows.
pub(crate) trait Row: Copy {
    /// Sums of 32 bits.
    type Wide: Copy;
    /// Whether eight rows need more registers than there are. A layer is a function call then.
    const IN_MEMORY: bool = false;

    /// A row of constants.
    fn constant(row: &[i16; 32]) -> Self;
    /// Sums, which fit.
    fn add(self, other: Self) -> Self;
    /// Differences, which fit.
    fn sub(self, other: Self) -> Self;
    /// Products divided by 2^16, below `|self| |factor| / 2^16 + q / 2 + 1`. The other argument is
    /// the factor divided by q, modulo 2^16.
    fn multiply(self, factor: Self, quotient: Self) -> Self;
    /// Remainders of at most 1665.
    fn reduce(self) -> Self;
    /// Exchanges the coefficients of `one` whose index has `BIT` with those of `other` whose index
    /// does not have it. `BIT` is 2, 4, 8 or 16.
    fn exchange<const BIT: usize>(one: Self, other: Self) -> (Self, Self);
    /// Each coefficient in the place of its neighbour: 1, 0, 3, 2, …
    fn swap(self) -> Self;
    /// Sums of the products of neighbours.
    fn dot(self, other: Self) -> Self::Wide;
    /// Sums, which fit.
    fn add_wide(one: Self::Wide, other: Self::Wide) -> Self::Wide;
    /// Numbers for even and for odd coefficients, divided by 2^16, below
    /// `|number| / 2^16 + q / 2 + 1`.
    fn narrow(even: Self::Wide, odd: Self::Wide) -> Self;
}

/// Operations of processors on rows.
pub(crate) trait Vector: Copy {
    /// Words of 32 bits in the places of neighbours.
    type Wide: Copy;
    /// See [`Row::IN_MEMORY`].
    const IN_MEMORY: bool = false;

    fn load(row: &[i16; 32]) -> Self;
    fn store(self, row: &mut [i16; 32]);
    fn splat(word: i16) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// The low halves of products.
    fn mul_low(self, other: Self) -> Self;
    /// The high halves of products.
    fn mul_high(self, other: Self) -> Self;
    /// Products divided by 2^15 and rounded.
    fn mul_round(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// All bits where a word is negative, none elsewhere.
    fn negative(self) -> Self;
    /// See [`Row::exchange`].
    fn exchange<const BIT: usize>(one: Self, other: Self) -> (Self, Self);
    /// See [`Row::swap`].
    fn swap(self) -> Self;
    /// See [`Row::dot`].
    fn dot(self, other: Self) -> Self::Wide;
    fn add_wide(one: Self::Wide, other: Self::Wide) -> Self::Wide;
    /// The low halves of words of 32 bits, those for even and those for odd places.
    fn low_halves(even: Self::Wide, odd: Self::Wide) -> Self;
    /// The high halves of the same.
    fn high_halves(even: Self::Wide, odd: Self::Wide) -> Self;
    /// The signs of words as bits.
    fn signs(self) -> u32;
    /// Words of all bits or none.
    fn of_bits(bits: u32) -> Self;
    /// Packs words below 2^4.
    fn pack4(self, bytes: &mut [u8; 16]);
    /// Packs words below 2^10.
    fn pack10(self, bytes: &mut [u8; 40]);
    /// Packs words below 2^12.
    fn pack12(self, bytes: &mut [u8; 48]);
    fn unpack4(bytes: &[u8; 16]) -> Self;
    fn unpack10(bytes: &[u8; 40]) -> Self;
    fn unpack12(bytes: &[u8; 48]) -> Self;
    /// Differences of two bits and two bits: a coefficient of noise for each half of a byte.
    fn noise(bytes: &[u8; 16]) -> Self;
    /// See [`super::kernel::Kernel::sample`].
    fn sample(block: &[u8; 168], poly: &mut Poly, filled: usize) -> usize;
}

impl<V: Vector> Row for V {
    type Wide = V::Wide;
    const IN_MEMORY: bool = V::IN_MEMORY;

    #[inline(always)]
    fn constant(row: &[i16; 32]) -> Self {
        Self::load(row)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Vector::add(self, other)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Vector::sub(self, other)
    }
    #[inline(always)]
    fn multiply(self, factor: Self, quotient: Self) -> Self {
        // The low halves of both products are the same, and cancel.
        let multiple = self.mul_low(quotient).mul_high(Self::splat(Q));
        Vector::sub(self.mul_high(factor), multiple)
    }
    #[inline(always)]
    fn reduce(self) -> Self {
        // 20159 is 2^26 / q, rounded.
        let quotient = self.mul_high(Self::splat(20159)).mul_round(Self::splat(1 << 5));
        Vector::sub(self, quotient.mul_low(Self::splat(Q)))
    }
    #[inline(always)]
    fn exchange<const BIT: usize>(one: Self, other: Self) -> (Self, Self) {
        <Self as Vector>::exchange::<BIT>(one, other)
    }
    #[inline(always)]
    fn swap(self) -> Self {
        Vector::swap(self)
    }
    #[inline(always)]
    fn dot(self, other: Self) -> Self::Wide {
        Vector::dot(self, other)
    }
    #[inline(always)]
    fn add_wide(one: Self::Wide, other: Self::Wide) -> Self::Wide {
        <Self as Vector>::add_wide(one, other)
    }
    #[inline(always)]
    fn narrow(even: Self::Wide, odd: Self::Wide) -> Self {
        let low = Self::low_halves(even, odd).mul_low(Self::splat(Q_INVERSE));
        Vector::sub(Self::high_halves(even, odd), low.mul_high(Self::splat(Q)))
    }
}
