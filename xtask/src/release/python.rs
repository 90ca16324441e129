//! The Python package: wheels for every CPython from 3.11 on, and its sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::symbols::{self, GLIBC};
use super::{
    Arch, Outcome, Release, copy, crates, files, inside, output, read, run_command, write,
};
use crate::suite;

const FOLDER: &str = "surfaces/python";

/// The list of what is inside, in the wheel.
const LIST: &str = "lanecrypt.cdx.json";

/// Builds a wheel of the crates in these archives.
pub(super) fn wheel(release: &Release, arch: Arch, archives: &[PathBuf]) -> Outcome {
    let sources = sources(release, arch, archives)?;
    let wheels = release.fresh(release.work.join("wheel"))?;
    let (major, minor) = GLIBC;
    let mut maturin = release.tools.command("maturin", arch);
    maturin
        .args(["build", "--release", "--locked", "--zig", "--auditwheel=check"])
        .arg(format!("--compatibility=manylinux_{major}_{minor}"))
        .args(["--target", &arch.gnu(), "--out"])
        .arg(&wheels)
        // Which interpreter is here does not matter: the interface is that of all from 3.11 on.
        .args(["--interpreter", "python3.11"])
        .current_dir(sources);
    release.reproducible(&mut maturin, &[])?;
    run_command(maturin.env("CARGO_TARGET_DIR", suite::target().join("release-python")))?;
    for wheel in files(&wheels)? {
        check(release, &wheel, arch)?;
        copy(&wheel, &release.dist.join(wheel.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Packs the sources, which `pip` builds where no wheel fits.
pub(super) fn source(release: &Release) -> Outcome {
    let mut maturin = release.tools.command("maturin", Arch::ALL[0]);
    maturin.args(["sdist", "--out"]).arg(&release.dist).current_dir(FOLDER);
    release.reproducible(&mut maturin, &[])?;
    run_command(maturin.env("CARGO_TARGET_DIR", suite::target().join("release-python")))
}

/// A workspace with the package and the crates that it is built of, from their archives. In its
/// own workspace these lie outside of the root, and cargo's names for them have the whole path,
/// which then is in every identifier.
fn sources(release: &Release, arch: Arch, archives: &[PathBuf]) -> Outcome<PathBuf> {
    let folder = release.fresh(release.work.join("python"))?;
    let listed = output(Command::new("git").args(["ls-files", "--", "."]).current_dir(FOLDER))?;
    for file in listed.lines() {
        let to = folder.join(file);
        fs::create_dir_all(to.parent().unwrap_or(&folder)).map_err(|it| it.to_string())?;
        copy(&Path::new(FOLDER).join(file), &to)?;
    }
    inside::copy_licences(release, "lanecrypt-python", &folder)?;
    let unpacked = release.fresh(folder.join("crates"))?;
    let mut crates = crates::unpack(archives, &unpacked)?;
    let locked = local(&read(&folder.join("Cargo.lock"))?);
    crates.retain(|(name, _)| locked.contains(name));
    let manifest = read(&folder.join("Cargo.toml"))?;
    let version = format!("version = \"{}\"", release.version);
    if !manifest.lines().any(|it| it == version) {
        return Err(format!("{FOLDER}/Cargo.toml has another version than {}", release.version));
    }
    write(&folder.join("Cargo.toml"), &from_archives(&manifest, &release.version, &crates))?;
    copy(&inside::list_of(release, "lanecrypt-python", arch), &folder.join(LIST))?;
    let project = read(&folder.join("pyproject.toml"))?;
    let own = "license-files = [";
    if !project.contains(own) {
        return Err(format!("{FOLDER}/pyproject.toml names no files of licences"));
    }
    let with_others = format!("{own}\"THIRD-PARTY-lanecrypt-python.txt\", ");
    let project = project.replacen(own, &with_others, 1);
    // That of maturin has the path of this folder.
    let list = format!("\n[tool.maturin.sbom]\nrust = false\ninclude = [\"{LIST}\"]\n");
    write(&folder.join("pyproject.toml"), &(project + &list))?;
    Ok(folder)
}

/// The crates of this repository in a file of locked versions: those without a source.
fn local(lock: &str) -> Vec<String> {
    let packages = lock.split("[[package]]").skip(1).filter(|it| !it.contains("\nsource = "));
    let names = packages.filter_map(|it| it.split_once("name = \"")?.1.split('"').next());
    names.filter(|it| *it != "lanecrypt-python").map(str::to_owned).collect()
}

/// The manifest with crates from archives below its folder.
fn from_archives(manifest: &str, version: &str, crates: &[(String, String)]) -> String {
    let mut text = String::new();
    for line in manifest.lines() {
        match line.split_once("path = \"../../") {
            Some((before, rest)) => {
                let after = rest.split_once('"').map_or("", |(_, after)| after);
                text += &format!("{before}version = \"={version}\"{after}\n");
            }
            None if line == "[workspace]" => text += "[workspace]\nexclude = [\"crates\"]\n",
            None => text += &format!("{line}\n"),
        }
    }
    text += "\n[patch.crates-io]\n";
    for (name, folder) in crates {
        text += &format!("{name} = {{ path = \"crates/{folder}\" }}\n");
    }
    text
}

/// Fails if a wheel needs more than its name promises.
fn check(release: &Release, wheel: &Path, arch: Arch) -> Outcome {
    let shown = output(release.tools.command("auditwheel", arch).arg("show").arg(wheel))?;
    let (major, minor) = GLIBC;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    // It names the oldest policy that the wheel keeps to.
    let tag = words.split('"').find_map(|it| it.strip_prefix("manylinux_")).unwrap_or_default();
    let mut numbers = tag.split('_').map_while(|it| it.parse::<u32>().ok());
    let needs = (numbers.next().unwrap_or(u32::MAX), numbers.next().unwrap_or(u32::MAX));
    if needs > (major, minor) {
        return Err(format!("{} is not for manylinux_{major}_{minor}:\n{shown}", wheel.display()));
    }
    let folder = release.fresh(release.work.join("wheel-unpacked"))?;
    let mut unzip = release.tools.command("python", arch);
    run_command(unzip.args(["-m", "zipfile", "-e"]).arg(wheel).arg(&folder))?;
    for file in files(&folder.join("lanecrypt"))? {
        if file.extension().is_some_and(|it| it == "so") {
            symbols::check(&file)?;
            release.check_paths(&file)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{from_archives, local};

    #[test]
    fn crates_of_the_repository_have_no_source() {
        let lock = "version = 4\n\n[[package]]\nname = \"lanecrypt-rsa\"\nversion = \"1.2.3\"\n\
                    dependencies = [\n \"sha2\",\n]\n\n[[package]]\nname = \"sha2\"\n\
                    version = \"0.11.0\"\nsource = \"registry\"\n\n[[package]]\n\
                    name = \"lanecrypt-python\"\nversion = \"1.2.3\"\n";
        assert_eq!(local(lock), ["lanecrypt-rsa"]);
    }

    #[test]
    fn paths_become_versions() {
        let manifest = "[dependencies]\n\
                        lanecrypt-rsa = { path = \"../../rsa\" }\n\
                        lanecrypt-engine = { path = \"../../engine\", features = [\"pk\"] }\n\
                        pyo3 = \"0.30\"\n[workspace]\n";
        let crates = [(String::from("lanecrypt-rsa"), String::from("lanecrypt-rsa-1.2.3"))];
        assert_eq!(
            from_archives(manifest, "1.2.3", &crates),
            "[dependencies]\n\
             lanecrypt-rsa = { version = \"=1.2.3\" }\n\
             lanecrypt-engine = { version = \"=1.2.3\", features = [\"pk\"] }\n\
             pyo3 = \"0.30\"\n[workspace]\nexclude = [\"crates\"]\n\
             \n[patch.crates-io]\n\
             lanecrypt-rsa = { path = \"crates/lanecrypt-rsa-1.2.3\" }\n"
        );
    }
}
