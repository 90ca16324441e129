//! Constant time on AArch64, on any machine: under qemu, whose plugin traces the program.
//!
//! All runs twice with other secrets. The addresses of the instructions that are executed, and
//! those of memory that they access, must be the same. And the disassembly is searched.
#![cfg(target_arch = "aarch64")]

pub(crate) mod memcheck;
pub(crate) mod planted;
pub(crate) mod rules;
pub(crate) mod trace;

use crate::{disassembly, traces};

/// By their arguments.
pub(crate) const CHECKS: &[(&str, fn() -> bool)] =
    &[("all", all), ("traces", traces::check), ("disassembly", disassembly::check)];

fn all() -> bool {
    disassembly::check() & traces::check()
}
