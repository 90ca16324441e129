//! The error of a file that describes a card or a host.

use core::fmt;

/// The reason for refusing a description. It prints as one line: `line 7: bus.bytes_per_second: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileError {
    /// The line, from 1; for a missing figure, the line where its table begins.
    pub line: usize,
    /// The figure, such as `cipher.aes-128-cbc.bytes_per_second`; empty if the file is not TOML.
    pub field: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.reason)
    }
}

impl core::error::Error for FileError {}
