//! Methods that several places share, written once with their documentation.

/// `fill`, `u32` and `u64` of a value, by its `try_fill` and `word`. `mut` if they change it.
macro_rules! draws {
    ($($mutable:tt)?) => {
        /// Fills `out` with random bytes.
        ///
        /// Aborts the process, after one line on standard error, where
        /// [`try_fill`](Self::try_fill) would return an error.
        #[inline]
        pub fn fill(&$($mutable)? self, out: &mut [u8]) {
            if let Err(error) = self.try_fill(out) {
                $crate::error::abort(error);
            }
        }

        /// A random 32-bit number. Aborts like [`fill`](Self::fill).
        #[inline]
        #[must_use]
        pub fn u32(&$($mutable)? self) -> u32 {
            self.word()
        }

        /// A random 64-bit number. Aborts like [`fill`](Self::fill).
        #[inline]
        #[must_use]
        pub fn u64(&$($mutable)? self) -> u64 {
            self.word()
        }
    };
}

/// The methods of a value with a `slot` whose kind has an interval, by its `made`.
macro_rules! interval {
    ($place:ident) => {
        impl<C: SeedCore + 'static> $place<Rekeying<C>> {
            /// A generator that takes a new key after `interval` bytes of keystream, rounded up to
            /// whole blocks of 64 bytes.
            ///
            /// # Errors
            ///
            /// Same as [`new`](Self::new).
            pub fn with_interval(interval: NonZeroU64) -> Result<Self, EntropyError> {
                Self::made(Isa::detect(), Some(interval))
            }

            /// Its counters.
            #[must_use]
            pub fn counters(&self) -> Counters {
                // Counters need no lock.
                let slot = self.slot.as_ref();
                slot.map_or_else(Counters::default, |slot| slot.page().made().counters())
            }
        }
    };
}

/// The interface of an empty value, by `fill`, `word` and `Mix` of its module. `$reseed` documents
/// its `reseed`, and `$nothing` the case in which that does nothing.
macro_rules! found {
    ($place:ident, $reseed:literal, $nothing:literal) => {
        impl<G> $place<G> {
            /// A value that represents these generators.
            #[inline]
            #[must_use]
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }

        impl<G: StaticGenerator> $place<G> {
            /// Fills `out` with random bytes, or returns an error.
            ///
            /// # Errors
            ///
            /// [`EntropyError`] if the kernel gives no random bytes. `out` must then not be used.
            pub fn try_fill(out: &mut [u8]) -> Result<(), EntropyError> {
                fill::<G, false>(out)
            }

            /// Fills `out` with random bytes.
            ///
            /// Aborts the process, after one line on standard error, where
            /// [`try_fill`](Self::try_fill) would return an error.
            pub fn fill(out: &mut [u8]) {
                // Errors do not return: this aborts.
                let _ = fill::<G, true>(out);
            }

            /// A random 32-bit number. Aborts like [`fill`](Self::fill).
            #[inline]
            #[must_use]
            pub fn u32() -> u32 {
                word::<G, u32>()
            }

            /// A random 64-bit number. Aborts like [`fill`](Self::fill).
            #[inline]
            #[must_use]
            pub fn u64() -> u64 {
                word::<G, u64>()
            }

            #[doc = $reseed]
            ///
            /// # Errors
            ///
            /// [`EntropyError`] if the kernel gives no random bytes.
            ///
            #[doc = concat!("Does nothing ", $nothing, ".")]
            pub fn reseed() -> Result<(), EntropyError> {
                Self::new().fill_with(&mut [], Mixing::NewKey)
            }
        }

        impl<G> Clone for $place<G> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<G> Copy for $place<G> {}

        impl<G> Default for $place<G> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<G> fmt::Debug for $place<G> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                name_only(stringify!($place), f)
            }
        }
    };
}

pub(super) use {draws, found, interval};
