//! Keys of AWS-LC, which ours keep beside themselves.

use std::sync::OnceLock;

use aws_lc_rs::agreement::PrivateKey;
use aws_lc_rs::kem::DecapsulationKey;
use aws_lc_rs::signature::{EcdsaKeyPair, ParsedPublicKey};

/// A key of AWS-LC beside one of ours, made when it is first needed; none if AWS-LC refuses it.
pub(crate) struct Beside<T>(OnceLock<Option<Box<T>>>);

impl<T> Beside<T> {
    pub(super) fn get<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Option<&T> {
        self.0.get_or_init(|| make().ok().map(Box::new)).as_deref()
    }
}

impl<T> Default for Beside<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

pub(crate) type Agreement = Beside<PrivateKey>;
pub(crate) type Signer = Beside<EcdsaKeyPair>;
pub(crate) type Verifier = Beside<ParsedPublicKey>;
pub(crate) type MlKem768 = Beside<DecapsulationKey>;
