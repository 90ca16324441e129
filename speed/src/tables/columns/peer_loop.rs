//! A loop over the values of a column, as programs write it: with the calls of another library.

use arrayvec::ArrayVec;
use lanecrypt_columns::Layout;
use lanecrypt_peers::{Aead, Failed, Packet, Run};

/// The values whose nonces are drawn together.
const BLOCK: usize = 256;
/// Bytes of a nonce in a cell, and of a tag.
const NONCE: usize = 12;
const TAG: usize = 16;
/// The nonce of all cells that have none.
pub(super) const SAME: [u8; 16] = [0; 16];

/// The cells of values of `size` bytes.
pub(super) fn encrypt(
    aead: &mut dyn Aead,
    layout: Layout,
    values: &[u8],
    size: usize,
) -> Result<Vec<u8>, Failed> {
    let width = size + layout.overhead();
    let mut cells = vec![0; values.len() / size * width];
    let mut nonces = [[0; NONCE]; BLOCK];
    let blocks = cells.chunks_mut(BLOCK * width).zip(values.chunks(BLOCK * size));
    for (cells, values) in blocks {
        let nonces = &mut nonces[..values.len() / size];
        if layout != Layout::Deterministic {
            lanecrypt_random::fill(nonces.as_flattened_mut());
        }
        let mut packets = ArrayVec::<Packet<'_>, BLOCK>::new();
        let cells = cells.chunks_exact_mut(width);
        for ((cell, value), random) in cells.zip(values.chunks_exact(size)).zip(nonces) {
            let (nonce, data, tag) = if layout == Layout::Deterministic {
                let (tag, data) = cell.split_first_chunk_mut().ok_or(Failed)?;
                (&SAME[..], data, tag)
            } else {
                let (front, sealed) = cell.split_first_chunk_mut().ok_or(Failed)?;
                let (data, tag) = sealed.split_last_chunk_mut().ok_or(Failed)?;
                *front = *random;
                (&front[..], data, tag)
            };
            // Peers encrypt in place.
            data.copy_from_slice(value);
            packets.push(Packet { session: 0, nonce, aad: &[], data, sealed: &[], tag });
        }
        let requests = packets.len();
        aead.messages(&mut packets, Run::of(requests))?;
    }
    Ok(cells)
}

/// The values of `size` bytes of cells.
pub(super) fn decrypt(
    aead: &mut dyn Aead,
    layout: Layout,
    cells: &[u8],
    size: usize,
) -> Result<Vec<u8>, Failed> {
    let width = size + layout.overhead();
    let mut values = vec![0; cells.len() / width * size];
    let mut tags = [[0; TAG]; BLOCK];
    let blocks = values.chunks_mut(BLOCK * size).zip(cells.chunks(BLOCK * width));
    for (values, cells) in blocks {
        let mut packets = ArrayVec::<Packet<'_>, BLOCK>::new();
        let values = values.chunks_exact_mut(size);
        for ((data, cell), tag) in values.zip(cells.chunks_exact(width)).zip(&mut tags) {
            let (nonce, sealed, came) = if layout == Layout::Deterministic {
                let (came, sealed) = cell.split_first_chunk().ok_or(Failed)?;
                (&SAME[..], sealed, came)
            } else {
                let (nonce, sealed) = cell.split_at(NONCE);
                let (sealed, came) = sealed.split_last_chunk().ok_or(Failed)?;
                (nonce, sealed, came)
            };
            *tag = *came;
            packets.push(Packet { session: 0, nonce, aad: &[], data, sealed, tag });
        }
        let requests = packets.len();
        aead.messages(&mut packets, Run::of(requests))?;
    }
    Ok(values)
}
