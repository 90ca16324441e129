//! How requests are served.

use lanecrypt_kernels::Isa;

use crate::Backend;

/// How requests are served: by which [`Backend`], with the kernels of which [`Isa`], and whether
/// signatures are checked before they leave.
///
/// The default suits every processor. Methods of keys use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub(crate) isa: Isa,
    pub(crate) backend: Backend,
    pub(crate) checks_signatures: bool,
}

impl Options {
    /// The kernels of this processor, [`Backend::Measured`], and no check of signatures.
    #[must_use]
    pub fn new() -> Self {
        Self { isa: Isa::detect(), backend: Backend::default(), checks_signatures: false }
    }

    /// The same, with the kernels of `isa`.
    #[must_use]
    pub const fn with_isa(self, isa: Isa) -> Self {
        Self { isa, ..self }
    }

    /// The same, with this backend.
    #[must_use]
    pub const fn with_backend(self, backend: Backend) -> Self {
        Self { backend, ..self }
    }

    /// The same; if `checks` is true, each new signature is verified, and a request whose signature
    /// is wrong ends with [`Error::Fault`](crate::Error::Fault).
    ///
    /// A wrong signature that an error of the processor caused can reveal the key. The check costs
    /// two to five times as much as the signature.
    #[must_use]
    pub const fn with_signature_checks(self, checks: bool) -> Self {
        Self { checks_signatures: checks, ..self }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
