//! What can be known of arm64 on other processors, by qemu and a plugin: whether kernels are
//! constant time, whether they are right on several processors, and how many instructions requests
//! take.

mod budgets;

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use crate::cross::ARM64;
use crate::programs::Program;
use crate::queue::{Report, Test};
use crate::suite;

/// What is emulated, with the arguments of qemu and the level: each level, processors that lack
/// instructions, and large pages.
const PROCESSORS: [(&str, &[&str], &str); 7] = [
    ("max", &["-cpu", "max"], ""),
    ("max, armaes", &["-cpu", "max"], "armaes"),
    ("max, neon", &["-cpu", "max"], "neon"),
    ("max, portable", &["-cpu", "max"], "portable"),
    ("neoverse-n1", &["-cpu", "neoverse-n1"], ""),
    ("cortex-a53", &["-cpu", "cortex-a53"], ""),
    ("pages of 64 KiB", &["-cpu", "max", "-p", "65536"], ""),
];

const LIMIT: Duration = Duration::from_secs(600);

/// Traces, disassembly, vectors, and instructions of requests; with `update`, their budgets are
/// written.
pub(crate) fn check(update: bool) -> bool {
    let mut report = Report::default();
    if ARM64.is_usable("arm64") {
        match Built::new() {
            Some(built) => {
                let mut tests = built.traces();
                tests.extend(built.vectors());
                report.run(tests, LIMIT);
                let outcome =
                    budgets::check(|arguments, level| built.count(arguments, level), update);
                if let Err(reason) = &outcome {
                    println!("{reason}");
                }
                report.check("arm64: budgets", outcome.is_ok());
            }
            None => report.check("arm64: the build", false),
        }
    }
    report.print()
}

/// What is run.
struct Built {
    constant_time: Program,
    elsewhere: Program,
    counted: Program,
    /// Of qemu, for this processor.
    plugin: PathBuf,
    /// Preloaded where instructions are counted.
    keep: PathBuf,
}

impl Built {
    fn new() -> Option<Self> {
        let built = ARM64.build(&[
            "build",
            "--release",
            "-planecrypt-kernels",
            "-planecrypt-testing",
            "--features=lanecrypt-testing/counted,lanecrypt-kernels/public-key",
            "--test=constant_time",
            "--bin=elsewhere",
            "--bin=counted",
        ]);
        let program = |name: &str| built.iter().find(|it| it.name == name).cloned();
        Some(Self {
            constant_time: program("kernels/constant_time")?,
            elsewhere: program("testing/elsewhere")?,
            counted: program("testing/counted")?,
            plugin: compiled("cc", "plugin")?,
            keep: compiled(ARM64.needs[1], "keep")?,
        })
    }

    /// The checks of constant time. The plugin is for the traces only.
    fn traces(&self) -> Vec<Test> {
        let plugin = format!("{},do=trace", self.plugin.display());
        let check = |name: &str, arguments: &[&str]| {
            let mut command = ARM64.command_with(arguments, &self.constant_time.file);
            command.arg(name).current_dir(&self.constant_time.folder);
            test("arm64 constant_time", name, command)
        };
        let traced = ["-cpu", "max", "-plugin", &plugin];
        vec![check("traces", &traced), check("disassembly", &["-cpu", "max"])]
    }

    fn vectors(&self) -> impl Iterator<Item = Test> {
        PROCESSORS.iter().map(|&(name, arguments, level)| {
            let mut command = ARM64.command_with(arguments, &self.elsewhere.file);
            command.env("LANECRYPT_ISA", level);
            test("arm64 vectors", name, command)
        })
    }

    /// The requests of a processor and level, with their instructions.
    fn count(&self, processor: &str, level: &str) -> io::Result<String> {
        let plugin = format!("{},do=count", self.plugin.display());
        let preload = format!("LD_PRELOAD={}", self.keep.display());
        let libraries = ["-L", ARM64.libraries];
        let arguments = ["-cpu", processor, "-plugin", &plugin, "-E", &preload];
        let arguments = [&libraries[..], &arguments].concat();
        let mut command = ARM64.command_with(&arguments, &self.counted.file);
        let path = env::var_os("PATH").unwrap_or_default();
        // The environment lies on the stack.
        command.env_clear().env("PATH", path).env("LANECRYPT_ISA", level);
        let output = command.output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr)));
        }
        String::from_utf8(output.stdout).map_err(io::Error::other)
    }
}

fn test(program: &str, name: &str, command: Command) -> Test {
    Test { program: program.to_owned(), name: name.to_owned(), command, has_result: false }
}

/// Compiles a shared object of `testing/qemu`.
fn compiled(compiler: &str, name: &str) -> Option<PathBuf> {
    let folder = suite::target().join("arm64");
    fs::create_dir_all(&folder).ok()?;
    let file = folder.join(format!("{name}.so"));
    let source = format!("testing/qemu/{name}.c");
    let status = Command::new(compiler)
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
        .args([&file, Path::new(&source)])
        .status();
    status.is_ok_and(|it| it.success()).then_some(file)
}
