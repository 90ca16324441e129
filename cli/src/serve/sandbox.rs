//! The sandbox of the daemon: what the process gives up before its first client.
//!
//! It is entered while the process has one thread, so all later threads inherit it: no new
//! privileges, no capabilities except possibly the one that keeps memory locked, few files
//! (Landlock), few system calls (seccomp). The order matters: each step needs calls or rights that later steps take away.

mod calls;
mod files;
mod rights;

use std::fs;

use landlock::RulesetStatus;
use rustix::thread::CapabilitySet;

pub(super) use self::files::Files;
pub(super) use self::rights::{User, become_user, kept};

/// What of the sandbox the kernel enforces.
#[derive(Debug)]
pub(super) struct Report {
    files: files::Outcome,
    calls: Result<(), String>,
    rights: rights::Outcome,
}

/// Enters the sandbox.
///
/// # Errors
///
/// The process has several threads, or keeps a right that it must not have. A kernel that lacks
/// a mechanism is no error: the report says so.
pub(super) fn enter(files: &Files, keeps: CapabilitySet) -> Result<Report, String> {
    let threads = status("Threads:").unwrap_or_default();
    if threads != "1" {
        return Err(format!("the sandbox needs a process with one thread, not {threads}"));
    }
    rights::forbid_new()?;
    let files = files.restrict()?;
    let rights = rights::drop_all(keeps)?;
    let calls = calls::restrict();
    Ok(Report { files, calls, rights })
}

impl Report {
    /// What is not enforced, one line each.
    pub(super) fn missing(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.files.status != RulesetStatus::FullyEnforced {
            lines.push(format!("not enforced: files: {}", self.files.kernel()));
        }
        if let Err(reason) = &self.calls {
            lines.push(format!("not enforced: system calls: {reason}"));
        }
        lines
    }

    /// All that is allowed and enforced, as a text.
    pub(super) fn text(&self, files: &Files) -> String {
        let mut text = format!("Files ({})\n", self.files.kernel());
        text += &files.text();
        text += "\nNetwork\n  no TCP or UDP; Unix sockets only\n\nSystem calls (";
        text += match &self.calls {
            Ok(()) => "enforced; any other ends the process",
            Err(reason) => reason,
        };
        text += ")\n";
        text += &calls::text();
        text += "\nRights\n";
        text += &self.rights.text();
        text
    }
}

/// A value of `/proc/self/status`.
pub(super) fn status(name: &str) -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(value.trim().to_owned())
}
