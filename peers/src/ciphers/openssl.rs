//! Peer: ciphers of OpenSSL by its EVP interface, with a context that is kept.
//!
//! The cipher is fetched once and kept too, as its documentation advises; what the fetch costs is a
//! request of its own. DES comes from the legacy provider, in a library context of its own.

use core::ffi::CStr;
use core::hint::black_box;
use std::sync::Arc;

use lanecrypt_libcrypto::{Cipher, Context, Direction as Way, Error, Libcrypto};

use crate::{CipherPeer, Crypt, Direction, Failed, PeerLibraries, openssl};

/// An algorithm as we and as OpenSSL call it.
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
pub(crate) fn ciphers(libraries: &PeerLibraries) -> Vec<CipherPeer> {
    let builds = [("evp", openssl::library(libraries)), ("evp-newest", openssl::newest(libraries))];
    let mut peers = Vec::new();
    for (api, build) in builds {
        peers.extend(ALGORITHMS.iter().map(|named| peer(api, &build, named)));
    }
    peers
}

fn peer(api: &'static str, build: &Result<Libcrypto, String>, named: &'static Named) -> CipherPeer {
    let names = ["openssl", api, named.algorithm];
    let libcrypto = match build {
        Ok(libcrypto) => *libcrypto,
        Err(hint) => return CipherPeer::missing(names, hint),
    };
    let cipher = match find(libcrypto, named) {
        Ok(cipher) => Arc::new(cipher),
        Err(_) if named.legacy => {
            let hint = format!(
                "OpenSSL {} finds no legacy provider; its package has a file legacy.so",
                libcrypto.version()
            );
            return CipherPeer::missing(names, &hint);
        }
        Err(_) => {
            let hint = format!("OpenSSL {} was built without it", libcrypto.version());
            return CipherPeer::missing(names, &hint);
        }
    };
    let version = libcrypto.version().to_owned();
    if named.algorithm == CHACHA {
        CipherPeer::tried(names, version, move |way, key| {
            Ok(ChaCha { evp: Evp::new(libcrypto, named, &cipher, way, key)?, iv: [0; 16] })
        })
    } else {
        CipherPeer::tried(names, version, move |way, key| {
            Evp::new(libcrypto, named, &cipher, way, key)
        })
    }
}

fn find(libcrypto: Libcrypto, named: &Named) -> Result<Cipher, Error> {
    let fetched =
        if named.legacy { libcrypto.fetch_legacy(named.name) } else { libcrypto.fetch(named.name) };
    // Before 3.0 there is nothing to fetch.
    fetched.or_else(|_| {
        let cipher = libcrypto.named(named.name)?;
        let iv = [0; 16];
        // XTS takes no key whose halves are the same.
        let key: [u8; 64] = core::array::from_fn(|at| u8::try_from(at).unwrap_or(0));
        let key = key.get(..cipher.key_length()).ok_or(Error::KeyLength)?;
        let iv = iv.get(..cipher.iv_length()).ok_or(Error::IvLength)?;
        cipher.context(Way::Encrypt, key, iv)?;
        Ok(cipher)
    })
}

/// A context with its key.
struct Evp {
    context: Context,
    cipher: Arc<Cipher>,
    way: Way,
    libcrypto: Libcrypto,
    named: &'static Named,
}

impl Evp {
    fn new(
        libcrypto: Libcrypto,
        named: &'static Named,
        cipher: &Arc<Cipher>,
        direction: Direction,
        key: &[u8],
    ) -> Result<Self, Failed> {
        let way = match direction {
            Direction::Encrypt => Way::Encrypt,
            Direction::Decrypt => Way::Decrypt,
        };
        let iv = [0; 16];
        let iv = iv.get(..cipher.iv_length()).ok_or(Failed)?;
        let context = cipher.context(way, key, iv).map_err(|_| Failed)?;
        Ok(Self { context, cipher: Arc::clone(cipher), way, libcrypto, named })
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
        black_box(self.cipher.context(self.way, key, iv).map_err(|_| Failed)?);
        Ok(())
    }

    #[inline]
    fn fetch(&mut self) -> Result<(), Failed> {
        let fetched = if self.named.legacy {
            self.libcrypto.fetch_legacy(self.named.name)
        } else {
            self.libcrypto.fetch(self.named.name)
        };
        black_box(fetched.map_err(|_| Failed)?);
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
