//! Records of TLS 1.2: AES-GCM (RFC 5288) and ChaCha20-Poly1305 (RFC 7905).

use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, KeyBlockShape, MessageDecrypter,
    MessageEncrypter, NONCE_LEN, OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload,
    Tls12AeadAlgorithm, UnsupportedOperationError, make_tls12_aad,
};
use rustls::{ConnectionTrafficSecrets, Error};

use crate::aead::{Aead, Keyed, TAG_LENGTH, Typed, keyed};
use crate::tls13::LONGEST;

/// The protection of records, by cipher.
pub(crate) struct Records(pub(crate) Aead);

impl Records {
    /// The bytes of a nonce that each record carries in front.
    const fn explicit(&self) -> usize {
        match self.0 {
            Aead::Aes128Gcm | Aead::Aes256Gcm => Gcm::EXPLICIT,
            Aead::ChaCha20Poly1305 => ChaCha20::EXPLICIT,
        }
    }
}

impl Tls12AeadAlgorithm for Records {
    fn encrypter(&self, key: AeadKey, iv: &[u8], extra: &[u8]) -> Box<dyn MessageEncrypter> {
        let iv = nonce_mask(iv, extra);
        keyed!(self.0, Gcm, ChaCha20, &key, &iv)
    }

    fn decrypter(&self, key: AeadKey, iv: &[u8]) -> Box<dyn MessageDecrypter> {
        keyed!(self.0, Gcm, ChaCha20, &key, iv)
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        KeyBlockShape {
            enc_key_len: self.0.key_length(),
            fixed_iv_len: NONCE_LEN - self.explicit(),
            explicit_nonce_len: self.explicit(),
        }
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: &[u8],
        explicit: &[u8],
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Ok(self.0.secrets(key, Iv::new(nonce_mask(iv, explicit))))
    }
}

/// What the number of a record is combined with: GCM's explicit part begins anywhere, too.
fn nonce_mask(fixed: &[u8], explicit: &[u8]) -> [u8; NONCE_LEN] {
    let mut mask = [0; NONCE_LEN];
    mask.iter_mut().zip(fixed.iter().chain(explicit)).for_each(|(to, from)| *to = *from);
    mask
}

/// How the nonce of a record is known to the other side.
pub(crate) trait Explicit: Send + Sync + Sized {
    /// The last bytes of the nonce, which the record has in front.
    const EXPLICIT: usize;

    /// The nonce of a record that has come.
    fn nonce_of<C: Typed>(keyed: &Keyed<C, Self>, number: u64, record: &[u8]) -> [u8; NONCE_LEN];
}

/// AES-GCM: the record names its nonce.
struct Gcm;

impl Explicit for Gcm {
    const EXPLICIT: usize = 8;

    #[inline]
    fn nonce_of<C: Typed>(keyed: &Keyed<C, Self>, _number: u64, record: &[u8]) -> [u8; NONCE_LEN] {
        let [salt @ .., _, _, _, _, _, _, _, _] = keyed.iv();
        nonce_mask(salt, record)
    }
}

/// ChaCha20-Poly1305: the nonce follows from the record's number, as in TLS 1.3.
struct ChaCha20;

impl Explicit for ChaCha20 {
    const EXPLICIT: usize = 0;

    #[inline]
    fn nonce_of<C: Typed>(keyed: &Keyed<C, Self>, number: u64, _record: &[u8]) -> [u8; NONCE_LEN] {
        keyed.nonce(number)
    }
}

impl<C: Typed, P: Explicit> MessageEncrypter for Keyed<C, P> {
    fn encrypt(
        &mut self,
        msg: OutboundPlainMessage<'_>,
        seq: u64,
    ) -> Result<OutboundOpaqueMessage, Error> {
        let length = msg.payload.len();
        if length > LONGEST {
            return Err(Error::EncryptError);
        }
        let nonce = self.nonce(seq);
        let mut payload = PrefixedPayload::with_capacity(self.encrypted_payload_len(length));
        payload.extend_from_slice(&nonce[NONCE_LEN - P::EXPLICIT..]);
        payload.extend_from_chunks(&msg.payload);
        payload.extend_from_slice(&[0; TAG_LENGTH]);

        let aad = make_tls12_aad(seq, msg.typ, msg.version, length);
        let (data, tag) = payload.as_mut()[P::EXPLICIT..].split_at_mut(length);
        self.seal(&nonce, &aad, data, tag)?;
        Ok(OutboundOpaqueMessage::new(msg.typ, msg.version, payload))
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        P::EXPLICIT + payload_len + TAG_LENGTH
    }
}

impl<C: Typed, P: Explicit> MessageDecrypter for Keyed<C, P> {
    fn decrypt<'a>(
        &mut self,
        mut msg: InboundOpaqueMessage<'a>,
        seq: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let overhead = P::EXPLICIT + TAG_LENGTH;
        let length = msg.payload.len().checked_sub(overhead).ok_or(Error::DecryptError)?;
        let nonce = P::nonce_of(self, seq, &msg.payload);
        let aad = make_tls12_aad(seq, msg.typ, msg.version, length);
        self.open(&nonce, &aad, &mut msg.payload[P::EXPLICIT..])?;
        if length > LONGEST {
            return Err(Error::PeerSentOversizedRecord);
        }
        // The range, not a move to the front: the message stays where it was decrypted.
        Ok(msg.into_plain_message_range(P::EXPLICIT..P::EXPLICIT + length))
    }
}
