//! Four messages of at most 64 bytes at a time: their one-time keys are one group of ChaCha20's
//! eight blocks, the keystream of their data is the other.

use core::arch::aarch64::*;

use crate::arx::aarch64::neon::{load, store, xor32};
use crate::chacha::aarch64::neon::{Block, first_two_of_four};
use crate::chacha::last_row;
use crate::chacha20poly1305::lanes::{Lane, alone};
use crate::chacha20poly1305::{OPEN, SEAL, parts};
use crate::isa::Mode;
use crate::poly1305::aarch64::neon::{absorb_padded, tag};
use crate::{Level, wipe};

pub(crate) const NEEDS: Level = Level::Neon;

/// The most bytes of a message that goes beside others.
const LONGEST: usize = 64;

#[target_feature(enable = "neon")]
pub(crate) fn run<const MODE: bool>(lanes: &mut [Lane<'_>], _: Mode<MODE>) {
    for lanes in lanes.chunks_mut(4) {
        if lanes.len() < 3 || lanes.iter().any(|lane| lane.data.len() > LONGEST) {
            alone::<MODE>(lanes);
        } else {
            side_by_side::<MODE>(lanes);
        }
    }
}

/// Three or four messages.
#[inline(never)]
#[target_feature(enable = "neon")]
fn side_by_side<const MODE: bool>(lanes: &mut [Lane<'_>]) {
    let (mut keys, mut streams) = ([[0; 32]; 4], [[0; 64]; 4]);
    let keys_and_streams = {
        // The last message is in the place of a missing one, too.
        let lane = |at: usize| &lanes[at.min(lanes.len() - 1)];
        let rows = [0, 1, 2, 3].map(|at| (lane(at).key, last_row(&lane(at).nonce)));
        first_two_of_four(rows)
    };
    for ((key, stream), blocks) in keys.iter_mut().zip(&mut streams).zip(zipped(keys_and_streams)) {
        let [[r, pad, ..], block] = blocks;
        store_all(key, [r, pad]);
        store_all(stream, block);
    }
    for ((lane, key), stream) in lanes.iter_mut().zip(&keys).zip(&streams) {
        let sizes = (lane.aad.len() as u64, lane.data.len() as u64);
        let mut hash = parts::under(lane.isa, key, lane.aad);
        if MODE == OPEN {
            absorb_padded(&mut hash, lane.data.get_in());
        }
        let mut data = lane.data.reborrow();
        if data.len() == 64 {
            let mut block = *stream;
            for (row, text) in block.as_chunks_mut().0.iter_mut().zip(data.get_in().as_chunks().0) {
                store(row, xor32(load(row), load(text)));
            }
            data.get_out().copy_from_slice(&block);
        } else {
            parts::xor(stream, data);
        }
        if MODE == SEAL {
            absorb_padded(&mut hash, lane.data.get_out());
        }
        *lane.tag = tag(hash, sizes.0, sizes.1, None);
    }
    wipe::memory(keys.as_flattened_mut());
    wipe::memory(streams.as_flattened_mut());
}

/// The blocks of each message.
#[inline]
fn zipped([keys, streams]: [[Block; 4]; 2]) -> impl Iterator<Item = [Block; 2]> {
    keys.into_iter().zip(streams).map(|(key, stream)| [key, stream])
}

#[inline]
#[target_feature(enable = "neon")]
fn store_all<const N: usize>(place: &mut [u8], rows: [uint32x4_t; N]) {
    for (place, row) in place.as_chunks_mut().0.iter_mut().zip(rows) {
        store(place, row);
    }
}
