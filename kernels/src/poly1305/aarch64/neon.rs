//! One block after the other, in assembly, which ChaCha20 can take between its own instructions.
//!
//! It is the step of `poly1305::portable`, with fewer instructions than the compiler needs.

use core::arch::asm;

use crate::Level;
use crate::poly1305::{PartialHash, Poly1305, State, padded, portable};

pub(crate) const NEEDS: Level = Level::Neon;

/// Two instructions of the step on the block at `{block}`, which moves on; there are 13 such pairs.
///
/// The value has three words, `{v0}` to `{v2}`, the point two, `{r0}` and `{r1}`; `{s1}` is five
/// quarters of the latter. `{one}` is the block's highest bit.
macro_rules! step {
    (0) => {
        "ldp {p0}, {p1}, [{block}], #16; and {p2}, {v2}, #-4; "
    };
    // The overflow past 2^130, which comes back five-fold.
    (1) => {
        "add {p2}, {p2}, {v2}, lsr #2; and {v2}, {v2}, #3; "
    };
    (2) => {
        "adds {v0}, {v0}, {p0}; adcs {v1}, {v1}, {p1}; "
    };
    (3) => {
        "adc {v2}, {v2}, {one}; adds {v0}, {v0}, {p2}; "
    };
    (4) => {
        "adcs {v1}, {v1}, xzr; adc {v2}, {v2}, xzr; "
    };
    (5) => {
        "mul {p0}, {v0}, {r0}; umulh {p1}, {v0}, {r0}; "
    };
    (6) => {
        "mul {p2}, {v1}, {s1}; umulh {p3}, {v1}, {s1}; "
    };
    (7) => {
        "mul {p4}, {v0}, {r1}; umulh {p5}, {v0}, {r1}; "
    };
    (8) => {
        "mul {p6}, {v1}, {r0}; umulh {p7}, {v1}, {r0}; "
    };
    (9) => {
        "adds {v0}, {p0}, {p2}; adc {p1}, {p1}, {p3}; "
    };
    // Less than 2^64: the highest word is at most 6, and the point's words have 60 bits.
    (10) => {
        "madd {p1}, {v2}, {s1}, {p1}; adds {p4}, {p4}, {p6}; "
    };
    (11) => {
        "adc {p5}, {p5}, {p7}; adds {v1}, {p4}, {p1}; "
    };
    (12) => {
        "adc {p5}, {p5}, xzr; madd {v2}, {v2}, {r0}, {p5}; "
    };
}
pub(crate) use step;

/// Absorbs whole blocks, with 2^128 added to each.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn absorb(state: &mut State, blocks: &[[u8; 16]]) {
    if blocks.is_empty() {
        return;
    }
    let (State { r: [r0, r1], h: [v0, v1, v2] }, one) = (state, 1_u64);
    // SAFETY: the assembly reads the blocks, one in each turn, and all registers that it changes
    // are declared.
    unsafe {
        asm!(
            "2:",
            step!(0), step!(1), step!(2), step!(3), step!(4), step!(5), step!(6), step!(7),
            step!(8), step!(9), step!(10), step!(11), step!(12),
            "sub {n}, {n}, #1",
            "cbnz {n}, 2b",
            n = inout(reg) blocks.len() => _, block = inout(reg) blocks.as_ptr() => _,
            v0 = inout(reg) *v0, v1 = inout(reg) *v1, v2 = inout(reg) *v2,
            r0 = in(reg) *r0, r1 = in(reg) *r1, s1 = in(reg) *r1 + (*r1 >> 2), one = in(reg) one,
            p0 = out(reg) _, p1 = out(reg) _, p2 = out(reg) _, p3 = out(reg) _,
            p4 = out(reg) _, p5 = out(reg) _, p6 = out(reg) _, p7 = out(reg) _,
            options(nostack, readonly),
        );
    }
}

/// [`Poly1305::absorb_padded`], without dispatch or a call.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn absorb_padded(hash: &mut Poly1305, bytes: &[u8]) {
    let (blocks, rest) = bytes.as_chunks();
    absorb(hash.state(), blocks);
    if !rest.is_empty() {
        hash.absorb_number(padded(rest));
    }
}

/// The tag, by [`Poly1305::tag`], after a last block of the numbers of bytes.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn tag(
    mut hash: Poly1305,
    aad: u64,
    data: u64,
    place: Option<&mut PartialHash>,
) -> [u8; 16] {
    hash.absorb_number(u128::from(aad) | u128::from(data) << 64);
    hash.keep(place);
    let [mut v0, mut v1, v2] = hash.state.h;
    let [pad0, pad1] = portable::words(u128::from_le_bytes(hash.pad));
    // SAFETY: the assembly only changes registers, which are declared.
    unsafe {
        asm!(
            "and {p0}, {v2}, #-4; add {p0}, {p0}, {v2}, lsr #2; and {v2}, {v2}, #3",
            "adds {v0}, {v0}, {p0}; adcs {v1}, {v1}, xzr; adc {v2}, {v2}, xzr",
            // With 5 added, it reaches 2^130 exactly if it is not smaller than 2^130 - 5.
            "adds {p0}, {v0}, #5; adcs {p1}, {v1}, xzr; adc {v2}, {v2}, xzr",
            "tst {v2}, #4; csel {v0}, {p0}, {v0}, ne; csel {v1}, {p1}, {v1}, ne",
            "adds {v0}, {v0}, {pad0}; adc {v1}, {v1}, {pad1}",
            v0 = inout(reg) v0, v1 = inout(reg) v1, v2 = inout(reg) v2 => _,
            pad0 = in(reg) pad0, pad1 = in(reg) pad1, p0 = out(reg) _, p1 = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    portable::joined([v0, v1]).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;

    #[test]
    fn tags_are_the_portable_ones_around_the_modulus() {
        for low in (0..8).chain(u64::MAX - 8..=u64::MAX) {
            for (middle, high) in [(0, 0), (u64::MAX, 1), (u64::MAX, 2), (0, 3), (u64::MAX, 3)] {
                let hashes = [(); 2].map(|()| {
                    // The point 1, so that the value stays what it is but for 2^128.
                    let mut key = [0xa5; 32];
                    key[..16].copy_from_slice(&1_u128.to_le_bytes());
                    let mut hash = Poly1305::new(Isa::PORTABLE, &key);
                    hash.state.h = [low, middle, high];
                    hash
                });
                let [mut portable, own] = hashes;
                portable.absorb_number(0);
                // SAFETY: every processor of this architecture has the instructions.
                let own = unsafe { tag(own, 0, 0, ()) };
                assert_eq!(own, portable.tag(), "{low:x} {middle:x} {high:x}");
            }
        }
    }
}
