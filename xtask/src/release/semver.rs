//! Whether the public interfaces of the crates are those of the release before, as their version
//! numbers say: `cargo xtask semver`.

use std::process::{Command, Stdio};

use super::{output, run_command};
use crate::suite;

/// Compares the crates with those of the last tag, if there is one.
pub(crate) fn check() -> bool {
    let mut tag = Command::new("git");
    tag.args(["describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"]).stderr(Stdio::null());
    let tag = match tag.output() {
        Ok(tag) if tag.status.success() => String::from_utf8_lossy(&tag.stdout).trim().to_owned(),
        _ => {
            println!("SKIPPED semver: no release yet");
            return true;
        }
    };
    if output(suite::cargo().args(["semver-checks", "--version"])).is_err() {
        println!("SKIPPED semver: cargo install --locked cargo-semver-checks");
        return true;
    }
    let mut checks = suite::cargo();
    checks.args(["semver-checks", "--workspace", "--all-features", "--baseline-rev", &tag]);
    // Their interfaces are those of programs, of C or of tests.
    for package in
        ["lanecrypt-cli", "lanecrypt-c", "lanecrypt-openssl", "lanecrypt-testing", "xtask"]
    {
        checks.args(["--exclude", package]);
    }
    run_command(&mut checks).inspect_err(|it| eprintln!("semver: {it}")).is_ok()
}
