//! The methods of a client for its sessions.

/// Opens and closes sessions, by the connection. `mut` if that changes the client.
macro_rules! sessions {
    (($($mutable:tt)?) $($connection:tt)+) => {
        /// Opens a session with this key, which is sent to the daemon by the socket.
        ///
        /// # Errors
        ///
        /// [`Error::Denied`]; [`Error::Disconnected`], [`Error::Forked`].
        pub fn session(
            &$($mutable)? self,
            algorithm: lanecrypt_engine::Algorithm,
            key: &[u8],
        ) -> Result<Session, Error> {
            self.$($connection)+.session(algorithm, key)
        }

        /// Opens a session with a key of the longest length that the daemon generates. It never
        /// leaves the daemon, and is wiped with the session.
        ///
        /// # Errors
        ///
        /// Same as [`session`](Self::session).
        pub fn generated_session(
            &$($mutable)? self,
            algorithm: lanecrypt_engine::Algorithm,
        ) -> Result<Session, Error> {
            self.$($connection)+.generated_session(algorithm)
        }

        /// Opens a session with the daemon's key of this name.
        ///
        /// # Errors
        ///
        /// Same as [`session`](Self::session).
        pub fn named_session(&$($mutable)? self, name: &str) -> Result<Session, Error> {
            self.$($connection)+.named_session(name)
        }

        /// Opens a session with the daemon's RSA key of this name, and with this padding, which
        /// must be one of the key's.
        ///
        /// # Errors
        ///
        /// Same as [`session`](Self::session).
        #[cfg(feature = "rsa")]
        #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
        pub fn named_rsa_session(
            &$($mutable)? self,
            name: &str,
            padding: lanecrypt_rsa::Padding,
        ) -> Result<Session, Error> {
            self.$($connection)+.named_rsa_session(name, padding)
        }

        /// Opens a session with an RSA key of 2048 to 8192 bits, which is sent to the daemon by the
        /// socket. It signs and verifies, or with a public key only verifies; all its signatures
        /// have this padding.
        ///
        /// # Errors
        ///
        /// Same as [`session`](Self::session).
        #[cfg(feature = "rsa")]
        #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
        pub fn rsa_session(
            &$($mutable)? self,
            key: impl Into<lanecrypt_engine::RsaKey>,
            padding: lanecrypt_rsa::Padding,
        ) -> Result<Session, Error> {
            self.$($connection)+.rsa_session(&key.into(), padding)
        }

        /// The same with the DER of a private key (PKCS#8 or PKCS#1) or of a public key (SPKI or
        /// PKCS#1). It is sent unchanged, and the daemon checks it.
        ///
        /// # Errors
        ///
        /// Same as [`session`](Self::session).
        #[cfg(feature = "rsa")]
        #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
        pub fn rsa_session_from_der(
            &$($mutable)? self,
            der: &[u8],
            padding: lanecrypt_rsa::Padding,
        ) -> Result<Session, Error> {
            self.$($connection)+.rsa_session_from_der(der, padding)
        }

        /// Opens a session with an RSA key of this many bits that the daemon generates, an even
        /// number from 2048 to 8192. It never leaves the daemon, and is wiped with the session. It
        /// takes 50 milliseconds to minutes, and longer after requests of other clients.
        ///
        /// # Errors
        ///
        /// Same as [`session`](Self::session).
        #[cfg(feature = "rsa")]
        #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
        pub fn generated_rsa_session(
            &$($mutable)? self,
            bits: u32,
            padding: lanecrypt_rsa::Padding,
        ) -> Result<Session, Error> {
            self.$($connection)+.generated_rsa_session(bits, padding)
        }

        /// The public key of a session with an asymmetric key, as the DER of its SPKI (RFC 5280,
        /// section 4.1).
        ///
        /// # Errors
        ///
        /// Same as [`session`](Self::session).
        pub fn public_key(&$($mutable)? self, session: Session) -> Result<Vec<u8>, Error> {
            self.$($connection)+.public_key(session)
        }

        /// Closes a session; the daemon wipes its key, unless it has a name. Messages in flight may
        /// still be served, or be refused.
        ///
        /// # Errors
        ///
        /// Same as [`session`](Self::session).
        pub fn close(&$($mutable)? self, session: Session) -> Result<(), Error> {
            self.$($connection)+.close(session)
        }
    };
}

pub(super) use sessions;
