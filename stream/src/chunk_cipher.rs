//! The ciphers that chunks are sealed with.

use std::rc::Rc;
use std::sync::Arc;

use lanecrypt_ciphers::{
    Aes128Gcm, Aes192Gcm, Aes256Gcm, Algorithm, ChaCha20Poly1305, Cipher, Error, InOutBuf,
    XChaCha20Poly1305,
};

/// A keyed cipher with authentication: a [`Cipher`], a type with one algorithm, or what holds one.
pub trait ChunkCipher {
    /// Its algorithm.
    fn algorithm(&self) -> Algorithm;

    /// The length of its tags in bytes.
    fn tag_length(&self) -> usize;

    /// Same as [`Cipher::seal_detached`].
    ///
    /// # Errors
    ///
    /// Same as [`Cipher::seal_detached`].
    fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error>;

    /// Same as [`Cipher::open_detached`].
    ///
    /// # Errors
    ///
    /// Same as [`Cipher::open_detached`]: after [`Error::Authentication`] the output has been wiped.
    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error>;
}

macro_rules! ciphers {
    ($($cipher:ident),*) => {$(
        impl ChunkCipher for $cipher {
            fn algorithm(&self) -> Algorithm {
                self.algorithm()
            }

            fn tag_length(&self) -> usize {
                self.tag_length()
            }

            #[inline]
            fn seal(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &mut [u8],
            ) -> Result<(), Error> {
                self.seal_detached(nonce, aad, data, tag)
            }

            #[inline]
            fn open(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8],
            ) -> Result<(), Error> {
                self.open_detached(nonce, aad, data, tag)
            }
        }
    )*};
}

ciphers!(Cipher, Aes128Gcm, Aes192Gcm, Aes256Gcm, ChaCha20Poly1305, XChaCha20Poly1305);

/// What holds a cipher serves as one.
macro_rules! holders {
    ($($holder:ty),*) => {$(
        impl<C: ChunkCipher + ?Sized> ChunkCipher for $holder {
            fn algorithm(&self) -> Algorithm {
                (**self).algorithm()
            }

            fn tag_length(&self) -> usize {
                (**self).tag_length()
            }

            #[inline]
            fn seal(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &mut [u8],
            ) -> Result<(), Error> {
                (**self).seal(nonce, aad, data, tag)
            }

            #[inline]
            fn open(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8],
            ) -> Result<(), Error> {
                (**self).open(nonce, aad, data, tag)
            }
        }
    )*};
}

holders!(&C, Arc<C>, Box<C>, Rc<C>);
