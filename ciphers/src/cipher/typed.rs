//! Types with one algorithm.

use core::fmt;

use lanecrypt_kernels::{Isa, chacha20poly1305, gcm, gcm_siv, siv, wipe};
use zeroize::ZeroizeOnDrop;

use super::attached::Attached;
use super::kernel::Kernel;
use super::keyed::{Fixed, Keyed};
use super::methods::{methods, pieces};
use super::{AeadCipher, Opener, Sealed, Sealer};
use crate::{Algorithm, Buffers, Error, Nonce, NonceSequence};

/// Makes a type: its documentation, kernel, algorithm and bytes of a key, and how examples make one
/// and its nonce.
macro_rules! typed {
    ($(#[doc = $doc:literal])* $name:ident, $kernel:ty, $algorithm:ident, key $bytes:literal,
     $made:literal, $nonce:literal) => {
        $(#[doc = $doc])*
        ///
        /// It does what a [`Cipher`](crate::Cipher) of this algorithm does, but the algorithm is
        /// chosen when the program is compiled, and no other is linked. All lengths are constants:
        /// a key of another length does not compile, nonces of another length are refused, and tags
        /// have 16 bytes. For other lengths of nonces and tags, which GCM has, take a `Cipher`.
        ///
        /// ```
        #[doc = concat!("use lanecrypt_ciphers::{", stringify!($name), ", Nonces};")]
        ///
        /// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
        #[doc = concat!("# let key = [7; ", stringify!($name), "::KEY_LENGTH];")]
        #[doc = concat!("let cipher = ", stringify!($name), "::new(&key);")]
        /// let mut nonces = Nonces::counter(cipher.algorithm(), b"from")?;
        ///
        /// let mut packet = *b"a message, and room for the tag:................";
        /// let nonce = cipher.seal_next(&mut nonces, b"header", &mut packet)?;
        ///
        /// let message = cipher.open(&nonce, b"header", &mut packet)?;
        /// assert_eq!(message, b"a message, and room for the tag:");
        /// # Ok(())
        /// # }
        /// ```
        ///
        /// **Never use a nonce twice under one key.** What [`Cipher`](crate::Cipher) says of nonces,
        /// threads, wiping and constant time holds here too.
        pub struct $name {
            key: $kernel,
        }

        impl $name {
            /// Its algorithm.
            pub const ALGORITHM: Algorithm = Algorithm::$algorithm;
            /// The length of keys in bytes.
            pub const KEY_LENGTH: usize = $bytes;
            /// The length of nonces in bytes.
            pub const NONCE_LENGTH: usize = <$kernel as Fixed>::NONCE;
            /// The length of tags in bytes, by which a sealed message is longer.
            pub const TAG_LENGTH: usize = <$kernel as Fixed>::TAG;

            /// Expands `key`, for the best kernels that this processor can run.
            #[must_use]
            #[inline]
            pub fn new(key: &[u8; $bytes]) -> Self {
                Self::with_isa(Isa::detect(), key)
            }

            /// Same as [`new`](Self::new), with the kernels of `isa`.
            #[must_use]
            pub fn with_isa(isa: Isa, key: &[u8; $bytes]) -> Self {
                // Clears what this leaves on the stack: the frames of setting a key, and above them
                // the value that is moved to the caller.
                let _cleared = wipe::SetUp::<
                    { wipe::below(size_of::<Self>() + align_of::<Self>(), wipe::SHALLOW) },
                    { wipe::below(size_of::<Self>() + align_of::<Self>(), wipe::DEEP) },
                >::new(<$kernel as Fixed>::is_set_shallowly(isa));
                Self::expand(isa, key)
            }

            /// Same as [`new`](Self::new), but on the heap. The key is expanded there, is wiped
            /// there on drop, and leaves no copy elsewhere.
            ///
            /// Moving a cipher leaves its old bytes behind, as with every value in Rust; here only
            /// the box is moved. Without an allocator, put a cipher with some other key in its final
            /// place, and call [`set_key`](Self::set_key) there.
            #[cfg(feature = "std")]
            #[must_use]
            #[inline]
            pub fn boxed(key: &[u8; $bytes]) -> Box<Self> {
                Self::boxed_with_isa(Isa::detect(), key)
            }

            /// Same as [`boxed`](Self::boxed), with the kernels of `isa`.
            #[cfg(feature = "std")]
            #[must_use]
            pub fn boxed_with_isa(isa: Isa, key: &[u8; $bytes]) -> Box<Self> {
                let mut place = Box::new(Self::empty(isa));
                place.set_key(key);
                place
            }

            /// Replaces the key with another one, for the same kernels.
            ///
            /// This is cheaper than a new cipher, which is moved and after which the old one is
            /// wiped.
            pub fn set_key(&mut self, key: &[u8; $bytes]) {
                self.rekey(key);
                let shallow = <$kernel as Fixed>::is_set_shallowly(self.key.isa());
                drop(wipe::SetUp::<{ wipe::SHALLOW }, { wipe::DEEP }>::new(shallow));
            }

            /// Not inlined, so that its caller can clear the stack that it used.
            #[inline(never)]
            fn rekey(&mut self, key: &[u8; $bytes]) {
                // The length is that of the algorithm.
                let set = Kernel::set_key(&mut self.key, key);
                assert!(set.is_ok(), "a cipher without a key");
            }

            /// The value is moved once, to the caller, from the stack right below it.
            //
            // Not inlined, so that its caller can clear that stack.
            #[inline(never)]
            fn expand(isa: Isa, key: &[u8; $bytes]) -> Self {
                let mut place = Self::empty(isa);
                place.rekey(key);
                place
            }

            /// A cipher without a key, which must be set before the cipher is used.
            //
            // Not inlined, so that functions that set keys do not use as much stack as this one.
            #[inline(never)]
            fn empty(isa: Isa) -> Self {
                Self { key: Kernel::empty(isa, Self::ALGORITHM) }
            }

            /// The length of a tag in bytes: [`TAG_LENGTH`](Self::TAG_LENGTH).
            #[must_use]
            #[inline]
            pub fn tag_length(&self) -> usize {
                Self::TAG_LENGTH
            }
        }

        methods!($name, $kernel, $made, $nonce);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

typed!(
    /// AES-GCM with keys of 128 bits and nonces of 96 bits (NIST SP 800-38D).
    Aes128Gcm, gcm::AesGcm<128>, AES_128_GCM, key 16,
    "Aes128Gcm::new(&[7; 16])", "[0; 12]"
);
typed!(
    /// AES-GCM with keys of 192 bits and nonces of 96 bits (NIST SP 800-38D).
    Aes192Gcm, gcm::AesGcm<192>, AES_192_GCM, key 24,
    "Aes192Gcm::new(&[7; 24])", "[0; 12]"
);
typed!(
    /// AES-GCM with keys of 256 bits and nonces of 96 bits (NIST SP 800-38D).
    Aes256Gcm, gcm::AesGcm<256>, AES_256_GCM, key 32,
    "Aes256Gcm::new(&[7; 32])", "[0; 12]"
);
typed!(
    /// AES-GCM-SIV with keys of 128 bits (RFC 8452). If a nonce is used twice, an attacker sees
    /// whether messages under it, with their associated data, are the same, and nothing else. It
    /// has no messages in pieces.
    Aes128GcmSiv, gcm_siv::AesGcmSiv<128>, AES_128_GCM_SIV, key 16,
    "Aes128GcmSiv::new(&[7; 16])", "[0; 12]"
);
typed!(
    /// AES-GCM-SIV with keys of 256 bits (RFC 8452). If a nonce is used twice, an attacker sees
    /// whether messages under it, with their associated data, are the same, and nothing else. It
    /// has no messages in pieces.
    Aes256GcmSiv, gcm_siv::AesGcmSiv<256>, AES_256_GCM_SIV, key 32,
    "Aes256GcmSiv::new(&[7; 32])", "[0; 12]"
);
typed!(
    /// AES-SIV with keys of 256 bits, two of AES-128, and nonces of 128 bits (RFC 5297). If a nonce is
    /// used twice, an attacker sees whether messages under it, with their associated data, are the
    /// same, and nothing else. It has no messages in pieces. The tag is the synthetic vector, which
    /// the RFC writes before the ciphertext; here it stands behind it, as with all other ciphers.
    AesSiv256, siv::AesSiv<128>, AES_SIV_256, key 32,
    "AesSiv256::new(&[7; 32])", "[0; 16]"
);
typed!(
    /// AES-SIV with keys of 512 bits, two of AES-256, and nonces of 128 bits (RFC 5297). If a nonce is
    /// used twice, an attacker sees whether messages under it, with their associated data, are the
    /// same, and nothing else. It has no messages in pieces. The tag is the synthetic vector, which
    /// the RFC writes before the ciphertext; here it stands behind it, as with all other ciphers.
    AesSiv512, siv::AesSiv<256>, AES_SIV_512, key 64,
    "AesSiv512::new(&[7; 64])", "[0; 16]"
);
typed!(
    /// ChaCha20-Poly1305 with nonces of 96 bits (RFC 8439).
    ChaCha20Poly1305, chacha20poly1305::ChaCha20Poly1305, CHACHA20_POLY1305, key 32,
    "ChaCha20Poly1305::new(&[7; 32])", "[0; 12]"
);
typed!(
    /// XChaCha20-Poly1305 with nonces of 192 bits, which may be random
    /// (draft-irtf-cfrg-xchacha).
    XChaCha20Poly1305, chacha20poly1305::XChaCha20Poly1305, XCHACHA20_POLY1305, key 32,
    "XChaCha20Poly1305::new(&[7; 32])", "[0; 24]"
);

pieces!(Aes128Gcm, gcm::AesGcm<128>, "[`Error::NonceLength`].");
pieces!(Aes192Gcm, gcm::AesGcm<192>, "[`Error::NonceLength`].");
pieces!(Aes256Gcm, gcm::AesGcm<256>, "[`Error::NonceLength`].");
pieces!(ChaCha20Poly1305, chacha20poly1305::ChaCha20Poly1305, "[`Error::NonceLength`].");
pieces!(XChaCha20Poly1305, chacha20poly1305::XChaCha20Poly1305, "[`Error::NonceLength`].");
