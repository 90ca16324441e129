//! Peer: AES-GCM and ChaCha20-Poly1305 of Intel's IPsec-MB, without checks.
//!
//! AES-GCM is one function a message (`direct`). ChaCha20-Poly1305 is fastest as a job (`job`),
//! which is done at once, because it has no lanes. Comparing tags is the caller's.

use core::ffi::c_int;

use crate::aeads::same;
use crate::crypt::rounds;
use crate::ipsec_mb::{
    self, ChaChaMessage, DECRYPT, ENCRYPT, Gcm, GcmKey, GcmMessage, GcmState, IpsecMb, Manager,
};
use crate::{Aead, AeadPeer, Failed, Packet, PeerLibraries, Sealing};

pub(crate) fn aeads(libraries: &PeerLibraries) -> [AeadPeer; 3] {
    let library = ipsec_mb::library(libraries);
    [("direct", "aes-128-gcm"), ("direct", "aes-256-gcm"), ("job", "chacha20-poly1305")].map(
        |(api, algorithm)| {
            let names = ["ipsec-mb", api, algorithm];
            let library = match &library {
                Ok(library) => *library,
                Err(hint) => return AeadPeer::missing(names, hint),
            };
            let version = library.version.clone();
            if api == "job" {
                return AeadPeer::made(names, version, move |_, keys| {
                    Some(Box::new(Jobs::new(library, keys)?))
                });
            }
            // The functions need no manager once it has named them.
            let functions = Manager::new(library).and_then(|manager| {
                let (key_len, _) = crate::aead_lengths(algorithm)?;
                Some((manager.gcm(key_len)?, key_len))
            });
            let Some((functions, key_len)) = functions else {
                return AeadPeer::missing(names, "IPsec-MB makes no manager here");
            };
            AeadPeer::tried(names, version, move |_, key| Keyed::new(functions, key_len, key))
        },
    )
}

/// A key of AES-GCM.
struct Keyed {
    key: Box<GcmKey>,
    state: GcmState,
    functions: Gcm,
    key_len: usize,
}

impl Keyed {
    fn new(functions: Gcm, key_len: usize, key: &[u8]) -> Result<Self, Failed> {
        let expanded = Box::new(GcmKey::EMPTY);
        let mut made = Self { key: expanded, state: GcmState::EMPTY, functions, key_len };
        made.key(key)?;
        Ok(made)
    }

    /// Runs a message and writes its tag.
    ///
    /// # Safety
    ///
    /// `to` and `from` have `len` bytes; they are the same or do not overlap.
    #[inline]
    unsafe fn message(
        &mut self,
        function: GcmMessage,
        [nonce, aad]: [&[u8]; 2],
        to: *mut u8,
        from: *const u8,
        len: usize,
        tag: &mut [u8; 16],
    ) -> Result<(), Failed> {
        Failed::unless(nonce.len() == 12)?;
        // SAFETY: the key has been expanded; nonce, associated data and tag are as long as said,
        // and the caller vouches for the data.
        unsafe {
            (function.0)(
                &raw const *self.key,
                &raw mut self.state,
                to,
                from,
                len as u64,
                nonce.as_ptr(),
                aad.as_ptr(),
                aad.len() as u64,
                tag.as_mut_ptr(),
                16,
            );
        }
        Ok(())
    }
}

impl Sealing for Keyed {
    #[inline]
    fn seal(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Failed> {
        let (function, bytes) = (self.functions.encrypt, data.as_mut_ptr());
        // SAFETY: the data are as long as said, at one place.
        unsafe { self.message(function, [nonce, aad], bytes, bytes, data.len(), tag) }
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
        Failed::unless(out.len() == sealed.len())?;
        let (mut right, to, from) = ([0; 16], out.as_mut_ptr(), sealed.as_ptr());
        let function = self.functions.decrypt;
        // SAFETY: both buffers are as long as said.
        unsafe { self.message(function, [nonce, aad], to, from, sealed.len(), &mut right) }?;
        Failed::unless(same(&right, tag))
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        Failed::unless(key.len() == self.key_len)?;
        // SAFETY: as many bytes are read as the key has, and the place has room.
        unsafe { (self.functions.expand.0)(key.as_ptr(), &raw mut *self.key) };
        Ok(())
    }
}

/// Sessions of ChaCha20-Poly1305 that share a manager.
struct Jobs {
    manager: Manager,
    keys: Vec<[u8; 32]>,
}

impl Jobs {
    fn new(library: &'static IpsecMb, keys: &[&[u8]]) -> Option<Self> {
        if keys.is_empty() {
            return None;
        }
        let keys = keys.iter().map(|&key| key.try_into()).collect::<Result<_, _>>().ok()?;
        Some(Self { manager: Manager::new(library)?, keys })
    }

    /// Goes through the batch; before each packet, `rekey` may set a key.
    #[inline]
    fn run(
        &mut self,
        batch: &mut [Packet<'_>],
        requests: usize,
        direction: c_int,
        mut rekey: impl FnMut(&mut [u8; 32]) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        rounds(batch.len(), requests, |count| {
            for packet in &mut batch[..count] {
                let key = self.keys.get_mut(packet.session).ok_or(Failed)?;
                rekey(key)?;
                let nonce = packet.nonce.try_into().map_err(|_| Failed)?;
                let (len, to) = (packet.data.len(), packet.data.as_mut_ptr());
                let mut made = [0; 16];
                let from = if direction == ENCRYPT {
                    to.cast_const()
                } else {
                    Failed::unless(packet.sealed.len() == len)?;
                    packet.sealed.as_ptr()
                };
                let (aad, tag) = (packet.aad, &mut made);
                let message = ChaChaMessage { key, nonce, aad, from, to, len, tag };
                // SAFETY: both buffers are as long as said, or are one.
                let done = unsafe { self.manager.chacha20_poly1305(message, direction) };
                Failed::unless(done)?;
                if direction == ENCRYPT {
                    *packet.tag = made;
                } else {
                    Failed::unless(same(&made, packet.tag))?;
                }
            }
            Ok(())
        })
    }
}

/// Sets the keys of `keys` in turn.
#[inline]
fn in_turn(keys: &[&[u8]]) -> impl FnMut(&mut [u8; 32]) -> Result<(), Failed> {
    let mut keys = keys.iter().cycle();
    move |place| {
        *place = (*keys.next().ok_or(Failed)?).try_into().map_err(|_| Failed)?;
        Ok(())
    }
}

impl Aead for Jobs {
    fn seal(&mut self, batch: &mut [Packet<'_>], requests: usize) -> Result<(), Failed> {
        self.run(batch, requests, ENCRYPT, |_| Ok(()))
    }

    fn seal_rekeyed(
        &mut self,
        batch: &mut [Packet<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        self.run(batch, requests, ENCRYPT, in_turn(keys))
    }

    fn open(&mut self, batch: &mut [Packet<'_>], requests: usize) -> Result<(), Failed> {
        self.run(batch, requests, DECRYPT, |_| Ok(()))
    }

    fn open_rekeyed(
        &mut self,
        batch: &mut [Packet<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        self.run(batch, requests, DECRYPT, in_turn(keys))
    }
}
