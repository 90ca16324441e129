//! Kernel bytes in every request.

use crate::PerThread;
use crate::error::{EntropyError, abort};
use crate::linux::generator::{Mix, Mixing};
use crate::linux::methods::draws;
use crate::linux::word::Word;

/// A generator that mixes fresh kernel bytes into every single request.
///
/// For programs that may be snapshotted or cloned at any moment. Copies of a process never return
/// the same bytes, not even bytes that were buffered when they were copied. The same holds for
/// copies of a machine as soon as their kernels have detected it. Each request costs a system call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strict<G = PerThread>(G);

impl<G> Strict<G> {
    pub(crate) const fn new(generator: G) -> Self {
        Self(generator)
    }
}

impl<G> PerThread<G> {
    /// The same generator with kernel bytes mixed into every request.
    #[inline]
    #[must_use]
    pub const fn strict(self) -> Strict<Self> {
        Strict::new(self)
    }
}

#[expect(private_bounds, reason = "only the generators of this crate know how to mix")]
impl<G: Mix> Strict<G> {
    /// Fills `out` with random bytes, or returns an error.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the kernel gives no random bytes. `out` must then not be used.
    pub fn try_fill(&mut self, out: &mut [u8]) -> Result<(), EntropyError> {
        self.0.fill_with(out, Mixing::EveryRequest)
    }

    draws!(mut);

    fn word<W: Word>(&mut self) -> W {
        W::by(|bytes| self.try_fill(bytes)).unwrap_or_else(|error| abort(error))
    }
}
