//! Messages of different keys side by side.
//!
//! Each message needs a block of keystream for the key of its Poly1305, and often only a few for
//! its data: blocks of all messages fill the lanes of ChaCha20. At `Avx512`, Poly1305 takes a
//! message a lane, too.
//!
//! | level | side by side |
//! |---|---|
//! | `Portable` | nothing |
//! | `Ssse3`, `Neon` | blocks of ChaCha20, of messages of up to 64 bytes |
//! | `Avx2` | the same; up to 2,048 bytes, the end of one message and the beginning of the next |
//! | `Avx512` | blocks of ChaCha20, and Poly1305 of 16 messages, of up to 2,048 bytes |
//!
//! Some messages go one by one, with a kernel that fills registers with blocks of one message:
//! longer messages; at `Avx512`, those with more than 64 bytes of associated data; batches of fewer
//! than four; and longer messages that are few or differ much in length.

pub(crate) mod aarch64;
pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;

use super::{ChaCha20Poly1305, OPEN, SEAL, XChaCha20Poly1305};
use crate::chacha::{self, Key};
use crate::isa::Mode;
use crate::{AeadLanes, Isa, Level};

/// One message of a batch: its key, nonce, associated data and data, and the place of its tag.
pub struct Lane<'a> {
    key: &'a Key,
    isa: Isa,
    nonce: [u8; 12],
    /// The source of the message's own key, besides `key`, if it has one.
    front: Option<[u8; 16]>,
    /// The last four words of the state at block 0.
    #[cfg(feature = "isa-avx512")]
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
        Self::under(&cipher.key, cipher.isa, nonce, aad, data, tag)
    }

    /// [`new`](Self::new) for a message of XChaCha20-Poly1305.
    #[must_use]
    #[inline]
    pub fn extended(
        cipher: &'a XChaCha20Poly1305,
        nonce: &[u8; 24],
        aad: &'a [u8],
        data: InOutBuf<'a, 'a, u8>,
        tag: &'a mut [u8; 16],
    ) -> Self {
        let (front, nonce) = super::divided(nonce);
        let lane = Self::under(&cipher.key, cipher.isa, &nonce, aad, data, tag);
        Self { front: Some(*front), ..lane }
    }

    #[inline]
    fn under(
        key: &'a Key,
        isa: Isa,
        nonce: &[u8; 12],
        aad: &'a [u8],
        data: InOutBuf<'a, 'a, u8>,
        tag: &'a mut [u8; 16],
    ) -> Self {
        Self {
            key,
            isa,
            nonce: *nonce,
            front: None,
            #[cfg(feature = "isa-avx512")]
            last: chacha::last_row(nonce),
            aad,
            data,
            tag,
        }
    }
}

/// A batch may have messages of both ciphers.
macro_rules! lanes {
    ($cipher:ident, $nonce:literal, $lane:ident) => {
        impl AeadLanes for $cipher {
            const FROM: Level =
                if cfg!(target_arch = "aarch64") { Level::Neon } else { Level::Ssse3 };

            type Lane<'a> = Lane<'a>;

            #[inline(always)]
            fn lane<'a>(
                &'a self,
                nonce: &[u8; $nonce],
                aad: &'a [u8],
                data: InOutBuf<'a, 'a, u8>,
                tag: &'a mut [u8; 16],
            ) -> Lane<'a> {
                Lane::$lane(self, nonce, aad, data, tag)
            }

            #[inline(always)]
            fn seal_lanes(lanes: &mut [Lane<'_>]) {
                seal_lanes(lanes);
            }

            #[inline(always)]
            fn open_lanes(lanes: &mut [Lane<'_>]) {
                open_lanes(lanes);
            }

            #[inline(always)]
            fn lane_tag<'l>(lane: &'l Lane<'_>) -> &'l [u8; 16] {
                lane.tag
            }

            #[inline(always)]
            fn lane_output<'l>(lane: &'l mut Lane<'_>) -> &'l mut [u8] {
                lane.data.get_out()
            }
        }
    };
}

lanes!(ChaCha20Poly1305, 12, new);
lanes!(XChaCha20Poly1305, 24, extended);

impl fmt::Debug for Lane<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("bytes", &self.data.len()).finish_non_exhaustive()
    }
}

/// Encrypts each message and writes the tag of its ciphertext and associated data.
///
/// Messages of ChaCha20-Poly1305 and of XChaCha20-Poly1305 may be mixed, and keys of different
/// levels. Constant time in keys, nonces and data; lengths are public.
#[inline(never)]
pub fn seal_lanes(lanes: &mut [Lane<'_>]) {
    by_kind::<SEAL>(lanes);
}

/// Decrypts each message and writes the tag that its ciphertext and associated data should have.
///
/// The caller compares it with the received tag, in constant time, and wipes the plaintext if they
/// differ. Otherwise like [`seal_lanes`].
#[inline(never)]
pub fn open_lanes(lanes: &mut [Lane<'_>]) {
    by_kind::<OPEN>(lanes);
}

#[inline(always)]
fn by_kind<const MODE: bool>(lanes: &mut [Lane<'_>]) {
    match kind(lanes) {
        Kind::Few => alone::<MODE>(lanes),
        Kind::Extended(isa) => extended::<MODE>(isa, lanes),
        Kind::Same(isa) => side_by_side::<MODE>(isa, lanes),
    }
}

/// The contents of a batch.
enum Kind {
    /// Too few messages, too long ones, or of different levels: they go one by one.
    Few,
    /// Some need keys of their own.
    Extended(Isa),
    Same(Isa),
}

#[inline]
fn kind(lanes: &[Lane<'_>]) -> Kind {
    let [first, _, _, _, ..] = lanes else { return Kind::Few };
    let isa = first.isa;
    let (mut same, mut extended) = (true, false);
    for lane in lanes {
        same &= lane.isa == isa;
        extended |= lane.front.is_some();
    }
    match (same, extended) {
        (false, _) => Kind::Few,
        (true, true) => Kind::Extended(isa),
        (true, false) if lanes.iter().all(|lane| is_alone(lane)) => Kind::Few,
        (true, false) => Kind::Same(isa),
    }
}

/// Whether a message gains nothing from the others.
#[inline]
fn is_alone(lane: &Lane<'_>) -> bool {
    lane.data.len() > LONGEST_BESIDE
}

/// The most bytes of a message that goes beside others, at any level.
const LONGEST_BESIDE: usize = 2048;

#[inline(always)]
fn side_by_side<const MODE: bool>(isa: Isa, lanes: &mut [Lane<'_>]) {
    let mode = Mode::<MODE>;
    by_isa!(crate::chacha20poly1305::lanes, isa, run(lanes, mode):
        Avx512, Avx2, Ssse3, Neon, _ => sequential);
}

/// Makes keys for the messages that need their own, if there are enough of them, then continues
/// with these.
#[inline(never)]
fn extended<const MODE: bool>(isa: Isa, lanes: &mut [Lane<'_>]) {
    let fewest = if isa.has(Level::Avx2) { 6 } else { 12 };
    for lanes in lanes.chunks_mut(16) {
        let count = lanes.len();
        if count < fewest {
            alone::<MODE>(lanes);
            continue;
        }
        let mut keys = [0; 16].map(|_| Key { words: [0; 12] });
        let sources: [_; 16] = core::array::from_fn(|at| {
            let lane = &lanes[at.min(count - 1)];
            (lane.key, lane.front.unwrap_or_default())
        });
        chacha::subkeys(isa, &sources[..count], &mut keys);
        // Places for missing messages.
        let mut tags = [[0; 16]; 16];
        let mut tags = tags.iter_mut();
        let mut given = lanes.iter_mut().zip(&keys);
        let mut lanes: [Lane<'_>; 16] = core::array::from_fn(|at| match given.next() {
            Some((lane, own)) => Lane {
                key: if lane.front.is_some() { own } else { lane.key },
                front: None,
                data: lane.data.reborrow(),
                tag: lane.tag,
                ..*lane
            },
            None => {
                let tag = tags.next().expect("one for each of sixteen");
                Lane::under(&keys[at], isa, &[0; 12], &[], (&mut [][..]).into(), tag)
            }
        });
        side_by_side::<MODE>(isa, &mut lanes[..count]);
    }
}

/// One message after the other.
#[inline(never)]
fn alone<const MODE: bool>(lanes: &mut [Lane<'_>]) {
    for lane in lanes {
        one::<MODE>(lane);
    }
}

#[inline]
fn one<const MODE: bool>(lane: &mut Lane<'_>) {
    let (isa, nonce, aad) = (lane.isa, &lane.nonce, lane.aad);
    let data = lane.data.reborrow();
    let own;
    let key = match &lane.front {
        None => lane.key,
        Some(front) => {
            own = chacha::hchacha20(isa, lane.key, front);
            &own
        }
    };
    *lane.tag = super::run(isa, key, nonce, aad, data, MODE, None);
}

mod sequential {
    use super::{Lane, Mode, alone};

    pub(super) fn run<const MODE: bool>(lanes: &mut [Lane<'_>], _: Mode<MODE>) {
        alone::<MODE>(lanes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Aead;
    use crate::isa::reached::assert_best;

    const KERNELS: &[Level] = chacha::KERNELS;

    /// Below `Avx512` the last dispatch is that of ChaCha in lanes.
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
