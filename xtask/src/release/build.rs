//! How cargo is called: with zig as compiler of C and as linker, and so that results do not depend
//! on the folders of the clone, of Rust and of cargo.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::symbols::GLIBC;
use super::{Arch, Outcome, Release, files, output};
use crate::suite;

/// The profiles of programs and of libraries for C, which the workspace defines.
pub(super) const PROGRAM: &str = "dist";
pub(super) const LIBRARY: &str = "dist-library";

impl Release {
    /// Cargo's `build` by `cargo-zigbuild`, for programs and libraries that need glibc.
    pub(super) fn zigbuild(&self, arch: Arch, profile: &str) -> Outcome<Command> {
        let mut command = self.tools.command("cargo-zigbuild", arch);
        let (major, minor) = GLIBC;
        command.args(["zigbuild", "--locked", "--profile", profile]);
        command.arg(format!("--target={}.{major}.{minor}", arch.gnu()));
        // Debuggers find what packages have apart from the file by this, a hash of the file.
        self.reproducible(&mut command, &["-Clink-arg=-Wl,--build-id=sha1"])?;
        Ok(command)
    }

    /// Adds flags and variables that make the result depend on nothing but the sources.
    pub(super) fn reproducible(&self, command: &mut Command, flags: &[&str]) -> Outcome {
        let folders = folders()?;
        let remap = |flag: &str, joint: &str| {
            let each = folders.iter().map(|(from, to)| format!("{flag}={}={to}", from.display()));
            each.collect::<Vec<_>>().join(joint)
        };
        let mut rust = remap("--remap-path-prefix", "\x1f");
        for flag in flags {
            rust += &format!("\x1f{flag}");
        }
        command
            .env_remove("RUSTFLAGS")
            .env("CARGO_ENCODED_RUSTFLAGS", rust)
            .env("CFLAGS", remap("-ffile-prefix-map", " "))
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_TARGET_DIR", suite::target())
            .env("SOURCE_DATE_EPOCH", self.epoch.to_string())
            .env("ZERO_AR_DATE", "1")
            .env("LC_ALL", "C")
            .env("TZ", "UTC");
        for name in ["LANECRYPT_ISA", "CARGO_BUILD_TARGET", "CARGO_BUILD_RUSTFLAGS"] {
            command.env_remove(name);
        }
        Ok(())
    }

    /// Fails if a file has a path of this machine in it.
    pub(super) fn check_paths(&self, file: &Path) -> Outcome {
        let mut find = Command::new("grep");
        find.args(["--quiet", "--text", "--fixed-strings"]);
        for (folder, _) in folders()? {
            find.arg("-e").arg(folder);
        }
        match find.arg("--").arg(file).status().map(|it| it.code()) {
            Ok(Some(1)) => Ok(()),
            Ok(Some(0)) => Err(format!("{} has a path of this machine", file.display())),
            _ => Err(format!("cannot search {}", file.display())),
        }
    }

    /// Where cargo puts what it builds for a target by a profile.
    pub(super) fn built(&self, target: &str, profile: &str) -> PathBuf {
        suite::target().join(target).join(profile)
    }
}

/// Folders, and what stands for them in messages and debugging information. The last that fits
/// counts, so the inner ones come later.
fn folders() -> Outcome<Vec<(PathBuf, String)>> {
    let sysroot = PathBuf::from(output(Command::new("rustc").args(["--print", "sysroot"]))?);
    let verbose = output(Command::new("rustc").arg("-vV"))?;
    let hash = verbose.lines().find_map(|it| it.strip_prefix("commit-hash: ")).unwrap_or("rust");
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let home = home.ok_or("there is neither HOME nor CARGO_HOME")?;
    let mut folders = vec![
        (home.clone(), String::from("/cargo")),
        (sysroot.join("lib/rustlib/src/rust"), format!("/rustc/{hash}")),
        (suite::root().to_owned(), String::from("/lanecrypt")),
        (suite::target(), String::from("/lanecrypt/target")),
    ];
    // A folder for each registry, whose name has a hash of the registry's address.
    let registries = files(&home.join("registry/src")).unwrap_or_default();
    folders.extend(registries.into_iter().map(|it| (it, String::from("/cargo/registry"))));
    Ok(folders)
}
