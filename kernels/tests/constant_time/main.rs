//! Constant time, checked: no branch and no address depends on keys or data.
//!
//! `make test-ct` runs this program with the argument `all` on x86-64, `make test-arm64` under an
//! emulator; another name of `CHECKS` runs one of the ways alone. Each must find leaks that are
//! planted on purpose. `cargo test` alone does nothing.

mod aarch64;
mod ciphers;
mod disassembly;
mod kernels;
mod lanes;
mod montgomery;
mod planted;
mod public_key;
mod secrets;
mod sha2;
mod traces;
mod x86_64;

use std::process::ExitCode;

#[cfg(target_arch = "aarch64")]
use self::aarch64 as target;
#[cfg(target_arch = "x86_64")]
use self::x86_64 as target;

/// The ways to check on this architecture, by their arguments.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const CHECKS: &[(&str, fn() -> bool)] = target::CHECKS;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CHECKS: &[(&str, fn() -> bool)] = &[];

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1);
    let ok = match CHECKS.iter().find(|(name, _)| wanted.as_deref() == Some(*name)) {
        // What other profiles build need not be constant time.
        Some((_, check)) if !cfg!(debug_assertions) => check(),
        _ => {
            println!("constant time is checked by `make test-ct` and `make test-arm64`");
            println!("test result: ok. 0 passed; 0 failed; 0 ignored");
            true
        }
    };
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Says what is wrong. Always false.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn fail(what: &str) -> bool {
    println!("FAILED constant-time: {what}");
    false
}
