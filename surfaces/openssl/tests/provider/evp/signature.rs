//! Keys and signatures, by `EVP_PKEY`.

use core::ffi::{CStr, c_int};
use core::marker::PhantomData;
use core::ptr;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use super::{Context, Crypto, Param, Raw};

/// A key.
pub(crate) struct Key<'c> {
    pub(super) context: &'c Context,
    pub(super) raw: Raw,
    of: PhantomData<&'c Context>,
}

// SAFETY: keys may be used by many threads.
unsafe impl Send for Key<'_> {}
// SAFETY: the same.
unsafe impl Sync for Key<'_> {}

/// Settings of signatures, as OpenSSL spells them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Padding<'p> {
    /// None signs what it is given.
    pub(crate) hash: Option<&'p str>,
    /// `pkcs1`, `pss` or `x931`; empty for keys of curves.
    pub(crate) mode: &'p str,
    pub(crate) salt: Option<i32>,
    pub(crate) mask: Option<&'p str>,
}

/// Parameters whose values live beside them.
#[derive(Default)]
struct List {
    texts: Vec<CString>,
    salt: Option<Box<i32>>,
    params: Vec<Param>,
}

impl List {
    fn of(padding: Padding<'_>, with_hash: bool) -> Self {
        let mut list = Self::default();
        list.text(c"digest", padding.hash.filter(|_| with_hash));
        list.text(c"pad-mode", Some(padding.mode).filter(|mode| !mode.is_empty()));
        if let Some(salt) = padding.salt {
            let mut number = Box::new(salt);
            list.params.push(Param::new(c"saltlen", 1, ptr::from_mut(&mut *number).cast(), 4));
            list.salt = Some(number);
        }
        list.text(c"mgf1-digest", padding.mask);
        list.params.push(Param::end());
        list
    }

    fn text(&mut self, name: &CStr, text: Option<&str>) {
        if let Some(text) = text {
            let text = CString::new(text).expect("no zero");
            let length = text.count_bytes();
            self.params.push(Param::new(name, 4, text.as_ptr().cast_mut().cast(), length));
            self.texts.push(text);
        }
    }
}

/// A property query for a provider.
pub(super) fn from(provider: &str) -> CString {
    // Hash functions are the default provider's.
    let query = match provider {
        "lanecrypt" => "?provider=lanecrypt".to_owned(),
        other => format!("provider={other}"),
    };
    CString::new(query).expect("no zero")
}

impl Context {
    /// A new key of a provider.
    pub(crate) fn new_key(&self, provider: &str, bits: usize) -> Key<'_> {
        let query = from(provider);
        let generate = self.crypto.EVP_PKEY_Q_keygen;
        // SAFETY: a context, two strings, and the number of bits that RSA wants.
        let raw = unsafe { generate(self.raw, query.as_ptr(), c"RSA".as_ptr(), bits) };
        self.key(raw)
    }

    /// A key of the default provider that all tests share: a second goes by until one is made.
    pub(crate) fn shared_key(&self, bits: usize) -> Key<'_> {
        static MADE: Mutex<BTreeMap<usize, [Vec<u8>; NUMBERS.len()]>> = Mutex::new(BTreeMap::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers = made.entry(bits).or_insert_with(|| {
            let key = self.new_key("default", bits);
            NUMBERS.map(|name| key.number(name).expect("it has two primes"))
        });
        let params = NUMBERS.iter().zip(numbers);
        let params = params
            .map(|(name, number)| Param::new(name, 2, number.as_mut_ptr().cast(), number.len()));
        let params: Vec<_> = params.chain([Param::end()]).collect();
        self.key_from("default", c"RSA", PAIR, params.as_ptr())
    }

    /// A key of a type and these numbers.
    pub(super) fn key_from(
        &self,
        provider: &str,
        name: &CStr,
        selection: c_int,
        params: *const Param,
    ) -> Key<'_> {
        let (query, crypto) = (from(provider), self.crypto);
        // SAFETY: a context and two strings.
        let making =
            unsafe { (crypto.EVP_PKEY_CTX_new_from_name)(self.raw, name.as_ptr(), query.as_ptr()) };
        // SAFETY: a context.
        assert_eq!(unsafe { (crypto.EVP_PKEY_fromdata_init)(making) }, 1);
        let mut raw = ptr::null_mut();
        // SAFETY: a context, a place, and a list.
        let made = unsafe { (crypto.EVP_PKEY_fromdata)(making, &raw mut raw, selection, params) };
        assert_eq!(made, 1);
        // SAFETY: it was made here.
        unsafe { (crypto.EVP_PKEY_CTX_free)(making) };
        self.key(raw)
    }

    /// A new key with so many primes.
    pub(crate) fn new_key_of_primes(
        &self,
        provider: &str,
        mut bits: u32,
        mut primes: u32,
    ) -> Key<'_> {
        let (query, crypto) = (from(provider), self.crypto);
        // SAFETY: a context and two strings.
        let making = unsafe {
            (crypto.EVP_PKEY_CTX_new_from_name)(self.raw, c"RSA".as_ptr(), query.as_ptr())
        };
        // SAFETY: a context.
        assert_eq!(unsafe { (crypto.EVP_PKEY_keygen_init)(making) }, 1);
        let params = [
            Param::new(c"bits", 2, (&raw mut bits).cast(), 4),
            Param::new(c"primes", 2, (&raw mut primes).cast(), 4),
            Param::end(),
        ];
        // SAFETY: a context and a list.
        assert_eq!(unsafe { (crypto.EVP_PKEY_CTX_set_params)(making, params.as_ptr()) }, 1);
        let mut raw = ptr::null_mut();
        // SAFETY: a context and a place.
        assert_eq!(unsafe { (crypto.EVP_PKEY_generate)(making, &raw mut raw) }, 1);
        // SAFETY: it was made here.
        unsafe { (crypto.EVP_PKEY_CTX_free)(making) };
        self.key(raw)
    }

    pub(super) fn key(&self, raw: Raw) -> Key<'_> {
        assert!(!raw.is_null());
        Key { context: self, raw, of: PhantomData }
    }
}

/// The numbers of a key with two primes.
const NUMBERS: [&CStr; 8] = [
    c"n",
    c"e",
    c"d",
    c"rsa-factor1",
    c"rsa-factor2",
    c"rsa-exponent1",
    c"rsa-exponent2",
    c"rsa-coefficient1",
];

/// `EVP_PKEY_KEYPAIR` and `EVP_PKEY_PUBLIC_KEY`
const PAIR: c_int = 0x87;
const PUBLIC: c_int = 0x86;

impl<'c> Key<'c> {
    pub(super) fn crypto(&self) -> &'static Crypto {
        self.context.crypto
    }

    /// The name of its type.
    fn kind(&self) -> &CStr {
        // SAFETY: a key.
        let name = unsafe { (self.crypto().EVP_PKEY_get0_type_name)(self.raw) };
        // SAFETY: a string that stays as long as the key.
        unsafe { CStr::from_ptr(name) }
    }

    /// The same key with another provider.
    pub(crate) fn to(&self, provider: &str, with_private: bool) -> Self {
        let crypto = self.crypto();
        let selection = if with_private { PAIR } else { PUBLIC };
        let mut params = ptr::null_mut();
        // SAFETY: a key and a place.
        assert_eq!(unsafe { (crypto.EVP_PKEY_todata)(self.raw, selection, &raw mut params) }, 1);
        let key = self.context.key_from(provider, self.kind(), selection, params);
        // SAFETY: it was made here.
        unsafe { (crypto.OSSL_PARAM_free)(params) };
        key
    }

    /// Whether its private half can be exported.
    pub(crate) fn gives_its_private_half(&self) -> bool {
        let mut params = ptr::null_mut();
        // SAFETY: a key and a place.
        let given =
            unsafe { (self.crypto().EVP_PKEY_todata)(self.raw, PAIR, &raw mut params) } == 1;
        if given {
            // SAFETY: it was made here.
            unsafe { (self.crypto().OSSL_PARAM_free)(params) };
        }
        given
    }

    pub(crate) fn duplicate(&self) -> Self {
        // SAFETY: a key.
        self.context.key(unsafe { (self.crypto().EVP_PKEY_dup)(self.raw) })
    }

    pub(crate) fn equals(&self, other: &Key<'_>) -> bool {
        // SAFETY: two keys.
        unsafe { (self.crypto().EVP_PKEY_eq)(self.raw, other.raw) == 1 }
    }

    /// Whether all its numbers belong together.
    pub(crate) fn is_good(&self, provider: &str) -> bool {
        let context = self.operation(provider);
        // SAFETY: a context.
        let good = unsafe { (self.crypto().EVP_PKEY_check)(context) } == 1;
        // SAFETY: it was made here.
        unsafe { (self.crypto().EVP_PKEY_CTX_free)(context) };
        good
    }

    /// A number of the key, as the provider writes it.
    pub(crate) fn number(&self, name: &CStr) -> Option<Vec<u8>> {
        let mut bytes = vec![0_u8; 1024];
        let mut params = [Param::new(name, 2, bytes.as_mut_ptr().cast(), 1024), Param::end()];
        // SAFETY: a key and a list of one param_out.
        let status = unsafe { (self.crypto().EVP_PKEY_get_params)(self.raw, params.as_mut_ptr()) };
        (status == 1 && params[0].returned != usize::MAX).then_some(bytes)
    }

    /// A text of the key.
    pub(crate) fn text(&self, name: &CStr) -> Option<Vec<u8>> {
        let mut bytes = vec![0_u8; 64];
        let mut params = [Param::new(name, 4, bytes.as_mut_ptr().cast(), 64), Param::end()];
        // SAFETY: a key and a list of one param_out.
        let status = unsafe { (self.crypto().EVP_PKEY_get_params)(self.raw, params.as_mut_ptr()) };
        (status == 1 && params[0].returned != usize::MAX).then_some(bytes)
    }

    pub(super) fn operation(&self, provider: &str) -> Raw {
        let query = from(provider);
        // SAFETY: a context, a key and a string.
        let context = unsafe {
            (self.crypto().EVP_PKEY_CTX_new_from_pkey)(self.context.raw, self.raw, query.as_ptr())
        };
        assert!(!context.is_null());
        context
    }

    /// Signs a digest, or what stands for one.
    pub(crate) fn sign(
        &self,
        provider: &str,
        padding: Padding<'_>,
        digest: &[u8],
    ) -> Option<Vec<u8>> {
        let (context, crypto) = (self.operation(provider), self.crypto());
        let list = List::of(padding, true);
        // SAFETY: a context and a list.
        let begun = unsafe { (crypto.EVP_PKEY_sign_init_ex)(context, list.params.as_ptr()) };
        let (mut signature, mut length) = (vec![0; 1024], 0);
        // SAFETY: a context, a place for the length, the digest.
        let sized = begun == 1
            && 1 == unsafe {
                let sign = crypto.EVP_PKEY_sign;
                sign(context, ptr::null_mut(), &raw mut length, digest.as_ptr(), digest.len())
            };
        // SAFETY: a context, room for so many bytes, the digest.
        let signed = sized
            && 1 == unsafe {
                let sign = crypto.EVP_PKEY_sign;
                let out = signature.as_mut_ptr();
                sign(context, out, &raw mut length, digest.as_ptr(), digest.len())
            };
        // SAFETY: it was made here.
        unsafe { (crypto.EVP_PKEY_CTX_free)(context) };
        signature.truncate(length);
        signed.then_some(signature)
    }

    /// Checks the signature of a digest.
    pub(crate) fn verify(
        &self,
        provider: &str,
        padding: Padding<'_>,
        digest: &[u8],
        signature: &[u8],
    ) -> bool {
        let (context, crypto) = (self.operation(provider), self.crypto());
        let list = List::of(padding, true);
        // SAFETY: a context and a list.
        let begun = unsafe { (crypto.EVP_PKEY_verify_init_ex)(context, list.params.as_ptr()) };
        // SAFETY: a context, a signature, a digest.
        let good = begun == 1
            && 1 == unsafe {
                let (made, length) = (signature.as_ptr(), signature.len());
                (crypto.EVP_PKEY_verify)(context, made, length, digest.as_ptr(), digest.len())
            };
        // SAFETY: it was made here.
        unsafe { (crypto.EVP_PKEY_CTX_free)(context) };
        good
    }

    /// Begins a message to sign or to check.
    pub(crate) fn message(&self, provider: &str, padding: Padding<'_>, signs: bool) -> Message<'_> {
        let crypto = self.crypto();
        // SAFETY: no argument.
        let raw = unsafe { (crypto.EVP_MD_CTX_new)() };
        let (query, hash) = (from(provider), CString::new(padding.hash.expect("a hash")));
        let (hash, mut settings) = (hash.expect("no zero"), ptr::null_mut());
        let init =
            if signs { crypto.EVP_DigestSignInit_ex } else { crypto.EVP_DigestVerifyInit_ex };
        // SAFETY: a context, strings, and a key.
        let begun = unsafe {
            let (context, none) = (self.context.raw, ptr::null());
            init(raw, &raw mut settings, hash.as_ptr(), context, query.as_ptr(), self.raw, none)
        };
        assert_eq!(begun, 1, "{provider} {padding:?}");
        Message { key: self, raw, settings, signs }.set(padding)
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it again.
        unsafe { (self.crypto().EVP_PKEY_free)(self.raw) };
    }
}

/// A message that comes in pieces.
pub(crate) struct Message<'k> {
    key: &'k Key<'k>,
    raw: Raw,
    settings: Raw,
    signs: bool,
}

impl Message<'_> {
    pub(crate) fn update(self, piece: &[u8]) -> Self {
        let crypto = self.key.crypto();
        let update =
            if self.signs { crypto.EVP_DigestSignUpdate } else { crypto.EVP_DigestVerifyUpdate };
        // SAFETY: a context and bytes.
        assert_eq!(unsafe { update(self.raw, piece.as_ptr(), piece.len()) }, 1);
        self
    }

    /// Changes the padding.
    pub(crate) fn set(self, padding: Padding<'_>) -> Self {
        let list = List::of(padding, false);
        let set = self.key.crypto().EVP_PKEY_CTX_set_params;
        // SAFETY: the settings of the context, and a list.
        assert_eq!(unsafe { set(self.settings, list.params.as_ptr()) }, 1);
        self
    }

    /// A copy in the middle of the message.
    pub(crate) fn copy(&self) -> Self {
        // SAFETY: no argument.
        let raw = unsafe { (self.key.crypto().EVP_MD_CTX_new)() };
        // SAFETY: two contexts.
        assert_eq!(unsafe { (self.key.crypto().EVP_MD_CTX_copy_ex)(raw, self.raw) }, 1);
        Self { key: self.key, raw, settings: ptr::null_mut(), signs: self.signs }
    }

    /// The algorithm and its parameters, as certificates have them.
    pub(crate) fn identifier(&self) -> Vec<u8> {
        let mut bytes = vec![0_u8; 128];
        let mut params =
            [Param::new(c"algorithm-id", 5, bytes.as_mut_ptr().cast(), 128), Param::end()];
        let get = self.key.crypto().EVP_PKEY_CTX_get_params;
        // SAFETY: the settings of the context, and a list of one param_out.
        assert_eq!(unsafe { get(self.settings, params.as_mut_ptr()) }, 1);
        bytes.truncate(params[0].returned);
        bytes
    }

    pub(crate) fn sign(self) -> Option<Vec<u8>> {
        let end = self.key.crypto().EVP_DigestSignFinal;
        let mut length = 0;
        // SAFETY: a context and a place for the length.
        let sized = unsafe { end(self.raw, ptr::null_mut(), &raw mut length) };
        assert_eq!(sized, 1);
        let mut signature = vec![0; length];
        // SAFETY: a context and room for so many bytes.
        let signed = unsafe { end(self.raw, signature.as_mut_ptr(), &raw mut length) } == 1;
        signature.truncate(length);
        signed.then_some(signature)
    }

    pub(crate) fn verify(self, signature: &[u8]) -> bool {
        let end = self.key.crypto().EVP_DigestVerifyFinal;
        // SAFETY: a context and a signature.
        unsafe { end(self.raw, signature.as_ptr(), signature.len()) == 1 }
    }
}

impl Drop for Message<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it again.
        unsafe { (self.key.crypto().EVP_MD_CTX_free)(self.raw) };
    }
}
