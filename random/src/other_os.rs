//! The system's generator, called at every request.

use crate::error::{EntropyError, abort};

/// The type that [`rng`](crate::rng) returns: the system's generator.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Rng;

/// The type that [`strict`](crate::strict) returns. Every request is passed to the system anyway.
pub type Strict = Rng;

impl Rng {
    /// The system's generator.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }

    pub(crate) const fn strict(self) -> Self {
        self
    }

    /// Fills `out` with random bytes, or returns an error.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the system gives no random bytes. `out` must then not be used.
    pub fn try_fill(out: &mut [u8]) -> Result<(), EntropyError> {
        getrandom::fill(out).map_err(|error| {
            EntropyError::from_code(error.raw_os_error().unwrap_or(EntropyError::UNKNOWN))
        })
    }

    /// Fills `out` with random bytes. Aborts the process, after one line on standard error, where
    /// [`try_fill`](Self::try_fill) would return an error.
    pub fn fill(out: &mut [u8]) {
        if let Err(error) = Self::try_fill(out) {
            abort(error);
        }
    }

    /// A random 32-bit number. Aborts like [`fill`](Self::fill).
    #[must_use]
    pub fn u32() -> u32 {
        let mut bytes = [0; 4];
        Self::fill(&mut bytes);
        u32::from_ne_bytes(bytes)
    }

    /// A random 64-bit number. Aborts like [`fill`](Self::fill).
    #[must_use]
    pub fn u64() -> u64 {
        let mut bytes = [0; 8];
        Self::fill(&mut bytes);
        u64::from_ne_bytes(bytes)
    }
}
