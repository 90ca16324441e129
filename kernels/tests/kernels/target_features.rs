//! Every `#[target_feature]` in the sources enables no more than the module's `NEEDS` promises.
//!
//! `by_isa!` calls a module's functions where the processor has the level that `NEEDS` names. A
//! function that enables more than this level has would run on processors without it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Features that others bring along.
const IMPLIED: [(&str, &[&str]); 4] = [
    ("ssse3", &["sse2", "sse3"]),
    ("avx2", &["avx", "sse4.2"]),
    ("avx512f", &["fma"]),
    ("sha3", &["sha2"]),
];

/// Files of functions that modules of several levels share. The compiler checks that their callers
/// enable the same features; `sha2` and `wipe` ask the processor, and every x86-64 processor has
/// SSE2.
const SHARED: [&str; 11] = [
    "kernels/src/simd/aarch64.rs",
    "kernels/src/simd/blocks/aarch64.rs",
    "kernels/src/simd/blocks/x86_64.rs",
    "kernels/src/simd/x86_64.rs",
    "kernels/src/siv/registers128.rs",
    "kernels/src/xts/registers128.rs",
    "kernels/src/gcm/x86_64/part.rs",
    "kernels/src/sha2/x86_64/shani.rs",
    "kernels/src/wipe/x86_64.rs",
    "kernels/src/words/x86_64.rs",
    "kernels-legacy/src/hc128/x86_64/sse2.rs",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates are in the workspace")
}

/// The features of each level, with those of the levels below, as `isa` detects them.
fn features_of_levels() -> BTreeMap<String, BTreeSet<String>> {
    let mut levels = BTreeMap::new();
    for architecture in ["x86_64", "aarch64"] {
        let file = root().join("kernels/src/isa").join(architecture).with_extension("rs");
        let text = fs::read_to_string(file).expect("it is there");
        let (_, ladder) = text.split_once("_feature_detected:").expect("it detects");
        let mut all = BTreeSet::new();
        for (level, features) in ladder.split(';').filter_map(|line| line.split_once("=>")) {
            all.extend(features.split('"').skip(1).step_by(2).map(String::from));
            for (feature, implied) in IMPLIED {
                if all.contains(feature) {
                    all.extend(implied.iter().map(ToString::to_string));
                }
            }
            let name = level.split_whitespace().last().expect("the name of a level");
            levels.insert(name.to_string(), all.clone());
        }
    }
    assert_eq!(levels.len(), 8, "{levels:?}");
    levels
}

/// The level that a file's module needs: its own, or that of the module it belongs to. Shared code
/// of one level has the name of that level.
fn needs<'l>(file: &Path, levels: &'l BTreeMap<String, BTreeSet<String>>) -> Option<&'l String> {
    let mut module = file.to_path_buf();
    while let Ok(text) = fs::read_to_string(&module) {
        if let Some((_, level)) = text.split_once("const NEEDS: Level = Level::") {
            return levels.get_key_value(level.split(';').next()?).map(|(level, _)| level);
        }
        let name = module.file_stem()?.to_str()?;
        if let Some(level) = levels.keys().find(|level| level.to_lowercase() == name) {
            return Some(level);
        }
        // The parent of `a/b/c.rs` is `a/b.rs`.
        module = module.parent()?.with_extension("rs");
    }
    None
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
    for crate_of_kernels in ["kernels/src", "kernels-legacy/src"] {
        rust_files(&root().join(crate_of_kernels), &mut files);
    }
    let (mut seen, mut wrong) = (0, Vec::new());
    for file in files {
        if SHARED.iter().any(|shared| file == root().join(shared)) {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source file");
        let level = needs(&file, &levels);
        for (line, feature) in enabled(&text) {
            seen += 1;
            let allowed = level.and_then(|level| levels.get(level));
            if !allowed.is_some_and(|allowed| allowed.contains(feature)) {
                wrong.push(format!("{}:{line}: {feature}, {level:?}", file.display()));
            }
        }
    }
    assert!(seen > 500, "{seen} features were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
