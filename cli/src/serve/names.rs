//! Users and groups, by name or number.

use std::collections::HashMap;
use std::fs;

use nix::unistd::{Group, User};

use super::escape::quoted;
use super::written::Who;

/// Users and groups by number.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Allowed {
    pub(super) users: Vec<u32>,
    pub(super) groups: Vec<u32>,
}

/// Finds the numbers of names.
///
/// Under the sandbox only the files of the system can be asked, not services of the network: names
/// that were found before remain known.
#[derive(Debug, Default)]
pub(super) struct Names {
    is_sandboxed: bool,
    known: HashMap<String, u32>,
}

impl Names {
    /// From now on, only files are asked.
    pub(super) fn enters_sandbox(&mut self) {
        self.is_sandboxed = true;
    }

    /// Adds one entry of the settings to those that are allowed.
    ///
    /// # Errors
    ///
    /// Why the name has no number.
    pub(super) fn resolve(&mut self, who: &Who, allowed: &mut Allowed) -> Result<(), String> {
        match who {
            Who::Number(number) => allowed.users.push(*number),
            Who::Name(name) => match name.strip_prefix('@') {
                Some(group) => allowed.groups.push(self.number(name, group, true)?),
                None => allowed.users.push(self.number(name, name, false)?),
            },
        }
        Ok(())
    }

    fn number(&mut self, written: &str, name: &str, is_group: bool) -> Result<u32, String> {
        let what = if is_group { "group" } else { "user" };
        let shown = quoted(name);
        let found = match (self.is_sandboxed, is_group) {
            (true, true) => in_file("/etc/group", name),
            (true, false) => in_file("/etc/passwd", name),
            (false, true) => Group::from_name(name)
                .map_err(|error| format!("group {shown}: {error}"))?
                .map(|group| group.gid.as_raw()),
            (false, false) => User::from_name(name)
                .map_err(|error| format!("user {shown}: {error}"))?
                .map(|user| user.uid.as_raw()),
        };
        match found.or_else(|| self.known.get(written).copied()) {
            Some(number) => {
                self.known.insert(written.to_owned(), number);
                Ok(number)
            }
            None if self.is_sandboxed => {
                Err(format!("no {what} {shown}; one that is new needs a restart, or its number"))
            }
            None => Err(format!("no {what} {shown}")),
        }
    }
}

/// The number of a name in a file such as `/etc/passwd`.
fn in_file(path: &str, name: &str) -> Option<u32> {
    let text = fs::read(path).ok()?;
    text.split(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b':');
        let is_it = fields.next() == Some(name.as_bytes());
        let number = fields.nth(1).filter(|_| is_it)?;
        str::from_utf8(number).ok()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_same_numbers_in_and_outside_of_the_sandbox() {
        for is_sandboxed in [false, true] {
            let mut names = Names { is_sandboxed, ..Names::default() };
            let mut allowed = Allowed::default();
            for name in ["root", "@root"] {
                let who = Who::Name(name.to_owned());
                names.resolve(&who, &mut allowed).expect("every system has it");
            }
            names.resolve(&Who::Number(7), &mut allowed).expect("it is a number");
            assert_eq!(allowed, Allowed { users: vec![0, 7], groups: vec![0] });
            for name in ["no:such", "", "@", "@no-such-group"] {
                let who = Who::Name(name.to_owned());
                assert!(names.resolve(&who, &mut allowed).is_err(), "{name}");
            }
        }
    }

    #[test]
    fn names_of_other_databases_remain_known() {
        let mut names = Names::default();
        names.known.insert("far".to_owned(), 77);
        names.enters_sandbox();
        let mut allowed = Allowed::default();
        names.resolve(&Who::Name("far".to_owned()), &mut allowed).expect("it is known");
        assert_eq!(allowed.users, [77]);
        assert!(names.resolve(&Who::Name("@far".to_owned()), &mut allowed).is_err());
    }
}
