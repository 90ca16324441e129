//! The generators: what they give out, what they leave behind, and that nothing comes out twice.
//! One program, because linking is what takes most of the time of a small one; each case runs in a
//! process of its own.

use lanecrypt_testing::harness::{self, Case};
use lanecrypt_testing::on_x86_64;

mod bias;
mod common;
mod entropy;
mod fork;
#[cfg(all(feature = "getrandom_backend", target_os = "linux"))]
mod getrandom_backend;
mod insecure;
mod per_cpu;
mod range;
mod recovery;
mod rekeying;
mod shared;
mod streams;
mod threads;
mod unload;
mod x86_64;

fn main() {
    let modules: &[&[Case]] = &[
        bias::CASES,
        entropy::CASES,
        fork::CASES,
        #[cfg(all(feature = "getrandom_backend", target_os = "linux"))]
        getrandom_backend::CASES,
        insecure::CASES,
        per_cpu::CASES,
        range::CASES,
        recovery::CASES,
        rekeying::CASES,
        shared::CASES,
        streams::CASES,
        threads::CASES,
        unload::CASES,
    ];
    let x86_64: &[&[Case]] = on_x86_64!(&x86_64::CASES, &[]);
    harness::run(&[modules, x86_64].concat());
}
