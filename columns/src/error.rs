//! Errors of columns and cells.

use core::fmt;

use crate::Layout;

/// The reason for which a column was not encrypted or decrypted. Rows are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The layout has no keys of this length.
    KeyLength {
        /// The layout.
        layout: Layout,
        /// The length of the key in bytes.
        given: usize,
    },
    /// A cell cannot be processed.
    Cell {
        /// Its row.
        row: usize,
        /// The reason.
        reason: CellError,
    },
    /// The offsets, lengths or buffers of the column contradict each other at this row.
    Buffers {
        /// The row.
        row: usize,
    },
    /// The length of a buffer does not match the number of rows.
    BufferLength {
        /// The required length in bytes.
        needed: usize,
        /// Its length in bytes.
        given: usize,
    },
    /// The column of associated data has another number of rows.
    Rows {
        /// The rows of the column.
        column: usize,
        /// The rows of the column of associated data.
        associated: usize,
    },
    /// A value of the column of associated data is NULL, so that this cell could be moved to
    /// another such row.
    NullAssociated {
        /// Its row.
        row: usize,
    },
    /// The output exceeds the maximum of 32-bit offsets, 2^31 - 1 bytes: use a column with offsets
    /// of 64 bits, or fewer rows at a time.
    TooLong,
    /// The output does not fit into memory.
    Memory,
    /// The key has encrypted the maximum number of values for random nonces.
    KeyExhausted,
    /// The system gave no random bytes.
    Entropy,
    /// The key ring has no primary key.
    NoPrimaryKey,
    /// The key ring has no key with this id.
    UnknownKey {
        /// The id.
        id: u32,
    },
    /// The key ring has a key with this id.
    KeyExists {
        /// The id.
        id: u32,
    },
    /// The primary key cannot be disabled or removed.
    PrimaryKey {
        /// Its id.
        id: u32,
    },
    /// A disabled key cannot become the primary one.
    DisabledKey {
        /// Its id.
        id: u32,
    },
    /// The text is not a key ring in JSON.
    Format,
    /// The text is a key ring in the format of a later version.
    FormatVersion {
        /// The version of the format.
        version: u32,
    },
}

/// The reason for which a cell was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellError {
    /// It was not encrypted with this key for this context and row: the key, the layout or the
    /// associated data differs, or the cell was changed, truncated or moved.
    Authentication,
    /// The key ring has no key with the id of the cell.
    UnknownKey {
        /// The id.
        id: u32,
    },
    /// The key with the id of the cell is disabled.
    DisabledKey {
        /// The id.
        id: u32,
    },
    /// The cell does not begin with the id of a key: it was encrypted without a key ring, or
    /// changed.
    NoKeyId,
    /// It is authentic, but not UTF-8.
    NotText,
    /// The value is too long for the cipher.
    ValueLength,
}

impl CellError {
    /// Whether the key ring has no usable key for the cell.
    #[must_use]
    pub fn is_unknown(self) -> bool {
        matches!(self, Self::UnknownKey { .. } | Self::DisabledKey { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyLength { layout, given } => {
                write!(f, "{layout}: a key of {given} bytes where ")?;
                match layout.key_lengths() {
                    [one] => write!(f, "{one}"),
                    [first @ .., last] => {
                        for (index, length) in first.iter().enumerate() {
                            write!(f, "{}{length}", if index == 0 { "" } else { ", " })?;
                        }
                        write!(f, " or {last}")
                    }
                    [] => Ok(()),
                }?;
                f.write_str(" are needed")
            }
            Self::Cell { row, reason } => write!(f, "row {row}: {reason}"),
            Self::Buffers { row } => write!(f, "row {row}: offsets that lead out of their buffer"),
            Self::BufferLength { needed, given } => {
                write!(f, "a buffer of {given} bytes where {needed} are needed")
            }
            Self::Rows { column, associated } => {
                write!(f, "{associated} rows of associated data for a column of {column}")
            }
            Self::NullAssociated { row } => write!(f, "row {row}: associated data is NULL"),
            Self::TooLong => f.write_str("more bytes than offsets of 32 bits count"),
            Self::Memory => f.write_str("not enough memory for the output"),
            Self::KeyExhausted => {
                f.write_str("the key has encrypted as many values as random nonces allow")
            }
            Self::Entropy => f.write_str("the system gave no random bytes"),
            Self::NoPrimaryKey => f.write_str("the key ring has no primary key"),
            Self::UnknownKey { id } => write!(f, "the key ring has no key {id}"),
            Self::KeyExists { id } => write!(f, "the key ring has a key {id} already"),
            Self::PrimaryKey { id } => {
                write!(f, "key {id} is the primary key: make another one primary first")
            }
            Self::DisabledKey { id } => write!(f, "key {id} is disabled"),
            Self::Format => f.write_str("not a key ring in JSON"),
            Self::FormatVersion { version } => {
                write!(f, "a key ring in format {version}; this version reads format 1")
            }
        }
    }
}

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Authentication => "the cell is not authentic",
            Self::UnknownKey { id } => return write!(f, "the key ring has no key {id}"),
            Self::DisabledKey { id } => return write!(f, "key {id} is disabled"),
            Self::NoKeyId => "the cell does not begin with the id of a key",
            Self::NotText => "the value is not UTF-8",
            Self::ValueLength => "the value is too long",
        })
    }
}

impl core::error::Error for Error {}

impl core::error::Error for CellError {}
