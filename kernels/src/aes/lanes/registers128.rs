//! CBC encryption of up to eight messages, one in each 128-bit register.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use inout::InOutBuf;

use crate::Isa;
use crate::aes::lanes::Chain;
use crate::aes::lanes::table::{Group, drive, skip_short};
use crate::aes::registers128;
use crate::simd::*;

with_aes! {
    pub(crate) fn cbc_encrypt(isa: Isa, lanes: &mut [Chain<'_>]) {
        let serial = |keys: &_, chain: &mut _, data: InOutBuf<'_, '_, _>| {
            registers128::cbc_encrypt(keys, chain, data);
        };
        let lanes = skip_short::<1>(isa, lanes, serial);
        if lanes.is_empty() {
            return;
        }
        drive::<1, 8>(
            isa,
            lanes,
            8,
            |groups, live| {
                for group in groups.iter_mut().filter(|group| group.stale) {
                    for (keys, key) in group.keys.iter_mut().zip(group.schedule[0].all()) {
                        store128(&mut keys[0], load128(key));
                    }
                    group.stale = false;
                }
                for_count!(live, run::<_>(groups))
            },
            serial,
        );
    }

    #[inline(never)]
    fn run<const V: usize>(groups: &mut [Group<'_, 1>]) -> usize {
        chains::<1, V, V>(groups)
    }

    /// Encrypts the first `V` messages of `G` groups as far as all of them go, and returns how many
    /// blocks these are.
    ///
    /// As in one chain, the value that is added between two blocks goes into the last round key.
    #[inline]
    pub(crate) fn chains<const W: usize, const V: usize, const G: usize>(
        groups: &mut [Group<'_, W>],
    ) -> usize {
        const { assert!(V <= G * W) };
        let groups: &mut [Group<'_, W>; G] = groups.first_chunk_mut().expect("at work");
        let mut blocks = usize::MAX;
        for lane in 0..V {
            blocks = blocks.min(groups[lane / W].left[lane % W]);
        }
        let mut state = [first_key(zero128(), zero128()); V];
        for (lane, x) in state.iter_mut().enumerate() {
            let group = &groups[lane / W];
            *x = first_key(load128(&group.chain[lane % W]), enter(group, lane % W, 0));
        }
        let rounds = groups[0].schedule[0].rounds();
        for at in 0..blocks {
            // Round keys come from memory: there are more than registers.
            let groups = opaque_place(&*groups);
            for r in 1..rounds {
                for (lane, x) in state.iter_mut().enumerate() {
                    *x = round(*x, load128(&groups[lane / W].keys[r][lane % W]));
                }
            }
            for (lane, x) in state.iter_mut().enumerate() {
                // The compiler would otherwise join neighbours, and take them apart again.
                let (group, lane) = (opaque_place(&groups[lane / W]), lane % W);
                let last = load128(&group.keys[rounds][lane]);
                let output = group.output[lane].wrapping_add(at);
                let mut add = zero128();
                if at + 1 < blocks {
                    add = enter(group, lane, at + 1);
                }
                *x = last_and_first(*x, xor128(last, add));
                // SAFETY: the lane has a block there, which no reference leads to.
                store128(unsafe { &mut *output }, begun_plus(*x, add));
            }
        }
        for (lane, x) in state.into_iter().enumerate() {
            store128(&mut groups[lane / W].chain[lane % W], begun_plus(x, zero128()));
        }
        blocks
    }

    /// Block `at` of a lane with the first round key added; the lane has more than `at`.
    #[inline]
    fn enter<const W: usize>(
        group: &Group<'_, W>,
        lane: usize,
        at: usize,
    ) -> Block {
        let block = group.input[lane].wrapping_add(at);
        // SAFETY: the lane has a block there.
        let block = unsafe { &*block };
        xor128(load128(block), load128(&group.keys[0][lane]))
    }
}
