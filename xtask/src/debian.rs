//! Packages of Debian for another processor.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Unpacks packages, with all that they depend on, below `folder` and returns where they are;
/// `None` if they cannot be had.
///
/// The system stays as it is: apt reads its sources and keys, but has lists, a cache and the state
/// of a system without packages in `folder`.
pub(crate) fn unpacked(folder: &Path, architecture: &str, packages: &[&str]) -> Option<PathBuf> {
    let root = folder.join("root");
    if root.is_dir() {
        return Some(root);
    }
    let archives = folder.join("cache/archives");
    fs::create_dir_all(archives.join("partial")).ok()?;
    fs::create_dir_all(folder.join("lists/partial")).ok()?;
    fs::write(folder.join("status"), "").ok()?;
    let settings = folder.join("apt.conf");
    let text = format!(
        "APT::Architecture \"{architecture}\";\n\
         APT::Architectures {{ \"{architecture}\"; }};\n\
         APT::Install-Recommends \"false\";\n\
         APT::Sandbox::User \"root\";\n\
         Dir::State \"{0}\";\n\
         Dir::State::status \"{0}/status\";\n\
         Dir::Cache \"{0}/cache\";\n",
        folder.display()
    );
    fs::write(&settings, text).ok()?;
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(["-qq", "-y"]).args(arguments).env("APT_CONFIG", &settings);
        command.status().is_ok_and(|status| status.success())
    };
    if !apt(&["update"]) || !apt(&[&["--download-only", "install"], packages].concat()) {
        return None;
    }
    // It gets its name when it is whole.
    let new = folder.join("new");
    for file in fs::read_dir(archives).ok()? {
        let file = file.ok()?.path();
        if file.extension().is_some_and(|it| it == "deb") {
            let unpacked = Command::new("dpkg-deb").arg("-x").args([&file, &new]).status();
            unpacked.ok().filter(|status| status.success())?;
        }
    }
    fs::rename(new, &root).ok()?;
    Some(root)
}
