//! Passes over long numbers. A pass multiplies all limbs of one number with W limbs of another.
//!
//! It takes one limb of the long number after the other, in a row: W products, which it adds to
//! W limbs in registers (`a0` to `a7`) and to a limb of the sum in memory. The lowest limb of the
//! result is final and goes to memory; the other W stay in registers. The result fits, because
//! (2^(64 W) - 1) + (2^(64 W) - 1) (2^64 - 1) + (2^64 - 1) is less than 2^(64 (W + 1)).
//!
//! A row has two chains of carries, one after the other: the first one adds the upper halves of
//! products, and the second one the lower halves. MUL, UMULH, loads and stores leave the flags.

use core::arch::asm;

use super::Neon;
use super::selection::look_up;
use crate::montgomery::context::Context;
use crate::montgomery::passes::{Pass, Passes};

/// Products of the limb `$x` and limbs in registers: their lower halves (`mul`) or upper halves
/// (`umulh`). Each has the number of its register and that of the limb.
macro_rules! halves {
    ($half:literal, $x:literal, $($t:tt $y:tt),*) => {
        concat!($($half, " {t", $t, "}, ", $x, ", {y", $y, "}\n"),*)
    };
}

/// Adds halves with the carry flag. Each has the number of its register, that of the limb that it
/// is added to, and that of the register for the sum.
macro_rules! add {
    ($($t:tt $a:tt $sum:tt),*) => {
        concat!($("adcs {a", $sum, "}, {a", $a, "}, {t", $t, "}\n"),*)
    };
}

/// The first chain of a row: the limb `$s` of the sum is added to the lowest of W limbs in
/// registers, and the upper halves of products to the others. These move to the register below.
#[rustfmt::skip]
macro_rules! upper {
    ($w:tt, $x:literal, $s:literal) => {
        concat!("adds ", $s, ", ", $s, ", {a0}\n", upper!(@$w $x))
    };
    (@1 $x:literal) => { upper!(@last $x, [] 0 0) };
    (@2 $x:literal) => { upper!(@last $x, [0 0 1] 1 1) };
    (@3 $x:literal) => { upper!(@last $x, [0 0 1, 1 1 2] 2 2) };
    (@4 $x:literal) => { upper!(@last $x, [0 0 1, 1 1 2, 2 2 3] 3 3) };
    (@5 $x:literal) => { concat!(upper!(@four $x), upper!(@last $x, [] 0 4)) };
    (@6 $x:literal) => { concat!(upper!(@four $x), upper!(@last $x, [0 4 5] 1 5)) };
    (@7 $x:literal) => { concat!(upper!(@four $x), upper!(@last $x, [0 4 5, 1 5 6] 2 6)) };
    (@8 $x:literal) => { concat!(upper!(@four $x), upper!(@last $x, [0 4 5, 1 5 6, 2 6 7] 3 7)) };
    (@four $x:literal) => {
        concat!(halves!("umulh", $x, 0 0, 1 1, 2 2, 3 3), add!(0 1 0, 1 2 1, 2 3 2, 3 4 3))
    };
    (@last $x:literal, [$($t:tt $y:tt $next:tt),*] $top:tt $highest:tt) => {
        concat!(
            halves!("umulh", $x, $($t $y,)* $top $highest),
            add!($($t $next $y),*),
            "adc {a", $highest, "}, {t", $top, "}, xzr\n",
        )
    };
}

/// The second chain: the lower halves are added to `$s` and to the limbs in registers.
#[rustfmt::skip]
macro_rules! lower {
    (1, $x:literal, $s:literal) => { lower!(@first $x, $s, 0, 0 0) };
    (2, $x:literal, $s:literal) => { lower!(@first $x, $s, 1, 0 0, 1 1 0) };
    (3, $x:literal, $s:literal) => { lower!(@first $x, $s, 2, 0 0, 1 1 0, 2 2 1) };
    (4, $x:literal, $s:literal) => { lower!(@first $x, $s, 3, 0 0, 1 1 0, 2 2 1, 3 3 2) };
    (5, $x:literal, $s:literal) => { lower!(@more $x, $s, 4, 0 4 3) };
    (6, $x:literal, $s:literal) => { lower!(@more $x, $s, 5, 0 4 3, 1 5 4) };
    (7, $x:literal, $s:literal) => { lower!(@more $x, $s, 6, 0 4 3, 1 5 4, 2 6 5) };
    (8, $x:literal, $s:literal) => { lower!(@more $x, $s, 7, 0 4 3, 1 5 4, 2 6 5, 3 7 6) };
    (@first $x:literal, $s:literal, $highest:tt, 0 0 $(, $t:tt $y:tt $below:tt)*) => {
        concat!(
            halves!("mul", $x, 0 0 $(, $t $y)*),
            "adds ", $s, ", ", $s, ", {t0}\n",
            add!($($t $below $below),*),
            "adc {a", $highest, "}, {a", $highest, "}, xzr\n",
        )
    };
    (@more $x:literal, $s:literal, $highest:tt, $($t:tt $y:tt $below:tt),*) => {
        concat!(
            halves!("mul", $x, 0 0, 1 1, 2 2, 3 3),
            "adds ", $s, ", ", $s, ", {t0}\n",
            add!(1 0 0, 2 1 1, 3 2 2),
            halves!("mul", $x, $($t $y),*),
            add!($($t $below $below),*),
            "adc {a", $highest, "}, {a", $highest, "}, xzr\n",
        )
    };
}

/// A row: the limb `$x` times W limbs, the limbs in registers, and the limb `$s`, which becomes the
/// lowest one of the result.
macro_rules! row {
    ($w:tt, $x:literal, $s:literal) => {
        concat!(upper!($w, $x, $s), lower!($w, $x, $s))
    };
}

/// A row whose limb `x0` makes the lowest limb in registers zero, with W limbs of the modulus. So
/// the lowest lower half is not needed: it carries if that limb is not zero. The limb of the row
/// goes to memory. `x1` is minus the inverse of the modulus.
#[rustfmt::skip]
macro_rules! cancelling_row {
    ($w:tt) => {
        concat!(
            "mul {x0}, {a0}, {x1}\n",
            "cmp {a0}, #1\n",
            cancelling_row!(@$w),
            "str {x0}, [{sum}], #8\n",
        )
    };
    (@1) => { "umulh {t0}, {x0}, {y0}\nadc {a0}, {t0}, xzr\n" };
    (@4) => {
        concat!(
            halves!("mul", "{x0}", 1 1, 2 2, 3 3),
            add!(1 1 0, 2 2 1, 3 3 2),
            "adc {a3}, xzr, xzr\n",
            halves!("umulh", "{x0}", 0 0, 1 1, 2 2, 3 3),
            "adds {a0}, {a0}, {t0}\n",
            add!(1 1 1, 2 2 2),
            "adc {a3}, {a3}, {t3}\n",
        )
    };
    (@8) => {
        concat!(
            halves!("mul", "{x0}", 1 1, 2 2, 3 3),
            add!(1 1 0, 2 2 1, 3 3 2),
            halves!("mul", "{x0}", 0 4, 1 5, 2 6, 3 7),
            add!(0 4 3, 1 5 4, 2 6 5, 3 7 6),
            "adc {a7}, xzr, xzr\n",
            halves!("umulh", "{x0}", 0 0, 1 1, 2 2, 3 3),
            "adds {a0}, {a0}, {t0}\n",
            add!(1 1 1, 2 2 2, 3 3 3),
            halves!("umulh", "{x0}", 0 4, 1 5, 2 6, 3 7),
            add!(0 4 4, 1 5 5, 2 6 6),
            "adc {a7}, {a7}, {t3}\n",
        )
    };
}

/// W rows that make as many limbs zero.
#[rustfmt::skip]
macro_rules! cancel {
    (1) => { cancelling_row!(1) };
    (4) => {
        concat!(cancelling_row!(4), cancelling_row!(4), cancelling_row!(4), cancelling_row!(4))
    };
    (8) => {
        concat!(
            cancelling_row!(8), cancelling_row!(8), cancelling_row!(8), cancelling_row!(8),
            cancelling_row!(8), cancelling_row!(8), cancelling_row!(8), cancelling_row!(8),
        )
    };
}

/// Rows of `count` limbs from `x` on: one if the count is odd, then two at a time.
macro_rules! rows {
    ($w:tt) => {
        concat!(
            "tbz {count}, #0, 2f\n",
            "ldr {x0}, [{x}], #8\n",
            "ldr {s0}, [{sum}]\n",
            row!($w, "{x0}", "{s0}"),
            "str {s0}, [{sum}], #8\n",
            "2:\n",
            "lsr {count}, {count}, #1\n",
            "cbz {count}, 4f\n",
            "3:\n",
            "ldp {x0}, {x1}, [{x}], #16\n",
            "ldp {s0}, {s1}, [{sum}]\n",
            row!($w, "{x0}", "{s0}"),
            row!($w, "{x1}", "{s1}"),
            "stp {s0}, {s1}, [{sum}], #16\n",
            "sub {count}, {count}, #1\n",
            "cbnz {count}, 3b\n",
            "4:\n",
        )
    };
}

/// For W registers of a kind, which memory is loaded into (`ldr`, `ldp`) or stored from.
#[rustfmt::skip]
macro_rules! each {
    (1, $one:literal, $two:literal, $limb:literal, $place:literal) => {
        concat!($one, " {", $limb, "0}, [{", $place, "}]\n")
    };
    (4, $one:literal, $two:literal, $limb:literal, $place:literal) => {
        concat!(
            $two, " {", $limb, "0}, {", $limb, "1}, [{", $place, "}]\n",
            $two, " {", $limb, "2}, {", $limb, "3}, [{", $place, "}, #16]\n",
        )
    };
    (8, $one:literal, $two:literal, $limb:literal, $place:literal) => {
        concat!(
            each!(4, $one, $two, $limb, $place),
            $two, " {", $limb, "4}, {", $limb, "5}, [{", $place, "}, #32]\n",
            $two, " {", $limb, "6}, {", $limb, "7}, [{", $place, "}, #48]\n",
        )
    };
}

macro_rules! load {
    ($w:tt, $limb:literal, $place:literal) => {
        each!($w, "ldr", "ldp", $limb, $place)
    };
}

macro_rules! store {
    ($w:tt) => {
        each!($w, "str", "stp", "a", "sum")
    };
}

/// Adds W limbs of the sum, with the carry flag.
#[rustfmt::skip]
macro_rules! add_sum {
    (1) => { concat!("ldr {t0}, [{sum}]\n", add!(0 0 0)) };
    (4) => {
        concat!(
            "ldp {t0}, {t1}, [{sum}]\n",
            "ldp {t2}, {t3}, [{sum}, #16]\n",
            add!(0 0 0, 1 1 1, 2 2 2, 3 3 3),
        )
    };
    (8) => {
        concat!(
            add_sum!(4),
            "ldp {t0}, {t1}, [{sum}, #32]\n",
            "ldp {t2}, {t3}, [{sum}, #48]\n",
            add!(0 4 4, 1 5 5, 2 6 6, 3 7 7),
        )
    };
}

/// The products of different limbs among W, each once: a row of one product, one of two, and so on.
#[rustfmt::skip]
macro_rules! triangle {
    (1) => { "add {sum}, {sum}, #8\n" };
    (4) => {
        concat!(
            "ldr {s1}, [{sum}, #8]!\n",
            row!(1, "{y1}", "{s1}"),
            "str {s1}, [{sum}], #8\n",
            triangle!(@2 "{y2}", 3 "{y3}"),
        )
    };
    (8) => {
        concat!(
            triangle!(4),
            triangle!(@4 "{y4}", 5 "{y5}"),
            triangle!(@6 "{y6}", 7 "{y7}"),
        )
    };
    (@$w:tt $x:literal, $more:tt $other:literal) => {
        concat!(
            "ldp {s0}, {s1}, [{sum}]\n",
            row!($w, $x, "{s0}"),
            row!($more, $other, "{s1}"),
            "stp {s0}, {s1}, [{sum}], #16\n",
        )
    };
}

macro_rules! passes {
    ($w:tt, $($a:ident $y:ident)*, $($t:ident)*) => {
        impl Pass<$w> for Neon {
            fn multiply(sum: &mut [u64], x: &[u64], y: &[u64]) {
                let (sum, y) = (&mut sum[..x.len() + $w], &y[..$w]);
                // SAFETY: the assembly reads `x` and W limbs of `y`, and changes as many limbs of
                // the sum as both have, which the slices have. All else that it changes is
                // declared.
                unsafe {
                    asm!(
                        load!($w, "y", "x0"),
                        rows!($w),
                        store!($w),
                        sum = inout(reg) sum.as_mut_ptr() => _,
                        x = inout(reg) x.as_ptr() => _,
                        count = inout(reg) x.len() => _,
                        x0 = inout(reg) y.as_ptr() => _,
                        x1 = out(reg) _, s0 = out(reg) _, s1 = out(reg) _,
                        $($t = out(reg) _,)*
                        $($a = inout(reg) 0_u64 => _, $y = out(reg) _,)*
                        options(nostack),
                    );
                }
            }

            fn square(sum: &mut [u64], x: &[u64]) {
                assert!(x.len() >= $w);
                let sum = &mut sum[..x.len() + $w];
                // SAFETY: the assembly reads `x`, and changes W limbs of the sum more than `x` has,
                // which the sum has. All else that it changes is declared.
                unsafe {
                    asm!(
                        load!($w, "y", "x"),
                        concat!("add {x}, {x}, #8 * ", $w),
                        triangle!($w),
                        rows!($w),
                        store!($w),
                        sum = inout(reg) sum.as_mut_ptr() => _,
                        x = inout(reg) x.as_ptr() => _,
                        count = inout(reg) x.len() - $w => _,
                        x0 = out(reg) _, x1 = out(reg) _, s0 = out(reg) _, s1 = out(reg) _,
                        $($t = out(reg) _,)*
                        $($a = inout(reg) 0_u64 => _, $y = out(reg) _,)*
                        options(nostack),
                    );
                }
            }

            fn reduce(sum: &mut [u64], modulus: &Context, carry: &mut u64) {
                let n = &modulus.limbs;
                assert!(n.len() >= $w);
                let sum = &mut sum[..n.len() + $w];
                // SAFETY: the assembly reads the modulus, and changes W limbs of the sum more than
                // that has, which the sum has. All else that it changes is declared, and the stack.
                unsafe {
                    asm!(
                        "str {x0}, [sp, #-16]!",
                        load!($w, "y", "x"),
                        load!($w, "a", "sum"),
                        concat!("add {x}, {x}, #8 * ", $w),
                        cancel!($w),
                        concat!("sub {x1}, {sum}, #8 * ", $w),
                        load!($w, "y", "x1"),
                        rows!($w),
                        "ldr {x0}, [sp], #16",
                        "cmp {x0}, #1",
                        add_sum!($w),
                        store!($w),
                        "adc {x0}, xzr, xzr",
                        sum = inout(reg) sum.as_mut_ptr() => _,
                        x = inout(reg) n.as_ptr() => _,
                        count = inout(reg) n.len() - $w => _,
                        x0 = inout(reg) *carry,
                        // The inverse at first.
                        x1 = inout(reg) modulus.inverse[0] => _,
                        s0 = out(reg) _, s1 = out(reg) _,
                        $($t = out(reg) _,)*
                        $($a = out(reg) _, $y = out(reg) _,)*
                    );
                }
            }
        }
    };
}
passes!(1, a0 y0, t0);
passes!(4, a0 y0 a1 y1 a2 y2 a3 y3, t0 t1 t2 t3);
passes!(8, a0 y0 a1 y1 a2 y2 a3 y3 a4 y4 a5 y5 a6 y6 a7 y7, t0 t1 t2 t3);

/// Doubles two limbs of a sum, below which is `$below`, and adds the square of `$x` with the carry
/// flag. The upper one of them is `$high` afterwards, as it was.
#[rustfmt::skip]
macro_rules! square_of_limb {
    ($x:literal, $below:literal, $high:literal) => {
        concat!(
            "ldp {low}, ", $high, ", [{sum}]\n",
            "mul {t0}, ", $x, ", ", $x, "\n",
            "umulh {t1}, ", $x, ", ", $x, "\n",
            "extr ", $below, ", {low}, ", $below, ", #63\n",
            "extr {low}, ", $high, ", {low}, #63\n",
            "adcs {t0}, {t0}, ", $below, "\n",
            "adcs {t1}, {t1}, {low}\n",
            "stp {t0}, {t1}, [{sum}], #16\n",
        )
    };
}

/// Subtracts two limbs of the other number under the mask, with the carry flag.
macro_rules! subtract_two {
    () => {
        concat!(
            "ldp {n0}, {n1}, [{other}], #16\n",
            "ldp {a0}, {a1}, [{number}], #16\n",
            "and {n0}, {n0}, {mask}\n",
            "and {n1}, {n1}, {mask}\n",
            "sbcs {a0}, {a0}, {n0}\n",
            "sbcs {a1}, {a1}, {n1}\n",
            "stp {a0}, {a1}, [{out}], #16\n",
        )
    };
}

impl Passes for Neon {
    fn double_and_add_squares(sum: &mut [u64], x: &[u64]) {
        let sum = &mut sum[..2 * x.len()];
        // SAFETY: the assembly reads `x` and changes the sum, which has twice as many limbs. All
        // else that it changes is declared.
        unsafe {
            // TBZ, CBZ and SUB leave the flags.
            asm!(
                "cmn xzr, xzr",
                "tbz {count}, #0, 2f",
                "ldr {x0}, [{x}], #8",
                square_of_limb!("{x0}", "{below}", "{high}"),
                "mov {below}, {high}",
                "2:",
                "lsr {count}, {count}, #1",
                "cbz {count}, 4f",
                "3:",
                "ldp {x0}, {x1}, [{x}], #16",
                square_of_limb!("{x0}", "{below}", "{high}"),
                square_of_limb!("{x1}", "{high}", "{below}"),
                "sub {count}, {count}, #1",
                "cbnz {count}, 3b",
                "4:",
                sum = inout(reg) sum.as_mut_ptr() => _,
                x = inout(reg) x.as_ptr() => _,
                count = inout(reg) x.len() => _,
                below = inout(reg) 0_u64 => _,
                x0 = out(reg) _, x1 = out(reg) _, low = out(reg) _, high = out(reg) _,
                t0 = out(reg) _, t1 = out(reg) _,
                options(nostack),
            );
        }
    }

    fn subtract_if(bit: u64, number: &[u64], other: &[u64], out: &mut [u64]) {
        assert!(number.len() == out.len() && other.len() == out.len());
        // SAFETY: the assembly reads both numbers and writes `out`, which have as many limbs. All
        // else that it changes is declared.
        unsafe {
            // TBZ, CBZ, LSR, SUB and AND leave the flags.
            asm!(
                "neg {mask}, {mask}",
                "cmp xzr, xzr",
                "tbz {count}, #0, 2f",
                "ldr {n0}, [{other}], #8",
                "ldr {a0}, [{number}], #8",
                "and {n0}, {n0}, {mask}",
                "sbcs {a0}, {a0}, {n0}",
                "str {a0}, [{out}], #8",
                "2:",
                "tbz {count}, #1, 3f",
                subtract_two!(),
                "3:",
                "lsr {count}, {count}, #2",
                "cbz {count}, 5f",
                "4:",
                subtract_two!(),
                subtract_two!(),
                "sub {count}, {count}, #1",
                "cbnz {count}, 4b",
                "5:",
                number = inout(reg) number.as_ptr() => _,
                other = inout(reg) other.as_ptr() => _,
                out = inout(reg) out.as_mut_ptr() => _,
                count = inout(reg) out.len() => _,
                mask = inout(reg) bit => _,
                n0 = out(reg) _, n1 = out(reg) _, a0 = out(reg) _, a1 = out(reg) _,
                options(nostack),
            );
        }
    }

    fn look_up(table: &[u64], index: u64, out: &mut [u64]) {
        // SAFETY: every processor that runs this code has NEON, see `Neon`.
        unsafe { look_up(table, index, out) }
    }
}
