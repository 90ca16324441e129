//! The program, the C library and the OpenSSL provider for one processor: in one folder, as Debian
//! packages, and the program as an archive.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::build::{LIBRARY, PROGRAM};
use super::zig::compiler;
use super::{
    Arch, Outcome, Release, archive, copy, debian, files, inside, output, run_command, symbols,
    write,
};
use crate::cross;

/// Shells, and the names under which they look for completions.
const SHELLS: [(&str, &str); 3] =
    [("bash", "lanecrypt.bash"), ("zsh", "_lanecrypt"), ("fish", "lanecrypt.fish")];

/// Compiles the program, the C library and the OpenSSL provider.
pub(super) fn compile(release: &Release, arch: Arch) -> Outcome {
    run_command(release.zigbuild(arch, PROGRAM)?.args(["-planecrypt-cli"]))?;
    let libraries = ["-planecrypt-c", "-planecrypt-openssl", "--lib"];
    run_command(release.zigbuild(arch, LIBRARY)?.args(libraries))
}

/// Compiles what is not compiled yet, and makes packages of it.
pub(super) fn make(release: &Release, arch: Arch) -> Outcome {
    compile(release, arch)?;
    let stage = release.fresh(release.stage(arch))?;
    let built = release.built(&arch.gnu(), PROGRAM);
    copy(&built.join("lanecrypt"), &stage.join("lanecrypt"))?;
    let built = release.built(&arch.gnu(), LIBRARY);
    copy(&built.join("liblanecrypt_openssl.so"), &stage.join("lanecrypt.so"))?;
    c_library(release, arch, &stage)?;
    pages(&stage.join("lanecrypt"), arch, &stage)?;
    inside::copy_licences(release, "lanecrypt", &stage)?;
    let library = format!("liblanecrypt.so.{}", release.version);
    for file in ["lanecrypt", "lanecrypt.so", &library] {
        symbols::check(&stage.join(file))?;
        release.check_paths(&stage.join(file))?;
    }
    release.check_paths(&stage.join("liblanecrypt.a"))?;
    debian::build(arch.name(), &stage, &release.dist, release.epoch)?;
    pack(release, arch, &stage)
}

/// Packs the program for systems without packages, with its manual pages and completions.
fn pack(release: &Release, arch: Arch, stage: &Path) -> Outcome {
    let name = format!("lanecrypt-{}-{}-linux", release.version, arch.name());
    let work = release.work.join("archive");
    let folder = release.fresh(work.join(&name))?;
    let mut strip = Command::new(format!("{}-linux-gnu-strip", arch.name()));
    strip.arg("-o").arg(folder.join("lanecrypt")).arg(stage.join("lanecrypt"));
    run_command(&mut strip)?;
    for part in ["man1", "completions"] {
        fs::create_dir(folder.join(part)).map_err(|it| it.to_string())?;
        for file in files(&stage.join(part))? {
            copy(&file, &folder.join(part).join(file.file_name().unwrap_or_default()))?;
        }
    }
    inside::copy_licences(release, "lanecrypt", &folder)?;
    archive::pack(&work, &name, &release.dist.join(format!("{name}.tar.gz")), release.epoch)
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
fn pages(program: &Path, arch: Arch, folder: &Path) -> Outcome {
    let command = || -> Outcome<Command> {
        if arch.is_native() {
            return Ok(Command::new(program));
        }
        if arch.gnu() != cross::ARM64.name || !cross::ARM64.is_usable("release") {
            return Err(format!("nothing here runs programs for {}", arch.name()));
        }
        Ok(cross::ARM64.command_with(&[], program))
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
