//! The numbers that a generator returns.

use lanecrypt_kernels::wipe;

/// A number that a take returns. Any bits are a valid number.
pub(crate) trait Word: Copy + Eq {
    /// Zero.
    const ZERO: Self;
    /// Its size in bytes.
    const SIZE: u32;

    /// The number composed of steps of 32 bits, the lowest bits first.
    #[cfg(feature = "study")]
    fn from_steps(step: impl FnMut() -> u32) -> Self;

    /// The number that `fill` writes. The bytes are wiped.
    fn by<E>(fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Self, E>;
}

macro_rules! word {
    ($($word:ty),*) => {$(
        impl Word for $word {
            const ZERO: Self = 0;
            const SIZE: u32 = <$word>::BITS / 8;

            #[cfg(feature = "study")]
            #[inline(always)]
            fn from_steps(mut step: impl FnMut() -> u32) -> Self {
                (0..Self::SIZE / 4).fold(0, |word, i| word | Self::from(step()) << (32 * i))
            }

            #[inline]
            fn by<E>(fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Self, E> {
                let mut bytes = [0; size_of::<$word>()];
                let word = fill(&mut bytes).map(|()| Self::from_ne_bytes(bytes));
                wipe::memory(&mut bytes);
                word
            }
        }
    )*};
}

word!(u32, u64);

/// A value at any address. Volatile accesses exist only for aligned values.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(crate) struct Unaligned<T>(pub(crate) T);
