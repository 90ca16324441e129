//! The libraries that zig compiles for what it links: an unwinder and small parts of a C library.
//! Their debugging information has paths, and would be in debug packages, so it is removed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::PROFILE;
use super::symbols::GLIBC;
use super::{Arch, Outcome, Release, files, output, run_command, write};

/// Makes zig compile its libraries for an architecture, and strips them where zig keeps them.
pub(super) fn prepare(release: &Release, arch: Arch) -> Outcome {
    let folder = release.fresh(release.work.join("linked"))?;
    // Zig compiles other libraries for programs without debugging information.
    let manifest = format!(
        "[package]\nname = \"linked\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n\
         [workspace]\n[profile.{PROFILE}]\ninherits = \"release\"\n\
         debug = \"line-tables-only\"\n"
    );
    write(&folder.join("Cargo.toml"), &manifest)?;
    std::fs::create_dir(folder.join("src")).map_err(|it| it.to_string())?;
    write(&folder.join("src/main.rs"), "fn main() {\n    println!(\"linked\");\n}\n")?;
    let library = "/// Is exported.\n#[unsafe(no_mangle)]\npub extern \"C\" fn linked() {\n    \
                   println!(\"linked\");\n}\n";
    write(&folder.join("src/lib.rs"), library)?;
    write(&folder.join("linked.c"), "int linked(void) { return 1; }\n")?;
    run_command(
        Command::new("cargo").args(["generate-lockfile", "--offline"]).current_dir(&folder),
    )?;
    let mut build = release.zigbuild(arch)?;
    run_command(build.env("CARGO_TARGET_DIR", folder.join("target")).current_dir(&folder))?;
    let mut compile = Command::new(compiler(release, arch)?);
    release.tools.environment(&mut compile, arch);
    compile.args(["-shared", "-o", "linked.so", "linked.c", "-lunwind"]).current_dir(&folder);
    run_command(&mut compile)?;
    strip(&release.tools.cache_of_zig(arch).join("o"), arch)
}

/// Strips libraries and what programs begin with.
fn strip(cache: &Path, arch: Arch) -> Outcome {
    let strip = |file: &Path| {
        let mut strip = Command::new(format!("{}-linux-gnu-strip", arch.name()));
        run_command(strip.arg("--strip-debug").arg(file))
    };
    let ar = || Command::new(format!("{}-linux-gnu-ar", arch.name()));
    let mut libraries = 0;
    for entry in files(cache)?.into_iter().filter(|it| it.is_dir()) {
        for file in files(&entry)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with("crt1.o") {
                strip(&file)?;
            } else if name.ends_with(".a") {
                // Members have whole paths as names, which `strip` does not take.
                let members = output(ar().arg("t").arg(&file))?;
                for member in members.lines().filter(|it| it.starts_with('/')) {
                    strip(Path::new(member))?;
                }
                if members.lines().all(|it| it.starts_with('/')) {
                    std::fs::remove_file(&file).map_err(|it| it.to_string())?;
                    run_command(ar().arg("qcsD").arg(&file).args(members.lines()))?;
                }
                libraries += 1;
            }
        }
    }
    match libraries {
        0 => Err(format!("{}: zig keeps its libraries elsewhere", cache.display())),
        _ => Ok(()),
    }
}

/// A program that `scripts/c-install.sh` can call as a compiler: a file, as it takes one word.
pub(super) fn compiler(release: &Release, arch: Arch) -> Outcome<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;

    let (major, minor) = GLIBC;
    let file = release.work.join(format!("cc-{}", arch.name()));
    let text = format!(
        "#!/bin/sh\nexec cargo-zigbuild zig cc -- -target {}-linux-gnu.{major}.{minor} \"$@\"\n",
        arch.name()
    );
    write(&file, &text)?;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&file, mode).map_err(|it| it.to_string())?;
    Ok(file)
}
