//! The licences of crates that are linked into programs and libraries, in Debian's format 1.0 of
//! copyright files.

use core::fmt::Write as _;
use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use serde_json::Value;

use super::{ARCHITECTURES, output_of};
use crate::suite;

/// What is packaged.
const BUILT: [&str; 3] = ["-planecrypt-cli", "-planecrypt-c", "-planecrypt-openssl"];
/// Beginnings of the names of files with notices.
const NOTICES: [&str; 4] = ["LICENSE", "LICENCE", "COPYRIGHT", "COPYING"];

/// A copyright file, with a paragraph for each crate that is linked on any processor: packages of
/// two that are installed together share the file. An error if the licence of one has none in
/// `head`.
pub(super) fn with_crates(head: &str) -> io::Result<String> {
    let mut text = head.to_owned();
    for Linked { name, version, license, notices } in linked()? {
        let license = in_words(&license);
        for part in license.split(" or ").flat_map(|it| it.split(" and ")) {
            let part = part.trim_matches(['(', ')']);
            if !head.lines().any(|line| line.strip_prefix("License: ") == Some(part)) {
                let file = "packaging/debian/copyright";
                return Err(io::Error::other(format!("{name}: {file} has no `License: {part}`")));
            }
        }
        let notices = notices.join("\n           ");
        let _ = write!(
            text,
            "\nFiles: vendor/{name}-{version}/*\nCopyright: {notices}\nLicense: {license}\n"
        );
    }
    Ok(text)
}

/// An expression of SPDX as Debian writes it.
fn in_words(license: &str) -> String {
    let license = license.replace('/', " OR ");
    license.replace(" OR ", " or ").replace(" AND ", " and ").replace(" WITH ", " with ")
}

/// A crate of others that is linked.
struct Linked {
    name: String,
    version: String,
    license: String,
    /// Those who have the copyright, one at least.
    notices: Vec<String>,
}

fn linked() -> io::Result<Vec<Linked>> {
    let mut command = suite::cargo();
    command
        .args(["tree", "--locked", "--prefix=none", "--format={p}", "--charset=ascii"])
        .arg("--edges=normal,no-proc-macro")
        .args(ARCHITECTURES.map(|it| format!("--target={}", it.target)))
        .args(BUILT);
    // `NAME vVERSION`, and a folder behind those of the workspace.
    let tree = output_of(&mut command)?;
    let crates: BTreeSet<(&str, &str)> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .filter(|line| !line.contains(" ("))
        .filter_map(|line| line.split_once(" v"))
        .collect();
    let mut command = suite::cargo();
    command
        .args(["metadata", "--locked", "--format-version=1"])
        .args(ARCHITECTURES.map(|it| format!("--filter-platform={}", it.target)));
    let metadata: Value = serde_json::from_str(&output_of(&mut command)?)?;
    let mut linked = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        let (name, version, license) = (text("name"), text("version"), text("license"));
        if crates.contains(&(&name, &version)) {
            let folder = text("manifest_path");
            let folder = Path::new(&folder).parent().unwrap_or(Path::new("/"));
            let mut notices = notices_in(folder)?;
            if notices.is_empty() {
                let authors = package["authors"].as_array().into_iter().flatten();
                notices.extend(authors.filter_map(|it| it.as_str()).map(str::to_owned));
            }
            if notices.is_empty() {
                notices.push(format!("the authors of {name}"));
            }
            linked.push(Linked { name, version, license, notices });
        }
    }
    if linked.len() != crates.len() {
        return Err(io::Error::other("cargo tree and cargo metadata name other crates"));
    }
    linked.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(linked)
}

/// The notices of a crate's own files, each once.
fn notices_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().to_uppercase();
        if NOTICES.iter().any(|it| name.starts_with(it)) && file.file_type()?.is_file() {
            files.push(file.path());
        }
    }
    files.sort();
    let mut notices: Vec<String> = Vec::new();
    for file in files {
        let text = fs::read(file)?;
        for notice in String::from_utf8_lossy(&text).lines().filter_map(notice) {
            if !notices.contains(&notice) {
                notices.push(notice);
            }
        }
    }
    Ok(notices)
}

/// Whose the copyright is, if a line says so: `Copyright (c) 2020 …`. A line of a licence itself,
/// such as `Copyright [yyyy]`, does not.
fn notice(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches(['#', '*', '/', ';', ' ']);
    let owner = line.strip_prefix("Copyright")?.trim_start_matches([':', ' ']);
    let owner = ["(c)", "(C)", "©"].iter().find_map(|it| owner.strip_prefix(it)).unwrap_or(owner);
    let owner =
        owner.trim().trim_end_matches("All rights reserved.").trim_end_matches([' ', '.', ',']);
    let begins = |it: char| it.is_ascii_digit() || it.is_uppercase();
    let is_heading = ["License", "Notice"].iter().any(|it| owner.starts_with(it));
    (owner.starts_with(begins) && !is_heading).then(|| owner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{in_words, notice};

    #[test]
    fn notices_are_found() {
        for (line, owner) in [
            ("Copyright (c) 2016-2021 Some One. All rights reserved.", Some("2016-2021 Some One")),
            ("   Copyright © 2015, Some One", Some("2015, Some One")),
            ("// Copyright 2015-2016 Some One.", Some("2015-2016 Some One")),
            ("Copyright The Project Developers", Some("The Project Developers")),
            ("   Copyright [yyyy] [name of copyright owner]", None),
            ("Copyright {yyyy} {name of copyright owner}", None),
            ("copyright notice and this permission notice appear in all copies.", None),
            ("Copyright License", None),
            ("COPYRIGHT HOLDERS AND CONTRIBUTORS", None),
        ] {
            assert_eq!(notice(line).as_deref(), owner, "{line}");
        }
    }

    #[test]
    fn expressions_are_debians() {
        assert_eq!(in_words("MIT/Apache-2.0"), "MIT or Apache-2.0");
        assert_eq!(
            in_words("Apache-2.0 WITH LLVM-exception OR MIT"),
            "Apache-2.0 with LLVM-exception or MIT"
        );
        assert_eq!(in_words("ISC AND (Apache-2.0 OR ISC)"), "ISC and (Apache-2.0 or ISC)");
    }
}
