//! Users and groups.

use std::os::fd::AsFd;

use rustix::net::sockopt::socket_peercred;

use crate::shared::rights::groups;

/// The user of a process that has connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct User {
    pub(super) number: u32,
    /// Its groups, the one of its process first.
    groups: Vec<u32>,
    /// Whether it is that of this process.
    pub(super) is_own: bool,
}

impl User {
    /// The user that has connected this socket, and its process; `None` if the kernel does not say.
    pub(super) fn of(socket: impl AsFd) -> Option<(Self, u32)> {
        let peer = socket_peercred(&socket).ok()?;
        let (number, own) = (peer.uid.as_raw(), rustix::process::geteuid().as_raw());
        let mut all = vec![peer.gid.as_raw()];
        all.append(&mut groups(socket));
        let process = u32::try_from(peer.pid.as_raw_nonzero().get()).unwrap_or(0);
        Some((Self { number, groups: all, is_own: number == own }, process))
    }

    /// Whether it administers the daemon: its own user, or root.
    pub(super) fn is_administrator(&self) -> bool {
        self.is_own || self.number == 0
    }
}

/// Some users, and the members of some groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Users {
    pub(super) users: Vec<u32>,
    pub(super) groups: Vec<u32>,
}

impl Users {
    pub(super) fn is_empty(&self) -> bool {
        self.users.is_empty() && self.groups.is_empty()
    }

    pub(super) fn contain(&self, user: &User) -> bool {
        self.users.contains(&user.number)
            || user.groups.iter().any(|group| self.groups.contains(group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_groups_are_among_the_users() {
        let user = User { number: 7, groups: vec![8, 9], is_own: false };
        let users = |users: &[u32], groups: &[u32]| Users {
            users: users.to_vec(),
            groups: groups.to_vec(),
        };
        for (users, is_among) in [
            (users(&[], &[]), false),
            (users(&[7], &[]), true),
            (users(&[8], &[7]), false),
            (users(&[1], &[1, 9]), true),
        ] {
            assert_eq!(users.contain(&user), is_among, "{users:?}");
        }
        assert!(users(&[], &[]).is_empty() && !users(&[], &[1]).is_empty());
    }
}
