//! Ciphers of libgcrypt, by handles that are kept. A message with authentication takes four calls:
//! nonce, associated data, data and tag.

use core::ffi::{c_int, c_uint, c_void};
use core::hint::black_box;
use core::ptr::{self, NonNull};

use super::{Libgcrypt, NAME};
use crate::peer::{Kind, Session};
use crate::{Aead, Cipher, Crypt, Direction, Failed, Packet, Peer, Sealing};

/// `GCRY_CIPHER_MODE_CBC`.
const CBC: c_int = 3;
/// `GCRY_CIPHER_MODE_STREAM`.
const STREAM: c_int = 4;
/// `GCRY_CIPHER_MODE_CTR`.
const CTR: c_int = 6;
/// `GCRY_CIPHER_MODE_GCM`.
const GCM: c_int = 9;
/// `GCRY_CIPHER_MODE_POLY1305`.
const POLY1305: c_int = 10;
/// `GCRY_CIPHER_MODE_XTS`.
const XTS: c_int = 13;

/// An algorithm with the library's numbers for it and for its mode.
#[derive(Clone, Copy)]
struct Numbered {
    algorithm: &'static str,
    cipher: c_int,
    mode: c_int,
}

const RAW: [Numbered; 9] = [
    Numbered { algorithm: "aes-128-cbc", cipher: 7, mode: CBC },
    Numbered { algorithm: "aes-128-ctr", cipher: 7, mode: CTR },
    Numbered { algorithm: "aes-128-xts", cipher: 7, mode: XTS },
    Numbered { algorithm: "aes-256-xts", cipher: 9, mode: XTS },
    Numbered { algorithm: "serpent-128-cbc", cipher: 304, mode: CBC },
    Numbered { algorithm: "serpent-128-ctr", cipher: 304, mode: CTR },
    Numbered { algorithm: "des-cbc", cipher: 302, mode: CBC },
    Numbered { algorithm: "3des-cbc", cipher: 2, mode: CBC },
    Numbered { algorithm: "chacha20-ietf", cipher: 316, mode: STREAM },
];

const AEADS: [Numbered; 3] = [
    Numbered { algorithm: "aes-128-gcm", cipher: 7, mode: GCM },
    Numbered { algorithm: "aes-256-gcm", cipher: 9, mode: GCM },
    Numbered { algorithm: "chacha20-poly1305", cipher: 316, mode: POLY1305 },
];

/// The ciphers of an instance.
pub(super) fn raw(
    api: &'static str,
    found: &Result<&'static Libgcrypt, String>,
) -> impl Iterator<Item = Peer<dyn Cipher>> {
    RAW.into_iter().map(move |numbered| peer(api, found, numbered))
}

/// The ciphers with authentication.
pub(super) fn aeads(
    api: &'static str,
    found: &Result<&'static Libgcrypt, String>,
) -> impl Iterator<Item = Peer<dyn Aead>> {
    AEADS.into_iter().map(move |numbered| peer(api, found, numbered))
}

fn peer<T: Kind + ?Sized + 'static>(
    api: &'static str,
    found: &Result<&'static Libgcrypt, String>,
    numbered: Numbered,
) -> Peer<T>
where
    Handle: Session<T>,
{
    Peer::keyed([NAME, api, numbered.algorithm], found, move |library, direction, key| {
        Handle::new(library, numbered, direction, key)
    })
}

/// A cipher with its key (`gcry_cipher_hd_t`).
struct Handle {
    handle: NonNull<c_void>,
    library: &'static Libgcrypt,
    set_iv: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_uint,
    crypt: unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *const c_void, usize) -> c_uint,
    key_len: usize,
    iv_len: usize,
    numbered: Numbered,
    direction: Direction,
    /// Whether the data unit has been processed: the library would continue with the next tweak.
    ended: bool,
}

impl Handle {
    #[inline]
    fn new(
        library: &'static Libgcrypt,
        numbered: Numbered,
        direction: Direction,
        key: &[u8],
    ) -> Result<Self, Failed> {
        let (key_len, iv_len) = crate::lengths(numbered.algorithm).ok_or(Failed)?;
        let functions = &library.ciphers;
        let mut handle = ptr::null_mut();
        // SAFETY: the handle has a place; without flags it lies in ordinary memory.
        let status =
            unsafe { (functions.open)(&raw mut handle, numbered.cipher, numbered.mode, 0) };
        Failed::unless(status == 0)?;
        let handle = NonNull::new(handle).ok_or(Failed)?;
        let set_iv = if numbered.mode == CTR { functions.set_counter } else { functions.set_iv };
        let crypt = match direction {
            Direction::Encrypt => functions.encrypt,
            Direction::Decrypt => functions.decrypt,
        };
        let ended = false;
        let mut made =
            Self { handle, library, set_iv, crypt, key_len, iv_len, numbered, direction, ended };
        made.set_key(key)?;
        Ok(made)
    }

    /// Sets the nonce and takes the associated data.
    #[inline]
    fn begin(&mut self, packet: &Packet<'_>) -> Result<(), Failed> {
        let &Packet { nonce, aad, .. } = packet;
        Failed::unless(nonce.len() == 12)?;
        let (functions, handle) = (&self.library.ciphers, self.handle.as_ptr());
        // SAFETY: the handle is open; as many bytes are read as there are.
        let status = unsafe { (functions.set_iv)(handle, nonce.as_ptr().cast(), nonce.len()) };
        Failed::unless(status == 0)?;
        if aad.is_empty() {
            return Ok(());
        }
        // SAFETY: as above.
        let status = unsafe { (functions.authenticate)(handle, aad.as_ptr().cast(), aad.len()) };
        Failed::unless(status == 0)
    }

    #[inline]
    fn set_key(&mut self, key: &[u8]) -> Result<(), Failed> {
        Failed::unless(key.len() == self.key_len)?;
        // SAFETY: the handle is open; as many bytes are read as there are.
        let status = unsafe {
            (self.library.ciphers.set_key)(self.handle.as_ptr(), key.as_ptr().cast(), key.len())
        };
        Failed::unless(status == 0)
    }
}

impl Crypt for Handle {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        Failed::unless(iv.len() == self.iv_len)?;
        self.ended = false;
        // SAFETY: the handle is open; as many bytes are read as there are.
        let status = unsafe { (self.set_iv)(self.handle.as_ptr(), iv.as_ptr().cast(), iv.len()) };
        Failed::unless(status == 0)
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        if self.numbered.mode == XTS {
            Failed::unless(!self.ended && data.len() >= 16)?;
            self.ended = true;
        }
        // SAFETY: the handle is open; without an input, as many bytes are read and written at the
        // one place as there are.
        let status = unsafe {
            (self.crypt)(self.handle.as_ptr(), data.as_mut_ptr().cast(), data.len(), ptr::null(), 0)
        };
        Failed::unless(status == 0)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.set_key(key)
    }

    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        let mut other = Self::new(self.library, self.numbered, self.direction, key)?;
        Crypt::start(&mut other, iv)?;
        black_box(other);
        Ok(())
    }
}

impl Sealing for Handle {
    #[inline]
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        self.begin(packet)?;
        let Packet { data, tag, .. } = packet;
        let (functions, handle) = (&self.library.ciphers, self.handle.as_ptr());
        // SAFETY: the handle is open; without an input, as many bytes are read and written at the
        // one place as there are.
        let status = unsafe {
            (functions.encrypt)(handle, data.as_mut_ptr().cast(), data.len(), ptr::null(), 0)
        };
        Failed::unless(status == 0)?;
        // SAFETY: the handle is open; 16 bytes are written.
        let status = unsafe { (functions.get_tag)(handle, tag.as_mut_ptr().cast(), 16) };
        Failed::unless(status == 0)
    }

    #[inline]
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        Failed::unless(packet.data.len() == packet.sealed.len())?;
        self.begin(packet)?;
        let Packet { data: out, sealed, tag, .. } = packet;
        let (functions, handle) = (&self.library.ciphers, self.handle.as_ptr());
        // SAFETY: the handle is open; as many bytes are read and written as there are.
        let status = unsafe {
            (functions.decrypt)(
                handle,
                out.as_mut_ptr().cast(),
                out.len(),
                sealed.as_ptr().cast(),
                sealed.len(),
            )
        };
        Failed::unless(status == 0)?;
        // SAFETY: the handle is open; 16 bytes are read.
        let status = unsafe { (functions.check_tag)(handle, tag.as_ptr().cast(), 16) };
        Failed::unless(status == 0)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.set_key(key)
    }
}

impl Drop for Handle {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the handle is open, and has no other owner.
        unsafe { (self.library.ciphers.close)(self.handle.as_ptr()) };
    }
}

// SAFETY: a handle belongs to no thread; it is only used through `&mut`.
unsafe impl Send for Handle {}
