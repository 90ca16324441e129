//! The functions of one build of libcrypto, with the types of its headers.

use core::ffi::{CStr, c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};

use libloading::Library;

/// The functions that are called, under OpenSSL's names. Optional ones are missing before 3.0.
#[derive(Debug)]
#[expect(non_snake_case, reason = "OpenSSL's own names")]
pub(crate) struct Functions {
    pub(crate) ERR_clear_error: unsafe extern "C" fn(),
    pub(crate) EVP_CIPHER_CTX_ctrl:
        unsafe extern "C" fn(*mut c_void, c_int, c_int, *mut c_void) -> c_int,
    pub(crate) EVP_CIPHER_CTX_free: unsafe extern "C" fn(*mut c_void),
    pub(crate) EVP_CIPHER_CTX_new: unsafe extern "C" fn() -> *mut c_void,
    pub(crate) EVP_CIPHER_CTX_set_padding: unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
    pub(crate) EVP_CIPHER_fetch:
        Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void>,
    pub(crate) EVP_CIPHER_free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(crate) EVP_CIPHER_get_block_size: unsafe extern "C" fn(*const c_void) -> c_int,
    pub(crate) EVP_CIPHER_get_flags: unsafe extern "C" fn(*const c_void) -> c_ulong,
    pub(crate) EVP_CIPHER_get_iv_length: unsafe extern "C" fn(*const c_void) -> c_int,
    pub(crate) EVP_CIPHER_get_key_length: unsafe extern "C" fn(*const c_void) -> c_int,
    pub(crate) EVP_CipherFinal_ex:
        unsafe extern "C" fn(*mut c_void, *mut c_uchar, *mut c_int) -> c_int,
    pub(crate) EVP_CipherInit_ex: unsafe extern "C" fn(
        *mut c_void,
        *const c_void,
        *mut c_void,
        *const c_uchar,
        *const c_uchar,
        c_int,
    ) -> c_int,
    pub(crate) EVP_DecryptUpdate:
        unsafe extern "C" fn(*mut c_void, *mut c_uchar, *mut c_int, *const c_uchar, c_int) -> c_int,
    pub(crate) EVP_EncryptUpdate:
        unsafe extern "C" fn(*mut c_void, *mut c_uchar, *mut c_int, *const c_uchar, c_int) -> c_int,
    pub(crate) EVP_get_cipherbyname: unsafe extern "C" fn(*const c_char) -> *const c_void,
    pub(crate) OSSL_LIB_CTX_new: Option<unsafe extern "C" fn() -> *mut c_void>,
    pub(crate) OSSL_PROVIDER_load:
        Option<unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void>,
    pub(crate) OpenSSL_version: unsafe extern "C" fn(c_int) -> *const c_char,
    pub(crate) RAND_bytes: unsafe extern "C" fn(*mut c_uchar, c_int) -> c_int,
    pub(crate) hmac: Option<Hmac>,
    pub(crate) providers: Option<Providers>,
    pub(crate) rsa: Option<Rsa>,
}

/// The functions of HMAC, which builds without deprecated functions do not have.
#[derive(Debug)]
#[expect(non_snake_case, reason = "OpenSSL's own names")]
pub(crate) struct Hmac {
    pub(crate) EVP_sha256: unsafe extern "C" fn() -> *const c_void,
    pub(crate) HMAC_CTX_free: unsafe extern "C" fn(*mut c_void),
    pub(crate) HMAC_CTX_new: unsafe extern "C" fn() -> *mut c_void,
    pub(crate) HMAC_Final: unsafe extern "C" fn(*mut c_void, *mut c_uchar, *mut c_uint) -> c_int,
    pub(crate) HMAC_Init_ex: unsafe extern "C" fn(
        *mut c_void,
        *const c_void,
        c_int,
        *const c_void,
        *mut c_void,
    ) -> c_int,
    pub(crate) HMAC_Update: unsafe extern "C" fn(*mut c_void, *const c_uchar, usize) -> c_int,
}

/// The functions that tell which provider serves what, from 3.0 on.
#[derive(Debug)]
#[expect(non_snake_case, reason = "OpenSSL's own names")]
pub(crate) struct Providers {
    pub(crate) EVP_CIPHER_get0_provider: unsafe extern "C" fn(*const c_void) -> *const c_void,
    pub(crate) EVP_RAND_CTX_get0_rand: unsafe extern "C" fn(*mut c_void) -> *const c_void,
    pub(crate) EVP_RAND_get0_provider: unsafe extern "C" fn(*const c_void) -> *const c_void,
    pub(crate) EVP_SIGNATURE_fetch:
        unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void,
    pub(crate) EVP_SIGNATURE_free: unsafe extern "C" fn(*mut c_void),
    pub(crate) EVP_SIGNATURE_get0_provider: unsafe extern "C" fn(*const c_void) -> *const c_void,
    pub(crate) OPENSSL_init_crypto: unsafe extern "C" fn(u64, *const c_void) -> c_int,
    pub(crate) OSSL_PROVIDER_available: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int,
    pub(crate) OSSL_PROVIDER_get0_name: unsafe extern "C" fn(*const c_void) -> *const c_char,
    pub(crate) RAND_get0_public: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
}

/// The functions of RSA.
#[derive(Debug)]
#[expect(non_snake_case, reason = "OpenSSL's own names")]
pub(crate) struct Rsa {
    pub(crate) EVP_PKEY_CTX_ctrl_str:
        unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> c_int,
    pub(crate) EVP_PKEY_CTX_free: unsafe extern "C" fn(*mut c_void),
    pub(crate) EVP_PKEY_CTX_new: unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void,
    pub(crate) EVP_PKEY_free: unsafe extern "C" fn(*mut c_void),
    pub(crate) EVP_PKEY_sign:
        unsafe extern "C" fn(*mut c_void, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int,
    pub(crate) EVP_PKEY_sign_init: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub(crate) EVP_PKEY_verify:
        unsafe extern "C" fn(*mut c_void, *const c_uchar, usize, *const c_uchar, usize) -> c_int,
    pub(crate) EVP_PKEY_verify_init: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub(crate) d2i_PrivateKey:
        unsafe extern "C" fn(c_int, *mut *mut c_void, *mut *const c_uchar, c_long) -> *mut c_void,
    pub(crate) d2i_PublicKey:
        unsafe extern "C" fn(c_int, *mut *mut c_void, *mut *const c_uchar, c_long) -> *mut c_void,
    pub(crate) fromdata: Option<FromData>,
}

/// The functions that make a key of its numbers, from 3.0 on.
#[derive(Debug)]
#[expect(non_snake_case, reason = "OpenSSL's own names")]
pub(crate) struct FromData {
    pub(crate) EVP_PKEY_CTX_new_from_name:
        unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void,
    pub(crate) EVP_PKEY_fromdata:
        unsafe extern "C" fn(*mut c_void, *mut *mut c_void, c_int, *mut c_void) -> c_int,
    pub(crate) EVP_PKEY_fromdata_init: unsafe extern "C" fn(*mut c_void) -> c_int,
}

impl Functions {
    /// Finds all functions. The error is the name of the first one that is missing.
    ///
    /// # Safety
    ///
    /// All symbols of `library` with these names have OpenSSL's types, and the library is never
    /// closed.
    pub(crate) unsafe fn find(library: &Library) -> Result<Self, String> {
        macro_rules! function {
            ($($name:expr),+) => {
                // SAFETY: the caller guarantees the types of all of these.
                unsafe { find(library, &[$($name),+]) }
            };
        }
        Ok(Self {
            ERR_clear_error: function!(c"ERR_clear_error")?,
            EVP_CIPHER_CTX_ctrl: function!(c"EVP_CIPHER_CTX_ctrl")?,
            EVP_CIPHER_CTX_free: function!(c"EVP_CIPHER_CTX_free")?,
            EVP_CIPHER_CTX_new: function!(c"EVP_CIPHER_CTX_new")?,
            EVP_CIPHER_CTX_set_padding: function!(c"EVP_CIPHER_CTX_set_padding")?,
            EVP_CIPHER_fetch: function!(c"EVP_CIPHER_fetch").ok(),
            EVP_CIPHER_free: function!(c"EVP_CIPHER_free").ok(),
            // The second names are those of 1.1.1.
            EVP_CIPHER_get_block_size: function!(
                c"EVP_CIPHER_get_block_size",
                c"EVP_CIPHER_block_size"
            )?,
            EVP_CIPHER_get_flags: function!(c"EVP_CIPHER_get_flags", c"EVP_CIPHER_flags")?,
            EVP_CIPHER_get_iv_length: function!(
                c"EVP_CIPHER_get_iv_length",
                c"EVP_CIPHER_iv_length"
            )?,
            EVP_CIPHER_get_key_length: function!(
                c"EVP_CIPHER_get_key_length",
                c"EVP_CIPHER_key_length"
            )?,
            EVP_CipherFinal_ex: function!(c"EVP_CipherFinal_ex")?,
            EVP_CipherInit_ex: function!(c"EVP_CipherInit_ex")?,
            EVP_DecryptUpdate: function!(c"EVP_DecryptUpdate")?,
            EVP_EncryptUpdate: function!(c"EVP_EncryptUpdate")?,
            EVP_get_cipherbyname: function!(c"EVP_get_cipherbyname")?,
            OSSL_LIB_CTX_new: function!(c"OSSL_LIB_CTX_new").ok(),
            OSSL_PROVIDER_load: function!(c"OSSL_PROVIDER_load").ok(),
            OpenSSL_version: function!(c"OpenSSL_version")?,
            RAND_bytes: function!(c"RAND_bytes")?,
            // SAFETY: the caller guarantees the types of these, too.
            hmac: unsafe { Hmac::find(library) }.ok(),
            // SAFETY: as above.
            providers: unsafe { Providers::find(library) }.ok(),
            // SAFETY: as above.
            rsa: unsafe { Rsa::find(library) }.ok(),
        })
    }
}

impl Hmac {
    /// Finds all functions.
    ///
    /// # Safety
    ///
    /// As for [`Functions::find`].
    unsafe fn find(library: &Library) -> Result<Self, String> {
        macro_rules! function {
            ($name:expr) => {
                // SAFETY: the caller guarantees the types of all of these.
                unsafe { find(library, &[$name]) }
            };
        }
        Ok(Self {
            EVP_sha256: function!(c"EVP_sha256")?,
            HMAC_CTX_free: function!(c"HMAC_CTX_free")?,
            HMAC_CTX_new: function!(c"HMAC_CTX_new")?,
            HMAC_Final: function!(c"HMAC_Final")?,
            HMAC_Init_ex: function!(c"HMAC_Init_ex")?,
            HMAC_Update: function!(c"HMAC_Update")?,
        })
    }
}

impl Providers {
    /// Finds all functions.
    ///
    /// # Safety
    ///
    /// As for [`Functions::find`].
    unsafe fn find(library: &Library) -> Result<Self, String> {
        macro_rules! function {
            ($name:expr) => {
                // SAFETY: the caller guarantees the types of all of these.
                unsafe { find(library, &[$name]) }
            };
        }
        Ok(Self {
            EVP_CIPHER_get0_provider: function!(c"EVP_CIPHER_get0_provider")?,
            EVP_RAND_CTX_get0_rand: function!(c"EVP_RAND_CTX_get0_rand")?,
            EVP_RAND_get0_provider: function!(c"EVP_RAND_get0_provider")?,
            EVP_SIGNATURE_fetch: function!(c"EVP_SIGNATURE_fetch")?,
            EVP_SIGNATURE_free: function!(c"EVP_SIGNATURE_free")?,
            EVP_SIGNATURE_get0_provider: function!(c"EVP_SIGNATURE_get0_provider")?,
            OPENSSL_init_crypto: function!(c"OPENSSL_init_crypto")?,
            OSSL_PROVIDER_available: function!(c"OSSL_PROVIDER_available")?,
            OSSL_PROVIDER_get0_name: function!(c"OSSL_PROVIDER_get0_name")?,
            RAND_get0_public: function!(c"RAND_get0_public")?,
        })
    }
}

impl Rsa {
    /// Finds all functions.
    ///
    /// # Safety
    ///
    /// As for [`Functions::find`].
    unsafe fn find(library: &Library) -> Result<Self, String> {
        macro_rules! function {
            ($name:expr) => {
                // SAFETY: the caller guarantees the types of all of these.
                unsafe { find(library, &[$name]) }
            };
        }
        let fromdata = || {
            Ok::<_, String>(FromData {
                EVP_PKEY_CTX_new_from_name: function!(c"EVP_PKEY_CTX_new_from_name")?,
                EVP_PKEY_fromdata: function!(c"EVP_PKEY_fromdata")?,
                EVP_PKEY_fromdata_init: function!(c"EVP_PKEY_fromdata_init")?,
            })
        };
        Ok(Self {
            EVP_PKEY_CTX_ctrl_str: function!(c"EVP_PKEY_CTX_ctrl_str")?,
            EVP_PKEY_CTX_free: function!(c"EVP_PKEY_CTX_free")?,
            EVP_PKEY_CTX_new: function!(c"EVP_PKEY_CTX_new")?,
            EVP_PKEY_free: function!(c"EVP_PKEY_free")?,
            EVP_PKEY_sign: function!(c"EVP_PKEY_sign")?,
            EVP_PKEY_sign_init: function!(c"EVP_PKEY_sign_init")?,
            EVP_PKEY_verify: function!(c"EVP_PKEY_verify")?,
            EVP_PKEY_verify_init: function!(c"EVP_PKEY_verify_init")?,
            d2i_PrivateKey: function!(c"d2i_PrivateKey")?,
            d2i_PublicKey: function!(c"d2i_PublicKey")?,
            fromdata: fromdata().ok(),
        })
    }
}

/// The function with one of `names`; the first is preferred.
///
/// # Safety
///
/// `T` is a function pointer of the function's type in C. It is not used once `library` is closed.
unsafe fn find<T: Copy>(library: &Library, names: &[&CStr]) -> Result<T, String> {
    for &name in names {
        // SAFETY: the caller guarantees the type.
        if let Ok(symbol) = unsafe { library.get::<T>(name) } {
            return Ok(*symbol);
        }
    }
    let name = names.first().map(|name| name.to_string_lossy()).unwrap_or_default();
    Err(format!("the library has no {name}: another version"))
}
