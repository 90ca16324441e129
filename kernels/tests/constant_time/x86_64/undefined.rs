//! Every kernel under memcheck with its secrets undefined.

use core::hint::black_box;
use std::process::{Command, Stdio};

use lanecrypt_kernels::Isa;

use crate::secrets::Secrets;
use crate::x86_64::memcheck;
use crate::{fail, kernels, planted};

/// Arguments of what runs under Valgrind.
pub(crate) const PLANTED: &str = "memcheck-planted";
pub(crate) const KERNELS: &str = "memcheck-kernels";

pub(crate) fn check() -> bool {
    println!("With secrets undefined (valgrind memcheck)");
    under_valgrind(PLANTED, "memcheck misses a planted leak")
        & under_valgrind(KERNELS, "memcheck reports:")
}

/// Runs this program with an argument; if that fails, prints what memcheck said.
fn under_valgrind(argument: &str, failure: &str) -> bool {
    let mut valgrind = Command::new("valgrind");
    // Sums of partly unknown numbers need the expensive checks.
    valgrind.args(["-q", "--error-limit=no", "--expensive-definedness-checks=yes"]);
    valgrind.args(["--num-callers=4", "--suppressions=tests/constant_time/valgrind.supp"]);
    valgrind.current_dir(env!("CARGO_MANIFEST_DIR")).stdout(Stdio::inherit());
    valgrind.arg(std::env::current_exe().expect("Linux knows the program's file")).arg(argument);
    let output = valgrind.output().expect("valgrind runs");
    let ok = output.status.success() || fail(failure);
    if !ok {
        print!("{}", String::from_utf8_lossy(&output.stderr));
    }
    ok
}

/// Whether memcheck reports each planted leak.
pub(crate) fn planted() -> bool {
    let mut all = memcheck::is_here();
    for leak in planted::ALL {
        let secret = Secrets::new(1).bytes();
        let before = memcheck::errors();
        (leak.run)(black_box(&secret));
        all &= planted::report(leak.name, memcheck::errors() > before);
    }
    all
}

/// Whether memcheck is silent on every kernel that it lets the program see, but for verdicts.
pub(crate) fn kernels() -> bool {
    let mut all = memcheck::is_here();
    for kernel in kernels::ALL {
        for &level in kernel.levels.iter().filter(|level| level.is_built()) {
            let isa = Isa::of_processor().at_most(level);
            let outcome = if isa.level() == level {
                let (before, mut secrets) = (memcheck::errors(), Secrets::new(2));
                (kernel.run)(isa, &mut secrets);
                let found = memcheck::errors() - before;
                if found == secrets.verdicts() { "clean" } else { "LEAKS" }
            } else if !memcheck::sees(level) {
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
