//! Every `#[target_feature]` in the sources enables no more than the module's `NEEDS` promises.
//!
//! `by_isa!` calls a module's functions where the processor has the level that `NEEDS` names. A
//! function that enables more than this level has would run on processors without it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The levels in the order in which `isa.rs` detects them.
const LEVELS: [&str; 5] = ["Ssse3", "AesNi", "Avx2", "Avx2Vaes", "Avx512"];

/// Features that others bring along.
const IMPLIED: [(&str, &[&str]); 3] =
    [("ssse3", &["sse3"]), ("avx2", &["avx", "sse4.2"]), ("avx512f", &["fma"])];

/// Files of functions that modules of several levels share. The compiler checks that their callers
/// enable the same features; `wipe.rs` asks the processor.
const SHARED: [&str; 3] = ["simd.rs", "gcm/part.rs", "wipe.rs"];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The features of each level, with those of the levels below, as `isa.rs` detects them.
fn features_of_levels() -> BTreeMap<&'static str, BTreeSet<String>> {
    let isa = fs::read_to_string(sources().join("isa.rs")).expect("it is there");
    let (_, detection) = isa.split_once("is_x86_feature_detected as has;").expect("it detects");
    let (_, list) = detection.split_once('[').expect("a list of conditions");
    let (list, _) = list.split_once(']').expect("its end");
    let conditions: Vec<&str> = list.split(",\n").filter(|line| line.contains("has!")).collect();
    assert_eq!(conditions.len(), LEVELS.len(), "a condition for each level: {list}");

    let mut all = BTreeSet::new();
    let mut levels = BTreeMap::new();
    for (level, condition) in LEVELS.into_iter().zip(conditions) {
        all.extend(
            condition
                .split("has!(\"")
                .skip(1)
                .map(|rest| rest.split('"').next().expect("the name of a feature").to_string()),
        );
        for (feature, implied) in IMPLIED {
            if all.contains(feature) {
                all.extend(implied.iter().map(ToString::to_string));
            }
        }
        levels.insert(level, all.clone());
    }
    levels
}

/// The level that a file's module needs: its own, or that of the module it belongs to. Shared code of
/// one level says so in its file's name.
fn needs(file: &Path) -> Option<String> {
    let mut module = file.to_path_buf();
    loop {
        let Ok(text) = fs::read_to_string(&module) else {
            let name = file.file_stem()?.to_str()?;
            return LEVELS.iter().find(|level| level.to_lowercase() == name).map(|&l| l.into());
        };
        let constant = text.split_once("const NEEDS: Level = Level::");
        if let Some((_, level)) = constant {
            return Some(level.split(';').next()?.to_string());
        }
        // The parent of `a/b/c.rs` is `a/b.rs`.
        module = module.parent()?.with_extension("rs");
    }
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The features that a file enables, with their lines.
fn enabled(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).flat_map(|(line, code)| {
        let list = code
            .split_once("target_feature(enable = \"")
            .and_then(|(_, list)| list.split('"').next());
        list.into_iter().flat_map(move |list| list.split(',').map(move |name| (line, name.trim())))
    })
}

#[test]
fn no_function_enables_more_than_its_module_needs() {
    let levels = features_of_levels();
    let mut files = Vec::new();
    rust_files(&sources(), &mut files);
    let (mut seen, mut wrong) = (0, Vec::new());
    for file in files {
        if SHARED.iter().any(|shared| file == sources().join(shared)) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source file");
        let level = needs(&file);
        for (line, feature) in enabled(&text) {
            seen += 1;
            let allowed = level.as_deref().and_then(|level| levels.get(level));
            // Every x86-64 processor has SSE2.
            if feature != "sse2" && !allowed.is_some_and(|allowed| allowed.contains(feature)) {
                wrong.push(format!("{}:{line}: {feature}, {level:?}", file.display()));
            }
        }
    }
    assert!(seen > 500, "{seen} features were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
