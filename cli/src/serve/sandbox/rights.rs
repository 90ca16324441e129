//! The user and the capabilities of the daemon.

use std::ffi::CString;

use nix::unistd::{Gid, Uid, initgroups, setresgid, setresuid};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, no_new_privs, remove_capability_from_bounding_set,
    set_capabilities, set_keep_capabilities, set_no_new_privs,
};

use crate::process::{self, Lock};

const NONE: CapabilitySet = CapabilitySet::empty();

/// A user that the daemon becomes.
#[derive(Debug)]
pub(in crate::serve) struct User {
    name: String,
    pub(in crate::serve) number: u32,
    group: u32,
}

impl User {
    /// The user with this name.
    pub(in crate::serve) fn find(name: &str) -> Result<Self, String> {
        match nix::unistd::User::from_name(name) {
            Ok(Some(user)) => {
                let (number, group) = (user.uid.as_raw(), user.gid.as_raw());
                Ok(Self { name: user.name, number, group })
            }
            Ok(None) => Err(format!("no user {name}")),
            Err(error) => Err(format!("user {name}: {error}")),
        }
    }
}

/// The capabilities that the daemon keeps: that of locked memory, if there is a limit.
pub(in crate::serve) fn kept(lock: Lock) -> CapabilitySet {
    match lock {
        Lock::ByRight => CapabilitySet::IPC_LOCK,
        Lock::Free | Lock::Refused => CapabilitySet::empty(),
    }
}

/// Becomes another user, with its groups, for ever.
pub(in crate::serve) fn become_user(user: &User, keeps: CapabilitySet) -> Result<(), String> {
    let failed = |error: nix::Error| format!("cannot become user {}: {error}", user.name);
    let name = CString::new(&*user.name).map_err(|_| failed(nix::Error::EINVAL))?;
    let (number, group) = (Uid::from_raw(user.number), Gid::from_raw(user.group));
    empty_bounding_set();
    set_keep_capabilities(!keeps.is_empty()).map_err(of_capabilities)?;
    initgroups(&name, group).map_err(failed)?;
    setresgid(group, group, group).map_err(failed)?;
    setresuid(number, number, number).map_err(failed)?;
    set_keep_capabilities(false).map_err(of_capabilities)?;
    let sets = CapabilitySets { effective: keeps, permitted: keeps, inheritable: NONE };
    set_capabilities(None, sets).map_err(of_capabilities)?;
    // The system undoes it when the user changes.
    process::hide().map_err(|error| format!("cannot keep keys from core dumps: {error}"))
}

/// What the process has left.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Whether programs that it starts could get capabilities, if it could start any.
    is_bounded: bool,
    forbids_new: bool,
    keeps: CapabilitySet,
}

/// Forbids new privileges.
pub(super) fn forbid_new() -> Result<(), String> {
    set_no_new_privs(true).map_err(|error| format!("no new privileges: {error}"))
}

fn of_capabilities(error: rustix::io::Errno) -> String {
    format!("capabilities: {error}")
}

/// Lets no program that this process might start get capabilities. Only root may do so.
fn empty_bounding_set() {
    for capability in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
}

/// Drops all capabilities except for these.
pub(super) fn drop_all(keeps: CapabilitySet) -> Result<Outcome, String> {
    // Older kernels have no such set.
    let _ = clear_ambient_capability_set();
    empty_bounding_set();
    // Of one that the kernel does not know, this is an error.
    let is_in = |capability| capability_is_in_bounding_set(capability).unwrap_or(false);
    let is_bounded = !CapabilitySet::all().iter().any(is_in);
    let forbids_new = no_new_privs().unwrap_or(false);
    let sets = CapabilitySets { effective: keeps, permitted: keeps, inheritable: NONE };
    set_capabilities(None, sets).map_err(of_capabilities)?;
    match capabilities(None) {
        Ok(left) if left == sets => Ok(Outcome { is_bounded, forbids_new, keeps }),
        Ok(_) => Err("some capabilities cannot be dropped".into()),
        Err(error) => Err(of_capabilities(error)),
    }
}

impl Outcome {
    fn capabilities(&self) -> &'static str {
        if self.keeps.is_empty() { "none" } else { "ipc_lock, as locked memory is limited" }
    }

    /// Users, capabilities and limits, in lines.
    pub(super) fn text(&self) -> String {
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        let limit = |resource| match getrlimit(resource).current {
            Some(limit) => limit.to_string(),
            None => String::from("none"),
        };
        let rows = [
            ("user", rustix::process::geteuid().as_raw().to_string()),
            ("group", rustix::process::getegid().as_raw().to_string()),
            ("capabilities", self.capabilities().into()),
            ("bounding set empty", yes(self.is_bounded).into()),
            ("no new privileges", yes(self.forbids_new).into()),
            ("limit of descriptors", limit(Resource::Nofile)),
            ("limit of locked memory", limit(Resource::Memlock)),
            ("limit of core dumps", limit(Resource::Core)),
        ];
        rows.map(|(name, value)| format!("  {name:<24}{value}\n")).concat()
    }
}
