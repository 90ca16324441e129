//! What is inside of packages: a list in CycloneDX's form for each, and the licences of others'
//! work.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{Arch, Outcome, Release, copy, output, read, run_command, write};
use crate::suite;

/// A package, by the crate that it is built of.
struct Package {
    /// The name under which it is installed.
    name: &'static str,
    /// The workspace, from the root.
    workspace: &'static str,
    member: &'static str,
    /// The folder of that crate, from the root.
    folder: &'static str,
}

const PACKAGES: [Package; 4] = [
    Package { name: "lanecrypt", workspace: "", member: "lanecrypt-cli", folder: "cli" },
    Package { name: "liblanecrypt", workspace: "", member: "lanecrypt-c", folder: "surfaces/c" },
    Package {
        name: "lanecrypt-openssl",
        workspace: "",
        member: "lanecrypt-openssl",
        folder: "surfaces/openssl",
    },
    Package {
        name: "lanecrypt-python",
        workspace: "surfaces/python",
        member: "lanecrypt-python",
        folder: "surfaces/python",
    },
];

/// The two with a text of licences: the first has those of all that this workspace builds.
const WITH_LICENCES: [&str; 2] = ["lanecrypt", "lanecrypt-python"];

/// Name and version of a crate.
type Crate = (String, String);

/// Writes lists and licences into `dist/`.
pub(super) fn make(release: &Release, archs: &[Arch]) -> Outcome {
    let licences = release.fresh(release.dist.join("licences"))?;
    for package in WITH_LICENCES {
        let name = third_party(package);
        copy(&folder_of_licences(release).join(&name), &licences.join(&name))?;
    }
    let lists = release.fresh(release.dist.join("sbom"))?;
    for &arch in archs {
        for package in &PACKAGES {
            let list = list_of(release, package.name, arch);
            copy(&list, &lists.join(list.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

/// Finds out what is inside, for all parts that have it in their packages.
pub(super) fn collect(release: &Release, archs: &[Arch]) -> Outcome {
    licences(release)?;
    release.fresh(folder_of_lists(release))?;
    // The tool writes files beside each manifest, and paths into them.
    let sources = release.fresh(release.work.join("sources"))?;
    let archive = release.work.join("sources.tar");
    run_command(Command::new("git").args(["archive", "--output"]).arg(&archive).arg("HEAD"))?;
    run_command(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&sources))?;
    for &arch in archs {
        for workspace in ["", "surfaces/python"] {
            let mut list = release.tools.of_crate("cargo-cyclonedx");
            list.args(["--quiet", "--format=json", "--spec-version=1.5", "--no-build-deps"])
                .args(["--target", &arch.gnu(), "--override-filename=sbom"])
                .current_dir(sources.join(workspace));
            release.reproducible(&mut list, &[])?;
            run_command(&mut list)?;
        }
        for package in &PACKAGES {
            let list = read(&sources.join(package.folder).join("sbom.json"))?;
            let crates = crates(package, &[arch])?;
            let list = reduced(&list, &sources, &crates)?;
            write(&list_of(release, package.name, arch), &(list + "\n"))?;
        }
    }
    Ok(())
}

/// Writes the licences of others' work.
fn licences(release: &Release) -> Outcome {
    let folder = release.fresh(folder_of_licences(release))?;
    let mut all: BTreeMap<_, BTreeSet<Crate>> = BTreeMap::new();
    for package in &PACKAGES {
        all.entry(package.workspace).or_default().extend(crates(package, &Arch::ALL)?);
    }
    for (workspace, package) in ["", "surfaces/python"].into_iter().zip(WITH_LICENCES) {
        let manifest = suite::root().join(workspace).join("Cargo.toml");
        let mut fetch = suite::cargo();
        fetch.args(["fetch", "--quiet", "--locked", "--manifest-path"]).arg(&manifest);
        run_command(&mut fetch)?;
        let file = release.work.join("licences.json");
        let mut about = release.tools.of_crate("cargo-about");
        // With the network it would also look for repositories.
        about
            .args(["generate", "--workspace", "--frozen", "--fail", "--format=json"])
            .args(["--config=packaging/about.toml", "--manifest-path"])
            .arg(manifest)
            .arg("--output-file")
            .arg(&file);
        run_command(&mut about)?;
        let text = licence_text(&read(&file)?, &all[workspace])?;
        write(&folder.join(third_party(package)), &(text + &of_compilers(release)?))?;
    }
    Ok(())
}

/// The list of what is inside of a package, as it was collected.
pub(super) fn list_of(release: &Release, package: &str, arch: Arch) -> PathBuf {
    folder_of_lists(release).join(format!("{package}-{}.cdx.json", arch.gnu()))
}

fn folder_of_lists(release: &Release) -> PathBuf {
    release.work.join("sbom")
}

/// Copies the licences of this project, and of what is inside of packages.
pub(super) fn copy_licences(release: &Release, package: &str, folder: &Path) -> Outcome {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(Path::new(name), &folder.join(name))?;
    }
    let name = third_party(package);
    copy(&folder_of_licences(release).join(&name), &folder.join(&name))
}

fn folder_of_licences(release: &Release) -> PathBuf {
    release.work.join("licences")
}

/// The file with the licences of others' work.
fn third_party(package: &str) -> String {
    format!("THIRD-PARTY-{package}.txt")
}

/// The crates that a package is built of, as cargo resolves its features. Other tools unite those
/// of all members of a workspace.
fn crates(package: &Package, archs: &[Arch]) -> Outcome<BTreeSet<Crate>> {
    let mut all = BTreeSet::new();
    for arch in archs {
        let mut tree = suite::cargo();
        tree.args(["tree", "--locked", "--prefix=none", "--edges=normal,no-proc-macro"])
            .args(["--package", package.member, "--target", &arch.gnu(), "--format={p}"])
            .current_dir(suite::root().join(package.workspace));
        for line in output(&mut tree)?.lines() {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default().to_owned();
            let version = words.next().and_then(|it| it.strip_prefix('v')).unwrap_or_default();
            all.insert((name, version.to_owned()));
        }
    }
    Ok(all)
}

fn crate_of(value: &Value) -> Option<Crate> {
    Some((value["name"].as_str()?.to_owned(), value["version"].as_str()?.to_owned()))
}

/// A list in CycloneDX's form, reduced to these crates and without the path of the sources.
fn reduced(list: &str, sources: &Path, crates: &BTreeSet<Crate>) -> Outcome<String> {
    let list = list.replace(&format!("file://{}", sources.display()), "file:///lanecrypt");
    let mut list: Value = serde_json::from_str(&list).map_err(|it| it.to_string())?;
    let is_inside = |it: &Value| crate_of(it).is_some_and(|it| crates.contains(&it));
    let reference = |it: &Value| it["bom-ref"].as_str().map(str::to_owned);
    let components = list["components"].as_array_mut().ok_or("there are no components")?;
    components.retain(is_inside);
    let mut inside: BTreeSet<String> = components.iter().filter_map(reference).collect();
    let found: BTreeSet<Crate> = components.iter().filter_map(crate_of).collect();
    let own = &list["metadata"]["component"];
    inside.extend(reference(own));
    let own = crate_of(own);
    let missing = crates.iter().find(|it| !found.contains(it) && own.as_ref() != Some(it));
    if let Some((name, version)) = missing {
        return Err(format!("cargo-cyclonedx does not list {name} {version}"));
    }
    let is_inside = |it: &Value| it.as_str().is_some_and(|it| inside.contains(it));
    let edges = list["dependencies"].as_array_mut().ok_or("there are no dependencies")?;
    edges.retain(|it| is_inside(&it["ref"]));
    for targets in edges.iter_mut().filter_map(|it| it["dependsOn"].as_array_mut()) {
        targets.retain(is_inside);
    }
    serde_json::to_string_pretty(&list).map_err(|it| it.to_string())
}

/// Licences of these crates: each text once, after the crates that are under it.
fn licence_text(about: &str, crates: &BTreeSet<Crate>) -> Outcome<String> {
    let about: Value = serde_json::from_str(about).map_err(|it| it.to_string())?;
    let licences = about["licenses"].as_array().ok_or("there are no licences")?;
    // The same text may be there for several crates.
    let mut texts: BTreeMap<(&str, &str), BTreeSet<Crate>> = BTreeMap::new();
    let is_ours = |(name, _): &Crate| name.contains("lanecrypt");
    for licence in licences {
        let users = licence["used_by"].as_array().into_iter().flatten();
        let users = users.filter_map(|it| crate_of(&it["crate"]));
        let users = users.filter(|it| crates.contains(it) && !is_ours(it));
        let name = licence["name"].as_str().ok_or("a licence has no name")?;
        let text = licence["text"].as_str().ok_or("a licence has no text")?;
        texts.entry((name, text.trim_matches('\n'))).or_default().extend(users);
    }
    texts.retain(|_, users| !users.is_empty());
    let found: BTreeSet<&Crate> = texts.values().flatten().collect();
    let missing = crates.iter().find(|it| !is_ours(it) && !found.contains(it));
    if let Some((name, version)) = missing {
        return Err(format!("cargo-about has no licence of {name} {version}"));
    }
    let mut all = String::from("Work of others that is inside, and its licences.\n");
    for ((name, text), users) in texts {
        let users: Vec<_> =
            users.iter().map(|(name, version)| format!("{name} {version}")).collect();
        all += &section(&format!("{name}\n{}", users.join("\n")), text);
    }
    Ok(all)
}

fn section(title: &str, text: &str) -> String {
    let text: String = text.lines().map(|it| it.trim_end().to_owned() + "\n").collect();
    format!("\n{}\n{title}\n\n{text}", "=".repeat(80))
}

/// Licences of what compilers add: Rust's and C's libraries.
fn of_compilers(release: &Release) -> Outcome<String> {
    let rust = "The standard library of Rust is under the MIT and the Apache licence, as above.\n\
                Copyright (c) The Rust Project Contributors";
    let unwinder = release.tools.zig_library()?.join("libunwind/LICENSE.TXT");
    Ok(section("Rust", rust) + &section("libunwind, of LLVM", &read(&unwinder)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use serde_json::Value;

    use super::{Crate, licence_text, reduced};

    fn crates(names: &[&str]) -> BTreeSet<Crate> {
        names.iter().map(|&it| (it.to_owned(), String::from("1.0.0"))).collect()
    }

    #[test]
    fn lists_have_what_is_inside_and_no_path() {
        let list = r#"{
            "metadata": {
                "component": {"bom-ref": "p file:///a/b#own", "name": "own", "version": "1.0.0"}
            },
            "components": [
                {"bom-ref": "used", "name": "used", "version": "1.0.0"},
                {"bom-ref": "other", "name": "other", "version": "1.0.0"}
            ],
            "dependencies": [
                {"ref": "p file:///a/b#own", "dependsOn": ["other", "used"]},
                {"ref": "used"},
                {"ref": "other", "dependsOn": ["used"]}
            ]
        }"#;
        let path = Path::new("/a/b");
        let text = reduced(list, path, &crates(&["own", "used"])).expect("all are there");
        let list: Value = serde_json::from_str(&text).expect("it is JSON");
        assert!(!text.contains("/a/b") && !text.contains("other"), "{text}");
        assert_eq!(list["components"].as_array().map(Vec::len), Some(1));
        assert_eq!(list["dependencies"][0]["dependsOn"][0], "used");
        let error = reduced(&text, path, &crates(&["own", "used", "new"])).expect_err("one misses");
        assert!(error.contains("new 1.0.0"), "{error}");
    }

    #[test]
    fn texts_are_those_of_the_crates_that_are_inside() {
        let about = r#"{"licenses": [
            {"name": "MIT", "text": "free\n", "used_by": [
                {"crate": {"name": "b", "version": "1.0.0"}},
                {"crate": {"name": "x", "version": "1.0.0"}}
            ]},
            {"name": "MIT", "text": "free", "used_by": [
                {"crate": {"name": "a", "version": "1.0.0"}}
            ]},
            {"name": "X", "text": "for x", "used_by": [
                {"crate": {"name": "x", "version": "1.0.0"}}
            ]}
        ]}"#;
        let text =
            licence_text(about, &crates(&["a", "b", "lanecrypt-rsa"])).expect("all are there");
        assert!(text.contains("MIT\na 1.0.0\nb 1.0.0\n\nfree\n"), "{text}");
        assert!(!text.contains("for x") && !text.contains("lanecrypt"), "{text}");
        let error = licence_text(about, &crates(&["a", "c"])).expect_err("one has no licence");
        assert!(error.contains("c 1.0.0"), "{error}");
    }
}
