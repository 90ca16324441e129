//! Cells to values.

use lanecrypt_engine::{BatchBuffer, Data, Session};
use zeroize::Zeroize;

use crate::associated::{Associated, OfBlock, Scratch};
use crate::blocks::{BLOCK, Cells, Piece, blocks, pieces, share};
use crate::key::Cipher;
use crate::layout::{NONCE, TAG};
use crate::plan::{Lengths, Plan};
use crate::{
    CellError, Column, ColumnKey, Error, OnError, Options, OwnedColumn, deterministic, validity,
};

impl ColumnKey {
    /// Decrypts each cell. NULLs stay NULL.
    ///
    /// The values are in a column of the kind that [`encrypt`](Self::encrypt) returns for the kind
    /// of the cells.
    ///
    /// # Errors
    ///
    /// [`Error::Cell`] with the first row that cannot be decrypted, unless such cells
    /// [become NULL](crate::OnError::Null); otherwise the same as [`encrypt`](Self::encrypt).
    pub fn decrypt(&self, cells: &Column<'_>, options: &Options<'_>) -> Result<OwnedColumn, Error> {
        let rows = cells.len();
        let associated = Associated::new(options, rows)?;
        let overhead = self.layout().overhead();
        let plan = Plan::new(cells, |length| length.saturating_sub(overhead))?;
        let (mut validity, mut nulls) = cells.nulls();
        let mut data = plan.memory()?;
        let cut = pieces(rows, &mut data, |row| plan.position(row))?;
        let failed = share(cut, options.threads, |piece| {
            decrypt_piece(self, cells, associated, options, plan.null(), piece)
        });
        let failed = failed.inspect_err(|_| data.zeroize())?.concat();
        validity::clear(&mut validity, rows, &failed);
        nulls += failed.len();
        let is_text = options.text;
        Ok(OwnedColumn {
            offsets: plan.offsets,
            data,
            validity,
            nulls,
            failed: failed.len(),
            is_text,
        })
    }
}

/// Decrypts a piece, and returns the rows that failed.
fn decrypt_piece(
    key: &ColumnKey,
    column: &Column<'_>,
    associated: Associated<'_>,
    options: &Options<'_>,
    null: usize,
    piece: Piece<'_>,
) -> Result<Vec<usize>, Error> {
    let lengths = Lengths { overhead: key.layout().overhead(), null };
    let mut buffer = key.cipher.buffer();
    let mut scratch = Scratch::new();
    let mut cells = [None; BLOCK];
    let mut reasons = [None; BLOCK];
    let mut failed = Vec::new();
    let mut rest = piece.out;
    for rows in blocks(piece.rows) {
        let cells = &mut cells[..rows.len()];
        let reasons = &mut reasons[..rows.len()];
        reasons.fill(None);
        column.read(rows.clone(), cells)?;
        let aad = associated.of(rows.clone(), cells, &mut scratch)?;
        let bytes = cells.iter().map(|cell| lengths.plain(*cell)).sum();
        let Some(out) = rest.split_off_mut(..bytes) else {
            // The lengths have changed since the plan was computed.
            return Err(Error::Buffers { row: rows.start });
        };
        match (&key.cipher, &mut buffer) {
            (Cipher::Nonces { session, .. }, Some(buffer)) => {
                with_nonces(session, buffer, cells, aad, lengths, out, reasons);
            }
            (Cipher::Deterministic(cipher), _) => {
                deterministic::decrypt(cipher, cells, aad, lengths, out, reasons);
            }
            (Cipher::Nonces { .. }, None) => reasons.fill(Some(CellError::Authentication)),
        }
        if options.text {
            check_text(cells, lengths, out, reasons);
        }
        for (row, reason) in rows.zip(&*reasons) {
            match *reason {
                None => {}
                Some(reason) if options.on_error == OnError::Fail => {
                    return Err(Error::Cell { row, reason });
                }
                Some(_) => failed.push(row),
            }
        }
    }
    Ok(failed)
}

/// Decrypts the cells of a block, which have a nonce each, and stores the errors in `reasons`.
fn with_nonces(
    session: &Session,
    buffer: &mut BatchBuffer,
    cells: &Cells<'_>,
    aad: OfBlock<'_>,
    lengths: Lengths,
    mut out: &mut [u8],
    reasons: &mut [Option<CellError>],
) {
    let mut batch = buffer.batch();
    for (index, cell) in cells.iter().enumerate() {
        let Some(data) = out.split_off_mut(..lengths.plain(*cell)) else { break };
        let Some(cell) = cell else { continue };
        if cell.len() < NONCE + TAG {
            continue;
        }
        let (nonce, sealed) = cell.split_at(NONCE);
        let (from, tag) = sealed.split_at(data.len());
        batch.open_detached(session, nonce, aad.cell(index), Data::from((from, data)), tag);
    }
    let is_good = batch.finish().is_ok();
    let mut outcomes = buffer.outcomes();
    for (cell, reason) in cells.iter().zip(reasons) {
        let failed = match cell {
            None => false,
            Some(cell) if cell.len() < NONCE + TAG => true,
            Some(_) => !is_good && outcomes.next() != Some(Some(Ok(()))),
        };
        *reason = failed.then_some(CellError::Authentication);
    }
}

/// Refuses values that are not UTF-8, and wipes them.
fn check_text(
    cells: &Cells<'_>,
    lengths: Lengths,
    mut out: &mut [u8],
    reasons: &mut [Option<CellError>],
) {
    for (cell, reason) in cells.iter().zip(reasons) {
        let Some(value) = out.split_off_mut(..lengths.plain(*cell)) else { break };
        if cell.is_some() && reason.is_none() && str::from_utf8(value).is_err() {
            *reason = Some(CellError::NotText);
            value.zeroize();
        }
    }
}
