//! Ciphers of nettle 3.
//!
//! The API is minimal: the caller holds a key schedule and an IV; there are no checks and no
//! further context. Counter mode and ChaCha20 drop the rest of a partial block, so that a message
//! can be split only between blocks; this peer refuses calls that would be wrong.

use core::ffi::c_void;

use super::{Blocks, Cipher, Context, Nettle, SetKey, Xts};
use crate::{Cipher as AnyCipher, Crypt, Direction, Failed, Peer};

pub(super) fn all(found: &Result<&'static Nettle, String>) -> Vec<Peer<dyn AnyCipher>> {
    vec![
        peer("aes-128-cbc", found, Aes::new),
        ctr("aes-128-ctr", found, |library| library.aes128),
        xts("aes-128-xts", found, |library| library.xts_aes128),
        xts("aes-256-xts", found, |library| library.xts_aes256),
        cbc("serpent-128-cbc", found, |library| library.serpent128),
        ctr("serpent-128-ctr", found, |library| library.serpent128),
        cbc("des-cbc", found, |library| library.des),
        cbc("3des-cbc", found, |library| library.des3),
        peer("chacha20-ietf", found, |library, _, key| ChaCha::new(library, key)),
    ]
}

fn peer<C: Crypt + Send + 'static>(
    algorithm: &'static str,
    found: &Result<&'static Nettle, String>,
    open: impl Fn(&Nettle, Direction, &[u8]) -> Result<C, Failed> + Send + Sync + 'static,
) -> Peer<dyn AnyCipher> {
    Peer::keyed(["nettle", "direct", algorithm], found, move |library, direction, key| {
        open(library, direction, key)
    })
}

fn cbc(
    algorithm: &'static str,
    found: &Result<&'static Nettle, String>,
    cipher: fn(&Nettle) -> Cipher,
) -> Peer<dyn AnyCipher> {
    peer(algorithm, found, move |library, direction, key| {
        Blockwise::chain(library, cipher(library), direction, algorithm, key)
    })
}

fn ctr(
    algorithm: &'static str,
    found: &Result<&'static Nettle, String>,
    cipher: fn(&Nettle) -> Cipher,
) -> Peer<dyn AnyCipher> {
    peer(algorithm, found, move |library, _, key| {
        Blockwise::counter(library, cipher(library), algorithm, key)
    })
}

fn xts(
    algorithm: &'static str,
    found: &Result<&'static Nettle, String>,
    cipher: fn(&Nettle) -> Xts,
) -> Peer<dyn AnyCipher> {
    peer(algorithm, found, move |library, direction, key| {
        DataUnits::new(cipher(library), direction, algorithm, key)
    })
}

/// A key schedule, and the function that makes it.
struct Schedule {
    context: Context,
    key_len: usize,
    set_key: SetKey,
}

impl Schedule {
    fn new(algorithm: &str, set_key: SetKey, key: &[u8]) -> Result<Self, Failed> {
        let (key_len, _) = crate::lengths(algorithm).ok_or(Failed)?;
        let mut made = Self { context: Context([0; 576]), key_len, set_key };
        made.set(key)?;
        Ok(made)
    }

    #[inline]
    fn set(&mut self, key: &[u8]) -> Result<(), Failed> {
        Failed::unless(key.len() == self.key_len)?;
        // SAFETY: the key has the algorithm's length; in XTS that is the length of two keys.
        unsafe { self.set_key.call(&mut self.context, key) };
        Ok(())
    }
}

/// A block cipher in a mode, which calls it by its address.
struct Blockwise {
    schedule: Schedule,
    iv: [u8; 16],
    /// The cipher's block size, which is also the IV's.
    block: usize,
    blocks: Blocks,
    mode: unsafe extern "C" fn(*const c_void, Blocks, usize, *mut u8, usize, *mut u8, *const u8),
    /// Whether partial blocks are allowed, at the end of a message.
    parts: bool,
    /// Whether the message has ended, with a partial block.
    ended: bool,
}

impl Blockwise {
    fn chain(
        library: &Nettle,
        cipher: Cipher,
        direction: Direction,
        algorithm: &str,
        key: &[u8],
    ) -> Result<Self, Failed> {
        let (set_key, blocks, mode) = match direction {
            Direction::Encrypt => (cipher.set_encrypt_key, cipher.encrypt, library.cbc_encrypt),
            Direction::Decrypt => (cipher.set_decrypt_key, cipher.decrypt, library.cbc_decrypt),
        };
        let schedule = Schedule::new(algorithm, set_key, key)?;
        let (_, block) = crate::lengths(algorithm).ok_or(Failed)?;
        Ok(Self { schedule, iv: [0; 16], block, blocks, mode, parts: false, ended: false })
    }

    fn counter(
        library: &Nettle,
        cipher: Cipher,
        algorithm: &str,
        key: &[u8],
    ) -> Result<Self, Failed> {
        let mut made = Self::chain(library, cipher, Direction::Encrypt, algorithm, key)?;
        (made.mode, made.parts) = (library.ctr_crypt, true);
        Ok(made)
    }
}

impl Crypt for Blockwise {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        // With an IV of 16 bytes, which is almost always the case, the array's length is known.
        if let (16, Ok(iv)) = (self.block, iv.try_into()) {
            self.iv = iv;
        } else {
            Failed::unless(iv.len() == self.block)?;
            self.iv[..self.block].copy_from_slice(iv);
        }
        self.ended = false;
        Ok(())
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        let part = data.len() & (self.block - 1) != 0;
        if self.ended || (part && !self.parts) {
            return Err(Failed);
        }
        self.ended = part;
        let bytes = data.as_mut_ptr();
        // SAFETY: the context has been expanded for these blocks, of this size; IV and data are
        // as long as they are said to be; in place is allowed.
        unsafe {
            (self.mode)(
                (&raw const self.schedule.context).cast(),
                self.blocks,
                self.block,
                self.iv.as_mut_ptr(),
                data.len(),
                bytes,
                bytes,
            );
        }
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.schedule.set(key)
    }
}

/// AES-128 in CBC, whose encryption has a separate function since 3.8.
struct Aes {
    cipher: Blockwise,
    cbc: Option<unsafe extern "C" fn(*const c_void, *mut u8, usize, *mut u8, *const u8)>,
}

impl Aes {
    fn new(library: &Nettle, direction: Direction, key: &[u8]) -> Result<Self, Failed> {
        let cipher = Blockwise::chain(library, library.aes128, direction, "aes-128-cbc", key)?;
        let cbc = library.cbc_aes128_encrypt.filter(|_| direction == Direction::Encrypt);
        Ok(Self { cipher, cbc })
    }
}

impl Crypt for Aes {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.cipher.iv = iv.try_into().map_err(|_| Failed)?;
        Ok(())
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        let Some(cbc) = self.cbc else { return self.cipher.next(data) };
        Failed::unless(data.len().is_multiple_of(16))?;
        let bytes = data.as_mut_ptr();
        // SAFETY: the context has been expanded for AES-128; the IV has 16 bytes, the data are as
        // long as said; in place is allowed.
        unsafe {
            cbc(
                (&raw const self.cipher.schedule.context).cast(),
                self.cipher.iv.as_mut_ptr(),
                data.len(),
                bytes,
                bytes,
            );
        }
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.cipher.key(key)
    }
}

/// A block cipher in XTS: a message is one call, with its tweak.
struct DataUnits {
    schedule: Schedule,
    tweak: [u8; 16],
    crypt: unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut u8, *const u8),
    /// Whether the data unit has been processed.
    ended: bool,
}

impl DataUnits {
    fn new(cipher: Xts, direction: Direction, algorithm: &str, key: &[u8]) -> Result<Self, Failed> {
        let (set_key, crypt) = match direction {
            Direction::Encrypt => (cipher.set_encrypt_key, cipher.encrypt),
            Direction::Decrypt => (cipher.set_decrypt_key, cipher.decrypt),
        };
        let schedule = Schedule::new(algorithm, set_key, key)?;
        Ok(Self { schedule, tweak: [0; 16], crypt, ended: false })
    }
}

impl Crypt for DataUnits {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.tweak = iv.try_into().map_err(|_| Failed)?;
        self.ended = false;
        Ok(())
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        Failed::unless(!self.ended && data.len() >= 16)?;
        self.ended = true;
        let bytes = data.as_mut_ptr();
        let context = (&raw mut self.schedule.context).cast();
        // SAFETY: the context has two expanded keys; the tweak has 16 bytes; the data are as long
        // as said, and no shorter than the function takes; in place is allowed.
        unsafe { (self.crypt)(context, self.tweak.as_ptr(), data.len(), bytes, bytes) };
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.schedule.set(key)
    }
}

/// ChaCha20 as in RFC 8439.
struct ChaCha {
    context: Context,
    set_key: unsafe extern "C" fn(*mut c_void, *const u8),
    set_nonce: unsafe extern "C" fn(*mut c_void, *const u8),
    crypt: unsafe extern "C" fn(*mut c_void, usize, *mut u8, *const u8),
    /// Whether the message has ended, with a partial block.
    ended: bool,
}

impl ChaCha {
    fn new(library: &Nettle, key: &[u8]) -> Result<Self, Failed> {
        let (set_key, set_nonce) = (library.chacha_set_key, library.chacha_set_nonce96);
        let (context, crypt) = (Context([0; 576]), library.chacha_crypt32);
        let mut made = Self { context, set_key, set_nonce, crypt, ended: true };
        made.key(key)?;
        Ok(made)
    }
}

impl Crypt for ChaCha {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        Failed::unless(iv.len() == 12)?;
        // SAFETY: the context is large enough; 12 bytes are read.
        unsafe { (self.set_nonce)((&raw mut self.context).cast(), iv.as_ptr()) };
        self.ended = false;
        Ok(())
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        Failed::unless(!self.ended)?;
        self.ended = !data.len().is_multiple_of(64);
        let bytes = data.as_mut_ptr();
        // SAFETY: the context has a key and a nonce; the data are as long as said; in place is
        // allowed.
        unsafe { (self.crypt)((&raw mut self.context).cast(), data.len(), bytes, bytes) };
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        Failed::unless(key.len() == 32)?;
        // SAFETY: the context is large enough; 32 bytes are read.
        unsafe { (self.set_key)((&raw mut self.context).cast(), key.as_ptr()) };
        self.ended = true;
        Ok(())
    }
}
