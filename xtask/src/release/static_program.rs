//! The program for machines without packages: one file that needs nothing but a kernel.

use super::build::PROGRAM;
use super::{Arch, Outcome, Release, archive, copy, inside, run_command, stage, symbols};

/// Builds the program with musl and packs it with its manual pages and completions.
pub(super) fn make(release: &Release, arch: Arch) -> Outcome {
    run_command(release.musl_build(arch)?.args(["-planecrypt-cli"]))?;
    let program = release.built(&arch.musl(), PROGRAM).join("lanecrypt");
    symbols::check_static(&program)?;
    release.check_paths(&program)?;
    let name = format!("lanecrypt-{}-{}-linux", release.version, arch.name());
    let work = release.work.join("static");
    let folder = release.fresh(work.join(&name))?;
    copy(&program, &folder.join("lanecrypt"))?;
    stage::pages(&program, arch, "", &folder)?;
    inside::copy_licences(release, "lanecrypt", &folder)?;
    archive::pack(&work, &name, &release.dist.join(format!("{name}.tar.gz")), release.epoch)
}
