//! What the algorithms that authenticate have in common.

use inout::InOutBuf;
use lanecrypt_kernels::Isa;

use crate::{Algorithm, Error};

/// What a cipher with authentication does with a message. It writes or compares the tag itself: a
/// tag that came back inside of a `Result` would be copied in pieces, which takes as long as half
/// of a short message.
pub(super) trait Kernel: Sized {
    /// A message that comes in pieces, which wipes itself.
    type Message;

    /// The place of a key, which has to be set before anything is asked.
    fn empty(isa: Isa, algorithm: Algorithm) -> Self;

    /// Expands a key in the place of the one that is there.
    fn set_key(&mut self, key: &[u8]) -> Result<(), Error>;

    /// Encrypts a message, and writes as much of its tag as there is room for.
    fn seal_message(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error>;

    /// Decrypts a message, or answers [`Error::Authentication`] if the tag is not how the right one
    /// begins.
    fn open_message(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error>;

    /// Begins a message that comes in pieces: first associated data, then data, one way. A kernel
    /// that has none answers [`Error::Unsupported`].
    fn begin_message(&self, nonce: &[u8]) -> Result<Self::Message, Error>;

    fn associate_next(&self, message: &mut Self::Message, aad: &[u8]);

    fn encrypt_next(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>);

    fn decrypt_next(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>);

    /// Writes as much of the tag as there is room for.
    fn finish(&self, message: Self::Message, tag: &mut [u8]);

    /// Whether a tag is how the right one begins.
    fn verify(&self, message: Self::Message, tag: &[u8]) -> Result<(), Error>;
}

/// A message that comes in pieces, under its key: first associated data, then data, one way. It
/// wipes itself.
pub(super) trait Running {
    fn associate(&mut self, aad: &[u8]);

    fn encrypt(&mut self, data: InOutBuf<'_, '_, u8>);

    fn decrypt(&mut self, data: InOutBuf<'_, '_, u8>);

    /// Writes as much of the tag as there is room for.
    fn finish(self, tag: &mut [u8]);

    /// Whether a tag is how the right one begins.
    fn verify(self, tag: &[u8]) -> Result<(), Error>;
}

/// The message in pieces of a kernel that has none.
pub(super) enum NoPieces {}

/// A message in pieces under the key of one kernel.
pub(super) struct Single<'k, K: Kernel> {
    pub(super) kernel: &'k K,
    pub(super) message: K::Message,
}

impl<K: Kernel> Running for Single<'_, K> {
    #[inline]
    fn associate(&mut self, aad: &[u8]) {
        self.kernel.associate_next(&mut self.message, aad);
    }

    #[inline]
    fn encrypt(&mut self, data: InOutBuf<'_, '_, u8>) {
        self.kernel.encrypt_next(&mut self.message, data);
    }

    #[inline]
    fn decrypt(&mut self, data: InOutBuf<'_, '_, u8>) {
        self.kernel.decrypt_next(&mut self.message, data);
    }

    #[inline]
    fn finish(self, tag: &mut [u8]) {
        self.kernel.finish(self.message, tag);
    }

    #[inline]
    fn verify(self, tag: &[u8]) -> Result<(), Error> {
        self.kernel.verify(self.message, tag)
    }
}
