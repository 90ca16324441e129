//! The kernels that have lanes for whole messages with authentication.

use inout::InOutBuf;
use lanecrypt_kernels::chacha20poly1305::{self, ChaCha20Poly1305, XChaCha20Poly1305};
use lanecrypt_kernels::gcm_siv::{self, AesGcmSiv};

use crate::cipher::Cipher;
use crate::cipher::aead_key::AeadKey;

/// A kernel that seals and opens messages side by side.
pub(super) trait Beside {
    /// The key and the nonce of a message.
    type Key<'a>;
    type Lane<'a>;

    /// None if the kernel is not for this key, or not for nonces of this length.
    fn key<'a>(cipher: &'a Cipher, nonce: &'a [u8]) -> Option<Self::Key<'a>>;

    /// A message of a batch. To open it, `tag` holds the tag that came.
    fn lane<'a>(
        key: Self::Key<'a>,
        aad: &'a [u8],
        data: InOutBuf<'a, 'a, u8>,
        tag: &'a mut [u8; 16],
    ) -> Self::Lane<'a>;

    /// Encrypts each message and writes its tag.
    fn seal(lanes: &mut [Self::Lane<'_>]);

    /// Decrypts each message, and writes the tag that it should have.
    fn open(lanes: &mut [Self::Lane<'_>]);

    /// The tag that was written.
    fn tag<'l>(lane: &'l Self::Lane<'_>) -> &'l [u8; 16];

    fn output<'l>(lane: &'l mut Self::Lane<'_>) -> &'l mut [u8];
}

/// ChaCha20-Poly1305 and XChaCha20-Poly1305, which share a batch.
pub(super) enum ChaCha {}

pub(super) enum ChaChaKey<'a> {
    Plain(&'a ChaCha20Poly1305, &'a [u8; 12]),
    Extended(&'a XChaCha20Poly1305, &'a [u8; 24]),
}

impl Beside for ChaCha {
    type Key<'a> = ChaChaKey<'a>;
    type Lane<'a> = chacha20poly1305::Lane<'a>;

    #[inline(always)]
    fn key<'a>(cipher: &'a Cipher, nonce: &'a [u8]) -> Option<ChaChaKey<'a>> {
        Some(match &cipher.key {
            AeadKey::ChaCha20Poly1305(_, key) => ChaChaKey::Plain(key, nonce.try_into().ok()?),
            AeadKey::XChaCha20Poly1305(_, key) => ChaChaKey::Extended(key, nonce.try_into().ok()?),
            _ => return None,
        })
    }

    #[inline(always)]
    fn lane<'a>(
        key: ChaChaKey<'a>,
        aad: &'a [u8],
        data: InOutBuf<'a, 'a, u8>,
        tag: &'a mut [u8; 16],
    ) -> Self::Lane<'a> {
        match key {
            ChaChaKey::Plain(key, nonce) => Self::Lane::new(key, nonce, aad, data, tag),
            ChaChaKey::Extended(key, nonce) => Self::Lane::extended(key, nonce, aad, data, tag),
        }
    }

    #[inline(always)]
    fn seal(lanes: &mut [Self::Lane<'_>]) {
        chacha20poly1305::seal_lanes(lanes);
    }

    #[inline(always)]
    fn open(lanes: &mut [Self::Lane<'_>]) {
        chacha20poly1305::open_lanes(lanes);
    }

    #[inline(always)]
    fn tag<'l>(lane: &'l Self::Lane<'_>) -> &'l [u8; 16] {
        lane.tag()
    }

    #[inline(always)]
    fn output<'l>(lane: &'l mut Self::Lane<'_>) -> &'l mut [u8] {
        lane.output()
    }
}

/// AES-GCM-SIV with keys of one length.
macro_rules! gcm_siv {
    ($bits:literal, $variant:ident) => {
        impl Beside for AesGcmSiv<$bits> {
            type Key<'a> = (&'a Self, &'a [u8; 12]);
            type Lane<'a> = gcm_siv::Lane<'a, $bits>;

            #[inline(always)]
            fn key<'a>(cipher: &'a Cipher, nonce: &'a [u8]) -> Option<Self::Key<'a>> {
                match &cipher.key {
                    AeadKey::$variant(_, key) => Some((key, nonce.try_into().ok()?)),
                    _ => None,
                }
            }

            #[inline(always)]
            fn lane<'a>(
                (key, nonce): Self::Key<'a>,
                aad: &'a [u8],
                data: InOutBuf<'a, 'a, u8>,
                tag: &'a mut [u8; 16],
            ) -> Self::Lane<'a> {
                Self::Lane::new(key, nonce, aad, data, tag)
            }

            #[inline(always)]
            fn seal(lanes: &mut [Self::Lane<'_>]) {
                Self::seal_lanes(lanes);
            }

            #[inline(always)]
            fn open(lanes: &mut [Self::Lane<'_>]) {
                Self::open_lanes(lanes);
            }

            #[inline(always)]
            fn tag<'l>(lane: &'l Self::Lane<'_>) -> &'l [u8; 16] {
                lane.tag()
            }

            #[inline(always)]
            fn output<'l>(lane: &'l mut Self::Lane<'_>) -> &'l mut [u8] {
                lane.output()
            }
        }
    };
}

gcm_siv!(128, Aes128GcmSiv);
gcm_siv!(256, Aes256GcmSiv);
