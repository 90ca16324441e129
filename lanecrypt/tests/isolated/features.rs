//! The table of features is complete, and the same in the documentation and in the README.

const TABLE: &str = include_str!("../../src/features.md");
const README: &str = include_str!("../../../README.md");
const MANIFEST: &str = include_str!("../../Cargo.toml");

pub(crate) fn every_feature_is_in_the_table_and_every_row_is_a_feature() {
    let (_, features) = MANIFEST.split_once("[features]\n").expect("the manifest has features");
    let (features, _) = features.split_once("\n[").expect("and then other things");
    let declared = features.lines().filter(|line| line.starts_with(|c: char| c.is_alphabetic()));
    let mut declared: Vec<&str> = declared
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .filter(|&name| name != "default")
        .collect();
    let rows = TABLE.lines().skip(2).filter_map(|row| row.split('|').nth(1));
    let mut listed: Vec<&str> =
        rows.flat_map(|names| names.split('`').skip(1).step_by(2)).collect();
    declared.sort_unstable();
    listed.sort_unstable();
    assert!(declared.len() > 10, "{declared:?}");
    assert_eq!(declared, listed);
}

pub(crate) fn the_readme_has_the_same_table() {
    assert!(README.contains(TABLE), "README.md differs from lanecrypt/src/features.md");
}
