//! A loop over the values of a column, as programs write it: with the calls of another library.

use arrayvec::ArrayVec;
use lanecrypt_peers::{Aead, Failed, Packet, Run};

use super::work::{NONCE, OVERHEAD, TAG};

/// The values whose nonces are drawn together.
const BLOCK: usize = 256;

/// The cells of values of `size` bytes.
pub(super) fn encrypt(aead: &mut dyn Aead, values: &[u8], size: usize) -> Result<Vec<u8>, Failed> {
    let mut cells = vec![0; values.len() / size * (size + OVERHEAD)];
    let mut nonces = [[0; NONCE]; BLOCK];
    let blocks = cells.chunks_mut(BLOCK * (size + OVERHEAD)).zip(values.chunks(BLOCK * size));
    for (cells, values) in blocks {
        let nonces = &mut nonces[..values.len() / size];
        lanecrypt_random::fill(nonces.as_flattened_mut());
        let mut packets = ArrayVec::<Packet<'_>, BLOCK>::new();
        let cells = cells.chunks_exact_mut(size + OVERHEAD);
        for ((cell, value), nonce) in cells.zip(values.chunks_exact(size)).zip(nonces) {
            let (front, sealed) = cell.split_first_chunk_mut().ok_or(Failed)?;
            let (data, tag) = sealed.split_last_chunk_mut().ok_or(Failed)?;
            *front = *nonce;
            // Peers encrypt in place.
            data.copy_from_slice(value);
            packets.push(Packet { session: 0, nonce: front, aad: &[], data, sealed: &[], tag });
        }
        let requests = packets.len();
        aead.messages(&mut packets, Run::of(requests))?;
    }
    Ok(cells)
}

/// The values of `size` bytes of cells.
pub(super) fn decrypt(aead: &mut dyn Aead, cells: &[u8], size: usize) -> Result<Vec<u8>, Failed> {
    let mut values = vec![0; cells.len() / (size + OVERHEAD) * size];
    let mut tags = [[0; TAG]; BLOCK];
    let blocks = values.chunks_mut(BLOCK * size).zip(cells.chunks(BLOCK * (size + OVERHEAD)));
    for (values, cells) in blocks {
        let mut packets = ArrayVec::<Packet<'_>, BLOCK>::new();
        let values = values.chunks_exact_mut(size);
        let cells = cells.chunks_exact(size + OVERHEAD);
        for ((data, cell), tag) in values.zip(cells).zip(&mut tags) {
            let (nonce, sealed) = cell.split_at(NONCE);
            let (sealed, given) = sealed.split_last_chunk().ok_or(Failed)?;
            *tag = *given;
            packets.push(Packet { session: 0, nonce, aad: &[], data, sealed, tag });
        }
        let requests = packets.len();
        aead.messages(&mut packets, Run::of(requests))?;
    }
    Ok(values)
}
