//! Whether what `dist/` has can be installed and used: `cargo xtask release-test`.

use core::time::Duration;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::build::PROGRAM;
use super::{Arch, Outcome, Part, debian, files, output, run_command, write};
use crate::cross::{self, Target};
use crate::programs;
use crate::queue::Report;
use crate::suite;

/// A test of generators, such as one of forks, takes less.
const LIMIT: Duration = Duration::from_secs(600);

type Test = fn(&mut Report) -> Outcome;

/// What is tested, in this order.
const PARTS: [(&str, Test); 4] = [
    ("python", python),
    ("archive", archive),
    ("random", random),
    ("debian", |report| {
        debian::test::run(report);
        Ok(())
    }),
];

/// Runs all tests, or some parts.
pub(crate) fn run(parts: &[&str]) -> bool {
    if let Some(unknown) = parts.iter().find(|it| !PARTS.iter().any(|(name, _)| name == *it)) {
        let names: Vec<_> = PARTS.iter().map(|(name, _)| *name).collect();
        eprintln!("release-test: {unknown} is none of {}", names.join(", "));
        return false;
    }
    let mut report = Report::default();
    for (name, test) in PARTS.iter().filter(|(name, _)| parts.is_empty() || parts.contains(name)) {
        println!("==> release-test {name}");
        if let Err(error) = test(&mut report) {
            println!("{error}");
            report.check(&format!("release {name}"), false);
        }
    }
    report.print()
}

/// The one file of `dist/` whose name has these parts.
fn dist(beginning: &str, arch: Arch, end: &str) -> Outcome<PathBuf> {
    let all = files(&suite::root().join("dist"))?;
    let found = all.into_iter().find(|it| {
        let name = it.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(beginning) && name.contains(arch.name()) && name.ends_with(end)
    });
    found.ok_or_else(|| {
        let arch = arch.name();
        format!("dist/ has no {beginning}…{arch}…{end}: cargo xtask release --arch {arch}")
    })
}

/// The processor of this machine.
fn native() -> Outcome<Arch> {
    let native = Arch::ALL.into_iter().find(|it| it.is_native());
    native.ok_or(format!("there are no packages for {}", env::consts::ARCH))
}

/// The time that users wait, and the tests of the wheel: that of this processor without Rust, that
/// for arm64 by qemu.
fn python(report: &mut Report) -> Outcome {
    let wheel = dist("lanecrypt-", native()?, ".whl")?;
    let path = without_rust()?;
    first_column(&wheel, &path)?;
    let mut tests = Command::new("scripts/python.sh");
    tests.env("WHEEL", &wheel).env("PATH", &path).env("LANECRYPT_ISA", "");
    let passed = run_command(&mut tests);
    report.check("the wheel, without Rust", passed.is_ok());
    if native()?.name() != "aarch64" && cross::ARM64.is_usable("release") {
        cross::wheel(&dist("lanecrypt-", Arch("aarch64"), ".whl")?, report);
    }
    Ok(())
}

/// Installs a wheel into a new environment, encrypts a column, and prints how long both took.
fn first_column(wheel: &Path, path: &std::ffi::OsStr) -> Outcome {
    const CODE: &str = "
import pyarrow
from lanecrypt import columns, token_bytes
key = token_bytes(32)
names, ids = pyarrow.array(['Anne', None, 'Berta']), pyarrow.array([1, 2, 3])
cells = columns.encrypt(names, key, context='people.name', rows=ids)
plain = columns.decrypt(cells, key, context='people.name', rows=ids, text=True)
assert plain.to_pylist() == ['Anne', None, 'Berta'] and cells[0].as_py() != b'Anne'
";
    let env = suite::target().join("release-test/env");
    run_command(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&env))?;
    let pip = |arguments: &[&str]| {
        let mut pip = Command::new(env.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(arguments);
        pip.env("PATH", path);
        pip
    };
    let pyarrow = fs::read_to_string("surfaces/python/tests/requirements.txt").unwrap_or_default();
    let pyarrow = pyarrow.lines().find(|it| it.starts_with("pyarrow")).unwrap_or("pyarrow");
    run_command(&mut pip(&[pyarrow]))?;
    let start = Instant::now();
    run_command(pip(&["--no-index"]).arg(wheel))?;
    let installed = start.elapsed();
    run_command(Command::new(env.join("bin/python")).args(["-c", CODE]))?;
    println!(
        "pip install: {:.1} s, and with the first encrypted column: {:.1} s",
        installed.as_secs_f64(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The path without folders that have a part of Rust.
fn without_rust() -> Outcome<std::ffi::OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let has_rust = |it: &PathBuf| ["cargo", "rustc"].iter().any(|name| it.join(name).exists());
    let path = env::join_paths(env::split_paths(&path).filter(|it| !has_rust(it)));
    let path = path.map_err(|it| it.to_string())?;
    let mut find = Command::new("python3");
    find.args(["-c", "import shutil; print(shutil.which('cargo'))"]).env("PATH", &path);
    match output(&mut find)?.as_str() {
        "None" => Ok(path),
        cargo => Err(format!("{cargo} is still in the path")),
    }
}

/// The programs for systems without packages: that for arm64 runs by qemu.
fn archive(report: &mut Report) -> Outcome {
    for arch in Arch::ALL {
        let root = suite::target().join("release-test").join(arch.name());
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).map_err(|it| it.to_string())?;
        let archive = dist("lanecrypt-", arch, "-linux.tar.gz")?;
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(archive).args(["--strip-components=1", "-C"]).arg(&root);
        run_command(&mut tar)?;
        if !arch.is_native() && !cross::ARM64.is_usable("release") {
            continue;
        }
        let command = || {
            let program = root.join("lanecrypt");
            let mut command = match arch.is_native() {
                true => Command::new(program),
                false => cross::ARM64.command_with(&[], &program),
            };
            command.current_dir(&root);
            command
        };
        let mut check = |name: &str, passed: bool| {
            report.check(&format!("archive {}: {name}", arch.name()), passed);
        };
        let run = |arguments: &[&str]| output(command().args(arguments).stdin(Stdio::null()));
        let random = run(&["random", "--format", "hex", "32"])?;
        let is_hex = random.len() == 64 && random.bytes().all(|it| it.is_ascii_hexdigit());
        check("random", is_hex && run(&["random", "--format", "hex", "32"])? != random);
        check("info", run(&["info"])?.contains("chacha20-poly1305"));
        check("the self-test", run(&["check", "--self-test"])?.contains("ok"));
        let text = "a message\n".repeat(100_000);
        write(&root.join("text"), &text)?;
        run(&["keygen", "my.key"])?;
        run(&["encrypt", "text", "-k", "my.key"])?;
        let sealed = fs::read(root.join("text.lanecrypt")).map_err(|it| it.to_string())?;
        check("encrypt", !sealed.windows(9).any(|it| it == b"a message"));
        fs::remove_file(root.join("text")).map_err(|it| it.to_string())?;
        run(&["decrypt", "text.lanecrypt", "-k", "my.key"])?;
        check("decrypt", fs::read_to_string(root.join("text")).is_ok_and(|it| it == text));
        let mut forged = sealed;
        forged[700_000] ^= 1;
        fs::write(root.join("forged.lanecrypt"), forged).map_err(|it| it.to_string())?;
        let refused = command().args(["decrypt", "forged.lanecrypt", "-k", "my.key"]).output();
        check("a forged file", refused.is_ok_and(|it| it.status.code() == Some(1)));
    }
    Ok(())
}

/// The tests of generators, which depend on how programs are linked, linked as in the release.
fn random(report: &mut Report) -> Outcome {
    let arch = native()?;
    let release = super::Release::new(&[Part::System], &[arch])?;
    let name = arch.gnu().leak();
    let target = Target { name, emulator: "", libraries: "", needs: &[], packages: "" };
    let mut build = release.zigbuild(arch, PROGRAM)?;
    build.args(["-planecrypt-random", "--tests", "--example=plugin"]);
    let built = programs::build_by(&mut build).unwrap_or_default();
    let tests = cross::tests_in(&target, &built, report);
    report.run(tests, LIMIT);
    Ok(())
}
