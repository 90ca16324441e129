//! The error of adding a driver.

use core::fmt;

/// The reason for which an engine refuses the name of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DriverNameError {
    /// It is empty, or has characters other than ASCII lower-case letters, digits and punctuation.
    Malformed,
    /// Another driver of this engine has this name.
    Taken,
}

impl DriverNameError {
    /// Checks whether `name` can be added to the names in `known`.
    pub(crate) fn check<'n>(
        name: &str,
        mut known: impl Iterator<Item = &'n str>,
    ) -> Result<(), Self> {
        let good = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
        if name.is_empty() || !name.bytes().all(good) {
            return Err(Self::Malformed);
        }
        if known.any(|other| other == name) { Err(Self::Taken) } else { Ok(()) }
    }
}

impl fmt::Display for DriverNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Malformed => "the name of a driver must be in lower case, without spaces",
            Self::Taken => "another driver has this name",
        })
    }
}

impl core::error::Error for DriverNameError {}
