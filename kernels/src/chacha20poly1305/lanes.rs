//! Messages of different keys side by side.
//!
//! Each message needs a block of keystream for the key of its Poly1305, and often few for its data:
//! blocks of all messages fill the lanes of ChaCha20. At `Avx512` Poly1305 takes a message a lane.
//!
//! | level | side by side |
//! |---|---|
//! | `Portable` | nothing |
//! | `Ssse3`, `Avx2` | blocks of ChaCha20, of messages of up to 192 bytes |
//! | `Avx512` | blocks of ChaCha20, and Poly1305 of 16 messages, of up to 384 bytes |
//!
//! Longer messages, those with more than 64 bytes of associated data at `Avx512`, and batches of
//! fewer than four go one by one: their kernel fills registers with blocks of one message.

#[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
mod avx512;
#[cfg(all(target_arch = "x86_64", any(feature = "isa-ssse3", feature = "isa-avx2")))]
mod streams;

use core::fmt;

use inout::InOutBuf;

use super::{ChaCha20Poly1305, OPEN, SEAL};
use crate::{Aead, Isa};

/// One message of a batch: its key, nonce, associated data and data, and the place of its tag.
pub struct Lane<'a> {
    cipher: &'a ChaCha20Poly1305,
    nonce: [u8; 12],
    /// The last four words of the state at block 0.
    #[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
    last: [u64; 2],
    aad: &'a [u8],
    data: InOutBuf<'a, 'a, u8>,
    tag: &'a mut [u8; 16],
}

impl<'a> Lane<'a> {
    /// A message of at most [`LONGEST`](super::LONGEST) bytes, in place or from one buffer to
    /// another. Its nonce must not have been used with its key before.
    #[must_use]
    #[inline]
    pub fn new(
        cipher: &'a ChaCha20Poly1305,
        nonce: &[u8; 12],
        aad: &'a [u8],
        data: InOutBuf<'a, 'a, u8>,
        tag: &'a mut [u8; 16],
    ) -> Self {
        #[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
        let last = super::avx512::last_row(nonce);
        Self {
            cipher,
            nonce: *nonce,
            #[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
            last,
            aad,
            data,
            tag,
        }
    }

    /// The place that data are written to.
    #[inline]
    pub fn output(&mut self) -> &mut [u8] {
        self.data.get_out()
    }

    /// The tag that the last call wrote.
    #[must_use]
    #[inline]
    pub fn tag(&self) -> &[u8; 16] {
        self.tag
    }
}

impl fmt::Debug for Lane<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("bytes", &self.data.len()).finish_non_exhaustive()
    }
}

/// Encrypts each message and writes the tag of its ciphertext and associated data.
///
/// Constant time in keys, nonces and data; lengths are public. Keys may be of different levels.
#[inline(never)]
pub fn seal_lanes(lanes: &mut [Lane<'_>]) {
    let Some(isa) = level(lanes) else { return alone::<SEAL>(lanes) };
    by_isa!(isa, seal(lanes): Avx512 => avx512, Avx2 => streams, Ssse3 => streams, _ => in_turn);
}

/// Decrypts each message and writes the tag that its ciphertext and associated data should have.
///
/// The caller compares it with the one that came, in constant time, and wipes the plaintext if they
/// differ. Constant time in keys, nonces and data; lengths are public. Keys may be of different
/// levels.
#[inline(never)]
pub fn open_lanes(lanes: &mut [Lane<'_>]) {
    let Some(isa) = level(lanes) else { return alone::<OPEN>(lanes) };
    by_isa!(isa, open(lanes): Avx512 => avx512, Avx2 => streams, Ssse3 => streams, _ => in_turn);
}

/// The level of all keys, if there are enough to go side by side and they have the same.
#[inline]
fn level(lanes: &[Lane<'_>]) -> Option<Isa> {
    let [first, _, _, rest @ ..] = lanes else { return None };
    let isa = first.cipher.isa;
    let same = !rest.is_empty() && lanes.iter().all(|lane| lane.cipher.isa == isa);
    same.then_some(isa)
}

/// One message after the other.
#[inline(never)]
fn alone<const WAY: bool>(lanes: &mut [Lane<'_>]) {
    for lane in lanes {
        one::<WAY>(lane);
    }
}

#[inline]
fn one<const WAY: bool>(lane: &mut Lane<'_>) {
    let data = lane.data.reborrow();
    *lane.tag = if WAY == SEAL {
        lane.cipher.seal(&lane.nonce, lane.aad, data)
    } else {
        lane.cipher.open(&lane.nonce, lane.aad, data)
    };
}

mod in_turn {
    use super::{Lane, OPEN, SEAL, alone};

    pub(super) fn seal(lanes: &mut [Lane<'_>]) {
        alone::<SEAL>(lanes);
    }

    pub(super) fn open(lanes: &mut [Lane<'_>]) {
        alone::<OPEN>(lanes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::isa::reached::assert_best;

    const KERNELS: &[Level] = &[Level::Portable, Level::Ssse3, Level::Avx2, Level::Avx512];

    /// At `Ssse3` and `Avx2` the last dispatch is that of ChaCha in lanes.
    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [[0; 50]; 4];
        let mut tags = [[0; 16]; 4];
        for run in [seal_lanes, open_lanes] {
            assert_best(KERNELS, |isa| {
                let cipher = ChaCha20Poly1305::new(isa, &[1; 32]);
                let mut places = data.iter_mut().zip(&mut tags);
                let mut lanes = [0; 4].map(|_| {
                    let (data, tag) = places.next().expect("four of each");
                    Lane::new(&cipher, &[2; 12], &[3], (&mut data[..]).into(), tag)
                });
                run(&mut lanes);
            });
        }
    }
}
