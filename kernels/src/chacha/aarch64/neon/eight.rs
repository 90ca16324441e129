//! Rounds on eight blocks in assembly, alone or beside Poly1305.
//!
//! Two groups of four blocks take turns, a double round each: while one waits for its own results,
//! the other one computes. The words of both would fill all registers, but some rotations need one
//! more, and one has the order of bytes of others. So two words of a group are in memory while the
//! other group has its turn. The compiler would store more.
//!
//! Poly1305 is the step of `poly1305::portable`. It uses no unit that the rounds need.

use core::arch::aarch64::*;
use core::arch::asm;

use crate::poly1305::Poly1305;
use crate::poly1305::aarch64::neon::step;

use super::byte_order;

/// The words of four blocks, one block a lane, of two groups.
pub(crate) type Groups = [[uint32x4_t; 16]; 2];

/// An instruction on each of four registers and another four: `x` becomes `op(x, y)`.
macro_rules! four {
    ($op:literal $kind:literal [$($x:ident)*] [$($y:ident)*]) => {
        concat!($(
            $op, " {", stringify!($x), ":v}.", $kind, ", {", stringify!($x), ":v}.", $kind,
            ", {", stringify!($y), ":v}.", $kind, "; ",
        )*)
    };
}

/// Rotates the words of four registers left by 16 bits.
macro_rules! turn16 {
    ($($x:ident)*) => {
        concat!($("rev32 {", stringify!($x), ":v}.8h, {", stringify!($x), ":v}.8h; ",)*)
    };
}

/// Rotates the words of four registers left by 8 bits.
macro_rules! turn8 {
    ($($x:ident)*) => {
        concat!($(
            "tbl {", stringify!($x), ":v}.16b, {{{", stringify!($x), ":v}.16b}}, {order:v}.16b; ",
        )*)
    };
}

/// XORs `y` into `x` and rotates the result left by `$left` bits, in two pairs of registers.
macro_rules! xor_turned {
    ($left:literal $right:literal [$($x:ident)*] [$($y:ident)*]) => {
        concat!($(
            "eor {t:v}.16b, {", stringify!($x), ":v}.16b, {", stringify!($y), ":v}.16b; ",
            "shl {", stringify!($x), ":v}.4s, {t:v}.4s, #", $left, "; ",
            "sri {", stringify!($x), ":v}.4s, {t:v}.4s, #", $right, "; ",
        )*)
    };
}

/// A round of columns or diagonals of a group, with other instructions after each step.
macro_rules! round {
    (
        [$a0:ident $a1:ident $a2:ident $a3:ident] [$b0:ident $b1:ident $b2:ident $b3:ident]
        [$c0:ident $c1:ident $c2:ident $c3:ident] [$d0:ident $d1:ident $d2:ident $d3:ident]
        [$e0:expr, $e1:expr, $e2:expr, $e3:expr, $e4:expr, $e5:expr, $e6:expr, $e7:expr, $e8:expr,
         $e9:expr]
    ) => {
        concat!(
            four!("add" "4s" [$a0 $a1 $a2 $a3] [$b0 $b1 $b2 $b3]), $e0,
            four!("eor" "16b" [$d0 $d1 $d2 $d3] [$a0 $a1 $a2 $a3]),
            turn16!($d0 $d1 $d2 $d3), $e1,
            four!("add" "4s" [$c0 $c1 $c2 $c3] [$d0 $d1 $d2 $d3]), $e2,
            xor_turned!("12" "20" [$b0 $b1] [$c0 $c1]), $e3,
            xor_turned!("12" "20" [$b2 $b3] [$c2 $c3]), $e4,
            four!("add" "4s" [$a0 $a1 $a2 $a3] [$b0 $b1 $b2 $b3]), $e5,
            four!("eor" "16b" [$d0 $d1 $d2 $d3] [$a0 $a1 $a2 $a3]),
            turn8!($d0 $d1 $d2 $d3), $e6,
            four!("add" "4s" [$c0 $c1 $c2 $c3] [$d0 $d1 $d2 $d3]), $e7,
            xor_turned!("7" "25" [$b0 $b1] [$c0 $c1]), $e8,
            xor_turned!("7" "25" [$b2 $b3] [$c2 $c3]), $e9
        )
    };
}

/// A round of diagonals, then as many double rounds as `$count`, with other instructions between
/// the steps: ten for each round of a group. They use registers of their own.
///
/// The groups share `{c2}` and `{c3}`; `{m}` is the place of those of the group that waits, the
/// first group's in the front.
macro_rules! interleaved {
    (
        $x:ident, $count:expr, [$first:tt $second:tt],
        [$one:tt $two:tt $three:tt $four:tt] $($operands:tt)*
    ) => {{
        let [x, y] = $x;
        let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3] = x;
        let [e0, e1, e2, e3, f0, f1, f2, f3, g0, g1, g2, g3, h0, h1, h2, h3] = y;
        let mut waiting = [g2, g3, g2, g3];
        let (x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15);
        let (y0, y1, y2, y3, y4, y5, y6, y7, y8, y9, y12, y13, y14, y15);
        asm!(
            round!([a0 a1 a2 a3] [b1 b2 b3 b0] [c2 c3 c0 c1] [d3 d0 d1 d2] $first),
            "stp {c2:q}, {c3:q}, [{m}]",
            "ldp {c2:q}, {c3:q}, [{m}, #32]",
            round!([e0 e1 e2 e3] [f1 f2 f3 f0] [c2 c3 g0 g1] [h3 h0 h1 h2] $second),
            "stp {c2:q}, {c3:q}, [{m}, #32]",
            "ldp {c2:q}, {c3:q}, [{m}]",
            "2:",
            round!([a0 a1 a2 a3] [b0 b1 b2 b3] [c0 c1 c2 c3] [d0 d1 d2 d3] $one),
            round!([a0 a1 a2 a3] [b1 b2 b3 b0] [c2 c3 c0 c1] [d3 d0 d1 d2] $two),
            "stp {c2:q}, {c3:q}, [{m}]",
            "ldp {c2:q}, {c3:q}, [{m}, #32]",
            round!([e0 e1 e2 e3] [f0 f1 f2 f3] [g0 g1 c2 c3] [h0 h1 h2 h3] $three),
            round!([e0 e1 e2 e3] [f1 f2 f3 f0] [c2 c3 g0 g1] [h3 h0 h1 h2] $four),
            "stp {c2:q}, {c3:q}, [{m}, #32]",
            "ldp {c2:q}, {c3:q}, [{m}]",
            "sub {n}, {n}, #1",
            "cbnz {n}, 2b",
            m = in(reg) &raw mut waiting,
            n = inout(reg) $count => _,
            a0 = inout(vreg) a0 => x0, a1 = inout(vreg) a1 => x1, a2 = inout(vreg) a2 => x2,
            a3 = inout(vreg) a3 => x3, b0 = inout(vreg) b0 => x4, b1 = inout(vreg) b1 => x5,
            b2 = inout(vreg) b2 => x6, b3 = inout(vreg) b3 => x7, c0 = inout(vreg) c0 => x8,
            c1 = inout(vreg) c1 => x9, c2 = inout(vreg) c2 => x10, c3 = inout(vreg) c3 => x11,
            d0 = inout(vreg) d0 => x12, d1 = inout(vreg) d1 => x13, d2 = inout(vreg) d2 => x14,
            d3 = inout(vreg) d3 => x15,
            e0 = inout(vreg) e0 => y0, e1 = inout(vreg) e1 => y1, e2 = inout(vreg) e2 => y2,
            e3 = inout(vreg) e3 => y3, f0 = inout(vreg) f0 => y4, f1 = inout(vreg) f1 => y5,
            f2 = inout(vreg) f2 => y6, f3 = inout(vreg) f3 => y7, g0 = inout(vreg) g0 => y8,
            g1 = inout(vreg) g1 => y9, h0 = inout(vreg) h0 => y12, h1 = inout(vreg) h1 => y13,
            h2 = inout(vreg) h2 => y14, h3 = inout(vreg) h3 => y15,
            order = in(vreg) byte_order(), t = out(vreg) _,
            $($operands)*
            options(nostack),
        );
        let [_, _, y10, y11] = waiting;
        [
            [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15],
            [y0, y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13, y14, y15],
        ]
    }};
}

/// A round of diagonals on the words `x` of eight blocks, and `count` double rounds; `count` is at
/// least 1.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn rounds(x: Groups, count: usize) -> Groups {
    assert!(count > 0);
    // SAFETY: the processor has the instructions. The assembly reads and writes only the place of
    // the words that wait, and all registers that it changes are declared.
    unsafe {
        interleaved!(
            x,
            count,
            [["", "", "", "", "", "", "", "", "", ""] ["", "", "", "", "", "", "", "", "", ""]],
            [
                ["", "", "", "", "", "", "", "", "", ""] ["", "", "", "", "", "", "", "", "", ""]
                ["", "", "", "", "", "", "", "", "", ""] ["", "", "", "", "", "", "", "", "", ""]
            ]
        )
    }
}

/// The blocks that [`rounds_beside`] hashes: one, then three in each double round.
pub(crate) const BESIDE: usize = 1 + 3 * 9;

/// The rounds of ChaCha20 after the first, while blocks are hashed.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn rounds_beside(x: Groups, hash: &mut Poly1305, blocks: &[[u8; 16]; BESIDE]) -> Groups {
    let ([r0, r1], [v0, v1, v2]) = hash.point_and_value();
    // SAFETY: the processor has the instructions. The assembly reads the blocks, reads and writes
    // the place of the words that wait, and all registers that it changes are declared.
    unsafe {
        interleaved!(
            x,
            9_usize,
            [
                [step!(0), step!(1), step!(2), step!(3), step!(4), step!(5), "", "", "", ""]
                [step!(6), step!(7), step!(8), step!(9), step!(10), step!(11), step!(12), "", "",
                 ""]
            ],
            [
                [step!(0), step!(1), step!(2), step!(3), step!(4), step!(5), step!(6), step!(7),
                 step!(8), step!(9)]
                [step!(10), step!(11), step!(12), step!(0), step!(1), step!(2), step!(3), step!(4),
                 step!(5), step!(6)]
                [step!(7), step!(8), step!(9), step!(10), step!(11), step!(12), step!(0), step!(1),
                 step!(2), step!(3)]
                [step!(4), step!(5), step!(6), step!(7), step!(8), step!(9), step!(10), step!(11),
                 step!(12), ""]
            ]
            v0 = inout(reg) *v0, v1 = inout(reg) *v1, v2 = inout(reg) *v2,
            r0 = in(reg) r0, r1 = in(reg) r1, s1 = in(reg) r1 + (r1 >> 2), one = in(reg) 1_u64,
            block = inout(reg) blocks.as_ptr() => _,
            p0 = out(reg) _, p1 = out(reg) _, p2 = out(reg) _, p3 = out(reg) _,
            p4 = out(reg) _, p5 = out(reg) _, p6 = out(reg) _, p7 = out(reg) _,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;
    use crate::arx::aarch64::neon::splat;
    use crate::poly1305::aarch64::neon::absorb;

    /// Values whose sums and products carry the furthest, and ordinary ones.
    const WORDS: [u64; 5] = [0, 1, u64::MAX, u64::MAX - 1, 0x0123_4567_89ab_cdef];

    #[test]
    fn the_hash_equals_the_portable_one_at_its_extremes() {
        // SAFETY: every processor of this architecture has the instructions.
        let zeros = [[unsafe { splat(0) }; 16]; 2];
        for r in WORDS {
            for [h0, h1] in WORDS.map(|h0| WORDS.map(|h1| [h0, h1])).concat() {
                for h2 in [0, 3, 4, u64::MAX >> 1] {
                    for block in WORDS {
                        let mut key = [0xff; 32];
                        key[..8].copy_from_slice(&r.to_le_bytes());
                        key[8..16].copy_from_slice(&r.to_le_bytes());
                        let numbers = [block, r].map(u64::to_le_bytes);
                        let mut blocks = [[0xff; 16]; BESIDE];
                        for place in blocks.iter_mut().step_by(2) {
                            place.copy_from_slice(numbers.as_flattened());
                        }
                        let mut hashes = [(); 3].map(|()| {
                            let mut hash = Poly1305::new(Isa::PORTABLE, &key);
                            *hash.point_and_value().1 = [h0, h1, h2];
                            hash
                        });
                        let [portable, beside, alone] = &mut hashes;
                        portable.absorb(&blocks);
                        // SAFETY: as above.
                        let _x = unsafe { rounds_beside(zeros, beside, &blocks) };
                        // SAFETY: as above.
                        unsafe { absorb(alone.state(), &blocks) };
                        let [portable, beside, alone] = hashes.map(Poly1305::tag);
                        assert_eq!(portable, beside, "{r:x} {h0:x} {h1:x} {h2:x} {block:x?}");
                        assert_eq!(portable, alone, "{r:x} {h0:x} {h1:x} {h2:x} {block:x?}");
                    }
                }
            }
        }
    }
}
