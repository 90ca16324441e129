//! HKDF of TLS 1.3.
//!
//! Without a pre-shared key, a handshake begins with an extraction of zeros, and derives the salt
//! of the next extraction from it (RFC 8446, section 7.1). Both are the same each time, and no
//! secrets; they are computed once.

use std::sync::{Arc, OnceLock};

use rustls::crypto::hash::Hash;
use rustls::crypto::hmac::{self, Hmac};
use rustls::crypto::tls13::{Hkdf, HkdfExpander, HkdfUsingHmac, OkmBlock, OutputLengthError};

/// HKDF with one hash function.
pub(crate) struct Schedule {
    hash: &'static dyn Hash,
    hmac: &'static dyn Hmac,
    first: OnceLock<Arc<First>>,
}

/// How handshakes begin.
struct First {
    /// That of the extraction of zeros.
    expander: Box<dyn HkdfExpander>,
    /// What the salt of the next extraction is derived with.
    info: Vec<u8>,
    salt: OkmBlock,
    key_of_salt: Box<dyn hmac::Key>,
}

impl Schedule {
    pub(crate) const fn new(hash: &'static dyn Hash, hmac: &'static dyn Hmac) -> Self {
        Self { hash, hmac, first: OnceLock::new() }
    }

    const fn hkdf(&self) -> HkdfUsingHmac<'static> {
        HkdfUsingHmac(self.hmac)
    }

    fn first(&self) -> &Arc<First> {
        self.first.get_or_init(|| {
            const LABEL: &[u8] = b"tls13 derived";
            let expander = self.hkdf().extract_from_zero_ikm(None);
            let length = |bytes: &[u8]| u8::try_from(bytes.len()).unwrap_or(u8::MAX);
            let context = self.hash.hash(&[]);
            let context = context.as_ref();
            let lengths = [0, length(context), length(LABEL)];
            let info = [&lengths, LABEL, &[length(context)], context].concat();
            let salt = expander.expand_block(&[&info]);
            let key_of_salt = self.hmac.with_key(salt.as_ref());
            Arc::new(First { expander, info, salt, key_of_salt })
        })
    }
}

impl Hkdf for Schedule {
    fn extract_from_zero_ikm(&self, salt: Option<&[u8]>) -> Box<dyn HkdfExpander> {
        match salt {
            None => Box::new(Expander(self.first().clone())),
            Some(_) => self.hkdf().extract_from_zero_ikm(salt),
        }
    }

    fn extract_from_secret(&self, salt: Option<&[u8]>, secret: &[u8]) -> Box<dyn HkdfExpander> {
        match self.first.get().filter(|first| salt.is_some_and(|salt| first.is_salt(salt))) {
            Some(first) => {
                let extracted = first.key_of_salt.sign(&[secret]);
                self.expander_for_okm(&OkmBlock::new(extracted.as_ref()))
            }
            None => self.hkdf().extract_from_secret(salt, secret),
        }
    }

    fn expander_for_okm(&self, okm: &OkmBlock) -> Box<dyn HkdfExpander> {
        self.hkdf().expander_for_okm(okm)
    }

    fn hmac_sign(&self, key: &OkmBlock, message: &[u8]) -> hmac::Tag {
        self.hkdf().hmac_sign(key, message)
    }
}

impl First {
    /// Whether it is the salt, in constant time: that of a pre-shared key is secret.
    fn is_salt(&self, salt: &[u8]) -> bool {
        let known = self.salt.as_ref();
        let difference = salt.iter().zip(known).fold(0, |all, (a, b)| all | (a ^ b));
        salt.len() == known.len() && difference == 0
    }
}

struct Expander(Arc<First>);

impl HkdfExpander for Expander {
    fn expand_slice(&self, info: &[&[u8]], output: &mut [u8]) -> Result<(), OutputLengthError> {
        self.0.expander.expand_slice(info, output)
    }

    fn expand_block(&self, info: &[&[u8]]) -> OkmBlock {
        if info.iter().copied().flatten().eq(&self.0.info) {
            return self.0.salt.clone();
        }
        self.0.expander.expand_block(info)
    }

    fn hash_len(&self) -> usize {
        self.0.expander.hash_len()
    }
}
