//! Runs the tests and checks of this workspace: `cargo xtask`. The Makefile names the usual calls.

mod arm64;
mod check;
mod circles;
mod cross;
mod debian;
mod programs;
mod queue;
mod site;
mod suite;
mod tests;

use std::process::ExitCode;

use self::tests::Profile;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [FILTER...]          every test, and the examples, as users build: optimised
  test --levels [FILTER...] tests that depend on the instruction set, at lower ones
  test --debug [FILTER...]  every test, with overflow checks and debug assertions
  cross                     the tests on s390x and arm64, by qemu; OpenSSL and Python on arm64
  arm64 [--update]          constant time, vectors and instructions on arm64, by qemu
  elsewhere [--all]         vectors and properties on other processors, by emulators
  features [--all]          crates without features, and with parts of them
  targets [--all]           the libraries for other systems and processors
  circles                   files and crates that import each other in circles
  site PROGRAM FOLDER       documents and charts as pages for a web server
  selection                 cargo's arguments for all that is tested, for scripts

A FILTER is a part of a test's name, such as `engine/isolated` or `wycheproof`.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    std::env::set_current_dir(suite::root()).expect("the workspace is there");
    let passed = match *arguments.as_slice() {
        ["test", "--levels", ref filters @ ..] => tests::at_lower_levels(filters),
        ["test", "--debug", ref filters @ ..] => tests::all(Profile::Dev, filters),
        ["test", ref filters @ ..] if !filters.iter().any(|it| it.starts_with('-')) => {
            tests::all(Profile::Release, filters)
        }
        ["cross"] => cross::tests(),
        ["arm64"] => arm64::check(false),
        ["arm64", "--update"] => arm64::check(true),
        ["elsewhere"] => cross::elsewhere(false),
        ["elsewhere", "--all"] => cross::elsewhere(true),
        ["features"] => check::features(false),
        ["features", "--all"] => check::features(true),
        ["targets"] => check::targets(false),
        ["targets", "--all"] => check::targets(true),
        ["circles"] => circles::none(),
        ["site", program, folder] => site::write(program.as_ref(), folder.as_ref()),
        ["selection"] => {
            println!("{}", suite::everything().join(" "));
            true
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
