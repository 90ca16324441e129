//! What each release wrote: `testing/fixtures/VERSION/AREA`. Tests read that of every version.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// With `LANECRYPT_WRITE` in the environment, fills the folder of this version by `write`, unless
/// it is there: what was written is never changed.
///
/// # Panics
///
/// It cannot be written.
pub fn write(area: &str, write: impl FnOnce(&Path)) {
    let folder = root().join(env!("CARGO_PKG_VERSION")).join(area);
    if env::var_os("LANECRYPT_WRITE").is_some() && !folder.exists() {
        fs::create_dir_all(&folder).expect("it can be made");
        write(&folder);
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The folders of an area, one for each version that has it.
///
/// # Panics
///
/// None has.
pub fn of_every_version(area: &str) -> Vec<PathBuf> {
    let versions = fs::read_dir(root()).expect("there are versions");
    let folder = |version: std::io::Result<fs::DirEntry>| version.expect("it is there").path();
    let mut folders: Vec<_> = versions.map(|version| folder(version).join(area)).collect();
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    assert!(!folders.is_empty(), "no version of {area}");
    folders
}

/// The plaintext of fixtures: bytes without a short period.
pub fn text(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i ^ (i >> 8) ^ (i >> 15)).to_le_bytes()[0]).collect()
}

/// The files in a folder whose names end like this, in order.
///
/// # Panics
///
/// There are none.
pub fn files(folder: &Path, end: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name of ours");
        if let Some(name) = name.strip_suffix(end) {
            files.push((name.to_owned(), fs::read(&path).expect("it can be read")));
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{}: nothing ends with {end}", folder.display());
    files
}
