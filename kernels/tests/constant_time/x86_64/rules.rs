//! What the machine code of kernels may not have, and of which modules nothing is checked.

pub(crate) const OBJDUMP: &str = "objdump";
pub(crate) const SYNTAX: &[&str] = &["-M", "intel"];

/// The rules.
pub(crate) const NAMES: &[&str] = &["gather", "division", "flags"];

/// The end of names of modules of the other architecture.
pub(crate) const OTHER: &str = "::aarch64";

/// Beginnings of modules of which nothing is to be checked.
#[rustfmt::skip]
pub(crate) const EXCEPT: &[&str] = &[
    // Macros.
    "aegis::x86_64::steps",
    // Other names of functions that architectures share.
    "aes::x86_64::aesni", "siv::x86_64::aesni", "xts::x86_64::aesni",
];

/// What is allowed in functions whose names contain this: compilers make gathers of loops over
/// lengths of messages, which are public.
pub(crate) const ALLOWED: &[(&str, &str)] = &[
    ("gather", "gcm_siv::lanes::"),
    ("gather", "siv::lanes::"),
    // The matrix of ML-KEM is sampled from a public seed, and the hash in a key is public.
    ("flags", "::sample::sample"),
    ("flags", "mlkem::portable::import"),
    ("flags", "mlkem::steps::import"),
    ("flags", "mlkem::x86_64::avx2::import"),
    ("flags", "mlkem::x86_64::avx512::import"),
    // Bits become bytes of a message.
    ("flags", "::message::message"),
];

/// The rule that an instruction breaks.
pub(crate) fn broken(_before: &str, instruction: &str) -> Option<&'static str> {
    let name = instruction.split(' ').next()?;
    // Many have a second name with that letter.
    let name = name.strip_prefix('v').unwrap_or(name);
    let begins = |with: &[&str]| with.iter().any(|with| name.starts_with(with));
    // Not ptestm, whose answer is a vector of bits and no flag.
    let flags = ["testp", "kortest", "ktest", "movmskp", "pmovmskb", "comis", "ucomis"];
    if begins(&["gather", "pgather", "scatter", "pscatter"]) {
        Some("gather")
    } else if ["div", "idiv"].contains(&name) {
        Some("division")
    } else {
        let is_flags = name == "ptest" || begins(&flags) || begins(&["pcmpestr", "pcmpistr"]);
        is_flags.then_some("flags")
    }
}
