//! Constant time, checked: no branch and no address depends on keys or data.
//!
//! `make test-ct` runs this program with the argument `all`; another name of [`CHECKS`] runs one of
//! four ways alone. Valgrind's memcheck follows undefined memory through every instruction and
//! reports branches and addresses that depend on it; here that memory is the secrets. For the
//! instruction sets that Valgrind does not know, all runs twice with other secrets, instruction by
//! instruction. The same by the clock: inputs that are all alike against random ones. And the
//! disassembly is searched for instructions that no kernel may have. Leaks planted on purpose must
//! be found in each way. `cargo test` alone does nothing.
#![cfg(target_arch = "x86_64")]

mod ciphers;
mod disassembly;
mod kernels;
mod lanes;
mod memcheck;
#[cfg(feature = "montgomery")]
mod montgomery;
mod planted;
mod secrets;
mod timing;
mod trace;
mod traces;
mod undefined;

use std::io::{self, Write as _};
use std::process::{Command, ExitCode, Stdio};

/// By their arguments. Memcheck's has two parts, which run under Valgrind.
const CHECKS: &[(&str, fn() -> bool)] = &[
    ("all", all),
    ("memcheck", undefined::check),
    (undefined::PLANTED, undefined::planted),
    (undefined::KERNELS, undefined::kernels),
    ("traces", traces::check),
    ("disassembly", disassembly::check),
    ("time", timing::check),
];

pub(crate) fn main() -> ExitCode {
    planted::forbidden::keep();
    let wanted = std::env::args().nth(1);
    let ok = match CHECKS.iter().find(|(name, _)| wanted.as_deref() == Some(*name)) {
        // What other profiles build need not be constant time.
        Some((_, check)) if !cfg!(debug_assertions) => check(),
        _ => {
            println!("constant time is checked by `make test-ct`");
            println!("test result: ok. 0 passed; 0 failed; 0 ignored");
            true
        }
    };
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Everything, at the same time what does not mind.
fn all() -> bool {
    let program = std::env::current_exe().expect("Linux knows the program's file");
    let started = ["memcheck", "traces", "disassembly"].map(|check| {
        let command = &mut Command::new(&program);
        command.arg(check).stdout(Stdio::piped()).spawn().expect("the program starts once more")
    });
    let mut ok = true;
    for check in started {
        let output = check.wait_with_output().expect("it ends");
        io::stdout().write_all(&[&output.stdout[..], b"\n"].concat()).expect("stdout takes it");
        ok &= output.status.success();
    }
    // The last, so that no other check disturbs it.
    CHECKS.iter().filter(|(name, _)| *name == "time").fold(ok, |ok, (_, time)| time() & ok)
}

/// Says what is wrong. Always false.
fn fail(what: &str) -> bool {
    println!("FAILED constant-time: {what}");
    false
}
