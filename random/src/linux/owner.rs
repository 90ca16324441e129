//! A page in use, with the state for refilling it.

use core::num::NonZeroU64;

use lanecrypt_kernels::Isa;

use crate::error::EntropyError;
use crate::linux::page::PageMut;
use crate::linux::vdso::State;

/// A page in use, with the state for refilling it.
pub(crate) struct Owner<'a, G> {
    pub(crate) page: PageMut<'a, G>,
    /// The page's state of the kernel's generator.
    pub(crate) vdso: State,
    pub(crate) isa: Isa,
    /// The number of bytes that one key generates, for generators that count them. `None` means the
    /// setting of the process.
    pub(crate) interval: Option<NonZeroU64>,
}

impl<G> Owner<'_, G> {
    /// Fails if a fork has emptied the page.
    pub(crate) fn check(&self) -> Result<(), FillError> {
        if self.page.is_live() { Ok(()) } else { Err(FillError::Forked) }
    }
}

/// The reason for which an attempt to fill a request failed.
#[derive(Debug)]
pub(crate) enum FillError {
    /// A fork emptied the page. The parent has drawn the same bytes.
    Forked,
    /// The kernel gave no random bytes.
    NoEntropy(EntropyError),
}

impl From<EntropyError> for FillError {
    fn from(error: EntropyError) -> Self {
        Self::NoEntropy(error)
    }
}
