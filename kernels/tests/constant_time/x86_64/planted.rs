//! Leaks, each of which the checks must find.

use core::hint::black_box;

/// One leak.
pub(crate) struct Leak {
    pub(crate) name: &'static str,
    /// What the trace must show in the function of that name.
    pub(crate) kind: &'static str,
    /// Runs it on a secret.
    pub(crate) run: fn(&[u8; 16]),
}

/// What memcheck and the trace must see.
pub(crate) const ALL: &[Leak] = &[
    Leak { name: "table", kind: "address", run: table },
    Leak { name: "branch", kind: "branch", run: branch },
    Leak { name: "early-return", kind: "branch", run: early_return },
    Leak { name: "length", kind: "branch", run: length },
    Leak { name: "extraction", kind: "address", run: extraction },
    Leak { name: "register", kind: "branch", run: register },
];

/// Says whether a leak was found, and passes that on.
pub(crate) fn report(name: &str, found: bool) -> bool {
    println!("planted {name}: {}", if found { "found" } else { "NOT FOUND" });
    found
}

static TABLE: [u8; 256] = {
    let mut table = [0x63; 256];
    table[1] = 0x7c;
    table
};

#[inline(never)]
fn table(secret: &[u8; 16]) {
    black_box(black_box(&TABLE)[usize::from(secret[3])]);
}

#[inline(never)]
fn branch(secret: &[u8; 16]) {
    if secret[3] & 1 == 1 {
        // A call cannot become a conditional move.
        rare();
    }
}

#[inline(never)]
fn rare() {
    black_box(());
}

#[inline(never)]
fn early_return(secret: &[u8; 16]) {
    let guess = black_box([0x5a; 16]);
    for (a, b) in secret.iter().zip(&guess) {
        if a != b {
            return;
        }
    }
    rare();
}

/// As many steps as a secret says, like those of a hash over a secret length.
#[inline(never)]
fn length(secret: &[u8; 16]) {
    for _ in 0..secret[3] & 7 {
        rare();
    }
}

/// A branch that tests a register and no flag.
#[inline(never)]
fn register(secret: &[u8; 16]) {
    // SAFETY: the instructions change nothing.
    unsafe {
        core::arch::asm!(
            "jrcxz 2f",
            "nop",
            "2:",
            in("rcx") u64::from(secret[3]),
            options(nomem, nostack, preserves_flags)
        );
    }
}

/// A table again, but the index comes out of a vector register.
#[inline(never)]
fn extraction(secret: &[u8; 16]) {
    // SAFETY: SSE2 is part of x86-64.
    let [_, index, ..] = unsafe { doubled(secret) }.to_le_bytes();
    black_box(black_box(&TABLE)[usize::from(index)]);
}

#[target_feature(enable = "sse2")]
fn doubled(&[a, b, c, d, ..]: &[u8; 16]) -> i32 {
    use core::arch::x86_64::*;
    let vector = _mm_set1_epi32(i32::from_le_bytes([a, b, c, d]));
    _mm_cvtsi128_si32(_mm_add_epi8(vector, vector))
}

/// What the disassembly must show, by the names of the rules that they break. They are never run.
pub(crate) mod forbidden {
    use core::arch::x86_64::*;
    use core::hint::black_box;

    /// Keeps the functions in the program.
    pub(crate) fn keep() {
        black_box(gather as unsafe fn(_, _) -> _);
        black_box(division as fn(_, _) -> _);
        black_box(flags as unsafe fn(_));
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f")]
    fn gather(secret: __m512i, table: &[i32; 16]) -> __m512i {
        let index = _mm512_and_si512(secret, _mm512_set1_epi32(15));
        // SAFETY: every index is below 16, the length of the table.
        unsafe { _mm512_i32gather_epi32::<4>(index, table.as_ptr()) }
    }

    #[inline(never)]
    fn division(secret: u64, by: core::num::NonZeroU64) -> u64 {
        secret / by
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f")]
    fn flags(secret: __m512i) {
        if _mm512_test_epi32_mask(secret, secret) != 0 {
            super::rare();
        }
    }
}
