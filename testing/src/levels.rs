//! The levels of the machine that runs the tests.

use lanecrypt_kernels::{Isa, Level};

/// Every level that this processor has, with its proof.
pub fn levels() -> impl Iterator<Item = Isa> {
    let levels = Level::built().iter().filter(|&&level| Isa::of_processor().has(level));
    levels.map(|&level| Isa::of_processor().at_most(level))
}
