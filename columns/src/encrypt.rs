//! Values to cells.

use lanecrypt_engine::{Data, Room};

use crate::associated::{Associated, OfBlock, Scratch};
use crate::blocks::{BLOCK, Cells, Piece, blocks, pieces, share};
use crate::layout::{NONCE, TAG};
use crate::plan::Plan;
use crate::{CellError, Column, ColumnKey, Error, Options, OwnedColumn};

pub(crate) fn encrypt(
    key: &ColumnKey,
    values: &Column<'_>,
    options: &Options<'_>,
) -> Result<OwnedColumn, Error> {
    let rows = values.len();
    let associated = Associated::new(options, rows)?;
    let overhead = key.layout.overhead();
    let plan = Plan::new(values, |length| length.saturating_add(overhead))?;
    let (validity, nulls) = match values.validity.map(|validity| validity.to_owned(rows)) {
        Some((bits, nulls)) if nulls > 0 => (Some(bits), nulls),
        _ => (None, 0),
    };
    key.reserve(rows - nulls)?;
    let mut data = plan.memory()?;
    share(pieces(rows, &mut data, |row| plan.position(row)), options.threads, |piece| {
        encrypt_piece(key, values, associated, plan.null(), piece)
    })?;
    Ok(OwnedColumn { offsets: plan.offsets, data, validity, nulls, failed: 0, is_text: false })
}

fn encrypt_piece(
    key: &ColumnKey,
    column: &Column<'_>,
    associated: Associated<'_>,
    null: usize,
    piece: Piece<'_>,
) -> Result<(), Error> {
    let mut room = key.engine.room(BLOCK);
    let mut scratch = Scratch::new();
    let mut values = [None; BLOCK];
    let mut rest = piece.out;
    for rows in blocks(piece.rows) {
        let values = &mut values[..rows.len()];
        column.read(rows.clone(), values)?;
        let aad = associated.of(rows.clone(), values, &mut scratch)?;
        encrypt_block(key, &mut room, rows.start, values, aad, null, &mut rest)?;
    }
    Ok(())
}

/// Encrypts the values of a block, whose first row is `first`, to the front of `rest`, which is then
/// what is left of it.
fn encrypt_block(
    key: &ColumnKey,
    room: &mut Room,
    first: usize,
    values: &Cells<'_>,
    aad: OfBlock<'_>,
    null: usize,
    rest: &mut &mut [u8],
) -> Result<(), Error> {
    let mut nonces = [[0; NONCE]; BLOCK];
    let nonces = &mut nonces[..values.len()];
    lanecrypt_random::try_fill(nonces.as_flattened_mut()).map_err(|_| Error::Entropy)?;
    let mut batch = room.batch();
    for (index, (value, nonce)) in values.iter().zip(nonces).enumerate() {
        let bytes = value.map_or(null, |value| NONCE + value.len() + TAG);
        let Some(cell) = rest.split_off_mut(..bytes) else {
            // The lengths have changed since the plan was made.
            return Err(Error::Buffers { row: first + index });
        };
        let Some(value) = value else { continue };
        let (front, sealed) = cell.split_at_mut(NONCE);
        let (data, tag) = sealed.split_at_mut(value.len());
        front.copy_from_slice(nonce);
        batch.seal_detached(&key.session, nonce, aad.cell(index), Data::from((*value, data)), tag);
    }
    if batch.finish().is_err() {
        let refused = room.outcomes().position(|outcome| outcome != Some(Ok(())));
        let served = values.iter().enumerate().filter(|(_, value)| value.is_some());
        let index = refused.and_then(|at| served.map(|(index, _)| index).nth(at));
        let row = first + index.unwrap_or(0);
        return Err(Error::Cell { row, reason: CellError::ValueLength });
    }
    Ok(())
}
