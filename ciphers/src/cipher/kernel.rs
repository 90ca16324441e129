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

    /// Begins a message that comes in pieces: first associated data, then data, one way.
    fn begin_message(&self, nonce: &[u8]) -> Result<Self::Message, Error>;

    fn associate_next(&self, message: &mut Self::Message, aad: &[u8]);

    fn encrypt_next(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>);

    fn decrypt_next(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>);

    /// Writes as much of the tag as there is room for.
    fn finish(&self, message: Self::Message, tag: &mut [u8]);

    /// Whether a tag is how the right one begins.
    fn verify(&self, message: Self::Message, tag: &[u8]) -> Result<(), Error>;
}
