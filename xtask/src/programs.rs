//! The test programs and examples that cargo builds.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::suite;

/// A file that cargo has built.
#[derive(Clone)]
pub(crate) struct Program {
    /// Folder and name: `engine/isolated`; `engine/src` for the tests within a library.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// That of its package, in which tests run.
    pub(crate) folder: PathBuf,
    pub(crate) file: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Test,
    /// A program or an example.
    Binary,
    /// A shared library.
    Library,
}

/// Builds by cargo with these arguments and returns what it has built, or `None` if that fails.
pub(crate) fn build(arguments: &[&str]) -> Option<Vec<Program>> {
    build_by(suite::cargo().args(arguments).arg("--locked"))
}

/// The same by a command that calls cargo.
pub(crate) fn build_by(command: &mut Command) -> Option<Vec<Program>> {
    let output = command
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo can be started");
    let messages = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let programs = messages.lines().filter_map(|line| program(&serde_json::from_str(line).ok()?));
    output.status.success().then(|| programs.collect())
}

fn program(message: &Value) -> Option<Program> {
    if message["reason"] != "compiler-artifact" {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let target = &message["target"];
    let target_kind = target["kind"][0].as_str()?;
    let shared = target["crate_types"][0] == "cdylib";
    let (kind, file) = match message["profile"]["test"].as_bool()? {
        true => (Kind::Test, message["executable"].as_str()?),
        false if target_kind == "example" && shared => {
            (Kind::Library, message["filenames"][0].as_str()?)
        }
        false => (Kind::Binary, message["executable"].as_str()?),
    };
    let name = match (kind, target_kind) {
        (Kind::Test, "lib" | "cdylib" | "rlib") => "src",
        (Kind::Test, "bin") => "main",
        _ => target["name"].as_str()?,
    };
    let package = folder.file_name()?.to_str()?;
    Some(Program {
        name: format!("{package}/{name}"),
        kind,
        folder: folder.to_owned(),
        file: PathBuf::from(file),
    })
}

/// The names of a program's tests, and how many it ignores; `None` if the program does not list
/// them.
pub(crate) fn list(command: impl Fn() -> Command) -> Option<(Vec<String>, usize)> {
    let listed = |arguments: &[&str]| {
        let output =
            command().args(["--list", "--format", "terse"]).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
        Some(names.map(str::to_owned).collect::<Vec<_>>())
    };
    let ignored = listed(&["--ignored"])?;
    let mut names = listed(&[])?;
    names.retain(|name| !ignored.contains(name));
    Some((names, ignored.len()))
}
