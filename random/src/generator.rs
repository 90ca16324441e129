//! What a placement asks of the generator that it places.

use core::fmt;

use lanecrypt_kernels::{Isa, wipe};

use crate::error::EntropyError;
use crate::hand_out::LONG;
use crate::owner::Owner;
use crate::page::{PageMut, Refusal};
use crate::word::Word;

/// A kind of generator: [`Erasing`](crate::Erasing) or [`Rekeying`](crate::Rekeying).
///
/// The kind says how bytes are made; a placement says where the state lives and who may use it:
/// [`PerThread`](crate::PerThread), [`PerCpu`](crate::PerCpu), [`Shared`](crate::Shared),
/// [`Single`](crate::Single), [`Held`](crate::Held). Other crates cannot add one.
#[expect(private_bounds, private_interfaces, reason = "this is the inside of a generator")]
pub trait Generator: Sized + 'static {
    /// Gives a page that is live and has no bytes left a key of the kernel's.
    #[doc(hidden)]
    fn key(owner: &mut Owner<'_, Self>) -> Result<(), Cut>;

    /// Fills `out` from a page that has a key.
    #[doc(hidden)]
    fn serve(owner: &mut Owner<'_, Self>, out: &mut [u8], mixing: Mixing) -> Result<(), Cut>;

    /// Takes a word, if that is quickly done.
    #[doc(hidden)]
    #[inline(always)]
    fn take<W: Word>(page: &mut PageMut<'_, Self>) -> Result<W, Refusal> {
        page.take()
    }

    /// Fills fewer than [`LONG`] bytes, if that is quickly done.
    #[doc(hidden)]
    #[inline(always)]
    fn take_few_bytes(page: &mut PageMut<'_, Self>, out: &mut [u8]) -> Result<(), Refusal> {
        page.take_few_bytes(out)
    }

    /// Fills any number of bytes, if that is quickly done.
    #[doc(hidden)]
    #[inline(always)]
    fn take_bytes(page: &mut PageMut<'_, Self>, isa: Isa, out: &mut [u8]) -> Result<(), Refusal> {
        page.take_bytes(isa, out)
    }
}

/// Fills `out` of any length, if that is quickly done, by kernels of `isa` where it is long.
#[inline(always)]
pub(crate) fn take_any<G: Generator>(
    page: &mut PageMut<'_, G>,
    isa: impl FnOnce() -> Isa,
    out: &mut [u8],
) -> Result<(), Refusal> {
    if out.len() < LONG { G::take_few_bytes(page, out) } else { G::take_bytes(page, isa(), out) }
}

/// Where the bytes of a request come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mixing {
    /// The buffer, if the request fits.
    Refills,
    /// A key made for this request with kernel bytes in it.
    EveryRequest,
    /// The buffer, after what was there is dropped and the kernel has given a new key.
    NewKey,
}

/// Why an attempt to fill a request failed.
#[derive(Debug)]
pub(crate) enum Cut {
    /// A fork emptied the page: what was drawn so far, the parent has drawn too.
    Forked,
    /// The kernel gave no random bytes.
    NoEntropy(EntropyError),
}

impl From<EntropyError> for Cut {
    fn from(error: EntropyError) -> Self {
        Self::NoEntropy(error)
    }
}

/// Wipes what a core that uses `stack` bytes left on the stack and in the vector registers when it
/// made `length` bytes.
pub(crate) fn clean_up(stack: usize, length: usize) {
    match stack {
        0..=2048 if length < 1 << 14 => wipe::stack::<2048>(),
        0..=4096 if length < 1 << 14 => wipe::stack::<4096>(),
        0..=8192 => wipe::stack::<8192>(),
        _ => wipe::stack::<12_288>(),
    }
    wipe::registers();
}

/// Writes the name of a placement's type.
pub(crate) fn name_only(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_struct(name).finish_non_exhaustive()
}
