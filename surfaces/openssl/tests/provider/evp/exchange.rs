//! Keys of curves, and key exchange.

use core::ffi::{CStr, c_int};
use core::ptr;
use std::ffi::CString;

use super::signature::from;
use super::{Context, Key, Param};

/// A type of keys, and the group of those that have several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    pub(crate) kind: &'static CStr,
    pub(crate) group: Option<&'static str>,
}

impl Context {
    /// A new key of a provider.
    pub(crate) fn new_curve_key(&self, provider: &str, curve: Curve) -> Key<'_> {
        let (query, crypto) = (from(provider), self.crypto);
        // SAFETY: a context and two strings.
        let making = unsafe {
            (crypto.EVP_PKEY_CTX_new_from_name)(self.raw, curve.kind.as_ptr(), query.as_ptr())
        };
        assert!(!making.is_null(), "{curve:?}");
        // SAFETY: a context.
        assert_eq!(unsafe { (crypto.EVP_PKEY_keygen_init)(making) }, 1);
        if let Some(group) = curve.group {
            let group = CString::new(group).expect("no zero");
            let (data, length) = (group.as_ptr().cast_mut().cast(), group.count_bytes());
            let params = [Param::new(c"group", 4, data, length), Param::end()];
            // SAFETY: a context and a list.
            assert_eq!(unsafe { (crypto.EVP_PKEY_CTX_set_params)(making, params.as_ptr()) }, 1);
        }
        let mut raw = ptr::null_mut();
        // SAFETY: a context and a place.
        assert_eq!(unsafe { (crypto.EVP_PKEY_generate)(making, &raw mut raw) }, 1, "{curve:?}");
        // SAFETY: it was made here.
        unsafe { (crypto.EVP_PKEY_CTX_free)(making) };
        self.key(raw)
    }
}

impl Key<'_> {
    /// The public key, as it is sent.
    pub(crate) fn sent(&self) -> Vec<u8> {
        let mut bytes = ptr::null_mut();
        // SAFETY: a key and a place.
        let length =
            unsafe { (self.crypto().EVP_PKEY_get1_encoded_public_key)(self.raw, &raw mut bytes) };
        assert_ne!(length, 0);
        // SAFETY: so many bytes.
        let sent = unsafe { core::slice::from_raw_parts(bytes, length) }.to_vec();
        // SAFETY: what OpenSSL has allocated.
        unsafe { (self.crypto().CRYPTO_free)(bytes, c"".as_ptr(), 0) };
        sent
    }

    /// A key with the same curve that was received, as libssl takes it.
    pub(crate) fn received(&self, bytes: &[u8]) -> Option<Self> {
        let crypto = self.crypto();
        // SAFETY: no argument.
        let key = self.context.key(unsafe { (crypto.EVP_PKEY_new)() });
        // SAFETY: two keys.
        assert_eq!(unsafe { (crypto.EVP_PKEY_copy_parameters)(key.raw, self.raw) }, 1);
        key.receive(bytes).then_some(key)
    }

    /// Sets the public key.
    pub(crate) fn receive(&self, bytes: &[u8]) -> bool {
        let set = self.crypto().EVP_PKEY_set1_encoded_public_key;
        // SAFETY: a key and bytes.
        let set = unsafe { set(self.raw, bytes.as_ptr(), bytes.len()) } == 1;
        if !set {
            self.context.errors();
        }
        set
    }

    /// The secret that is shared with another key, if it has room in so many bytes.
    pub(crate) fn derive(&self, provider: &str, peer: &Key<'_>, room: usize) -> Option<Vec<u8>> {
        let (context, crypto) = (self.operation(provider), self.crypto());
        let none = ptr::null();
        // SAFETY: a context and no parameters.
        assert_eq!(unsafe { (crypto.EVP_PKEY_derive_init_ex)(context, none) }, 1);
        // SAFETY: a context and a key, which is checked.
        let set = unsafe { (crypto.EVP_PKEY_derive_set_peer_ex)(context, peer.raw, 1) } == 1;
        let mut length = 0;
        // SAFETY: a context and a place for the length.
        let sized = set
            && unsafe { (crypto.EVP_PKEY_derive)(context, ptr::null_mut(), &raw mut length) } == 1;
        let mut secret = vec![0xa5; length.max(room)];
        length = room;
        // SAFETY: a copy of a context.
        let copy = unsafe { (crypto.EVP_PKEY_CTX_dup)(context) };
        // SAFETY: it was made here.
        unsafe { (crypto.EVP_PKEY_CTX_free)(context) };
        // SAFETY: a context and room for so many bytes.
        let derived = sized
            && unsafe { (crypto.EVP_PKEY_derive)(copy, secret.as_mut_ptr(), &raw mut length) } == 1;
        // SAFETY: it was made here.
        unsafe { (crypto.EVP_PKEY_CTX_free)(copy) };
        if !derived {
            self.context.errors();
            return None;
        }
        assert!(secret[length..].iter().all(|&byte| byte == 0xa5));
        secret.truncate(length);
        Some(secret)
    }

    /// The secret of ECDH with a key derivation of ANSI X9.63.
    pub(crate) fn derive_x963(&self, provider: &str, peer: &Key<'_>) -> Vec<u8> {
        let (context, crypto) = (self.operation(provider), self.crypto());
        let mut outlen = 40_usize;
        let text = |name, text: &'static CStr| {
            Param::new(name, 4, text.as_ptr().cast_mut().cast(), text.count_bytes())
        };
        let params = [
            text(c"kdf-type", c"X963KDF"),
            text(c"kdf-digest", c"SHA256"),
            Param::new(c"kdf-outlen", 2, (&raw mut outlen).cast(), size_of::<usize>()),
            Param::end(),
        ];
        // SAFETY: a context and a list.
        assert_eq!(unsafe { (crypto.EVP_PKEY_derive_init_ex)(context, params.as_ptr()) }, 1);
        // SAFETY: a context and a key, which is checked.
        let set = unsafe { (crypto.EVP_PKEY_derive_set_peer_ex)(context, peer.raw, 1) };
        let (mut secret, mut length) = (vec![0; 40], 40);
        // SAFETY: a context and room for so many bytes.
        let derived: c_int =
            unsafe { (crypto.EVP_PKEY_derive)(context, secret.as_mut_ptr(), &raw mut length) };
        // SAFETY: it was made here.
        unsafe { (crypto.EVP_PKEY_CTX_free)(context) };
        assert_eq!((set, derived, length), (1, 1, 40));
        secret
    }
}
