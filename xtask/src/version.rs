//! The version. It is defined in `Cargo.toml`; all other places are copies.

use core::ops::Range;
use std::fs;
use std::process::Command;

const DEFINED: &str = "Cargo.toml";
const CHANGES: &str = "CHANGELOG.md";
const HEADER: &str = "surfaces/c/include/lanecrypt.h";
/// The workspaces whose packages have the version, and their lists of packages.
const MANIFESTS: [&str; 2] = [DEFINED, "surfaces/python/Cargo.toml"];
const LOCKS: [&str; 3] = ["Cargo.lock", "fuzz/Cargo.lock", "surfaces/python/Cargo.lock"];
/// The changelog of the Debian packages, whose first line names the version.
const DEBIAN: &str = "packaging/debian/changelog";

/// As much of the version as a copy has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Whole,
    /// What cargo calls compatible: major and minor.
    Minor,
    /// Major, minor or patch.
    Part(usize),
}

/// A place with the version.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    form: Form,
    /// Its bytes in the file.
    range: Range<usize>,
}

/// Whether all copies are equal.
pub(crate) fn check() -> bool {
    let version = defined();
    let mut passed = true;
    for (file, text) in files() {
        for Place { form, range } in copies(&file, &text) {
            if text[range.clone()] != form.of(&version) {
                let line = text[..range.start].matches('\n').count() + 1;
                println!("FAILED version: {file}:{line} has {}, not {version}", &text[range]);
                passed = false;
            }
        }
    }
    if section(&read(CHANGES), &version).is_none() {
        println!("FAILED version: {CHANGES} has no section '## {version}'");
        passed = false;
    }
    passed
}

/// Sets all copies, and begins a section of the changelog.
pub(crate) fn set(new: &str) -> bool {
    if !is_version(new) {
        println!("FAILED version: {new} is none, such as 0.2.0");
        return false;
    }
    for (file, mut text) in files() {
        let mut copies = copies(&file, &text);
        copies.sort_by_key(|copy| copy.range.start);
        for Place { form, range } in copies.into_iter().rev() {
            text.replace_range(range, &form.of(new));
        }
        fs::write(&file, text).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    let mut changes = read(CHANGES);
    if section(&changes, new).is_none() {
        let at = changes.find("\n## ").map_or(changes.len(), |at| at + 1);
        changes.insert_str(at, &format!("## {new} (unreleased)\n\n"));
        fs::write(CHANGES, changes).expect("the changelog can be written");
    }
    check()
}

/// Whether what is here may become the release of this tag: `v` and the version, with a date in the
/// changelog.
pub(crate) fn release(tag: &str) -> bool {
    let version = defined();
    let mut passed = check();
    if tag.strip_prefix('v') != Some(&version) {
        println!("FAILED version: the tag {tag} is not v{version}");
        passed = false;
    }
    let changes = read(CHANGES);
    let date = section(&changes, &version).and_then(|rest| rest.strip_prefix(" - "));
    if !date.is_some_and(is_date) {
        println!("FAILED version: {CHANGES} has no '## {version} - YYYY-MM-DD'");
        passed = false;
    }
    if read("README.md").contains("not published yet") {
        println!("FAILED version: README.md says that it is not published yet");
        passed = false;
    }
    passed
}

/// Prints what the changelog says about the version.
pub(crate) fn notes() -> bool {
    let (changes, version) = (read(CHANGES), defined());
    let mut sections = changes.split("\n## ").skip(1);
    let Some(found) = sections.find(|it| it.split([' ', '\n']).next() == Some(&*version)) else {
        println!("FAILED version: {CHANGES} has no section '## {version}'");
        return false;
    };
    println!("{}", found.split_once('\n').map_or("", |(_, rest)| rest).trim());
    true
}

/// The version that `Cargo.toml` defines.
fn defined() -> String {
    let text = read(DEFINED);
    let (_, package) = text.split_once("[workspace.package]").expect("it is there");
    let (_, rest) = package.split_once("version = \"").expect("it has a version");
    rest.split('"').next().unwrap_or_default().to_owned()
}

fn read(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The files that have copies, with their contents.
fn files() -> Vec<(String, String)> {
    let mut git = Command::new("git");
    git.args(["ls-files", "*.md", "*/src/lib.rs", HEADER, DEBIAN]).args(MANIFESTS).args(LOCKS);
    let listed = git.output().expect("git can be started").stdout;
    let listed = String::from_utf8(listed).expect("names are UTF-8");
    listed.lines().map(|file| (file.to_owned(), read(file))).collect()
}

/// The copies in a file.
fn copies(file: &str, text: &str) -> Vec<Place> {
    let mut copies = Vec::new();
    let mut start = 0;
    let mut package = "";
    for line in text.split_inclusive('\n') {
        let mut find = |form, before: &str, end: char| {
            let Some(from) = line.find(before).map(|at| at + before.len()) else { return };
            let length = line[from..].find(end).unwrap_or(0);
            copies.push(Place { form, range: start + from..start + from + length });
        };
        if MANIFESTS.contains(&file) {
            if line.starts_with("version = \"") || line.contains("{ path = \"") {
                find(Form::Whole, "version = \"", '"');
            }
        } else if LOCKS.contains(&file) {
            if let Some(name) = line.strip_prefix("name = ") {
                package = name.trim();
            } else if is_ours(package, &text[start..]) {
                find(Form::Whole, "version = \"", '"');
            }
        } else if file == HEADER {
            for (part, name) in ["MAJOR", "MINOR", "PATCH"].iter().enumerate() {
                find(Form::Part(part), &format!("#define LC_VERSION_{name} "), '\n');
            }
        } else if file == DEBIAN {
            if start == 0 {
                find(Form::Whole, "(", '-');
            }
        } else if line.contains("lanecrypt") {
            find(Form::Minor, " = { version = \"", '"');
        }
        start += line.len();
    }
    copies
}

/// Whether the version that follows in a list of packages is that of one of ours: they have no
/// source. Those of fuzz targets and scripts have no version of their own.
fn is_ours(package: &str, rest: &str) -> bool {
    let is_named = package.contains("lanecrypt") || package == "\"xtask\"";
    let block = rest.split("[[package]]").next().unwrap_or_default();
    is_named && package != "\"lanecrypt-fuzz\"" && !block.contains("source = ")
}

impl Form {
    fn of(self, version: &str) -> String {
        let parts: Vec<_> = version.split('.').collect();
        match self {
            Self::Whole => version.to_owned(),
            Self::Minor => parts[..2].join("."),
            Self::Part(part) => parts[part].to_owned(),
        }
    }
}

fn is_version(text: &str) -> bool {
    let parts: Vec<_> = text.split('.').collect();
    let is_number = |part: &&str| part.parse::<u16>().is_ok_and(|it| it.to_string() == **part);
    parts.len() == 3 && parts.iter().all(is_number)
}

fn is_date(text: &str) -> bool {
    let is_digit = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(is_digit)
}

/// What follows the version in the heading of its section of the changelog.
fn section<'c>(changes: &'c str, version: &str) -> Option<&'c str> {
    let rests = changes.lines().filter_map(|line| line.strip_prefix("## ")?.strip_prefix(version));
    rests.filter(|rest| rest.is_empty() || rest.starts_with(' ')).map(str::trim_end).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Vec<String> {
        copies(file, text).into_iter().map(|copy| text[copy.range].to_owned()).collect()
    }

    #[test]
    fn copies_are_found_and_others_are_not() {
        let manifest = "version = \"1.2.3\"\nrust-version = \"1.89\"\n\
                        a = { path = \"a\", version = \"1.2.4\" }\nb = { version = \"7\" }\n";
        assert_eq!(found("Cargo.toml", manifest), ["1.2.3", "1.2.4"]);
        let lock = "[[package]]\nname = \"lanecrypt-rsa\"\nversion = \"1.2.3\"\n\n\
                    [[package]]\nname = \"lanecrypt-x\"\nversion = \"5.0.0\"\nsource = \"\"\n\n\
                    [[package]]\nname = \"serde\"\nversion = \"1.2.3\"\n";
        assert_eq!(found("Cargo.lock", lock), ["1.2.3"]);
        let page =
            "lanecrypt = { version = \"1.2\", features = [] }\nserde = { version = \"1.0\" }\n";
        assert_eq!(found("README.md", page), ["1.2"]);
        let header = "#define LC_VERSION_MAJOR 1\n#define LC_VERSION_PATCH 3\n#define OTHER 4\n";
        assert_eq!(found(HEADER, header), ["1", "3"]);
        assert_eq!(found(DEBIAN, "lanecrypt (1.2.3-1) unstable\n (closes: #1-2)\n"), ["1.2.3"]);
    }

    #[test]
    fn forms_and_headings() {
        let forms = [Form::Whole, Form::Minor, Form::Part(0), Form::Part(2)];
        assert_eq!(forms.map(|form| form.of("1.20.3")), ["1.20.3", "1.20", "1", "3"]);
        for wrong in ["1.2", "1.2.3.4", "1.02.3", "v1.2.3", "1.2.x", ""] {
            assert!(!is_version(wrong), "{wrong}");
        }
        let changes = "# Changelog\n\n## 1.2.30 - 2026-01-02\n\n## 1.2.3 (unreleased)\n";
        assert_eq!(section(changes, "1.2.3"), Some(" (unreleased)"));
        assert_eq!(section(changes, "1.2.30"), Some(" - 2026-01-02"));
        assert_eq!(section(changes, "1.2"), None);
        assert!(is_date("2026-01-02") && !is_date("2026-1-2") && !is_date("YYYY-MM-DD"));
    }
}
