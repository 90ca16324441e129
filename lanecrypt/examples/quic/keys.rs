//! The keys of packet protection: RFC 9001, sections 5.1 to 5.4.

use hkdf::Hkdf;
use lanecrypt::hazmat::HeaderProtectionKey;
use lanecrypt::{Algorithm, Engine, Error, Isa, Session};
use sha2::Sha256;
use zeroize::Zeroizing;

/// The salt of version 1 (section 5.2); the keys of Initial packets are not secret.
const INITIAL_SALT: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad,
    0xcc, 0xbb, 0x7f, 0x0a,
];

/// A cipher suite of TLS 1.3 with SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suite {
    Aes128Gcm,
    ChaCha20Poly1305,
}

impl Suite {
    pub(crate) fn algorithm(self) -> Algorithm {
        match self {
            Self::Aes128Gcm => Algorithm::AES_128_GCM,
            Self::ChaCha20Poly1305 => Algorithm::CHACHA20_POLY1305,
        }
    }

    fn key_length(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::ChaCha20Poly1305 => 32,
        }
    }
}

/// A TLS traffic secret, from which all keys of one direction are derived.
pub(crate) struct Secret(Zeroizing<[u8; 32]>);

impl Secret {
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The Initial secrets of the client and of the server, from the connection ID that the client
    /// chose for its first packet.
    pub(crate) fn initial(connection_id: &[u8]) -> (Self, Self) {
        let (initial, _) = Hkdf::<Sha256>::extract(Some(&INITIAL_SALT), connection_id);
        let initial = Self::new(initial.into());
        (initial.expand("client in"), initial.expand("server in"))
    }

    fn expand(&self, label: &str) -> Self {
        let mut secret = Zeroizing::new([0; 32]);
        self.expand_label(label, &mut secret[..]);
        Self(secret)
    }

    /// HKDF-Expand-Label (RFC 8446, section 7.1) with an empty context.
    fn expand_label(&self, label: &str, out: &mut [u8]) {
        let byte = |length: usize| u8::try_from(length).expect("labels and keys are short");
        let hkdf = Hkdf::<Sha256>::from_prk(&self.0[..]).expect("as long as a hash");
        let prefix = b"tls13 ";
        let lengths = [0, byte(out.len()), byte(prefix.len() + label.len())];
        hkdf.expand_multi_info(&[&lengths, prefix, label.as_bytes(), &[0]], out)
            .expect("shorter than 255 hashes");
    }
}

/// The keys from a secret, as bytes: two keys and an IV.
pub(crate) struct Material {
    suite: Suite,
    key: Zeroizing<[u8; 32]>,
    header_key: Zeroizing<[u8; 32]>,
    pub(crate) iv: [u8; 12],
}

impl Material {
    pub(crate) fn new(suite: Suite, secret: &Secret) -> Self {
        let mut made = Self {
            suite,
            key: Zeroizing::new([0; 32]),
            header_key: Zeroizing::new([0; 32]),
            iv: [0; 12],
        };
        let length = suite.key_length();
        secret.expand_label("quic key", &mut made.key[..length]);
        secret.expand_label("quic hp", &mut made.header_key[..length]);
        secret.expand_label("quic iv", &mut made.iv);
        made
    }

    pub(crate) fn suite(&self) -> Suite {
        self.suite
    }

    pub(crate) fn key(&self) -> &[u8] {
        &self.key[..self.suite.key_length()]
    }

    pub(crate) fn header_key(&self) -> &[u8] {
        &self.header_key[..self.suite.key_length()]
    }
}

/// The expanded keys of one direction.
pub(crate) struct PacketKeys {
    pub(crate) aead: Session,
    pub(crate) header: HeaderProtectionKey,
    iv: [u8; 12],
}

impl PacketKeys {
    pub(crate) fn new(engine: &Engine, material: &Material) -> Result<Self, Error> {
        let (algorithm, key) = (material.suite.algorithm(), material.header_key());
        let header = HeaderProtectionKey::new(Isa::detect(), algorithm, key)?;
        let aead = engine.session(algorithm, material.key())?;
        Ok(Self { aead, header, iv: material.iv })
    }

    /// The nonce of a packet: its number XORed into the end of the IV (section 5.3).
    pub(crate) fn nonce(&self, number: u64) -> [u8; 12] {
        nonce(&self.iv, number)
    }
}

/// See [`PacketKeys::nonce`].
pub(crate) fn nonce(iv: &[u8; 12], number: u64) -> [u8; 12] {
    let number = u128::from(number).to_be_bytes();
    core::array::from_fn(|at| iv[at] ^ number[4 + at])
}
