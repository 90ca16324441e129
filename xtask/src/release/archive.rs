//! Archives whose bytes depend on nothing but the files, and the list of checksums.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Outcome, files, output, run_command, write};

/// Packs the folder `name` of `parent` into `file`: sorted, of one owner and one time.
pub(super) fn pack(parent: &Path, name: &str, file: &Path, epoch: u64) -> Outcome {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"])
        .arg("--mode=go=rX,u+rw")
        .arg(format!("--mtime=@{epoch}"))
        .arg("--use-compress-program=gzip -9 -n")
        .arg("-C")
        .arg(parent)
        .arg("-cf")
        .args([file, Path::new(name)]);
    run_command(&mut tar)
}

/// Writes `SHA256SUMS` of all files in a folder and below, for `sha256sum --check`.
pub(super) fn sums(folder: &Path) -> Outcome {
    let mut names = Vec::new();
    collect(folder, Path::new(""), &mut names)?;
    if names.is_empty() {
        return Err(format!("{}: nothing was made", folder.display()));
    }
    let sums = output(Command::new("sha256sum").args(names).current_dir(folder))?;
    write(&folder.join("SHA256SUMS"), &(sums + "\n"))
}

fn collect(root: &Path, below: &Path, names: &mut Vec<PathBuf>) -> Outcome {
    for path in files(&root.join(below))? {
        let name = below.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => collect(root, &name, names)?,
            false => names.push(name),
        }
    }
    Ok(())
}
