//! Limbs of 64 bits, one number at a time, with MUL and UMULH. Constant time in all values.

mod passes;
mod selection;

use crate::Level;
use crate::montgomery::passes::ByPasses;
use crate::montgomery::{Jobs, Workspace, exponentiation};

pub(crate) const NEEDS: Level = Level::Neon;

/// The passes and the selection of this level. Every processor of the architecture that runs this
/// code has the instructions.
pub(super) struct Neon;

/// Exponentiations, one after the other.
#[target_feature(enable = "neon")]
pub(crate) fn raise(jobs: &mut dyn Jobs, chosen: &[usize], workspace: &mut Workspace) {
    exponentiation::raise::<ByPasses<Neon>>(jobs, chosen, workspace);
}

#[cfg(test)]
mod tests {
    use super::Neon;
    use crate::montgomery::passes::tests;

    #[test]
    fn passes_at_the_ends_of_limbs() {
        tests::passes_at_the_ends_of_limbs::<Neon>();
    }

    #[test]
    fn products_at_the_ends_of_limbs() {
        tests::products_at_the_ends_of_limbs::<Neon>();
    }
}
