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
    /// Same as [`Cipher::open_detached`]: after [`Error::Authentication`] the output has been
    /// wiped.
    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error>;
}

/// Passes every call on to a cipher, `$target` of `$this`, by its methods `$seal` and `$open`.
macro_rules! passed_on {
    (|$this:ident| $target:expr, $seal:ident, $open:ident) => {
        fn algorithm(&self) -> Algorithm {
            let $this = self;
            $target.algorithm()
        }

        fn tag_length(&self) -> usize {
            let $this = self;
            $target.tag_length()
        }

        #[inline]
        fn seal(
            &self,
            nonce: &[u8],
            aad: &[u8],
            data: InOutBuf<'_, '_, u8>,
            tag: &mut [u8],
        ) -> Result<(), Error> {
            let $this = self;
            $target.$seal(nonce, aad, data, tag)
        }

        #[inline]
        fn open(
            &self,
            nonce: &[u8],
            aad: &[u8],
            data: InOutBuf<'_, '_, u8>,
            tag: &[u8],
        ) -> Result<(), Error> {
            let $this = self;
            $target.$open(nonce, aad, data, tag)
        }
    };
}

macro_rules! ciphers {
    ($($cipher:ty),*) => {$(
        impl ChunkCipher for $cipher {
            passed_on!(|cipher| cipher, seal_detached, open_detached);
        }
    )*};
}

ciphers!(Cipher, Aes128Gcm, Aes192Gcm, Aes256Gcm, ChaCha20Poly1305, XChaCha20Poly1305);

/// A pointer to a cipher is a cipher.
macro_rules! holders {
    ($($holder:ty),*) => {$(
        impl<C: ChunkCipher + ?Sized> ChunkCipher for $holder {
            passed_on!(|holder| (**holder), seal, open);
        }
    )*};
}

holders!(&C, Arc<C>, Box<C>, Rc<C>);
