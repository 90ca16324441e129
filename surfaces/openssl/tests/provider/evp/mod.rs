//! Libcrypto, found at run time, as far as the tests call it. No headers are needed.

/// Functions of a library, found at run time.
macro_rules! functions {
    ($(#[$about:meta])* $struct:ident; $($name:ident($($arg:ty),* $(; $more:tt)?) $(-> $out:ty)?;)+) => {
        $(#[$about])*
        #[allow(non_snake_case)]
        pub(crate) struct $struct {
            #[allow(dead_code, reason = "a libssl has that of its libcrypto")]
            pub(crate) name: &'static str,
            $($name: unsafe extern "C" fn($($arg),* $(, $more)?) $(-> $out)?,)+
        }

        impl $struct {
            fn load(name: &'static str, path: &Path) -> Option<Self> {
                // SAFETY: OpenSSL's libraries may be loaded at any time.
                let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.ok()?;
                // Never closed.
                let library = Box::leak(Box::new(library));
                Some(Self {
                    name,
                    $($name: {
                        // SAFETY: the manual says that the function has this type.
                        let found = unsafe { library.get(stringify!($name).as_bytes()) };
                        *found.expect(stringify!($name))
                    },)+
                })
            }
        }
    };
}

mod cipher;
mod exchange;
mod file;
mod generator;
mod job;
mod signature;
mod ssl;

use core::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use std::env;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

pub(crate) use self::cipher::{Cipher, IV_GEN, Keyed, SET_IV_FIXED, TLS_AAD};
pub(crate) use self::exchange::Curve;
pub(crate) use self::generator::Generator;
pub(crate) use self::job::{Jobs, Step};
pub(crate) use self::signature::{Key, Padding};
pub(crate) use self::ssl::{Quic, Side, Ssl, certificate, connect};

/// A parameter, as `openssl/core.h` declares it.
#[repr(C)]
pub(crate) struct Param {
    key: *const c_char,
    data_type: c_uint,
    data: *mut c_void,
    size: usize,
    pub(crate) returned: usize,
}

impl Param {
    fn new(key: &CStr, data_type: c_uint, data: *mut c_void, size: usize) -> Self {
        Self { key: key.as_ptr(), data_type, data, size, returned: usize::MAX }
    }

    fn end() -> Self {
        Self { key: ptr::null(), data_type: 0, data: ptr::null_mut(), size: 0, returned: 0 }
    }
}

type Raw = *mut c_void;
type Bytes = *const u8;
/// What a job runs.
type Entry = unsafe extern "C" fn(*mut c_void) -> c_int;

functions! {
    /// The functions of one libcrypto.
    Crypto;
    OSSL_LIB_CTX_new() -> Raw;
    OSSL_LIB_CTX_free(Raw);
    OSSL_PROVIDER_set_default_search_path(Raw, *const c_char) -> c_int;
    OSSL_PROVIDER_load(Raw, *const c_char) -> Raw;
    OSSL_PROVIDER_unload(Raw) -> c_int;
    OSSL_PROVIDER_get_params(Raw, *mut Param) -> c_int;
    EVP_CIPHER_fetch(Raw, *const c_char, *const c_char) -> Raw;
    EVP_CIPHER_free(Raw);
    EVP_CIPHER_get_params(Raw, *mut Param) -> c_int;
    EVP_CIPHER_CTX_new() -> Raw;
    EVP_CIPHER_CTX_free(Raw);
    EVP_CIPHER_CTX_copy(Raw, Raw) -> c_int;
    EVP_CipherInit_ex2(Raw, Raw, Bytes, Bytes, c_int, *const Param) -> c_int;
    EVP_CipherUpdate(Raw, *mut u8, *mut c_int, Bytes, c_int) -> c_int;
    EVP_CipherFinal_ex(Raw, *mut u8, *mut c_int) -> c_int;
    EVP_Cipher(Raw, *mut u8, Bytes, c_uint) -> c_int;
    EVP_CIPHER_CTX_ctrl(Raw, c_int, c_int, Raw) -> c_int;
    EVP_CIPHER_CTX_set_padding(Raw, c_int) -> c_int;
    EVP_CIPHER_CTX_get_params(Raw, *mut Param) -> c_int;
    EVP_CIPHER_CTX_set_params(Raw, *const Param) -> c_int;
    EVP_RAND_fetch(Raw, *const c_char, *const c_char) -> Raw;
    EVP_RAND_free(Raw);
    EVP_RAND_CTX_new(Raw, Raw) -> Raw;
    EVP_RAND_CTX_free(Raw);
    EVP_RAND_instantiate(Raw, c_uint, c_int, Bytes, usize, *const Param) -> c_int;
    EVP_RAND_uninstantiate(Raw) -> c_int;
    EVP_RAND_generate(Raw, *mut u8, usize, c_uint, c_int, Bytes, usize) -> c_int;
    EVP_RAND_reseed(Raw, c_int, Bytes, usize, Bytes, usize) -> c_int;
    EVP_RAND_nonce(Raw, *mut u8, usize) -> c_int;
    EVP_RAND_enable_locking(Raw) -> c_int;
    EVP_RAND_verify_zeroization(Raw) -> c_int;
    EVP_RAND_get_state(Raw) -> c_int;
    EVP_RAND_get_strength(Raw) -> c_uint;
    RAND_set_DRBG_type(Raw, *const c_char, *const c_char, *const c_char, *const c_char) -> c_int;
    RAND_bytes_ex(Raw, *mut u8, usize, c_uint) -> c_int;
    RAND_priv_bytes_ex(Raw, *mut u8, usize, c_uint) -> c_int;
    RAND_get0_primary(Raw) -> Raw;
    OPENSSL_thread_stop_ex(Raw);
    ERR_clear_error();
    ERR_get_error_all(*mut *const c_char, *mut c_int, *mut *const c_char, *mut *const c_char, *mut c_int)
        -> c_ulong;
    ERR_reason_error_string(c_ulong) -> *const c_char;
    BIO_new_mem_buf(Bytes, c_int) -> Raw;
    BIO_free(Raw) -> c_int;
    PEM_read_bio_PrivateKey_ex(Raw, *mut Raw, Raw, Raw, Raw, *const c_char) -> Raw;
    PEM_read_bio_PUBKEY_ex(Raw, *mut Raw, Raw, Raw, Raw, *const c_char) -> Raw;
    OSSL_STORE_open_ex(*const c_char, Raw, *const c_char, Raw, Raw, *const Param, Raw, Raw) -> Raw;
    OSSL_STORE_expect(Raw, c_int) -> c_int;
    OSSL_STORE_load(Raw) -> Raw;
    OSSL_STORE_eof(Raw) -> c_int;
    OSSL_STORE_close(Raw) -> c_int;
    OSSL_STORE_INFO_get1_PKEY(Raw) -> Raw;
    OSSL_STORE_INFO_free(Raw);
    EVP_set_default_properties(Raw, *const c_char) -> c_int;
    OSSL_LIB_CTX_load_config(Raw, *const c_char) -> c_int;
    EVP_PKEY_Q_keygen(Raw, *const c_char, *const c_char; ...) -> Raw;
    EVP_PKEY_CTX_new_from_name(Raw, *const c_char, *const c_char) -> Raw;
    EVP_PKEY_CTX_new_from_pkey(Raw, Raw, *const c_char) -> Raw;
    EVP_PKEY_CTX_free(Raw);
    EVP_PKEY_CTX_set_params(Raw, *const Param) -> c_int;
    EVP_PKEY_CTX_get_params(Raw, *mut Param) -> c_int;
    EVP_PKEY_keygen_init(Raw) -> c_int;
    EVP_PKEY_generate(Raw, *mut Raw) -> c_int;
    EVP_PKEY_fromdata_init(Raw) -> c_int;
    EVP_PKEY_fromdata(Raw, *mut Raw, c_int, *const Param) -> c_int;
    EVP_PKEY_todata(Raw, c_int, *mut *mut Param) -> c_int;
    OSSL_PARAM_free(*mut Param);
    EVP_PKEY_get_params(Raw, *mut Param) -> c_int;
    EVP_PKEY_eq(Raw, Raw) -> c_int;
    EVP_PKEY_check(Raw) -> c_int;
    EVP_PKEY_dup(Raw) -> Raw;
    EVP_PKEY_free(Raw);
    EVP_PKEY_new() -> Raw;
    EVP_PKEY_copy_parameters(Raw, Raw) -> c_int;
    EVP_PKEY_get0_type_name(Raw) -> *const c_char;
    EVP_PKEY_get1_encoded_public_key(Raw, *mut *mut u8) -> usize;
    EVP_PKEY_set1_encoded_public_key(Raw, Bytes, usize) -> c_int;
    EVP_PKEY_derive_init_ex(Raw, *const Param) -> c_int;
    EVP_PKEY_derive_set_peer_ex(Raw, Raw, c_int) -> c_int;
    EVP_PKEY_derive(Raw, *mut u8, *mut usize) -> c_int;
    EVP_PKEY_CTX_dup(Raw) -> Raw;
    CRYPTO_free(*mut u8, *const c_char, c_int);
    EVP_PKEY_sign_init_ex(Raw, *const Param) -> c_int;
    EVP_PKEY_sign(Raw, *mut u8, *mut usize, Bytes, usize) -> c_int;
    EVP_PKEY_verify_init_ex(Raw, *const Param) -> c_int;
    EVP_PKEY_verify(Raw, Bytes, usize, Bytes, usize) -> c_int;
    EVP_MD_CTX_new() -> Raw;
    EVP_MD_CTX_free(Raw);
    EVP_MD_CTX_copy_ex(Raw, Raw) -> c_int;
    EVP_DigestSignInit_ex(Raw, *mut Raw, *const c_char, Raw, *const c_char, Raw, *const Param)
        -> c_int;
    EVP_DigestSignUpdate(Raw, Bytes, usize) -> c_int;
    EVP_DigestSignFinal(Raw, *mut u8, *mut usize) -> c_int;
    EVP_DigestVerifyInit_ex(Raw, *mut Raw, *const c_char, Raw, *const c_char, Raw, *const Param)
        -> c_int;
    EVP_DigestVerifyUpdate(Raw, Bytes, usize) -> c_int;
    EVP_DigestVerifyFinal(Raw, Bytes, usize) -> c_int;
    ASYNC_start_job(*mut Raw, Raw, *mut c_int, Entry, *mut c_void, usize) -> c_int;
    ASYNC_WAIT_CTX_new() -> Raw;
    ASYNC_WAIT_CTX_free(Raw);
    ASYNC_WAIT_CTX_get_all_fds(Raw, *mut c_int, *mut usize) -> c_int;
    OpenSSL_version(c_int) -> *const c_char;
}

impl Crypto {
    /// Its name and version.
    pub(crate) fn version(&self) -> &'static str {
        // SAFETY: the argument asks for the version.
        let text = unsafe { (self.OpenSSL_version)(0) };
        // SAFETY: a string that stays.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_str().unwrap_or("unknown")
    }
}

/// Every libcrypto that is here: the system's, and the one of `make peers`.
pub(crate) fn libraries() -> &'static [Crypto] {
    static FOUND: OnceLock<Vec<Crypto>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found = Vec::new();
        match Crypto::load("system", Path::new("libcrypto.so.3")) {
            Some(library) => found.push(library),
            None => println!("SKIPPED openssl: apt install libssl3"),
        }
        let newest = target().join("peers/libcrypto-newest.so");
        match Crypto::load("newest", &newest) {
            Some(library) => found.push(library),
            None => println!("SKIPPED openssl-newest: make peers"),
        }
        found
    })
}

/// The folder of what cargo builds: programs are in `deps` or `examples` of a profile's folder.
fn target() -> PathBuf {
    let program = env::current_exe().expect("the program has a path");
    program.ancestors().nth(3).expect("a folder of a profile").to_path_buf()
}

/// The folder that has the module under the name that OpenSSL looks for.
pub(crate) fn modules() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let program = env::current_exe().expect("the program has a path");
            // Tests are beside it, examples in a folder below.
            let file = "liblanecrypt_openssl.so";
            let beside = program.with_file_name(file);
            let above =
                program.parent().and_then(|folder| Some(folder.parent()?.join("deps").join(file)));
            let built = match env::var_os("LANECRYPT_MODULE") {
                Some(module) => module.into(),
                None if beside.exists() => beside,
                None => above.expect("programs are in a folder"),
            };
            assert!(built.exists(), "no module at {}", built.display());
            let folder = target().join("tmp").join(std::process::id().to_string());
            std::fs::create_dir_all(&folder).expect("a folder for the module");
            let name = folder.join("lanecrypt.so");
            let _ = std::fs::remove_file(&name);
            std::os::unix::fs::symlink(built, name).expect("a link to the module");
            folder
        })
        .clone()
}

/// A library context with both providers.
pub(crate) struct Context {
    pub(crate) crypto: &'static Crypto,
    pub(crate) raw: Raw,
    ours: Raw,
    default: Raw,
}

// SAFETY: library contexts may be used by many threads.
unsafe impl Send for Context {}
// SAFETY: the same.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn new(crypto: &'static Crypto) -> Self {
        // SAFETY: no argument.
        let raw = unsafe { (crypto.OSSL_LIB_CTX_new)() };
        assert!(!raw.is_null());
        let mut context = Self { crypto, raw, ours: ptr::null_mut(), default: ptr::null_mut() };
        let folder = CString::new(modules().to_str().expect("UTF-8")).expect("no zero");
        // SAFETY: a context and a string.
        let set = unsafe { (crypto.OSSL_PROVIDER_set_default_search_path)(raw, folder.as_ptr()) };
        assert_eq!(set, 1);
        context.ours = context.load(c"lanecrypt");
        context.default = context.load(c"default");
        context
    }

    /// A library context with both providers, and with RSA and curves of ours.
    pub(crate) fn with_rsa(crypto: &'static Crypto) -> Self {
        // SAFETY: no argument.
        let raw = unsafe { (crypto.OSSL_LIB_CTX_new)() };
        assert!(!raw.is_null());
        let mut context = Self { crypto, raw, ours: ptr::null_mut(), default: ptr::null_mut() };
        let file = modules().join("rsa.cnf");
        let module = modules().join("lanecrypt.so");
        let text = format!(
            "openssl_conf = a\n[a]\nproviders = p\n[p]\ndefault = d\nlanecrypt = l\n\
             [d]\nactivate = 1\n[l]\nmodule = {}\nactivate = 1\nrsa = yes\ncurves = yes\n",
            module.display()
        );
        // Tests write the same at the same time, so the file appears as a whole.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let new = format!("rsa-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let new = modules().join(new);
        std::fs::write(&new, text).expect("a configuration");
        std::fs::rename(new, &file).expect("a configuration");
        let name = CString::new(file.to_str().expect("UTF-8")).expect("no zero");
        // SAFETY: a context and the name of a file.
        assert_eq!(unsafe { (crypto.OSSL_LIB_CTX_load_config)(raw, name.as_ptr()) }, 1);
        context.ours = context.load(c"lanecrypt");
        context.default = context.load(c"default");
        context
    }

    fn load(&self, name: &CStr) -> Raw {
        // SAFETY: a context and a string.
        let provider = unsafe { (self.crypto.OSSL_PROVIDER_load)(self.raw, name.as_ptr()) };
        assert!(!provider.is_null(), "{name:?} does not load");
        provider
    }

    /// Makes algorithms of these properties the usual ones.
    pub(crate) fn prefer(&self, properties: &CStr) {
        let prefer = self.crypto.EVP_set_default_properties;
        // SAFETY: a context and a string.
        assert_eq!(unsafe { prefer(self.raw, properties.as_ptr()) }, 1);
    }

    /// A number that our provider tells of itself.
    pub(crate) fn counter(&self, name: &CStr) -> u64 {
        let mut number = 0_u64;
        let mut params =
            [Param::new(name, 2, (&raw mut number).cast(), size_of::<u64>()), Param::end()];
        // SAFETY: a provider and a list of one param_out.
        let status =
            unsafe { (self.crypto.OSSL_PROVIDER_get_params)(self.ours, params.as_mut_ptr()) };
        assert_eq!((status, params[0].returned), (1, 8), "{name:?}");
        number
    }

    /// A cipher of the provider, if it has it.
    pub(crate) fn fetch(&self, name: &str, provider: &str) -> Option<Cipher<'_>> {
        let (name, properties) =
            (CString::new(name).ok()?, CString::new(format!("provider={provider}")).ok()?);
        // SAFETY: a context and two strings.
        let raw =
            unsafe { (self.crypto.EVP_CIPHER_fetch)(self.raw, name.as_ptr(), properties.as_ptr()) };
        if raw.is_null() {
            // SAFETY: no argument.
            unsafe { (self.crypto.ERR_clear_error)() };
            return None;
        }
        Some(Cipher { crypto: self.crypto, raw, of: core::marker::PhantomData })
    }

    /// A cipher of both providers.
    pub(crate) fn both(&self, name: &str) -> [Cipher<'_>; 2] {
        ["lanecrypt", "default"].map(|provider| {
            self.fetch(name, provider).unwrap_or_else(|| panic!("{provider} has no {name}"))
        })
    }

    /// A generator of a provider, instantiated.
    pub(crate) fn generator(&self, name: &CStr, parent: Option<&Generator<'_>>) -> Generator<'_> {
        // SAFETY: a context and a string.
        let fetched = unsafe { (self.crypto.EVP_RAND_fetch)(self.raw, name.as_ptr(), ptr::null()) };
        assert!(!fetched.is_null(), "no {name:?}");
        let parent = parent.map_or(ptr::null_mut(), |parent| parent.raw);
        // SAFETY: a generator, and no parent or a live one.
        let raw = unsafe { (self.crypto.EVP_RAND_CTX_new)(fetched, parent) };
        assert!(!raw.is_null());
        // SAFETY: the context holds it.
        unsafe { (self.crypto.EVP_RAND_free)(fetched) };
        Generator { crypto: self.crypto, raw, of: core::marker::PhantomData }
    }

    /// Makes this the generator of the library context.
    pub(crate) fn use_generator(&self, name: &CStr) -> bool {
        let null = ptr::null();
        // SAFETY: a context and a string.
        unsafe { (self.crypto.RAND_set_DRBG_type)(self.raw, name.as_ptr(), null, null, null) == 1 }
    }

    /// Draws from the context's generator.
    pub(crate) fn draw(&self, out: &mut [u8], private: bool) -> bool {
        let draw = if private { self.crypto.RAND_priv_bytes_ex } else { self.crypto.RAND_bytes_ex };
        // SAFETY: room for so many bytes.
        unsafe { draw(self.raw, out.as_mut_ptr(), out.len(), 256) == 1 }
    }

    /// Gives back what the calling thread has of the context. OpenSSL wants that of every thread
    /// that outlives a context, whatever its providers are.
    pub(crate) fn leave(&self) {
        // SAFETY: a context.
        unsafe { (self.crypto.OPENSSL_thread_stop_ex)(self.raw) };
    }

    /// Whether there is a generator to seed others from.
    pub(crate) fn has_primary(&self) -> bool {
        // SAFETY: a context.
        !unsafe { (self.crypto.RAND_get0_primary)(self.raw) }.is_null()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        for provider in [self.ours, self.default] {
            // SAFETY: a provider that was loaded here.
            unsafe { (self.crypto.OSSL_PROVIDER_unload)(provider) };
        }
        // SAFETY: nobody uses it again.
        unsafe { (self.crypto.OSSL_LIB_CTX_free)(self.raw) };
    }
}
