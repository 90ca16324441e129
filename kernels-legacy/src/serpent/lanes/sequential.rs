//! One message after the other: the specification of the other kernels.

use lanecrypt_kernels::lanes::Lane;

use crate::serpent::{Serpent, portable};

pub(in crate::serpent) fn cbc_encrypt_lanes(lanes: &mut [Lane<'_, Serpent, 16>]) {
    for lane in lanes {
        let mut chain = *lane.iv;
        portable::cbc_encrypt(&lane.key.keys, &mut chain, lane.blocks.reborrow());
    }
}
