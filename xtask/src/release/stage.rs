//! What the Debian packages are made of, for one processor, in one folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::build::{LIBRARY, PROGRAM};
use super::zig::{self, compiler};
use super::{
    Arch, Outcome, Release, copy, debian, files, inside, output, run_command, symbols, write,
};
use crate::cross;

/// Shells, and the names under which they look for completions.
const SHELLS: [(&str, &str); 3] =
    [("bash", "lanecrypt.bash"), ("zsh", "_lanecrypt"), ("fish", "lanecrypt.fish")];

/// Builds the program, the C library and the OpenSSL provider and lays out their files.
pub(super) fn make(release: &Release, arch: Arch) -> Outcome {
    let stage = release.fresh(release.stage(arch))?;
    zig::prepare(release, arch)?;
    run_command(release.zigbuild(arch, PROGRAM)?.args(["-planecrypt-cli"]))?;
    let built = release.built(&arch.gnu(), PROGRAM);
    copy(&built.join("lanecrypt"), &stage.join("lanecrypt"))?;
    let libraries = ["-planecrypt-c", "-planecrypt-openssl", "--lib"];
    run_command(release.zigbuild(arch, LIBRARY)?.args(libraries))?;
    let built = release.built(&arch.gnu(), LIBRARY);
    copy(&built.join("liblanecrypt_openssl.so"), &stage.join("lanecrypt.so"))?;
    c_library(release, arch, &stage)?;
    pages(&stage.join("lanecrypt"), arch, "/usr/aarch64-linux-gnu", &stage)?;
    inside::copy_licences(release, "lanecrypt", &stage)?;
    let library = format!("liblanecrypt.so.{}", release.version);
    for file in ["lanecrypt", "lanecrypt.so", &library] {
        symbols::check(&stage.join(file))?;
        release.check_paths(&stage.join(file))?;
    }
    release.check_paths(&stage.join("liblanecrypt.a"))?;
    debian::build(arch.name(), &stage, &release.dist, release.epoch)
}

/// Links and installs the C library by its script, and takes its files from there.
fn c_library(release: &Release, arch: Arch, stage: &Path) -> Outcome {
    let root = release.fresh(release.work.join("c"))?;
    let mut install = Command::new("scripts/c-install.sh");
    release.tools.environment(&mut install, arch);
    release.reproducible(&mut install, &[])?;
    install
        .arg("/usr")
        .arg(&root)
        .env("LANECRYPT_PROFILE", LIBRARY)
        .env("CC", compiler(release, arch)?)
        .env("CARGO_BUILD_TARGET", arch.gnu())
        // As in the program: a static unwinder, so that nothing but glibc is needed.
        .env("LDFLAGS", "-lunwind -Wl,--build-id=sha1");
    run_command(&mut install)?;
    let library = format!("liblanecrypt.so.{}", release.version);
    let of_lib = [&library, "liblanecrypt.a", "pkgconfig/lanecrypt.pc"]
        .map(|it| root.join("usr/lib").join(it));
    for file in of_lib.iter().chain([&root.join("usr/include/lanecrypt.h")]) {
        copy(file, &stage.join(file.file_name().unwrap_or_default()))?;
    }
    let pages = release.fresh(stage.join("man3"))?;
    for page in files(&root.join("usr/share/man/man3"))? {
        copy(&page, &pages.join(page.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Writes manual pages and completions, which the program itself prints, into a folder.
pub(super) fn pages(program: &Path, arch: Arch, libraries: &'static str, folder: &Path) -> Outcome {
    let command = || -> Outcome<Command> {
        if arch.is_native() {
            return Ok(Command::new(program));
        }
        let target = cross::Target { libraries, ..cross::ARM64 };
        if arch.gnu() != target.name || !target.is_usable("release") {
            return Err(format!("nothing here runs programs for {}", arch.name()));
        }
        Ok(target.command_with(&[], program))
    };
    run_command(command()?.arg("man").arg(folder.join("man1")))?;
    let completions = folder.join("completions");
    fs::create_dir_all(&completions).map_err(|it| it.to_string())?;
    for (shell, file) in SHELLS {
        let text = output(command()?.args(["completions", shell]))?;
        write(&completions.join(file), &(text + "\n"))?;
    }
    Ok(())
}
