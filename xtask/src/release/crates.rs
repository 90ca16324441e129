//! The crates as they would be published, and whether each builds from its archive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{Outcome, Release, copy, files, output, read, run_command, write};
use crate::suite;

/// Puts archives into `dist/`.
pub(super) fn make(release: &Release, archives: &[PathBuf]) -> Outcome {
    let dist = release.fresh(release.dist.join("crates"))?;
    for archive in archives {
        copy(archive, &dist.join(archive.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Checks each crate by itself, then all with all features.
pub(super) fn check(release: &Release, archives: &[PathBuf]) -> Outcome {
    // They find each other in a workspace of their own.
    let unpacked = release.fresh(release.work.join("crates"))?;
    let names = unpack(archives, &unpacked)?;
    copy(Path::new("Cargo.lock"), &unpacked.join("Cargo.lock"))?;
    let patches: String = names
        .iter()
        .map(|(name, folder)| format!("{name} = {{ path = \"{folder}\" }}\n"))
        .collect();
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\"*-[0-9]*\"]\n[patch.crates-io]\n{patches}\n{}",
        profile()?
    );
    write(&unpacked.join("Cargo.toml"), &manifest)?;
    let check = |arguments: &[&str]| {
        let mut check = suite::cargo();
        check.args(["check", "--quiet", "--offline"]).args(arguments).current_dir(&unpacked);
        run_command(check.env("CARGO_TARGET_DIR", suite::target()))
    };
    for (name, _) in &names {
        check(&["--package", name])?;
    }
    check(&["--workspace", "--all-features"])
}

/// The crates that are published.
pub(super) fn published() -> Outcome<Vec<String>> {
    let mut metadata = suite::cargo();
    metadata.args(["metadata", "--locked", "--no-deps", "--format-version=1"]);
    let metadata: Value =
        serde_json::from_str(&output(&mut metadata)?).map_err(|it| it.to_string())?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // `publish = false` is an empty list of registries.
    let published = packages.filter(|it| it["publish"].as_array().is_none_or(|it| !it.is_empty()));
    Ok(published.filter_map(|it| it["name"].as_str().map(str::to_owned)).collect())
}

/// Packs these crates and returns the archives.
pub(super) fn pack(
    release: &Release,
    names: &[String],
    allow_dirty: bool,
) -> Outcome<Vec<PathBuf>> {
    let folder = suite::target().join("package");
    // Cargo keeps what it made for an earlier run.
    let _ = fs::remove_dir_all(&folder);
    let mut package = suite::cargo();
    package.args(["package", "--quiet", "--locked", "--no-verify"]);
    package.args(names.iter().map(|it| format!("--package={it}")));
    if allow_dirty {
        package.arg("--allow-dirty");
    }
    release.reproducible(&mut package, &[])?;
    run_command(&mut package)?;
    let mut archives = files(&folder)?;
    archives.retain(|it| it.extension().is_some_and(|it| it == "crate"));
    Ok(archives)
}

/// Unpacks archives and returns the names of the crates, with their folders.
pub(super) fn unpack(archives: &[PathBuf], into: &Path) -> Outcome<Vec<(String, String)>> {
    let mut names = Vec::new();
    for archive in archives {
        run_command(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(into))?;
        let folder = archive.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (name, _) = folder.rsplit_once('-').ok_or("an archive has no version")?;
        names.push((name.to_owned(), folder.clone()));
    }
    Ok(names)
}

/// The profile of quick builds, so that what others made is not checked once more.
fn profile() -> Outcome<String> {
    let manifest = read(Path::new("Cargo.toml"))?;
    let begin = manifest.find("[profile.dev]").ok_or("there is no profile `dev`")?;
    let end = manifest[begin..].find("\n\n").map_or(manifest.len(), |it| begin + it + 1);
    Ok(manifest[begin..end].to_owned())
}
