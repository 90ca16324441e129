//! SIV by the kernels of AES without AES instructions, and the specification of all others.

use inout::InOutBuf;

use super::cmac::{Blocks, doubled};
use super::{Keys, counter};
use crate::aes::RoundKeys;
use crate::{Isa, aes, wipe};

pub(super) fn associate(keys: &Keys<'_>, sum: u128, strings: &[&[u8]]) -> u128 {
    strings
        .iter()
        .fold(sum, |sum, string| doubled(sum) ^ chain(keys.isa, keys.mac, keys.cmac.plain(string)))
}

/// Section 2.6.
pub(super) fn seal(
    keys: &Keys<'_>,
    sum: u128,
    strings: &[&[u8]],
    data: InOutBuf<'_, '_, u8>,
) -> u128 {
    let sum = associate(keys, sum, strings);
    let v = chain(keys.isa, keys.mac, keys.cmac.last(sum, data.get_in()));
    aes::ctr::xor_from::<LOW>(keys.isa, keys.cipher, counter(v), data);
    v
}

/// Section 2.7.
pub(super) fn open(
    keys: &Keys<'_>,
    sum: u128,
    strings: &[&[u8]],
    v: &[u8; 16],
    data: InOutBuf<'_, '_, u8>,
) -> u128 {
    let mut data = data;
    let first = counter(u128::from_le_bytes(*v));
    aes::ctr::xor_from::<LOW>(keys.isa, keys.cipher, first, data.reborrow());
    let sum = associate(keys, sum, strings);
    chain(keys.isa, keys.mac, keys.cmac.last(sum, data.get_out()))
}

/// Which levels of AES are called: those without AES instructions.
const LOW: bool = true;

/// CMAC of a string: the last block of CBC (NIST SP 800-38B, section 6.2).
fn chain(isa: Isa, keys: &RoundKeys, string: Blocks<'_>) -> u128 {
    /// Blocks that are encrypted at once, in a copy.
    const PART: usize = 16;
    let mut sum = [0; 16];
    let mut copy = [[0; 16]; PART];
    for part in string.body.chunks(PART) {
        let copy = &mut copy[..part.len()];
        copy.copy_from_slice(part);
        aes::cbc_encrypt_low(isa, keys, &mut sum, copy.into());
    }
    for block in string.next.into_iter().chain([string.last]) {
        copy[0] = block.to_le_bytes();
        aes::cbc_encrypt_low(isa, keys, &mut sum, (&mut copy[..1]).into());
    }
    wipe::memory(copy.as_flattened_mut());
    u128::from_le_bytes(sum)
}
