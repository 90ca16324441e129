//! Whether two builds, in different folders, are equal.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::{Options, Outcome, make, output, read, run_command, tools};
use crate::suite;

/// Makes a release here and one in a clone, and compares all files.
pub(super) fn twice(options: &Options<'_>) -> Outcome {
    let folder = options.check.ok_or("there is no folder for the second build")?;
    if folder.exists() {
        return Err(format!("{}: is there already", folder.display()));
    }
    make(options)?;
    run_command(Command::new("git").args(["clone", "--quiet"]).arg(suite::root()).arg(folder))?;
    // What is committed here, whatever branch is checked out.
    let commit = output(Command::new("git").args(["rev-parse", "HEAD"]))?;
    let mut checkout = Command::new("git");
    checkout.arg("-C").arg(folder).args(["checkout", "--quiet", "--detach", &commit]);
    run_command(&mut checkout)?;
    let folder = folder.canonicalize().map_err(|it| it.to_string())?;
    let mut second = suite::cargo();
    second
        .args(["run", "--quiet", "--package", "xtask", "--", "release"])
        .args(options.arguments())
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", folder.join("target/another"))
        .env(tools::OF_CRATES, suite::target().join("release-tools/crates"));
    run_command(&mut second)?;
    let [one, other] = [suite::root(), &folder].map(|it| sums(&it.join("dist")));
    let differing = differences(&one?, &other?);
    if differing.is_empty() {
        println!("==> equal in {} and {}", suite::root().display(), folder.display());
        return Ok(());
    }
    Err(format!("these differ between two builds:\n{}", differing.join("\n")))
}

fn sums(dist: &Path) -> Outcome<String> {
    read(&dist.join("SHA256SUMS"))
}

/// Files whose sums differ, or that only one list has.
fn differences(one: &str, other: &str) -> Vec<String> {
    let map = |text: &str| -> BTreeMap<String, String> {
        let lines = text.lines().filter_map(|it| it.split_once("  "));
        lines.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect()
    };
    let (one, other) = (map(one), map(other));
    let names = one.keys().chain(other.keys().filter(|it| !one.contains_key(*it)));
    names.filter(|it| one.get(*it) != other.get(*it)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn other_bytes_and_missing_files_are_differences() {
        let one = "aa  equal\nbb  changed\ncc  only here\n";
        let other = "aa  equal\nb0  changed\ndd  only there\n";
        assert_eq!(differences(one, other), ["changed", "only here", "only there"]);
        assert!(differences(one, one).is_empty());
    }
}
