//! Other processors, by emulators. `.cargo/config.toml` names their linkers.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::check::has_target;
use crate::debian;
use crate::programs::{self, Kind, Program};
use crate::queue::{Report, Test};
use crate::suite;

/// A processor, and what runs programs for it.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// The emulator with its arguments; empty if this processor runs the programs itself.
    pub(crate) emulator: &'static str,
    /// Where qemu looks for the loader and shared libraries; empty for programs that need none.
    pub(crate) libraries: &'static str,
    /// The commands that are needed, and the Debian packages that have them.
    pub(crate) needs: &'static [&'static str],
    pub(crate) packages: &'static str,
}

const S390X: Target = Target {
    name: "s390x-unknown-linux-gnu",
    emulator: "qemu-s390x",
    libraries: "/usr/s390x-linux-gnu",
    needs: &["qemu-s390x", "s390x-linux-gnu-gcc"],
    packages: "qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross",
};
pub(crate) const ARM64: Target = Target {
    name: "aarch64-unknown-linux-gnu",
    emulator: "qemu-aarch64",
    libraries: "/usr/aarch64-linux-gnu",
    needs: &["qemu-aarch64", "aarch64-linux-gnu-gcc"],
    packages: "qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
};
const ARM64_MUSL: Target = Target {
    name: "aarch64-unknown-linux-musl",
    emulator: "qemu-aarch64",
    libraries: "",
    needs: &["qemu-aarch64"],
    packages: "qemu-user",
};
const I686: Target = Target {
    name: "i686-unknown-linux-musl",
    emulator: "",
    libraries: "",
    needs: &[],
    packages: "",
};
const WASI: Target = Target {
    name: "wasm32-wasip1",
    emulator: "node --no-warnings scripts/wasi.mjs",
    libraries: "",
    needs: &["node"],
    packages: "nodejs",
};

/// Modules of tests whose subject is the kernel of the system, which qemu stands in for: advice on
/// memory, what a fork inherits (without which nothing is buffered), locked memory, restartable
/// sequences, system-call filters, loading of libraries; and a test that starts its program.
const OF_THE_SYSTEM: [&str; 17] = [
    "bytes",
    "entropy",
    "erasure",
    "fork",
    "forks",
    "frames",
    "huge",
    "key_memory",
    "locked",
    "per_cpu",
    "recovery",
    "rekeying",
    "shared",
    "signals",
    "the_variable_of_the_start_counts",
    "threads",
    "unload",
];

/// An emulator takes 10 to 50 times as long as a processor.
const LIMIT: Duration = Duration::from_secs(1800);
const CASES: &str = "20";

impl Target {
    /// Whether its programs can be built and run here. Says what is skipped.
    pub(crate) fn is_usable(&self, name: &str) -> bool {
        let path = env::var_os("PATH").unwrap_or_default();
        let is_here = |command: &&str| env::split_paths(&path).any(|it| it.join(command).is_file());
        if !self.needs.iter().all(is_here) {
            println!("SKIPPED {name}-{}: apt install {}", self.name, self.packages);
            return false;
        }
        has_target(self.name, name)
    }

    /// Builds by cargo for this target.
    pub(crate) fn build(&self, arguments: &[&str]) -> Vec<Program> {
        programs::build(&[arguments, &["--target", self.name]].concat()).unwrap_or_default()
    }

    /// A command that runs a program of this target.
    fn command(&self, program: &Path) -> Command {
        self.command_with(&[], program)
    }

    /// The same with more arguments for the emulator.
    pub(crate) fn command_with(&self, arguments: &[&str], program: &Path) -> Command {
        let words = self.emulator.split_whitespace().chain(arguments.iter().copied());
        let mut words = words.map(Path::new).chain([program]);
        let mut command = Command::new(words.next().expect("there is the program at least"));
        command.args(words);
        if !self.libraries.is_empty() {
            command.env("QEMU_LD_PREFIX", self.libraries);
        }
        command
    }
}

/// Vectors, properties and random numbers on a big-endian processor and one of 32 bits, or on
/// `all`.
pub(crate) fn elsewhere(all: bool) -> bool {
    let targets = if all { &[S390X, I686, ARM64_MUSL, WASI][..] } else { &[S390X, I686] };
    let mut report = Report::default();
    for target in targets.iter().filter(|target| target.is_usable("elsewhere")) {
        println!("target: {}", target.name);
        let package = ["build", "-planecrypt-testing", "--features=engine", "--bin=elsewhere"];
        let built = target.build(&package);
        let program = built.iter().find(|it| it.name == "testing/elsewhere");
        let status = program.map(|it| target.command(&it.file).status());
        report.check(target.name, matches!(status, Some(Ok(status)) if status.success()));
    }
    report.print()
}

/// The tests of kernels, ciphers, generators, engine and RSA on s390x, which is big-endian, and on
/// arm64; then the program's own test, a short `speed`, whose figures must be marked, and the C
/// library; on arm64 also the OpenSSL provider and the Python package.
pub(crate) fn tests() -> bool {
    let mut report = Report::default();
    for target in [S390X, ARM64].iter().filter(|target| target.is_usable("cross")) {
        println!("target: {}", target.name);
        let tests = tests_of(target, &LIBRARIES, &mut report);
        report.run(tests, LIMIT);
        check_program(target, &mut report);
        check_c(target, &mut report);
    }
    if ARM64.is_usable("cross") {
        check_bindings(&mut report);
    }
    report.print()
}

/// Cargo's arguments for the libraries that are tested on both.
const LIBRARIES: [&str; 12] = [
    "-planecrypt-kernels",
    "-planecrypt-kernels-legacy",
    "-planecrypt-ciphers",
    "-planecrypt-random",
    "-planecrypt-engine",
    "-planecrypt-accelerators",
    "-planecrypt-pk",
    "-planecrypt-rsa",
    "--features=lanecrypt-engine/legacy",
    "--features=lanecrypt-accelerators/rsa",
    "--features=lanecrypt-engine/rsa",
    "--features=lanecrypt-ciphers/rustcrypto",
];

fn tests_of(target: &Target, arguments: &[&str], report: &mut Report) -> Vec<Test> {
    tests_in(target, &target.build(&[&["test", "--no-run"], arguments].concat()), report)
}

/// The tests in these programs, but for those that an emulator cannot run.
pub(crate) fn tests_in(target: &Target, built: &[Program], report: &mut Report) -> Vec<Test> {
    report.check(&format!("{}: the build", target.name), !built.is_empty());
    let plugin = built.iter().find(|it| it.kind == Kind::Library);
    let mut tests = Vec::new();
    for program in built.iter().filter(|it| it.kind == Kind::Test) {
        let command = || {
            let mut command = target.command(&program.file);
            command.envs(plugin.map(|it| ("LANECRYPT_PLUGIN", &it.file)));
            command.current_dir(&program.folder);
            // Own harnesses start their cases by the emulator, too.
            command.env("LANECRYPT_ISA", "");
            if !target.emulator.is_empty() {
                command.env("LANECRYPT_EMULATOR", target.emulator);
            }
            // Those of the engine count what must happen in the usual number of cases.
            if !["engine", "accelerators"].iter().any(|it| program.folder.ends_with(it)) {
                command.env(
                    "LANECRYPT_CASES",
                    env::var_os("LANECRYPT_CASES").unwrap_or_else(|| CASES.into()),
                );
            }
            command
        };
        let Some((names, _)) = programs::list(command) else {
            report.check(&format!("{} {}: the list", target.name, program.name), false);
            continue;
        };
        for name in names {
            let is_of_the_system =
                OF_THE_SYSTEM.iter().any(|module| name.split("::").any(|it| it == *module));
            if is_of_the_system && !target.emulator.is_empty() {
                continue;
            }
            let mut command = command();
            command.args(["--exact", &name, "--nocapture"]);
            let program = format!("{} {}", target.name, program.name);
            tests.push(Test { program, name, command, has_result: true });
        }
    }
    tests
}

/// The program: its vectors, and what it says of figures that an emulator measured.
fn check_program(target: &Target, report: &mut Report) {
    let built = target.build(&["build", "-planecrypt-cli"]);
    let Some(program) = built.iter().find(|it| it.name == "cli/lanecrypt") else {
        return report.check(&format!("{}: the program's build", target.name), false);
    };
    let results = suite::target().join("emulated.json");
    let results = results.to_str().expect("the folder of build results is UTF-8");
    let mut check = |arguments: &[&str], text: &str| {
        let output =
            target.command(&program.file).args(arguments).output().expect("qemu can be started");
        let has = [output.stdout, output.stderr]
            .iter()
            .any(|it| String::from_utf8_lossy(it).contains(text));
        let name = format!("{}: {}", target.name, arguments[..2.min(arguments.len())].join(" "));
        report.check(&name, output.status.success() && has);
    };
    check(&["check", "--self-test"], "ok");
    let rows = "random/lanecrypt*/fill/32/*";
    check(
        &[
            "speed", "random", "--quick", "--budget", "20s", "--peers", "none", "--only", rows,
            "--json", results,
        ],
        "EMULATED",
    );
    check(&["compare", results, results], "EMULATED");
    check(&["report", results, "--markdown"], "EMULATED");
    check(&["info"], "EMULATED");
    let emulator = target.emulator.split_whitespace().next().unwrap_or_default();
    let marked = fs::read_to_string(results)
        .is_ok_and(|it| it.contains(&format!("\"emulator\": \"{emulator}\"")));
    report.check(&format!("{}: the results are marked", target.name), marked);
}

/// The C library, installed and linked as users do.
fn check_c(target: &Target, report: &mut Report) {
    let compiler = target.needs[1];
    let prefix = suite::target().join(target.name).join("c");
    let installed = Command::new("scripts/c-install.sh")
        .args([&prefix])
        .envs([("CARGO_BUILD_TARGET", target.name), ("CC", compiler)])
        .status();
    let is_installed = matches!(installed, Ok(status) if status.success());
    report.check(&format!("{}: the C library", target.name), is_installed);
    let key = ["rsa/tests/key.pem", "surfaces/c/tests/public.pem", "surfaces/c/tests/message.sig"];
    let folder = prefix.display().to_string();
    let fixture = |name: &str| format!("stream/tests/files/{name}.lanecrypt");
    let files = [folder, fixture("aes-256-gcm"), fixture("passphrase")];
    let vectors = ["vectors/aes.jsonl", "vectors/chacha20poly1305.jsonl", "vectors/gcm.jsonl"];
    let arguments = [key.map(String::from), vectors.map(String::from), files];
    for (name, arguments) in ["calls", "vectors", "file"].into_iter().zip(arguments) {
        let program = prefix.join(name);
        let compiled = Command::new(compiler)
            .args(["-std=c99", "-O1", "-pthread", "-Wl,--no-as-needed", "-llanecrypt", "-o"])
            .arg(&program)
            .arg(format!("surfaces/c/tests/{name}.c"))
            .arg(format!("-I{}", prefix.join("include").display()))
            .arg(format!("-L{}", prefix.join("lib").display()))
            .status();
        let mut command = target.command(&program);
        command.args(arguments).env("LD_LIBRARY_PATH", prefix.join("lib"));
        let run = compiled.and_then(|_| command.status());
        let passed = matches!(run, Ok(status) if status.success());
        report.check(&format!("{}: C {name}", target.name), passed);
    }
}

/// The OpenSSL provider and the Python package, with Debian's OpenSSL and Python for arm64.
fn check_bindings(report: &mut Report) {
    let Some(target) = debian_arm64() else {
        for name in ["openssl", "python"] {
            println!("SKIPPED cross-{name}: needs apt-get and a mirror that has arm64");
        }
        return;
    };
    let tests = tests_of(&target, &["-planecrypt-openssl", "--test=provider"], report);
    report.run(tests, LIMIT);
    check_python(&target, None, report);
}

/// Tests a wheel for arm64 with Debian's Python.
pub(crate) fn wheel(wheel: &Path, report: &mut Report) {
    match debian_arm64() {
        Some(target) => check_python(&target, Some(wheel), report),
        None => println!("SKIPPED cross-python: needs apt-get and a mirror that has arm64"),
    }
}

/// Where Debian's packages for arm64 are unpacked.
fn debian_folder() -> PathBuf {
    suite::target().join(ARM64.name).join("debian")
}

/// Arm64 with Debian's OpenSSL and Python.
fn debian_arm64() -> Option<Target> {
    let packages = ["libssl3", "python3", "libstdc++6"];
    let root = debian::unpacked(&debian_folder(), "arm64", &packages)?;
    let libraries = root.to_str().expect("the folder of build results is UTF-8").to_owned();
    Some(Target { libraries: libraries.leak(), ..ARM64 })
}

/// What the tests of the Python package use, for arm64, in a folder beside an environment of this
/// machine that has maturin; `None` if it cannot be had.
fn python(folder: &Path) -> Option<PathBuf> {
    let packages = folder.join("packages");
    let _ = fs::remove_dir_all(&packages);
    // The one that is unpacked, such as `python3.11`.
    let python = fs::read_link(folder.join("root/usr/bin/python3")).ok()?;
    let version = python.to_str()?.strip_prefix("python")?;
    let run = |command: &mut Command| command.status().ok().filter(|status| status.success());
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("env")))?;
    let pip = || {
        let mut command = Command::new(folder.join("env/bin/pip"));
        command.args(["install", "--quiet", "--disable-pip-version-check"]);
        command
    };
    run(pip().arg("maturin>=1.16,<2"))?;
    let platforms = ["--platform=manylinux_2_28_aarch64", "--platform=manylinux2014_aarch64"];
    run(pip()
        .args(platforms)
        .args([&format!("--python-version={version}"), "--only-binary=:all:"])
        .arg("--constraint=surfaces/python/tests/requirements.txt")
        .arg("--target")
        .arg(&packages)
        .args(["pytest", "cryptography", "numpy", "pandas", "polars", "pyarrow"]))?;
    Some(packages)
}

/// A wheel of the Python package, or a new one, and its tests but for those that start Python once
/// more, which the kernel refuses, or that are about Spark or types.
fn check_python(target: &Target, wheel: Option<&Path>, report: &mut Report) {
    let Some(packages) = python(&debian_folder()) else {
        println!("SKIPPED cross-python: needs python3-venv and pypi.org, or a mirror");
        return;
    };
    let built = if wheel.is_none() { build_wheel(target, &packages) } else { None };
    let Some(wheel) = wheel.or(built.as_deref()) else {
        return report.check(&format!("{}: the Python wheel", target.name), false);
    };
    let installed = Command::new(packages.with_file_name("env").join("bin/pip"))
        .args(["install", "--quiet", "--no-deps", "--platform=linux_aarch64"])
        .args(["--platform=manylinux_2_28_aarch64", "--target"])
        .args([&packages, wheel])
        .status();
    let root = suite::root().join("surfaces/python");
    let mut command = target.command(&Path::new(target.libraries).join("usr/bin/python3"));
    command
        .args(["-m", "pytest", "-p", "no:cacheprovider", "-c"])
        .args([&root.join("pyproject.toml"), &root.join("tests")])
        .args(
            ["spark", "frames", "memory"]
                .map(|it| format!("--ignore-glob={}/tests/test_{it}*", root.display())),
        )
        .args(["-k", "not stubs and not types and not new_process"])
        .envs([("PYTHONDONTWRITEBYTECODE", "1"), ("LANECRYPT_ISA", "")])
        .env("PYTHONPATH", &packages)
        .current_dir(&packages);
    let run = installed.and_then(|_| command.status());
    let passed = matches!(run, Ok(status) if status.success());
    report.check(&format!("{}: the Python package", target.name), passed);
}

fn build_wheel(target: &Target, packages: &Path) -> Option<PathBuf> {
    let folder = packages.with_file_name("wheel");
    let _ = fs::remove_dir_all(&folder);
    let built = Command::new(packages.with_file_name("env").join("bin/maturin"))
        .args(["build", "--locked", "--profile=quick", "--compatibility=linux"])
        .args(["--target", target.name, "--out"])
        .arg(&folder)
        .current_dir("surfaces/python")
        .env("CARGO_TARGET_DIR", suite::target().join("python"))
        .status();
    let wheel = fs::read_dir(&folder).ok().and_then(|mut files| files.next()?.ok());
    built.ok().filter(|status| status.success()).and(wheel).map(|it| it.path())
}
