//! Constant time on x86-64.
//!
//! Valgrind's memcheck follows undefined memory through every instruction and reports branches and
//! addresses that depend on it; here that memory is the secrets. For the instruction sets that
//! Valgrind does not know, all runs twice with other secrets, instruction by instruction. The same
//! by the clock: inputs that are all alike against random ones. And the disassembly is searched.
#![cfg(target_arch = "x86_64")]

pub(crate) mod memcheck;
pub(crate) mod planted;
pub(crate) mod rules;
mod timing;
pub(crate) mod trace;
mod undefined;

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use crate::{disassembly, traces};

/// By their arguments. Memcheck's has two parts, which run under Valgrind.
pub(crate) const CHECKS: &[(&str, fn() -> bool)] = &[
    ("all", all),
    ("memcheck", undefined::check),
    (undefined::PLANTED, undefined::planted),
    (undefined::KERNELS, undefined::kernels),
    ("traces", traces::check),
    ("disassembly", disassembly::check),
    ("time", timing::check),
];

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
