//! Peer: ciphers of OpenSSL that authenticate, by its EVP interface.
//!
//! `evp` keeps a context and the fetched cipher; a message is the nonce, the associated data, the
//! data, the end and the tag, five calls. `evp-oneshot` makes a context for each message and names
//! the cipher as `EVP_aes_128_gcm()` does, which OpenSSL 3 and later look up anew each time: what
//! programs do that were written for OpenSSL 1.

use core::ffi::CStr;
use std::sync::Arc;

use lanecrypt_libcrypto::{AeadCipher, AeadContext, Direction as Way, Libcrypto};

use crate::{AeadPeer, Direction, Failed, PeerLibraries, Sealing, openssl};

/// As we and as OpenSSL call an algorithm.
const ALGORITHMS: [(&str, &CStr); 3] = [
    ("aes-128-gcm", c"AES-128-GCM"),
    ("aes-256-gcm", c"AES-256-GCM"),
    ("chacha20-poly1305", c"ChaCha20-Poly1305"),
];

/// The system's build, and that of `make peers` as the newest.
pub(crate) fn aeads(libraries: &PeerLibraries) -> Vec<AeadPeer> {
    let builds = [
        ("evp", "evp-oneshot", openssl::library(libraries)),
        ("evp-newest", "evp-oneshot-newest", openssl::newest(libraries)),
    ];
    let mut peers = Vec::new();
    for (kept, once, build) in builds {
        for (algorithm, name) in ALGORITHMS {
            let (kept, once) = (["openssl", kept, algorithm], ["openssl", once, algorithm]);
            match &build {
                Ok(libcrypto) => peers.extend(found(*libcrypto, name, kept, once)),
                Err(hint) => peers.extend([kept, once].map(|names| AeadPeer::missing(names, hint))),
            }
        }
    }
    peers
}

fn found(
    libcrypto: Libcrypto,
    name: &CStr,
    kept: [&'static str; 3],
    once: [&'static str; 3],
) -> [AeadPeer; 2] {
    let missing = |names| {
        let hint = format!("OpenSSL {} was built without it", libcrypto.version());
        AeadPeer::missing(names, &hint)
    };
    // Before 3.0 there is nothing to fetch.
    let fetched = libcrypto.fetch_aead(name).or_else(|_| libcrypto.named_aead(name));
    let version = || libcrypto.version().to_owned();
    [
        fetched.map_or_else(
            |_| missing(kept),
            |cipher| AeadPeer::tried(kept, version(), move |way, key| Evp::new(&cipher, way, key)),
        ),
        libcrypto.named_aead(name).map_or_else(
            |_| missing(once),
            |cipher| {
                let cipher = Arc::new(cipher);
                AeadPeer::tried(once, version(), move |_, key| {
                    Ok(OneShot { key: Key::new(&cipher, key)?, cipher: Arc::clone(&cipher) })
                })
            },
        ),
    ]
}

/// A key of up to 32 bytes.
struct Key {
    bytes: [u8; 32],
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
        let mut bytes = [0; 32];
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
    /// A key that the next message sets, in one call with its nonce, which is cheaper than two.
    next: Option<Key>,
    key_len: usize,
}

impl Evp {
    fn new(cipher: &AeadCipher, direction: Direction, key: &[u8]) -> Result<Self, Failed> {
        let way = match direction {
            Direction::Encrypt => Way::Encrypt,
            Direction::Decrypt => Way::Decrypt,
        };
        let context = cipher.context(way, key).map_err(|_| Failed)?;
        Ok(Self { context, next: None, key_len: cipher.key_length() })
    }
}

impl Sealing for Evp {
    #[inline]
    fn seal(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Failed> {
        match self.next.take() {
            None => self.context.seal(nonce, aad, data, tag),
            Some(key) => self.context.seal_rekeyed(key.bytes(), nonce, aad, data, tag),
        }
        .map_err(|_| Failed)
    }

    #[inline]
    fn open(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Failed> {
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

impl Sealing for OneShot {
    #[inline]
    fn seal(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Failed> {
        self.cipher.seal(self.key.bytes(), nonce, aad, data, tag).map_err(|_| Failed)
    }

    #[inline]
    fn open(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Failed> {
        self.cipher.open(self.key.bytes(), nonce, aad, sealed, tag, out).map_err(|_| Failed)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.key = Key::new(&self.cipher, key)?;
        Ok(())
    }
}
