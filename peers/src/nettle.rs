//! Peer: libnettle 3.6 to 3.10; these files know its layouts.

use core::ffi::{c_int, c_void};
use std::ffi::CString;

use lanecrypt_kernels::Level;

use crate::library::{Open, Search, Slot};
use crate::peer::Versioned;
use crate::project::{Hold, NamedLibrary, Project, Variable};
use crate::{Aead, Cipher as AnyCipher, Peer, PeerLibraries};

mod aeads;
mod ciphers;

use Sets::{Judging, Plain};

const SEARCH: Search = {
    const FILES: &[&str] = &["libnettle.so.8"];
    const HINT: &str =
        "apt install libnettle8 (or --peer-lib nettle=PATH of a libnettle.so of version 3)";
    // SAFETY: this is nettle's name.
    unsafe { Search::new("nettle", FILES, HINT) }
};

/// The versions whose contexts are as large as [`Context`] and its users assume.
const MAJOR: c_int = 3;
const MINORS: core::ops::RangeInclusive<c_int> = 6..=10;

/// No features instead of those that it detects. The maker of the processor stays, because it
/// chooses how memory is XORed.
const OVERRIDE: Variable = Variable {
    name: "NETTLE_FAT_OVERRIDE",
    value: |_, present| {
        let value = if is_amd() { "vendor:amd" } else { "vendor:intel" };
        match present {
            Some(other) if other != value => {
                Err(format!("a level below aesni needs {value}, not {other:?}"))
            }
            _ => Ok(value.to_owned()),
        }
    },
};

/// Whether AMD made the processor.
fn is_amd() -> bool {
    // AMD made this extension, and no other maker adopted it.
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("sse4a");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

pub(crate) struct LibNettle;

impl Project for LibNettle {
    fn source(&self) -> &'static str {
        "nettle"
    }

    /// Its highest code takes AES-NI and PCLMULQDQ.
    fn hold(&self, level: Level) -> Hold {
        match level {
            _ if level.includes(Level::AesNi) => Hold::Yes,
            _ if cfg!(target_arch = "x86_64") => Hold::By(OVERRIDE),
            _ => Hold::No,
        }
    }

    fn ciphers(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn AnyCipher>> {
        ciphers::all(&library(libraries))
    }

    fn aeads(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
        aeads::all(&library(libraries)).into()
    }

    fn libraries(&self) -> &'static [NamedLibrary] {
        &[NamedLibrary { name: "nettle", open: |libraries| library(libraries).map(drop) }]
    }
}

/// The system's libnettle, or the one at the given path.
fn library(libraries: &PeerLibraries) -> Result<&'static Nettle, String> {
    static NETTLE: Slot<Nettle> = Slot::new();
    NETTLE.open(libraries, "nettle", |_| Nettle::find(SEARCH.open(libraries)?))
}

impl Versioned for &'static Nettle {
    fn version(&self) -> String {
        self.version.clone()
    }
}

/// A key schedule, at least as large as that of any cipher here: Serpent's has 528 bytes.
#[repr(C, align(64))]
struct Context([u8; 576]);

/// Encrypts or decrypts blocks one by one: context, bytes, to, from (`nettle_cipher_func`).
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Blocks(unsafe extern "C" fn(*const c_void, usize, *mut u8, *const u8));

/// An open library, and its functions. Their arguments are: context, blocks, block size, IV or
/// counter, bytes, to, from.
struct Nettle {
    version: String,
    cbc_encrypt:
        unsafe extern "C" fn(*const c_void, Blocks, usize, *mut u8, usize, *mut u8, *const u8),
    cbc_decrypt:
        unsafe extern "C" fn(*const c_void, Blocks, usize, *mut u8, usize, *mut u8, *const u8),
    ctr_crypt:
        unsafe extern "C" fn(*const c_void, Blocks, usize, *mut u8, usize, *mut u8, *const u8),
    /// CBC encryption of AES-128 in one function, where the version has it: context, IV, bytes, to,
    /// from.
    cbc_aes128_encrypt:
        Option<unsafe extern "C" fn(*const c_void, *mut u8, usize, *mut u8, *const u8)>,
    aes128: Cipher,
    serpent128: Cipher,
    des: Cipher,
    des3: Cipher,
    chacha_set_key: unsafe extern "C" fn(*mut c_void, *const u8),
    /// A nonce of 12 bytes; sets the counter to zero.
    chacha_set_nonce96: unsafe extern "C" fn(*mut c_void, *const u8),
    /// Context, bytes, to, from. Drops the rest of a last part block.
    chacha_crypt32: unsafe extern "C" fn(*mut c_void, usize, *mut u8, *const u8),
    xts_aes128: Xts,
    xts_aes256: Xts,
    gcm_aes128: Authenticated,
    gcm_aes256: Authenticated,
    chacha_poly1305: Authenticated,
    _library: Open,
}

/// A block cipher.
#[derive(Clone, Copy)]
struct Cipher {
    set_encrypt_key: SetKey,
    set_decrypt_key: SetKey,
    encrypt: Blocks,
    decrypt: Blocks,
}

impl Cipher {
    /// Finds the functions of the cipher called `name`; the functions `keys` expand its keys.
    ///
    /// # Safety
    ///
    /// The functions have these types, and the last two are of the kind `set_key`; the library
    /// stays open.
    unsafe fn find(
        library: &Open,
        name: &str,
        set_key: Sets,
        [encrypt_key, decrypt_key]: [&str; 2],
    ) -> Result<Self, String> {
        Ok(Self {
            // SAFETY: the caller guarantees the names.
            set_encrypt_key: unsafe { set_key.find(library, encrypt_key) }?,
            // SAFETY: as above.
            set_decrypt_key: unsafe { set_key.find(library, decrypt_key) }?,
            // SAFETY: as above.
            encrypt: unsafe { symbol(library, &format!("{name}_encrypt")) }?,
            // SAFETY: as above.
            decrypt: unsafe { symbol(library, &format!("{name}_decrypt")) }?,
        })
    }
}

/// A block cipher in XTS. Its context is two schedules. The arguments for a message are context,
/// tweak, bytes, to, from, and it must have at least 16 bytes.
#[derive(Clone, Copy)]
struct Xts {
    set_encrypt_key: SetKey,
    set_decrypt_key: SetKey,
    encrypt: unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut u8, *const u8),
    decrypt: unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut u8, *const u8),
}

impl Xts {
    /// Finds the functions of the cipher called `name`.
    ///
    /// # Safety
    ///
    /// They are of these types; the library stays open.
    unsafe fn find(library: &Open, name: &str) -> Result<Self, String> {
        Ok(Self {
            // SAFETY: the caller guarantees the name.
            set_encrypt_key: unsafe { Plain.find(library, &format!("{name}_set_encrypt_key")) }?,
            // SAFETY: as above.
            set_decrypt_key: unsafe { Plain.find(library, &format!("{name}_set_decrypt_key")) }?,
            // SAFETY: as above.
            encrypt: unsafe { symbol(library, &format!("{name}_encrypt_message")) }?,
            // SAFETY: as above.
            decrypt: unsafe { symbol(library, &format!("{name}_decrypt_message")) }?,
        })
    }
}

/// A context of a cipher with authentication, larger than any here: AES-256-GCM has 4,400 bytes.
#[repr(C, align(64))]
struct AuthenticatedContext([u8; 5120]);

/// A cipher with authentication. The functions' arguments are: context, bytes, to, from.
#[derive(Clone, Copy)]
struct Authenticated {
    set_key: unsafe extern "C" fn(*mut c_void, *const u8),
    set_nonce: SetNonce,
    /// Associated data: context, bytes, from.
    update: unsafe extern "C" fn(*mut c_void, usize, *const u8),
    encrypt: unsafe extern "C" fn(*mut c_void, usize, *mut u8, *const u8),
    decrypt: unsafe extern "C" fn(*mut c_void, usize, *mut u8, *const u8),
    /// Context, bytes of the tag, to.
    digest: unsafe extern "C" fn(*mut c_void, usize, *mut u8),
}

impl Authenticated {
    /// Finds the functions of the cipher called `name`. If it has a function `set_iv`, that takes
    /// the nonce's length.
    ///
    /// # Safety
    ///
    /// They have these types; the library stays open.
    unsafe fn find(library: &Open, name: &str) -> Result<Self, String> {
        let called = |what: &str| format!("{name}_{what}");
        Ok(Self {
            // SAFETY: the caller guarantees the name.
            set_key: unsafe { symbol(library, &called("set_key")) }?,
            // SAFETY: as above.
            set_nonce: match unsafe { symbol(library, &called("set_iv")) } {
                Ok(set_iv) => SetNonce::Sized(set_iv),
                // SAFETY: as above.
                Err(_) => SetNonce::Fixed(unsafe { symbol(library, &called("set_nonce")) }?),
            },
            // SAFETY: as above.
            update: unsafe { symbol(library, &called("update")) }?,
            // SAFETY: as above.
            encrypt: unsafe { symbol(library, &called("encrypt")) }?,
            // SAFETY: as above.
            decrypt: unsafe { symbol(library, &called("decrypt")) }?,
            // SAFETY: as above.
            digest: unsafe { symbol(library, &called("digest")) }?,
        })
    }
}

/// The function of this name after the library's prefix.
///
/// # Safety
///
/// Same as [`Open::symbol`].
unsafe fn symbol<T: Copy>(library: &Open, name: &str) -> Result<T, String> {
    let name = CString::new(format!("nettle_{name}")).map_err(|error| error.to_string())?;
    // SAFETY: the caller guarantees the type.
    unsafe { library.symbol(&name) }
}

/// Begins a message with a nonce of 12 bytes.
#[derive(Clone, Copy)]
enum SetNonce {
    Fixed(unsafe extern "C" fn(*mut c_void, *const u8)),
    /// Also takes the nonce's length, before it.
    Sized(unsafe extern "C" fn(*mut c_void, usize, *const u8)),
}

/// Expands a key of the cipher's length into a context.
#[derive(Clone, Copy)]
enum SetKey {
    Plain(unsafe extern "C" fn(*mut c_void, *const u8)),
    /// Also returns whether the key is strong; a weak one is expanded all the same.
    Judging(unsafe extern "C" fn(*mut c_void, *const u8) -> c_int),
}

/// The kind of function that expands a cipher's keys.
#[derive(Clone, Copy)]
enum Sets {
    Plain,
    Judging,
}

impl Sets {
    /// Finds the function called `name`.
    ///
    /// # Safety
    ///
    /// It is one of this kind; the library stays open.
    unsafe fn find(self, library: &Open, name: &str) -> Result<SetKey, String> {
        Ok(match self {
            // SAFETY: the caller guarantees the kind.
            Plain => SetKey::Plain(unsafe { symbol(library, name) }?),
            // SAFETY: as above.
            Judging => SetKey::Judging(unsafe { symbol(library, name) }?),
        })
    }
}

impl SetKey {
    /// Expands `key` into `context`.
    ///
    /// # Safety
    ///
    /// The key has as many bytes as the function reads.
    #[inline]
    unsafe fn call(self, context: &mut Context, key: &[u8]) {
        let context = (&raw mut *context).cast();
        match self {
            // SAFETY: the context is large enough for any schedule, and the caller guarantees the
            // key.
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
        // SAFETY: takes no arguments.
        let major = unsafe { major() };
        // SAFETY: takes no arguments.
        let minor = unsafe { minor() };
        if major != MAJOR || !MINORS.contains(&minor) {
            return Err(format!("nettle {major}.{minor} is none of the versions 3.6 to 3.10"));
        }
        const AES128: [&str; 2] = ["aes128_set_encrypt_key", "aes128_set_decrypt_key"];
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
            // SAFETY: as above, in nettle/aes.h.
            aes128: unsafe { Cipher::find(&library, "aes128", Plain, AES128) }?,
            // SAFETY: as above, in nettle/serpent.h.
            serpent128: unsafe {
                Cipher::find(&library, "serpent", Plain, ["serpent128_set_key"; 2])
            }?,
            // SAFETY: as above, in nettle/des.h.
            des: unsafe { Cipher::find(&library, "des", Judging, ["des_set_key"; 2]) }?,
            // SAFETY: as above.
            des3: unsafe { Cipher::find(&library, "des3", Judging, ["des3_set_key"; 2]) }?,
            // SAFETY: as above, in nettle/chacha.h.
            chacha_set_key: unsafe { library.symbol(c"nettle_chacha_set_key") }?,
            // SAFETY: as above.
            chacha_set_nonce96: unsafe { library.symbol(c"nettle_chacha_set_nonce96") }?,
            // SAFETY: as above.
            chacha_crypt32: unsafe { library.symbol(c"nettle_chacha_crypt32") }?,
            // SAFETY: as above, in nettle/xts.h.
            xts_aes128: unsafe { Xts::find(&library, "xts_aes128") }?,
            // SAFETY: as above.
            xts_aes256: unsafe { Xts::find(&library, "xts_aes256") }?,
            // SAFETY: as above, in nettle/gcm.h.
            gcm_aes128: unsafe { Authenticated::find(&library, "gcm_aes128") }?,
            // SAFETY: as above.
            gcm_aes256: unsafe { Authenticated::find(&library, "gcm_aes256") }?,
            // SAFETY: as above, in nettle/chacha-poly1305.h.
            chacha_poly1305: unsafe { Authenticated::find(&library, "chacha_poly1305") }?,
            _library: library,
        })
    }
}
