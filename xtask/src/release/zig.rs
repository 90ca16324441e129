//! The libraries that zig compiles for what it links: an unwinder and small parts of a C library.
//! Their debugging information has paths, and would be in debug packages, so it is removed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::symbols::GLIBC;
use super::{Arch, Outcome, Release, files, output, run_command, write};

/// Makes zig compile its libraries for a processor, and strips them where zig keeps them.
pub(super) fn prepare(release: &Release, arch: Arch) -> Outcome {
    let folder = release.fresh(release.work.join("linked"))?;
    write(&folder.join("linked.rs"), "fn main() {\n    println!(\"linked\");\n}\n")?;
    write(&folder.join("linked.c"), "int linked(void) { return 1; }\n")?;
    let compiler = compiler(release, arch)?;
    // From the folder where packages are linked: zig keeps libraries by it. Zig compiles other ones
    // for programs without debugging information.
    let mut link = Command::new("rustc");
    link.args(["-O", "-g", "--target", &arch.gnu(), "-Clink-arg=-Wl,--build-id=sha1", "-o"]);
    link.arg(folder.join("linked")).arg(folder.join("linked.rs"));
    link.arg(format!("-Clinker={}", compiler.display()));
    let mut compile = Command::new(compiler);
    compile.args(["-shared", "-lunwind", "-o"]).arg(folder.join("linked.so"));
    compile.arg(folder.join("linked.c"));
    for mut command in [link, compile] {
        release.tools.environment(&mut command, arch);
        run_command(&mut command)?;
    }
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
                // Zig names members by the paths of their files, which `strip` does not take.
                let members = output(ar().arg("t").arg(&file))?;
                let paths: Vec<_> = members.lines().filter(|it| it.contains('/')).collect();
                for member in &paths {
                    strip(Path::new(member))?;
                }
                if !paths.is_empty() {
                    std::fs::remove_file(&file).map_err(|it| it.to_string())?;
                    run_command(ar().arg("qcsD").arg(&file).args(paths))?;
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
