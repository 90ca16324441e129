//! One message at a time: a session as a cipher.

use lanecrypt_ciphers::lanes::in_parts;
use lanecrypt_ciphers::{Error, Nonce, NonceSequence};

use crate::job::AsJobs;
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
            SessionKey::Raw(..) => Err(Error::Unsupported),
            SessionKey::Sealed(Head { route: None, .. }, cipher) => {
                cipher.seal_next(nonces, aad, packet)
            }
            SessionKey::Sealed(..) => {
                if packet.len() < self.tag_length() {
                    return Err(Error::OutputLength);
                }
                if nonces.nonce_length() != self.algorithm().nonce_length() {
                    return Err(Error::NonceLength);
                }
                let nonce = nonces.fresh()?;
                self.serve(Request::seal(self, &nonce, aad, packet))?;
                Ok(nonce)
            }
        }
    }

    /// Seals a packet in place, as [`Cipher::seal`](lanecrypt_ciphers::Cipher::seal) does.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// Same as [`Cipher::seal`](lanecrypt_ciphers::Cipher::seal); [`Error::Unsupported`] if the
    /// session does not authenticate.
    #[inline]
    pub fn seal(&self, nonce: &[u8], aad: &[u8], packet: &mut [u8]) -> Result<(), Error> {
        match &self.key {
            SessionKey::Sealed(Head { route: None, .. }, cipher) => cipher.seal(nonce, aad, packet),
            _ => self.serve(Request::seal(self, nonce, aad, packet)),
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

    /// Decrypts a message, if its tag is right, as
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

    /// Serves one request at once.
    #[inline]
    fn serve(&self, mut request: Request<'_>) -> Result<(), Error> {
        match self.route() {
            Some(route) => {
                route.driver.process(Request::jobs(core::slice::from_mut(&mut request)));
                request.outcome().unwrap_or(Err(Error::Unsupported))
            }
            None => request.work.serve(self, request.nonce),
        }
    }
}
