//! Masks for the headers of packets.

use core::fmt;

use arrayvec::ArrayVec;
use lanecrypt_kernels::aes::AesForward;
use lanecrypt_kernels::chacha::{self, Key};
use lanecrypt_kernels::{BlockEncrypt, Isa};
use zeroize::ZeroizeOnDrop;

use crate::key_bytes::array;
use crate::{Algorithm, Error, KeyError};

/// The key of header protection (QUIC, RFC 9001, section 5.4), or of the encryption of record
/// numbers (DTLS 1.3, RFC 9147, section 4.2.3).
///
/// The mask of a packet is computed from a sample of its ciphertext. It hides the few bytes of the
/// header that would identify the sender: the sender and the receiver XOR the same mask into them.
/// The key is expanded once and wiped on drop; requests only read it. Constant time.
///
/// [`masks`](Self::masks) makes masks of many connections in lanes. In a batch of an engine, masks
/// of ChaCha20 are messages of [`Algorithm::CHACHA20_IETF`]: zeros that are encrypted with the
/// sample as [initialization vector](super::RawCipher).
pub struct HeaderProtectionKey(MaskKey);

enum MaskKey {
    Aes128(AesForward<128>),
    Aes256(AesForward<256>),
    ChaCha20(Isa, Key),
}

impl HeaderProtectionKey {
    /// Expands `key`, for packets that `algorithm` protects: AES-128-GCM (16 bytes), AES-256-GCM or
    /// ChaCha20-Poly1305 (32 bytes).
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other algorithms, [`Error::KeyLength`].
    pub fn new(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, KeyError> {
        let refused = |reason| KeyError::of_key(algorithm, key, reason);
        Ok(Self(match algorithm {
            Algorithm::AES_128_GCM => {
                MaskKey::Aes128(AesForward::<128>::new(isa, array(key).map_err(refused)?))
            }
            Algorithm::AES_256_GCM => {
                MaskKey::Aes256(AesForward::<256>::new(isa, array(key).map_err(refused)?))
            }
            Algorithm::CHACHA20_POLY1305 => {
                MaskKey::ChaCha20(isa, array::<32>(key).map_err(refused)?.into())
            }
            _ => return Err(refused(Error::Unsupported)),
        }))
    }

    /// The mask of a packet whose ciphertext has this sample.
    #[must_use]
    #[inline]
    pub fn mask(&self, sample: &[u8; 16]) -> [u8; 5] {
        let front = match &self.0 {
            MaskKey::Aes128(cipher) => cipher.front(sample),
            MaskKey::Aes256(cipher) => cipher.front(sample),
            MaskKey::ChaCha20(isa, key) => chacha::front(*isa, key, sample),
        };
        first_five(front.to_le_bytes())
    }

    /// Makes the masks of many packets. Each item is a key, a sample, and the place for the mask.
    ///
    /// Masks of ChaCha20 are made in lanes, whatever their keys are. Masks of AES are too short to
    /// gain from that. Keys of both may be mixed.
    #[inline]
    pub fn masks<'a>(packets: impl IntoIterator<Item = (&'a Self, &'a [u8; 16], &'a mut [u8; 5])>) {
        let mut side_by_side = SideBySide { blocks: ArrayVec::new(), masks: ArrayVec::new() };
        let mut level = None;
        for (key, sample, mask) in packets {
            match &key.0 {
                MaskKey::ChaCha20(isa, key) if *level.get_or_insert(*isa) == *isa => {
                    side_by_side.blocks.push((key, sample));
                    side_by_side.masks.push(mask);
                    if side_by_side.blocks.is_full() {
                        side_by_side.make(*isa);
                    }
                }
                _ => *mask = key.mask(sample),
            }
        }
        if let Some(isa) = level {
            side_by_side.make(isa);
        }
    }
}

/// Masks of ChaCha20 that have not been made yet.
struct SideBySide<'a> {
    blocks: ArrayVec<(&'a Key, &'a [u8; 16]), 16>,
    masks: ArrayVec<&'a mut [u8; 5], 16>,
}

impl SideBySide<'_> {
    #[inline(never)]
    fn make(&mut self, isa: Isa) {
        let mut masks = [[0; 8]; 16];
        chacha::header_masks(isa, &self.blocks, &mut masks);
        for (mask, front) in self.masks.drain(..).zip(masks) {
            let [first @ .., _, _, _] = front;
            *mask = first;
        }
        self.blocks.clear();
    }
}

#[inline]
fn first_five([a, b, c, d, e, ..]: [u8; 8]) -> [u8; 5] {
    [a, b, c, d, e]
}

impl fmt::Debug for HeaderProtectionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeaderProtectionKey").finish_non_exhaustive()
    }
}

// Every expanded key wipes itself.
impl ZeroizeOnDrop for HeaderProtectionKey {}
