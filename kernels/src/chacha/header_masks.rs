//! The first bytes of blocks of different keys side by side, for masks of headers.

pub(crate) mod x86_64;

use super::lanes;
use super::{Key, front};
use crate::Isa;

/// A block of ChaCha20: its key and its last row, as [`front`] takes them.
type Block<'a> = (&'a Key, &'a [u8; 16]);

/// The first 8 bytes of each of up to 16 blocks of ChaCha20, as [`front`] gives them for one.
///
/// A block is given by its key and its last row. Blocks after the sixteenth are ignored, and
/// entries of `masks` after the last block may change. As constant time as [`front`].
#[inline]
pub fn header_masks(isa: Isa, blocks: &[(&Key, &[u8; 16])], masks: &mut [[u8; 8]; 16]) {
    match blocks {
        [] => {}
        [(key, last)] => masks[0] = front(isa, key, last).to_le_bytes(),
        _ => match blocks.first_chunk() {
            Some(blocks) => side_by_side(isa, blocks, 16, masks),
            None => fewer(isa, blocks, masks),
        },
    }
}

/// Fewer than 16; the last one is repeated.
#[inline(never)]
fn fewer(isa: Isa, blocks: &[Block<'_>], masks: &mut [[u8; 8]; 16]) {
    let last = blocks.len() - 1;
    let filled = core::array::from_fn(|at| blocks[at.min(last)]);
    side_by_side(isa, &filled, blocks.len(), masks);
}

/// The first `count` of 16 blocks, at least two.
#[inline]
fn side_by_side(isa: Isa, blocks: &[Block<'_>; 16], count: usize, masks: &mut [[u8; 8]; 16]) {
    by_isa!(crate::chacha::header_masks, isa, header_masks(isa, blocks, count, masks):
        Avx512, _ => lanes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chacha::KERNELS;
    use crate::isa::reached::assert_best;

    #[test]
    fn every_level_reaches_its_kernel() {
        let key = Key::from(&[1; 32]);
        for count in [4, 16] {
            assert_best(KERNELS, |isa| {
                header_masks(isa, &[(&key, &[2; 16]); 16][..count], &mut [[0; 8]; 16]);
            });
        }
    }
}
