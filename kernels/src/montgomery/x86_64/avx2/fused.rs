//! Products of eight limbs divided by 2^512, in registers.
//!
//! A product of `a` and `b` modulo `n` has a row for each limb of `b`. It adds this limb times `a`
//! to a sum in nine registers, and then the multiple of `n` that makes the lowest limb zero. The
//! register of that limb becomes the highest one of the next row, so that nothing is moved.
//!
//! Before each row, the sum is less than a + n, because (a + n) + (2^64 - 1) a + (2^64 - 1) n,
//! divided by 2^64, is. So its ninth limb is a bit: of the carries of both parts of a row, at most
//! one is 1.
//!
//! Each part has two chains of carries, which are independent: ADCX adds the lower halves of
//! products, and ADOX adds the upper halves. XOR clears both flags.

#[cfg(test)]
mod tests;

use core::arch::asm;

use crate::montgomery::context::Context;

/// A number.
pub(super) type Number = [u64; 8];

/// `rdx` times the limb at `$x`, added to two limbs.
#[rustfmt::skip]
macro_rules! product {
    ($x:literal, $offset:literal, $low:literal, $high:literal) => {
        concat!(
            "mulx rdi, rax, [", $x, " + ", $offset, "]\n",
            "adcx ", $low, ", rax\n",
            "adox ", $high, ", rdi\n",
        )
    };
}

/// `rdx` times the eight limbs at `$x`, added to nine limbs. The carry out of them is left as the
/// overflow flag. The register or memory `$zero` is zero.
#[rustfmt::skip]
macro_rules! products {
    ($x:literal, $zero:literal, $a:literal $b:literal $c:literal $d:literal $e:literal $f:literal
     $g:literal $h:literal $i:literal) => {
        concat!(
            "xor eax, eax\n",
            product!($x, "0", $a, $b),
            product!($x, "8", $b, $c),
            product!($x, "16", $c, $d),
            product!($x, "24", $d, $e),
            product!($x, "32", $e, $f),
            product!($x, "40", $f, $g),
            product!($x, "48", $g, $h),
            "mulx rdi, rax, [", $x, " + 56]\n",
            "adcx ", $h, ", rax\n",
            "adcx rdi, ", $zero, "\n",
            "adox ", $i, ", rdi\n",
        )
    };
}

/// A row: the limb of `b` at `$offset`. The lowest of the nine limbs becomes the highest one.
#[rustfmt::skip]
macro_rules! row {
    ($offset:literal, $low:literal $($limbs:literal)*) => {
        concat!(
            "mov rdx, [rsp + 8]\n",
            "mov rdx, [rdx + ", $offset, "]\n",
            "mov ebp, 0\n",
            products!("rcx", "rbp", $low $($limbs)*),
            "adox rbp, rbp\n",
            "mov rdx, ", $low, "\n",
            "imul rdx, [rsp]\n",
            products!("rsi", $low, $low $($limbs)*),
            "adox ", $low, ", rbp\n",
        )
    };
}

/// A row for each offset.
#[rustfmt::skip]
macro_rules! rows {
    ([] $($limbs:literal)*) => { "" };
    ([$offset:literal $($offsets:literal)*] $low:literal $($limbs:literal)*) => {
        concat!(
            row!($offset, $low $($limbs)*),
            rows!([$($offsets)*] $($limbs)* $low),
        )
    };
}

/// Subtracts the lower half of the product of `rdx` with the limb of the modulus at `$offset`.
#[rustfmt::skip]
macro_rules! subtract {
    ($offset:literal, $limb:literal) => {
        concat!(
            "mulx rdi, rax, [rsi + ", $offset, "]\n",
            "sbb ", $limb, ", rax\n",
        )
    };
}

/// The product of two numbers divided by 2^512: less than 2^512, and less than the sum of the
/// modulus and `a`.
#[inline]
pub(super) fn multiply(modulus: &Context, a: &Number, b: &Number) -> Number {
    let n: &Number = modulus.limbs[..].try_into().expect("eight limbs");
    let [r0, r1, r2, r3, r4, r5, r6, r7];
    // SAFETY: the processor has the instructions, see `Adx`. The assembly reads eight limbs of `a`,
    // `b` and `n` each. It restores `rbx` and `rbp`, and all else that it changes is declared.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "push rax",
            "push rdx",
            "xor r8d, r8d",
            "xor r9d, r9d",
            "xor r10d, r10d",
            "xor r11d, r11d",
            "xor r12d, r12d",
            "xor r13d, r13d",
            "xor r14d, r14d",
            "xor r15d, r15d",
            "xor ebx, ebx",
            rows!(["0" "8" "16" "24" "32" "40" "48" "56"]
                "r9" "r10" "r11" "r12" "r13" "r14" "r15" "rbx" "r8"),
            "mov rdx, rbx",
            "xor eax, eax",
            subtract!("0", "r8"),
            subtract!("8", "r9"),
            subtract!("16", "r10"),
            subtract!("24", "r11"),
            subtract!("32", "r12"),
            subtract!("40", "r13"),
            subtract!("48", "r14"),
            subtract!("56", "r15"),
            "add rsp, 16",
            "pop rbp",
            "pop rbx",
            in("rcx") a.as_ptr(),
            in("rsi") n.as_ptr(),
            inout("rax") b.as_ptr() => _,
            inout("rdx") modulus.inverse[0] => _,
            out("rdi") _,
            out("r8") r0, out("r9") r1, out("r10") r2, out("r11") r3,
            out("r12") r4, out("r13") r5, out("r14") r6, out("r15") r7,
        );
    }
    [r0, r1, r2, r3, r4, r5, r6, r7]
}
