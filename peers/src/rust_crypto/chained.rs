//! The crates `cbc` and `hmac`, one after the other: AES-128-CBC, then HMAC-SHA-256 of what it
//! made. Both keep their keys.

use aes::Aes128;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::ciphers::Chain;
use crate::aead::same;
use crate::{Aead, Crypt, Direction, Failed, Packet, Peer, Sealing};

// As in `aeads`: tests/peers/crate_versions.rs holds them to the lock file.
const VERSIONS: &str = "aes 0.9.4, cbc 0.2.1, hmac 0.13.0, sha2 0.11.1";

/// The length of the code's key, which comes first.
const MAC_KEY: usize = 32;

pub(super) fn peer() -> Peer<dyn Aead> {
    let names = ["rustcrypto", "crate", "aes-128-cbc+hmac-sha256"];
    Peer::keyed(names, &Ok(VERSIONS), |_, direction, key| EncryptThenMac::new(direction, key))
}

/// A cipher and a code, each with its key.
struct EncryptThenMac {
    cipher: Chain<Aes128>,
    mac: Hmac<Sha256>,
}

impl EncryptThenMac {
    fn new(direction: Direction, key: &[u8]) -> Result<Self, Failed> {
        let (mac, key) = split(key)?;
        Ok(Self { cipher: Chain::new(direction, key)?, mac })
    }

    #[inline]
    fn code(&self, nonce: &[u8], aad: &[u8], text: &[u8]) -> [u8; 16] {
        let mut mac = self.mac.clone();
        for part in [aad, nonce, text, &(8 * aad.len() as u64).to_be_bytes()] {
            mac.update(part);
        }
        let code: [u8; 32] = mac.finalize().into_bytes().into();
        *code.first_chunk().expect("half of it")
    }
}

/// The code with its key, and the cipher's key.
#[inline]
fn split(key: &[u8]) -> Result<(Hmac<Sha256>, &[u8]), Failed> {
    let (mac, key) = key.split_at_checked(MAC_KEY).ok_or(Failed)?;
    Ok((Hmac::new_from_slice(mac).map_err(|_| Failed)?, key))
}

impl Sealing for EncryptThenMac {
    #[inline]
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data, tag, .. } = packet;
        self.cipher.start(nonce)?;
        self.cipher.next(data)?;
        **tag = self.code(nonce, aad, data);
        Ok(())
    }

    #[inline]
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data: out, sealed, tag, .. } = packet;
        Failed::unless(out.len() == sealed.len())?;
        Failed::unless(same(&self.code(nonce, aad, sealed), tag))?;
        out.copy_from_slice(sealed);
        self.cipher.start(nonce)?;
        self.cipher.next(out)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        let (mac, key) = split(key)?;
        self.mac = mac;
        self.cipher.key(key)
    }
}
