//! Libcrypto, found at run time, as far as the tests call it. No headers are needed.

mod generator;
mod job;
mod signature;

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use std::env;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

pub(crate) use self::generator::Generator;
pub(crate) use self::job::{Jobs, Step};
pub(crate) use self::signature::{Key, Padding};

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

macro_rules! functions {
    ($($name:ident($($arg:ty),* $(; $more:tt)?) $(-> $out:ty)?;)+) => {
        /// The functions of one libcrypto.
        #[allow(non_snake_case)]
        pub(crate) struct Crypto {
            pub(crate) name: &'static str,
            $($name: unsafe extern "C" fn($($arg),* $(, $more)?) $(-> $out)?,)+
        }

        impl Crypto {
            fn load(name: &'static str, path: &Path) -> Option<Self> {
                // SAFETY: libcrypto may be loaded at any time.
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

type Raw = *mut c_void;
type Bytes = *const u8;
/// What a job runs.
type Entry = unsafe extern "C" fn(*mut c_void) -> c_int;

functions! {
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
    raw: Raw,
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

    /// A library context with both providers, and with RSA of ours.
    pub(crate) fn with_rsa(crypto: &'static Crypto) -> Self {
        // SAFETY: no argument.
        let raw = unsafe { (crypto.OSSL_LIB_CTX_new)() };
        assert!(!raw.is_null());
        let mut context = Self { crypto, raw, ours: ptr::null_mut(), default: ptr::null_mut() };
        let file = modules().join("rsa.cnf");
        let module = modules().join("lanecrypt.so");
        let text = format!(
            "openssl_conf = a\n[a]\nproviders = p\n[p]\ndefault = d\nlanecrypt = l\n\
             [d]\nactivate = 1\n[l]\nmodule = {}\nactivate = 1\nrsa = yes\n",
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

    /// A number that our provider tells of itself.
    pub(crate) fn told(&self, name: &CStr) -> u64 {
        let mut number = 0_u64;
        let mut params =
            [Param::new(name, 2, (&raw mut number).cast(), size_of::<u64>()), Param::end()];
        // SAFETY: a provider and a list of one question.
        let told =
            unsafe { (self.crypto.OSSL_PROVIDER_get_params)(self.ours, params.as_mut_ptr()) };
        assert_eq!((told, params[0].returned), (1, 8), "{name:?}");
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

/// A cipher of one provider.
pub(crate) struct Cipher<'c> {
    crypto: &'static Crypto,
    raw: Raw,
    of: core::marker::PhantomData<&'c Context>,
}

// SAFETY: ciphers without a key may be used by many threads.
unsafe impl Sync for Cipher<'_> {}

impl Cipher<'_> {
    /// A number that is asked for, and its size, if the cipher knows it.
    pub(crate) fn number(&self, name: &CStr) -> Option<(u64, usize)> {
        let mut number = 0_u64;
        let mut params =
            [Param::new(name, 2, (&raw mut number).cast(), size_of::<u64>()), Param::end()];
        // SAFETY: a cipher and a list of one question.
        let told = unsafe { (self.crypto.EVP_CIPHER_get_params)(self.raw, params.as_mut_ptr()) };
        (told == 1 && params[0].returned != usize::MAX).then_some((number, params[0].returned))
    }

    /// A context without a key.
    pub(crate) fn context(&self) -> Keyed<'_> {
        // SAFETY: no argument.
        let raw = unsafe { (self.crypto.EVP_CIPHER_CTX_new)() };
        assert!(!raw.is_null());
        Keyed { cipher: self, raw, begun: false }
    }
}

impl Drop for Cipher<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it again.
        unsafe { (self.crypto.EVP_CIPHER_free)(self.raw) };
    }
}

/// A context of a cipher.
pub(crate) struct Keyed<'c> {
    cipher: &'c Cipher<'c>,
    raw: Raw,
    /// Whether it knows its cipher. One that is told again forgets its key.
    begun: bool,
}

// SAFETY: a context may go to another thread.
unsafe impl Send for Keyed<'_> {}

/// Controls of contexts.
pub(crate) const SET_IV_LENGTH: c_int = 0x9;
pub(crate) const GET_TAG: c_int = 0x10;
pub(crate) const SET_TAG: c_int = 0x11;
pub(crate) const SET_IV_FIXED: c_int = 0x12;
pub(crate) const IV_GEN: c_int = 0x13;
pub(crate) const TLS_AAD: c_int = 0x16;

impl Keyed<'_> {
    pub(crate) fn init(&mut self, encrypt: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> bool {
        let pointer = |bytes: Option<&[u8]>| bytes.map_or(ptr::null(), <[u8]>::as_ptr);
        let cipher = if self.begun { ptr::null_mut() } else { self.cipher.raw };
        self.begun = true;
        // SAFETY: the tests give as many bytes as the cipher takes.
        1 == unsafe {
            (self.cipher.crypto.EVP_CipherInit_ex2)(
                self.raw,
                cipher,
                pointer(key),
                pointer(iv),
                encrypt.into(),
                ptr::null(),
            )
        }
    }

    /// Associated data.
    pub(crate) fn associate(&mut self, aad: &[u8]) -> Option<usize> {
        let mut written = -1;
        let length = c_int::try_from(aad.len()).expect("short");
        // SAFETY: so many bytes.
        let good = unsafe {
            let update = self.cipher.crypto.EVP_CipherUpdate;
            update(self.raw, ptr::null_mut(), &raw mut written, aad.as_ptr(), length)
        };
        (good == 1).then(|| usize::try_from(written).expect("a length"))
    }

    /// Data, with a block more of room: what was written.
    pub(crate) fn update(&mut self, data: &[u8]) -> Option<Vec<u8>> {
        let mut out = vec![0; data.len() + 32];
        let mut written = -1;
        let length = c_int::try_from(data.len()).expect("short");
        // SAFETY: so many bytes, and room for more.
        let good = unsafe {
            let update = self.cipher.crypto.EVP_CipherUpdate;
            update(self.raw, out.as_mut_ptr(), &raw mut written, data.as_ptr(), length)
        };
        out.truncate(usize::try_from(written).unwrap_or_default());
        (good == 1).then_some(out)
    }

    /// Data in place, of which so many bytes are given: how many were written.
    pub(crate) fn update_in_place(&mut self, data: &mut [u8], length: usize) -> Option<usize> {
        let mut written = -1;
        let length = c_int::try_from(length).expect("short");
        let place = data.as_mut_ptr();
        // SAFETY: so many bytes.
        let good = unsafe {
            let update = self.cipher.crypto.EVP_CipherUpdate;
            update(self.raw, place, &raw mut written, place, length)
        };
        (good == 1).then(|| usize::try_from(written).expect("a length"))
    }

    /// Data that lie `by` bytes before where they are wanted, or behind if it is negative.
    pub(crate) fn update_overlapping(&mut self, data: &[u8], by: isize) -> Option<Vec<u8>> {
        let mut room = vec![0; data.len() + 2 * by.unsigned_abs()];
        let (from, to) = if by < 0 { (by.unsigned_abs(), 0) } else { (0, by.unsigned_abs()) };
        room[from..from + data.len()].copy_from_slice(data);
        let mut written = -1;
        let place = room.as_mut_ptr();
        let (from, to) = (place.wrapping_add(from), place.wrapping_add(to));
        let length = c_int::try_from(data.len()).expect("short");
        let data_len = data.len();
        // SAFETY: both are within the room.
        let good = unsafe {
            (self.cipher.crypto.EVP_CipherUpdate)(self.raw, to, &raw mut written, from, length)
        };
        let to = to.addr() - place.addr();
        let data = &room[to..to + data_len];
        (good == 1).then(|| data.to_vec())
    }

    pub(crate) fn end(&mut self) -> Option<Vec<u8>> {
        let mut out = vec![0; 32];
        let mut written = -1;
        // SAFETY: room for a block.
        let good = unsafe {
            let end = self.cipher.crypto.EVP_CipherFinal_ex;
            end(self.raw, out.as_mut_ptr(), &raw mut written)
        };
        out.truncate(usize::try_from(written).unwrap_or_default());
        (good == 1).then_some(out)
    }

    /// `EVP_Cipher` with what is given: its answer and the output.
    pub(crate) fn cipher(&mut self, data: Option<&[u8]>, writes: bool) -> (c_int, Vec<u8>) {
        let length = data.map_or(0, <[u8]>::len);
        let mut out = vec![0; length + 32];
        let place = if writes { out.as_mut_ptr() } else { ptr::null_mut() };
        let input = data.map_or(ptr::null(), <[u8]>::as_ptr);
        // SAFETY: so many bytes, and room for more.
        let answer = unsafe {
            let cipher = self.cipher.crypto.EVP_Cipher;
            cipher(self.raw, place, input, c_uint::try_from(length).expect("short"))
        };
        out.truncate(length);
        (answer, out)
    }

    pub(crate) fn control(&mut self, number: c_int, argument: c_int, data: &mut [u8]) -> c_int {
        let data = if data.is_empty() { ptr::null_mut() } else { data.as_mut_ptr().cast() };
        // SAFETY: the control takes so many bytes.
        unsafe { (self.cipher.crypto.EVP_CIPHER_CTX_ctrl)(self.raw, number, argument, data) }
    }

    /// A whole message, as programs that keep their contexts send and receive it: vector, associated
    /// data, data in pieces that end at `cut` and at the end, the end and the tag. In place if there
    /// is no input.
    #[allow(clippy::too_many_arguments, dead_code, reason = "for the example `measure`")]
    #[inline]
    pub(crate) fn message(
        &mut self,
        encrypt: bool,
        iv: &[u8; 12],
        aad: &[u8],
        input: Option<&[u8]>,
        data: &mut [u8],
        cut: usize,
        tag: &mut [u8; 16],
    ) -> bool {
        let crypto = self.cipher.crypto;
        let mut written = 0;
        let (raw, written) = (self.raw, &raw mut written);
        let (none, no_params) = (ptr::null(), ptr::null());
        // SAFETY: a context and a vector.
        let mut good = 1
            == unsafe {
                let init = crypto.EVP_CipherInit_ex2;
                init(raw, ptr::null_mut(), none, iv.as_ptr(), encrypt.into(), no_params)
            };
        if !encrypt {
            let tag = tag.as_mut_ptr().cast();
            // SAFETY: a context and a tag.
            good &= 1 == unsafe { (crypto.EVP_CIPHER_CTX_ctrl)(raw, SET_TAG, 16, tag) };
        }
        let mut update = |to: *mut u8, from: *const u8, length: usize| {
            let length = c_int::try_from(length).unwrap_or(-1);
            // SAFETY: as many bytes as are said.
            good &= 1 == unsafe { (crypto.EVP_CipherUpdate)(raw, to, written, from, length) };
        };
        update(ptr::null_mut(), aad.as_ptr(), aad.len());
        let (from, to) = (input.map_or(data.as_ptr(), <[u8]>::as_ptr), data.as_mut_ptr());
        for (at, end) in [(0, cut), (cut, data.len())] {
            if at < end {
                update(to.wrapping_add(at), from.wrapping_add(at), end - at);
            }
        }
        // SAFETY: a context, and room for a block.
        good &= 1 == unsafe { (crypto.EVP_CipherFinal_ex)(raw, tag.as_mut_ptr(), written) };
        if encrypt {
            let tag = tag.as_mut_ptr().cast();
            // SAFETY: a context and room for a tag.
            good &= 1 == unsafe { (crypto.EVP_CIPHER_CTX_ctrl)(raw, GET_TAG, 16, tag) };
        }
        good
    }

    pub(crate) fn tag(&mut self, length: usize) -> Option<Vec<u8>> {
        let mut tag = vec![0; length.max(1)];
        let length = c_int::try_from(length).expect("short");
        (self.control(GET_TAG, length, &mut tag) == 1).then_some(tag)
    }

    pub(crate) fn set_tag(&mut self, tag: &[u8]) -> bool {
        let length = c_int::try_from(tag.len()).expect("short");
        self.control(SET_TAG, length, &mut tag.to_vec()) == 1
    }

    pub(crate) fn set_iv_length(&mut self, length: usize) -> bool {
        self.control(SET_IV_LENGTH, c_int::try_from(length).expect("short"), &mut []) == 1
    }

    pub(crate) fn set_padding(&mut self, pads: bool) -> bool {
        // SAFETY: a context.
        1 == unsafe { (self.cipher.crypto.EVP_CIPHER_CTX_set_padding)(self.raw, pads.into()) }
    }

    /// A number that is asked for, with a place of so many bytes.
    pub(crate) fn number(&mut self, name: &CStr, size: usize) -> Option<(u64, usize)> {
        let mut number = 0_u64;
        let mut params = [Param::new(name, 2, (&raw mut number).cast(), size), Param::end()];
        // SAFETY: a context and a list of one question.
        let told = unsafe {
            (self.cipher.crypto.EVP_CIPHER_CTX_get_params)(self.raw, params.as_mut_ptr())
        };
        (told == 1 && params[0].returned != usize::MAX).then_some((number, params[0].returned))
    }

    /// Bytes that are asked for, with a place of so many.
    pub(crate) fn octets(&mut self, name: &CStr, size: usize) -> Option<Vec<u8>> {
        let mut place = vec![0; size.max(1)];
        let mut params = [Param::new(name, 5, place.as_mut_ptr().cast(), size), Param::end()];
        // SAFETY: a context and a list of one question.
        let told = unsafe {
            (self.cipher.crypto.EVP_CIPHER_CTX_get_params)(self.raw, params.as_mut_ptr())
        };
        // Some answers do not tell their length.
        place.truncate(params[0].returned.min(size));
        (told == 1).then_some(place)
    }

    /// The bytes of the context that the cipher points to.
    pub(crate) fn pointed(&mut self, name: &CStr) -> Option<Option<Vec<u8>>> {
        let mut place: *const u8 = ptr::null();
        let mut params = [Param::new(name, 7, (&raw mut place).cast(), 0), Param::end()];
        // SAFETY: a context and a list of one question.
        let told = unsafe {
            (self.cipher.crypto.EVP_CIPHER_CTX_get_params)(self.raw, params.as_mut_ptr())
        };
        if told != 1 || params[0].returned == usize::MAX {
            return None;
        }
        // SAFETY: the cipher says how many bytes there are.
        let bytes = || unsafe { core::slice::from_raw_parts(place, params[0].returned) };
        Some((!place.is_null()).then(|| bytes().to_vec()))
    }

    /// Sets numbers.
    pub(crate) fn set_numbers(&mut self, numbers: &mut [(&CStr, u64)]) -> bool {
        let mut params: Vec<_> = numbers
            .iter_mut()
            .map(|(name, number)| Param::new(name, 2, ptr::from_mut(number).cast(), 8))
            .collect();
        params.push(Param::end());
        // SAFETY: a context and a list of settings.
        1 == unsafe { (self.cipher.crypto.EVP_CIPHER_CTX_set_params)(self.raw, params.as_ptr()) }
    }

    pub(crate) fn copied(&self) -> Option<Self> {
        let mut copy = self.cipher.context();
        copy.begun = true;
        // SAFETY: two contexts.
        let good = unsafe { (self.cipher.crypto.EVP_CIPHER_CTX_copy)(copy.raw, self.raw) };
        (good == 1).then_some(copy)
    }
}

impl Drop for Keyed<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it again.
        unsafe { (self.cipher.crypto.EVP_CIPHER_CTX_free)(self.raw) };
    }
}
