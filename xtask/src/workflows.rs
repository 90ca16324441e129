//! The workflows of `.github`: `actionlint`, and what it does not look at.

use std::fs;
use std::process::Command;

const FOLDER: &str = ".github/workflows";
const INSTALL: &str = "go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7";

/// Whether all workflows are right.
pub(crate) fn check() -> bool {
    let mut passed = true;
    let entries = fs::read_dir(FOLDER).expect("there are workflows");
    for entry in entries {
        let path = entry.expect("it is there").path();
        let text = fs::read_to_string(&path).expect("it is text");
        for problem in problems(&text) {
            println!("FAILED workflows: {}: {problem}", path.display());
            passed = false;
        }
    }
    match Command::new("actionlint").arg("-color=false").status() {
        Ok(status) => passed & status.success(),
        Err(_) => {
            println!("SKIPPED actionlint: {INSTALL}");
            passed
        }
    }
}

/// What is wrong in a workflow: rights that jobs do not name, actions that may change, commands
/// that are in no script here.
fn problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if !text.lines().any(|line| line == "permissions:" || line == "permissions: {}") {
        problems.push(String::from("no permissions for the whole workflow"));
    }
    for line in text.lines() {
        let line = line.trim().trim_start_matches("- ");
        if let Some(action) = line.strip_prefix("uses: ")
            && !is_pinned(action)
        {
            problems.push(format!("not pinned by a commit, with its version: {action}"));
        }
        if line == "permissions: write-all" || line.contains("pull_request_target") {
            problems.push(format!("rights for strangers: {line}"));
        }
    }
    problems
}

/// `OWNER/NAME@COMMIT # vVERSION`, or a workflow of this repository.
fn is_pinned(action: &str) -> bool {
    if action.starts_with("./") {
        return true;
    }
    let Some((name, version)) = action.split_once(" # v") else { return false };
    let commit = name.rsplit_once('@').map_or("", |(_, commit)| commit);
    let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit && version.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_found() {
        let commit = "0123456789".repeat(4);
        let right =
            format!("permissions:\n  contents: read\n      - uses: a/b@{commit} # v4.2.2\n");
        assert!(problems(&right).is_empty());
        assert!(problems("permissions: {}\n    uses: ./.github/workflows/test.yml\n").is_empty());
        for wrong in [
            "jobs:\n    permissions:\n",
            "permissions: {}\n- uses: a/b@v4\n",
            "permissions: {}\n- uses: a/b@main # v4\n",
            &format!("permissions: {{}}\n- uses: a/b@{commit}\n"),
            "permissions: {}\non: pull_request_target\n",
        ] {
            assert_eq!(problems(wrong).len(), 1, "{wrong}");
        }
    }
}
