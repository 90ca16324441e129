//! Passes over long numbers. A pass multiplies all limbs of one number with W limbs of another.
//!
//! It takes one limb of the long number after the other, in a row: W products, which it adds to
//! W limbs in registers (r8 to r15) and to a limb of the sum in memory. The lowest limb of the
//! result is final and goes to memory; the other W stay in registers. The result fits, because
//! (2^(64 W) - 1) + (2^(64 W) - 1) (2^64 - 1) + (2^64 - 1) is less than 2^(64 (W + 1)).
//!
//! A row has two chains of carries. ADCX adds the lower half of each product to the upper half of
//! the one before, and the limb in memory to the first; so this chain waits for no other row. ADOX
//! adds the limbs in registers. XOR clears both flags.

use core::arch::asm;

use super::Adx;
use crate::montgomery::context::Context;
use crate::montgomery::passes::Pass;

/// The products of a row from the second one on: `rdx` times limbs at `rcx`. The upper half of a
/// product goes to `rbx` and `rax` by turns.
macro_rules! products {
    (1) => { "" };
    (2) => { products!(@1, "8", "r8", "r9", "rbx", "rax") };
    (3) => { products!(@2, "16", "r9", "r10", "rax", "rbx") };
    (4) => { products!(@3, "24", "r10", "r11", "rbx", "rax") };
    (5) => { products!(@4, "32", "r11", "r12", "rax", "rbx") };
    (6) => { products!(@5, "40", "r12", "r13", "rbx", "rax") };
    (7) => { products!(@6, "48", "r13", "r14", "rax", "rbx") };
    (8) => { products!(@7, "56", "r14", "r15", "rbx", "rax") };
    (@$fewer:tt, $at:literal, $limb:literal, $next:literal, $before:literal, $upper:literal) => {
        concat!(
            products!($fewer),
            "mulx ", $upper, ", ", $limb, ", [rcx + ", $at, "]\n",
            "adcx ", $limb, ", ", $before, "\n",
            "adox ", $limb, ", ", $next, "\n",
        )
    };
}

/// The highest of W limbs: the upper half of the last product and both carries.
macro_rules! highest {
    (1) => {
        highest!("r8", "rbx")
    };
    (2) => {
        highest!("r9", "rax")
    };
    (3) => {
        highest!("r10", "rbx")
    };
    (4) => {
        highest!("r11", "rax")
    };
    (5) => {
        highest!("r12", "rbx")
    };
    (6) => {
        highest!("r13", "rax")
    };
    (7) => {
        highest!("r14", "rbx")
    };
    (8) => {
        highest!("r15", "rax")
    };
    ($limb:literal, $upper:literal) => {
        concat!(
            "mov ", $limb, ", 0\n", "adcx ", $upper, ", ", $limb, "\n", "adox ", $limb, ", ",
            $upper, "\n",
        )
    };
}

/// A row: the limb at `$x` times W limbs at `rcx`, the limbs in registers, and the limb at `$sum`.
#[rustfmt::skip]
macro_rules! row {
    ($w:tt, $x:literal, $sum:literal) => {
        concat!("mov rdx, [", $x, "]\n", row!(@$w, $sum, "rax"))
    };
    // With the factor in `rdx`. The register `$kept` goes to memory.
    (@$w:tt, $sum:literal, $kept:literal) => {
        concat!(
            "xor eax, eax\n",
            "mulx rbx, rax, [rcx]\n",
            "adcx rax, [", $sum, "]\n",
            "adox rax, r8\n",
            "mov [", $sum, "], ", $kept, "\n",
            products!($w),
            highest!($w),
        )
    };
}

/// A row with the factor in `rdx`, which makes the lowest limb zero. The limb at `$sum` becomes the
/// factor.
macro_rules! cancelling_row {
    ($w:tt, $sum:literal) => {
        row!(@$w, $sum, "rdx")
    };
}

/// Two rows that make as many limbs zero. Their factors are the product of these limbs with the
/// inverse modulo 2^128, whose lower half is in `rsi` and upper half on the stack. If each factor
/// were computed from one limb, the second would wait for most of the first row.
#[rustfmt::skip]
macro_rules! cancelling_rows {
    ($w:tt, $low:literal, $high:literal) => {
        concat!(
            "mov rdx, r8\n",
            "mov rbx, r9\n",
            "add rdx, [", $low, "]\n",
            "adc rbx, [", $high, "]\n",
            "imul rbx, rsi\n",
            "mov rax, rdx\n",
            "imul rax, [rsp + 8]\n",
            "add rbx, rax\n",
            "mulx rax, rdx, rsi\n",
            "add rbx, rax\n",
            "mov [rsp + 16], rbx\n",
            cancelling_row!($w, $low),
            "mov rdx, [rsp + 16]\n",
            cancelling_row!($w, $high),
        )
    };
}

/// Rows of the limbs from `rsi` on, until `rdi` is the end of the sum, which is on the stack: one
/// at a time until a multiple of four is left, then four at a time.
macro_rules! rows {
    ($w:tt) => {
        concat!(
            "2:\n",
            "mov rax, [rsp]\n",
            "sub rax, rdi\n",
            "jz 4f\n",
            "test al, 24\n",
            "jz 3f\n",
            row!($w, "rsi", "rdi"),
            "add rsi, 8\n",
            "add rdi, 8\n",
            "jmp 2b\n",
            "3:\n",
            row!($w, "rsi", "rdi"),
            row!($w, "rsi + 8", "rdi + 8"),
            row!($w, "rsi + 16", "rdi + 16"),
            row!($w, "rsi + 24", "rdi + 24"),
            "add rsi, 32\n",
            "add rdi, 32\n",
            "cmp rdi, [rsp]\n",
            "jne 3b\n",
            "4:\n",
        )
    };
}

/// For each of the lowest W registers, and its place.
macro_rules! each {
    (1, $do:ident) => {
        $do!("r8", "0")
    };
    (4, $do:ident) => {
        concat!(each!(1, $do), $do!("r9", "8"), $do!("r10", "16"), $do!("r11", "24"))
    };
    (8, $do:ident) => {
        concat!(
            each!(4, $do),
            $do!("r12", "32"),
            $do!("r13", "40"),
            $do!("r14", "48"),
            $do!("r15", "56"),
        )
    };
}

macro_rules! clear {
    ($limb:literal, $offset:literal) => {
        concat!("xor ", $limb, "d, ", $limb, "d\n")
    };
}

macro_rules! store {
    ($limb:literal, $offset:literal) => {
        concat!("mov [rdi + ", $offset, "], ", $limb, "\n")
    };
}

/// Adds with the carry flag.
macro_rules! add {
    ($limb:literal, $offset:literal) => {
        concat!("adc ", $limb, ", [rdi + ", $offset, "]\n", store!($limb, $offset))
    };
}

/// The products of different limbs among W, each once: a row of one product, one of two, and so on.
#[rustfmt::skip]
macro_rules! triangle {
    (1) => { "" };
    (4) => {
        concat!(
            row!(1, "rcx + 8", "rdi + 8"),
            row!(2, "rcx + 16", "rdi + 16"),
            row!(3, "rcx + 24", "rdi + 24"),
        )
    };
    (8) => {
        concat!(
            triangle!(4),
            row!(4, "rcx + 32", "rdi + 32"),
            row!(5, "rcx + 40", "rdi + 40"),
            row!(6, "rcx + 48", "rdi + 48"),
            row!(7, "rcx + 56", "rdi + 56"),
        )
    };
}

/// W rows that make as many limbs zero.
#[rustfmt::skip]
macro_rules! cancel {
    (1) => {
        concat!(
            "mov rdx, [rdi]\n",
            "imul rdx, rsi\n",
            cancelling_row!(1, "rdi"),
        )
    };
    (4) => {
        concat!(
            cancelling_rows!(4, "rdi", "rdi + 8"), cancelling_rows!(4, "rdi + 16", "rdi + 24"),
        )
    };
    (8) => {
        concat!(
            cancelling_rows!(8, "rdi", "rdi + 8"), cancelling_rows!(8, "rdi + 16", "rdi + 24"),
            cancelling_rows!(8, "rdi + 32", "rdi + 40"),
            cancelling_rows!(8, "rdi + 48", "rdi + 56"),
        )
    };
}

/// Puts the end of the sum, which is in `rdx`, on the stack.
macro_rules! enter {
    ($w:tt) => {
        concat!("push rdx\n", each!($w, clear))
    };
}

macro_rules! passes {
    ($w:tt) => {
        impl Pass<$w> for Adx {
            fn multiply(sum: &mut [u64], x: &[u64], y: &[u64]) {
                let (sum, y) = (&mut sum[..x.len() + $w], &y[..$w]);
                // SAFETY: the processor has the instructions, see `Adx`. The assembly reads `x` and
                // W limbs of `y`, and changes as many limbs of the sum as both have, which the
                // slices have. It restores `rbx`, and all else that it changes is declared.
                unsafe {
                    asm!(
                        "push rbx",
                        enter!($w),
                        rows!($w),
                        each!($w, store),
                        "add rsp, 8",
                        "pop rbx",
                        in("rcx") y.as_ptr(),
                        inout("rdx") sum.as_ptr().wrapping_add(x.len()) => _,
                        inout("rsi") x.as_ptr() => _,
                        inout("rdi") sum.as_mut_ptr() => _,
                        out("rax") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                        out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                    );
                }
            }

            fn square(sum: &mut [u64], x: &[u64]) {
                assert!(x.len() >= $w);
                let sum = &mut sum[..x.len() + $w];
                // SAFETY: the processor has the instructions, see `Adx`. The assembly reads `x`,
                // and changes W limbs of the sum more than `x` has, which the sum has. It restores
                // `rbx`, and all else that it changes is declared.
                unsafe {
                    asm!(
                        "push rbx",
                        enter!($w),
                        triangle!($w),
                        concat!("add rdi, 8 * ", $w),
                        concat!("lea rsi, [rcx + 8 * ", $w, "]"),
                        rows!($w),
                        each!($w, store),
                        "add rsp, 8",
                        "pop rbx",
                        in("rcx") x.as_ptr(),
                        inout("rdx") sum.as_ptr().wrapping_add(x.len()) => _,
                        out("rsi") _,
                        inout("rdi") sum.as_mut_ptr() => _,
                        out("rax") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                        out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                    );
                }
            }

            fn reduce(sum: &mut [u64], modulus: &Context, carry: &mut u64) {
                let n = &modulus.limbs;
                assert!(n.len() >= $w);
                let sum = &mut sum[..n.len() + $w];
                // SAFETY: the processor has the instructions, see `Adx`. The assembly reads the
                // modulus, and changes W limbs of the sum more than that has, which the sum has. It
                // restores `rbx`, and all else that it changes is declared.
                unsafe {
                    asm!(
                        "push rbx",
                        "push rax",
                        "push rax",
                        "push r8",
                        enter!($w),
                        cancel!($w),
                        concat!("lea rsi, [rcx + 8 * ", $w, "]"),
                        "mov rcx, rdi",
                        concat!("add rdi, 8 * ", $w),
                        rows!($w),
                        "add rsp, 24",
                        "pop rax",
                        "neg rax",
                        each!($w, add),
                        "mov eax, 0",
                        "adc eax, eax",
                        "pop rbx",
                        inout("rcx") n.as_ptr() => _,
                        inout("rdx") sum.as_ptr().wrapping_add(n.len()) => _,
                        inout("rsi") modulus.inverse[0] => _,
                        inout("rdi") sum.as_mut_ptr() => _,
                        inout("rax") *carry,
                        inout("r8") modulus.inverse[1] => _,
                        out("r9") _, out("r10") _, out("r11") _,
                        out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                    );
                }
            }
        }
    };
}
passes!(1);
passes!(4);
passes!(8);

/// Doubles two limbs of a sum, and adds the square of the limb at `$x`. Both carries are kept.
#[rustfmt::skip]
macro_rules! square_of_limb {
    ($x:literal, $low:literal, $high:literal) => {
        concat!(
            "mov rdx, [", $x, "]\n",
            "mulx r9, r8, rdx\n",
            "mov r10, [", $low, "]\n",
            "mov r11, [", $high, "]\n",
            "adcx r10, r10\n",
            "adox r10, r8\n",
            "mov [", $low, "], r10\n",
            "adcx r11, r11\n",
            "adox r11, r9\n",
            "mov [", $high, "], r11\n",
        )
    };
}

/// Doubles a number, and adds the square of each limb of `x` to the two limbs at twice its place.
pub(super) fn double_and_add_squares(sum: &mut [u64], x: &[u64]) {
    assert!(x.len() >= 4);
    let sum = &mut sum[..2 * x.len()];
    // SAFETY: the processor has the instructions, see `Adx`. The assembly reads `x`, which has at
    // least four limbs, and changes the sum, which has twice as many. All else that it changes is
    // declared.
    unsafe {
        // LEA and JRCXZ leave the flags.
        asm!(
            "test eax, eax",
            "2:",
            square_of_limb!("rsi", "rdi", "rdi + 8"),
            square_of_limb!("rsi + 8", "rdi + 16", "rdi + 24"),
            square_of_limb!("rsi + 16", "rdi + 32", "rdi + 40"),
            square_of_limb!("rsi + 24", "rdi + 48", "rdi + 56"),
            "lea rsi, [rsi + 32]",
            "lea rdi, [rdi + 64]",
            "lea rcx, [rcx - 1]",
            "jrcxz 3f",
            "jmp 2b",
            "3:",
            "mov rcx, rax",
            "jrcxz 5f",
            "4:",
            square_of_limb!("rsi", "rdi", "rdi + 8"),
            "lea rsi, [rsi + 8]",
            "lea rdi, [rdi + 16]",
            "lea rcx, [rcx - 1]",
            "jrcxz 5f",
            "jmp 4b",
            "5:",
            inout("rax") x.len() % 4 => _,
            inout("rcx") x.len() / 4 => _,
            inout("rsi") x.as_ptr() => _,
            inout("rdi") sum.as_mut_ptr() => _,
            out("rdx") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            options(nostack),
        );
    }
}

/// A limb of the difference. All but the borrow is left alone.
#[rustfmt::skip]
macro_rules! difference {
    ($offset:literal) => {
        concat!(
            "mulx r10, r9, [rcx + ", $offset, "]\n",
            "mov r10, [rsi + ", $offset, "]\n",
            "sbb r10, r9\n",
            "mov [rdi + ", $offset, "], r10\n",
        )
    };
}

/// Adds to the three places, and leaves the flags.
#[rustfmt::skip]
macro_rules! advance {
    ($bytes:literal) => {
        concat!(
            "lea rcx, [rcx + ", $bytes, "]\n",
            "lea rsi, [rsi + ", $bytes, "]\n",
            "lea rdi, [rdi + ", $bytes, "]\n",
        )
    };
}

/// Sets `out` to a number minus `bit`, which is 0 or 1, times another one; the borrow is left out.
/// All have as many limbs, at least four.
pub(super) fn subtract_if(bit: u64, number: &[u64], other: &[u64], out: &mut [u64]) {
    assert!(number.len() == out.len() && other.len() == out.len() && out.len() >= 4);
    // SAFETY: the processor has the instructions, see `Adx`. The assembly reads both numbers and
    // writes `out`, which have as many limbs, at least four. All else that it changes is declared.
    unsafe {
        // Only SBB changes the carry flag.
        asm!(
            "clc",
            "2:",
            difference!("0"), difference!("8"), difference!("16"), difference!("24"),
            advance!("32"),
            "dec rax",
            "jnz 2b",
            "inc r11",
            "3:",
            "dec r11",
            "jz 4f",
            difference!("0"),
            advance!("8"),
            "jmp 3b",
            "4:",
            inout("rax") out.len() / 4 => _,
            inout("r11") out.len() % 4 => _,
            inout("rcx") other.as_ptr() => _,
            in("rdx") bit,
            inout("rsi") number.as_ptr() => _,
            inout("rdi") out.as_mut_ptr() => _,
            out("r9") _, out("r10") _,
            options(nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::has_adx;
    use super::Adx;
    use crate::montgomery::passes::tests;

    #[test]
    fn passes_at_the_ends_of_limbs() {
        if has_adx() {
            tests::passes_at_the_ends_of_limbs::<Adx>();
        }
    }

    #[test]
    fn products_at_the_ends_of_limbs() {
        if has_adx() {
            tests::products_at_the_ends_of_limbs::<Adx>();
        }
    }
}
