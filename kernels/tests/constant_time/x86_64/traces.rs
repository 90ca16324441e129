//! Traces judged: what differs between two runs is a leak where an instruction takes an address
//! from it, or jumps on it.

use core::hint::black_box;
use std::collections::BTreeMap;

use lanecrypt_kernels::Isa;

use crate::x86_64::secrets::Secrets;
use crate::x86_64::{disassembly, fail, kernels, memcheck, planted, trace};

pub(crate) fn check() -> bool {
    println!("Run twice with other secrets, instruction by instruction");
    let code = Code::of_program();
    let mut all = true;
    for leak in planted::ALL {
        let leaks = code.leaks(leak.name, |secrets| {
            // A branch shows only when the two secrets go different ways.
            for _ in 0..8 {
                let secret = secrets.bytes();
                (leak.run)(black_box(&secret));
            }
        });
        let function = format!("<constant_time::x86_64::planted::{}>", leak.name.replace('-', "_"));
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
            let leaks = code.leaks(&name, |secrets| (kernel.run)(isa, secrets));
            leaks.iter().for_each(|leak| println!("{} {level}: {}", kernel.name, leak.join(": ")));
            println!("{name} {}", if leaks.is_empty() { "clean" } else { "LEAKS" });
            all &= leaks.is_empty() || fail("the trace shows leaks");
        }
    }
    all
}

/// Each instruction after its function, by address.
struct Code(BTreeMap<u64, [&'static str; 2]>);

impl Code {
    fn of_program() -> Self {
        let functions = disassembly::functions().into_iter();
        let instructions = functions.flat_map(|function| {
            let each = function.instructions.into_iter();
            each.map(move |(address, text)| (address, [function.name, text]))
        });
        Self(instructions.collect())
    }

    /// Each leak of `run`: its kind, the function, the instruction.
    fn leaks(&self, name: &str, run: impl Fn(&mut Secrets)) -> Vec<[&'static str; 3]> {
        let trace = trace::compare(run).unwrap_or_else(|error| panic!("{name}: {error}"));
        let base = base();
        let at = |pointer: u64| self.0.get(&pointer.wrapping_sub(base)).copied();
        let differed = trace.differed.iter().filter_map(|(&pointer, &bits)| {
            let [function, instruction] = at(pointer)?;
            let mut registers = trace::NAMES.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
            let kind = registers.find_map(|(_, register)| kind(instruction, register))?;
            Some([kind, function, instruction])
        });
        // A branch outside of the program's own code has no line there.
        let parted = trace.parted.map(|pointer| at(pointer).unwrap_or_default());
        let parted = parted.map(|[function, instruction]| ["branch", function, instruction]);
        parted.into_iter().chain(differed).collect()
    }
}

/// The kind of leak that an instruction is when this register, or these flags, differ.
fn kind(instruction: &str, register: &str) -> Option<&'static str> {
    let name = instruction.split(' ').next()?;
    match register {
        // The only jump that reads a register, and no flag.
        "rcx" if name == "jrcxz" => Some("branch"),
        _ if name == "jrcxz" => None,
        "flags" => (name.starts_with('j') && name != "jmp").then_some("branch"),
        "carry" => ["ja", "jae", "jb", "jbe", "jc", "jnc"].contains(&name).then_some("branch"),
        // These only look as if they read memory.
        _ if ["lea", "nop", "cs nop", "data16"].iter().any(|n| instruction.starts_with(n)) => None,
        _ => {
            let place = instruction.split_once('[')?.1.split(']').next()?;
            let mut parts = place.split(|c: char| !c.is_ascii_alphanumeric());
            parts.any(|part| part == register).then_some("address")
        }
    }
}

/// Where the program was loaded: the first line of the first file that is mapped.
fn base() -> u64 {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("/proc is there on Linux");
    let first = maps.split('-').next().expect("a program is mapped somewhere");
    u64::from_str_radix(first, 16).expect("the kernel writes hexadecimal addresses")
}
