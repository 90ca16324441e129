//! SIV with AES instructions on 128-bit registers. Constant time in key and data.
//!
//! Higher levels use the chain: it has one block in flight whatever the width of registers.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use inout::InOutBuf;

use crate::aes::FORWARD;
use crate::aes::RoundKeys;
use crate::aes::registers128::{self, middle_rounds, rounds};
use crate::in_parts;
use crate::isa::XOR;
use crate::simd::*;
use crate::siv::cmac::{doubled, put_short, short};
use crate::siv::{Keys, counter};

kernels!(
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "aes,sse4.1,ssse3"))]
    #[cfg_attr(target_arch = "aarch64", target_feature(enable = "aes"))]
);

with_aes! {
    /// CMAC of blocks in memory and behind them.
    ///
    /// As in CBC, the value that is added between two blocks goes into the last round key, so that
    /// a block takes as long as its rounds.
    #[inline]
    pub(crate) fn chain<const V: usize>(
        keys: &RoundKeys,
        body: &[[u8; 16]],
        end: [Block; V],
    ) -> Block {
        let (first, last) = (load128(keys.first()), load128(keys.last()));
        let between = xor128(first, last);
        let mut state = first_key(zero128(), first);
        let mut end = end.into_iter();
        if let Some((head, body)) = body.split_first() {
            state = first_key(load128(head), first);
            for block in body {
                let key = xor128(between, load128(block));
                state = last_and_first(middle_rounds(keys, state), key);
            }
        } else if let Some(head) = end.next() {
            state = first_key(head, first);
        }
        for block in end {
            state = last_and_first(middle_rounds(keys, state), xor128(between, block));
        }
        last_round(middle_rounds(keys, state), last)
    }

    /// CTR from V on.
    #[inline]
    fn crypt(keys: &RoundKeys, v: Block, data: InOutBuf<'_, '_, u8>) {
        match data.len() {
            0 => {}
            1..=16 => short_ctr::<1>(keys, v, data),
            17..=32 => short_ctr::<2>(keys, v, data),
            33..=48 => short_ctr::<3>(keys, v, data),
            49..=64 => short_ctr::<4>(keys, v, data),
            _ => registers128::ctr(keys, counter(number(v)), data, XOR),
        }
    }

    /// CTR of `V` blocks, of which the last may be a part.
    #[inline]
    pub(crate) fn short_ctr<const V: usize>(
        keys: &RoundKeys,
        v: Block,
        data: InOutBuf<'_, '_, u8>,
    ) {
        let (mut whole, mut last) = data.split_at(16 * (V - 1));
        // Section 2.5: the top bits of both lower words of 32 bits.
        let v = and128(v, block(counter(u128::MAX).swap_bytes()));
        let mut counter = turned(v);
        let key = load128(keys.first());
        let mut state = [first_key(key, key); V];
        for x in &mut state {
            *x = first_key(turned(counter), key);
            counter = add_halves(counter, of_number(1));
        }
        let mut stream = rounds::<V, FORWARD>(keys, state);
        for (x, block) in stream.iter_mut().zip(whole.get_in().as_chunks().0) {
            *x = xor128(*x, load128(block));
        }
        let end = match last.get_in().first_chunk() {
            Some(whole) => load128(whole),
            None => block(short(last.get_in())),
        };
        for (x, block) in stream.iter().zip(whole.get_out().as_chunks_mut().0) {
            store128(block, *x);
        }
        let end = xor128(stream[V - 1], end);
        match last.get_out().first_chunk_mut() {
            Some(whole) => store128(whole, end),
            None => put_short(last.get_out(), number(end)),
        }
    }
}

with_features! {
    "sse4.1", "neon":

    /// Not by way of memory, where the processor would delay the load until all work before it is
    /// done: halves have just been stored.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a half is meant")]
    pub(crate) fn block(number: u128) -> Block {
        of_halves([number as u64, (number >> 64) as u64])
    }

    #[inline]
    pub(crate) fn number(block: Block) -> u128 {
        u128::from(high_half(block)) << 64 | u128::from(low_half(block))
    }
}
