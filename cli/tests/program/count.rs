//! `lanecrypt speed --count`.

use std::fs;
use std::process::Output;

use crate::support::{Folder, assert_one_line, lanecrypt};

/// Counts at the level that every processor has, so that it is the only one.
fn count(arguments: &[&str]) -> Output {
    let mut command = lanecrypt(&[&["speed", "--count"], arguments].concat());
    command.env("LANECRYPT_ISA", "portable").output().expect("the program starts")
}

#[test]
fn counts_are_exact_and_held_to_budgets() {
    let folder = Folder::new("count");
    let budgets = folder.path("budgets");
    let few = ["--only", "*/chacha20*/64"];
    let first = count(&few);
    if String::from_utf8_lossy(&first.stderr).contains("cannot be counted") {
        println!("SKIPPED count: ptrace is not permitted here");
        return;
    }
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    // Equal to the instruction.
    assert_eq!(count(&few).stdout, first.stdout);
    let text = String::from_utf8(first.stdout).expect("UTF-8");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert!(rows.len() > 3, "{text}");

    fs::write(&budgets, &text).expect("it can be written");
    let within = count(&[&few[..], &["--budgets", &budgets]].concat());
    let said = format!("{} rows are within their budgets\n", rows.len());
    assert_eq!(String::from_utf8_lossy(&within.stdout), said);

    let (row, last) = rows[1].rsplit_once(' ').expect("a row");
    let less = last.parse::<u64>().expect("a count") * 97 / 100;
    fs::write(&budgets, text.replace(rows[1], &format!("{row} {less}")))
        .expect("it can be written");
    let over = count(&[&few[..], &["--budgets", &budgets]].concat());
    assert_one_line(&over, 1, &format!("{last} instructions"));
    fs::write(&budgets, "portable x\n").expect("it can be written");
    assert_one_line(&count(&["--budgets", &budgets]), 1, "no count of instructions: portable x");
}

#[test]
fn options_of_a_measurement_do_not_fit() {
    assert_one_line(&count(&["--budget", "3s"]), 2, "--budget");
    assert_one_line(&count(&["--update"]), 2, "--budgets");
}
