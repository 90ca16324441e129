//! Why a driver was not added.

use core::fmt;

/// Why an engine refuses the name of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DriverNameError {
    /// It is empty, or has something else than lower-case letters, digits and punctuation of ASCII.
    Malformed,
    /// A driver of this engine has it.
    Taken,
}

impl DriverNameError {
    /// Whether `name` can be that of one more driver beside those `known`.
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
