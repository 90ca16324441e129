//! Holding peers to a level of instruction sets.

use core::fmt;

use lanecrypt_kernels::{Isa, Level};

use crate::project::{Hold, Variable};
use crate::{PROJECTS, PeerLibraries};

impl Variable {
    /// The value that it has, and the one that it needs.
    fn values(self, level: Level) -> Result<(Option<String>, String), CannotHold> {
        let refused = |reason| CannotHold { name: self.name, reason };
        let present = match std::env::var(self.name) {
            Ok(value) => Some(value),
            Err(std::env::VarError::NotPresent) => None,
            Err(error) => return Err(refused(error.to_string())),
        };
        let needed = (self.value)(level, present.as_deref()).map_err(refused)?;
        Ok((present, needed))
    }

    fn is_set(self, level: Level) -> bool {
        self.values(level).is_ok_and(|(present, needed)| present == Some(needed))
    }
}

impl PeerLibraries {
    /// Holds the libraries to `level`, as far as that is possible when they are set up. The others
    /// need [`environment`].
    pub fn hold_to(&mut self, level: Level) {
        self.level = Some(level);
    }

    /// The level that they are held to.
    #[must_use]
    pub const fn level(&self) -> Option<Level> {
        self.level
    }
}

/// Variables of the environment, and values, with which a process must be started so that its peers
/// are held to `level`. Those that have these values already are left out.
///
/// # Errors
///
/// [`CannotHold`] if a variable has a value that this cannot be combined with.
pub fn environment(level: Level) -> Result<Vec<(&'static str, String)>, CannotHold> {
    let mut needed: Vec<(&'static str, String)> = Vec::new();
    for project in PROJECTS {
        let Hold::By(variable) = project.hold(level) else { continue };
        let (present, value) = variable.values(level)?;
        let is_new = needed.iter().all(|(name, _)| *name != variable.name);
        if present.as_ref() != Some(&value) && is_new {
            needed.push((variable.name, value));
        }
    }
    Ok(needed)
}

/// Whether the project with this [`Peer::source`](crate::Peer::source) is held to `level` in this
/// process, by [`PeerLibraries::hold_to`] and the variables of [`environment`]. At the level of the
/// processor no project has higher code to be held from.
#[must_use]
pub fn is_held(source: &str, level: Level) -> bool {
    let project = PROJECTS.iter().find(|project| project.source() == source);
    level.includes(Isa::of_processor().level())
        || project.is_some_and(|project| match project.hold(level) {
            Hold::No => false,
            Hold::Yes => true,
            Hold::By(variable) => variable.is_set(level),
        })
}

/// A variable of the environment has a value that cannot be combined with the one that holds a
/// library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CannotHold {
    /// The variable.
    pub name: &'static str,
    /// The reason, for people.
    pub reason: String,
}

impl fmt::Display for CannotHold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

impl core::error::Error for CannotHold {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{aeads, ciphers, generators, public_keys, signers};

    #[test]
    fn every_peer_has_the_source_of_its_project() {
        let libraries = PeerLibraries::new();
        let mut sources: Vec<&str> = Vec::new();
        sources.extend(generators(&libraries).iter().map(|peer| peer.source));
        sources.extend(ciphers(&libraries).iter().map(|peer| peer.source));
        sources.extend(aeads(&libraries).iter().map(|peer| peer.source));
        sources.extend(signers(&libraries).iter().map(|peer| peer.source));
        sources.extend(public_keys(&libraries).iter().map(|peer| peer.source));
        sources.push(crate::SoftHsm::SOURCE);
        for source in &sources {
            assert!(PROJECTS.iter().any(|project| project.source() == *source), "{source}");
        }
        for project in PROJECTS {
            assert!(sources.contains(&project.source()), "{}", project.source());
        }
    }

    #[test]
    fn values_combine_with_themselves() {
        for &level in Level::built() {
            for project in PROJECTS {
                let Hold::By(variable) = project.hold(level) else { continue };
                let once = (variable.value)(level, None).expect("nothing to combine with");
                assert_eq!((variable.value)(level, Some(&once)), Ok(once), "{}", variable.name);
            }
        }
    }

    #[test]
    fn a_peer_that_is_held_stays_held_at_higher_levels() {
        for project in PROJECTS {
            let held = Level::built().iter().map(|&level| !matches!(project.hold(level), Hold::No));
            assert!(held.is_sorted(), "{}", project.source());
        }
    }

    #[test]
    fn a_source_that_is_no_project_is_not_held() {
        let of_processor = Isa::of_processor().level();
        for &level in Level::built().iter().filter(|&&level| !level.includes(of_processor)) {
            assert!(!is_held("nobody", level), "{level}");
        }
    }
}
