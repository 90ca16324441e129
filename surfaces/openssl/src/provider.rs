//! The provider as a whole: its algorithms, its parameters, its beginning and its end.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::Ordering;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;

use lanecrypt_ciphers::Algorithm as Known;

use crate::abi::{
    Algorithm, CIPHERS, Core, DECODERS, Dispatch, EXCHANGES, GENERATORS, KEYS, Param, SIGNATURES,
    STORES, Table, UTF8_POINTER, described,
};
use crate::aead::{chacha, gcm};
use crate::context::Provider;
use crate::count::COUNTS;
use crate::curves::{self, Curves};
use crate::memory::status;
use crate::params::ParamsOut;
use crate::plain::{cbc, ctr, xts};
use crate::rsa::{self, Rsa};
use crate::{errors, rand};

static FUNCTIONS: Table<[Dispatch; 7]> = Table([
    Dispatch::teardown(teardown),
    Dispatch::gettable_provider_params(gettable),
    Dispatch::get_provider_params(get_params),
    Dispatch::query(query),
    Dispatch::reasons(errors::reasons),
    Dispatch::capabilities(curves::capabilities),
    Dispatch::END,
]);

/// The entry point of the module.
///
/// # Safety
///
/// For OpenSSL, which passes a handle of the provider, its own functions, and places for the
/// functions and the value of the provider.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    core: *const Dispatch,
    functions: *mut *const Dispatch,
    context: *mut *mut c_void,
) -> c_int {
    if functions.is_null() || context.is_null() {
        return 0;
    }
    // SAFETY: OpenSSL's own table.
    let core = unsafe { Core::read(core) };
    // SAFETY: the functions, and the handle that came with them.
    let setting = |name| unsafe { setting(handle, &core, name) };
    let count = setting(c"count").map(|file| OsStr::from_bytes(file.to_bytes()).into());
    let socket = setting(c"socket").map(|path| OsStr::from_bytes(path.to_bytes()).into());
    let is_on = |name| setting(name).filter(|answer| is_yes(answer));
    let rsa = is_on(c"rsa").and_then(|_| Rsa::new(handle, core, socket));
    let curves = is_on(c"curves").and_then(|_| Curves::new(handle, core));
    let provider = Box::into_raw(Box::new(Provider { count, rsa, curves }));
    // SAFETY: OpenSSL's place for the table.
    unsafe { functions.write(FUNCTIONS.0.as_ptr()) };
    // SAFETY: OpenSSL's place for the value, which it gives back to `teardown`.
    unsafe { context.write(provider.cast()) };
    1
}

/// A setting in the provider's section of the configuration.
///
/// # Safety
///
/// The handle belongs to the functions. The text stays for as long as the provider does.
unsafe fn setting<'s>(handle: *const c_void, core: &Core, name: &CStr) -> Option<&'s CStr> {
    let get_params = core.get_params?;
    let mut found: *const c_char = ptr::null();
    let mut param_out = Param::described(name.as_ptr(), UTF8_POINTER, 0);
    param_out.data = ptr::from_mut(&mut found).cast();
    let mut params = [param_out, Param::END];
    // SAFETY: a list with one param_out, which has a place for a pointer, and its end.
    if unsafe { get_params(handle, params.as_mut_ptr()) } == 0 || found.is_null() {
        return None;
    }
    // SAFETY: a string of the configuration, which stays for as long as the provider does.
    Some(unsafe { CStr::from_ptr(found) })
}

/// Whether a setting switches something on. The words are those that OpenSSL takes.
fn is_yes(answer: &CStr) -> bool {
    let words = ["yes", "on", "true", "1"];
    words.iter().any(|word| answer.to_bytes().eq_ignore_ascii_case(word.as_bytes()))
}

unsafe extern "C" fn teardown(provider: *mut c_void) {
    if provider.is_null() {
        return;
    }
    // SAFETY: the value that `OSSL_provider_init` gave to OpenSSL, which it gives back once.
    let provider = unsafe { Box::from_raw(provider.cast::<Provider>()) };
    if let Some(path) = provider.count {
        // What cannot be written is lost: a program that ends has nobody to tell.
        let file = std::fs::OpenOptions::new().append(true).open(path);
        let _ = file.and_then(|mut file| {
            let line = format!("process {} {COUNTS}\n", std::process::id());
            file.write_all(line.as_bytes())
        });
    }
}

/// A list of algorithms with all the names that OpenSSL's default provider gives them.
macro_rules! algorithms {
    ($($(#[$when:meta])* [$names:expr] $functions:expr, $description:literal;)+) => {
        Table(&[
            $($(#[$when])* Algorithm {
                names: $names.as_ptr(),
                properties: PROPERTIES.as_ptr(),
                functions: $functions.0.as_ptr(),
                description: $description.as_ptr(),
            },)+
            Algorithm {
                names: ptr::null(),
                properties: ptr::null(),
                functions: ptr::null(),
                description: ptr::null(),
            },
        ])
    };
}

const PROPERTIES: &CStr = c"provider=lanecrypt";

static CIPHER_LIST: Table<&[Algorithm]> = algorithms! {
    [Known::AES_128_GCM.openssl_names()] gcm::AES_128, c"AES-128-GCM by Lanecrypt";
    [Known::AES_192_GCM.openssl_names()] gcm::AES_192, c"AES-192-GCM by Lanecrypt";
    [Known::AES_256_GCM.openssl_names()] gcm::AES_256, c"AES-256-GCM by Lanecrypt";
    [Known::AES_128_CTR.openssl_names()] ctr::AES_128, c"AES-128-CTR by Lanecrypt";
    [Known::AES_192_CTR.openssl_names()] ctr::AES_192, c"AES-192-CTR by Lanecrypt";
    [Known::AES_256_CTR.openssl_names()] ctr::AES_256, c"AES-256-CTR by Lanecrypt";
    [Known::AES_128_CBC.openssl_names()] cbc::AES_128, c"AES-128-CBC by Lanecrypt";
    [Known::AES_192_CBC.openssl_names()] cbc::AES_192, c"AES-192-CBC by Lanecrypt";
    [Known::AES_256_CBC.openssl_names()] cbc::AES_256, c"AES-256-CBC by Lanecrypt";
    [Known::AES_128_XTS.openssl_names()] xts::AES_128, c"AES-128-XTS by Lanecrypt";
    [Known::AES_256_XTS.openssl_names()] xts::AES_256, c"AES-256-XTS by Lanecrypt";
    #[cfg(feature = "null")]
    [c"LANECRYPT-NULL"] crate::aead::null::FUNCTIONS, c"Nothing";
    [Known::CHACHA20_POLY1305.openssl_names()] chacha::FUNCTIONS, c"ChaCha20-Poly1305 by Lanecrypt";
};

static GENERATOR_LIST: Table<&[Algorithm]> = algorithms! {
    [c"LANECRYPT"] rand::FUNCTIONS, c"Lanecrypt's generator, one for each thread";
};

/// Keys: those of RSA, those of curves, or both. The same for signatures.
static KEY_LISTS: [Table<&[Algorithm]>; 3] = [
    algorithms! { [RSA] rsa::KEYS, c"RSA keys for Lanecrypt"; },
    algorithms! {
        [EC] curves::EC_KEYS, c"EC keys for Lanecrypt";
        [X25519] curves::X25519_KEYS, c"X25519 keys for Lanecrypt";
    },
    algorithms! {
        [RSA] rsa::KEYS, c"RSA keys for Lanecrypt";
        [EC] curves::EC_KEYS, c"EC keys for Lanecrypt";
        [X25519] curves::X25519_KEYS, c"X25519 keys for Lanecrypt";
    },
];

static SIGNATURE_LISTS: [Table<&[Algorithm]>; 3] = [
    algorithms! { [RSA] rsa::SIGNATURES, c"RSA signatures by Lanecrypt"; },
    algorithms! { [c"ECDSA"] curves::ECDSA, c"ECDSA signatures by Lanecrypt"; },
    algorithms! {
        [RSA] rsa::SIGNATURES, c"RSA signatures by Lanecrypt";
        [c"ECDSA"] curves::ECDSA, c"ECDSA signatures by Lanecrypt";
    },
];

static EXCHANGE_LIST: Table<&[Algorithm]> = algorithms! {
    [c"ECDH"] curves::ECDH, c"ECDH by Lanecrypt";
    [X25519] curves::X25519_EXCHANGE, c"X25519 by Lanecrypt";
};

const RSA: &CStr = c"RSA:rsaEncryption:1.2.840.113549.1.1.1";
const EC: &CStr = c"EC:id-ecPublicKey:1.2.840.10045.2.1";
const X25519: &CStr = c"X25519:1.3.101.110";

static DECODER_LIST: Table<&[Algorithm]> = Table(&[
    Algorithm {
        names: c"DER".as_ptr(),
        properties: c"provider=lanecrypt,input=pem".as_ptr(),
        functions: rsa::PEM.0.as_ptr(),
        description: c"Names of keys in Lanecrypt's daemon".as_ptr(),
    },
    Algorithm {
        names: c"RSA:rsaEncryption:1.2.840.113549.1.1.1".as_ptr(),
        properties: c"provider=lanecrypt,input=der,structure=lanecrypt-uri".as_ptr(),
        functions: rsa::NAMES.0.as_ptr(),
        description: c"RSA keys in Lanecrypt's daemon".as_ptr(),
    },
    Algorithm {
        names: ptr::null(),
        properties: ptr::null(),
        functions: ptr::null(),
        description: ptr::null(),
    },
]);

static STORE_LIST: Table<&[Algorithm]> = algorithms! {
    [c"lanecrypt"] rsa::STORE, c"RSA keys in Lanecrypt's daemon";
};

unsafe extern "C" fn query(
    provider: *mut c_void,
    operation: c_int,
    do_not_store: *mut c_int,
) -> *const Algorithm {
    if !do_not_store.is_null() {
        // SAFETY: OpenSSL's place for an answer.
        unsafe { do_not_store.write(0) };
    }
    // SAFETY: the value that `OSSL_provider_init` gave.
    let provider = unsafe { provider.cast::<Provider>().as_ref() };
    let has_rsa = provider.is_some_and(|provider| provider.rsa.is_some());
    let has_curves = provider.is_some_and(|provider| provider.curves.is_some());
    let of_keys = |lists: &[Table<&[Algorithm]>; 3]| match (has_rsa, has_curves) {
        (false, false) => ptr::null(),
        (true, false) => lists[0].0.as_ptr(),
        (false, true) => lists[1].0.as_ptr(),
        (true, true) => lists[2].0.as_ptr(),
    };
    match operation {
        CIPHERS => CIPHER_LIST.0.as_ptr(),
        GENERATORS => GENERATOR_LIST.0.as_ptr(),
        KEYS => of_keys(&KEY_LISTS),
        SIGNATURES => of_keys(&SIGNATURE_LISTS),
        EXCHANGES if has_curves => EXCHANGE_LIST.0.as_ptr(),
        DECODERS if has_rsa => DECODER_LIST.0.as_ptr(),
        STORES if has_rsa => STORE_LIST.0.as_ptr(),
        _ => ptr::null(),
    }
}

unsafe extern "C" fn gettable(_: *mut c_void) -> *const Param {
    described!(
        c"name" text, c"version" text, c"buildinfo" text, c"status" integer,
        c"lanecrypt-contexts" wide, c"lanecrypt-messages" wide, c"lanecrypt-draws" wide,
        c"lanecrypt-signatures" wide, c"lanecrypt-together" wide, c"lanecrypt-checks" wide,
        c"lanecrypt-keys" wide, c"lanecrypt-agreements" wide,
    )
}

unsafe extern "C" fn get_params(_: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: a list of OpenSSL's.
    let mut params_out = unsafe { ParamsOut::new(params) };
    status(params_out.all(|mut param_out| {
        let name = param_out.name();
        if name.is(c"name") {
            param_out.text(c"Lanecrypt")
        } else if name.is(c"version") || name.is(c"buildinfo") {
            param_out.text(VERSION)
        } else if name.is(c"status") {
            param_out.small(1)
        } else if name.is(c"lanecrypt-contexts") {
            param_out.wide(COUNTS.contexts.load(Ordering::Relaxed))
        } else if name.is(c"lanecrypt-messages") {
            param_out.wide(COUNTS.messages.load(Ordering::Relaxed))
        } else if name.is(c"lanecrypt-draws") {
            param_out.wide(COUNTS.draws.load(Ordering::Relaxed))
        } else if name.is(c"lanecrypt-signatures") {
            param_out.wide(COUNTS.signatures.load(Ordering::Relaxed))
        } else if name.is(c"lanecrypt-together") {
            param_out.wide(COUNTS.together.load(Ordering::Relaxed))
        } else if name.is(c"lanecrypt-checks") {
            param_out.wide(COUNTS.checks.load(Ordering::Relaxed))
        } else if name.is(c"lanecrypt-keys") {
            param_out.wide(COUNTS.keys.load(Ordering::Relaxed))
        } else if name.is(c"lanecrypt-agreements") {
            param_out.wide(COUNTS.agreements.load(Ordering::Relaxed))
        } else {
            true
        }
    }))
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zero"),
    };
