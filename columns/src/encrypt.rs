//! Values to cells.

use lanecrypt_engine::{BatchBuffer, Data, Session};

use crate::associated::{Associated, OfBlock, Scratch};
use crate::blocks::{BLOCK, Cells, Piece, blocks, pieces, share};
use crate::key::Cipher;
use crate::layout::{NONCE, TAG};
use crate::plan::Plan;
use crate::{CellError, Column, ColumnKey, Error, Options, OwnedColumn, deterministic};

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
        let overhead = self.layout().overhead();
        let plan = Plan::new(values, |length| length.saturating_add(overhead))?;
        let (validity, nulls) = values.nulls();
        self.reserve(rows - nulls)?;
        let mut data = plan.memory()?;
        share(pieces(rows, &mut data, |row| plan.position(row))?, options.threads, |piece| {
            encrypt_piece(self, values, associated, plan.null(), piece)
        })?;
        Ok(OwnedColumn { offsets: plan.offsets, data, validity, nulls, failed: 0, is_text: false })
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
    let overhead = key.layout().overhead();
    for rows in blocks(piece.rows) {
        let values = &mut values[..rows.len()];
        column.read(rows.clone(), values)?;
        let aad = associated.of(rows.clone(), values, &mut scratch)?;
        let bytes = |value: &Option<&[u8]>| value.map_or(null, |value| value.len() + overhead);
        let Some(out) = rest.split_off_mut(..values.iter().map(bytes).sum()) else {
            // The lengths have changed since the plan was computed.
            return Err(Error::Buffers { row: rows.start });
        };
        let refused = match (&key.cipher, &mut buffer) {
            (Cipher::Nonces { session, .. }, Some(buffer)) => {
                with_nonces(session, buffer, values, aad, null, out)?
            }
            (Cipher::Deterministic(cipher), _) => {
                deterministic::encrypt(cipher, values, aad, null, out)
            }
            (Cipher::Nonces { .. }, None) => Some(0),
        };
        if let Some(index) = refused {
            return Err(Error::Cell { row: rows.start + index, reason: CellError::ValueLength });
        }
    }
    Ok(())
}

/// Encrypts the values of a block, each with its own nonce, and returns the index of the first one
/// that was refused.
fn with_nonces(
    session: &Session,
    buffer: &mut BatchBuffer,
    values: &Cells<'_>,
    aad: OfBlock<'_>,
    null: usize,
    mut out: &mut [u8],
) -> Result<Option<usize>, Error> {
    let mut nonces = [[0; NONCE]; BLOCK];
    let nonces = &mut nonces[..values.len()];
    lanecrypt_random::try_fill(nonces.as_flattened_mut()).map_err(|_| Error::Entropy)?;
    let mut batch = buffer.batch();
    for (index, (value, nonce)) in values.iter().zip(nonces).enumerate() {
        let bytes = value.map_or(null, |value| NONCE + value.len() + TAG);
        let Some(cell) = out.split_off_mut(..bytes) else { break };
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
