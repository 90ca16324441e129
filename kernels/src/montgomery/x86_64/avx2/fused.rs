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
//! A square has its products first, in memory; then the lower half is made zero in registers.
//!
//! There are two chains of carries, which are independent: ADOX adds the lower halves of products,
//! and ADCX adds the upper halves. XOR clears both flags.

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
            "adox ", $low, ", rax\n",
            "adcx ", $high, ", rdi\n",
        )
    };
}

/// `rdx` times the eight limbs at `$x`, added to nine limbs. The carry out of them is left as the
/// carry flag. The register `$zero` is zero, or the lowest limb, which becomes zero.
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
            "adox ", $h, ", rax\n",
            "adox rdi, ", $zero, "\n",
            "adcx ", $i, ", rdi\n",
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
            "adcx rbp, rbp\n",
            "mov rdx, ", $low, "\n",
            "imul rdx, [rsp]\n",
            products!("rsi", $low, $low $($limbs)*),
            "adcx ", $low, ", rbp\n",
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

/// Subtracts the modulus at `$n` from the eight limbs if `rbx` is all ones, and nothing if it is
/// zero. AND clears the carry flag, which is kept in `rax`. `rdi`, `rdx`, `rbx` and `$other` are
/// overwritten, too.
#[rustfmt::skip]
macro_rules! subtract_masked {
    ($n:literal, $other:literal) => {
        concat!(
            "mov rax, rbx\n",
            "mov rdi, rbx\n",
            "mov rdx, rbx\n",
            "mov ", $other, ", rbx\n",
            "and rax, [", $n, "]\n",
            "and rdi, [", $n, " + 8]\n",
            "and rdx, [", $n, " + 16]\n",
            "and ", $other, ", [", $n, " + 24]\n",
            "sub r8, rax\n",
            "sbb r9, rdi\n",
            "sbb r10, rdx\n",
            "sbb r11, ", $other, "\n",
            "sbb eax, eax\n",
            "mov rdi, rbx\n",
            "mov rdx, rbx\n",
            "mov ", $other, ", rbx\n",
            "and rdi, [", $n, " + 32]\n",
            "and rdx, [", $n, " + 40]\n",
            "and ", $other, ", [", $n, " + 48]\n",
            "and rbx, [", $n, " + 56]\n",
            "add eax, eax\n",
            "sbb r12, rdi\n",
            "sbb r13, rdx\n",
            "sbb r14, ", $other, "\n",
            "sbb r15, rbx\n",
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
            "neg rbx",
            subtract_masked!("rsi", "rcx"),
            "add rsp, 16",
            "pop rbp",
            "pop rbx",
            inout("rcx") a.as_ptr() => _,
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

/// A row of a square: `rdx` times limbs from the one at `$offset` on, added to limbs of which the
/// last is new.
#[rustfmt::skip]
macro_rules! triangle {
    ($new:literal, $($offset:literal $low:literal $high:literal),*) => {
        concat!(
            "xor ", $new, "d, ", $new, "d\n",
            $(product!("rcx", $offset, $low, $high),)*
            "adox ", $new, ", rbx\n",
        )
    };
}

/// Loads two limbs, doubles them, and adds the square of the limb of `a` at `$x`.
#[rustfmt::skip]
macro_rules! double {
    ($x:literal, $low:literal, $from:literal, $high:literal, $next:literal) => {
        concat!(
            "mov rdx, [rcx + ", $x, "]\n",
            "mulx rdi, rax, rdx\n",
            "mov ", $low, ", [rsi + ", $from, "]\n",
            "adcx ", $low, ", ", $low, "\n",
            "adox ", $low, ", rax\n",
            "mov ", $high, ", [rsi + ", $next, "]\n",
            "adcx ", $high, ", ", $high, "\n",
            "adox ", $high, ", rdi\n",
        )
    };
}

/// The same in place.
#[rustfmt::skip]
macro_rules! double_there {
    ($x:literal, $from:literal, $next:literal) => {
        concat!(
            double!($x, "rbx", $from, "rdx", $next),
            "mov [rsi + ", $from, "], rbx\n",
            "mov [rsi + ", $next, "], rdx\n",
        )
    };
}

/// Adds the multiple of the modulus at `rcx` that makes the lowest limb zero. Its register becomes
/// the highest limb.
#[rustfmt::skip]
macro_rules! cancel {
    ($a:literal $b:literal $c:literal $d:literal $e:literal $f:literal $g:literal $h:literal) => {
        concat!(
            "mov rdx, ", $a, "\n",
            "imul rdx, [rsp]\n",
            "xor eax, eax\n",
            product!("rcx", "0", $a, $b),
            product!("rcx", "8", $b, $c),
            product!("rcx", "16", $c, $d),
            product!("rcx", "24", $d, $e),
            product!("rcx", "32", $e, $f),
            product!("rcx", "40", $f, $g),
            product!("rcx", "48", $g, $h),
            product!("rcx", "56", $h, $a),
            "adox ", $a, ", rbx\n",
        )
    };
}

/// The square of a number divided by 2^512: less than 2^512. `room` is overwritten.
///
/// Products of different limbs are added once, from limb to limb of the lower factor, and stored;
/// then doubled, and the squares of limbs added. The lower half is made zero in registers.
#[inline]
pub(super) fn square(modulus: &Context, a: &Number, room: &mut [u64; 16]) -> Number {
    let n: &Number = modulus.limbs[..].try_into().expect("eight limbs");
    let [r0, r1, r2, r3, r4, r5, r6, r7];
    // SAFETY: the processor has the instructions, see `Adx`. The assembly reads eight limbs of `a`
    // and of `n`, and changes sixteen of the room. It restores `rbx`, and all else that it changes
    // is declared.
    unsafe {
        asm!(
            "push rbx",
            "push rax",
            "push rdx",
            "xor ebx, ebx",
            "mov rdx, [rcx]",
            "mulx r9, r8, [rcx + 8]",
            "mulx r10, rax, [rcx + 16]",
            "add r9, rax",
            "mulx r11, rax, [rcx + 24]",
            "adc r10, rax",
            "mulx r12, rax, [rcx + 32]",
            "adc r11, rax",
            "mulx r13, rax, [rcx + 40]",
            "adc r12, rax",
            "mulx r14, rax, [rcx + 48]",
            "adc r13, rax",
            "mulx r15, rax, [rcx + 56]",
            "adc r14, rax",
            "adc r15, 0",
            "mov [rsi + 8], r8",
            "mov [rsi + 16], r9",
            "mov rdx, [rcx + 8]",
            triangle!("r8", "16" "r10" "r11", "24" "r11" "r12", "32" "r12" "r13",
                "40" "r13" "r14", "48" "r14" "r15", "56" "r15" "r8"),
            "mov [rsi + 24], r10",
            "mov [rsi + 32], r11",
            "mov rdx, [rcx + 16]",
            triangle!("r9", "24" "r12" "r13", "32" "r13" "r14", "40" "r14" "r15",
                "48" "r15" "r8", "56" "r8" "r9"),
            "mov [rsi + 40], r12",
            "mov [rsi + 48], r13",
            "mov rdx, [rcx + 24]",
            triangle!("r10", "32" "r14" "r15", "40" "r15" "r8", "48" "r8" "r9", "56" "r9" "r10"),
            "mov [rsi + 56], r14",
            "mov [rsi + 64], r15",
            "mov rdx, [rcx + 32]",
            triangle!("r11", "40" "r8" "r9", "48" "r9" "r10", "56" "r10" "r11"),
            "mov [rsi + 72], r8",
            "mov [rsi + 80], r9",
            "mov rdx, [rcx + 40]",
            triangle!("r12", "48" "r10" "r11", "56" "r11" "r12"),
            "mov [rsi + 88], r10",
            "mov [rsi + 96], r11",
            "mov rdx, [rcx + 48]",
            triangle!("r13", "56" "r12" "r13"),
            "mov [rsi + 104], r12",
            "mov [rsi + 112], r13",
            "mov [rsi + 120], rbx",
            "mov rdx, [rcx]",
            "xor eax, eax",
            "mulx rdi, r8, rdx",
            "mov r9, [rsi + 8]",
            "adcx r9, r9",
            "adox r9, rdi",
            double!("8", "r10", "16", "r11", "24"),
            double!("16", "r12", "32", "r13", "40"),
            double!("24", "r14", "48", "r15", "56"),
            double_there!("32", "64", "72"),
            double_there!("40", "80", "88"),
            double_there!("48", "96", "104"),
            double_there!("56", "112", "120"),
            "mov rcx, [rsp + 8]",
            "xor ebx, ebx",
            cancel!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
            cancel!("r9" "r10" "r11" "r12" "r13" "r14" "r15" "r8"),
            cancel!("r10" "r11" "r12" "r13" "r14" "r15" "r8" "r9"),
            cancel!("r11" "r12" "r13" "r14" "r15" "r8" "r9" "r10"),
            cancel!("r12" "r13" "r14" "r15" "r8" "r9" "r10" "r11"),
            cancel!("r13" "r14" "r15" "r8" "r9" "r10" "r11" "r12"),
            cancel!("r14" "r15" "r8" "r9" "r10" "r11" "r12" "r13"),
            cancel!("r15" "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
            "add r8, [rsi + 64]",
            "adc r9, [rsi + 72]",
            "adc r10, [rsi + 80]",
            "adc r11, [rsi + 88]",
            "adc r12, [rsi + 96]",
            "adc r13, [rsi + 104]",
            "adc r14, [rsi + 112]",
            "adc r15, [rsi + 120]",
            "sbb rbx, rbx",
            subtract_masked!("rcx", "rsi"),
            "add rsp, 16",
            "pop rbx",
            inout("rcx") a.as_ptr() => _,
            inout("rsi") room.as_mut_ptr() => _,
            inout("rax") n.as_ptr() => _,
            inout("rdx") modulus.inverse[0] => _,
            out("rdi") _,
            out("r8") r0, out("r9") r1, out("r10") r2, out("r11") r3,
            out("r12") r4, out("r13") r5, out("r14") r6, out("r15") r7,
        );
    }
    [r0, r1, r2, r3, r4, r5, r6, r7]
}
