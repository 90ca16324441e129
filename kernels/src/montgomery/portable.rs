//! Limbs of 64 bits, one number at a time: for every processor, and the specification of the other
//! kernels.

use super::context::Context;
use super::exponentiation::{self, Arithmetic};
use super::{Jobs, Workspace, limbs};

/// Exponentiations, one after the other.
pub(super) fn raise(jobs: &mut dyn Jobs, chosen: &[usize], workspace: &mut Workspace) {
    exponentiation::raise::<Portable>(jobs, chosen, workspace);
}

struct Portable;

impl Arithmetic for Portable {
    fn multiply(modulus: &Context, number: &mut [u64], factor: &[u64], room: &mut [u64]) {
        limbs::multiply(number, factor, room);
        modulus.reduce(room, number);
    }

    fn square(modulus: &Context, number: &mut [u64], room: &mut [u64]) {
        limbs::square(number, room);
        modulus.reduce(room, number);
    }

    fn reduce(modulus: &Context, product: &mut [u64], out: &mut [u64]) {
        modulus.reduce(product, out);
    }

    fn look_up(table: &[u64], index: u64, out: &mut [u64]) {
        exponentiation::look_up(table, out.len(), index, out);
    }
}
