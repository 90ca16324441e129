//! Checks without running anything: features, and systems and processors that this machine is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::suite;

/// The feature that compiles C, for which there is no compiler here.
const WITH_C: &str = "aws-lc";

/// Checks crates with parts of their features, so that none rests on another that it does not name.
/// With `all`, every crate without features and with each alone. Otherwise the crates of users,
/// without features and so that of any two there is a call with the first and without the second:
/// with each feature in another half of the calls, four serve six features.
///
/// A feature that no file of the crate asks for only turns on those of other crates, where it is
/// checked. One whose name begins with `_` is never alone.
pub(crate) fn features(all: bool) -> bool {
    let internal = ["lanecrypt-testing", "lanecrypt-peers", "lanecrypt-speed", "lanecrypt-report"];
    let mut passed = true;
    for Package { name, folder, mut features } in packages() {
        if internal.contains(&name.as_str()) && !all {
            continue;
        }
        features.retain(|it| !it.starts_with('_'));
        features.retain(|it| contains(&folder.join("src"), &format!("feature = \"{it}\"")));
        let parts = if all {
            features.iter().map(|it| vec![it.as_str()]).collect()
        } else {
            halves(&features)
        };
        for part in [vec![]].into_iter().chain(parts) {
            let part = part.join(",");
            println!("features: {name} {part}");
            passed &= clippy(&["--no-default-features", "-p", &name, "--features", &part]);
        }
    }
    passed
}

/// Parts of the features; for any two of these, one has the first and not the second.
fn halves(features: &[String]) -> Vec<Vec<&str>> {
    if let [feature] = features {
        return vec![vec![feature]];
    }
    // The parts that a feature is in, a bit each.
    let places = |parts: u32| (0..1_u32 << parts).filter(move |it| it.count_ones() == parts / 2);
    let count = (0..).find(|&parts| places(parts).count() >= features.len()).unwrap_or(0);
    let part = |part: u32| {
        let each = features.iter().zip(places(count));
        let each = each.filter(|(_, places)| places >> part & 1 == 1);
        each.map(|(feature, _)| feature.as_str()).collect()
    };
    (0..count).map(part).filter(|part: &Vec<_>| !part.is_empty()).collect()
}

/// Checks the libraries for systems and processors that this machine is not, and the measurement
/// for macOS; without `all`, not for those that resemble others so much, or that
/// [`elsewhere`](crate::cross::elsewhere) builds for, that only a release needs them.
pub(crate) fn targets(all: bool) -> bool {
    let libraries = [
        "kernels",
        "kernels-legacy",
        "ciphers",
        "random",
        "engine",
        "accelerators",
        "device",
        "stream",
        "columns",
        "lanecrypt",
    ];
    let bare = ["kernels", "kernels-legacy", "ciphers", "engine"];
    let mut macos = vec!["aarch64-apple-darwin"];
    let mut usual = vec!["x86_64-pc-windows-msvc"];
    // These load no libraries, so OpenSSL cannot be asked for.
    let mut closed = vec!["wasm32-unknown-unknown"];
    if all {
        usual.extend(["aarch64-linux-android", "aarch64-unknown-linux-gnu", "aarch64-apple-ios"]);
        usual.extend(["armv7-unknown-linux-gnueabihf", "i686-unknown-linux-gnu"]);
        usual.push("riscv64gc-unknown-linux-gnu");
        usual.extend(["s390x-unknown-linux-gnu", "x86_64-unknown-freebsd"]);
        usual.push("x86_64-unknown-linux-musl");
        macos.push("x86_64-apple-darwin");
        closed.push("wasm32-wasip1");
    }
    let packages = packages();
    let with = |names: &[&str], without: &[&str]| {
        let named =
            packages.iter().filter(|it| names.contains(&it.name.trim_start_matches("lanecrypt-")));
        let each = named.flat_map(|Package { name, features, .. }| {
            let features = features.iter().filter(|it| !without.contains(&it.as_str()));
            let features = features.map(move |feature| format!("--features={name}/{feature}"));
            features.chain([format!("--package={name}")])
        });
        each.collect::<Vec<_>>()
    };
    // Neither ring nor AWS-LC.
    let mut for_usual = with(&libraries, &[WITH_C]);
    for_usual.extend(["--package=rustls-lanecrypt", "--package=lanecrypt-c"].map(String::from));
    // Without its features, which compile C.
    let measurement = ["--package=lanecrypt-speed", "--package=lanecrypt-report"];
    let for_macos = [for_usual.clone(), measurement.map(String::from).to_vec()].concat();
    let for_closed = with(&libraries, &[WITH_C, "openssl"]);
    let mut for_bare = with(&bare, &[WITH_C, "_asymmetric", "openssl", "pk", "rsa", "std"]);
    for_bare.push(String::from("--no-default-features"));
    let mut passed = true;
    for (targets, arguments) in [
        (macos, for_macos),
        (usual, for_usual),
        (closed, for_closed),
        (vec!["thumbv7em-none-eabi"], for_bare),
    ] {
        let here = targets.into_iter().filter(|target| has_target(target, "target"));
        let mut call: Vec<String> = here.map(|target| format!("--target={target}")).collect();
        if call.is_empty() {
            continue;
        }
        println!("targets: {}", call.join(" "));
        call.extend(arguments);
        passed &= clippy(&call.iter().map(String::as_str).collect::<Vec<_>>());
    }
    passed
}

/// Whether there is a standard library for a target; installs it if possible. Says what is skipped.
pub(crate) fn has_target(target: &str, name: &str) -> bool {
    let rustup = |arguments: &[&str]| Command::new("rustup").args(arguments).output();
    let installed = rustup(&["target", "list", "--installed"]);
    let installed = installed
        .is_ok_and(|it| String::from_utf8_lossy(&it.stdout).lines().any(|it| it == target));
    let has = installed || rustup(&["target", "add", target]).is_ok_and(|it| it.status.success());
    if !has {
        println!("SKIPPED {name}-{target}: rustup target add {target}");
    }
    has
}

/// Clippy, because its flags need no second build of everything. Of the lints only those of the
/// compiler, such as for code that nothing uses: those of style would judge what a switch has left.
fn clippy(arguments: &[&str]) -> bool {
    let mut command = suite::cargo();
    command.args(["clippy", "--quiet", "--locked"]).args(arguments);
    command.args(["--", "-D", "warnings", "-A", "clippy::all"]);
    command.status().is_ok_and(|status| status.success())
}

/// A package of the workspace.
struct Package {
    name: String,
    folder: PathBuf,
    /// But for `default`.
    features: Vec<String>,
}

fn packages() -> Vec<Package> {
    let mut command = suite::cargo();
    command.args(["metadata", "--locked", "--no-deps", "--format-version=1"]);
    let output = command.output().expect("cargo can be started").stdout;
    let metadata: Value = serde_json::from_slice(&output).expect("cargo writes JSON");
    let package = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let features = package["features"].as_object()?.keys();
        Some(Package {
            name: package["name"].as_str()?.to_owned(),
            folder: manifest.parent()?.to_owned(),
            features: features.filter(|name| *name != "default").cloned().collect(),
        })
    };
    metadata["packages"].as_array().into_iter().flatten().filter_map(package).collect()
}

/// Whether a file of a folder contains a text.
fn contains(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).expect("a package has sources").any(|entry| {
        let path = entry.expect("a folder can be read").path();
        match path.is_dir() {
            true => contains(&path, text),
            false => fs::read_to_string(path).is_ok_and(|file| file.contains(text)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::halves;

    #[test]
    fn each_feature_is_tried_without_each_other() {
        for count in 0..=20 {
            let features: Vec<String> = (0..count).map(|i| format!("feature-{i}")).collect();
            let parts = halves(&features);
            for one in &features {
                assert!(parts.iter().any(|part| part.contains(&one.as_str())), "{one} of {count}");
                for other in features.iter().filter(|it| *it != one) {
                    let has = |part: &&Vec<&str>| {
                        part.contains(&one.as_str()) && !part.contains(&other.as_str())
                    };
                    assert!(parts.iter().find(has).is_some(), "{one} without {other} of {count}");
                }
            }
        }
    }
}
