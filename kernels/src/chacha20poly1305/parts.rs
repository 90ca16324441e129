//! Functions that the kernels share, for messages short enough for one pass of ChaCha20, and for
//! the ends of others.

use inout::InOutBuf;

use super::SEAL;
use crate::poly1305::{PartialHash, Poly1305, padded};
use crate::{Isa, into_blocks, wipe};

/// Bytes of keystream that are made at a time.
pub(super) const PASS: usize = 8 * 64;

/// Keystream of which a front has been used. Its end is the end of a block. Wiped on drop.
#[derive(Clone)]
pub(crate) struct Keystream {
    bytes: [u8; PASS],
    /// The part that is left.
    from: usize,
    to: usize,
}

impl Keystream {
    #[inline(always)]
    pub(super) const fn empty() -> Self {
        Self { bytes: [0; PASS], from: 0, to: 0 }
    }

    #[inline(always)]
    pub(super) fn clear(&mut self) {
        (self.from, self.to) = (0, 0);
    }

    /// A copy of what is left, at most [`PASS`] bytes.
    #[inline(always)]
    pub(super) fn set(&mut self, left: &[u8]) {
        self.bytes[..left.len()].copy_from_slice(left);
        (self.from, self.to) = (0, left.len());
    }

    /// Lets `fill` write new keystream, as many bytes as it returns.
    #[inline(always)]
    pub(super) fn fill(&mut self, fill: impl FnOnce(&mut [u8; PASS]) -> usize) {
        (self.from, self.to) = (0, fill(&mut self.bytes));
    }

    /// What is left.
    #[inline(always)]
    pub(super) fn left(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    /// `length` bytes have been used.
    #[inline(always)]
    pub(super) fn skip(&mut self, length: usize) {
        self.from += length;
    }
}

impl Drop for Keystream {
    #[inline(always)]
    fn drop(&mut self) {
        wipe::memory(&mut self.bytes);
    }
}

/// What a kernel leaves of a message beside its tag, if the message may be resumed.
#[derive(Clone)]
pub(crate) struct Kept {
    pub(super) hash: PartialHash,
    /// For the data that come next.
    pub(super) keystream: Keystream,
}

impl Kept {
    /// The place for the hash, if anything is kept.
    //
    // No `map`, which is not always inlined.
    #[inline(always)]
    pub(super) fn hash(keep: Option<&mut Self>) -> Option<&mut PartialHash> {
        match keep {
            Some(kept) => Some(&mut kept.hash),
            None => None,
        }
    }
}

/// Bytes of associated data from which on a call of Poly1305 pays.
const MUCH: usize = 320;

/// The hash of a message, after its associated data.
///
/// `first` is block 0 of the keystream.
#[inline(always)]
pub(super) fn begun(isa: Isa, first: &[u8; 64], aad: &[u8]) -> Poly1305 {
    let [key, _] = match first.as_chunks().0 {
        [front, back] => [front, back],
        _ => unreachable!("64 bytes are two halves"),
    };
    under(isa, key, aad)
}

/// The hash of a message under its one-time key, after its associated data.
#[inline(always)]
pub(super) fn under(isa: Isa, key: &[u8; 32], aad: &[u8]) -> Poly1305 {
    let mut hash = Poly1305::new(isa, key);
    if aad.len() < MUCH {
        hash.absorb_few(aad);
    } else {
        hash.absorb_padded(aad);
    }
    hash
}

/// XORs keystream, at least as many whole blocks of 16 bytes as the data need, into `data`, and
/// absorbs the ciphertext block by block; zeros fill an incomplete last block.
///
/// Poly1305 waits for its own results, so everything else takes no time. No byte is read back that
/// has just been written: that would wait for narrower stores.
#[inline(always)]
pub(super) fn apply(
    hash: &mut Poly1305,
    keystream: &[u8],
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
) {
    let (blocks, mut rest) = into_blocks::<16>(data);
    let mut keystream = keystream.as_chunks::<16>().0.iter();
    for (mut block, stream) in blocks.into_iter().zip(keystream.by_ref()) {
        let text = u128::from_le_bytes(*block.get_in());
        let other = text ^ u128::from_le_bytes(*stream);
        hash.absorb_number(if direction == SEAL { other } else { text });
        *block.get_out() = other.to_le_bytes();
    }
    if let (false, Some(stream)) = (rest.is_empty(), keystream.next()) {
        let mask = (1 << (8 * rest.len())) - 1;
        let text = padded(rest.get_in());
        let other = (text ^ u128::from_le_bytes(*stream)) & mask;
        hash.absorb_number(if direction == SEAL { other } else { text });
        write_part(rest.get_out(), other);
    }
}

/// XORs keystream, at least as many whole blocks of 16 bytes as the data need, into `data`.
///
/// By blocks: if input and output may overlap, the compiler does not vectorise a loop over bytes.
#[cfg(any(feature = "isa-avx2", target_arch = "aarch64"))]
#[inline(always)]
pub(super) fn xor(keystream: &[u8], data: InOutBuf<'_, '_, u8>) {
    let (blocks, mut rest) = into_blocks::<16>(data);
    let mut keystream = keystream.as_chunks::<16>().0.iter();
    for (mut block, stream) in blocks.into_iter().zip(keystream.by_ref()) {
        let other = u128::from_le_bytes(*block.get_in()) ^ u128::from_le_bytes(*stream);
        *block.get_out() = other.to_le_bytes();
    }
    if let (false, Some(stream)) = (rest.is_empty(), keystream.next()) {
        let other = padded(rest.get_in()) ^ u128::from_le_bytes(*stream);
        write_part(rest.get_out(), other);
    }
}

/// Writes the lowest bytes of a number, fewer than 16, lowest first.
///
/// Two stores that may overlap; a copy of unknown length would be a call.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the bytes from there on are wanted")]
fn write_part(out: &mut [u8], number: u128) {
    let end = 8 * out.len();
    if let Some(first) = out.first_chunk_mut() {
        *first = (number as u64).to_le_bytes();
        if let Some(last) = out.last_chunk_mut() {
            *last = ((number >> (end - 64)) as u64).to_le_bytes();
        }
    } else if let Some(first) = out.first_chunk_mut() {
        *first = (number as u32).to_le_bytes();
        if let Some(last) = out.last_chunk_mut() {
            *last = ((number >> (end - 32)) as u32).to_le_bytes();
        }
    } else {
        for (byte, value) in out.iter_mut().zip(number.to_le_bytes()) {
            *byte = value;
        }
    }
}

/// The tag: the last block is the numbers of bytes.
#[inline(always)]
pub(super) fn tag(
    mut hash: Poly1305,
    aad: u64,
    data: u64,
    place: Option<&mut PartialHash>,
) -> [u8; 16] {
    hash.absorb_number(u128::from(aad) | u128::from(data) << 64);
    hash.keep(place);
    hash.tag()
}
