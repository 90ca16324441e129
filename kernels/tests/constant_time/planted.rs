//! Leaks, each of which the checks must find.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use core::hint::black_box;

use crate::target;

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
pub(crate) fn rare() {
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
    target::planted::jump(u64::from(secret[3]));
}

/// A table again, but the index comes out of a vector register.
#[inline(never)]
fn extraction(secret: &[u8; 16]) {
    // SAFETY: every processor of these architectures has the feature.
    let [_, index, ..] = unsafe { target::planted::doubled(secret) }.to_le_bytes();
    black_box(black_box(&TABLE)[usize::from(index)]);
}
