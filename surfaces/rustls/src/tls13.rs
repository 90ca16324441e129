//! Records of TLS 1.3 (RFC 8446, section 5.2).

use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter,
    OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls13AeadAlgorithm,
    UnsupportedOperationError, make_tls13_aad,
};
use rustls::{ConnectionTrafficSecrets, ContentType, Error, PeerMisbehaved, ProtocolVersion};

use crate::aead::{Aead, Keyed, TAG_LENGTH, Typed, keyed};

/// The most bytes of plaintext in a record.
pub(crate) const LONGEST: usize = 1 << 14;

/// The most bytes of a protected record: the content may be padded.
const LONGEST_PROTECTED: usize = LONGEST + 256;

/// What a record is longer by: the type of its content and the tag.
const OVERHEAD: usize = 1 + TAG_LENGTH;

/// The protection of records, by cipher.
pub(crate) struct Records(pub(crate) Aead);

impl Tls13AeadAlgorithm for Records {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        keyed!(self.0, Tls13, Tls13, &key, iv.as_ref())
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        keyed!(self.0, Tls13, Tls13, &key, iv.as_ref())
    }

    fn key_len(&self) -> usize {
        self.0.key_length()
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Ok(self.0.secrets(key, iv))
    }
}

/// The protocol.
struct Tls13;

impl<C: Typed> MessageEncrypter for Keyed<C, Tls13> {
    fn encrypt(
        &mut self,
        msg: OutboundPlainMessage<'_>,
        seq: u64,
    ) -> Result<OutboundOpaqueMessage, Error> {
        let length = msg.payload.len();
        if length > LONGEST {
            return Err(Error::EncryptError);
        }
        let mut payload = PrefixedPayload::with_capacity(length + OVERHEAD);
        payload.extend_from_chunks(&msg.payload);
        // The type, and room for the tag.
        let mut end = [0; OVERHEAD];
        end[0] = msg.typ.into();
        payload.extend_from_slice(&end);

        let aad = make_tls13_aad(length + OVERHEAD);
        let (data, tag) = payload.as_mut().split_at_mut(length + 1);
        self.seal(&self.nonce(seq), &aad, data, tag)?;
        let version = ProtocolVersion::TLSv1_2;
        Ok(OutboundOpaqueMessage::new(ContentType::ApplicationData, version, payload))
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        payload_len + OVERHEAD
    }
}

impl<C: Typed> MessageDecrypter for Keyed<C, Tls13> {
    fn decrypt<'a>(
        &mut self,
        mut msg: InboundOpaqueMessage<'a>,
        seq: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let length = msg.payload.len();
        if length > LONGEST_PROTECTED {
            return Err(Error::PeerSentOversizedRecord);
        }
        let inner = self.open(&self.nonce(seq), &make_tls13_aad(length), &mut msg.payload)?;
        if inner > LONGEST + 1 {
            return Err(Error::PeerSentOversizedRecord);
        }
        // Content, its type, and padding. rustls has a method for that, but it changes the message
        // in parts and then moves it as a whole, for which the processor waits each time.
        let Some(end) = msg.payload[..inner].iter().rposition(|&byte| byte != 0) else {
            return Err(PeerMisbehaved::IllegalTlsInnerPlaintext.into());
        };
        let typ = ContentType::from(msg.payload[end]);
        let opened = msg.into_plain_message_range(0..end);
        Ok(InboundPlainMessage { typ, version: ProtocolVersion::TLSv1_3, ..opened })
    }
}
