//! Memory for requests.

#[cfg(all(test, feature = "legacy"))]
pub(crate) mod fault;

use core::fmt;

use lanecrypt_kernels::{montgomery, wipe};
use zeroize::ZeroizeOnDrop;

use crate::Backend;

/// Memory that requests need besides keys, messages and signatures.
///
/// It grows when a batch is larger than any before, up to that of 32 requests, and is kept for the
/// next one. Residue of a request is wiped before [`process`](crate::process) returns. Each
/// thread needs its own. It also selects the [`Backend`] of its requests.
#[derive(Default)]
pub struct Workspace {
    pub(crate) backend: Backend,
    pub(crate) slots: Vec<Slot>,
    pub(crate) arithmetic: montgomery::Workspace,
}

impl Workspace {
    /// Empty memory, which grows with the first requests.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Empty memory for requests that this one serves.
    #[must_use]
    pub fn with_backend(backend: Backend) -> Self {
        let mut workspace = Self::default();
        workspace.set_backend(backend);
        workspace
    }

    /// Sets what serves its requests.
    pub const fn set_backend(&mut self, backend: Backend) {
        self.backend = backend;
    }

    /// The backend of its requests.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }
}

/// The numbers of one request, which are empty between batches.
#[derive(Default)]
pub(crate) struct Slot {
    /// The request takes part in the batch.
    pub(crate) is_live: bool,
    /// The number that goes in.
    pub(crate) input: Vec<u64>,
    /// The number that comes out.
    pub(crate) output: Vec<u64>,
    /// The output of a private operation to the power of e.
    pub(crate) checked: Vec<u64>,
    /// The padded digest, and room for another one.
    pub(crate) padded: [Vec<u8>; 2],
    pub(crate) blinding: Blinding,
    pub(crate) crt: Crt,
    /// An error of the computation, for tests.
    #[cfg(all(test, feature = "legacy"))]
    pub(crate) fault: Option<fault::Fault>,
}

/// The blinding of the private operation's input, see `private.rs`.
#[derive(Default)]
pub(crate) struct Blinding {
    pub(crate) bytes: Vec<u8>,
    pub(crate) random: Vec<u64>,
    pub(crate) factor: Vec<u64>,
    pub(crate) blinded: Vec<u64>,
    pub(crate) result: Vec<u64>,
}

/// Bases and powers modulo p and modulo q, and what puts them together.
#[derive(Default)]
pub(crate) struct Crt {
    pub(crate) bases: [Vec<u64>; 2],
    pub(crate) powers: [Vec<u64>; 2],
    pub(crate) remainder: Vec<u64>,
    pub(crate) quotient: Vec<u64>,
    pub(crate) product: Vec<u64>,
}

impl Slot {
    /// Wipes everything and leaves it empty, with the same capacity. Numbers are written once in a
    /// batch, so nothing is behind their lengths.
    pub(crate) fn wipe(&mut self) {
        let Self { is_live, input, output, checked, padded, blinding, crt, .. } = self;
        let Blinding { bytes, random, factor, blinded, result } = blinding;
        let Crt { bases: [base_p, base_q], powers: [from_p, from_q], .. } = crt;
        let Crt { remainder, quotient, product, .. } = crt;
        *is_live = false;
        // A digest, which is no secret, and what was compared with it.
        padded.iter_mut().for_each(Vec::clear);
        wipe::memory(bytes);
        bytes.clear();
        for numbers in [
            [input, output, checked, random, factor, blinded, result],
            [base_p, base_q, from_p, from_q, remainder, quotient, product],
        ]
        .as_flattened_mut()
        {
            wipe::words(numbers);
            numbers.clear();
        }
        #[cfg(all(test, feature = "legacy"))]
        {
            self.fault = None;
        }
    }
}

/// So many zeros.
pub(crate) fn zeros<T: Copy + Default>(numbers: &mut Vec<T>, length: usize) -> &mut [T] {
    numbers.clear();
    numbers.resize(length, T::default());
    numbers
}

impl Drop for Workspace {
    fn drop(&mut self) {
        for slot in &mut self.slots {
            slot.wipe();
        }
    }
}

impl ZeroizeOnDrop for Workspace {}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").finish_non_exhaustive()
    }
}
