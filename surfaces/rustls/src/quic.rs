//! Packets of QUIC (RFC 9001, section 5) and their headers.

use lanecrypt_ciphers::Isa;
use lanecrypt_ciphers::hazmat;
use rustls::Error;
use rustls::crypto::cipher::{AeadKey, Iv, NONCE_LEN};
use rustls::quic::{Algorithm, HeaderProtectionKey, PacketKey, Tag};

use crate::aead::{Aead, Keyed, TAG_LENGTH, Typed, keyed};

/// The bytes of a sample, with every cipher here.
const SAMPLE_LENGTH: usize = 16;

/// The protection of packets, by cipher.
pub(crate) struct Packets(pub(crate) Aead);

impl Algorithm for Packets {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        keyed!(self.0, Gcm, ChaCha20, &key, iv.as_ref())
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        let algorithm = self.0.algorithm();
        Box::new(Headers(
            hazmat::HeaderProtectionKey::new(Isa::detect(), algorithm, key.as_ref()).ok(),
        ))
    }

    fn aead_key_len(&self) -> usize {
        self.0.key_length()
    }
}

/// How many packets one key may protect (RFC 9001, section 6.6).
pub(crate) trait Limits: Send + Sync {
    /// The most packets that may be sealed.
    const CONFIDENTIALITY: u64;
    /// The most packets that may fail to be opened.
    const INTEGRITY: u64;
}

/// AES-GCM.
struct Gcm;

impl Limits for Gcm {
    const CONFIDENTIALITY: u64 = 1 << 23;
    const INTEGRITY: u64 = 1 << 52;
}

/// ChaCha20-Poly1305: more packets than QUIC can number.
struct ChaCha20;

impl Limits for ChaCha20 {
    const CONFIDENTIALITY: u64 = u64::MAX;
    const INTEGRITY: u64 = 1 << 36;
}

impl<C: Typed, P: Limits> Keyed<C, P> {
    #[inline(always)]
    fn seal_packet(
        &self,
        nonce: &[u8; NONCE_LEN],
        header: &[u8],
        payload: &mut [u8],
    ) -> Result<Tag, Error> {
        let mut tag = [0; TAG_LENGTH];
        self.seal(nonce, header, payload, &mut tag)?;
        Ok(Tag::from(&tag[..]))
    }

    #[inline(always)]
    fn open_packet<'a>(
        &self,
        nonce: &[u8; NONCE_LEN],
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        let plain = self.open(nonce, header, payload)?;
        Ok(&payload[..plain])
    }
}

impl<C: Typed, P: Limits> PacketKey for Keyed<C, P> {
    fn encrypt_in_place(
        &self,
        packet_number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> Result<Tag, Error> {
        self.seal_packet(&self.nonce(packet_number), header, payload)
    }

    fn encrypt_in_place_for_path(
        &self,
        path_id: u32,
        packet_number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> Result<Tag, Error> {
        self.seal_packet(&self.nonce_on_path(path_id, packet_number), header, payload)
    }

    fn decrypt_in_place<'a>(
        &self,
        packet_number: u64,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        self.open_packet(&self.nonce(packet_number), header, payload)
    }

    fn decrypt_in_place_for_path<'a>(
        &self,
        path_id: u32,
        packet_number: u64,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        self.open_packet(&self.nonce_on_path(path_id, packet_number), header, payload)
    }

    fn tag_len(&self) -> usize {
        TAG_LENGTH
    }

    fn confidentiality_limit(&self) -> u64 {
        P::CONFIDENTIALITY
    }

    fn integrity_limit(&self) -> u64 {
        P::INTEGRITY
    }
}

/// The protection of headers (RFC 9001, section 5.4); `None` if the key did not have the cipher's
/// length.
struct Headers(Option<hazmat::HeaderProtectionKey>);

impl Headers {
    /// The mask of a packet, if everything about it is right.
    #[inline]
    fn mask(&self, sample: &[u8], packet_number: &[u8]) -> Result<[u8; 5], Error> {
        let key = self.0.as_ref().ok_or_else(|| general("key of invalid length"))?;
        let sample = sample.try_into().map_err(|_| general("sample of invalid length"))?;
        if packet_number.len() > 4 {
            return Err(general("packet number too long"));
        }
        Ok(key.mask(sample))
    }
}

#[cold]
fn general(what: &str) -> Error {
    Error::General(what.into())
}

/// The bits of the first byte that are hidden: four with a long header, five with a short one.
#[inline]
const fn hidden(first: u8) -> u8 {
    if first & 0x80 == 0 { 0x1f } else { 0x0f }
}

/// Hides or shows as many bytes as `first`, which is not hidden, says.
#[inline]
fn apply(mask: &[u8; 5], first: u8, packet_number: &mut [u8]) {
    let length = usize::from(first & 0x03) + 1;
    packet_number.iter_mut().zip(&mask[1..]).take(length).for_each(|(byte, mask)| *byte ^= mask);
}

impl HeaderProtectionKey for Headers {
    fn encrypt_in_place(
        &self,
        sample: &[u8],
        first: &mut u8,
        packet_number: &mut [u8],
    ) -> Result<(), Error> {
        let mask = self.mask(sample, packet_number)?;
        apply(&mask, *first, packet_number);
        *first ^= mask[0] & hidden(*first);
        Ok(())
    }

    fn decrypt_in_place(
        &self,
        sample: &[u8],
        first: &mut u8,
        packet_number: &mut [u8],
    ) -> Result<(), Error> {
        let mask = self.mask(sample, packet_number)?;
        *first ^= mask[0] & hidden(*first);
        apply(&mask, *first, packet_number);
        Ok(())
    }

    fn sample_len(&self) -> usize {
        SAMPLE_LENGTH
    }
}
