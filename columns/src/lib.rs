//! Columns of a table, encrypted value by value.
//!
//! A [`Column`] has Arrow's layout: a buffer of values, their offsets, and a validity bit for each.
//! [`ColumnKey::encrypt`] returns a column of cells. A cell has its own nonce and tag, so it can be
//! decrypted without the others, in any table. Other systems read and write the same cells: see
//! [`Layout`].
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
//! A [`Keyring`] has several keys with ids. Each cell begins with the id of its key, so that a
//! column can be [moved](Keyring::rekey) from key to key.
//!
//! # Guarantees and limits
//!
//! - A NULL stays a NULL, and an empty value stays an empty value, which is authentic. Cells
//!   reveal which of them are NULL, and the length of each value.
//! - **Cells can be moved** to another row, column or table under the same key, unless associated
//!   data binds them to their place: a [context](Options::context), such as the names of table and
//!   column, and a [column with a value for each row](Options::rows), such as its primary key.
//! - Rows can be left out or repeated; cells are independent.
//! - Values are bytes. They are treated as text only [on request](Options::text).
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
mod keyring;
mod layout;
mod options;
mod owned;
mod plan;
mod rekey;
mod validity;

pub use column::Column;
pub use error::{CellError, Error};
pub use key::ColumnKey;
pub use keyring::{KeyState, Keyring};
pub use layout::{Layout, UnknownLayout};
pub use options::{OnError, Options};
pub use owned::{Offsets, OwnedColumn};
pub use rekey::Rekeyed;
