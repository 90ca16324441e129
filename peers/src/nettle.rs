//! The functions of libnettle 3.6 to 3.10, whose layouts this file knows.

use core::ffi::{c_int, c_void};

use crate::PeerLibraries;
use crate::library::{Open, Search, Slot};

const SEARCH: Search = Search {
    files: &["libnettle.so.8"],
    hint: "apt install libnettle8 (or --peer-lib nettle=PATH of a libnettle.so of version 3)",
};

/// The versions whose contexts are as large as [`Context`] and its users assume.
const MAJOR: c_int = 3;
const MINORS: core::ops::RangeInclusive<c_int> = 6..=10;

static NETTLE: Slot<Nettle> = Slot::new();

/// The system's libnettle, or that at the given path.
pub(crate) fn library(libraries: &PeerLibraries) -> Result<&'static Nettle, String> {
    NETTLE.open(libraries.path("nettle"), |path| Nettle::find(SEARCH.open(path)?))
}

/// A key schedule, at least as large as that of any cipher here: Serpent's has 528 bytes.
#[repr(C, align(64))]
pub(crate) struct Context(pub(crate) [u8; 576]);

/// Encrypts or decrypts blocks one by one: context, bytes, to, from (`nettle_cipher_func`).
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Blocks(unsafe extern "C" fn(*const c_void, usize, *mut u8, *const u8));

/// An open library, and its functions. What they are given is: context, blocks, block size, IV or
/// counter, bytes, to, from.
pub(crate) struct Nettle {
    pub(crate) version: String,
    pub(crate) cbc_encrypt:
        unsafe extern "C" fn(*const c_void, Blocks, usize, *mut u8, usize, *mut u8, *const u8),
    pub(crate) cbc_decrypt:
        unsafe extern "C" fn(*const c_void, Blocks, usize, *mut u8, usize, *mut u8, *const u8),
    pub(crate) ctr_crypt:
        unsafe extern "C" fn(*const c_void, Blocks, usize, *mut u8, usize, *mut u8, *const u8),
    /// CBC encryption of AES-128 in one function, where the version has it: context, IV, bytes, to,
    /// from.
    pub(crate) cbc_aes128_encrypt:
        Option<unsafe extern "C" fn(*const c_void, *mut u8, usize, *mut u8, *const u8)>,
    pub(crate) aes128: Cipher,
    pub(crate) serpent128: Cipher,
    pub(crate) des: Cipher,
    pub(crate) des3: Cipher,
    pub(crate) chacha_set_key: unsafe extern "C" fn(*mut c_void, *const u8),
    /// A nonce of 12 bytes; sets the counter to zero.
    pub(crate) chacha_set_nonce96: unsafe extern "C" fn(*mut c_void, *const u8),
    /// Context, bytes, to, from. Drops the rest of a last part block.
    pub(crate) chacha_crypt32: unsafe extern "C" fn(*mut c_void, usize, *mut u8, *const u8),
    pub(crate) xts_aes128: Xts,
    pub(crate) xts_aes256: Xts,
    pub(crate) gcm_aes128: Authenticated,
    pub(crate) gcm_aes256: Authenticated,
    pub(crate) chacha_poly1305: Authenticated,
    _library: Open,
}

/// A block cipher.
#[derive(Clone, Copy)]
pub(crate) struct Cipher {
    pub(crate) set_encrypt_key: SetKey,
    pub(crate) set_decrypt_key: SetKey,
    pub(crate) encrypt: Blocks,
    pub(crate) decrypt: Blocks,
}

/// A block cipher in XTS. Its contexts are two schedules; a message is context, tweak, bytes, to,
/// from, and must have 16 bytes at least.
#[derive(Clone, Copy)]
pub(crate) struct Xts {
    pub(crate) set_encrypt_key: SetKey,
    pub(crate) set_decrypt_key: SetKey,
    pub(crate) encrypt: unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut u8, *const u8),
    pub(crate) decrypt: unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut u8, *const u8),
}

/// A context of a cipher that authenticates, larger than any here: AES-256-GCM has 4,400 bytes.
#[repr(C, align(64))]
pub(crate) struct AuthenticatedContext(pub(crate) [u8; 5120]);

/// A cipher that authenticates. What the functions are given is: context, bytes, to, from.
#[derive(Clone, Copy)]
pub(crate) struct Authenticated {
    pub(crate) set_key: unsafe extern "C" fn(*mut c_void, *const u8),
    pub(crate) set_nonce: SetNonce,
    /// Associated data: context, bytes, from.
    pub(crate) update: unsafe extern "C" fn(*mut c_void, usize, *const u8),
    pub(crate) encrypt: unsafe extern "C" fn(*mut c_void, usize, *mut u8, *const u8),
    pub(crate) decrypt: unsafe extern "C" fn(*mut c_void, usize, *mut u8, *const u8),
    /// Context, bytes of the tag, to.
    pub(crate) digest: unsafe extern "C" fn(*mut c_void, usize, *mut u8),
}

/// Begins a message with a nonce of 12 bytes.
#[derive(Clone, Copy)]
pub(crate) enum SetNonce {
    Fixed(unsafe extern "C" fn(*mut c_void, *const u8)),
    /// Also takes the nonce's length, before it.
    Sized(unsafe extern "C" fn(*mut c_void, usize, *const u8)),
}

/// Expands a key of the cipher's length into a context.
#[derive(Clone, Copy)]
pub(crate) enum SetKey {
    Plain(unsafe extern "C" fn(*mut c_void, *const u8)),
    /// Also tells whether the key is a strong one; a weak one is expanded all the same.
    Judging(unsafe extern "C" fn(*mut c_void, *const u8) -> c_int),
}

impl SetKey {
    /// Expands `key` into `context`.
    ///
    /// # Safety
    ///
    /// The key has as many bytes as the function reads.
    #[inline]
    pub(crate) unsafe fn call(self, context: &mut Context, key: &[u8]) {
        let context = (&raw mut *context).cast();
        match self {
            // SAFETY: the context has room for any schedule, and the caller vouches for the key.
            Self::Plain(set_key) => unsafe { set_key(context, key.as_ptr()) },
            Self::Judging(set_key) => {
                // SAFETY: as above.
                unsafe { set_key(context, key.as_ptr()) };
            }
        }
    }
}

impl Nettle {
    fn find(library: Open) -> Result<Self, String> {
        // SAFETY: the type is that of nettle/version.h.
        let major =
            unsafe { library.symbol::<unsafe extern "C" fn() -> c_int>(c"nettle_version_major") }?;
        // SAFETY: the type is that of nettle/version.h.
        let minor =
            unsafe { library.symbol::<unsafe extern "C" fn() -> c_int>(c"nettle_version_minor") }?;
        // SAFETY: takes nothing.
        let major = unsafe { major() };
        // SAFETY: takes nothing.
        let minor = unsafe { minor() };
        if major != MAJOR || !MINORS.contains(&minor) {
            return Err(format!("nettle {major}.{minor} is none of the versions 3.6 to 3.10"));
        }
        Ok(Self {
            version: format!("{major}.{minor}"),
            // SAFETY: the type is that of nettle/cbc.h; the library stays open beside it.
            cbc_encrypt: unsafe { library.symbol(c"nettle_cbc_encrypt") }?,
            // SAFETY: as above.
            cbc_decrypt: unsafe { library.symbol(c"nettle_cbc_decrypt") }?,
            // SAFETY: as above, in nettle/ctr.h.
            ctr_crypt: unsafe { library.symbol(c"nettle_ctr_crypt") }?,
            // SAFETY: as above, in nettle/cbc.h.
            cbc_aes128_encrypt: unsafe { library.symbol(c"nettle_cbc_aes128_encrypt") }.ok(),
            aes128: Cipher {
                // SAFETY: as above, in nettle/aes.h; so are the following.
                set_encrypt_key: SetKey::Plain(unsafe {
                    library.symbol(c"nettle_aes128_set_encrypt_key")
                }?),
                // SAFETY: as above.
                set_decrypt_key: SetKey::Plain(unsafe {
                    library.symbol(c"nettle_aes128_set_decrypt_key")
                }?),
                // SAFETY: as above.
                encrypt: unsafe { library.symbol(c"nettle_aes128_encrypt") }?,
                // SAFETY: as above.
                decrypt: unsafe { library.symbol(c"nettle_aes128_decrypt") }?,
            },
            serpent128: Cipher {
                // SAFETY: as above, in nettle/serpent.h; so are the following.
                set_encrypt_key: SetKey::Plain(unsafe {
                    library.symbol(c"nettle_serpent128_set_key")
                }?),
                // SAFETY: as above.
                set_decrypt_key: SetKey::Plain(unsafe {
                    library.symbol(c"nettle_serpent128_set_key")
                }?),
                // SAFETY: as above.
                encrypt: unsafe { library.symbol(c"nettle_serpent_encrypt") }?,
                // SAFETY: as above.
                decrypt: unsafe { library.symbol(c"nettle_serpent_decrypt") }?,
            },
            des: Cipher {
                // SAFETY: as above, in nettle/des.h, so are the following.
                set_encrypt_key: SetKey::Judging(unsafe { library.symbol(c"nettle_des_set_key") }?),
                // SAFETY: as above.
                set_decrypt_key: SetKey::Judging(unsafe { library.symbol(c"nettle_des_set_key") }?),
                // SAFETY: as above.
                encrypt: unsafe { library.symbol(c"nettle_des_encrypt") }?,
                // SAFETY: as above.
                decrypt: unsafe { library.symbol(c"nettle_des_decrypt") }?,
            },
            des3: Cipher {
                // SAFETY: as above.
                set_encrypt_key: SetKey::Judging(unsafe {
                    library.symbol(c"nettle_des3_set_key")
                }?),
                // SAFETY: as above.
                set_decrypt_key: SetKey::Judging(unsafe {
                    library.symbol(c"nettle_des3_set_key")
                }?),
                // SAFETY: as above.
                encrypt: unsafe { library.symbol(c"nettle_des3_encrypt") }?,
                // SAFETY: as above.
                decrypt: unsafe { library.symbol(c"nettle_des3_decrypt") }?,
            },
            // SAFETY: as above, in nettle/chacha.h.
            chacha_set_key: unsafe { library.symbol(c"nettle_chacha_set_key") }?,
            // SAFETY: as above.
            chacha_set_nonce96: unsafe { library.symbol(c"nettle_chacha_set_nonce96") }?,
            // SAFETY: as above.
            chacha_crypt32: unsafe { library.symbol(c"nettle_chacha_crypt32") }?,
            xts_aes128: Xts {
                // SAFETY: as above, in nettle/xts.h; so are the following.
                set_encrypt_key: SetKey::Plain(unsafe {
                    library.symbol(c"nettle_xts_aes128_set_encrypt_key")
                }?),
                // SAFETY: as above.
                set_decrypt_key: SetKey::Plain(unsafe {
                    library.symbol(c"nettle_xts_aes128_set_decrypt_key")
                }?),
                // SAFETY: as above.
                encrypt: unsafe { library.symbol(c"nettle_xts_aes128_encrypt_message") }?,
                // SAFETY: as above.
                decrypt: unsafe { library.symbol(c"nettle_xts_aes128_decrypt_message") }?,
            },
            xts_aes256: Xts {
                // SAFETY: as above.
                set_encrypt_key: SetKey::Plain(unsafe {
                    library.symbol(c"nettle_xts_aes256_set_encrypt_key")
                }?),
                // SAFETY: as above.
                set_decrypt_key: SetKey::Plain(unsafe {
                    library.symbol(c"nettle_xts_aes256_set_decrypt_key")
                }?),
                // SAFETY: as above.
                encrypt: unsafe { library.symbol(c"nettle_xts_aes256_encrypt_message") }?,
                // SAFETY: as above.
                decrypt: unsafe { library.symbol(c"nettle_xts_aes256_decrypt_message") }?,
            },
            gcm_aes128: Authenticated {
                // SAFETY: as above, in nettle/gcm.h; so are the following.
                set_key: unsafe { library.symbol(c"nettle_gcm_aes128_set_key") }?,
                // SAFETY: as above.
                set_nonce: SetNonce::Sized(unsafe { library.symbol(c"nettle_gcm_aes128_set_iv") }?),
                // SAFETY: as above.
                update: unsafe { library.symbol(c"nettle_gcm_aes128_update") }?,
                // SAFETY: as above.
                encrypt: unsafe { library.symbol(c"nettle_gcm_aes128_encrypt") }?,
                // SAFETY: as above.
                decrypt: unsafe { library.symbol(c"nettle_gcm_aes128_decrypt") }?,
                // SAFETY: as above.
                digest: unsafe { library.symbol(c"nettle_gcm_aes128_digest") }?,
            },
            gcm_aes256: Authenticated {
                // SAFETY: as above.
                set_key: unsafe { library.symbol(c"nettle_gcm_aes256_set_key") }?,
                // SAFETY: as above.
                set_nonce: SetNonce::Sized(unsafe { library.symbol(c"nettle_gcm_aes256_set_iv") }?),
                // SAFETY: as above.
                update: unsafe { library.symbol(c"nettle_gcm_aes256_update") }?,
                // SAFETY: as above.
                encrypt: unsafe { library.symbol(c"nettle_gcm_aes256_encrypt") }?,
                // SAFETY: as above.
                decrypt: unsafe { library.symbol(c"nettle_gcm_aes256_decrypt") }?,
                // SAFETY: as above.
                digest: unsafe { library.symbol(c"nettle_gcm_aes256_digest") }?,
            },
            chacha_poly1305: Authenticated {
                // SAFETY: as above, in nettle/chacha-poly1305.h; so are the following.
                set_key: unsafe { library.symbol(c"nettle_chacha_poly1305_set_key") }?,
                // SAFETY: as above.
                set_nonce: SetNonce::Fixed(unsafe {
                    library.symbol(c"nettle_chacha_poly1305_set_nonce")
                }?),
                // SAFETY: as above.
                update: unsafe { library.symbol(c"nettle_chacha_poly1305_update") }?,
                // SAFETY: as above.
                encrypt: unsafe { library.symbol(c"nettle_chacha_poly1305_encrypt") }?,
                // SAFETY: as above.
                decrypt: unsafe { library.symbol(c"nettle_chacha_poly1305_decrypt") }?,
                // SAFETY: as above.
                digest: unsafe { library.symbol(c"nettle_chacha_poly1305_digest") }?,
            },
            _library: library,
        })
    }
}
