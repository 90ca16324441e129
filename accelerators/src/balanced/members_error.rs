//! The error of drivers that cannot share load.

use core::fmt;

use super::mask::MOST;

/// The reason for which drivers cannot share load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MembersError {
    /// Two of them have the same name.
    Taken,
    /// There are more than [`Balanced::MAX_MEMBERS`](super::Balanced::MAX_MEMBERS).
    TooMany,
}

impl fmt::Display for MembersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.pad("two drivers have the same name"),
            Self::TooMany => write!(f, "more than {MOST} drivers"),
        }
    }
}

impl core::error::Error for MembersError {}
