//! Debian packages of what `cargo xtask release` has built. `packaging/debian` has what debhelper
//! reads; this module adds the files, the version and the licences, and starts it.

mod arm64;
mod copyright;
mod root;
pub(crate) mod test;
mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::queue::Report;
use crate::suite;

/// A processor, by its names.
struct Architecture {
    /// That of Rust, by which the release calls it.
    rust: &'static str,
    debian: &'static str,
    /// Libraries are in a folder of this name.
    multiarch: &'static str,
    target: &'static str,
}

const ARCHITECTURES: [Architecture; 2] = [
    Architecture {
        rust: "x86_64",
        debian: "amd64",
        multiarch: "x86_64-linux-gnu",
        target: "x86_64-unknown-linux-gnu",
    },
    Architecture {
        rust: "aarch64",
        debian: "arm64",
        multiarch: "aarch64-linux-gnu",
        target: "aarch64-unknown-linux-gnu",
    },
];

/// Makes the packages of an architecture, `x86_64` or `aarch64`, from the files of a release in
/// `stage`, and copies them to `dist`, those of debug symbols to `dist/debug`. No file is newer
/// than `epoch`, in seconds since 1970. The version is that of the workspace.
pub(crate) fn build(
    architecture: &str,
    stage: &Path,
    dist: &Path,
    epoch: u64,
) -> Result<(), String> {
    let make = || -> io::Result<()> {
        let build = Build { architecture: named(architecture)?, stage, version: &version(), epoch };
        let folder = suite::target().join("debian").join(build.architecture.debian);
        let symbols = dist.join("debug");
        fs::create_dir_all(&symbols)?;
        for package in build.packages(&folder)? {
            let dist = if is_debug(&package) { &symbols } else { dist };
            fs::copy(&package, dist.join(package.file_name().unwrap_or_default()))?;
        }
        Ok(())
    };
    make().map_err(|error| error.to_string())
}

fn named(architecture: &str) -> io::Result<&'static Architecture> {
    let found = ARCHITECTURES.iter().find(|it| it.rust == architecture);
    found.ok_or_else(|| io::Error::other(format!("no packages for {architecture}")))
}

/// That of the workspace; `1.0.0-rc.1` is `1.0.0~rc.1`, which is older than `1.0.0`.
fn version() -> String {
    env!("CARGO_PKG_VERSION").replacen('-', "~", 1).replace('-', ".")
}

/// What packages are made of.
struct Build<'a> {
    architecture: &'static Architecture,
    stage: &'a Path,
    version: &'a str,
    epoch: u64,
}

impl Build<'_> {
    /// Makes the packages in a folder, which is emptied first.
    fn packages(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let tree = folder.join(format!("lanecrypt-{}", self.version));
        tree::lay_out(self, &tree)?;
        let mut command = Command::new("dpkg-buildpackage");
        command
            .args(["--build=binary", "--no-check-builddeps"])
            .args(["--unsigned-changes", "--unsigned-buildinfo"])
            .arg(format!("--host-arch={}", self.architecture.debian))
            .current_dir(&tree)
            .env("SOURCE_DATE_EPOCH", self.epoch.to_string())
            .envs([("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("DEB_BUILD_OPTIONS", "nocheck")]);
        for inherited in ["DEB_BUILD_PROFILES", "DEB_HOST_ARCH", "DH_VERBOSE", "MAKEFLAGS"] {
            command.env_remove(inherited);
        }
        output_of(&mut command)?;
        let mut packages = Vec::new();
        for file in fs::read_dir(folder)? {
            let file = file?.path();
            // Ubuntu has another name for packages of debug symbols.
            if file.extension().is_some_and(|it| it == "deb" || it == "ddeb") {
                packages.push(file);
            }
        }
        packages.sort();
        Ok(packages)
    }
}

/// The missing ones of Debian's packages that have the commands that this takes.
pub(super) fn missing(architecture: &str) -> Vec<String> {
    let Ok(architecture) = named(architecture) else { return Vec::new() };
    let strip = format!("{}-strip", architecture.multiarch);
    let binutils = format!("binutils-{}", architecture.multiarch.replace('_', "-"));
    let needs = [("dpkg-buildpackage", "dpkg-dev"), ("dh", "debhelper"), (&strip, &binutils)];
    let missing = needs.iter().filter(|(command, _)| !is_command(command));
    let mut missing: Vec<_> = missing.map(|(_, package)| (*package).to_owned()).collect();
    let libraries = Path::new("/usr").join(architecture.multiarch).join("lib/libc.so.6");
    if architecture.rust != std::env::consts::ARCH && !libraries.is_file() {
        missing.push(format!("libc6-{}-cross", architecture.debian));
    }
    missing
}

/// Whether a package has debug symbols.
fn is_debug(package: &Path) -> bool {
    package.file_name().is_some_and(|it| it.to_string_lossy().contains("-dbgsym_"))
}

fn is_command(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|it| it.join(name).is_file())
}

/// What a command prints; if it fails, that is in the error, with its name.
fn output_of(command: &mut Command) -> io::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| io::Error::other(format!("{name}: {error}")))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{name}: {}\n{printed}{errors}", output.status)))
}

/// Notes a failure with its reason.
fn check(report: &mut Report, name: &str, outcome: io::Result<()>) {
    kept(report, name, outcome);
}

fn kept<T>(report: &mut Report, name: &str, outcome: io::Result<T>) -> Option<T> {
    if let Err(error) = &outcome {
        println!("-- {name}\n{error}");
    }
    report.check(name, outcome.is_ok());
    outcome.ok()
}

fn error<T>(text: impl Into<String>) -> io::Result<T> {
    Err(io::Error::other(text.into()))
}
