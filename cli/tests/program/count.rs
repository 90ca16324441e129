//! `lanecrypt speed --count`.

use std::fs;
use std::process::{Command, Output};

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
    let text = String::from_utf8(first.stdout).expect("UTF-8");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert!(rows.len() > 3, "{text}");
    // Equal to the instruction: again, without the other rows, and from another place.
    assert_eq!(count(&few).stdout, text.as_bytes());
    let id = rows[2].split_whitespace().nth(1).expect("an id");
    let moved = folder.path("a-name-of-another-length");
    fs::copy(env!("CARGO_BIN_EXE_lanecrypt"), &moved).expect("it can be copied");
    let alone = Command::new(&moved)
        .args(["speed", "--count", "--only", id])
        .env("LANECRYPT_ISA", "portable")
        .output()
        .expect("the program starts");
    assert_eq!(String::from_utf8_lossy(&alone.stdout).lines().nth(1), Some(rows[2]), "{alone:?}");

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
