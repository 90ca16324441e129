//! The public methods that all ciphers with authentication have. What they do is told in `keyed.rs`
//! and `attached.rs`.

/// Gives a type with a field `key` the methods, and what else all have in common. `$made` is how an
/// example makes a cipher, and `$nonce` a nonce for it.
macro_rules! methods {
    ($cipher:ident, $key:ty, $made:literal, $nonce:literal) => {
        impl $cipher {
            /// Its algorithm.
            #[must_use]
            #[inline]
            pub fn algorithm(&self) -> Algorithm {
                Keyed::algorithm(&self.key)
            }

            /// Seals a message in place: `message_and_room` is the message and, behind it, room for
            /// the tag, and becomes the packet. **Its last [`tag_length`](Self::tag_length) bytes
            /// are overwritten**, whatever they hold: where a message has no room behind it, take
            /// `seal_vec`, or [`seal_detached`](Self::seal_detached).
            ///
            /// **The nonce must not have been used before under this key.**
            ///
            /// # Errors
            ///
            /// [`Error::OutputLength`] if there is no room for the tag, [`Error::NonceLength`],
            /// [`Error::AadLength`] or [`Error::DataLength`]. After an error nothing has changed.
            #[inline]
            pub fn seal(
                &self,
                nonce: &[u8],
                aad: &[u8],
                message_and_room: &mut [u8],
            ) -> Result<(), Error> {
                self.key.seal(nonce, aad, message_and_room)
            }

            /// Seals a message in place, as [`seal`](Self::seal) does, with the next nonce of
            /// `nonces`, which it returns.
            ///
            /// # Errors
            ///
            /// [`Error::NoncesExhausted`]; [`Error::Forked`] if the parent process made the
            /// sequence; [`Error::NonceLength`] if it was made for an algorithm with nonces of
            /// another length; otherwise the same as [`seal`](Self::seal). After an error nothing
            /// has changed, and no nonce is used up.
            #[inline]
            pub fn seal_next(
                &self,
                nonces: &mut impl NonceSequence,
                aad: &[u8],
                message_and_room: &mut [u8],
            ) -> Result<Nonce, Error> {
                self.key.seal_next(nonces, aad, message_and_room)
            }

            /// Opens a packet in place, if it is authentic, and returns the message, which is at
            /// its front.
            ///
            /// # Errors
            ///
            /// [`Error::Authentication`] if the packet is not authentic: the message has been wiped.
            /// The same if it is shorter than a tag, or [`Error::NonceLength`],
            /// [`Error::AadLength`] or [`Error::DataLength`]: nothing has changed.
            #[inline]
            pub fn open<'p>(
                &self,
                nonce: &[u8],
                aad: &[u8],
                packet: &'p mut [u8],
            ) -> Result<&'p mut [u8], Error> {
                self.key.open(nonce, aad, packet)
            }

            /// Opens a packet that begins at `from`, behind a header or an explicit nonce as in TLS
            /// 1.2, and moves the message to the front of the buffer, which it returns.
            ///
            /// ```
            /// # use lanecrypt_ciphers::*;
            /// # fn main() -> Result<(), Error> {
            #[doc = concat!("let cipher = ", $made, ";")]
            #[doc = concat!("let nonce = ", $nonce, ";")]
            /// let mut record = *b"5 bytmessage................";
            /// let (header, packet) = record.split_at_mut(5);
            /// cipher.seal(&nonce, header, packet)?;
            ///
            /// let header = *b"5 byt";
            /// assert_eq!(cipher.open_within(&nonce, &header, &mut record, 5)?, b"message");
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// Same as [`open`](Self::open). If the buffer ends before the packet begins:
            /// [`Error::Authentication`].
            pub fn open_within<'p>(
                &self,
                nonce: &[u8],
                aad: &[u8],
                buffer: &'p mut [u8],
                from: usize,
            ) -> Result<&'p mut [u8], Error> {
                self.key.open_within(nonce, aad, buffer, from)
            }

            /// Seals a whole vector, and appends the tag to it.
            ///
            /// **The nonce must not have been used before under this key.**
            ///
            /// ```
            /// # use lanecrypt_ciphers::*;
            /// # fn main() -> Result<(), Error> {
            #[doc = concat!("let cipher = ", $made, ";")]
            #[doc = concat!("let nonce = ", $nonce, ";")]
            /// let mut packet = b"no room needed".to_vec();
            /// cipher.seal_vec(&nonce, b"", &mut packet)?;
            /// assert_eq!(packet.len(), 14 + 16);
            ///
            /// cipher.open_vec(&nonce, b"", &mut packet)?;
            /// assert_eq!(packet, b"no room needed");
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// [`Error::NonceLength`], [`Error::AadLength`] or [`Error::DataLength`]. After an error
            /// nothing has changed.
            #[cfg(feature = "std")]
            pub fn seal_vec(
                &self,
                nonce: &[u8],
                aad: &[u8],
                packet: &mut Vec<u8>,
            ) -> Result<(), Error> {
                self.key.seal_vec(nonce, aad, packet)
            }

            /// Opens a whole vector, if it is authentic, and cuts the tag off.
            ///
            /// # Errors
            ///
            /// Same as [`open`](Self::open). After an error the vector is as long as before.
            #[cfg(feature = "std")]
            pub fn open_vec(
                &self,
                nonce: &[u8],
                aad: &[u8],
                packet: &mut Vec<u8>,
            ) -> Result<(), Error> {
                self.key.open_vec(nonce, aad, packet)
            }

            /// Seals a message into a packet that is longer by [`tag_length`](Self::tag_length)
            /// bytes.
            ///
            /// **The nonce must not have been used before under this key.**
            ///
            /// # Errors
            ///
            /// [`Error::OutputLength`] if the packet has another length, [`Error::NonceLength`],
            /// [`Error::AadLength`] or [`Error::DataLength`]. After an error nothing has changed.
            #[inline]
            pub fn seal_to(
                &self,
                nonce: &[u8],
                aad: &[u8],
                message: &[u8],
                packet: &mut [u8],
            ) -> Result<(), Error> {
                self.key.seal_to(nonce, aad, message, packet)
            }

            /// Opens a packet into a message that is shorter by [`tag_length`](Self::tag_length)
            /// bytes, if it is authentic.
            ///
            /// # Errors
            ///
            /// [`Error::Authentication`] if the packet is not authentic, or is shorter than a tag:
            /// the message has been wiped. [`Error::OutputLength`] if the message has another
            /// length, [`Error::NonceLength`], [`Error::AadLength`] or [`Error::DataLength`]:
            /// nothing has changed.
            #[inline]
            pub fn open_to(
                &self,
                nonce: &[u8],
                aad: &[u8],
                packet: &[u8],
                message: &mut [u8],
            ) -> Result<(), Error> {
                self.key.open_to(nonce, aad, packet, message)
            }

            /// Encrypts a whole message and writes its tag, of [`tag_length`](Self::tag_length)
            /// bytes. The data is a slice in place, or an [`InOutBuf`](crate::InOutBuf) from one
            /// buffer to another.
            ///
            /// **The nonce must not have been used before under this key.**
            ///
            /// # Errors
            ///
            /// [`Error::TagLength`], [`Error::NonceLength`], [`Error::AadLength`] or
            /// [`Error::DataLength`]. After an error nothing has changed.
            #[inline(always)]
            pub fn seal_detached<'i, 'o>(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: impl Buffers<'i, 'o>,
                tag: &mut [u8],
            ) -> Result<(), Error> {
                self.key.seal_detached(nonce, aad, data, tag)
            }

            /// Decrypts a whole message, if its tag, of [`tag_length`](Self::tag_length) bytes, is
            /// right. The data is a slice in place, or an [`InOutBuf`](crate::InOutBuf) from one
            /// buffer to another.
            ///
            /// # Errors
            ///
            /// [`Error::Authentication`]: the output has been wiped. [`Error::TagLength`],
            /// [`Error::NonceLength`], [`Error::AadLength`] or [`Error::DataLength`]: nothing has
            /// changed.
            #[inline(always)]
            pub fn open_detached<'i, 'o>(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: impl Buffers<'i, 'o>,
                tag: &[u8],
            ) -> Result<(), Error> {
                self.key.open_detached(nonce, aad, data, tag)
            }
        }

        // Every expanded key wipes itself.
        impl ZeroizeOnDrop for $cipher {}
    };
}

/// Gives a type with a field `key` the methods for messages in pieces, which documents their
/// `$errors`.
macro_rules! pieces {
    ($cipher:ident, $key:ty, $errors:literal) => {
        impl $cipher {
            /// Begins to seal a message in pieces.
            ///
            /// **The nonce must not have been used before under this key.**
            ///
            /// # Errors
            ///
            #[doc = $errors]
            #[inline]
            pub fn sealer(&self, nonce: &[u8]) -> Result<Sealer<'_, Self>, Error> {
                Sealer::new(self, nonce)
            }

            /// Begins to open a message in pieces.
            ///
            /// **Read what [`Opener`] says about its plaintext.**
            ///
            /// # Errors
            ///
            #[doc = $errors]
            #[inline]
            pub fn opener(&self, nonce: &[u8]) -> Result<Opener<'_, Self>, Error> {
                Opener::new(self, nonce)
            }
        }

        impl AeadCipher for $cipher {}

        impl Sealed for $cipher {
            type Key = $key;

            #[inline]
            fn key(&self) -> &$key {
                &self.key
            }
        }
    };
}

pub(super) use {methods, pieces};
