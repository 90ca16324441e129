//! Limits of clients, and what they have in use.

use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::peer::Peer;
use crate::RejectReason;

/// Limits of clients.
///
/// Eight places of `clients`, or a quarter, are for the daemon's own user and root. Requests in
/// flight are limited by the ring of each client, 4,096 at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "settings")]
pub struct Limits {
    /// The most clients at a time.
    pub clients: usize,
    /// The most clients of another user than the daemon's.
    pub user_clients: usize,
    /// The most sessions of a client, up to 65,536.
    pub sessions: usize,
    /// The most sessions of all clients of another user than the daemon's.
    pub user_sessions: usize,
    /// The longest arena of a client in bytes, up to 64 MiB.
    pub arena: u32,
    /// The most signatures and key exchanges of a client that are being served.
    pub signatures: u32,
    /// The most bytes of memory that all clients take, with shared memory and sessions. Half of
    /// them are for the clients of one other user at most. A daemon with less memory (by
    /// `RLIMIT_AS`, the limit of its control group, or the machine) takes what it has.
    pub memory: u64,
}

impl Default for Limits {
    /// 256 clients, each with 4,096 sessions, an arena of 16 MiB and 64 signatures, and 1 GiB of
    /// memory for all; for another user than the daemon's 128 clients and 16,384 sessions.
    fn default() -> Self {
        Self {
            clients: 256,
            user_clients: 128,
            sessions: 4096,
            user_sessions: 16_384,
            arena: 1 << 24,
            signatures: 64,
            memory: 1 << 30,
        }
    }
}

/// The places for clients of the daemon's user and root; and the number of connections beyond
/// those of clients, which have not asked for anything yet.
const RESERVED: usize = 8;

/// The memory that is kept for the daemon itself, in bytes.
const RESERVE: u64 = 8 << 20;

/// About how many bytes a client takes beside its shared memory and sessions.
const CLIENT: u64 = 4 << 10;

/// What some clients have in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) clients: usize,
    pub(super) sessions: usize,
    /// In bytes.
    pub(super) memory: u64,
}

impl Usage {
    /// That of these clients.
    pub(super) fn of<'p>(peers: impl IntoIterator<Item = &'p Peer>) -> Self {
        peers.into_iter().fold(Self::default(), |sum, peer| Self {
            clients: sum.clients + usize::from(peer.memory() > 0),
            sessions: sum.sessions + peer.sessions.len(),
            memory: sum.memory + CLIENT + peer.memory() + peer.sessions.memory(),
        })
    }

    /// That of the clients of this user.
    pub(super) fn of_user(peers: &[Peer], user: u32) -> Self {
        Self::of(peers.iter().filter(|peer| peer.user.number == user))
    }
}

impl Limits {
    /// With no more memory than this many bytes.
    pub(super) fn within_memory(self, bytes: u64) -> Self {
        Self { memory: self.memory.min(bytes), ..self }
    }

    /// The most connections, with those that are not clients yet.
    pub(super) fn places(&self) -> usize {
        self.clients.saturating_add(RESERVED)
    }

    /// Whether a client may have shared memory of this many bytes.
    pub(super) fn admit_client(
        &self,
        peers: &[Peer],
        at: usize,
        bytes: u64,
    ) -> Result<(), RejectReason> {
        let (peer, all, user) = usage(peers, at)?;
        let reserved = match peer.user.is_administrator() {
            true => 0,
            false => RESERVED.min(self.clients / 4),
        };
        if all.clients.saturating_add(reserved) >= self.clients {
            return Err(RejectReason::Clients);
        }
        if !peer.user.is_own && user.clients >= self.user_clients {
            return Err(RejectReason::UserClients);
        }
        self.admit_memory(all, user, peer, bytes)
    }

    /// Whether a client may open another session, of this many bytes.
    pub(super) fn admit_session(
        &self,
        peers: &[Peer],
        at: usize,
        bytes: u64,
    ) -> Result<(), RejectReason> {
        let (peer, all, user) = usage(peers, at)?;
        if peer.sessions.len() >= self.sessions {
            return Err(RejectReason::Sessions);
        }
        if !peer.user.is_own && user.sessions >= self.user_sessions {
            return Err(RejectReason::UserSessions);
        }
        self.admit_memory(all, user, peer, bytes)
    }

    fn admit_memory(
        &self,
        all: Usage,
        user: Usage,
        peer: &Peer,
        bytes: u64,
    ) -> Result<(), RejectReason> {
        if all.memory.saturating_add(bytes) > self.memory || !has_memory(bytes) {
            return Err(RejectReason::Memory);
        }
        if !peer.user.is_own && user.memory.saturating_add(bytes) > self.memory / 2 {
            return Err(RejectReason::UserMemory);
        }
        Ok(())
    }
}

/// A client, and what all clients and those of its user have in use.
fn usage(peers: &[Peer], at: usize) -> Result<(&Peer, Usage, Usage), RejectReason> {
    let peer = peers.get(at).ok_or(RejectReason::Malformed)?;
    Ok((peer, Usage::of(peers), Usage::of_user(peers, peer.user.number)))
}

/// Whether this many bytes can be allocated, and some more. What is allocated next on this thread
/// does not fail then.
pub(super) fn has_memory(bytes: u64) -> bool {
    const MORE: usize = 1 << 18;
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(MORE);
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// The bytes that clients may use together without danger to the daemon. A sandbox may hide the
/// files that say so, so it is called before.
pub(super) fn available_memory() -> u64 {
    of_process().min(of_group()).min(of_machine())
}

/// Three quarters of what the limit of the process's addresses leaves.
fn of_process() -> u64 {
    let Some(limit) = getrlimit(Resource::As).current else { return u64::MAX };
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    limit.saturating_sub(pages * 4096 + RESERVE) / 4 * 3
}

/// Half of the limit of the control group: the lowest of its own and its parents, of version 2 or,
/// where that has no memory controller, of version 1.
fn of_group() -> u64 {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = |is_it: &dyn Fn(&str) -> bool| {
        groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            controllers.split(',').any(is_it).then_some(path.trim_start_matches('/'))
        })
    };
    let second = group(&str::is_empty).map(|path| lowest("/sys/fs/cgroup", path, "memory.max"));
    let first = group(&|name| name == "memory")
        .map(|path| lowest("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
    first.into_iter().chain(second).min().unwrap_or(u64::MAX)
}

/// Half of the lowest limit in files of this name, from a group up to the root.
fn lowest(root: &str, group: &str, file: &str) -> u64 {
    let mut path = Path::new(root).join(group);
    let mut least = u64::MAX;
    loop {
        let limit = fs::read_to_string(path.join(file)).unwrap_or_default();
        least = limit.trim().parse::<u64>().map_or(least, |limit| least.min(limit / 2));
        if path == Path::new(root) || !path.pop() {
            return least;
        }
    }
}

/// A quarter of the machine's memory.
fn of_machine() -> u64 {
    let about = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = about.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total = total.and_then(|total| total.trim().trim_end_matches(" kB").parse::<u64>().ok());
    total.map_or(u64::MAX, |total| total * 1024 / 4)
}
