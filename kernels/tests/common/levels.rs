//! The instruction sets that kernels are tested on.

use lanecrypt_kernels::{Isa, Level};

/// The levels of this processor.
pub(crate) fn levels() -> Vec<Isa> {
    let here = Isa::of_processor();
    let mut isas: Vec<_> = Level::ALL.into_iter().map(|level| here.at_most(level)).collect();
    isas.dedup();
    isas
}
