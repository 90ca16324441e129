//! Runs the tests and checks of this workspace: `cargo xtask`. The Makefile names the usual calls.

mod abi;
mod arm64;
mod check;
mod circles;
mod costs;
mod cross;
mod debian;
mod programs;
mod queue;
mod release;
mod site;
mod suite;
mod tests;
mod version;
mod workflows;

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
  costs [--update]          time and size of each feature of lanecrypt, for its table
  circles                   files and crates that import each other in circles
  abi [LIBRARY [OLDER]]     surfaces/c/abi.txt beside the header, a library, an older one
  abi LIBRARY --update      adds to it what is new
  abi --last-release        the library beside that of the last tag: builds both
  version                   whether all copies of the version are equal
  version NEW               sets them
  version --notes           what the changelog says about it
  version --release TAG     whether what is here may become the release of this tag
  workflows                 actionlint, rights and pinned actions
  site PROGRAM FOLDER       documents and charts as pages for a web server
  release [--arch ARCH...] [--only PART...] [--check FOLDER] [--allow-dirty]
                            what users install, into dist/: packaging/README.md
  release-test [PART...]    what dist/ has: wheels, programs, packages
  crates                    whether each crate builds from the archive that would be published
  semver                    public interfaces against the last release
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
        ["costs"] => costs::measure(false),
        ["costs", "--update"] => costs::measure(true),
        ["abi"] => abi::check(None, false),
        ["abi", "--last-release"] => abi::last_release(),
        ["abi", library, "--update"] => abi::check(Some(library), true),
        ["abi", library] => abi::check(Some(library), false),
        ["abi", library, older] => abi::check(Some(library), false) & abi::compare(older, library),
        ["version"] => version::check(),
        ["version", "--notes"] => version::notes(),
        ["version", "--release", tag] => version::release(tag),
        ["version", new] if !new.starts_with('-') => version::set(new),
        ["workflows"] => workflows::check(),
        ["site", program, folder] => site::write(program.as_ref(), folder.as_ref()),
        ["release", ref arguments @ ..] => release::run(arguments),
        ["release-test", ref parts @ ..] => release::test(parts),
        ["crates"] => release::crates(),
        ["semver"] => release::semver(),
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
