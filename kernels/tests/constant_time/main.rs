//! Constant time, checked: no branch and no address depends on keys or data.
//!
//! `make test-ct` runs this program in three ways. Under Valgrind, whose memcheck follows undefined
//! memory through every instruction and reports branches and addresses that depend on it; here
//! that memory is the secrets. For the instruction sets that Valgrind does not know, twice with
//! other secrets, instruction by instruction. And for the same, by the clock: inputs that are all
//! alike against random ones. Leaks planted on purpose must be found in all of them. `cargo test`
//! alone does nothing.

mod ciphers;
mod kernels;
mod lanes;
mod memcheck;
#[cfg(feature = "montgomery")]
mod montgomery;
mod planted;
mod secrets;
#[cfg(target_arch = "x86_64")]
mod timing;
#[cfg(target_arch = "x86_64")]
mod trace;

use core::hint::black_box;
use std::process::ExitCode;

use lanecrypt_kernels::{Isa, Level};
use secrets::Secrets;

fn main() -> ExitCode {
    #[cfg(target_arch = "x86_64")]
    planted::forbidden::keep();
    let ok = match std::env::args().nth(1).as_deref() {
        Some("memcheck-planted") => memcheck_planted(),
        Some("memcheck-kernels") => memcheck_kernels(),
        #[cfg(target_arch = "x86_64")]
        Some("trace-planted") => traces::planted(),
        #[cfg(target_arch = "x86_64")]
        Some("trace-kernels") => traces::kernels(),
        #[cfg(target_arch = "x86_64")]
        Some("timing-planted") => timing::planted(),
        #[cfg(target_arch = "x86_64")]
        Some("timing-kernels") => timing::kernels(),
        _ => {
            println!("constant time is checked by `make test-ct`");
            println!("test result: ok. 0 passed; 0 failed; 0 ignored");
            true
        }
    };
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether memcheck reports each planted leak.
fn memcheck_planted() -> bool {
    let mut all = memcheck::is_here();
    for leak in planted::ALL {
        let secret = Secrets::new(1).bytes();
        let before = memcheck::errors();
        (leak.run)(black_box(&secret));
        let found = memcheck::errors() > before;
        println!("planted {}: {}", leak.name, if found { "found" } else { "NOT FOUND" });
        all &= found;
    }
    all
}

/// Whether memcheck is silent on every kernel that it lets the program see, but for verdicts.
fn memcheck_kernels() -> bool {
    let mut all = memcheck::is_here();
    for kernel in kernels::ALL {
        for &level in kernel.levels.iter().filter(|level| level.is_built()) {
            let isa = Isa::of_processor().at_most(level);
            let outcome = if isa.level() == level {
                let (before, mut secrets) = (memcheck::errors(), Secrets::new(2));
                (kernel.run)(isa, &mut secrets);
                let found = memcheck::errors() - before;
                if found == secrets.verdicts() { "clean" } else { "LEAKS" }
            } else if level > Level::Avx2 {
                "not visible to valgrind"
            } else {
                "not available on this processor"
            };
            all &= outcome != "LEAKS";
            println!("{:<14} {level:<9} {outcome}", kernel.name);
        }
    }
    all
}

/// Prints what differed, one instruction a line: `NAME LEVEL branch ADDRESS` or
/// `NAME LEVEL registers ADDRESS REGISTER...`, with addresses as the disassembly has them; after
/// them `NAME LEVEL end`.
#[cfg(target_arch = "x86_64")]
mod traces {
    use super::*;

    pub(super) fn planted() -> bool {
        planted::ALL.iter().all(|leak| {
            report(leak.name, "planted", |secrets| {
                // A branch shows only when the two secrets go different ways.
                for _ in 0..8 {
                    let secret = secrets.bytes();
                    (leak.run)(black_box(&secret));
                }
            })
        })
    }

    /// Only what Valgrind cannot see.
    pub(super) fn kernels() -> bool {
        kernels::ALL.iter().all(|kernel| {
            kernel.levels.iter().filter(|&&l| l > Level::Avx2 && l.is_built()).all(|&level| {
                let isa = Isa::of_processor().at_most(level);
                if isa.level() == level {
                    report(kernel.name, level.name(), |secrets| (kernel.run)(isa, secrets))
                } else {
                    println!("{} {level} unavailable", kernel.name);
                    true
                }
            })
        })
    }

    fn report(name: &str, level: &str, run: impl Fn(&mut Secrets)) -> bool {
        let trace = match trace::compare(run) {
            Ok(trace) => trace,
            Err(error) => {
                eprintln!("{name} {level}: {error}");
                return false;
            }
        };
        let base = base();
        if let Some(pointer) = trace.parted {
            println!("{name} {level} branch {:x}", pointer.wrapping_sub(base));
        }
        for (pointer, bits) in trace.differed {
            print!("{name} {level} registers {:x}", pointer.wrapping_sub(base));
            for (i, register) in trace::NAMES.iter().enumerate() {
                if bits >> i & 1 == 1 {
                    print!(" {register}");
                }
            }
            println!();
        }
        println!("{name} {level} end");
        true
    }

    /// Where the program was loaded: the first line of the first file that is mapped.
    fn base() -> u64 {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("/proc is there on Linux");
        let first = maps.split('-').next().expect("a program is mapped somewhere");
        u64::from_str_radix(first, 16).expect("the kernel writes hexadecimal addresses")
    }
}
