//! The interfaces of ciphers with authentication, at the granularity of a message.

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::Isa;

/// A keyed cipher with authentication: keys of `KEY` bytes, nonces of `NONCE` bytes, tags of 16.
///
/// The key is wiped on drop. Requests only read it, so any number of threads can share it. A
/// message takes one dispatch on the instruction set; a message in pieces takes one for each piece.
///
/// The same nonce must never be used twice with a key: an attacker could then read both messages
/// and forge others. Nothing here checks that, nor that messages are at most
/// [`LONGEST`](Self::LONGEST) bytes long; nothing compares tags. The checked layer does all of it.
pub trait Aead<const KEY: usize, const NONCE: usize>: Sized + ZeroizeOnDrop {
    /// The most bytes of one message, past which the keystream would repeat.
    const LONGEST: u64;

    /// A message in pieces: counter, hash, the rest of a block. It holds secrets and wipes them on
    /// drop.
    type Message: ZeroizeOnDrop;

    /// A place for a key: call [`set_key`](Self::set_key) before any other method.
    ///
    /// It is for a cipher that is part of a larger value: a key that is expanded in place leaves no
    /// copy elsewhere, and a copy costs as much as the expansion.
    fn empty(isa: Isa) -> Self;

    /// Expands `key` for the kernels of `isa`.
    #[inline]
    fn new(isa: Isa, key: &[u8; KEY]) -> Self {
        let mut cipher = Self::empty(isa);
        cipher.set_key(key);
        cipher
    }

    /// Expands another key in the place of the current one, for the same kernels.
    fn set_key(&mut self, key: &[u8; KEY]);

    /// Encrypts a whole message, in place or from one buffer to another, and returns the tag of the
    /// ciphertext and of `aad`.
    #[must_use]
    fn seal(&self, nonce: &[u8; NONCE], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16];

    /// Decrypts a whole message, in place or from one buffer to another, and returns the tag that
    /// the ciphertext and `aad` should have.
    ///
    /// The caller compares it with the received tag, in constant time, and wipes the plaintext if
    /// they differ.
    #[must_use]
    fn open(&self, nonce: &[u8; NONCE], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16];

    /// Begins a message in pieces: first its associated data, then its data, in one direction.
    fn begin(&self, nonce: &[u8; NONCE]) -> Self::Message;

    /// Takes the next piece of the associated data, of any length; none may follow data.
    fn associate(&self, message: &mut Self::Message, aad: &[u8]);

    /// Encrypts the next piece of the data, of any length, in place or from one buffer to another.
    fn encrypt(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>);

    /// Decrypts the next piece of the data, of any length, in place or from one buffer to another.
    fn decrypt(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>);

    /// The tag of a complete message.
    #[must_use]
    fn tag(&self, message: Self::Message) -> [u8; 16];
}

/// A cipher whose messages can go on after a call that took them as whole ones.
///
/// Some callers give a message in one piece, others in several, and only the next call tells. The
/// first piece is sealed or opened as fast as a whole message, and has the tag of one. A further
/// piece replaces that tag. Any division into pieces gives what one piece would give.
///
/// The tag of an earlier piece is that of a shorter message under the same nonce. It must not leave
/// the program.
pub trait Resume<const KEY: usize, const NONCE: usize>: Aead<KEY, NONCE> {
    /// A message so far. It holds secrets and wipes them on drop.
    type Begun: Clone + ZeroizeOnDrop;

    /// A message of which nothing has come.
    fn begun(&self, nonce: &[u8; NONCE]) -> Self::Begun;

    /// [`seal`](Aead::seal), and what it takes to go on, which replaces `begun`.
    #[must_use]
    fn seal_begun(
        &self,
        begun: &mut Self::Begun,
        nonce: &[u8; NONCE],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; 16];

    /// [`open`](Aead::open), and what it takes to go on, which replaces `begun`.
    #[must_use]
    fn open_begun(
        &self,
        begun: &mut Self::Begun,
        nonce: &[u8; NONCE],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; 16];

    /// Takes more of the associated data, of any length; none may follow data.
    fn associate_more(&self, begun: &mut Self::Begun, aad: &[u8]);

    /// Encrypts more of the data, of any length, in place or from one buffer to another.
    fn seal_more(&self, begun: &mut Self::Begun, data: InOutBuf<'_, '_, u8>);

    /// Decrypts more of the data, of any length, in place or from one buffer to another.
    fn open_more(&self, begun: &mut Self::Begun, data: InOutBuf<'_, '_, u8>);

    /// The tag of what has come.
    #[must_use]
    fn tag_of(&self, begun: &Self::Begun) -> [u8; 16];
}

/// A keyed cipher with authentication whose tag is also the vector from which the data are
/// encrypted, as in AES-GCM-SIV: keys of `KEY` bytes, nonces of `NONCE` bytes, tags of 16.
///
/// The first byte of the ciphertext depends on the last of the message, so there are no messages in
/// pieces. Otherwise it is like [`Aead`]: the key is wiped on drop, requests only read it, and
/// nothing here checks nonces and lengths or compares tags. If a nonce is used twice, messages under
/// it reveal whether they are the same, and nothing else.
pub trait Siv<const KEY: usize, const NONCE: usize>: Sized + ZeroizeOnDrop {
    /// The most bytes of one message, and of its associated data.
    const LONGEST: u64;

    /// A place for a key: call [`set_key`](Self::set_key) before any other method.
    fn empty(isa: Isa) -> Self;

    /// Expands `key` for the kernels of `isa`.
    #[inline]
    fn new(isa: Isa, key: &[u8; KEY]) -> Self {
        let mut cipher = Self::empty(isa);
        cipher.set_key(key);
        cipher
    }

    /// Expands another key in the place of the current one, for the same kernels.
    fn set_key(&mut self, key: &[u8; KEY]);

    /// Encrypts a whole message, in place or from one buffer to another, and returns the tag of the
    /// message and of `aad`.
    #[must_use]
    fn seal(&self, nonce: &[u8; NONCE], aad: &[u8], data: InOutBuf<'_, '_, u8>) -> [u8; 16];

    /// Decrypts a whole message that came with `tag`, in place or from one buffer to another, and
    /// returns the tag that what was decrypted and `aad` should have.
    ///
    /// The caller compares it with `tag`, in constant time, and wipes the plaintext if they differ.
    #[must_use]
    fn open(
        &self,
        nonce: &[u8; NONCE],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8; 16],
    ) -> [u8; 16];
}
