//! Peer: ciphers of OpenSSL by its EVP interface, with a context that is kept.
//!
//! The cipher is fetched once and kept too, as OpenSSL's documentation advises; fetching is
//! measured as a separate request. DES comes from the legacy provider, in a separate library
//! context.

use core::ffi::CStr;
use core::hint::black_box;
use std::sync::Arc;

use lanecrypt_libcrypto::{Cipher, Context, Direction as Way, Error, Libcrypto};

use super::{library, newest, way};
use crate::peer::Versioned;
use crate::{Cipher as AnyCipher, Crypt, Direction, Failed, Peer, PeerLibraries};

/// An algorithm by our name and by OpenSSL's.
struct Named {
    algorithm: &'static str,
    name: &'static CStr,
    legacy: bool,
}

const ALGORITHMS: [Named; 7] = [
    Named { algorithm: "aes-128-cbc", name: c"AES-128-CBC", legacy: false },
    Named { algorithm: "aes-128-ctr", name: c"AES-128-CTR", legacy: false },
    Named { algorithm: "aes-128-xts", name: c"AES-128-XTS", legacy: false },
    Named { algorithm: "aes-256-xts", name: c"AES-256-XTS", legacy: false },
    Named { algorithm: "des-cbc", name: c"DES-CBC", legacy: true },
    Named { algorithm: "3des-cbc", name: c"DES-EDE3-CBC", legacy: false },
    Named { algorithm: CHACHA, name: c"ChaCha20", legacy: false },
];

const CHACHA: &str = "chacha20-ietf";

/// The system's build as `evp`, and the one of `make peers` as `evp-newest`.
pub(super) fn all(libraries: &PeerLibraries) -> Vec<Peer<dyn AnyCipher>> {
    let builds = [("evp", library(libraries)), ("evp-newest", newest(libraries))];
    let peer = |(api, build): (_, Result<_, _>)| {
        ALGORITHMS.iter().map(move |named| peer(api, &build, named))
    };
    builds.into_iter().flat_map(peer).collect()
}

fn peer(
    api: &'static str,
    build: &Result<Libcrypto, String>,
    named: &'static Named,
) -> Peer<dyn AnyCipher> {
    let names = ["openssl", api, named.algorithm];
    let found = build.clone().and_then(|libcrypto| match find(libcrypto, named) {
        Ok(cipher) => Ok(Found { libcrypto, named, cipher: Arc::new(cipher) }),
        Err(_) if named.legacy => Err(format!(
            "OpenSSL {} finds no legacy provider; its package has a file legacy.so",
            libcrypto.version()
        )),
        Err(_) => Err(format!("OpenSSL {} has no {}", libcrypto.version(), named.algorithm)),
    });
    if named.algorithm == CHACHA {
        Peer::keyed(names, &found, |found, way, key| {
            Ok(ChaCha { evp: Evp::new(found, way, key)?, iv: [0; 16] })
        })
    } else {
        Peer::keyed(names, &found, Evp::new)
    }
}

/// An algorithm in a build.
#[derive(Clone)]
struct Found {
    libcrypto: Libcrypto,
    named: &'static Named,
    cipher: Arc<Cipher>,
}

impl Versioned for Found {
    fn version(&self) -> String {
        self.libcrypto.version().to_owned()
    }
}

fn find(libcrypto: Libcrypto, named: &Named) -> Result<Cipher, Error> {
    // Before 3.0 there is nothing to fetch.
    fetch(libcrypto, named).or_else(|_| {
        let cipher = libcrypto.named(named.name)?;
        let iv = [0; 16];
        // XTS refuses a key with two equal halves.
        let key: [u8; 64] = core::array::from_fn(|at| u8::try_from(at).unwrap_or(0));
        let key = key.get(..cipher.key_length()).ok_or(Error::KeyLength)?;
        let iv = iv.get(..cipher.iv_length()).ok_or(Error::IvLength)?;
        cipher.context(Way::Encrypt, key, iv)?;
        Ok(cipher)
    })
}

#[inline]
fn fetch(libcrypto: Libcrypto, named: &Named) -> Result<Cipher, Error> {
    if named.legacy { libcrypto.fetch_legacy(named.name) } else { libcrypto.fetch(named.name) }
}

/// A context with its key.
struct Evp {
    context: Context,
    found: Found,
    way: Way,
}

impl Evp {
    fn new(found: &Found, direction: Direction, key: &[u8]) -> Result<Self, Failed> {
        let (way, cipher) = (way(direction), &found.cipher);
        let iv = [0; 16];
        let iv = iv.get(..cipher.iv_length()).ok_or(Failed)?;
        let context = cipher.context(way, key, iv).map_err(|_| Failed)?;
        Ok(Self { context, found: found.clone(), way })
    }
}

impl Crypt for Evp {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.context.set_iv(iv).map_err(|_| Failed)
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        self.context.update(data).map_err(|_| Failed)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.context.set_key(key).map_err(|_| Failed)
    }

    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        black_box(self.found.cipher.context(self.way, key, iv).map_err(|_| Failed)?);
        Ok(())
    }

    #[inline]
    fn fetch(&mut self) -> Result<(), Failed> {
        black_box(fetch(self.found.libcrypto, self.found.named).map_err(|_| Failed)?);
        Ok(())
    }
}

/// ChaCha20, whose IV here is the block counter, little-endian, and then the nonce of RFC 8439.
struct ChaCha {
    evp: Evp,
    iv: [u8; 16],
}

impl ChaCha {
    #[inline]
    fn counted(&mut self, iv: &[u8]) -> Result<(), Failed> {
        let nonce: &[u8; 12] = iv.try_into().map_err(|_| Failed)?;
        self.iv[4..].copy_from_slice(nonce);
        Ok(())
    }
}

impl Crypt for ChaCha {
    #[inline]
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.counted(iv)?;
        self.evp.start(&self.iv)
    }

    #[inline]
    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        self.evp.next(data)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.evp.key(key)
    }

    #[inline]
    fn open(&mut self, key: &[u8], iv: &[u8]) -> Result<(), Failed> {
        self.counted(iv)?;
        self.evp.open(key, &self.iv)
    }

    #[inline]
    fn fetch(&mut self) -> Result<(), Failed> {
        self.evp.fetch()
    }
}
