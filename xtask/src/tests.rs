//! `make test` and its relatives.

use core::time::Duration;
use std::process::Command;

use crate::programs::{self, Kind, Program};
use crate::queue::{Report, Test};
use crate::suite;

/// Cargo runs all examples of the documentation at once.
const DOCTESTS: &str = "doctests";

/// Asks cargo for the profile that users have.
const RELEASE: &str = "--release";

/// A test that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(900);
const LONG: Duration = Duration::from_secs(36_000);

/// Every test whose name contains one of the filters.
pub(crate) fn all(filters: &[&str]) -> bool {
    everything(&["test", "--no-run"], filters, LIMIT)
}

/// Every test, optimised. The variables ask for many cases and soaks.
pub(crate) fn long() -> bool {
    everything(&["test", "--no-run", RELEASE], &[], LONG)
}

fn everything(cargo: &[&str], filters: &[&str], limit: Duration) -> bool {
    let mut report = Report::default();
    for line in missing_extras() {
        report.skip(line);
    }
    let Some(built) = build(cargo, &suite::everything()) else { return false };
    let wanted = |name: &str| {
        let only_optimised = suite::OF_INSTRUCTIONS.iter().any(|it| name.starts_with(it));
        let named = filters.is_empty() || filters.iter().any(|it| name.contains(it));
        named && (!only_optimised || cargo.contains(&RELEASE))
    };
    let mut tests = tests(&built, None, &wanted, &mut report);
    if wanted(DOCTESTS) {
        // First, because it is what takes longest.
        let mut command = suite::cargo();
        command.args(["test", "--doc", "--locked"]).args(&cargo[2..]).args(suite::everything());
        tests.insert(
            0,
            Test { program: DOCTESTS.into(), name: "all".into(), command, has_result: true },
        );
    }
    report.run(tests, limit);
    if filters.is_empty() {
        report.check("the table of kernels and levels", report.has_matrix());
    }
    report.print()
}

/// Tests that depend on the instruction set that is detected, at lower ones.
pub(crate) fn at_lower_levels(filters: &[&str]) -> bool {
    let mut report = Report::default();
    let Some(built) = build(&["test", "--no-run"], &suite::everything()) else { return false };
    let wanted = |name: &str| {
        let listed = suite::BY_LEVEL.iter().any(|it| name.starts_with(it));
        listed && (filters.is_empty() || filters.iter().any(|it| name.contains(it)))
    };
    let levels = suite::LOWER_LEVELS.iter();
    let tests = levels.flat_map(|level| tests(&built, Some(level), &wanted, &mut report)).collect();
    report.run(tests, LIMIT);
    report.print()
}

/// What an optimised build could break, and the examples of `lanecrypt`.
pub(crate) fn optimised() -> bool {
    let mut report = Report::default();
    // All that is built by the release profile, so that no later step builds the same once more.
    let Some(mut built) = build(&["build", RELEASE, "--lib", "--examples"], &suite::libraries())
    else {
        return false;
    };
    let names = suite::RELEASE_PROGRAMS.map(|it| format!("--test={it}"));
    let mut cargo = vec!["test", "--no-run", RELEASE];
    cargo.extend(names.iter().map(String::as_str));
    let Some(programs) = build(&cargo, &suite::libraries()) else { return false };
    built.extend(programs);
    let listed = [&suite::OF_INSTRUCTIONS[..], &suite::OPTIMISED].concat();
    let wanted = |name: &str| listed.iter().any(|it| name.starts_with(it));
    let tests = tests(&built, None, &wanted, &mut report);
    for listed in &listed {
        let has = |test: &Test| format!("{} {}", test.program, test.name).starts_with(listed);
        if !tests.iter().any(has) {
            report.check(&format!("{listed} is there"), false);
        }
    }
    let examples = suite::EXAMPLES.iter().map(|line| {
        let (name, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let program = built
            .iter()
            .find(|it| it.kind == Kind::Binary && it.name == format!("lanecrypt/{name}"));
        let mut command = Command::new(&program.expect("cargo has built all examples").file);
        command.args(arguments.split_whitespace());
        Test {
            program: "lanecrypt/examples".into(),
            name: (*line).into(),
            command,
            has_result: false,
        }
    });
    let tests = tests.into_iter().chain(examples).collect();
    report.run(tests, LIMIT);
    report.print()
}

fn build(cargo: &[&str], selection: &[&str]) -> Option<Vec<Program>> {
    let built = programs::build(&[cargo, selection].concat());
    if built.is_none() {
        println!("FAILED the build\n0 passed, 1 failed, 0 skipped, 0 ignored");
    }
    built
}

/// The tests of the programs for which `wanted`, which gets `PROGRAM TEST`, holds.
fn tests(
    built: &[Program],
    level: Option<&str>,
    wanted: &impl Fn(&str) -> bool,
    report: &mut Report,
) -> Vec<Test> {
    let plugin = built.iter().find(|it| it.kind == Kind::Library);
    let mut tests = Vec::new();
    for program in built.iter().filter(|it| it.kind == Kind::Test) {
        let command = || {
            let mut command = Command::new(&program.file);
            command.current_dir(&program.folder);
            if let Some(plugin) = plugin {
                command.env("LANECRYPT_PLUGIN", &plugin.file);
            }
            if let Some(level) = level {
                command.env("LANECRYPT_ISA", level);
            }
            command
        };
        let Some((names, ignored)) = programs::list(command) else {
            report.check(&format!("{}: the list of its tests", program.name), false);
            continue;
        };
        report.ignored += ignored;
        for name in names {
            if !wanted(&format!("{} {name}", program.name)) {
                continue;
            }
            let mut command = command();
            command.args(["--exact", &name, "--nocapture"]);
            let at = level.map_or(String::new(), |level| format!(" at {level}"));
            let program = format!("{}{at}", program.name);
            tests.push(Test { program, name, command, has_result: true });
        }
    }
    tests
}

/// A line for everything that tests use and that is not installed.
fn missing_extras() -> Vec<String> {
    let output = Command::new("scripts/setup.sh").args(["missing", "test"]).output();
    let output = output.expect("bash can be started");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}
