//! Peer: `RAND_bytes` of OpenSSL 1.1.1 and later, from the libcrypto found at run time.
//!
//! The default is a CTR-DRBG with AES-256 in each thread (NIST SP 800-90A).

use core::ffi::{c_char, c_int, c_uchar};
use std::path::Path;

use crate::library::{Open, Search, Slot, text};
use crate::{Draw, Failed, GeneratorPeer, PeerLibraries, generator};

const SEARCH: Search = Search {
    files: &["libcrypto.so.3", "libcrypto.so.4", "libcrypto.so"],
    hint: "apt install libssl3 (or --peer-lib openssl=PATH of a libcrypto.so)",
};

static OPENSSL: Slot<OpenSsl> = Slot::new();

pub(crate) fn generators(libraries: &PeerLibraries) -> [GeneratorPeer; 1] {
    let found = OPENSSL.open(libraries.path("openssl"), OpenSsl::open).map(|it| it.version.clone());
    [GeneratorPeer::tried("openssl", "rand-bytes", "aes-256-ctr", found, || {
        generator(RandBytes(OPENSSL.opened()?.rand_bytes))
    })]
}

struct OpenSsl {
    version: String,
    rand_bytes: unsafe extern "C" fn(*mut c_uchar, c_int) -> c_int,
    _library: Open,
}

impl OpenSsl {
    fn open(path: Option<&Path>) -> Result<Self, String> {
        let library = SEARCH.open(path)?;
        // SAFETY: the type is that of openssl/crypto.h.
        let version = unsafe {
            library.symbol::<unsafe extern "C" fn(c_int) -> *const c_char>(c"OpenSSL_version")
        }?;
        // SAFETY: the type is that of openssl/rand.h; the library stays open beside it.
        let rand_bytes = unsafe { library.symbol(c"RAND_bytes") }?;
        // SAFETY: zero asks for the version.
        let version = unsafe { version(0) };
        // SAFETY: the library returns a static string.
        let version = number(&unsafe { text(version) });
        Ok(Self { version, rand_bytes, _library: library })
    }
}

/// The number in `OpenSSL 3.5.0 8 Apr 2025`; the whole of any other text, such as a fork's.
fn number(text: &str) -> String {
    let number = text.strip_prefix("OpenSSL ").and_then(|rest| rest.split(' ').next());
    number.unwrap_or(text).to_owned()
}

struct RandBytes(unsafe extern "C" fn(*mut c_uchar, c_int) -> c_int);

impl Draw for RandBytes {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        let len = c_int::try_from(buffer.len()).map_err(|_| Failed)?;
        // SAFETY: writes `len` bytes to a buffer of that size.
        let status = unsafe { (self.0)(buffer.as_mut_ptr(), len) };
        Failed::unless(status == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(number("OpenSSL 3.5.0-dev 8 Apr 2025"), "3.5.0-dev");
        assert_eq!(number("OpenSSL 4.0.0"), "4.0.0");
        assert_eq!(number("LibreSSL 3.9.2"), "LibreSSL 3.9.2");
    }
}
