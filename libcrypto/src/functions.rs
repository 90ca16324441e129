//! The functions of one build of libcrypto, with the types of its headers.

use core::ffi::{c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};

use libloading::Library;

/// A group of functions with their types, under OpenSSL's names or those of 1.1.1: those that the
/// library must have, those that it may lack, and groups that it may lack.
macro_rules! functions {
    (
        $(#[$doc:meta])*
        $name:ident {
            $($needed:ident $(or $older:ident)?: fn($($of_needed:ty),*) $(-> $needed_to:ty)?;)+
        } $(optional {
            $($optional:ident: fn($($of_optional:ty),*) $(-> $optional_to:ty)?;)+
        })? $(groups {
            $($group:ident: $kind:ident,)+
        })?
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[expect(non_snake_case, reason = "OpenSSL's own names")]
        pub(crate) struct $name {
            $(pub(crate) $needed: unsafe extern "C" fn($($of_needed),*) $(-> $needed_to)?,)+
            $($(
                pub(crate) $optional:
                    Option<unsafe extern "C" fn($($of_optional),*) $(-> $optional_to)?>,
            )+)?
            $($(pub(crate) $group: Option<$kind>,)+)?
        }

        impl $name {
            /// Finds all functions. The error is the name of the first one that is missing.
            ///
            /// # Safety
            ///
            /// All symbols of `library` with these names have OpenSSL's types, and the library is
            /// never closed.
            pub(crate) unsafe fn find(library: &Library) -> Result<Self, String> {
                Ok(Self {
                    // SAFETY: the caller guarantees the types of all of these.
                    $($needed: unsafe {
                        find(library, &[stringify!($needed) $(, stringify!($older))?])
                    }?,)+
                    $($(
                        // SAFETY: as above.
                        $optional: unsafe { find(library, &[stringify!($optional)]) }.ok(),
                    )+)?
                    $($(
                        // SAFETY: as above.
                        $group: unsafe { $kind::find(library) }.ok(),
                    )+)?
                })
            }
        }
    };
}

functions! {
    /// The functions that are called, under OpenSSL's names. Optional ones are missing before 3.0.
    Functions {
        ERR_clear_error: fn();
        EVP_CIPHER_CTX_ctrl: fn(*mut c_void, c_int, c_int, *mut c_void) -> c_int;
        EVP_CIPHER_CTX_free: fn(*mut c_void);
        EVP_CIPHER_CTX_new: fn() -> *mut c_void;
        EVP_CIPHER_CTX_set_padding: fn(*mut c_void, c_int) -> c_int;
        EVP_CIPHER_get_block_size or EVP_CIPHER_block_size: fn(*const c_void) -> c_int;
        EVP_CIPHER_get_flags or EVP_CIPHER_flags: fn(*const c_void) -> c_ulong;
        EVP_CIPHER_get_iv_length or EVP_CIPHER_iv_length: fn(*const c_void) -> c_int;
        EVP_CIPHER_get_key_length or EVP_CIPHER_key_length: fn(*const c_void) -> c_int;
        EVP_CipherFinal_ex: fn(*mut c_void, *mut c_uchar, *mut c_int) -> c_int;
        EVP_CipherInit_ex: fn(
            *mut c_void, *const c_void, *mut c_void, *const c_uchar,
            *const c_uchar, c_int
        ) -> c_int;
        EVP_DecryptUpdate:
            fn(*mut c_void, *mut c_uchar, *mut c_int, *const c_uchar, c_int) -> c_int;
        EVP_EncryptUpdate:
            fn(*mut c_void, *mut c_uchar, *mut c_int, *const c_uchar, c_int) -> c_int;
        EVP_get_cipherbyname: fn(*const c_char) -> *const c_void;
        OpenSSL_version: fn(c_int) -> *const c_char;
        RAND_bytes: fn(*mut c_uchar, c_int) -> c_int;
    } optional {
        EVP_CIPHER_fetch: fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
        EVP_CIPHER_free: fn(*mut c_void);
        OSSL_LIB_CTX_new: fn() -> *mut c_void;
        OSSL_PROVIDER_load: fn(*mut c_void, *const c_char) -> *mut c_void;
    } groups {
        hmac: Hmac,
        providers: Providers,
        public_keys: PublicKeys,
        rsa: Rsa,
    }
}

functions! {
    /// The functions of HMAC, which builds without deprecated functions do not have.
    Hmac {
        EVP_sha256: fn() -> *const c_void;
        HMAC_CTX_free: fn(*mut c_void);
        HMAC_CTX_new: fn() -> *mut c_void;
        HMAC_Final: fn(*mut c_void, *mut c_uchar, *mut c_uint) -> c_int;
        HMAC_Init_ex: fn(*mut c_void, *const c_void, c_int, *const c_void, *mut c_void) -> c_int;
        HMAC_Update: fn(*mut c_void, *const c_uchar, usize) -> c_int;
    }
}

functions! {
    /// The functions that tell which provider serves what, from 3.0 on.
    Providers {
        EVP_CIPHER_get0_provider: fn(*const c_void) -> *const c_void;
        EVP_RAND_CTX_get0_rand: fn(*mut c_void) -> *const c_void;
        EVP_RAND_get0_provider: fn(*const c_void) -> *const c_void;
        EVP_SIGNATURE_fetch: fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
        EVP_SIGNATURE_free: fn(*mut c_void);
        EVP_SIGNATURE_get0_provider: fn(*const c_void) -> *const c_void;
        OPENSSL_init_crypto: fn(u64, *const c_void) -> c_int;
        OSSL_PROVIDER_available: fn(*mut c_void, *const c_char) -> c_int;
        OSSL_PROVIDER_get0_name: fn(*const c_void) -> *const c_char;
        RAND_get0_public: fn(*mut c_void) -> *mut c_void;
    }
}

functions! {
    /// The functions of key exchange and signatures on curves, from 3.0 on.
    PublicKeys {
        EVP_DigestSign: fn(*mut c_void, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
        EVP_DigestSignInit_ex: fn(
            *mut c_void, *mut *mut c_void, *const c_char, *mut c_void,
            *const c_char, *mut c_void, *const c_void
        ) -> c_int;
        EVP_DigestVerify:
            fn(*mut c_void, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
        EVP_DigestVerifyInit_ex: fn(
            *mut c_void, *mut *mut c_void, *const c_char, *mut c_void,
            *const c_char, *mut c_void, *const c_void
        ) -> c_int;
        EVP_MD_CTX_free: fn(*mut c_void);
        EVP_MD_CTX_new: fn() -> *mut c_void;
        EVP_PKEY_CTX_free: fn(*mut c_void);
        EVP_PKEY_CTX_new_from_name: fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
        EVP_PKEY_CTX_new_from_pkey: fn(*mut c_void, *mut c_void, *const c_char) -> *mut c_void;
        EVP_PKEY_CTX_set_group_name: fn(*mut c_void, *const c_char) -> c_int;
        EVP_PKEY_copy_parameters: fn(*mut c_void, *const c_void) -> c_int;
        EVP_PKEY_decapsulate:
            fn(*mut c_void, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
        EVP_PKEY_decapsulate_init: fn(*mut c_void, *const c_void) -> c_int;
        EVP_PKEY_derive: fn(*mut c_void, *mut c_uchar, *mut usize) -> c_int;
        EVP_PKEY_derive_init: fn(*mut c_void) -> c_int;
        EVP_PKEY_derive_set_peer: fn(*mut c_void, *mut c_void) -> c_int;
        EVP_PKEY_encapsulate: fn(
            *mut c_void, *mut c_uchar, *mut usize, *mut c_uchar, *mut usize
        ) -> c_int;
        EVP_PKEY_encapsulate_init: fn(*mut c_void, *const c_void) -> c_int;
        EVP_PKEY_free: fn(*mut c_void);
        EVP_PKEY_generate: fn(*mut c_void, *mut *mut c_void) -> c_int;
        EVP_PKEY_get_octet_string_param:
            fn(*const c_void, *const c_char, *mut c_uchar, usize, *mut usize) -> c_int;
        EVP_PKEY_keygen_init: fn(*mut c_void) -> c_int;
        EVP_PKEY_new: fn() -> *mut c_void;
        EVP_PKEY_new_raw_private_key_ex:
            fn(*mut c_void, *const c_char, *const c_char, *const c_uchar, usize) -> *mut c_void;
        EVP_PKEY_new_raw_public_key_ex:
            fn(*mut c_void, *const c_char, *const c_char, *const c_uchar, usize) -> *mut c_void;
        EVP_PKEY_set1_encoded_public_key: fn(*mut c_void, *const c_uchar, usize) -> c_int;
        EVP_PKEY_sign: fn(*mut c_void, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
        EVP_PKEY_sign_init: fn(*mut c_void) -> c_int;
        EVP_PKEY_verify: fn(*mut c_void, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
        EVP_PKEY_verify_init: fn(*mut c_void) -> c_int;
        d2i_PUBKEY: fn(*mut *mut c_void, *mut *const c_uchar, c_long) -> *mut c_void;
        d2i_PrivateKey: fn(c_int, *mut *mut c_void, *mut *const c_uchar, c_long) -> *mut c_void;
    }
}

functions! {
    /// The functions of RSA.
    Rsa {
        EVP_PKEY_CTX_ctrl_str: fn(*mut c_void, *const c_char, *const c_char) -> c_int;
        EVP_PKEY_CTX_free: fn(*mut c_void);
        EVP_PKEY_CTX_new: fn(*mut c_void, *mut c_void) -> *mut c_void;
        EVP_PKEY_free: fn(*mut c_void);
        EVP_PKEY_sign: fn(*mut c_void, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
        EVP_PKEY_sign_init: fn(*mut c_void) -> c_int;
        EVP_PKEY_verify: fn(*mut c_void, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
        EVP_PKEY_verify_init: fn(*mut c_void) -> c_int;
        d2i_PrivateKey: fn(c_int, *mut *mut c_void, *mut *const c_uchar, c_long) -> *mut c_void;
        d2i_PublicKey: fn(c_int, *mut *mut c_void, *mut *const c_uchar, c_long) -> *mut c_void;
    } groups {
        fromdata: FromData,
    }
}

functions! {
    /// The functions that make a key of its numbers, from 3.0 on.
    FromData {
        EVP_PKEY_CTX_new_from_name: fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
        EVP_PKEY_fromdata: fn(*mut c_void, *mut *mut c_void, c_int, *mut c_void) -> c_int;
        EVP_PKEY_fromdata_init: fn(*mut c_void) -> c_int;
    }
}

/// The function with one of `names`; the first is preferred.
///
/// # Safety
///
/// `T` is a function pointer of the function's type in C. It is not used once `library` is closed.
unsafe fn find<T: Copy>(library: &Library, names: &[&str]) -> Result<T, String> {
    for &name in names {
        // SAFETY: the caller guarantees the type.
        if let Ok(symbol) = unsafe { library.get::<T>(name) } {
            return Ok(*symbol);
        }
    }
    let name = names.first().unwrap_or(&"");
    Err(format!("the library has no {name}: another version"))
}
