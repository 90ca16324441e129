//! Under filters of system calls: those that SECURITY.md lists are enough, and those that may be
//! refused are not missed.

mod list;
mod work;

use lanecrypt_testing::harness::skipped;
use lanecrypt_testing::seccomp::{self, Rule};
use lanecrypt_testing::sys::{self, Fork};
use libc::c_long;
use list::{BARE, LIBRARY, THREADS};

/// How a process under a filter ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Well.
    Well,
    /// It made a call that is not allowed.
    Killed,
    /// Something else did not work.
    Failed,
}

/// Runs `work` in a process that may make the calls of `allowed` only; `None`, with a line, if
/// filters are not permitted here.
fn under(allowed: &[c_long], rules: &[Rule], work: fn()) -> Option<End> {
    const NOT_PERMITTED: i32 = 77;
    let child = sys::fork(Fork::Library).expect("processes can be made");
    if child == 0 {
        if seccomp::allow_only(allowed, rules).is_err() {
            sys::exit(NOT_PERMITTED);
        }
        work();
        sys::exit(0);
    }
    let status = sys::wait(child);
    let (exited, code) = (libc::WIFEXITED(status), libc::WEXITSTATUS(status));
    if exited && code == NOT_PERMITTED {
        skipped("system_calls", "seccomp filters are not permitted here");
        return None;
    }
    Some(match (exited, code) {
        (true, 0) => End::Well,
        _ if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSYS => End::Killed,
        _ => End::Failed,
    })
}

/// The calls of the library, but for `missing`, and those of the program.
fn allowed(missing: Option<c_long>, program: &[&[c_long]]) -> Vec<c_long> {
    let library = LIBRARY.iter().map(|call| call.number).filter(|&call| Some(call) != missing);
    library.chain(program.iter().flat_map(|calls| calls.iter().copied())).collect()
}

/// The kernel's generator in the vDSO is there, or every request to the kernel is a system call.
fn vdsos() -> [Vec<Rule>; 2] {
    [vec![], vec![Rule::no_vdso_states()]]
}

pub(crate) fn the_list_is_enough() {
    for rules in vdsos() {
        enough(&allowed(None, &[BARE]), &rules, work::alone);
        enough(&allowed(None, &[BARE, THREADS]), &rules, work::everything);
    }
}

fn enough(allowed: &[c_long], rules: &[Rule], work: fn()) {
    let Some(end) = under(allowed, rules, work) else { return };
    if end == End::Killed {
        let missing = missing(allowed, rules, work);
        panic!("calls that are not in the list, any of which by itself: {missing:?}");
    }
    assert_eq!(end, End::Well);
}

/// The numbers of which one is all that the list lacks; none if it lacks more.
fn missing(allowed: &[c_long], rules: &[Rule], work: fn()) -> Vec<c_long> {
    let with = |call| [allowed, &[call]].concat();
    (0..500).filter(|&call| under(&with(call), rules, work) == Some(End::Well)).collect()
}

/// So the test above would notice if a call were missing.
pub(crate) fn the_list_is_short() {
    for call in LIBRARY.iter().filter(|call| call.always) {
        let allowed = allowed(Some(call.number), &[BARE]);
        let Some(end) = under(&allowed, &[], work::alone) else { return };
        assert_eq!(end, End::Killed, "without {}", call.name);
    }
}

/// Whoever writes filters may prefer an error to the end of the process.
pub(crate) fn what_is_refused_is_not_missed() {
    for call in LIBRARY.iter().filter(|call| call.spared) {
        for code in [libc::EPERM, libc::ENOSYS] {
            for vdso in vdsos() {
                let rules = [vec![Rule::fails(call.number, code)], vdso].concat();
                let allowed = allowed(Some(call.number), &[BARE]);
                let Some(end) = under(&allowed, &rules, work::alone) else { return };
                assert_eq!(end, End::Well, "{} refused with {code}", call.name);
            }
        }
    }
}

pub(crate) fn the_list_is_that_of_the_document() {
    let document = include_str!("../../../SECURITY.md");
    let (_, section) = document.split_once("\n## System calls\n").expect("the section");
    let section = section.split("\n## ").next().expect("the section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let names: Vec<&str> = rows
        .filter_map(|row| row.split(" |").next())
        .flat_map(|names| names.split(", "))
        .map(|name| name.trim_matches('`'))
        .collect();
    let expected: Vec<&str> = LIBRARY.iter().map(|call| call.name).collect();
    assert_eq!(names, expected);
}
