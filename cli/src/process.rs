//! What commands ask of the system for their process.

use std::fs;
use std::io;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};
use rustix::thread::{CapabilitySet, capabilities};

/// Keeps the process out of core dumps, and other processes of the user from reading it.
pub(crate) fn hide() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Whether all memory of the process is kept out of swap space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// The system does not let it.
    Refused,
    Free,
    /// As long as the process has `CAP_IPC_LOCK`, because there is a limit.
    ByRight,
}

/// Keeps all memory of the process out of swap space, now and later.
pub(crate) fn lock() -> Lock {
    let is_free = || getrlimit(Resource::Memlock).current.is_none();
    let has_right =
        || capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
    // With a limit it would end with memory for clients that cannot be had.
    let lock = match (is_free(), has_right()) {
        (true, _) => Lock::Free,
        (false, false) => return Lock::Refused,
        (false, true) => {
            let none = Rlimit { current: None, maximum: None };
            let is_raised = setrlimit(Resource::Memlock, none).is_ok();
            if is_raised { Lock::Free } else { Lock::ByRight }
        }
    };
    // Memory that is not used is not filled for that.
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    if mlockall(flags).is_ok() { lock } else { Lock::Refused }
}

/// Whether the program was started with this signal ignored, as `nohup` does.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    set >> (signal - 1) & 1 != 0
}
