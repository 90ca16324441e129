//! XTS with AES instructions on 128-bit registers, six blocks at a time: on x86-64 the masks of
//! eight would not all stay in registers. Constant time in key and data.
//!
//! Higher levels use the functions for the tweak, for a few blocks and for ciphertext stealing.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use inout::InOutBuf;

use crate::aes::FORWARD;
use crate::aes::RoundKeys;
use crate::aes::registers128::rounds;
use crate::isa::Mode;
use crate::simd::*;
use crate::xts::{ENCRYPT, stealing};
use crate::{BlockCipher, BlockEncrypt, into_blocks, wipe};

kernels!(
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1,ssse3"))]
    #[cfg_attr(target_arch = "aarch64", target_feature(enable = "aes"))]
);

with_aes! {
    /// One data unit, whose first mask is `mask`.
    #[inline]
    fn unit<const MODE: bool>(
        keys: &RoundKeys,
        mut mask: Block,
        data: InOutBuf<'_, '_, u8>,
    ) {
        let length = data.len();
        let (whole, last) = data.split_at(length - stealing(length));
        let (mut blocks, _) = into_blocks(whole);
        while blocks.len() > 6 {
            let (part, rest) = blocks.split_at(6);
            mask = crypt::<6, MODE, false>(keys, mask, part);
            blocks = rest;
        }
        mask = match blocks.len() {
            0 => mask,
            1 => crypt::<1, MODE, true>(keys, mask, blocks),
            2 => crypt::<2, MODE, true>(keys, mask, blocks),
            3 => crypt::<3, MODE, true>(keys, mask, blocks),
            4 => crypt::<4, MODE, true>(keys, mask, blocks),
            5 => crypt::<5, MODE, true>(keys, mask, blocks),
            _ => crypt::<6, MODE, true>(keys, mask, blocks),
        };
        if !last.is_empty() {
            steal::<MODE>(keys, mask, last);
        }
    }

    /// `V` blocks, of which `mask` is the first one's. Returns the next mask.
    #[inline]
    pub(crate) fn crypt<const V: usize, const MODE: bool, const LAST: bool>(
        keys: &RoundKeys,
        mut mask: Block,
        data: InOutBuf<'_, '_, [u8; 16]>,
    ) -> Block {
        // The compiler now knows the number.
        let (mut data, _) = data.split_at(V);
        let mut masks = [mask; V];
        let mut tops = tops(mask);
        for kept in &mut masks {
            *kept = mask;
            (mask, tops) = doubled_with(mask, tops);
        }
        let mut state = [zero128(); V];
        for (x, block) in state.iter_mut().zip(data.get_in()) {
            *x = load128(block);
        }
        let state = masked_rounds::<V, MODE>(keys, masks, state);
        for (x, block) in state.into_iter().zip(data.get_out()) {
            store128(block, x);
        }
        mask
    }

    /// The last whole block and a part of one, of which `mask` is the first one's; see
    /// [`two_pass`](crate::xts::two_pass).
    #[inline(never)]
    pub(crate) fn steal<const MODE: bool>(
        keys: &RoundKeys,
        mask: Block,
        data: InOutBuf<'_, '_, u8>,
    ) {
        let (mut whole, mut part) = data.split_at(16);
        let next = doubled(mask);
        let (first, second) = if MODE == ENCRYPT { (mask, next) } else { (next, mask) };
        let mut block = [0; 16];
        let state = load128_part(whole.get_in());
        let [state] = masked_rounds::<1, MODE>(keys, [first], [state]);
        store128(&mut block, state);
        for (mut byte, stolen) in part.reborrow().into_iter().zip(&mut block) {
            let rest = *byte.get_in();
            *byte.get_out() = *stolen;
            *stolen = rest;
        }
        let [state] = masked_rounds::<1, MODE>(keys, [second], [load128(&block)]);
        store128_part(whole.get_out(), state);
        wipe::memory(&mut block);
    }

    /// All rounds, between masks, which are added to the first and to the last round key.
    #[inline]
    fn masked_rounds<const V: usize, const MODE: bool>(
        keys: &RoundKeys,
        masks: [Block; V],
        blocks: [Block; V],
    ) -> [Block; V] {
        let key = load128(keys.first());
        let mut state = [first_key(key, key); V];
        for ((x, block), mask) in state.iter_mut().zip(blocks).zip(masks) {
            *x = first_key(xor128(block, mask), key);
        }
        for key in keys.middle() {
            let key = load128(key);
            for x in &mut state {
                *x = if MODE { round(*x, key) } else { inverse_round(*x, key) };
            }
        }
        let key = load128(keys.last());
        let mut blocks = blocks;
        for ((block, x), mask) in blocks.iter_mut().zip(state).zip(masks) {
            let key = xor128(key, mask);
            *block = if MODE { last_round(x, key) } else { last_inverse_round(x, key) };
        }
        blocks
    }

    /// A tweak under its key: the first mask.
    ///
    /// A program that counts sectors has just stored the lower half alone. One load of both halves
    /// would wait until that is in the cache, and so would the whole call.
    #[inline]
    pub(crate) fn encrypted(keys: &RoundKeys, tweak: &[u8; 16]) -> Block {
        let tweak = first_key(load_halves(tweak), load128(keys.first()));
        let [mask] = rounds::<1, FORWARD>(keys, [tweak]);
        mask
    }
}

with_features! {
    "sse4.1", "neon":

    /// Times x.
    #[inline]
    pub(crate) fn doubled(mask: Block) -> Block {
        doubled_with(mask, tops(mask)).0
    }

    /// The highest words of both halves, that of the upper one first.
    #[inline]
    fn tops(mask: Block) -> Block {
        top_words(mask)
    }

    /// Times x: both halves move up by one bit. The bits that fall out are added where they belong,
    /// that of the upper half as x^7 + x^2 + x + 1.
    ///
    /// For 24 steps these additions do not reach the highest words, so those are doubled
    /// separately, ahead of the masks.
    #[inline]
    fn doubled_with(mask: Block, tops: Block) -> (Block, Block) {
        let out = and128(signs(tops), of_words([0x87, 0, 1, 0]));
        (xor128(add_halves(mask, mask), out), add_words(tops, tops))
    }
}
