//! What commands ask of the system for their process.

use std::fs;
use std::io;
use std::os::unix::net::UnixStream;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{DumpableBehavior, Resource, getrlimit, set_dumpable_behavior};
use rustix::thread::{CapabilitySet, capabilities};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// Keeps the process out of core dumps, and other processes of the user from reading it.
pub(crate) fn hide() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Keeps all memory of the process out of swap space, now and later; false if the system does not
/// let it.
pub(crate) fn lock() -> bool {
    // With a bound it would end with memory for clients that cannot be had.
    let has_right =
        || capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
    let is_free = getrlimit(Resource::Memlock).current.is_none() || has_right();
    // Memory that is not used is not filled for that.
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    is_free && mlockall(flags).is_ok()
}

/// Becomes readable when the program is asked to end: by SIGTERM, SIGINT, or the end of its
/// terminal.
pub(crate) fn stop() -> io::Result<UnixStream> {
    let (stop, signal) = UnixStream::pair()?;
    pipe::register(SIGINT, signal.try_clone()?)?;
    if !is_ignored(SIGHUP) {
        pipe::register(SIGHUP, signal.try_clone()?)?;
    }
    pipe::register(SIGTERM, signal)?;
    Ok(stop)
}

/// Whether the program was started with this signal ignored, as `nohup` does.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    set >> (signal - 1) & 1 != 0
}
