//! AES with AES instructions on 128-bit registers, eight blocks at a time. Constant time in key and
//! data.
//!
//! Higher levels also use the functions for single blocks: compiled for AVX, these do without moves
//! between registers.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

mod expand;

use inout::InOutBuf;

pub(crate) use self::expand::*;
use crate::aes::RoundKeys;
use crate::aes::{FORWARD, INVERSE};
use crate::isa::{Mode, WRITE};
use crate::simd::*;

/// The most blocks whose rounds do not hide the instructions of a loop. With more, a loop is faster
/// than unrolled rounds, whose keys the compiler keeps on the stack.
const FEW: usize = 4;

with_aes! {
    /// The first 8 bytes of an encrypted block.
    #[inline]
    pub(crate) fn front(keys: &RoundKeys, block: &[u8; 16]) -> u64 {
        let state = middle_rounds(keys, first_key(load128(block), load128(keys.first())));
        low_half(last_round(state, load128(keys.last())))
    }

    pub(crate) fn ecb<const MODE: bool>(
        keys: &RoundKeys,
        data: InOutBuf<'_, '_, [u8; 16]>,
        _: Mode<MODE>,
    ) {
        let mut data = data;
        while data.len() > 8 {
            let (part, rest) = data.split_at(8);
            ecb_part::<8, MODE, false>(keys, part);
            data = rest;
        }
        if !data.is_empty() {
            for_count!(data.len(), ecb_part::<_, MODE, true>(keys, data));
        }
    }

    /// `V` blocks.
    #[inline]
    pub(crate) fn ecb_part<const V: usize, const MODE: bool, const LAST: bool>(
        keys: &RoundKeys,
        data: InOutBuf<'_, '_, [u8; 16]>,
    ) {
        // The compiler now knows the number.
        let (mut data, _) = data.split_at(V);
        let key = load128(keys.first());
        let mut state = [first_key(key, key); V];
        for (x, block) in state.iter_mut().zip(data.get_in()) {
            *x = first_key(load128(block), key);
        }
        for (x, block) in rounds::<V, MODE>(keys, state).into_iter().zip(data.get_out()) {
            store128(block, x);
        }
    }

    /// One block after the other, each as long as its rounds: the value that is added between two
    /// blocks goes into the last round key, so that the first round of the next block can follow at
    /// once.
    #[inline]
    pub(crate) fn cbc_encrypt(
        keys: &RoundKeys,
        iv: &mut [u8; 16],
        data: InOutBuf<'_, '_, [u8; 16]>,
    ) {
        let mut blocks = data.into_iter();
        let Some(mut block) = blocks.next() else { return };
        let first = load128(keys.first());
        let last = load128(keys.last());
        let mut state = first_key(load128(iv), xor128(load128(block.get_in()), first));
        for next in blocks {
            let add = xor128(load128(next.get_in()), first);
            state = last_and_first(middle_rounds(keys, state), xor128(last, add));
            store128(block.get_out(), begun_plus(state, add));
            block = next;
        }
        let state = last_round(middle_rounds(keys, state), last);
        store128(block.get_out(), state);
        store128(iv, state);
    }

    /// All rounds but the last.
    #[inline]
    pub(crate) fn middle_rounds(
        keys: &RoundKeys,
        mut state: InRounds,
    ) -> InRounds {
        by_key_size!(keys, middle => [state] = rounds_of::<1, FORWARD>(middle, [state]));
        state
    }

    pub(crate) fn cbc_decrypt(
        keys: &RoundKeys,
        iv: &mut [u8; 16],
        data: InOutBuf<'_, '_, [u8; 16]>,
    ) {
        let mut data = data;
        let mut before = load128(iv);
        while data.len() > 8 {
            let (part, rest) = data.split_at(8);
            before = cbc_decrypt_part::<8, false>(keys, before, part);
            data = rest;
        }
        if !data.is_empty() {
            before = for_count!(data.len(), cbc_decrypt_part::<_, true>(keys, before, data));
        }
        store128(iv, before);
    }

    /// `V` blocks; `before` is the ciphertext before them, and the last of theirs is returned.
    #[inline]
    pub(crate) fn cbc_decrypt_part<const V: usize, const LAST: bool>(
        keys: &RoundKeys,
        before: Block,
        data: InOutBuf<'_, '_, [u8; 16]>,
    ) -> Block {
        let (mut data, _) = data.split_at(V);
        let key = load128(keys.first());
        let mut state = [first_key(key, key); V];
        for (x, block) in state.iter_mut().zip(data.get_in()) {
            *x = first_key(load128(block), key);
        }
        let mut text = rounds::<V, INVERSE>(keys, state);
        // All ciphertext is read once more before the first block is written over it.
        let mut before = before;
        for (x, block) in text.iter_mut().zip(data.get_in()) {
            *x = xor128(*x, before);
            before = load128(block);
        }
        for (x, block) in text.into_iter().zip(data.get_out()) {
            store128(block, x);
        }
        before
    }

    /// Writes keystream over `out`, which is made a buffer here: it comes in registers.
    pub(crate) fn keystream(keys: &RoundKeys, counter: u128, out: &mut [u8]) {
        ctr(keys, counter, out.into(), WRITE);
    }

    /// Writes keystream, or if `XOR` adds it to the input. The lower half of the counter does not
    /// wrap within the request.
    pub(crate) fn ctr<const XOR: bool>(
        keys: &RoundKeys,
        counter: u128,
        data: InOutBuf<'_, '_, u8>,
        _: Mode<XOR>,
    ) {
        let mut data = data;
        let mut counter = of_number(counter);
        while data.len() > 128 {
            let (part, rest) = data.split_at(128);
            counter = ctr_part::<8, XOR, false>(keys, counter, part);
            data = rest;
        }
        if !data.is_empty() {
            for_count!(data.len().div_ceil(16), ctr_part::<_, XOR, true>(keys, counter, data));
        }
    }

    /// `V` blocks, of which the last may be a part, and the counter after them.
    #[inline]
    pub(crate) fn ctr_part<const V: usize, const XOR: bool, const LAST: bool>(
        keys: &RoundKeys,
        mut counter: Block,
        data: InOutBuf<'_, '_, u8>,
    ) -> Block {
        let (mut whole, mut last) = data.split_at(16 * (V - 1));
        let key = load128(keys.first());
        let mut state = [first_key(key, key); V];
        for x in &mut state {
            *x = first_key(turned(counter), key);
            counter = add_halves(counter, of_number(1));
        }
        let mut stream = rounds::<V, FORWARD>(keys, state);
        if XOR {
            for (x, block) in stream.iter_mut().zip(whole.get_in().as_chunks().0) {
                *x = xor128(*x, load128(block));
            }
            stream[V - 1] = xor128(stream[V - 1], load128_part(last.get_in()));
        }
        for (x, block) in stream.iter().zip(whole.get_out().as_chunks_mut().0) {
            store128(block, *x);
        }
        store128_part(last.get_out(), stream[V - 1]);
        counter
    }

    /// All rounds.
    #[inline]
    pub(crate) fn rounds<const V: usize, const MODE: bool>(
        keys: &RoundKeys,
        mut state: [InRounds; V],
    ) -> [Block; V] {
        state = if V <= FEW {
            by_key_size!(keys, middle => rounds_of::<V, MODE>(middle, state))
        } else {
            rounds_of::<V, MODE>(keys.middle(), state)
        };
        let key = load128(keys.last());
        let mut blocks = [key; V];
        for (block, x) in blocks.iter_mut().zip(state) {
            *block = if MODE { last_round(x, key) } else { last_inverse_round(x, key) };
        }
        blocks
    }

    /// A round for each key; those of an array are unrolled.
    #[inline]
    fn rounds_of<const V: usize, const MODE: bool>(
        keys: &[[u8; 16]],
        mut state: [InRounds; V],
    ) -> [InRounds; V] {
        for key in keys {
            let key = load128(key);
            for x in &mut state {
                *x = if MODE { round(*x, key) } else { inverse_round(*x, key) };
            }
        }
        state
    }
}
