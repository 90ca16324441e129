//! The generators: what they give out, what they leave behind, and that nothing comes out twice.
//! One program, because linking is what takes most of the time of a small one; each case runs in a
//! process of its own.
//!
//! The modules for x86-64 only step through instructions or read registers.

use lanecrypt_testing::harness::{self, Case};

mod bias;
#[cfg(target_arch = "x86_64")]
mod bytes;
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "part is for x86-64 only"))]
mod common;
mod entropy;
#[cfg(target_arch = "x86_64")]
mod erasure;
mod fork;
#[cfg(target_arch = "x86_64")]
mod frames;
#[cfg(all(feature = "getrandom_backend", target_os = "linux"))]
mod getrandom_backend;
mod insecure;
mod per_cpu;
mod range;
mod recovery;
mod rekeying;
mod shared;
#[cfg(target_arch = "x86_64")]
mod signals;
mod streams;
mod threads;
mod unload;

fn main() {
    let modules: &[&[Case]] = &[
        bias::CASES,
        #[cfg(target_arch = "x86_64")]
        bytes::CASES,
        entropy::CASES,
        #[cfg(target_arch = "x86_64")]
        erasure::CASES,
        fork::CASES,
        #[cfg(target_arch = "x86_64")]
        frames::CASES,
        #[cfg(all(feature = "getrandom_backend", target_os = "linux"))]
        getrandom_backend::CASES,
        insecure::CASES,
        per_cpu::CASES,
        range::CASES,
        recovery::CASES,
        rekeying::CASES,
        shared::CASES,
        #[cfg(target_arch = "x86_64")]
        signals::CASES,
        streams::CASES,
        threads::CASES,
        unload::CASES,
    ];
    let cases = modules.iter().copied().flatten();
    let cases: Vec<Case> = cases.map(|&Case(name, body)| Case(name, body)).collect();
    harness::run(&cases);
}
