//! Arithmetic modulo odd numbers of 256 to 8192 bits: exponentiations of RSA and all around them,
//! one at a time and many side by side.
//!
//! Montgomery's multiplication ("Modular multiplication without trial division", 1985) without
//! divisions; exponentiations by fixed windows.
//!
//! Numbers are slices of limbs of 64 bits, the lowest first; [`from_be_bytes`] and [`to_be_bytes`]
//! convert them. A remainder has as many limbs as its [`Modulus`] and is less than it;
//! [`Modulus::contains`] says whether it is. With a base or a factor that is not less, nothing
//! panics, and the results mean nothing. Functions panic where lengths do not fit. They do not
//! allocate, unless a [`Workspace`] has to grow.
//!
//! Constant time at every level in the values of moduli, bases, factors and secret exponents, and
//! of all that is computed from them: multiplications, additions, shifts and masks only. Times
//! depend on the numbers of bits of moduli, on the numbers of limbs, on public exponents, and on
//! which jobs have a factor. Temporary values are wiped before a function returns, except in
//! registers and on the stack.
//!
//! With the two primes of an RSA key, a signature is
//!
//! ```
//! # use lanecrypt_kernels::{Isa, montgomery::*};
//! # let isa = Isa::detect();
//! # // p = 2^256 - 189, q = 2^256 - 357.
//! # let [p, q] = [189, 357].map(|low: u64| [low.wrapping_neg(), !0, !0, !0]);
//! # let [p, q] = [p, q].map(|prime| Modulus::new(isa, &prime).unwrap());
//! # let (message, dp, dq, qinv) = ([7; 8], [3; 4], [3; 4], [1, 0, 0, 0]);
//! let mut workspace = Workspace::new();
//! let (mut base_p, mut base_q) = ([0; 4], [0; 4]);
//! let (mut from_p, mut from_q) = ([0; 4], [0; 4]);
//! p.reduce(&message, &mut base_p, &mut workspace);
//! q.reduce(&message, &mut base_q, &mut workspace);
//! // Two exponentiations of one message; or many, of many messages.
//! let mut jobs = [
//!     Power { modulus: &p, base: &base_p, exponent: &dp, factor: None, out: &mut from_p },
//!     Power { modulus: &q, base: &base_q, exponent: &dq, factor: None, out: &mut from_q },
//! ];
//! powers(&mut jobs, &mut workspace);
//! // Garner's formula: q (qinv (from_p - from_q) mod p) + from_q.
//! let (mut difference, mut h, mut signature) = ([0; 4], [0; 4], [0; 8]);
//! p.reduce(&from_q, &mut difference, &mut workspace);
//! p.subtract(&mut from_p, &difference);
//! p.multiply(&from_p, &qinv, &mut h, &mut workspace);
//! multiply_add(&h, q.limbs(), &from_q, &mut signature);
//! ```
//!
//! | level | form |
//! |---|---|
//! | `Portable` | limbs of 64 bits, products of 128 bits, one number at a time |
//! | `Avx2` | digits of 29 bits, four numbers side by side; or as `Portable`, with MULX and ADX |
//! | `Avx512` | digits of 52 bits (IFMA); eight numbers side by side, or the digits of one or two |
//! | `Neon` | as `Portable`, with eight limbs in registers (MUL, UMULH), and selection by vectors |
//!
//! [`powers`] divides jobs into groups whose moduli have as many digits. At `Avx512`, these are up
//! to eight, and a modulus has its bits plus two, divided by 52 and rounded up to a multiple of
//! five. At `Avx2` they are up to four, and bits are divided by 29 and rounded up to a multiple of
//! four. A group runs in lanes, full or not, if that takes less time than one by one, or at
//! `Avx512` by twos. So more jobs never take longer than the same jobs one by one. A product is an
//! exponentiation too ([`PublicPower::product`]), and a factor for a power costs nothing, because
//! it takes the power out of Montgomery's form in place of the number 1.
//!
//! On processors without ADX (Haswell), a number alone at `Avx2` runs the portable kernel.
//!
//! Thousands of cycles of the time-stamp counter for exponents as long as the modulus, and
//! from how many jobs on lanes are taken (AMD EPYC Zen 4, TSC 2.6 GHz, 2026-11-22):
//!
//! | bits | one | two | up to eight in lanes | lanes from |
//! |---|---|---|---|---|
//! | 256 | 32 | 40 | 36 | 2 |
//! | 512 | 118 | 154 | 178 | 3 |
//! | 1024 | 457 | 624 | 1,240 | 4 |
//! | 1536 | 1,076 | 1,668 | 4,060 | 5 |
//! | 2048 | 2,022 | 3,472 | 9,420 | 6 |
//! | 4096 | 13,335 | 26,650 | 73,600 | 6 |

pub(crate) mod aarch64;
mod context;
mod digits;
mod exponentiation;
mod groups;
mod limbs;
mod modulus;
#[cfg(any(all(target_arch = "x86_64", feature = "isa-avx2"), target_arch = "aarch64"))]
mod passes;
mod portable;
mod workspace;
pub(crate) mod x86_64;

pub use self::limbs::{from_be_bytes, multiply_add, to_be_bytes};
pub use self::modulus::{MAX_BITS, MIN_BITS, Modulus};
pub use self::workspace::Workspace;
use crate::{Isa, Level};

/// Calls the kernel of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => { by_isa!(crate::montgomery, $($call)+: Avx512, Avx2, Neon, _ => portable) };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = best!(levels);

/// Whether there are kernels that run many exponentiations side by side.
#[must_use]
pub const fn has_lanes(isa: Isa) -> bool {
    digits::Form::of(isa).is_some()
}

/// Whether there is a kernel for an exponentiation that is alone. Otherwise the portable one runs,
/// also at `Avx2` on processors without ADX.
#[must_use]
pub fn has_single(isa: Isa) -> bool {
    #[cfg(all(target_arch = "x86_64", feature = "isa-avx2"))]
    if isa.has(Level::Avx2) && x86_64::avx2::has_adx() {
        return true;
    }
    Level::Avx512.is_built() && isa.has(Level::Avx512) || isa.has(Level::Neon)
}

/// One digit, or anything of 64 bits, of eight numbers side by side.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Lanes([u64; 8]);

/// The same of four numbers, or of the halves of two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Quad([u64; 4]);

/// An exponentiation with a secret exponent.
#[derive(Debug)]
pub struct Power<'a> {
    /// The modulus.
    pub modulus: &'a Modulus,
    /// The base, which is less than the modulus.
    pub base: &'a [u64],
    /// The exponent, lowest limb first. Its length is public and its value is secret. The time is
    /// proportional to its length, zeros at its top included.
    pub exponent: &'a [u64],
    /// What the power is multiplied with: less than the modulus. Whether there is one is public.
    pub factor: Option<&'a [u64]>,
    /// Where the power, or its product with the factor, goes.
    pub out: &'a mut [u64],
}

/// An exponentiation with a public exponent.
#[derive(Debug)]
pub struct PublicPower<'a> {
    /// The modulus.
    pub modulus: &'a Modulus,
    /// The base, which is less than the modulus.
    pub base: &'a [u64],
    /// The exponent, which the time depends on.
    pub exponent: u64,
    /// What the power is multiplied with: less than the modulus. Whether there is one is public.
    pub factor: Option<&'a [u64]>,
    /// Where the power, or its product with the factor, goes.
    pub out: &'a mut [u64],
}

impl<'a> PublicPower<'a> {
    /// The product of two remainders: the first power of one, with the other one as its factor.
    #[must_use]
    pub const fn product(
        modulus: &'a Modulus,
        one: &'a [u64],
        other: &'a [u64],
        out: &'a mut [u64],
    ) -> Self {
        Self { modulus, base: one, exponent: 1, factor: Some(other), out }
    }
}

/// Exponentiations with secret exponents: moduli of any sizes, own bases and exponents.
///
/// # Panics
///
/// If a base, a factor or an output has another number of limbs than its modulus.
pub fn powers(jobs: &mut [Power<'_>], workspace: &mut Workspace) {
    in_groups(jobs, workspace);
}

/// Exponentiations with public exponents: moduli of any sizes, own bases and exponents.
///
/// # Panics
///
/// If a base, a factor or an output has another number of limbs than its modulus.
pub fn public_powers(jobs: &mut [PublicPower<'_>], workspace: &mut Workspace) {
    in_groups(jobs, workspace);
}

fn in_groups<J: Job>(jobs: &mut [J], workspace: &mut Workspace) {
    for job in &mut *jobs {
        let length = job.modulus().limbs().len();
        assert_eq!(
            [job.base().len(), job.place().1.len()],
            [length; 2],
            "the length of the modulus"
        );
        if let Some(factor) = job.factor() {
            assert_eq!(factor.len(), length, "the length of the modulus");
        }
    }
    for mut jobs in jobs.chunks_mut(groups::MOST) {
        raise(&mut jobs, workspace);
    }
}

fn raise(jobs: &mut dyn Jobs, workspace: &mut Workspace) {
    groups::each(jobs, |jobs, chosen, isa| {
        best!(isa, raise(jobs, chosen, workspace));
    });
}

/// Exponentiations of one kind: kernels have one copy of their code for both.
pub(crate) trait Jobs {
    fn count(&self) -> usize;
    fn job(&self, place: usize) -> Inputs<'_>;
    /// The modulus of a job, and where its result goes.
    fn place(&mut self, place: usize) -> (&Modulus, &mut [u64]);
}

/// What an exponentiation is computed from.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    modulus: &'a Modulus,
    base: &'a [u64],
    exponent: Exponent<'a>,
    factor: Option<&'a [u64]>,
}

impl<J: Job> Jobs for &mut [J] {
    fn count(&self) -> usize {
        self.len()
    }

    fn job(&self, place: usize) -> Inputs<'_> {
        let job = &self[place];
        Inputs {
            modulus: job.modulus(),
            base: job.base(),
            exponent: job.exponent(),
            factor: job.factor(),
        }
    }

    fn place(&mut self, place: usize) -> (&Modulus, &mut [u64]) {
        self[place].place()
    }
}

/// An exponentiation of either kind.
pub(crate) trait Job {
    fn modulus(&self) -> &Modulus;
    fn base(&self) -> &[u64];
    fn exponent(&self) -> Exponent<'_>;
    fn factor(&self) -> Option<&[u64]>;
    /// The modulus, and where the result goes.
    fn place(&mut self) -> (&Modulus, &mut [u64]);
}

/// The exponents of jobs. Those of one call are of one kind.
#[derive(Clone, Copy)]
pub(crate) enum Exponent<'a> {
    Secret(&'a [u64]),
    Public(u64),
}

impl Job for Power<'_> {
    fn modulus(&self) -> &Modulus {
        self.modulus
    }

    fn base(&self) -> &[u64] {
        self.base
    }

    fn exponent(&self) -> Exponent<'_> {
        Exponent::Secret(self.exponent)
    }

    fn factor(&self) -> Option<&[u64]> {
        self.factor
    }

    fn place(&mut self) -> (&Modulus, &mut [u64]) {
        (self.modulus, self.out)
    }
}

impl Job for PublicPower<'_> {
    fn modulus(&self) -> &Modulus {
        self.modulus
    }

    fn base(&self) -> &[u64] {
        self.base
    }

    fn exponent(&self) -> Exponent<'_> {
        Exponent::Public(self.exponent)
    }

    fn factor(&self) -> Option<&[u64]> {
        self.factor
    }

    fn place(&mut self) -> (&Modulus, &mut [u64]) {
        (self.modulus, self.out)
    }
}

impl<'a> Exponent<'a> {
    /// The limbs of a secret one.
    #[cfg(feature = "isa-avx512")]
    const fn limbs(self) -> &'a [u64] {
        match self {
            Self::Secret(limbs) => limbs,
            Self::Public(_) => &[],
        }
    }

    /// Whether the last multiplication is one with the base, which, as it is, takes the product out
    /// of Montgomery's form.
    const fn leaves(self) -> bool {
        matches!(self, Self::Public(exponent) if exponent > 1 && exponent % 2 == 1)
    }
}
