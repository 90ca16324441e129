//! Cells to values.

use core::ptr;

use lanecrypt_ciphers::DeterministicAesSiv;
use lanecrypt_engine::{BatchBuffer, Data, Session};
use zeroize::Zeroize;

use crate::associated::{Associated, OfBlock, Scratch};
use crate::blocks::{BLOCK, Cells, Piece, blocks, pieces, share};
use crate::key::Cipher;
use crate::keyring::Keyring;
use crate::layout::{NONCE, PREFIX, TAG};
use crate::plan::{Lengths, Plan};
use crate::{
    CellError, Column, ColumnKey, Error, Layout, OnError, Options, OwnedColumn, deterministic,
    validity,
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
        decrypt(Keys::One(self), cells, options)
    }
}

impl Keyring {
    /// Decrypts each cell with the key that it has the id of, as [`ColumnKey::decrypt`] does.
    ///
    /// # Errors
    ///
    /// Those of [`ColumnKey::decrypt`]. Cells whose key is unknown or disabled have their own
    /// [`CellError`]; those that become NULL are counted as [`OwnedColumn::unknown`], too.
    pub fn decrypt(&self, cells: &Column<'_>, options: &Options<'_>) -> Result<OwnedColumn, Error> {
        decrypt(Keys::Ring(self), cells, options)
    }
}

/// The keys that cells may have been encrypted with.
#[derive(Clone, Copy)]
pub(crate) enum Keys<'k> {
    One(&'k ColumnKey),
    /// Each cell begins with the id of its key.
    Ring(&'k Keyring),
}

impl<'k> Keys<'k> {
    fn layout(self) -> Layout {
        match self {
            Self::One(key) => key.layout(),
            Self::Ring(ring) => ring.layout(),
        }
    }

    /// The difference between the lengths of a cell and its value in bytes.
    fn overhead(self) -> usize {
        match self {
            Self::One(key) => key.overhead(),
            Self::Ring(ring) => ring.layout().overhead() + PREFIX,
        }
    }

    fn buffer(self) -> Option<BatchBuffer> {
        match self {
            Self::One(key) => key.cipher.buffer(),
            Self::Ring(ring) => ring.any_key()?.cipher.buffer(),
        }
    }
}

/// Decrypts each cell.
pub(crate) fn decrypt(
    keys: Keys<'_>,
    cells: &Column<'_>,
    options: &Options<'_>,
) -> Result<OwnedColumn, Error> {
    let rows = cells.len();
    let associated = Associated::new(options, rows)?;
    let overhead = keys.overhead();
    let plan = Plan::new(cells, |length| length.saturating_sub(overhead))?;
    let (mut validity, mut nulls) = cells.nulls();
    let mut data = plan.memory()?;
    let cut = pieces(rows, &mut data, |row| plan.position(row))?;
    let failed = share(cut, options.threads, |piece| {
        decrypt_piece(keys, cells, associated, options, plan.null(), piece)
    });
    let failed = failed.inspect_err(|_| data.zeroize())?.concat();
    let unknown = failed.iter().filter(|(_, reason)| reason.is_unknown()).count();
    let failed: Vec<_> = failed.into_iter().map(|(row, _)| row).collect();
    validity::clear(&mut validity, rows, &failed);
    nulls += failed.len();
    let (failed, is_text) = (failed.len(), options.text);
    Ok(OwnedColumn { offsets: plan.offsets, data, validity, nulls, failed, unknown, is_text })
}

/// Decrypts a piece, and returns the rows that failed, with the reasons.
fn decrypt_piece(
    keys: Keys<'_>,
    column: &Column<'_>,
    associated: Associated<'_>,
    options: &Options<'_>,
    null: usize,
    piece: Piece<'_>,
) -> Result<Vec<(usize, CellError)>, Error> {
    let mut decryption = Decryption::new(keys, null);
    let lengths = decryption.lengths;
    let mut scratch = Scratch::new();
    let mut cells = [None; BLOCK];
    let mut failed = Vec::new();
    let mut rest = piece.out;
    for rows in blocks(piece.rows) {
        let cells = &mut cells[..rows.len()];
        column.read(rows.clone(), cells)?;
        let aad = associated.of(rows.clone(), cells, &mut scratch)?;
        decryption.find(cells);
        let bytes = cells.iter().map(|cell| lengths.plain(*cell)).sum();
        let Some(out) = rest.split_off_mut(..bytes) else {
            // The lengths have changed since the plan was computed.
            return Err(Error::Buffers { row: rows.start });
        };
        decryption.decrypt(cells, aad, out);
        if options.text {
            check_text(cells, lengths, out, &mut decryption.reasons);
        }
        for (row, reason) in rows.zip(&decryption.reasons) {
            match *reason {
                None => {}
                Some(reason) if options.on_error == OnError::Fail => {
                    return Err(Error::Cell { row, reason });
                }
                Some(reason) => failed.push((row, reason)),
            }
        }
    }
    Ok(failed)
}

/// The decryption of blocks, one after the other.
pub(crate) struct Decryption<'k> {
    keys: Keys<'k>,
    buffer: Option<BatchBuffer>,
    /// Those of cells without the ids of keys.
    pub(crate) lengths: Lengths,
    /// The key of each cell of the block, if there is one.
    pub(crate) found: [Option<&'k ColumnKey>; BLOCK],
    /// The reason for which each cell of the block was refused.
    pub(crate) reasons: [Option<CellError>; BLOCK],
}

impl<'k> Decryption<'k> {
    /// With the bytes that a NULL takes in the output.
    pub(crate) fn new(keys: Keys<'k>, null: usize) -> Self {
        let lengths = Lengths { overhead: keys.layout().overhead(), null };
        let (found, reasons) = ([None; BLOCK], [None; BLOCK]);
        Self { keys, buffer: keys.buffer(), lengths, found, reasons }
    }

    /// Finds the keys of a block, and takes their ids off its cells.
    pub(crate) fn find(&mut self, cells: &mut Cells<'_>) {
        self.reasons.fill(None);
        match self.keys {
            Keys::One(key) => self.found.fill(Some(key)),
            Keys::Ring(ring) => ring.find(cells, &mut self.found, &mut self.reasons),
        }
    }

    /// Decrypts the cells of a block whose keys were found.
    pub(crate) fn decrypt(&mut self, cells: &Cells<'_>, aad: OfBlock<'_>, out: &mut [u8]) {
        let Self { found, reasons, lengths, .. } = self;
        if let Some(buffer) = &mut self.buffer {
            return with_nonces(found, buffer, cells, aad, *lengths, out, reasons);
        }
        let found = &found[..cells.len()];
        for (index, key) in found.iter().enumerate() {
            let Some(key) = key else { continue };
            let is_own = |other: &Option<&ColumnKey>| other.is_some_and(|it| ptr::eq(it, *key));
            // All cells of a key are decrypted together.
            if let Some(cipher) = deterministic(key)
                && !found[..index].iter().any(is_own)
            {
                let own = |index: usize| is_own(&found[index]);
                deterministic::decrypt(cipher, own, cells, aad, *lengths, out, reasons);
            }
        }
    }
}

fn session(key: &ColumnKey) -> Option<&Session> {
    match &key.cipher {
        Cipher::Nonces { session, .. } => Some(session),
        Cipher::Deterministic(_) => None,
    }
}

fn deterministic(key: &ColumnKey) -> Option<&DeterministicAesSiv> {
    match &key.cipher {
        Cipher::Nonces { .. } => None,
        Cipher::Deterministic(cipher) => Some(cipher),
    }
}

/// Decrypts the cells of a block, which have a nonce each, and stores the errors in `reasons`.
fn with_nonces(
    found: &[Option<&ColumnKey>],
    buffer: &mut BatchBuffer,
    cells: &Cells<'_>,
    aad: OfBlock<'_>,
    lengths: Lengths,
    mut out: &mut [u8],
    reasons: &mut [Option<CellError>],
) {
    let mut batch = buffer.batch();
    for (index, (cell, key)) in cells.iter().zip(found).enumerate() {
        let Some(data) = out.split_off_mut(..lengths.plain(*cell)) else { break };
        let (Some(cell), Some(session)) = (cell, key.and_then(session)) else { continue };
        if cell.len() < NONCE + TAG {
            continue;
        }
        let (nonce, sealed) = cell.split_at(NONCE);
        let (from, tag) = sealed.split_at(data.len());
        batch.open_detached(session, nonce, aad.cell(index), Data::from((from, data)), tag);
    }
    let is_good = batch.finish().is_ok();
    let mut outcomes = buffer.outcomes();
    for ((cell, key), reason) in cells.iter().zip(found).zip(reasons) {
        let failed = match cell {
            Some(cell) if key.is_some() => {
                cell.len() < NONCE + TAG || (!is_good && outcomes.next() != Some(Some(Ok(()))))
            }
            _ => false,
        };
        if failed {
            *reason = Some(CellError::Authentication);
        }
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
