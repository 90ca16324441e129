//! Ciphers with authentication.

use core::fmt;

use aead::consts::{U12, U16, U24, U32};
use aead::inout::InOutBuf;
use aead::{AeadCore, AeadInOut, Key, KeyInit, KeySizeUser, Nonce, Tag, TagPosition};
use zeroize::ZeroizeOnDrop;

/// One type with the traits of a cipher with authentication, around ours of the same name.
macro_rules! aead_cipher {
    ($(#[$doc:meta])* $name:ident, key $key:ty, nonce $nonce:ty) => {
        $(#[$doc])*
        ///
        /// A refused message has been wiped. The expanded key is wiped on drop.
        pub struct $name(crate::$name);

        impl KeySizeUser for $name {
            type KeySize = $key;
        }

        impl KeyInit for $name {
            #[inline]
            fn new(key: &Key<Self>) -> Self {
                Self(crate::$name::new(&key.0))
            }
        }

        impl AeadCore for $name {
            type NonceSize = $nonce;
            type TagSize = U16;
            const TAG_POSITION: TagPosition = TagPosition::Postfix;
        }

        impl AeadInOut for $name {
            #[inline]
            fn encrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
            ) -> aead::Result<Tag<Self>> {
                let mut tag = Tag::<Self>::default();
                match self.0.seal_detached(nonce, associated_data, buffer, &mut tag) {
                    Ok(()) => Ok(tag),
                    Err(_) => Err(aead::Error),
                }
            }

            #[inline]
            fn decrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
                tag: &Tag<Self>,
            ) -> aead::Result<()> {
                let opened = self.0.open_detached(nonce, associated_data, buffer, tag);
                opened.map_err(|_| aead::Error)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        // The cipher wipes its key.
        impl ZeroizeOnDrop for $name {}
    };
}

aead_cipher!(
    /// AES-128-GCM (NIST SP 800-38D) with nonces of 96 bits.
    Aes128Gcm, key U16, nonce U12
);
aead_cipher!(
    /// AES-192-GCM (NIST SP 800-38D) with nonces of 96 bits.
    Aes192Gcm, key U24, nonce U12
);
aead_cipher!(
    /// AES-256-GCM (NIST SP 800-38D) with nonces of 96 bits.
    Aes256Gcm, key U32, nonce U12
);
aead_cipher!(
    /// AES-128-GCM-SIV (RFC 8452).
    Aes128GcmSiv, key U16, nonce U12
);
aead_cipher!(
    /// AES-256-GCM-SIV (RFC 8452).
    Aes256GcmSiv, key U32, nonce U12
);
aead_cipher!(
    /// ChaCha20-Poly1305 (RFC 8439).
    ChaCha20Poly1305, key U32, nonce U12
);
aead_cipher!(
    /// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha): nonces of 192 bits, which may be random.
    XChaCha20Poly1305, key U32, nonce U24
);
