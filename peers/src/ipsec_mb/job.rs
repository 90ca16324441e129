//! Jobs: the description of a message for a manager.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::{Direction, Failed};

/// `IMB_STATUS_COMPLETED`.
const COMPLETED: c_int = 3;
/// `IMB_DIR_ENCRYPT`, and `IMB_ORDER_CIPHER_HASH`.
const ENCRYPT: c_int = 1;
/// `IMB_DIR_DECRYPT`, and `IMB_ORDER_HASH_CIPHER`.
const DECRYPT: c_int = 2;

/// An algorithm with the library's numbers for it.
#[derive(Clone, Copy)]
pub(super) struct Algorithm {
    pub(super) cipher: c_int,
    hash: c_int,
    pub(super) key_len: u8,
    pub(super) iv_len: u8,
}

impl Algorithm {
    /// `IMB_CIPHER_CBC` without a hash, `IMB_AUTH_NULL`.
    pub(super) const AES_CBC: Self = Self { cipher: 1, hash: 8, key_len: 16, iv_len: 16 };
    /// `IMB_CIPHER_CNTR`.
    pub(super) const AES_CTR: Self = Self { cipher: 2, hash: 8, key_len: 16, iv_len: 16 };
    /// `IMB_CIPHER_DES`, which is in CBC.
    pub(super) const DES_CBC: Self = Self { cipher: 7, hash: 8, key_len: 8, iv_len: 8 };
    /// `IMB_CIPHER_DES3`, which is in CBC.
    pub(super) const TRIPLE_DES_CBC: Self = Self { cipher: 10, hash: 8, key_len: 24, iv_len: 8 };
    /// `IMB_CIPHER_GCM` and `IMB_AUTH_AES_GMAC`.
    pub(super) const AES_128_GCM: Self = Self { cipher: 5, hash: 9, key_len: 16, iv_len: 12 };
    /// The same.
    pub(super) const AES_256_GCM: Self = Self { key_len: 32, ..Self::AES_128_GCM };
    /// `IMB_CIPHER_CHACHA20_POLY1305` and `IMB_AUTH_CHACHA20_POLY1305`.
    pub(super) const CHACHA20_POLY1305: Self =
        Self { cipher: 19, hash: 29, key_len: 32, iv_len: 12 };

    /// Bytes of an IV or nonce; of AES and DES also of a block.
    #[inline]
    pub(super) const fn block(self) -> usize {
        self.iv_len as usize
    }

    /// Whether this is counter mode.
    #[inline]
    pub(super) const fn counts(self) -> bool {
        self.cipher == Self::AES_CTR.cipher
    }
}

/// The library's number for a direction.
#[inline]
pub(super) const fn number(direction: Direction) -> c_int {
    match direction {
        Direction::Encrypt => ENCRYPT,
        Direction::Decrypt => DECRYPT,
    }
}

/// `IMB_JOB`. Fields that the algorithms here do not use keep their values.
#[derive(Clone)]
#[repr(C)]
pub(super) struct Job {
    encrypt_key: *const c_void,
    decrypt_key: *const c_void,
    key_len: u64,
    src: *const u8,
    dst: *mut u8,
    offset: u64,
    len: u64,
    hash_offset: u64,
    hash_len: u64,
    iv: *const u8,
    iv_len: u64,
    tag: *mut u8,
    tag_len: u64,
    aad: *const u8,
    aad_len: u64,
    context: *mut c_void,
    status: c_int,
    cipher: c_int,
    direction: c_int,
    hash: c_int,
    order: c_int,
    rest: [u64; 6],
}

const _: () = assert!(size_of::<Job>() == 200);

impl Job {
    pub(super) const EMPTY: Self = Self {
        encrypt_key: ptr::null(),
        decrypt_key: ptr::null(),
        key_len: 0,
        src: ptr::null(),
        dst: ptr::null_mut(),
        offset: 0,
        len: 0,
        hash_offset: 0,
        hash_len: 0,
        iv: ptr::null(),
        iv_len: 0,
        tag: ptr::null_mut(),
        tag_len: 0,
        aad: ptr::null(),
        aad_len: 0,
        context: ptr::null_mut(),
        status: 0,
        cipher: 0,
        direction: 0,
        hash: 0,
        order: 0,
        rest: [0; 6],
    };

    /// Describes the data to encrypt or decrypt.
    #[inline]
    pub(super) const fn algorithm(&mut self, algorithm: Algorithm, direction: Direction) {
        self.key_len = algorithm.key_len as u64;
        self.iv_len = algorithm.iv_len as u64;
        self.offset = 0;
        self.cipher = algorithm.cipher;
        self.direction = number(direction);
        self.hash = algorithm.hash;
        self.order = self.direction;
    }

    /// Describes a message of `len` bytes, under a key for encryption and for decryption.
    #[inline]
    pub(super) const fn message(
        &mut self,
        [encrypt, decrypt]: [*const c_void; 2],
        iv: &[u8],
        from: *const u8,
        to: *mut u8,
        len: usize,
    ) {
        self.encrypt_key = encrypt;
        self.decrypt_key = decrypt;
        self.src = from;
        self.dst = to;
        self.len = len as u64;
        self.iv = iv.as_ptr();
    }

    /// Describes the associated data and the place of the tag, which is written in both directions,
    /// not compared.
    #[inline]
    pub(super) fn authenticated(&mut self, aad: &[u8], tag: *mut [u8; 16]) {
        self.hash_offset = 0;
        self.hash_len = self.len;
        self.tag = tag.cast();
        self.tag_len = 16;
        self.aad = aad.as_ptr();
        // A store of its own. The compiler would copy pointer and length by one store of 16 bytes,
        // and the library, which loads them one by one, would wait for it in a batch of one.
        // SAFETY: the field is borrowed here.
        unsafe { (&raw mut self.aad_len).write_volatile(aad.len() as u64) };
        self.context = ptr::null_mut();
    }

    #[inline]
    pub(super) fn completed(&self) -> Result<(), Failed> {
        Failed::unless(self.status == COMPLETED)
    }
}

// SAFETY: the pointers are used inside calls only, which set them first.
unsafe impl Send for Job {}
