//! Values to cells.

use lanecrypt_engine::{BatchBuffer, Data, Session};

use crate::associated::{Associated, OfBlock, Scratch};
use crate::blocks::{BLOCK, Cells, Piece, blocks, pieces, share};
use crate::key::Cipher;
use crate::layout::NONCE;
use crate::plan::Plan;
use crate::{CellError, Column, ColumnKey, Error, Keyring, Options, OwnedColumn, deterministic};

impl ColumnKey {
    /// Encrypts each value. NULLs stay NULL.
    ///
    /// The cells are `Binary` for `Binary` and `Utf8`, `FixedSizeBinary` for `FixedSizeBinary`, and
    /// `LargeBinary` for all others.
    ///
    /// # Errors
    ///
    /// [`Error::Buffers`], [`Error::Rows`] or [`Error::NullAssociated`] if the columns are invalid,
    /// [`Error::TooLong`] if a column with offsets of 32 bits would become too long,
    /// [`Error::Memory`], and [`Error::KeyExhausted`].
    pub fn encrypt(
        &self,
        values: &Column<'_>,
        options: &Options<'_>,
    ) -> Result<OwnedColumn, Error> {
        let rows = values.len();
        let associated = Associated::new(options, rows)?;
        let overhead = self.overhead();
        let plan = Plan::new(values, |length| length.saturating_add(overhead))?;
        let (validity, nulls) = values.nulls();
        self.reserve(rows - nulls)?;
        let mut data = plan.memory()?;
        share(pieces(rows, &mut data, |row| plan.position(row))?, options.threads, |piece| {
            encrypt_piece(self, values, associated, plan.null(), piece)
        })?;
        let offsets = plan.offsets;
        Ok(OwnedColumn { offsets, data, validity, nulls, failed: 0, unknown: 0, is_text: false })
    }
}

impl Keyring {
    /// Encrypts each value under the primary key, as [`ColumnKey::encrypt`] does, with its id in
    /// front of each cell.
    ///
    /// # Errors
    ///
    /// [`Error::NoPrimaryKey`], and those of [`ColumnKey::encrypt`].
    pub fn encrypt(
        &self,
        values: &Column<'_>,
        options: &Options<'_>,
    ) -> Result<OwnedColumn, Error> {
        self.primary_key()?.encrypt(values, options)
    }
}

fn encrypt_piece(
    key: &ColumnKey,
    column: &Column<'_>,
    associated: Associated<'_>,
    null: usize,
    piece: Piece<'_>,
) -> Result<(), Error> {
    let mut buffer = key.cipher.buffer();
    let mut scratch = Scratch::new();
    let mut values = [None; BLOCK];
    let mut rest = piece.out;
    let overhead = key.overhead();
    for rows in blocks(piece.rows) {
        let values = &mut values[..rows.len()];
        column.read(rows.clone(), values)?;
        let aad = associated.of(rows.clone(), values, &mut scratch)?;
        let bytes = |value: &Option<&[u8]>| value.map_or(null, |value| value.len() + overhead);
        let Some(mut out) = rest.split_off_mut(..values.iter().map(bytes).sum()) else {
            // The lengths have changed since the plan was computed.
            return Err(Error::Buffers { row: rows.start });
        };
        let places = values.iter().map_while(|value| out.split_off_mut(..bytes(value)));
        encrypt_block(key, &mut buffer, values, aad, places, rows.start)?;
    }
    Ok(())
}

/// Encrypts the values of a block, whose first row is `first`, each to its place. Places of NULLs
/// are left as they are.
pub(crate) fn encrypt_block<'o>(
    key: &ColumnKey,
    buffer: &mut Option<BatchBuffer>,
    values: &Cells<'_>,
    aad: OfBlock<'_>,
    places: impl Iterator<Item = &'o mut [u8]>,
    first: usize,
) -> Result<(), Error> {
    let places = values.iter().zip(places).map(|(value, place)| match key.prefix {
        Some(prefix) if value.is_some() => {
            let (front, rest) = place.split_at_mut(prefix.len());
            front.copy_from_slice(&prefix);
            rest
        }
        _ => place,
    });
    let refused_at = match (&key.cipher, buffer) {
        (Cipher::Nonces { session, .. }, Some(buffer)) => {
            with_nonces(session, buffer, values, aad, places)?
        }
        (Cipher::Deterministic(cipher), _) => deterministic::encrypt(cipher, values, aad, places),
        (Cipher::Nonces { .. }, None) => Some(0),
    };
    let refused = |index| Error::Cell { row: first + index, reason: CellError::ValueLength };
    refused_at.map_or(Ok(()), |index| Err(refused(index)))
}

/// Encrypts the values of a block, each with its own nonce, and returns the index of the first one
/// that was refused.
fn with_nonces<'o>(
    session: &Session,
    buffer: &mut BatchBuffer,
    values: &Cells<'_>,
    aad: OfBlock<'_>,
    places: impl Iterator<Item = &'o mut [u8]>,
) -> Result<Option<usize>, Error> {
    let mut nonces = [[0; NONCE]; BLOCK];
    let nonces = &mut nonces[..values.len()];
    lanecrypt_random::try_fill(nonces.as_flattened_mut()).map_err(|_| Error::Entropy)?;
    let mut batch = buffer.batch();
    for (index, ((value, nonce), cell)) in values.iter().zip(nonces).zip(places).enumerate() {
        let Some(value) = value else { continue };
        let (front, sealed) = cell.split_at_mut(NONCE);
        let (data, tag) = sealed.split_at_mut(value.len());
        front.copy_from_slice(nonce);
        batch.seal_detached(session, nonce, aad.cell(index), Data::from((*value, data)), tag);
    }
    if batch.finish().is_ok() {
        return Ok(None);
    }
    let refused = buffer.outcomes().position(|outcome| outcome != Some(Ok(()))).unwrap_or(0);
    let mut served = values.iter().enumerate().filter(|(_, value)| value.is_some());
    Ok(served.nth(refused).map(|(index, _)| index))
}
