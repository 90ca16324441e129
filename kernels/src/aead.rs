//! The interfaces of ciphers with authentication, at the granularity of a message.

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::{Isa, Level};

/// The bytes of a key or a nonce: an array.
pub trait Bytes: Sized {
    /// The number of bytes.
    const LENGTH: usize = size_of::<Self>();

    /// A slice of this length as an array.
    fn from_slice(bytes: &[u8]) -> Option<&Self>;
}

impl<const N: usize> Bytes for [u8; N] {
    #[inline(always)]
    fn from_slice(bytes: &[u8]) -> Option<&Self> {
        bytes.try_into().ok()
    }
}

/// A keyed cipher with authentication, with tags of 16 bytes.
///
/// The key is wiped on drop. Requests only read it, so any number of threads can share it. A
/// message takes one dispatch on the instruction set; a message in pieces takes one for each piece.
///
/// The same nonce must never be used twice with a key, except with a SIV: an attacker could then
/// read both messages and forge others. Nothing here checks that, nor the lengths of messages;
/// nothing compares tags. The checked layer does all of it.
///
/// A SIV (AES-GCM-SIV, AES-SIV) encrypts the data under the tag. The first byte of its ciphertext
/// depends on the last of the message, so it has no messages in pieces.
pub trait Aead: Sized + ZeroizeOnDrop {
    /// A key.
    type Key: Bytes;
    /// A nonce of the usual length.
    type Nonce: Bytes;

    /// The most bytes of one message, past which the keystream would repeat.
    const LONGEST: u64;
    /// The most bytes of its associated data.
    const LONGEST_AAD: u64 = u64::MAX;
    /// The levels at which it runs other code than at the next lower level, in lists of one kernel
    /// each.
    const LEVELS: &'static [&'static [Level]];

    /// A message in pieces: counter, hash, the rest of a block. It holds secrets and wipes them on
    /// drop.
    type Message: Incremental<Self>;

    /// A place for a key: call [`set_key`](Self::set_key) before any other method.
    ///
    /// It is for a cipher that is part of a larger value: a key that is expanded in place leaves no
    /// copy elsewhere, and a copy costs as much as the expansion.
    fn empty(isa: Isa) -> Self;

    /// Expands `key` for the kernels of `isa`.
    #[inline]
    fn new(isa: Isa, key: &Self::Key) -> Self {
        let mut cipher = Self::empty(isa);
        cipher.set_key(key);
        cipher
    }

    /// Expands another key in the place of the current one, for the same kernels.
    fn set_key(&mut self, key: &Self::Key);

    /// The level of its kernels.
    fn isa(&self) -> Isa;

    /// Encrypts a whole message, in place or from one buffer to another, and returns the tag of the
    /// message and of `aad`.
    #[must_use]
    fn seal(&self, nonce: &Self::Nonce, aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16];

    /// Decrypts a whole message received with `tag`, in place or from one buffer to another, and
    /// returns the tag that the message and `aad` should have. Only a SIV reads `tag`.
    ///
    /// The caller compares both, in constant time, and wipes the plaintext if they differ.
    #[must_use]
    fn open(
        &self,
        nonce: &Self::Nonce,
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8; 16],
    ) -> [u8; 16];

    /// [`seal`](Self::seal) under a nonce of another length than the usual one, of at least one
    /// byte; `None` if there are none.
    #[must_use]
    #[inline]
    fn seal_hashed(
        &self,
        _nonce: &[u8],
        _aad: &[u8],
        _data: InOutBuf<'_, '_, u8>,
    ) -> Option<[u8; 16]> {
        None
    }

    /// [`open`](Self::open) under such a nonce.
    #[must_use]
    #[inline]
    fn open_hashed(
        &self,
        _nonce: &[u8],
        _aad: &[u8],
        _data: InOutBuf<'_, '_, u8>,
        _tag: &[u8; 16],
    ) -> Option<[u8; 16]> {
        None
    }

    /// Begins a message in pieces: first its associated data, then its data, in one direction.
    /// `None` if it takes no nonces of this length, or no messages in pieces.
    #[inline]
    fn begin(&self, _nonce: &[u8]) -> Option<Self::Message> {
        None
    }
}

/// A message in pieces under a key of type `K`: each call takes the key that began it.
pub trait Incremental<K> {
    /// Takes the next piece of the associated data, of any length; none may follow data.
    fn associate(&mut self, key: &K, aad: &[u8]);

    /// Encrypts the next piece of the data, of any length, in place or from one buffer to another.
    fn encrypt(&mut self, key: &K, data: InOutBuf<'_, '_, u8>);

    /// Decrypts the next piece of the data, of any length, in place or from one buffer to another.
    fn decrypt(&mut self, key: &K, data: InOutBuf<'_, '_, u8>);

    /// The tag of a complete message.
    #[must_use]
    fn tag(self, key: &K) -> [u8; 16];
}

/// The message in pieces of a cipher that has none.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "it has no value")]
pub enum NoMessage {}

impl<K> Incremental<K> for NoMessage {
    fn associate(&mut self, _key: &K, _aad: &[u8]) {
        match *self {}
    }

    fn encrypt(&mut self, _key: &K, _data: InOutBuf<'_, '_, u8>) {
        match *self {}
    }

    fn decrypt(&mut self, _key: &K, _data: InOutBuf<'_, '_, u8>) {
        match *self {}
    }

    fn tag(self, _key: &K) -> [u8; 16] {
        match self {}
    }
}

/// An [`Aead`] that serves messages of several keys side by side.
pub trait AeadLanes: Aead {
    /// The lowest level at which they do.
    const FROM: Level;

    /// One message of a batch.
    type Lane<'a>;

    /// A message of at most [`LONGEST`](Aead::LONGEST) bytes, in place or from one buffer to
    /// another, and the place of its tag. To open it, `tag` holds the received tag.
    fn lane<'a>(
        &'a self,
        nonce: &Self::Nonce,
        aad: &'a [u8],
        data: InOutBuf<'a, 'a, u8>,
        tag: &'a mut [u8; 16],
    ) -> Self::Lane<'a>;

    /// Encrypts each message and writes its tag.
    ///
    /// Keys of different levels may be mixed. Constant time in keys and data; lengths and nonces
    /// are public.
    fn seal_lanes(lanes: &mut [Self::Lane<'_>]);

    /// Decrypts each message, and writes the tag that it should have in its place.
    ///
    /// The caller compares it with the received tag, in constant time, and wipes the plaintext if
    /// they differ. Otherwise like [`seal_lanes`](Self::seal_lanes).
    fn open_lanes(lanes: &mut [Self::Lane<'_>]);

    /// The tag that the last call wrote.
    fn lane_tag<'l>(lane: &'l Self::Lane<'_>) -> &'l [u8; 16];

    /// The output of a message.
    fn lane_output<'l>(lane: &'l mut Self::Lane<'_>) -> &'l mut [u8];
}

/// A cipher whose messages can go on after a call that took them as whole ones.
///
/// A caller may pass a message in one piece or in several, which only its next call shows. The
/// first piece is sealed or opened as fast as a whole message, and has the tag of one. A further
/// piece replaces that tag. Any division into pieces gives what one piece would give.
///
/// The tag of an earlier piece is that of a shorter message under the same nonce. It must not leave
/// the program.
pub trait Resume: Aead {
    /// A message so far. It holds secrets and wipes them on drop.
    type PartialState: Clone + ZeroizeOnDrop;

    /// A message of which nothing has come.
    fn empty_state(&self, nonce: &Self::Nonce) -> Self::PartialState;

    /// [`seal`](Aead::seal), which also replaces `state` so that the message can be resumed.
    #[must_use]
    fn seal_resumable(
        &self,
        state: &mut Self::PartialState,
        nonce: &Self::Nonce,
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; 16];

    /// [`open`](Aead::open), which also replaces `state` so that the message can be resumed.
    #[must_use]
    fn open_resumable(
        &self,
        state: &mut Self::PartialState,
        nonce: &Self::Nonce,
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; 16];

    /// Takes more of the associated data, of any length; none may follow data.
    fn associate_more(&self, state: &mut Self::PartialState, aad: &[u8]);

    /// Encrypts more of the data, of any length, in place or from one buffer to another.
    fn seal_more(&self, state: &mut Self::PartialState, data: InOutBuf<'_, '_, u8>);

    /// Decrypts more of the data, of any length, in place or from one buffer to another.
    fn open_more(&self, state: &mut Self::PartialState, data: InOutBuf<'_, '_, u8>);

    /// The tag of what has come.
    #[must_use]
    fn tag_of(&self, state: &Self::PartialState) -> [u8; 16];
}
