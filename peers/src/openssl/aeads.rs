//! Peer: ciphers of OpenSSL with authentication, by its EVP interface.
//!
//! `evp` keeps a context and the fetched cipher; a message takes five calls: nonce, associated
//! data, data, end and tag. `evp-oneshot` makes a context for each message and names the cipher by
//! `EVP_aes_128_gcm()`, which OpenSSL 3 and later look up anew each time. Programs written for
//! OpenSSL 1 do this. With AES-SIV, which takes no second message under a key, `evp` sets the key
//! for each message.

use core::ffi::CStr;
use std::sync::Arc;

use lanecrypt_libcrypto::{AeadCipher, AeadContext, Error, Libcrypto, SivCipher, SivContext};

use super::{library, newest, way};
use crate::peer::Versioned;
use crate::{Aead, Direction, Failed, Packet, Peer, PeerLibraries, Sealing};

/// Algorithms by our names and by OpenSSL's.
const ALGORITHMS: [(&str, &CStr); 5] = [
    ("aes-128-gcm", c"AES-128-GCM"),
    ("aes-256-gcm", c"AES-256-GCM"),
    // From OpenSSL 3.2 on.
    ("aes-128-gcm-siv", c"AES-128-GCM-SIV"),
    ("aes-256-gcm-siv", c"AES-256-GCM-SIV"),
    ("chacha20-poly1305", c"ChaCha20-Poly1305"),
];

/// The system's build, and that of `make peers` as the newest.
pub(super) fn all(libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
    let builds = [
        ("evp", "evp-oneshot", library(libraries)),
        ("evp-newest", "evp-oneshot-newest", newest(libraries)),
    ];
    let mut peers = Vec::new();
    for (kept, once, build) in builds {
        for (algorithm, name) in ALGORITHMS {
            let found = |cipher: fn(Libcrypto, &CStr) -> Result<AeadCipher, Error>| {
                let libcrypto = build.clone()?;
                let cipher = cipher(libcrypto, name)
                    .map_err(|_| format!("OpenSSL {} has no {algorithm}", libcrypto.version()))?;
                Ok(Found { libcrypto, cipher: Arc::new(cipher) })
            };
            // Before 3.0 there is nothing to fetch.
            let fetched = found(|libcrypto, name| {
                libcrypto.fetch_aead(name).or_else(|_| libcrypto.named_aead(name))
            });
            let named = found(|libcrypto, name| libcrypto.named_aead(name));
            peers.push(Peer::keyed(["openssl", kept, algorithm], &fetched, Evp::new));
            peers.push(Peer::keyed(["openssl", once, algorithm], &named, OneShot::new));
        }
        for (algorithm, name) in [("aes-siv-256", c"AES-128-SIV"), ("aes-siv-512", c"AES-256-SIV")]
        {
            let found = build.clone().and_then(|libcrypto| {
                let cipher = libcrypto.fetch_siv(name);
                let cipher = cipher
                    .map_err(|_| format!("OpenSSL {} has no {algorithm}", libcrypto.version()))?;
                Ok(FoundSiv { libcrypto, cipher: Arc::new(cipher) })
            });
            peers.push(Peer::keyed(["openssl", kept, algorithm], &found, Siv::new));
        }
    }
    peers
}

/// An algorithm in a build.
#[derive(Clone)]
struct Found {
    libcrypto: Libcrypto,
    cipher: Arc<AeadCipher>,
}

impl Versioned for Found {
    fn version(&self) -> String {
        self.libcrypto.version().to_owned()
    }
}

/// AES-SIV in a build.
#[derive(Clone)]
struct FoundSiv {
    libcrypto: Libcrypto,
    cipher: Arc<SivCipher>,
}

impl Versioned for FoundSiv {
    fn version(&self) -> String {
        self.libcrypto.version().to_owned()
    }
}

/// A key of up to 64 bytes.
struct Key {
    bytes: [u8; 64],
    len: usize,
}

impl Key {
    #[inline]
    fn new(cipher: &AeadCipher, key: &[u8]) -> Result<Self, Failed> {
        Self::of(cipher.key_length(), key)
    }

    #[inline]
    fn of(len: usize, key: &[u8]) -> Result<Self, Failed> {
        Failed::unless(key.len() == len)?;
        let mut bytes = [0; 64];
        bytes.get_mut(..len).ok_or(Failed)?.copy_from_slice(key);
        Ok(Self { bytes, len })
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// A context with its key.
struct Evp {
    context: AeadContext,
    /// A key that the next message sets, in one call with its nonce, because that is cheaper than
    /// two.
    next: Option<Key>,
    key_len: usize,
}

impl Evp {
    fn new(found: &Found, direction: Direction, key: &[u8]) -> Result<Self, Failed> {
        let context = found.cipher.context(way(direction), key).map_err(|_| Failed)?;
        Ok(Self { context, next: None, key_len: found.cipher.key_length() })
    }
}

impl Sealing for Evp {
    #[inline]
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data, tag, .. } = packet;
        match self.next.take() {
            None => self.context.seal(nonce, aad, data, tag),
            Some(key) => self.context.seal_rekeyed(key.bytes(), nonce, aad, data, tag),
        }
        .map_err(|_| Failed)
    }

    #[inline]
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data: out, sealed, tag, .. } = packet;
        match self.next.take() {
            None => self.context.open(nonce, aad, sealed, tag, out),
            Some(key) => self.context.open_rekeyed(key.bytes(), nonce, aad, sealed, tag, out),
        }
        .map_err(|_| Failed)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.next = Some(Key::of(self.key_len, key)?);
        Ok(())
    }
}

/// A key, and the name of the cipher that each message looks up.
struct OneShot {
    cipher: Arc<AeadCipher>,
    key: Key,
}

impl OneShot {
    fn new(found: &Found, _: Direction, key: &[u8]) -> Result<Self, Failed> {
        Ok(Self { key: Key::new(&found.cipher, key)?, cipher: Arc::clone(&found.cipher) })
    }
}

impl Sealing for OneShot {
    #[inline]
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data, tag, .. } = packet;
        self.cipher.seal(self.key.bytes(), nonce, aad, data, tag).map_err(|_| Failed)
    }

    #[inline]
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data: out, sealed, tag, .. } = packet;
        self.cipher.open(self.key.bytes(), nonce, aad, sealed, tag, out).map_err(|_| Failed)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.key = Key::new(&self.cipher, key)?;
        Ok(())
    }
}

/// A context, and the key that each message sets. The strings are the associated data and the
/// nonce.
struct Siv {
    context: SivContext,
    key: Key,
}

impl Siv {
    fn new(found: &FoundSiv, direction: Direction, key: &[u8]) -> Result<Self, Failed> {
        let context = found.cipher.context(way(direction)).map_err(|_| Failed)?;
        Ok(Self { context, key: Key::of(found.cipher.key_length(), key)? })
    }
}

impl Sealing for Siv {
    #[inline]
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data, tag, .. } = packet;
        Failed::unless(nonce.len() == 16)?;
        self.context.seal(self.key.bytes(), &[*aad, *nonce], data, tag).map_err(|_| Failed)
    }

    #[inline]
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data: out, sealed, tag, .. } = packet;
        Failed::unless(nonce.len() == 16)?;
        self.context.open(self.key.bytes(), &[*aad, *nonce], sealed, tag, out).map_err(|_| Failed)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.key = Key::of(self.key.len, key)?;
        Ok(())
    }
}
