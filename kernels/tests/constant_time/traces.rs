//! Two runs with other secrets compared: what differs between them is a leak where an instruction
//! takes an address from it, or jumps on it. How programs are traced differs by architecture.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use core::hint::black_box;
use std::collections::BTreeMap;

use lanecrypt_kernels::Isa;

use crate::secrets::Secrets;
use crate::target::{memcheck, trace};
use crate::{disassembly, fail, kernels, planted};

/// A leak: its kind, the function, the instruction.
pub(crate) type Leak = [&'static str; 3];

pub(crate) fn check() -> bool {
    println!("Run twice with other secrets, instruction by instruction");
    let code = Code::of_program();
    let leaks = |name: &str, run: &dyn Fn(&mut Secrets)| {
        trace::leaks(&code, run).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let mut all = true;
    for leak in planted::ALL {
        let leaks = leaks(leak.name, &|secrets| {
            // A branch shows only when the two secrets go different ways.
            for _ in 0..trace::DRAWS {
                let secret = secrets.bytes();
                (leak.run)(black_box(&secret));
            }
        });
        let function = format!("<constant_time::planted::{}>", leak.name.replace('-', "_"));
        let found = leaks.iter().any(|shown| shown[..2] == [leak.kind, &function]);
        all &= planted::report(leak.name, found) || fail("the trace misses a planted leak");
    }
    // Only what Valgrind cannot see.
    for kernel in kernels::ALL {
        for &level in kernel.levels.iter().filter(|&&l| !memcheck::sees(l) && l.is_built()) {
            let isa = Isa::of_processor().at_most(level);
            let name = format!("{:<14} {level:<9}", kernel.name);
            if isa.level() != level {
                println!("{name} not available on this processor");
                continue;
            }
            let leaks = leaks(&name, &|secrets| (kernel.run)(isa, secrets));
            leaks.iter().for_each(|leak| println!("{} {level}: {}", kernel.name, leak.join(": ")));
            println!("{name} {}", if leaks.is_empty() { "clean" } else { "LEAKS" });
            all &= leaks.is_empty() || fail("the trace shows leaks");
        }
    }
    all
}

/// Each instruction after its function, by address.
pub(crate) struct Code {
    instructions: BTreeMap<u64, [&'static str; 2]>,
    base: u64,
}

impl Code {
    fn of_program() -> Self {
        let functions = disassembly::functions().into_iter();
        let instructions = functions.flat_map(|function| {
            let each = function.instructions.into_iter();
            each.map(move |(address, text)| (address, [function.name, text]))
        });
        Self { instructions: instructions.collect(), base: base() }
    }

    /// Function and instruction at an address; none outside of the program's own code.
    pub(crate) fn at(&self, pointer: u64) -> Option<[&'static str; 2]> {
        self.instructions.get(&pointer.wrapping_sub(self.base)).copied()
    }
}

/// Where the program was loaded: the first line of the first file that is mapped.
fn base() -> u64 {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("/proc is there on Linux");
    let first = maps.split('-').next().expect("a program is mapped somewhere");
    u64::from_str_radix(first, 16).expect("the kernel writes hexadecimal addresses")
}
