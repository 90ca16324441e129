//! Cells to cells of the primary key of a ring.

use core::fmt;
use core::iter;
use core::ptr;

use zeroize::{Zeroize, Zeroizing};

use crate::associated::{Associated, Scratch};
use crate::blocks::{BLOCK, Piece, blocks, pieces, share};
use crate::decrypt::{Decryption, Keys};
use crate::encrypt::encrypt_block;
use crate::plan::Plan;
use crate::{Column, ColumnKey, Error, Keyring, Options, OwnedColumn};

/// A column that [`Keyring::rekey`] has moved to the primary key, and the number of its cells, by
/// what was done.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rekeyed {
    /// The cells.
    pub cells: OwnedColumn,
    /// Cells that had the primary key, and are authentic. They are the same bytes as before.
    pub kept: usize,
    /// Cells that were encrypted again, under the primary key.
    pub moved: usize,
    /// Cells whose key the ring does not have or has disabled. They are the same bytes as before.
    pub unknown: usize,
    /// Cells that are not authentic. They are the same bytes as before.
    pub forged: usize,
}

/// Without the cells.
impl fmt::Debug for Rekeyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kept, moved, unknown, forged, .. } = self;
        let mut f = f.debug_struct("Rekeyed");
        f.field("kept", kept).field("moved", moved).field("unknown", unknown);
        f.field("forged", forged).finish_non_exhaustive()
    }
}

impl Keyring {
    /// Encrypts each cell again under the primary key, for the same context and rows, unless it has
    /// this key already. Every cell is checked. Those that cannot be decrypted stay as they are,
    /// and are counted: nothing is lost. NULLs stay NULL.
    ///
    /// It needs the memory of the output and of one block of 256 values for each thread, which is
    /// wiped. It can be repeated, and continues where an earlier run has ended.
    ///
    /// # Errors
    ///
    /// Those of [`encrypt`](Self::encrypt). [`Options::on_error`] and [`Options::text`] have no
    /// effect.
    pub fn rekey(&self, cells: &Column<'_>, options: &Options<'_>) -> Result<Rekeyed, Error> {
        let primary = self.primary_key()?;
        let rows = cells.len();
        let associated = Associated::new(options, rows)?;
        // All keys of a ring have one layout.
        let plan = Plan::new(cells, |length| length)?;
        let (validity, nulls) = cells.nulls();
        let mut data = plan.memory()?;
        let cut = pieces(rows, &mut data, |row| plan.position(row))?;
        let counts = share(cut, options.threads, |piece| {
            rekey_piece(self, primary, cells, associated, plan.null(), piece)
        })?;
        let [kept, moved, unknown, forged] = counts.iter().fold([0; 4], |sums, counts| {
            let mut sums = sums.into_iter().zip(counts).map(|(sum, count)| sum + count);
            [(); 4].map(|()| sums.next().unwrap_or(0))
        });
        let offsets = plan.offsets;
        let (failed, is_text) = (0, false);
        let cells = OwnedColumn { offsets, data, validity, nulls, failed, unknown: 0, is_text };
        Ok(Rekeyed { cells, kept, moved, unknown, forged })
    }
}

/// Moves the cells of a piece, and counts those that were kept, moved, unknown and forged.
fn rekey_piece(
    ring: &Keyring,
    primary: &ColumnKey,
    column: &Column<'_>,
    associated: Associated<'_>,
    null: usize,
    piece: Piece<'_>,
) -> Result<[usize; 4], Error> {
    // Values stand one after the other, without room for NULLs.
    let mut decryption = Decryption::new(Keys::Ring(ring), 0);
    let lengths = decryption.lengths;
    let mut buffer = primary.cipher.buffer();
    let mut scratch = Scratch::new();
    let mut plain = Zeroizing::new(Vec::new());
    let mut whole = [None; BLOCK];
    let mut counts = [0; 4];
    let mut rest = piece.out;
    for rows in blocks(piece.rows) {
        let first = rows.start;
        let whole = &mut whole[..rows.len()];
        column.read(rows.clone(), whole)?;
        let bytes = |cell: &Option<&[u8]>| cell.map_or(null, <[u8]>::len);
        let Some(out) = rest.split_off_mut(..whole.iter().map(bytes).sum()) else {
            // The lengths have changed since the plan was computed.
            return Err(Error::Buffers { row: first });
        };
        let aad = associated.of(rows, whole, &mut scratch)?;

        let mut cells = [None; BLOCK];
        let cells = &mut cells[..whole.len()];
        cells.copy_from_slice(whole);
        decryption.find(cells);
        let needed = cells.iter().map(|cell| lengths.plain(*cell)).sum();
        if plain.len() < needed {
            // Wiped first: growing would leave a copy.
            plain.zeroize();
            *plain = vec![0; needed];
        }
        decryption.decrypt(cells, aad, &mut plain[..needed]);

        // The values that move; all other cells are copied.
        let mut values = [None; BLOCK];
        let (mut plain, mut to) = (&plain[..needed], &mut *out);
        let results = decryption.found.iter().zip(&decryption.reasons);
        for (((whole, cell), value), (key, reason)) in
            whole.iter().zip(&*cells).zip(&mut values).zip(results)
        {
            let Some(own) = plain.split_off(..lengths.plain(*cell)) else { break };
            let Some(to) = to.split_off_mut(..bytes(whole)) else { break };
            let Some(whole) = whole else { continue };
            let [kept, moved, unknown, forged] = &mut counts;
            let count = match (reason, key) {
                (Some(reason), _) if reason.is_unknown() => unknown,
                (None, Some(key)) if ptr::eq(*key, primary) => kept,
                (None, Some(_)) => {
                    *value = Some(own);
                    *moved += 1;
                    continue;
                }
                _ => forged,
            };
            *count += 1;
            to.copy_from_slice(whole);
        }
        let values = &values[..whole.len()];
        let moving = values.iter().flatten().count();
        if moving > 0 {
            primary.reserve(moving)?;
            let (mut to, mut lengths) = (out, whole.iter().map(bytes));
            let places = iter::from_fn(|| to.split_off_mut(..lengths.next()?));
            encrypt_block(primary, &mut buffer, values, aad, places, first)?;
        }
    }
    Ok(counts)
}
