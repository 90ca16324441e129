//! XTS with any kernel of AES, and the specification of the kernels that do both at once.

use inout::InOutBuf;

use super::{ENCRYPT, stealing};
use crate::aes::RoundKeys;
use crate::isa::Mode;
use crate::{BlockCipher, BlockEncrypt, into_blocks, wipe};

/// Blocks whose masks are computed before they are encrypted.
const PART: usize = 64;

// Not inlined: the method that dispatches would save registers for it at every level.
#[inline(never)]
pub(super) fn one<const MODE: bool>(
    _way: Mode<MODE>,
    cipher: &impl BlockCipher<16>,
    tweaks: &impl BlockEncrypt<16>,
    _keys: &RoundKeys,
    _tweak_keys: &RoundKeys,
    tweak: &[u8; 16],
    data: InOutBuf<'_, '_, u8>,
) {
    let mut tweak = [*tweak];
    tweaks.encrypt((&mut tweak[..]).into());
    unit::<MODE>(cipher, &tweak[0], data);
    wipe::memory(tweak.as_flattened_mut());
}

pub(super) fn units<const MODE: bool>(
    _way: Mode<MODE>,
    cipher: &impl BlockCipher<16>,
    _keys: &RoundKeys,
    tweaks: &[[u8; 16]],
    size: usize,
    data: InOutBuf<'_, '_, u8>,
) {
    let mut data = data;
    for tweak in tweaks {
        let (sector, rest) = data.split_at(size);
        unit::<MODE>(cipher, tweak, sector);
        data = rest;
    }
}

/// One data unit, whose first mask is `tweak` (IEEE 1619, sections 5.3 and 5.4).
fn unit<const MODE: bool>(
    cipher: &impl BlockCipher<16>,
    tweak: &[u8; 16],
    data: InOutBuf<'_, '_, u8>,
) {
    let length = data.len();
    let (whole, last) = data.split_at(length - stealing(length));
    let (mut blocks, _) = into_blocks(whole);
    let mut mask = u128::from_le_bytes(*tweak);
    while !blocks.is_empty() {
        let count = blocks.len().min(PART);
        let (part, rest) = blocks.split_at(count);
        mask = crypt::<MODE>(cipher, mask, part);
        blocks = rest;
    }
    if !last.is_empty() {
        steal::<MODE>(cipher, mask, last);
    }
}

/// Masks blocks, of which `mask` is the first one's, encrypts and masks them again. Returns the
/// next mask.
fn crypt<const MODE: bool>(
    cipher: &impl BlockCipher<16>,
    mut mask: u128,
    data: InOutBuf<'_, '_, [u8; 16]>,
) -> u128 {
    let mut data = data;
    let mut masks = [0; PART];
    for (mut block, kept) in data.reborrow().into_iter().zip(&mut masks) {
        *block.get_out() = (u128::from_le_bytes(*block.get_in()) ^ mask).to_le_bytes();
        *kept = mask;
        mask = doubled(mask);
    }
    let out = data.get_out();
    if MODE == ENCRYPT {
        cipher.encrypt((&mut *out).into());
    } else {
        cipher.decrypt((&mut *out).into());
    }
    for (block, mask) in out.iter_mut().zip(&masks) {
        *block = (u128::from_le_bytes(*block) ^ mask).to_le_bytes();
    }
    wipe::words(&mut masks);
    mask
}

/// The last whole block and an incomplete one; `mask` is that of the first. The result of the whole
/// block gives its front to the incomplete one, and its end completes that block, which goes into
/// the place of the whole one. Decryption undoes the second step first.
fn steal<const MODE: bool>(cipher: &impl BlockCipher<16>, mask: u128, data: InOutBuf<'_, '_, u8>) {
    let (mut whole, mut part) = data.split_at(16);
    let next = doubled(mask);
    let (first, second) = if MODE == ENCRYPT { (mask, next) } else { (next, mask) };
    let mut block = [[0; 16]];
    block[0].copy_from_slice(whole.get_in());
    crypt::<MODE>(cipher, first, (&mut block[..]).into());
    for (mut byte, stolen) in part.reborrow().into_iter().zip(&mut block[0]) {
        let rest = *byte.get_in();
        *byte.get_out() = *stolen;
        *stolen = rest;
    }
    crypt::<MODE>(cipher, second, (&mut block[..]).into());
    whole.get_out().copy_from_slice(&block[0]);
    wipe::memory(block.as_flattened_mut());
}

/// Times x modulo x^128 + x^7 + x^2 + x + 1, the first bit of the first byte being 1.
fn doubled(mask: u128) -> u128 {
    (mask << 1) ^ (0x87 & (mask >> 127).wrapping_neg())
}
