//! What the machine code of kernels may not have, and of which modules nothing is checked.

/// The name in Debian's package for other architectures; this one's has it too.
pub(crate) const OBJDUMP: &str = "aarch64-linux-gnu-objdump";
pub(crate) const SYNTAX: &[&str] = &[];

/// The rules. The trace does not see the addresses of prefetches. Processors fuse the two
/// instructions of a round of AES only if nothing is between them.
pub(crate) const NAMES: &[&str] = &["gather", "division", "flags", "prefetch", "pair"];

/// The end of names of modules of the other architecture.
pub(crate) const OTHER: &str = "::x86_64";

/// Beginnings of modules of which nothing is to be checked.
#[rustfmt::skip]
pub(crate) const EXCEPT: &[&str] = &[
    // Other names of functions that architectures share, and what each of them has inlined.
    "aes::aarch64", "siv::aarch64", "xts::aarch64", "gcm::aarch64::registers128", "wipe::aarch64",
    // The portable kernel has none.
    "serpent::lanes",
];

/// What is allowed in functions whose names contain this: round keys of decryption are made by half
/// a round.
pub(crate) const ALLOWED: &[(&str, &str)] = &[("pair", "aes::registers128::expand::")];

/// The rule that an instruction breaks.
pub(crate) fn broken(before: &str, instruction: &str) -> Option<&'static str> {
    let (name, operands) = parts(instruction);
    if vector_in_place(operands) {
        Some("gather")
    } else if ["udiv", "sdiv"].contains(&name) {
        Some("division")
    } else if ["fcmp", "fcmpe", "fccmp", "fccmpe", "ptest"].contains(&name) {
        Some("flags")
    } else if name.starts_with("prf") {
        Some("prefetch")
    } else {
        let (before, place) = (parts(before), operands.split(',').next());
        let is_torn = ["aesmc", "aesimc"].contains(&name)
            && (!["aese", "aesd"].contains(&before.0) || before.1.split(',').next() != place);
        is_torn.then_some("pair")
    }
}

/// Name and operands.
fn parts(instruction: &str) -> (&str, &str) {
    instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""))
}

/// Whether an address has a vector of SVE: `[x0, z1.s, uxtw]`.
fn vector_in_place(operands: &str) -> bool {
    let place = operands.split_once('[').and_then(|(_, place)| place.split(']').next());
    place.is_some_and(|place| place.split([',', ' ']).any(|part| part.starts_with('z')))
}
