//! Long requests: counter mode with one round less.
//!
//! In 256 consecutive counter blocks that begin at a multiple of 256 only the last byte differs.
//! The first round is linear except for the S-box, which works on each byte alone. So its result is
//! a sum of two parts: one of the last byte, which is the same in all such groups, and one of the
//! other bytes, which is the same in all blocks of a group. The first part is computed once a
//! request, the second once a group. The table is read in the order of the public counter: constant
//! time.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::ctr::{counters, emit, first, wide};
use super::{broadcast, last_round, rounds_of};
use crate::aes::FORWARD;
use crate::aes::RoundKeys;
use crate::simd::{load512, store512};
use crate::wipe;

/// Bytes from which a request is worth making (and wiping) the table.
pub(super) const SMALLEST: usize = 16 * 1024;

/// Bytes of a group.
const GROUP: usize = 16 * 256;

/// [`wide`], for long requests.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(super) fn ctr<const XOR: bool>(keys: &RoundKeys, counter: u128, data: InOutBuf<'_, '_, u8>) {
    let [last_byte, ..] = counter.to_le_bytes();
    let before = usize::from(last_byte.wrapping_neg());
    let length = data.len();
    let (head, data) = data.split_at((16 * before).min(length));
    let whole = data.len() - data.len() % GROUP;
    let (mut groups, tail) = data.split_at(whole);
    wide::<XOR>(keys, counter, head);

    let mut counter = counter.wrapping_add(before as u128);
    {
        let first_key = broadcast(keys.first());
        let ([second, eight @ ..], more) = keys.nine_and_more();
        let mut table = [[0; 64]; 64];
        last_bytes(first_key, &mut table);
        while !groups.is_empty() {
            let (mut group, rest) = groups.split_at(GROUP);
            // The last byte of `counter` is zero here, as it was when the table was made.
            let [same] = first(first_key, &mut broadcast(&counter.to_le_bytes()));
            let same = _mm512_aesenc_epi128(same, broadcast(second));
            let (parts, _) = table.as_chunks::<8>();
            for part in parts {
                let (out, others) = group.split_at(512);
                let mut state = [same; 8];
                for (x, differs) in state.iter_mut().zip(part) {
                    *x = _mm512_xor_si512(*x, load512(differs));
                }
                state = rounds_of::<8, FORWARD>(eight, state);
                state = rounds_of::<8, FORWARD>(more, state);
                emit::<8, XOR>(last_round::<8, FORWARD>(keys, state), out);
                group = others;
            }
            counter = counter.wrapping_add(256);
            groups = rest;
        }
        wipe::memory(table.as_flattened_mut());
    }
    wide::<XOR>(keys, counter, tail);
}

/// For each value of the last byte, the difference between its result of the first round and that
/// of zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn last_bytes(key: __m512i, table: &mut [[u8; 64]; 64]) {
    let zero = _mm512_aesenc_epi128(key, _mm512_setzero_si512());
    let mut counter = counters(0);
    for four in table {
        let [x] = first(key, &mut counter);
        store512(four, _mm512_aesenc_epi128(x, zero));
    }
}
