//! AES-GCM by functions that take one message. The caller compares tags.

use super::{Gcm, GcmKey, GcmMessage, GcmState, IpsecMb, Manager};
use crate::aead::same;
use crate::peer::Versioned;
use crate::{Aead, Failed, Packet, Peer, Sealing, lengths};

pub(super) fn direct(
    found: &Result<&'static IpsecMb, String>,
    algorithm: &'static str,
) -> Peer<dyn Aead> {
    // A manager is needed only to find the functions.
    let found = found.clone().and_then(|library| {
        let functions = Manager::new(library).and_then(|manager| {
            let (key_len, _) = lengths(algorithm)?;
            Some((manager.gcm(key_len)?, key_len))
        });
        let hint = || "IPsec-MB makes no manager here".to_owned();
        functions.map(|functions| Functions { library, functions }).ok_or_else(hint)
    });
    Peer::keyed(["ipsec-mb", "direct", algorithm], &found, |found, _, key| {
        let (functions, key_len) = found.functions;
        AeadSession::new(functions, key_len, key)
    })
}

/// The functions for keys of this many bytes.
#[derive(Clone)]
struct Functions {
    library: &'static IpsecMb,
    functions: (Gcm, usize),
}

impl Versioned for Functions {
    fn version(&self) -> String {
        self.library.version()
    }
}

/// A key of AES-GCM.
struct AeadSession {
    key: Box<GcmKey>,
    state: GcmState,
    functions: Gcm,
    key_len: usize,
}

impl AeadSession {
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
        // SAFETY: the key has been expanded; nonce, associated data and tag have the given lengths;
        // and the caller guarantees the data.
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

impl Sealing for AeadSession {
    #[inline]
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data, tag, .. } = packet;
        let (function, bytes) = (self.functions.encrypt, data.as_mut_ptr());
        // SAFETY: the data are as long as said, at one place.
        unsafe { self.message(function, [nonce, aad], bytes, bytes, data.len(), tag) }
    }

    #[inline]
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data, sealed, tag, .. } = packet;
        Failed::unless(data.len() == sealed.len())?;
        let (mut right, to, from) = ([0; 16], data.as_mut_ptr(), sealed.as_ptr());
        let function = self.functions.decrypt;
        // SAFETY: both buffers are as long as said.
        unsafe { self.message(function, [nonce, aad], to, from, sealed.len(), &mut right) }?;
        Failed::unless(same(&right, tag))
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        Failed::unless(key.len() == self.key_len)?;
        // SAFETY: the functions are those for this length.
        unsafe { self.functions.expand(key, &mut self.key) };
        Ok(())
    }
}
