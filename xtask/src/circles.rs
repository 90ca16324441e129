//! Circles of imports among files and among crates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use proc_macro2::{TokenStream, TokenTree};

/// Whether no files of `src` import each other in a circle, and no crates by their files; prints
/// the imports of each circle.
///
/// A file imports another if its code names an item that the other defines, by a path or through
/// `use`. A re-export leads to the definition and is no import, and neither is what a file takes
/// from a module that it is part of. Not seen: methods, and macros without a path. What a macro
/// defines counts as an item of the module in which a path looks for it.
pub(crate) fn none() -> bool {
    let mut git = Command::new("git");
    git.args(["ls-files", "*src/lib.rs", "*src/main.rs", "*src/bin/*.rs"]);
    let roots = git.output().expect("git can be started").stdout;
    let mut tree = Tree::default();
    for root in String::from_utf8_lossy(&roots).lines() {
        tree.read(root, &|file| {
            fs::read_to_string(file).unwrap_or_else(|it| panic!("{file}: {it}"))
        });
    }
    let circles = tree.circles();
    circles.iter().for_each(|import| println!("FAILED circle of {import}"));
    circles.is_empty()
}

/// All modules.
#[derive(Default)]
struct Tree(Vec<Module>);

#[derive(Default)]
struct Module {
    name: String,
    file: String,
    /// Where the files of its modules are.
    folder: String,
    parent: Option<usize>,
    names: Vec<(String, Meaning)>,
    /// What its code names.
    paths: Vec<Vec<String>>,
}

/// What a name in a module stands for.
enum Meaning {
    Item,
    Module(usize),
    Import(Vec<String>),
}

/// Begin the definition of what has the next name.
const DEFINE: [&str; 8] = ["struct", "enum", "union", "trait", "type", "fn", "const", "static"];
/// Stand before another one of these words.
const QUALIFY: [&str; 3] = ["fn", "unsafe", "extern"];

type Read<'a> = &'a dyn Fn(&str) -> String;
/// A module, or one and the name of an item in it.
type Found<'a> = (usize, Option<&'a str>);

impl Tree {
    /// Reads a crate, from its first file.
    fn read(&mut self, file: &str, read: Read<'_>) {
        let (folder, first) = file.rsplit_once('/').expect("it is in src");
        let manifest = read(&format!("{}/Cargo.toml", package(file)));
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = "));
        // Nothing can import a program.
        let name = name.filter(|_| first == "lib.rs").unwrap_or_default();
        let name = name.trim_matches('"').replace('-', "_");
        let (file, folder) = (file.to_owned(), folder.to_owned());
        self.module(Module { name, file, folder, ..Module::default() }, None, read);
    }

    /// Reads a module, from its file unless it has tokens.
    fn module(&mut self, module: Module, tokens: Option<TokenStream>, read: Read<'_>) {
        let parse = || read(&module.file).parse().expect("the compiler has read it");
        let tokens = tokens.unwrap_or_else(parse);
        let at = self.0.len();
        if let Some(parent) = module.parent {
            self.0[parent].names.push((module.name.clone(), Meaning::Module(at)));
        }
        self.0.push(module);
        self.tokens(at, tokens, true, read);
    }

    /// Reads tokens of a module. What is defined in brackets has no name outside them.
    fn tokens(&mut self, module: usize, tokens: TokenStream, outside: bool, read: Read<'_>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let texts: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        let text = |at: usize| texts.get(at).map_or("", String::as_str);
        let before = |at: usize, back| at.checked_sub(back).map_or("", text);
        let is_name = |at: usize| matches!(tokens.get(at), Some(TokenTree::Ident(_)));
        let (mut next, mut other_file, mut is_only) = (0, None, false);
        while let at = next
            && at < tokens.len()
        {
            next += 1;
            if let TokenTree::Group(group) = &tokens[at] {
                let attribute = text(at).split_once("path = \"").filter(|_| before(at, 1) == "#");
                other_file = attribute.and_then(|(_, path)| path.split('"').next()).or(other_file);
                is_only |= attribute.is_some() && text(at).starts_with("[path");
                self.tokens(module, group.stream(), false, read);
            } else if text(at) == "mod" && is_name(next) {
                let Module { file, folder, .. } = &self.0[module];
                let (name, parent) = (text(next), Some(module));
                let folder = format!("{folder}/{name}");
                let mut parts = vec![match tokens.get(next + 1) {
                    Some(TokenTree::Group(group)) => (file.clone(), folder, Some(group.stream())),
                    _ => (format!("{folder}.rs"), folder, None),
                }];
                // On one processor it is another file, beside which are its modules.
                if let Some(path) = other_file.take() {
                    let folder =
                        |file: &str| file.rsplit_once('/').expect("it is in src").0.to_owned();
                    let file = format!("{}/{path}", folder(file));
                    // Without a condition it is the only one.
                    if core::mem::take(&mut is_only) {
                        parts.clear();
                    }
                    parts.push((file.clone(), folder(&file), None));
                }
                for (file, folder, tokens) in parts {
                    let name = name.to_owned();
                    let module = Module { name, file, folder, parent, ..Module::default() };
                    self.module(module, tokens, read);
                }
                next += 2;
            } else if text(at) == "use" && (is_name(next) || text(next).starts_with('{')) {
                let end = (at..tokens.len()).find(|&it| text(it) == ";").unwrap_or(tokens.len());
                let exported = matches!(before(at, 1), "pub" | "(crate)" | "(super)");
                self.import(module, &[], &tokens[next..end], exported);
                next = end;
            } else if DEFINE.contains(&text(at)) && is_name(next) && !QUALIFY.contains(&text(next))
            {
                if outside {
                    self.0[module].names.push((text(next).to_owned(), Meaning::Item));
                }
                next += 1;
            } else if is_name(at) && (before(at, 1) != "." || before(at, 2) == ".") {
                let mut path = vec![text(at).to_owned()];
                while text(next) == ":" && text(next + 1) == ":" && is_name(next + 2) {
                    path.push(text(next + 2).to_owned());
                    next += 3;
                }
                self.0[module].paths.push(path);
            }
        }
    }

    /// Reads what follows `use` and a path. The code names it, unless it is exported.
    fn import(&mut self, module: usize, path: &[String], tokens: &[TokenTree], exported: bool) {
        for part in tokens.split(|token| token.to_string() == ",") {
            let names = part.iter().map(ToString::to_string).filter(|text| text != ":");
            let mut path = [path, &names.collect::<Vec<_>>()].concat();
            let Some(mut name) = path.last().cloned() else { continue };
            if let Some(TokenTree::Group(group)) = part.last() {
                let inner: Vec<_> = group.stream().into_iter().collect();
                self.import(module, &path[..path.len() - 1], &inner, exported);
                continue;
            }
            path.truncate(path.iter().position(|name| name == "as").unwrap_or(path.len()));
            path.pop_if(|last| last == "self" || last == "*");
            if name == "self" {
                name = path.last().cloned().unwrap_or(name);
            }
            self.0[module].names.push((name, Meaning::Import(path.clone())));
            if !exported {
                self.0[module].paths.push(path);
            }
        }
    }

    /// What a path in a module names. `left` ends imports of themselves.
    fn find<'a>(&'a self, from: usize, path: &'a [String], left: usize) -> Vec<Found<'a>> {
        let Some((first, rest)) = path.split_first().filter(|_| left > 0) else { return vec![] };
        let library = |&at: &usize| self.0[at].parent.is_none() && self.0[at].name == *first;
        let library = || (0..self.0.len()).find(library).map(|at| (at, None)).into_iter().collect();
        let first = self.look_up(from, first, left).unwrap_or_else(library);
        rest.iter().fold(first, |found, name| {
            let each = found.into_iter().flat_map(|(module, item)| match item {
                None => self.look_up(module, name, left).unwrap_or(vec![(module, Some(name))]),
                Some(_) => vec![(module, item)],
            });
            each.collect()
        })
    }

    /// What a name stands for in a module; none if it stands for nothing.
    fn look_up<'a>(&'a self, from: usize, name: &'a str, left: usize) -> Option<Vec<Found<'a>>> {
        let Module { parent, names, .. } = &self.0[from];
        match (name, *parent) {
            ("self", _) | ("crate", None) => return Some(vec![(from, None)]),
            ("super", Some(parent)) => return Some(vec![(parent, None)]),
            ("crate", Some(parent)) => return self.look_up(parent, name, left),
            _ if left == 0 => return None,
            _ => {}
        }
        let wanted = if names.iter().any(|it| it.0 == name) { name } else { "*" };
        let found =
            names.iter().filter(|it| it.0 == wanted).flat_map(|(_, meaning)| match meaning {
                Meaning::Item => vec![(from, Some(name))],
                Meaning::Module(module) => vec![(*module, None)],
                Meaning::Import(path) => self.find(from, path, left - 1),
            });
        if wanted == name {
            return Some(found.collect());
        }
        let modules = found.filter(|(_, item)| item.is_none());
        modules.filter_map(|(module, _)| self.look_up(module, name, left - 1)).next()
    }

    /// The imports of each circle of files, and of each circle of crates.
    fn circles(&self) -> Vec<String> {
        let mut imports = BTreeMap::<_, BTreeSet<_>>::new();
        for (at, Module { file, paths, .. }) in self.0.iter().enumerate() {
            for (to, item) in paths.iter().flat_map(|path| self.find(at, path, 9)) {
                let to = &self.0[to].file;
                let inside = match to.rsplit_once('/') {
                    Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => format!("{folder}/"),
                    _ => to.replace(".rs", "/"),
                };
                if file != to && !file.starts_with(&inside) {
                    imports.entry((&**file, &**to)).or_default().extend(item);
                }
            }
        }
        imports.retain(|_, items| !items.is_empty());
        let file: fn(&str) -> &str = |file| file;
        let mut lines = Vec::new();
        for (kind, node) in [("files", file), ("crates", package)] {
            let mut arrows = BTreeMap::<_, BTreeSet<_>>::new();
            for (from, to) in imports.keys() {
                arrows.entry(node(from)).or_default().insert(node(to));
            }
            for ((from, to), items) in &imports {
                let (mut reached, mut left) = (BTreeSet::new(), vec![node(to)]);
                while let Some(here) = left.pop() {
                    if reached.insert(here) {
                        left.extend(arrows.get(here).into_iter().flatten());
                    }
                }
                if node(from) != node(to) && reached.contains(node(from)) {
                    let items = items.iter().copied().collect::<Vec<_>>().join(", ");
                    lines.push(format!("{kind}: {from} -> {to}: {items}"));
                }
            }
        }
        lines
    }
}

/// The folder of the package of a file.
fn package(file: &str) -> &str {
    file.split_once("/src/").expect("a package has files in src").0
}

#[cfg(test)]
mod tests {
    use super::Tree;

    /// The circles of packages `a` and `b`, whose files are given.
    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let read = |file: &str| match file.strip_suffix("/Cargo.toml") {
            Some(package) => format!("[package]\nname = \"{package}\"\n"),
            None => files.iter().find(|it| it.0 == file).expect("it is given").1.to_owned(),
        };
        let mut tree = Tree::default();
        let roots = files.iter().filter(|it| it.0.ends_with("/lib.rs"));
        roots.for_each(|(root, _)| tree.read(root, &read));
        tree.circles()
    }

    #[test]
    fn a_circle_is_found_behind_exports_and_in_tests() {
        let files = [
            ("a/src/lib.rs", "mod one; mod two; mod three; pub use self::one::*;"),
            ("a/src/one.rs", "mod part; use crate::two::{self, Two}; pub struct One(Two);"),
            ("a/src/one/part.rs", "use super::One; fn part(_: One) {}"),
            ("a/src/two.rs", "pub struct Two; fn two() -> u8 { crate::three::three() }"),
            (
                "a/src/three.rs",
                "pub const fn three() {} #[cfg(test)] mod tests { use crate::One; }",
            ),
        ];
        let expected = [
            "files: a/src/one.rs -> a/src/two.rs: Two",
            "files: a/src/three.rs -> a/src/one.rs: One",
            "files: a/src/two.rs -> a/src/three.rs: three",
        ];
        assert_eq!(circles(&files), expected);
    }

    #[test]
    fn a_circle_is_found_behind_a_file_for_one_processor() {
        let files = [
            ("a/src/lib.rs", "#[cfg_attr(one, path = \"one/mod.rs\")] mod arch; mod two;"),
            ("a/src/arch.rs", "pub fn f() {}"),
            ("a/src/one/mod.rs", "mod part; pub use part::f;"),
            ("a/src/one/part.rs", "pub fn f() { crate::two::g() }"),
            ("a/src/two.rs", "pub fn g() { crate::arch::f() }"),
        ];
        let expected = [
            "files: a/src/one/part.rs -> a/src/two.rs: g",
            "files: a/src/two.rs -> a/src/one/part.rs: f",
        ];
        assert_eq!(circles(&files), expected);
    }

    #[test]
    fn crates_are_in_a_circle_by_different_files() {
        let files = [
            ("a/src/lib.rs", "mod one; pub mod two;"),
            ("a/src/one.rs", "use b::B as Other;"),
            ("a/src/two.rs", "pub trait Two {}"),
            ("b/src/lib.rs", "pub enum B { Two } impl a::two::Two for B {}"),
        ];
        let expected = [
            "crates: a/src/one.rs -> b/src/lib.rs: B",
            "crates: b/src/lib.rs -> a/src/two.rs: Two",
        ];
        assert_eq!(circles(&files), expected);
    }

    #[test]
    fn what_is_no_import_makes_no_circle() {
        let files = [
            ("a/src/lib.rs", "pub mod one; mod two; pub use one::One;"),
            (
                "a/src/one.rs",
                "// crate::two::Two\npub struct One; /// [`Two`](crate::two::Two)\nfn f() {}",
            ),
            ("a/src/two.rs", "pub struct Two(crate::One); const TEXT: &str = \"crate::two\";"),
        ];
        assert_eq!(circles(&files), [""; 0]);
    }
}
