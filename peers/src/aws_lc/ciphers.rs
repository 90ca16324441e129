//! Ciphers of AWS-LC, by the EVP interface that it shares with OpenSSL. ChaCha20 has a plain
//! function there, which takes a counter of blocks.

use core::ffi::c_int;
use core::hint::black_box;
use core::ptr::{self, NonNull};

use aws_lc_rs::awslc_version;
use aws_lc_sys::{
    CRYPTO_chacha_20, EVP_CIPHER, EVP_CIPHER_CTX, EVP_CIPHER_CTX_free, EVP_CIPHER_CTX_new,
    EVP_CIPHER_CTX_set_padding, EVP_CipherInit_ex, EVP_DecryptUpdate, EVP_EncryptUpdate,
    EVP_aes_128_cbc, EVP_aes_128_ctr, EVP_aes_256_xts, EVP_des_cbc, EVP_des_ede3_cbc,
};

use crate::{Cipher, Crypt, Direction, Failed, Peer};

/// An algorithm and the function that names it to the library.
#[derive(Clone, Copy)]
struct Named {
    algorithm: &'static str,
    cipher: unsafe extern "C" fn() -> *const EVP_CIPHER,
}

pub(super) fn cipher(names: [&'static str; 3]) -> Peer<dyn Cipher> {
    let [_, _, algorithm] = names;
    let cipher = match algorithm {
        "aes-128-cbc" => EVP_aes_128_cbc,
        "aes-128-ctr" => EVP_aes_128_ctr,
        "aes-256-xts" => EVP_aes_256_xts,
        "des-cbc" => EVP_des_cbc,
        "3des-cbc" => EVP_des_ede3_cbc,
        _ => return Peer::keyed(names, &Ok(awslc_version()), |_, _, key| ChaCha::new(key)),
    };
    let named = Named { algorithm, cipher };
    Peer::keyed(names, &Ok(awslc_version()), move |_, way, key| Evp::keyed(named, way, key))
}

/// A context with its key.
struct Evp {
    context: NonNull<EVP_CIPHER_CTX>,
    update:
        unsafe extern "C" fn(*mut EVP_CIPHER_CTX, *mut u8, *mut c_int, *const u8, c_int) -> c_int,
    key_len: usize,
    iv_len: usize,
    /// The block in bytes, for modes of whole blocks; 1 in counter mode and in XTS.
    block: usize,
    /// Whether a message is one call, of at least 16 bytes: XTS.
    whole: bool,
    /// Whether that call has been made.
    ended: bool,
    named: Named,
    direction: Direction,
}

/// Keeps the direction of a context.
const SAME_DIRECTION: c_int = -1;

impl Evp {
    fn keyed(named: Named, direction: Direction, key: &[u8]) -> Result<Self, Failed> {
        let (_, iv_len) = crate::lengths(named.algorithm).ok_or(Failed)?;
        let iv = [0; 16];
        Self::new(named, direction, key, iv.get(..iv_len).ok_or(Failed)?)
    }

    #[inline]
    fn new(named: Named, direction: Direction, key: &[u8], iv: &[u8]) -> Result<Self, Failed> {
        let (key_len, iv_len) = crate::lengths(named.algorithm).ok_or(Failed)?;
        let whole = named.algorithm.ends_with("xts");
        let block = if whole || named.algorithm.ends_with("ctr") { 1 } else { iv_len };
        let (update, number): (unsafe extern "C" fn(_, _, _, _, _) -> _, _) = match direction {
            Direction::Encrypt => (EVP_EncryptUpdate, 1),
            Direction::Decrypt => (EVP_DecryptUpdate, 0),
        };
        // SAFETY: takes no arguments.
        let context = NonNull::new(unsafe { EVP_CIPHER_CTX_new() }).ok_or(Failed)?;
        let ended = false;
        let mut made =
            Self { context, update, key_len, iv_len, block, whole, ended, named, direction };
        // SAFETY: takes no arguments.
        let cipher = unsafe { (named.cipher)() };
        made.init(cipher, Some(key), Some(iv), number)?;
        // SAFETY: the context has a cipher.
        Failed::unless(unsafe { EVP_CIPHER_CTX_set_padding(context.as_ptr(), 0) } == 1)?;
        Ok(made)
    }

    /// Sets the arguments that are present: the cipher unless it is null, the key, the IV.
    #[inline]
    fn init(
        &mut self,
        cipher: *const EVP_CIPHER,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
        direction: c_int,
    ) -> Result<(), Failed> {
        Failed::unless(key.is_none_or(|key| key.len() == self.key_len))?;
        Failed::unless(iv.is_none_or(|iv| iv.len() == self.iv_len))?;
        // SAFETY: the context is the library's; key and IV are null or as long as the cipher
        // reads; there are no engines.
        let status = unsafe {
            EVP_CipherInit_ex(
                self.context.as_ptr(),
                cipher,
                ptr::null_mut(),
                key.map_or(ptr::null(), <[u8]>::as_ptr),
                iv.map_or(ptr::null(), <[u8]>::as_ptr),
                direction,
            )
        };
        Failed::unless(status == 1)
    }
}

impl Crypt for Evp {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.ended = false;
        self.init(ptr::null(), None, Some(iv), SAME_DIRECTION)
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        let len = c_int::try_from(data.len()).map_err(|_| Failed)?;
        Failed::unless(data.len() & (self.block - 1) == 0)?;
        if self.whole {
            Failed::unless(!self.ended && len >= 16)?;
            self.ended = true;
        }
        let bytes = data.as_mut_ptr();
        let mut written = 0;
        // SAFETY: the context has a cipher and a key; of whole blocks without padding, as many
        // bytes are written as read, at the same place, which is allowed.
        let status =
            unsafe { (self.update)(self.context.as_ptr(), bytes, &raw mut written, bytes, len) };
        Failed::unless(status == 1 && written == len)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.init(ptr::null(), Some(key), None, SAME_DIRECTION)
    }

    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        black_box(Self::new(self.named, self.direction, key, iv)?);
        Ok(())
    }
}

impl Drop for Evp {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the library made it, and there is no other owner.
        unsafe { EVP_CIPHER_CTX_free(self.context.as_ptr()) };
    }
}

// SAFETY: a context belongs to no thread; it is only used through `&mut`.
unsafe impl Send for Evp {}

/// ChaCha20 as in RFC 8439. A message can be split only between blocks.
struct ChaCha {
    key: [u8; 32],
    nonce: [u8; 12],
    /// The next block; none once the message has ended, with a partial block or at the last
    /// counter.
    counter: Option<u32>,
}

impl ChaCha {
    fn new(key: &[u8]) -> Result<Self, Failed> {
        let key = key.try_into().map_err(|_| Failed)?;
        Ok(Self { key, nonce: [0; 12], counter: None })
    }
}

impl Crypt for ChaCha {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.nonce = iv.try_into().map_err(|_| Failed)?;
        self.counter = Some(0);
        Ok(())
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        let counter = self.counter.ok_or(Failed)?;
        let (blocks, rest) = (data.len() / 64, data.len() % 64);
        let after = u32::try_from(blocks).ok().and_then(|blocks| counter.checked_add(blocks));
        self.counter = if rest == 0 { after } else { None };
        let bytes = data.as_mut_ptr();
        // SAFETY: key and nonce are as long as the function reads, the data as long as said; in
        // place is allowed.
        unsafe {
            CRYPTO_chacha_20(
                bytes,
                bytes,
                data.len(),
                self.key.as_ptr(),
                self.nonce.as_ptr(),
                counter,
            );
        }
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.key = key.try_into().map_err(|_| Failed)?;
        self.counter = None;
        Ok(())
    }
}
