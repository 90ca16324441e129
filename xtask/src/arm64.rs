//! What can be known of arm64 on other processors, by qemu and a plugin: whether kernels are
//! constant time, and whether they are right on several processors.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

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

/// Traces, disassembly and vectors.
pub(crate) fn check() -> bool {
    let mut report = Report::default();
    if ARM64.is_usable("arm64") {
        let built = ARM64.build(&[
            "build",
            "--release",
            "-planecrypt-kernels",
            "-planecrypt-testing",
            "--features=lanecrypt-testing/engine",
            "--test=constant_time",
            "--bin=elsewhere",
        ]);
        let plugin = plugin();
        let found = |name: &str| built.iter().find(|it| it.name == name);
        match (found("kernels/constant_time"), found("testing/elsewhere"), plugin) {
            (Some(constant_time), Some(elsewhere), Ok(plugin)) => {
                let mut tests = traces(constant_time, &plugin);
                tests.extend(vectors(elsewhere));
                report.run(tests, LIMIT);
            }
            _ => report.check("arm64: the build", false),
        }
    }
    report.print()
}

/// The checks of constant time.
fn traces(program: &Program, plugin: &Path) -> Vec<Test> {
    let plugin = format!("{},do=trace", plugin.display());
    let check = |name: &str, arguments: &[&str]| {
        let mut command = ARM64.command_with(arguments, &program.file);
        command.arg(name).current_dir(&program.folder);
        Test {
            program: "arm64 constant_time".to_owned(),
            name: name.to_owned(),
            command,
            has_result: false,
        }
    };
    // The plugin is for the traces only.
    let traced = ["-cpu", "max", "-plugin", &plugin];
    vec![check("traces", &traced), check("disassembly", &["-cpu", "max"])]
}

fn vectors(program: &Program) -> impl Iterator<Item = Test> {
    PROCESSORS.iter().map(|&(name, arguments, level)| {
        let mut command = ARM64.command_with(arguments, &program.file);
        command.env("LANECRYPT_ISA", level);
        Test {
            program: "arm64 vectors".to_owned(),
            name: name.to_owned(),
            command,
            has_result: false,
        }
    })
}

/// Compiles the plugin of qemu for this processor.
fn plugin() -> io::Result<PathBuf> {
    let folder = suite::target().join("arm64");
    fs::create_dir_all(&folder)?;
    let file = folder.join("plugin.so");
    let status = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
        .args([&file, Path::new("testing/qemu/plugin.c")])
        .status()?;
    if status.success() { Ok(file) } else { Err(io::Error::other("the plugin does not compile")) }
}
