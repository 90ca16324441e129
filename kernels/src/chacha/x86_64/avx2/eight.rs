//! Double rounds on eight blocks in assembly, alone or beside Poly1305.
//!
//! Two pairs of quarter-rounds run at a time, the second one six steps after the first. While one
//! pair needs the two units that shift and shuffle, the other one adds and XORs. In the order of a
//! compiler, both pairs wait for these units together. In the round of diagonals, the pairs are
//! those whose second words are ready at the same time.
//!
//! The 16 words fill all registers, but rotations by 12 and 7 bits need two more for copies. So two
//! words of the last row are in memory while they are not used.
//!
//! Poly1305 is the step of `poly1305::portable`, with MULX. Its multiplications use no unit that
//! the rounds need.

use core::arch::asm;
use core::arch::x86_64::*;
use core::mem::offset_of;

use crate::poly1305::Poly1305;
use crate::wipe;

use super::turn;

/// The data of the assembly.
#[repr(C, align(64))]
struct Memory {
    /// The words 12 to 15, while their registers have copies.
    row: [__m256i; 4],
    /// The shuffles that rotate words by 16 and by 8 bits.
    turns: [__m256i; 2],
    /// How many double rounds are left.
    left: usize,
    /// The point of Poly1305, and five quarters of its upper word.
    point: [u64; 3],
}

const _: () = {
    assert!(offset_of!(Memory, row) == 0 && offset_of!(Memory, turns) == 128);
    assert!(offset_of!(Memory, left) == 192 && offset_of!(Memory, point) == 200);
};

/// As many double rounds as the memory says, interleaved with other instructions: one expression
/// for each of 33 steps, which may be empty. They use registers of their own.
///
/// `{m}` points behind the row in the memory; `{a0}` to `{d3}` are the words.
macro_rules! interleaved {
    ($x:ident, $memory:ident, [$($other:expr),*] $($operands:tt)*) => {
        interleaved!(@steps $x, $memory, [
            ("vpaddd {a0}, {a0}, {b0}; vpaddd {a1}, {a1}, {b1}"
             "vpxor {d0}, {d0}, {a0}; vpxor {d1}, {d1}, {a1}")
            ("vpshufb {d0}, {d0}, [{m}]; vpshufb {d1}, {d1}, [{m}]"
             "vpaddd {c0}, {c0}, {d0}; vpaddd {c1}, {c1}, {d1}")
            ("vpxor {b0}, {b0}, {c0}; vpxor {b1}, {b1}, {c1}"
             "vpslld {d2}, {b0}, 12; vpslld {d3}, {b1}, 12")
            ("vpsrld {b0}, {b0}, 20; vpsrld {b1}, {b1}, 20"
             "vpaddd {a2}, {a2}, {b2}; vpaddd {a3}, {a3}, {b3}")
            ("vpor {b0}, {b0}, {d2}; vpor {b1}, {b1}, {d3}"
             "vpxor {d2}, {a2}, [{m} - 64]; vpxor {d3}, {a3}, [{m} - 32]")
            ("vpshufb {d2}, {d2}, [{m}]; vpshufb {d3}, {d3}, [{m}]"
             "vpaddd {a0}, {a0}, {b0}; vpaddd {a1}, {a1}, {b1}")
            ("vpaddd {c2}, {c2}, {d2}; vpaddd {c3}, {c3}, {d3}"
             "vpxor {d0}, {d0}, {a0}; vpxor {d1}, {d1}, {a1}")
            ("vpshufb {d0}, {d0}, [{m} + 32]; vpshufb {d1}, {d1}, [{m} + 32]"
             "vpxor {b2}, {b2}, {c2}; vpxor {b3}, {b3}, {c3}")
            ("vpaddd {c0}, {c0}, {d0}; vpaddd {c1}, {c1}, {d1}"
             "vmovdqa [{m} - 128], {d0}; vmovdqa [{m} - 96], {d1}")
            ("vpslld {d0}, {b2}, 12; vpslld {d1}, {b3}, 12"
             "vpsrld {b2}, {b2}, 20; vpsrld {b3}, {b3}, 20")
            ("vpxor {b0}, {b0}, {c0}; vpxor {b1}, {b1}, {c1}"
             "vpor {b2}, {b2}, {d0}; vpor {b3}, {b3}, {d1}")
            ("vpslld {d0}, {b0}, 7; vpslld {d1}, {b1}, 7"
             "vpsrld {b0}, {b0}, 25; vpsrld {b1}, {b1}, 25")
            ("vpaddd {a2}, {a2}, {b2}; vpaddd {a3}, {a3}, {b3}"
             "vpor {b0}, {b0}, {d0}; vpor {b1}, {b1}, {d1}")
            ("vpxor {d2}, {d2}, {a2}; vpxor {d3}, {d3}, {a3}"
             "vpshufb {d2}, {d2}, [{m} + 32]; vpshufb {d3}, {d3}, [{m} + 32]")
            ("vpaddd {a3}, {a3}, {b0}; vpaddd {a0}, {a0}, {b1}"
             "vpaddd {c2}, {c2}, {d2}; vpaddd {c3}, {c3}, {d3}")
            ("vpxor {d2}, {d2}, {a3}; vpxor {d3}, {d3}, {a0}"
             "vpshufb {d2}, {d2}, [{m}]; vpshufb {d3}, {d3}, [{m}]")
            ("vpxor {b2}, {b2}, {c2}; vpxor {b3}, {b3}, {c3}"
             "vpaddd {c1}, {c1}, {d2}; vpaddd {c2}, {c2}, {d3}")
            ("vpslld {d0}, {b2}, 7; vpslld {d1}, {b3}, 7"
             "vpsrld {b2}, {b2}, 25; vpsrld {b3}, {b3}, 25")
            ("vpxor {b0}, {b0}, {c1}; vpxor {b1}, {b1}, {c2}"
             "vpor {b2}, {b2}, {d0}; vpor {b3}, {b3}, {d1}")
            ("vpslld {d0}, {b0}, 12; vpslld {d1}, {b1}, 12"
             "vpsrld {b0}, {b0}, 20; vpsrld {b1}, {b1}, 20")
            ("vpaddd {a1}, {a1}, {b2}; vpaddd {a2}, {a2}, {b3}"
             "vpor {b0}, {b0}, {d0}; vpor {b1}, {b1}, {d1}")
            ("vpxor {d0}, {a1}, [{m} - 128]; vpxor {d1}, {a2}, [{m} - 96]"
             "vpshufb {d0}, {d0}, [{m}]; vpshufb {d1}, {d1}, [{m}]")
            ("vpaddd {a3}, {a3}, {b0}; vpaddd {a0}, {a0}, {b1}"
             "vpaddd {c3}, {c3}, {d0}; vpaddd {c0}, {c0}, {d1}")
            ("vpxor {d2}, {d2}, {a3}; vpxor {d3}, {d3}, {a0}"
             "vpshufb {d2}, {d2}, [{m} + 32]; vpshufb {d3}, {d3}, [{m} + 32]")
            ("vpxor {b2}, {b2}, {c3}; vpxor {b3}, {b3}, {c0}"
             "vpaddd {c1}, {c1}, {d2}; vpaddd {c2}, {c2}, {d3}")
            ("vmovdqa [{m} - 64], {d2}; vmovdqa [{m} - 32], {d3}"
             "vpslld {d2}, {b2}, 12; vpslld {d3}, {b3}, 12")
            ("vpsrld {b2}, {b2}, 20; vpsrld {b3}, {b3}, 20"
             "vpxor {b0}, {b0}, {c1}; vpxor {b1}, {b1}, {c2}")
            ("vpor {b2}, {b2}, {d2}; vpor {b3}, {b3}, {d3}"
             "vpslld {d2}, {b0}, 7; vpslld {d3}, {b1}, 7")
            ("vpsrld {b0}, {b0}, 25; vpsrld {b1}, {b1}, 25"
             "vpaddd {a1}, {a1}, {b2}; vpaddd {a2}, {a2}, {b3}")
            ("vpor {b0}, {b0}, {d2}; vpor {b1}, {b1}, {d3}"
             "vpxor {d0}, {d0}, {a1}; vpxor {d1}, {d1}, {a2}")
            ("vpshufb {d0}, {d0}, [{m} + 32]; vpshufb {d1}, {d1}, [{m} + 32]"
             "vpaddd {c3}, {c3}, {d0}; vpaddd {c0}, {c0}, {d1}")
            ("vpxor {b2}, {b2}, {c3}; vpxor {b3}, {b3}, {c0}"
             "vpslld {d2}, {b2}, 7; vpslld {d3}, {b3}, 7")
            ("vpsrld {b2}, {b2}, 25; vpsrld {b3}, {b3}, 25"
             "vpor {b2}, {b2}, {d2}; vpor {b3}, {b3}, {d3}")
        ] [$($other),*] $($operands)*)
    };
    (
        @steps $x:ident, $memory:ident,
        [$(($one:literal $two:literal))*] [$($other:expr),*] $($operands:tt)*
    ) => {{
        let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, _, _] = $x;
        let (e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13);
        asm!(
            ".p2align 6",
            "2:",
            $($one, $two, $other,)*
            "dec qword ptr [{m} + 64]",
            "jnz 2b",
            m = in(reg) (&raw mut $memory).byte_add(128),
            a0 = inout(ymm_reg) a0 => e0, a1 = inout(ymm_reg) a1 => e1,
            a2 = inout(ymm_reg) a2 => e2, a3 = inout(ymm_reg) a3 => e3,
            b0 = inout(ymm_reg) b0 => e4, b1 = inout(ymm_reg) b1 => e5,
            b2 = inout(ymm_reg) b2 => e6, b3 = inout(ymm_reg) b3 => e7,
            c0 = inout(ymm_reg) c0 => e8, c1 = inout(ymm_reg) c1 => e9,
            c2 = inout(ymm_reg) c2 => e10, c3 = inout(ymm_reg) c3 => e11,
            d0 = inout(ymm_reg) d0 => e12, d1 = inout(ymm_reg) d1 => e13,
            d2 = out(ymm_reg) _, d3 = out(ymm_reg) _,
            $($operands)*
            options(nostack),
        );
        let [_, _, e14, e15] = $memory.row;
        [e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14, e15]
    }};
}

/// A step of Poly1305 on the block at `{block}` and so many bytes on. The lowest word of the value
/// is in RDX, where MULX takes its first factor.
macro_rules! hash {
    ($at:literal) => {
        concat!(
            // The overflow past 2^130, which comes back five-fold, and the sum with the block and
            // its highest bit.
            "mov {t}, {h2}; shr {t}, 2; lea {t}, [{t} + {t} * 4]; and {h2}, 3; ",
            "add rdx, [{block} + ",
            $at,
            "]; adc {h1}, [{block} + ",
            $at,
            " + 8]; adc {h2}, 1; add rdx, {t}; adc {h1}, 0; adc {h2}, 0; ",
            "mulx {p1}, {p0}, [{m} + 72]; mulx {q1}, {q0}, [{m} + 80]; ",
            "mov rdx, {h1}; mulx {s1}, {h1}, [{m} + 72]; mulx {u1}, rdx, [{m} + 88]; ",
            "add rdx, {p0}; adc {p1}, {u1}; ",
            // Less than 2^64: the highest word is at most 6, and the point's words have 60 bits.
            "mov {t}, {h2}; imul {t}, [{m} + 88]; add {p1}, {t}; imul {h2}, [{m} + 72]; ",
            "add {h1}, {q0}; adc {s1}, {q1}; add {h1}, {p1}; adc {h2}, {s1}"
        )
    };
}

/// The words `x` of eight blocks, `count` double rounds later; `count` is at least 1.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn double_rounds(x: [__m256i; 16], count: usize) -> [__m256i; 16] {
    assert!(count > 0);
    let mut memory = Memory::new(x, count, [0; 3]);
    // SAFETY: the processor has the instructions. The assembly reads and writes only the memory,
    // and all registers that it changes are declared.
    unsafe {
        interleaved!(
            x,
            memory,
            [
                "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "",
                "", "", "", "", "", "", "", "", "", "", "", ""
            ]
        )
    }
}

/// As many double rounds as there are threes of blocks, at least one, while these are hashed.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
pub(crate) fn double_rounds_beside(
    x: [__m256i; 16],
    hash: &mut Poly1305,
    blocks: &[[[u8; 16]; 3]],
) -> [__m256i; 16] {
    assert!(!blocks.is_empty());
    let ([r0, r1], [h0, h1, h2]) = hash.point_and_value();
    let mut memory = Memory::new(x, blocks.len(), [r0, r1, r1 + (r1 >> 2)]);
    // SAFETY: the processor has the instructions. The assembly reads the blocks, three in each
    // turn, reads and writes the memory, and all registers that it changes are declared.
    let x = unsafe {
        interleaved!(x, memory, [
            "", "", "", "", "", "", "", hash!(0), "", "", "", "", "", "", "", "", "", hash!(16),
            "", "", "", "", "", "", "", "", "", "", hash!(32), "add {block}, 48", "", "", ""
        ]
            inout("rdx") *h0, h1 = inout(reg) *h1, h2 = inout(reg) *h2,
            block = inout(reg) blocks.as_ptr() => _,
            p0 = out(reg) _, p1 = out(reg) _, q0 = out(reg) _, q1 = out(reg) _, s1 = out(reg) _,
            u1 = out(reg) _, t = out(reg) _,
        )
    };
    wipe::words(&mut memory.point);
    x
}

impl Memory {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(x: [__m256i; 16], left: usize, point: [u64; 3]) -> Self {
        let [.., d0, d1, d2, d3] = x;
        Self { row: [d0, d1, d2, d3], turns: [turn(16), turn(8)], left, point }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poly1305::Poly1305;
    use crate::{Isa, Level};

    /// Values whose sums and products carry the furthest, and ordinary ones.
    const WORDS: [u64; 5] = [0, 1, u64::MAX, u64::MAX - 1, 0x0123_4567_89ab_cdef];

    #[test]
    fn the_hash_equals_the_portable_one_at_its_extremes() {
        if !Isa::of_processor().has(Level::Avx2) {
            return;
        }
        // SAFETY: the processor has the instructions.
        let zeros = [unsafe { _mm256_setzero_si256() }; 16];
        for r in WORDS {
            for [h0, h1] in WORDS.map(|h0| WORDS.map(|h1| [h0, h1])).concat() {
                for h2 in [0, 3, 4, u64::MAX >> 1] {
                    for block in WORDS {
                        let mut key = [0xff; 32];
                        key[..8].copy_from_slice(&r.to_le_bytes());
                        key[8..16].copy_from_slice(&r.to_le_bytes());
                        let mut block = [block.to_le_bytes(), r.to_le_bytes()].concat();
                        block.rotate_left(8);
                        let block: [u8; 16] = block.try_into().expect("two words");
                        let mut hashes = [(); 2].map(|()| {
                            let mut hash = Poly1305::new(Isa::PORTABLE, &key);
                            *hash.point_and_value().1 = [h0, h1, h2];
                            hash
                        });
                        let blocks = [[block, [0xff; 16], block]; 2];
                        hashes[0].absorb(blocks.as_flattened());
                        let beside = &mut hashes[1];
                        // SAFETY: the processor has the instructions.
                        let _x = unsafe { double_rounds_beside(zeros, beside, &blocks) };
                        let [portable, beside] = hashes.map(Poly1305::tag);
                        assert_eq!(portable, beside, "{r:x} {h0:x} {h1:x} {h2:x} {block:x?}");
                    }
                }
            }
        }
    }
}
