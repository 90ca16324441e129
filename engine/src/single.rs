//! One message at a time: a session as a cipher, or as an asymmetric key.

use lanecrypt_ciphers::lanes::in_parts;
use lanecrypt_ciphers::{Error, Nonce, NonceSequence};

use crate::session::job::AsJobs;
use crate::session::{Head, SessionKey};
use crate::{Data, Request, Session};

impl Session {
    /// Seals a packet in place, with the next nonce of a sequence, which it returns, as
    /// [`Cipher::seal_next`](lanecrypt_ciphers::Cipher::seal_next) does.
    ///
    /// # Errors
    ///
    /// Same as [`Cipher::seal_next`](lanecrypt_ciphers::Cipher::seal_next); [`Error::Unsupported`]
    /// if the session does not authenticate. After an error no nonce is used up, unless a driver
    /// other than the software refused the packet.
    #[inline]
    pub fn seal_next(
        &self,
        nonces: &mut impl NonceSequence,
        aad: &[u8],
        packet: &mut [u8],
    ) -> Result<Nonce, Error> {
        match &self.key {
            SessionKey::Sealed(Head { route: None, .. }, cipher) => {
                cipher.seal_next(nonces, aad, packet)
            }
            SessionKey::Sealed(_, cipher) => {
                if packet.len() < self.tag_length() {
                    return Err(Error::OutputLength);
                }
                if nonces.nonce_length() != cipher.algorithm().nonce_length() {
                    return Err(Error::NonceLength);
                }
                let nonce = nonces.fresh()?;
                self.serve(Request::seal(self, &nonce, aad, packet))?;
                Ok(nonce)
            }
            _ => Err(Error::Unsupported),
        }
    }

    /// Seals a message in place, as [`Cipher::seal`](lanecrypt_ciphers::Cipher::seal) does: **the
    /// last [`tag_length`](Self::tag_length) bytes are room for the tag and are overwritten**.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// Same as [`Cipher::seal`](lanecrypt_ciphers::Cipher::seal); [`Error::Unsupported`] if the
    /// session does not authenticate.
    #[inline]
    pub fn seal(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8]) -> Result<(), Error> {
        match &self.key {
            SessionKey::Sealed(Head { route: None, .. }, cipher) => cipher.seal(nonce, aad, buffer),
            _ => self.serve(Request::seal(self, nonce, aad, buffer)),
        }
    }

    /// Opens a packet in place, if it is authentic, and returns the message, as
    /// [`Cipher::open`](lanecrypt_ciphers::Cipher::open) does.
    ///
    /// # Errors
    ///
    /// Same as [`Cipher::open`](lanecrypt_ciphers::Cipher::open); [`Error::Unsupported`] if the
    /// session does not authenticate.
    #[inline]
    pub fn open<'p>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        packet: &'p mut [u8],
    ) -> Result<&'p mut [u8], Error> {
        match &self.key {
            SessionKey::Sealed(Head { route: None, .. }, cipher) => cipher.open(nonce, aad, packet),
            _ => {
                self.serve(Request::open(self, nonce, aad, &mut *packet))?;
                let message = packet.len().saturating_sub(self.tag_length());
                packet.get_mut(..message).ok_or(Error::Authentication)
            }
        }
    }

    /// Encrypts a message and writes its tag, as
    /// [`Cipher::seal_detached`](lanecrypt_ciphers::Cipher::seal_detached) does.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// Same as [`Cipher::seal_detached`](lanecrypt_ciphers::Cipher::seal_detached);
    /// [`Error::Unsupported`] if the session does not authenticate.
    #[inline]
    pub fn seal_detached<'d>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: impl Into<Data<'d>>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let mut data: Data<'_> = data.into();
        match &self.key {
            SessionKey::Sealed(Head { route: None, .. }, cipher) => {
                cipher.seal_detached(nonce, aad, in_parts(data.in_out()?), tag)
            }
            _ => self.serve(Request::seal_detached(self, nonce, aad, data, tag)),
        }
    }

    /// Decrypts a message, if its tag is valid, as
    /// [`Cipher::open_detached`](lanecrypt_ciphers::Cipher::open_detached) does.
    ///
    /// # Errors
    ///
    /// Same as [`Cipher::open_detached`](lanecrypt_ciphers::Cipher::open_detached);
    /// [`Error::Unsupported`] if the session does not authenticate.
    #[inline]
    pub fn open_detached<'d>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: impl Into<Data<'d>>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let mut data: Data<'_> = data.into();
        match &self.key {
            SessionKey::Sealed(Head { route: None, .. }, cipher) => {
                cipher.open_detached(nonce, aad, in_parts(data.in_out()?), tag)
            }
            _ => self.serve(Request::open_detached(self, nonce, aad, data, tag)),
        }
    }

    /// Encrypts a message without a tag, as
    /// [`hazmat::RawCipher::encrypt`](lanecrypt_ciphers::hazmat::RawCipher::encrypt) does.
    ///
    /// # Errors
    ///
    /// Same as [`hazmat::RawCipher::encrypt`](lanecrypt_ciphers::hazmat::RawCipher::encrypt);
    /// [`Error::OutputLength`] if there are two slices of different lengths; [`Error::Unsupported`]
    /// if the session authenticates.
    #[inline]
    pub fn encrypt<'d>(&self, iv: &[u8], data: impl Into<Data<'d>>) -> Result<(), Error> {
        let mut data: Data<'_> = data.into();
        match &self.key {
            SessionKey::Raw(Head { route: None, .. }, cipher) => cipher.encrypt(iv, data.in_out()?),
            _ => self.serve(Request::encrypt(self, iv, data)),
        }
    }

    /// Decrypts a message without a tag, as
    /// [`hazmat::RawCipher::decrypt`](lanecrypt_ciphers::hazmat::RawCipher::decrypt) does.
    ///
    /// # Errors
    ///
    /// Same as [`hazmat::RawCipher::decrypt`](lanecrypt_ciphers::hazmat::RawCipher::decrypt);
    /// [`Error::OutputLength`] if there are two slices of different lengths; [`Error::Unsupported`]
    /// if the session authenticates.
    #[inline]
    pub fn decrypt<'d>(&self, iv: &[u8], data: impl Into<Data<'d>>) -> Result<(), Error> {
        let mut data: Data<'_> = data.into();
        match &self.key {
            SessionKey::Raw(Head { route: None, .. }, cipher) => cipher.decrypt(iv, data.in_out()?),
            _ => self.serve(Request::decrypt(self, iv, data)),
        }
    }

    /// Signs a message into `signature`, which has [`signature_length`](Self::signature_length)
    /// bytes. The software verifies each signature of RSA before it writes it.
    ///
    /// Signatures take less time in a batch: see [`Batch::sign`](crate::Batch::sign).
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`]; [`Error::KeyLength`] if the modulus is too short for the padding;
    /// [`Error::Entropy`], [`Error::Fault`]; [`Error::Unsupported`] if the session has no private
    /// key. After an error the output is unchanged.
    pub fn sign(&self, message: &[u8], signature: &mut [u8]) -> Result<(), Error> {
        self.serve(Request::sign(self, message, signature))
    }

    /// Checks the signature of a message.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] if it or its length is invalid; [`Error::KeyLength`] if the
    /// modulus is too short for the padding; [`Error::Unsupported`] if the session has no key of
    /// signatures.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.serve(Request::verify(self, message, signature))
    }

    /// Computes a shared secret from what the other side sent, and writes it to `output`, which has
    /// [`agreement_length`](Self::agreement_length) bytes: see
    /// `AsymmetricKey`.
    ///
    /// Secrets take less time in a batch: see [`Batch::agree`](crate::Batch::agree).
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if `received` does not have the length of a public key or ciphertext;
    /// [`Error::PublicKey`] if the point is not on the curve, or has a small order (RFC 7748,
    /// section 6.1); [`Error::OutputLength`]; [`Error::Entropy`] if it encapsulates;
    /// [`Error::Unsupported`] if the session has no key of key exchange. After an error the output
    /// is unchanged.
    pub fn agree(&self, received: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.serve(Request::agree(self, received, output))
    }

    /// Serves one request at once.
    #[inline(never)]
    fn serve(&self, mut request: Request<'_>) -> Result<(), Error> {
        if let Some(refused) = request.outcome() {
            return refused;
        }
        match self.route().filter(|_| !request.class().is_here()) {
            Some(route) => {
                route.driver.process(Request::jobs(core::slice::from_mut(&mut request)));
                request.outcome().unwrap_or(Err(Error::Unsupported))
            }
            None => request.work.serve(self, request.nonce),
        }
    }
}
