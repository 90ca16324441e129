//! The crates `aes-gcm`, `aes-gcm-siv`, `aes-siv` and `chacha20poly1305`: packets are sealed in
//! place, and opened from one buffer to another.

use aes_gcm::{Aes128Gcm, Aes256Gcm};
use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
use aes_siv::{Aes128SivAead, Aes256SivAead};
use chacha20poly1305::aead::inout::InOutBuf;
use chacha20poly1305::aead::{AeadInOut, Key, KeyInit, Nonce, Tag};
use chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};

use super::chained;
use crate::{Aead, Failed, Packet, Peer, Sealing};

// A crate's version cannot be asked for, so they stand here; tests/peers/crate_versions.rs holds
// them to the lock file.
const GCM: &str = "aes-gcm 0.11.1, aes 0.9.4";
const SIV: &str = "aes-siv 0.8.0, aes 0.9.4";
const GCM_SIV: &str = "aes-gcm-siv 0.12.1, aes 0.9.4";
const CHACHA: &str = "chacha20poly1305 0.11.0, chacha20 0.10.2";

pub(super) fn all() -> [Peer<dyn Aead>; 9] {
    [
        peer::<Aes128Gcm>("aes-128-gcm", GCM),
        peer::<Aes256Gcm>("aes-256-gcm", GCM),
        peer::<Aes128SivAead>("aes-siv-256", SIV),
        peer::<Aes256SivAead>("aes-siv-512", SIV),
        peer::<Aes128GcmSiv>("aes-128-gcm-siv", GCM_SIV),
        peer::<Aes256GcmSiv>("aes-256-gcm-siv", GCM_SIV),
        peer::<ChaCha20Poly1305>("chacha20-poly1305", CHACHA),
        peer::<XChaCha20Poly1305>("xchacha20-poly1305", CHACHA),
        chained::peer(),
    ]
}

fn peer<C: AeadInOut + KeyInit + Send + 'static>(
    algorithm: &'static str,
    versions: &'static str,
) -> Peer<dyn Aead> {
    Peer::keyed(["rustcrypto", "crate", algorithm], &Ok(versions), |_, _, key| {
        keyed::<C>(key).map(AeadSession)
    })
}

/// A cipher with its key.
struct AeadSession<C>(C);

#[inline]
fn keyed<C: KeyInit>(key: &[u8]) -> Result<C, Failed> {
    let key: &Key<C> = key.try_into().map_err(|_| Failed)?;
    Ok(C::new(key))
}

impl<C: AeadInOut + KeyInit> Sealing for AeadSession<C> {
    #[inline]
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let nonce: &Nonce<C> = packet.nonce.try_into().map_err(|_| Failed)?;
        let data = (&mut *packet.data).into();
        let made = self.0.encrypt_inout_detached(nonce, packet.aad, data).map_err(|_| Failed)?;
        *packet.tag = made.as_slice().try_into().map_err(|_| Failed)?;
        Ok(())
    }

    #[inline]
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let nonce: &Nonce<C> = packet.nonce.try_into().map_err(|_| Failed)?;
        let tag: &Tag<C> = packet.tag.as_slice().try_into().map_err(|_| Failed)?;
        let data = InOutBuf::new(packet.sealed, packet.data).map_err(|_| Failed)?;
        self.0.decrypt_inout_detached(nonce, packet.aad, data, tag).map_err(|_| Failed)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.0 = keyed(key)?;
        Ok(())
    }
}
