//! Peer: ciphers of libgcrypt that authenticate, by handles that are kept. A message is the nonce,
//! the associated data, the data and the tag, four calls.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use crate::libgcrypt::{self, Libgcrypt};
use crate::{AeadPeer, Failed, PeerLibraries, Sealing};

/// `GCRY_CIPHER_MODE_GCM`.
const GCM: c_int = 9;
/// `GCRY_CIPHER_MODE_POLY1305`.
const POLY1305: c_int = 10;

/// An algorithm with the library's numbers for it and for its mode.
#[derive(Clone, Copy)]
struct Numbered {
    algorithm: &'static str,
    cipher: c_int,
    mode: c_int,
}

const ALGORITHMS: [Numbered; 3] = [
    Numbered { algorithm: "aes-128-gcm", cipher: 7, mode: GCM },
    Numbered { algorithm: "aes-256-gcm", cipher: 9, mode: GCM },
    Numbered { algorithm: "chacha20-poly1305", cipher: 316, mode: POLY1305 },
];

/// Without hardware features one is enough to show what these are worth.
pub(crate) fn aeads(libraries: &PeerLibraries) -> Vec<AeadPeer> {
    let with = libgcrypt::library(libraries);
    let mut peers: Vec<AeadPeer> = ALGORITHMS.map(|numbered| peer("gcry", &with, numbered)).into();
    let without = libgcrypt::without_hardware(libraries);
    let [first, ..] = ALGORITHMS;
    peers.push(peer("gcry-nohw", &without, first));
    peers
}

fn peer(
    api: &'static str,
    instance: &Result<&'static Libgcrypt, String>,
    numbered: Numbered,
) -> AeadPeer {
    let names = ["libgcrypt", api, numbered.algorithm];
    match instance {
        Ok(library) => {
            let library = *library;
            AeadPeer::tried(names, library.version.clone(), move |_, key| {
                Handle::new(library, numbered, key)
            })
        }
        Err(hint) => AeadPeer::missing(names, hint),
    }
}

/// A cipher with its key (`gcry_cipher_hd_t`).
struct Handle {
    handle: NonNull<c_void>,
    library: &'static Libgcrypt,
    key_len: usize,
}

impl Handle {
    fn new(library: &'static Libgcrypt, numbered: Numbered, key: &[u8]) -> Result<Self, Failed> {
        let (key_len, _) = crate::aead_lengths(numbered.algorithm).ok_or(Failed)?;
        let mut handle = ptr::null_mut();
        // SAFETY: the handle has a place; without flags it lies in ordinary memory.
        let status =
            unsafe { (library.ciphers.open)(&raw mut handle, numbered.cipher, numbered.mode, 0) };
        Failed::unless(status == 0)?;
        let handle = NonNull::new(handle).ok_or(Failed)?;
        let mut made = Self { handle, library, key_len };
        made.key(key)?;
        Ok(made)
    }

    /// Sets the nonce and takes the associated data.
    #[inline]
    fn start(&mut self, nonce: &[u8], aad: &[u8]) -> Result<(), Failed> {
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
}

impl Sealing for Handle {
    #[inline]
    fn seal(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Failed> {
        self.start(nonce, aad)?;
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
    fn open(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Failed> {
        Failed::unless(out.len() == sealed.len())?;
        self.start(nonce, aad)?;
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
        Failed::unless(key.len() == self.key_len)?;
        // SAFETY: the handle is open; as many bytes are read as there are.
        let status = unsafe {
            (self.library.ciphers.set_key)(self.handle.as_ptr(), key.as_ptr().cast(), key.len())
        };
        Failed::unless(status == 0)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and nobody else's.
        unsafe { (self.library.ciphers.close)(self.handle.as_ptr()) };
    }
}

// SAFETY: a handle belongs to no thread; it is only used through `&mut`.
unsafe impl Send for Handle {}
