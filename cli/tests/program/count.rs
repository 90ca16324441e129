//! `lanecrypt speed --count`.

use std::fs;
use std::process::Output;

use crate::support::{Folder, assert_one_line, lanecrypt};

/// Counts at the level of the processor that is the least, so that it is the only one.
fn count(arguments: &[&str]) -> Output {
    let mut command = lanecrypt(&[&["speed", "--count"], arguments].concat());
    command.env("LANECRYPT_ISA", "portable").output().expect("the program starts")
}

#[test]
fn counts_are_exact_and_held_to_budgets() {
    let folder = Folder::new("count");
    let (budgets, other) = (folder.path("budgets"), folder.path("other"));
    let written = count(&["--budgets", &budgets, "--update"]);
    if String::from_utf8_lossy(&written.stderr).contains("cannot be counted") {
        println!("SKIPPED count: ptrace is not permitted here");
        return;
    }
    assert_eq!(written.status.code(), Some(0), "{written:?}");
    assert_eq!(written.stdout, b"40 rows are written\n");
    // Equal to the instruction.
    let again = count(&[]);
    let text = fs::read_to_string(&budgets).expect("the budgets");
    assert_eq!(String::from_utf8(again.stdout).expect("UTF-8"), text);
    assert_eq!(text.lines().count(), 41, "{text}");

    let rows: Vec<String> = text.lines().map(str::to_owned).collect();
    let (row, last) = rows[7].rsplit_once(' ').expect("a row");
    let less = last.parse::<u64>().expect("a count") * 97 / 100;
    fs::write(&other, text.replace(&rows[7], &format!("{row} {less}"))).expect("it can be written");
    assert_one_line(&count(&["--budgets", &other]), 1, &format!("{last} instructions"));
    fs::write(&other, "portable x\n").expect("it can be written");
    assert_one_line(&count(&["--budgets", &other]), 1, "no count of instructions: portable x");
}

#[test]
fn options_of_a_measurement_do_not_fit() {
    assert_one_line(&count(&["--budget", "3s"]), 2, "--budget");
    assert_one_line(&count(&["--update"]), 2, "--budgets");
}
