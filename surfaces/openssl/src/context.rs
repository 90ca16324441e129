//! The value that OpenSSL keeps for the provider.

use std::path::PathBuf;
use std::sync::Arc;

use crate::curves::Curves;
use crate::rsa::Rsa;

/// What the provider knows of the library that loaded it.
pub(crate) struct Provider {
    /// Where counts are written at the end, if the configuration says so.
    pub(crate) count: Option<PathBuf>,
    /// RSA, if the configuration switches it on.
    pub(crate) rsa: Option<Arc<Rsa>>,
    /// X25519 and P-256, if the configuration switches them on.
    pub(crate) curves: Option<Curves>,
}
