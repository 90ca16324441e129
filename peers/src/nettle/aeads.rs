//! Ciphers of nettle 3 with authentication. A message takes four calls on a context that the caller
//! holds: nonce, associated data, data and tag. The caller also compares tags.

use core::ffi::c_void;

use super::{Authenticated, AuthenticatedContext, Nettle, SetNonce};
use crate::aead::same;
use crate::{Aead, Failed, Packet, Peer, Sealing, lengths};

pub(super) fn all(found: &Result<&'static Nettle, String>) -> [Peer<dyn Aead>; 3] {
    let peer = |algorithm, cipher: fn(&Nettle) -> Authenticated| {
        Peer::keyed(["nettle", "direct", algorithm], found, move |library, _, key| {
            let context = Box::new(AuthenticatedContext([0; 5120]));
            let (key_len, _) = lengths(algorithm).ok_or(Failed)?;
            let mut made = AeadSession { context, cipher: cipher(library), key_len };
            made.key(key)?;
            Ok(made)
        })
    };
    [
        peer("aes-128-gcm", |library| library.gcm_aes128),
        peer("aes-256-gcm", |library| library.gcm_aes256),
        peer("chacha20-poly1305", |library| library.chacha_poly1305),
    ]
}

/// A context with its key.
struct AeadSession {
    context: Box<AuthenticatedContext>,
    cipher: Authenticated,
    key_len: usize,
}

impl AeadSession {
    #[inline]
    fn context(&mut self) -> *mut c_void {
        (&raw mut *self.context).cast()
    }

    /// Sets the nonce and takes the associated data.
    #[inline]
    fn start(&mut self, packet: &Packet<'_>) -> Result<(), Failed> {
        let &Packet { nonce, aad, .. } = packet;
        Failed::unless(nonce.len() == 12)?;
        let context = self.context();
        match self.cipher.set_nonce {
            // SAFETY: the context has a key; 12 bytes are read.
            SetNonce::Fixed(set) => unsafe { set(context, nonce.as_ptr()) },
            // SAFETY: as above.
            SetNonce::Sized(set) => unsafe { set(context, 12, nonce.as_ptr()) },
        }
        // SAFETY: the context has a key and a nonce; as many bytes are read as there are.
        unsafe { (self.cipher.update)(context, aad.len(), aad.as_ptr()) };
        Ok(())
    }

    #[inline]
    fn tag(&mut self) -> [u8; 16] {
        let mut tag = [0; 16];
        // SAFETY: the context has a message; 16 bytes are written.
        unsafe { (self.cipher.digest)(self.context(), 16, tag.as_mut_ptr()) };
        tag
    }
}

impl Sealing for AeadSession {
    #[inline]
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        self.start(packet)?;
        let Packet { data, tag, .. } = packet;
        let bytes = data.as_mut_ptr();
        // SAFETY: the context has a key and a nonce; the data are as long as said; in place is
        // allowed.
        unsafe { (self.cipher.encrypt)(self.context(), data.len(), bytes, bytes) };
        **tag = self.tag();
        Ok(())
    }

    #[inline]
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        Failed::unless(packet.data.len() == packet.sealed.len())?;
        self.start(packet)?;
        let Packet { data: out, sealed, tag, .. } = packet;
        let to = out.as_mut_ptr();
        // SAFETY: the context has a key and a nonce; both buffers are as long as said.
        unsafe { (self.cipher.decrypt)(self.context(), sealed.len(), to, sealed.as_ptr()) };
        Failed::unless(same(&self.tag(), tag))
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        Failed::unless(key.len() == self.key_len)?;
        // SAFETY: the context is large enough; as many bytes are read as the cipher's key has.
        unsafe { (self.cipher.set_key)(self.context(), key.as_ptr()) };
        Ok(())
    }
}
