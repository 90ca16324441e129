//! Shared parts of the tests of batches.

pub(crate) mod adding;
pub(crate) mod batch;
pub(crate) mod keys;
pub(crate) mod message;
pub(crate) mod numbers;
pub(crate) mod place;

use lanecrypt_ciphers::Level;
use lanecrypt_engine::Isa;

/// Every level that this processor has, with its proof.
pub(crate) fn levels() -> impl Iterator<Item = Isa> {
    let available = |level: &Level| Isa::of_processor().has(*level);
    Level::ALL.into_iter().filter(available).map(|level| Isa::of_processor().at_most(level))
}
