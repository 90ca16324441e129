//! Passes over long numbers. A pass multiplies all limbs of one number with W limbs of another.
//!
//! It takes one limb of the long number after the other, in a row: W products, which it adds to
//! W limbs in registers (r8 to r15) and to a limb of the sum in memory. The lowest limb of the
//! result is final and goes to memory; the other W stay in registers. The result fits, because
//! (2^(64 W) - 1) + (2^(64 W) - 1) (2^64 - 1) + (2^64 - 1) is less than 2^(64 (W + 1)).
//!
//! A row has two chains of carries, which are independent: ADCX adds the upper halves of products
//! to the limbs in registers, and ADOX adds the lower halves and the limb in memory. TEST clears
//! both flags.

use core::arch::asm;

use super::adx::Adx;
use crate::montgomery::context::Context;
use crate::montgomery::passes::Pass;

/// The products of a row from the second one on: `rdx` times limbs at `rcx`. The register `$low`
/// has the upper half of the product before.
macro_rules! products {
    (1) => { "" };
    (2) => { products!(@1, "8", "r8", "r9") };
    (3) => { products!(@2, "16", "r9", "r10") };
    (4) => { products!(@3, "24", "r10", "r11") };
    (5) => { products!(@4, "32", "r11", "r12") };
    (6) => { products!(@5, "40", "r12", "r13") };
    (7) => { products!(@6, "48", "r13", "r14") };
    (8) => { products!(@7, "56", "r14", "r15") };
    (@$before:tt, $offset:literal, $low:literal, $high:literal) => {
        concat!(
            products!($before),
            "adcx ", $low, ", ", $high, "\n",
            "mulx ", $high, ", rax, [rcx + ", $offset, "]\n",
            "adox ", $low, ", rax\n",
        )
    };
}

/// The register of the highest of W limbs.
#[rustfmt::skip]
macro_rules! highest {
    (1) => { "r8" };
    (2) => { "r9" };
    (3) => { "r10" };
    (4) => { "r11" };
    (5) => { "r12" };
    (6) => { "r13" };
    (7) => { "r14" };
    (8) => { "r15" };
}

/// The end of a row: all products but the first, and the carries of both chains. The zero is on the
/// stack.
#[rustfmt::skip]
macro_rules! row_end {
    ($w:tt) => {
        concat!(
            "mov r8, rbx\n",
            products!($w),
            "adcx ", highest!($w), ", [rsp + 8]\n",
            "adox ", highest!($w), ", [rsp + 8]\n",
        )
    };
}

/// A row: the limb at `$x` times W limbs at `rcx`, the limbs in registers, and the limb at `$sum`.
#[rustfmt::skip]
macro_rules! row {
    ($w:tt, $x:literal, $sum:literal) => {
        concat!(
            "mov rdx, [", $x, "]\n",
            "test eax, eax\n",
            "adox r8, [", $sum, "]\n",
            "mulx rbx, rax, [rcx]\n",
            "adcx r8, rax\n",
            "mov [", $sum, "], r8\n",
            row_end!($w),
        )
    };
}

/// A row with the factor in `rdx`, which makes the lowest limb zero. The limb at `$sum` becomes the
/// factor.
#[rustfmt::skip]
macro_rules! cancelling_row {
    ($w:tt, $sum:literal) => {
        concat!(
            "test eax, eax\n",
            "adox r8, [", $sum, "]\n",
            "mov [", $sum, "], rdx\n",
            "mulx rbx, rax, [rcx]\n",
            "adcx r8, rax\n",
            row_end!($w),
        )
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
            "imul rax, [rsp + 16]\n",
            "add rbx, rax\n",
            "mulx rax, rdx, rsi\n",
            "add rbx, rax\n",
            "mov [rsp + 24], rbx\n",
            cancelling_row!($w, $low),
            "mov rdx, [rsp + 24]\n",
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

/// Puts the end of the sum, which is in `rdx`, and above it a zero on the stack.
macro_rules! enter {
    ($w:tt) => {
        concat!("push 0\n", "push rdx\n", each!($w, clear))
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
                        "add rsp, 16",
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
                        "add rsp, 16",
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
                        "add rsp, 32",
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

/// Sets `out` to a number minus `bit`, which is 0 or 1, times another one; the borrow is left out.
/// All have as many limbs.
pub(super) fn subtract_if(bit: u64, number: &[u64], other: &[u64], out: &mut [u64]) {
    assert!(number.len() == out.len() && other.len() == out.len() && !out.is_empty());
    // SAFETY: the processor has the instructions, see `Adx`. The assembly reads both numbers and
    // writes `out`, which have as many limbs, at least one. All else that it changes is declared.
    unsafe {
        // Only SBB changes the carry flag.
        asm!(
            "xor eax, eax",
            "2:",
            "mulx r10, r9, [r8 + 8 * rax]",
            "mov r10, [rsi + 8 * rax]",
            "sbb r10, r9",
            "mov [rdi + 8 * rax], r10",
            "lea rax, [rax + 1]",
            "dec rcx",
            "jnz 2b",
            inout("rcx") out.len() => _,
            in("rdx") bit,
            in("rsi") number.as_ptr(),
            in("r8") other.as_ptr(),
            in("rdi") out.as_mut_ptr(),
            out("rax") _, out("r9") _, out("r10") _,
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
