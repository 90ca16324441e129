//! What programs in C rely on: symbols with their versions, functions, constants, and layouts of
//! structures. `surfaces/c/abi.txt` lists them; nothing in it changes while the library has its
//! name.

use core::fmt::Write as _;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::suite;

const LIST: &str = "surfaces/c/abi.txt";
const HEADER: &str = "surfaces/c/include/lanecrypt.h";
/// What the list says about itself.
const ABOUT: &str = "\
# What programs in C rely on: `cargo xtask abi LIBRARY --update` adds what is new. A line that is
# removed or changed breaks them, and needs another name of the library (scripts/c-install.sh).
";

/// Compares the list with the header and, if it is given, with a shared library; `update` adds
/// what is new.
pub(crate) fn check(library: Option<&str>, update: bool) -> bool {
    let listed = fs::read_to_string(LIST).unwrap_or_default();
    let mut listed: BTreeSet<&str> = listed.lines().filter(|line| !line.starts_with('#')).collect();
    let header = fs::read_to_string(HEADER).expect("the header is there");
    let Some(found) = contents(&header, library) else { return false };
    let found: BTreeSet<&str> = found.lines().collect();
    if library.is_some() && !is_declared(&found) {
        return false;
    }
    if library.is_none() {
        listed.retain(|line| !line.starts_with("symbol "));
    }
    let mut passed = true;
    for line in listed.difference(&found) {
        println!("FAILED abi: removed or changed, which breaks programs: {line}");
        passed = false;
    }
    let new: Vec<_> = found.difference(&listed).collect();
    if update && passed && library.is_some() {
        let lines: String = found.iter().map(|line| format!("{line}\n")).collect();
        fs::write(LIST, format!("{ABOUT}{lines}")).expect("the list can be written");
        return true;
    }
    for line in &new {
        println!("FAILED abi: not in {LIST}: {line}");
    }
    passed && new.is_empty()
}

/// Whether the library exports the functions of the header, and nothing else.
fn is_declared(found: &BTreeSet<&str>) -> bool {
    let exported = found.iter().filter_map(|line| line.strip_prefix("symbol ")?.split('@').next());
    let exported: BTreeSet<_> = exported.collect();
    let fronts = found.iter().filter_map(|line| line.split_once('('));
    let declared: BTreeSet<_> =
        fronts.filter_map(|(front, _)| front.rsplit([' ', '*']).next()).collect();
    for name in exported.symmetric_difference(&declared) {
        println!("FAILED abi: only declared, or only exported: {name}");
    }
    exported == declared
}

/// Compares a shared library with an older one by `abidiff`, if it is there.
pub(crate) fn compare(older: &str, library: &str) -> bool {
    let status = Command::new("abidiff").args(["--no-added-syms", older, library]).status();
    let Ok(status) = status else {
        println!("SKIPPED abidiff: apt install abigail-tools");
        return true;
    };
    // Symbols that are new are no difference.
    if !status.success() {
        println!("FAILED abi: {library} may break programs that were linked with {older}");
    }
    status.success()
}

/// Compares the library with that of the last tag before this commit, if there is one.
pub(crate) fn last_release() -> bool {
    let mut git = Command::new("git");
    git.args(["describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^"]);
    let output = git.stderr(Stdio::null()).output().expect("git can be started");
    let tag = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || tag.is_empty() {
        println!("abi: there is no release before this commit");
        return true;
    }
    let folder = suite::target().join("abi");
    let sources = folder.join("sources");
    let _ = fs::remove_dir_all(&sources);
    let run = |command: &mut Command| command.status().is_ok_and(|status| status.success());
    let mut git = Command::new("git");
    git.args(["worktree", "prune"]);
    let mut add = Command::new("git");
    add.args(["worktree", "add", "--detach"]).arg(&sources).arg(&tag);
    if !run(&mut git) || !run(&mut add) {
        println!("FAILED abi: no sources of {tag}");
        return false;
    }
    let build = |sources: &Path, name: &str| {
        let prefix = folder.join(name);
        let mut command = Command::new(sources.join("scripts/c-install.sh"));
        command.arg(&prefix).env("CARGO_TARGET_DIR", folder.join("build"));
        run(&mut command).then(|| prefix.join("lib/liblanecrypt.so").display().to_string())
    };
    let older = build(&sources, "older");
    let library = build(suite::root(), "newer");
    let (Some(older), Some(library)) = (older, library) else {
        println!("FAILED abi: {tag} or this version cannot be built");
        return false;
    };
    println!("abi: beside {tag}");
    check(Some(&library), false) & compare(&older, &library)
}

/// All lines of the list, unordered.
fn contents(header: &str, library: Option<&str>) -> Option<String> {
    let bare = bare(header);
    let mut text = String::new();
    for function in functions(&bare) {
        let _ = writeln!(text, "{function}");
    }
    text += &numbers(&bare)?;
    for symbol in library.map_or_else(|| Some(BTreeSet::new()), symbols)? {
        let _ = writeln!(text, "symbol {symbol}");
    }
    Some(text)
}

/// The symbols that a shared library exports, with their versions.
fn symbols(library: &str) -> Option<BTreeSet<String>> {
    let output = Command::new("nm").args(["-D", "--defined-only", library]).output().ok()?;
    if !output.status.success() {
        println!("FAILED abi: {}", String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    let text = String::from_utf8(output.stdout).ok()?;
    let fields = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    // `A` are the versions themselves.
    let symbols = fields.filter_map(|line| match line[..] {
        [_, kind, name] if kind != "A" => Some(name.to_owned()),
        _ => None,
    });
    Some(symbols.collect())
}

/// The header without comments, preprocessor and blanks in a row.
fn bare(header: &str) -> String {
    let mut parts = header.split("/*");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part.split_once("*/").expect("a comment ends").1;
    }
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.flat_map(str::split_whitespace).collect::<Vec<_>>();
    words.join(" ").replace("LC_CHECK ", "")
}

/// The declarations of functions.
fn functions(bare: &str) -> impl Iterator<Item = &str> {
    let statements = bare.split([';', '{', '}']).map(str::trim);
    statements.filter(|statement| statement.contains('('))
}

/// The members of each `enum` or `struct`, with its name.
fn members<'h>(bare: &'h str, kind: &str) -> Vec<(&'h str, Vec<&'h str>)> {
    let end = if kind == "enum" { ',' } else { ';' };
    let mut found = Vec::new();
    for behind in bare.split(&format!("{kind} ")).skip(1) {
        let Some((name, body)) = behind.split_once(" {") else { continue };
        if name.contains([' ', ';']) {
            continue;
        }
        let body = body.split_once('}').expect("it ends").0;
        let members = body.split(end).map(str::trim).filter(|member| !member.is_empty());
        found.push((name, members.collect()));
    }
    found
}

/// Constants, and places and sizes of fields, as a compiler of C has them.
fn numbers(bare: &str) -> Option<String> {
    let mut program = String::from(
        "#include <stddef.h>\n#include <stdio.h>\n#include <lanecrypt.h>\n\
         #define ALIGN(t) offsetof(struct { char c; struct t s; }, s)\n\
         #define SIZE(t, f) sizeof(((struct t *)0)->f)\nint main(void) {\n",
    );
    for (name, members) in members(bare, "enum") {
        for member in members {
            let constant = member.split(' ').next().unwrap_or(member);
            let _ = writeln!(program, "printf(\"enum {name} {constant} %d\\n\", (int){constant});");
        }
    }
    for (name, fields) in members(bare, "struct") {
        let of = format!("sizeof(struct {name}), ALIGN({name})");
        let _ = writeln!(program, "printf(\"struct {name} of %zu, aligned to %zu\\n\", {of});");
        for declared in fields {
            let field = declared.split('[').next().unwrap_or(declared);
            let field = field.rsplit([' ', '*']).next().unwrap_or(field);
            let _ = writeln!(
                program,
                "printf(\"struct {name} at %zu, %zu bytes: {declared}\\n\", \
                 offsetof(struct {name}, {field}), SIZE({name}, {field}));"
            );
        }
    }
    program += "return 0; }\n";
    let folder = suite::target().join("abi");
    fs::create_dir_all(&folder).expect("the folder of build results can be written");
    let (source, built) = (folder.join("layout.c"), folder.join("layout"));
    fs::write(&source, program).expect("the folder of build results can be written");
    let compiler = std::env::var("CC").unwrap_or_else(|_| String::from("cc"));
    let mut compile = Command::new(compiler);
    compile.arg("-Isurfaces/c/include").arg("-o").args([&built, &source]).stdin(Stdio::null());
    if !compile.status().is_ok_and(|status| status.success()) {
        println!("FAILED abi: the header cannot be compiled");
        return None;
    }
    let said = Command::new(&built).output().expect("it runs").stdout;
    String::from_utf8(said).ok()
}
