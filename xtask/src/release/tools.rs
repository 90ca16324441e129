//! The programs that a release is made with. Those of PyPI and crates.io are of fixed versions and
//! in the folder of build results, where they are installed once.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Arch, Outcome, Part, copy, debian, output, run_command};
use crate::check::has_target;
use crate::suite;

const REQUIREMENTS: &str = "packaging/requirements.txt";

/// Programs of the system, and their Debian packages.
const OF_THE_SYSTEM: [(&str, &str); 5] = [
    ("tar", "tar"),
    ("gzip", "gzip"),
    ("sha256sum", "coreutils"),
    ("readelf", "binutils"),
    ("awk", "mawk"),
];

/// Crates with a program, and what installs it.
const CARGO_ABOUT: (&str, &str) = ("cargo-about", "0.9.3");
const CARGO_CYCLONEDX: (&str, &str) = ("cargo-cyclonedx", "0.5.9");

pub(super) struct Tools {
    /// What was found or installed. Caches are here, too.
    folder: PathBuf,
}

impl Tools {
    /// Finds what the parts need, and installs what is of PyPI. The error names all that is
    /// missing.
    pub(super) fn get(parts: &[Part], archs: &[Arch]) -> Outcome<Self> {
        let tools = Self { folder: suite::target().join("release-tools") };
        let mut missing: Vec<String> = OF_THE_SYSTEM
            .iter()
            .filter(|(program, _)| find(program).is_none())
            .map(|(program, package)| format!("{program}: apt install {package}"))
            .collect();
        for arch in archs.iter().filter(|_| parts.contains(&Part::System)) {
            let packages = debian::missing(arch.name());
            missing.extend(packages.iter().map(|it| format!("{it}: apt install {it}")));
        }
        for target in archs.iter().map(|it| it.gnu()) {
            let is_built = parts.iter().any(|it| matches!(it, Part::System | Part::Python));
            if is_built && !has_target(&target, "release") {
                missing.push(format!("{target}: rustup target add {target}"));
            }
        }
        if !missing.is_empty() {
            return Err(format!("these are missing:\n{}", missing.join("\n")));
        }
        if parts.iter().any(|&it| it != Part::Crates) {
            tools.install_python()?;
        }
        Ok(tools)
    }

    /// Installs what lists crates and licences.
    pub(super) fn install_crates(&self) -> Outcome {
        self.install_crate(CARGO_ABOUT)?;
        self.install_crate(CARGO_CYCLONEDX)
    }

    /// A command of the virtual environment, with its programs in the path.
    pub(super) fn command(&self, program: &str, arch: Arch) -> Command {
        let mut command = Command::new(self.folder.join("env/bin").join(program));
        self.environment(&mut command, arch);
        command
    }

    /// Puts the programs of the virtual environment into the path of a command.
    pub(super) fn environment(&self, command: &mut Command, arch: Arch) {
        let path = env::var_os("PATH").unwrap_or_default();
        let bin = self.folder.join("env/bin");
        let path = env::join_paths([bin].into_iter().chain(env::split_paths(&path)));
        command.env("PATH", path.expect("parts of PATH were joined before"));
        command.env("ZIG_GLOBAL_CACHE_DIR", self.cache_of_zig(arch));
        command.env("ZIG_LOCAL_CACHE_DIR", self.folder.join("zig-objects"));
        command.env("CARGO_ZIGBUILD_CACHE_DIR", self.folder.join("zigbuild"));
    }

    /// Where zig keeps its own libraries.
    pub(super) fn cache_of_zig(&self, arch: Arch) -> PathBuf {
        self.folder.join("zig").join(arch.name())
    }

    /// A command of a crate, as cargo calls it: `cargo-about about`.
    pub(super) fn of_crate(&self, program: &str) -> Command {
        let mut command = Command::new(self.of_crates().join("bin").join(program));
        command.arg(program.trim_start_matches("cargo-"));
        command
    }

    /// What is installed once can serve other clones, too.
    fn of_crates(&self) -> PathBuf {
        env::var_os(OF_CRATES).map_or_else(|| self.folder.join("crates"), PathBuf::from)
    }

    /// The libraries of zig, with their licences.
    pub(super) fn zig_library(&self) -> Outcome<PathBuf> {
        let mut python = Command::new(self.folder.join("env/bin/python"));
        let code = "import os, ziglang; print(os.path.dirname(ziglang.__file__))";
        Ok(PathBuf::from(output(python.args(["-c", code]))?).join("lib"))
    }

    /// The environment is renewed when the file of requirements changes.
    fn install_python(&self) -> Outcome {
        let env = self.folder.join("env");
        let stamp = env.join("requirements.txt");
        if fs::read_to_string(&stamp).ok() == fs::read_to_string(REQUIREMENTS).ok() {
            return Ok(());
        }
        let missing = |it| format!("{it}\npython3 with venv: apt install python3-venv");
        run_command(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&env))
            .map_err(missing)?;
        run_command(Command::new(env.join("bin/pip")).args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
            "--requirement",
            REQUIREMENTS,
        ]))
        .map_err(|it| format!("{it}\n{REQUIREMENTS}: needs pypi.org, or a mirror"))?;
        copy(Path::new(REQUIREMENTS), &stamp)
    }

    fn install_crate(&self, (name, version): (&str, &str)) -> Outcome {
        let is_here = Command::new(self.of_crates().join("bin").join(name))
            .args([name.trim_start_matches("cargo-"), "--version"])
            .stderr(Stdio::null())
            .output()
            .is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains(version));
        if is_here {
            return Ok(());
        }
        println!("installs {name} {version}, once");
        let mut install = suite::cargo();
        install.args(["install", "--quiet", "--locked", "--version", version, "--root"]);
        install.arg(self.of_crates()).arg("--target-dir").arg(self.folder.join("target"));
        // Optimised is only what compares licences: the rest would take longer to compile than it
        // runs.
        let profile = ["opt-level=0", "lto=false", "debug=false", "codegen-units=16"];
        let slow = ["spdx", "regex-automata", "aho-corasick", "memchr", "unicode-normalization"];
        let slow = slow.map(|it| format!("package.{it}.opt-level=3"));
        for setting in profile.iter().copied().chain(slow.iter().map(String::as_str)) {
            install.arg(format!("--config=profile.release.{setting}"));
        }
        if name == CARGO_ABOUT.0 {
            install.args(["--features", "cli"]);
        }
        let installed = run_command(install.arg(name));
        installed.map_err(|it| format!("{it}\n{name}: cargo install --locked {name}@{version}"))?;
        let _ = fs::remove_dir_all(self.folder.join("target"));
        Ok(())
    }
}

/// Names the folder of the programs that crates.io has, for the second of two builds.
pub(super) const OF_CRATES: &str = "LANECRYPT_RELEASE_CRATES";

fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|it| it.join(program)).find(|it| it.is_file())
}
