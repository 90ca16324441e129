//! Many messages with authentication at once, each with its own key. Messages run in lanes if there
//! is a kernel for that, and otherwise one by one.
//!
//! Each message gets the same result as from [`Cipher::seal_detached`] or
//! [`Cipher::open_detached`]. A refused message changes nothing for the others. `lanecrypt-engine`
//! sorts mixed batches, and knows at which lengths lanes are faster.

use core::fmt;

use arrayvec::ArrayVec;
use inout::InOutBuf;
use lanecrypt_kernels::chacha20poly1305::{
    ChaCha20Poly1305, Lane, XChaCha20Poly1305, open_lanes, seal_lanes,
};
use lanecrypt_kernels::wipe;

use super::aead_key::AeadKey;
use super::{Cipher, tag};
use crate::{Algorithm, Error, Mode, Primitive};

pub use lanecrypt_kernels::in_parts;

/// The number of messages that a kernel gets at once.
const AT_ONCE: usize = 64;

/// The lengths in bytes of the messages that run in lanes. Other messages run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it is two numbers")]
pub struct Lengths {
    /// The shortest.
    pub shortest: u32,
    /// The longest; less than the shortest if no messages run in lanes.
    pub longest: u32,
}

impl Lengths {
    /// Every message runs alone.
    pub const NONE: Self = Self { shortest: 1, longest: 0 };
    /// All messages that are not empty run in lanes, if there is a kernel for that.
    pub const ALL: Self = Self { shortest: 1, longest: u32::MAX };

    /// Whether a message with this many bytes runs in lanes.
    #[must_use]
    #[inline]
    pub fn contain(&self, bytes: usize) -> bool {
        bytes >= self.shortest as usize && bytes <= self.longest as usize
    }
}

/// A message to seal: the arguments of [`Cipher::seal_detached`].
#[expect(clippy::exhaustive_structs, reason = "the owner of a batch makes it, field by field")]
pub struct Sealing<'a> {
    /// Its key.
    pub cipher: &'a Cipher,
    /// Its nonce, which must not have been used before under this key.
    pub nonce: &'a [u8],
    /// The associated data.
    pub aad: &'a [u8],
    /// The data to encrypt, in place or from one buffer to another.
    pub data: InOutBuf<'a, 'a, u8>,
    /// The room for the tag, of [`Cipher::tag_length`] bytes.
    pub tag: &'a mut [u8],
    /// The place for an error. Nothing is written there without an error.
    pub outcome: &'a mut Result<(), Error>,
}

/// A message to open: the arguments of [`Cipher::open_detached`].
#[expect(clippy::exhaustive_structs, reason = "the owner of a batch makes it, field by field")]
pub struct Opening<'a> {
    /// Its key.
    pub cipher: &'a Cipher,
    /// Its nonce.
    pub nonce: &'a [u8],
    /// The associated data.
    pub aad: &'a [u8],
    /// The data to decrypt, in place or from one buffer to another.
    pub data: InOutBuf<'a, 'a, u8>,
    /// Its tag, of [`Cipher::tag_length`] bytes.
    pub tag: &'a [u8],
    /// The place for an error. Nothing is written there without an error.
    pub outcome: &'a mut Result<(), Error>,
}

/// Seals each message, as [`Cipher::seal_detached`] does, and returns how many were refused.
///
/// All messages should be of `algorithm`. A message of another algorithm is sealed as well, but
/// alone. Messages of these `lengths` run in lanes, if there is a kernel for that. Constant time
/// except for lengths.
pub fn seal<'a>(
    algorithm: Algorithm,
    lengths: Lengths,
    messages: impl Iterator<Item = Sealing<'a>>,
) -> usize {
    match (algorithm.primitive(), algorithm.mode()) {
        (Primitive::ChaCha20 | Primitive::XChaCha20, Mode::Poly1305)
            if lengths != Lengths::NONE =>
        {
            seal_beside(lengths, messages)
        }
        _ => messages.map(seal_alone).sum(),
    }
}

/// Opens each message, as [`Cipher::open_detached`] does, and returns how many were refused. The
/// output of messages that are not authentic has been wiped.
///
/// All messages should be of `algorithm`. A message of another algorithm is opened as well, but
/// alone. Messages of these `lengths` run in lanes, if there is a kernel for that. Constant time
/// except for lengths and for whether a message is authentic.
pub fn open<'a>(
    algorithm: Algorithm,
    lengths: Lengths,
    messages: impl Iterator<Item = Opening<'a>>,
) -> usize {
    match (algorithm.primitive(), algorithm.mode()) {
        (Primitive::ChaCha20 | Primitive::XChaCha20, Mode::Poly1305)
            if lengths != Lengths::NONE =>
        {
            open_beside(lengths, messages)
        }
        _ => messages.map(open_alone).sum(),
    }
}

// Messages are passed by value. If the address of a message were taken anywhere, even on a rare
// path, the whole message would be stored each time and read again at other widths, which stalls on
// the stores.

/// Serves a message of any algorithm alone. Returns 1 if it is refused.
#[inline(never)]
fn seal_alone(message: Sealing<'_>) -> usize {
    let Sealing { cipher, nonce, aad, data, tag, outcome } = message;
    match cipher.seal_detached(nonce, aad, in_parts(data), tag) {
        Ok(()) => 0,
        Err(error) => refuse(outcome, error),
    }
}

/// Serves a message of any algorithm alone. Returns 1 if it is refused.
#[inline(never)]
fn open_alone(message: Opening<'_>) -> usize {
    let Opening { cipher, nonce, aad, data, tag, outcome } = message;
    match cipher.open_detached(nonce, aad, in_parts(data), tag) {
        Ok(()) => 0,
        Err(error) => refuse(outcome, error),
    }
}

#[cold]
fn refuse(outcome: &mut Result<(), Error>, error: Error) -> usize {
    *outcome = Err(error);
    1
}

/// The key and the nonce of a message that may run in lanes.
enum LaneKey<'a> {
    Plain(&'a ChaCha20Poly1305, &'a [u8; 12]),
    Extended(&'a XChaCha20Poly1305, &'a [u8; 24]),
}

impl<'a> LaneKey<'a> {
    #[inline(always)]
    fn new(cipher: &'a Cipher, nonce: &'a [u8]) -> Option<Self> {
        match &cipher.key {
            AeadKey::ChaCha20Poly1305(_, key) => Some(Self::Plain(key, nonce.try_into().ok()?)),
            AeadKey::XChaCha20Poly1305(_, key) => Some(Self::Extended(key, nonce.try_into().ok()?)),
            _ => None,
        }
    }

    #[inline(always)]
    fn lane(self, aad: &'a [u8], data: InOutBuf<'a, 'a, u8>, tag: &'a mut [u8; 16]) -> Lane<'a> {
        match self {
            Self::Plain(key, nonce) => Lane::new(key, nonce, aad, data, tag),
            Self::Extended(key, nonce) => Lane::extended(key, nonce, aad, data, tag),
        }
    }
}

#[inline(never)]
fn seal_beside<'a>(lengths: Lengths, messages: impl Iterator<Item = Sealing<'a>>) -> usize {
    let mut lanes = ArrayVec::<Lane<'a>, AT_ONCE>::new();
    let mut refused = 0;
    for message in messages {
        let Sealing { cipher, nonce, aad, data, tag, outcome } = message;
        if lengths.contain(data.len())
            && let Some(key) = LaneKey::new(cipher, nonce)
            && cipher.admit(aad.len(), data.len(), tag.len()).is_ok()
            && tag.len() == 16
        {
            // The length was just compared.
            let Some(tag) = tag.first_chunk_mut() else { continue };
            lanes.push(key.lane(aad, data, tag));
            if lanes.is_full() {
                seal_lanes(&mut lanes);
                lanes.clear();
            }
        } else {
            refused += seal_alone(Sealing { cipher, nonce, aad, data, tag, outcome });
        }
    }
    if !lanes.is_empty() {
        seal_lanes(&mut lanes);
    }
    refused
}

#[inline(never)]
fn open_beside<'a>(lengths: Lengths, mut messages: impl Iterator<Item = Opening<'a>>) -> usize {
    let mut refused = 0;
    loop {
        let mut right = [[0; 16]; AT_ONCE];
        let mut right = right.iter_mut();
        let mut lanes = ArrayVec::<Lane<'_>, AT_ONCE>::new();
        let mut others = ArrayVec::<_, AT_ONCE>::new();
        while !lanes.is_full()
            && let Some(message) = messages.next()
        {
            let Opening { cipher, nonce, aad, data, tag, outcome } = message;
            if lengths.contain(data.len())
                && let Some(key) = LaneKey::new(cipher, nonce)
                && cipher.admit(aad.len(), data.len(), tag.len()).is_ok()
                && let Some(right) = right.next()
            {
                lanes.push(key.lane(aad, data, right));
                others.push((tag, outcome));
            } else {
                refused += open_alone(Opening { cipher, nonce, aad, data, tag, outcome });
            }
        }
        let last = !lanes.is_full();
        open_lanes(&mut lanes);
        for (lane, (came, outcome)) in lanes.iter_mut().zip(others) {
            if let Err(error) = tag::compare(lane.tag(), came) {
                wipe::memory(lane.output());
                refused += refuse(outcome, error);
            }
        }
        if last {
            return refused;
        }
    }
}

/// Without key and data.
impl fmt::Debug for Sealing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealing").field("cipher", self.cipher).finish_non_exhaustive()
    }
}

/// Without key and data.
impl fmt::Debug for Opening<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").field("cipher", self.cipher).finish_non_exhaustive()
    }
}
