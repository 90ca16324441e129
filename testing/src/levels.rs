//! The levels of the machine that runs the tests.

use lanecrypt_kernels::{Isa, Level};

/// Every level that this processor has, with its proof.
pub fn levels() -> impl Iterator<Item = Isa> {
    let available = |level: &Level| Isa::of_processor().has(*level);
    Level::ALL.into_iter().filter(available).map(|level| Isa::of_processor().at_most(level))
}
