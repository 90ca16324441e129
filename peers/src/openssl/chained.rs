//! Peer: AES-128-CBC of OpenSSL and its HMAC with SHA-256, one after the other: the two calls of
//! programs that chain them. Both contexts are kept.

use std::sync::Arc;

use lanecrypt_libcrypto::{Cipher, Context, HmacSha256, Libcrypto};

use super::{library, newest, way};
use crate::aead::same;
use crate::peer::Versioned;
use crate::{Aead, Direction, Failed, Packet, Peer, PeerLibraries, Sealing};

/// The algorithm, and the length of the code's key, which comes first.
const ALGORITHM: &str = "aes-128-cbc+hmac-sha256";
const MAC_KEY: usize = 32;

/// The system's build, and that of `make peers` as the newest.
pub(super) fn all(libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
    let builds = [("evp", library(libraries)), ("evp-newest", newest(libraries))];
    let peer = |(api, build): (_, Result<Libcrypto, String>)| {
        let found = build.and_then(|libcrypto| {
            let name = c"AES-128-CBC";
            // Before 3.0 there is nothing to fetch.
            let cipher = libcrypto.fetch(name).or_else(|_| libcrypto.named(name));
            let missing = |_| format!("OpenSSL {} has no {ALGORITHM}", libcrypto.version());
            let cipher = Arc::new(cipher.map_err(missing)?);
            libcrypto.hmac_sha256(&[1; MAC_KEY]).map_err(missing)?;
            Ok(Found { libcrypto, cipher })
        });
        Peer::keyed(["openssl", api, ALGORITHM], &found, TwoCalls::new)
    };
    builds.into_iter().map(peer).collect()
}

/// The cipher in a build.
#[derive(Clone)]
struct Found {
    libcrypto: Libcrypto,
    cipher: Arc<Cipher>,
}

impl Versioned for Found {
    fn version(&self) -> String {
        self.libcrypto.version().to_owned()
    }
}

/// A context of each, with its key.
struct TwoCalls {
    cipher: Context,
    mac: HmacSha256,
}

impl TwoCalls {
    fn new(found: &Found, direction: Direction, key: &[u8]) -> Result<Self, Failed> {
        let (mac, key) = key.split_at_checked(MAC_KEY).ok_or(Failed)?;
        let cipher = found.cipher.context(way(direction), key, &[0; 16]).map_err(|_| Failed)?;
        let mac = found.libcrypto.hmac_sha256(mac).map_err(|_| Failed)?;
        Ok(Self { cipher, mac })
    }

    #[inline]
    fn code(&mut self, nonce: &[u8], aad: &[u8], text: &[u8]) -> Result<[u8; 16], Failed> {
        let bits = (8 * aad.len() as u64).to_be_bytes();
        let code = self.mac.code(&[aad, nonce, text, &bits]).map_err(|_| Failed)?;
        code.first_chunk().copied().ok_or(Failed)
    }
}

impl Sealing for TwoCalls {
    #[inline]
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data, tag, .. } = packet;
        self.cipher.set_iv(nonce).map_err(|_| Failed)?;
        self.cipher.update(data).map_err(|_| Failed)?;
        **tag = self.code(nonce, aad, data)?;
        Ok(())
    }

    #[inline]
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data: out, sealed, tag, .. } = packet;
        Failed::unless(out.len() == sealed.len())?;
        let code = self.code(nonce, aad, sealed)?;
        Failed::unless(same(&code, tag))?;
        out.copy_from_slice(sealed);
        self.cipher.set_iv(nonce).map_err(|_| Failed)?;
        self.cipher.update(out).map_err(|_| Failed)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        let (mac, key) = key.split_at_checked(MAC_KEY).ok_or(Failed)?;
        self.cipher.set_key(key).map_err(|_| Failed)?;
        self.mac.set_key(mac).map_err(|_| Failed)
    }
}
