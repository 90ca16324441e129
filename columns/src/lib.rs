//! Columns of a table, encrypted value by value.
//!
//! A [`Column`] is Arrow's: a buffer of values, their offsets, and a bit for each that tells
//! whether it is there. [`ColumnKey::encrypt`] makes a column of cells of it. A cell has a nonce
//! and a tag of its own, so it can be read without the others, whatever table it has gone to. Other
//! systems read and write the same cells: see [`Layout`].
//!
//! ```
//! use lanecrypt_columns::{Column, ColumnKey, Layout, Options};
//!
//! # fn main() -> Result<(), lanecrypt_columns::Error> {
//! # let key = [7; 32];
//! let key = ColumnKey::new(Layout::AesGcm, &key)?;
//! let table = Options::new().context(b"people.ssn");
//!
//! let names = Column::binary(&[0, 4, 9], b"AnneBerta");
//! let cells = key.encrypt(&names, &table)?;
//! assert_eq!(cells.data.len(), 4 + 28 + 5 + 28);
//!
//! let names = key.decrypt(&cells.column(), &table)?;
//! assert_eq!(names.data, b"AnneBerta");
//! # Ok(())
//! # }
//! ```
//!
//! # What is kept and what is not
//!
//! - A NULL stays a NULL, and an empty value stays an empty value, which is authentic. Whoever
//!   reads the cells sees which are NULL, and how long each value is.
//! - **Cells can be moved** to another row, column or table under the same key, unless associated
//!   data says where they belong: a [context](Options::context), such as the names of table and
//!   column, and a [column with a value for each row](Options::rows), such as its primary key.
//! - Rows can be left out or repeated; no cell knows of the others.
//! - Values are bytes. Nothing is taken for text unless [asked for](Options::text).
//!
#![doc = include_str!("security.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod associated;
mod blocks;
mod column;
mod decrypt;
mod deterministic;
mod encrypt;
mod error;
mod key;
mod layout;
mod options;
mod owned;
mod plan;
mod validity;

pub use column::Column;
pub use error::{CellError, Error};
pub use key::ColumnKey;
pub use layout::{Layout, UnknownLayout};
pub use options::{OnError, Options};
pub use owned::{Offsets, OwnedColumn};
