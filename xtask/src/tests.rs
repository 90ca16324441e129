//! `make test` and its relatives.

use core::time::Duration;
use std::process::Command;

use crate::programs::{self, Kind, Program};
use crate::queue::{Report, Test};
use crate::suite;

/// Cargo runs all examples of the documentation at once.
const DOCTESTS: &str = "doctests";

/// A test that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(900);
const LONG: Duration = Duration::from_secs(36_000);

/// How the tests are built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// As users build.
    Release,
    /// With overflow checks and debug assertions.
    Dev,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Release => "--profile=release",
            Self::Dev => "--profile=dev",
        }
    }
}

/// Every test whose name contains one of the filters.
pub(crate) fn all(profile: Profile, filters: &[&str]) -> bool {
    let mut report = Report::default();
    for line in missing_extras() {
        report.skip(line);
    }
    let Some(built) = build(profile, &["test", "--no-run"]) else { return false };
    let Some(examples) = build(profile, &["build", "--examples"]) else { return false };
    let wanted = |name: &str| {
        let only_optimised = suite::OF_INSTRUCTIONS.iter().any(|it| name.starts_with(it));
        let named = filters.is_empty() || filters.iter().any(|it| name.contains(it));
        named && (profile == Profile::Release || !only_optimised)
    };
    let mut tests = tests(&built, None, &wanted, &mut report);
    tests.extend(self::examples(&examples).filter(|it| wanted(&it.full_name())));
    if wanted(DOCTESTS) {
        // First, because it is what takes longest.
        let mut command = suite::cargo();
        command.args(["test", "--doc", "--locked", profile.name()]).args(suite::everything());
        tests.insert(
            0,
            Test { program: DOCTESTS.into(), name: "all".into(), command, has_result: true },
        );
    }
    report.run(tests, if is_long() { LONG } else { LIMIT });
    if filters.is_empty() {
        report.check("the table of kernels and levels", report.has_matrix());
    }
    report.print()
}

/// Whether the long tests were asked for.
fn is_long() -> bool {
    std::env::var_os("LANECRYPT_LONG").is_some()
}

/// Tests that depend on the instruction set that is detected, at lower ones.
pub(crate) fn at_lower_levels(filters: &[&str]) -> bool {
    let mut report = Report::default();
    let Some(built) = build(Profile::Release, &["test", "--no-run"]) else { return false };
    let wanted = |name: &str| {
        let listed = suite::BY_LEVEL.iter().any(|it| name.starts_with(it));
        listed && (filters.is_empty() || filters.iter().any(|it| name.contains(it)))
    };
    let levels = suite::LOWER_LEVELS.iter();
    let tests = levels.flat_map(|level| tests(&built, Some(level), &wanted, &mut report)).collect();
    report.run(tests, LIMIT);
    report.print()
}

/// The examples that are run, of those that were built.
fn examples(built: &[Program]) -> impl Iterator<Item = Test> {
    suite::EXAMPLES.iter().map(|line| {
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
    })
}

/// Builds all that is tested.
fn build(profile: Profile, cargo: &[&str]) -> Option<Vec<Program>> {
    let built = programs::build(&[cargo, &[profile.name()], &suite::everything()].concat());
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
