//! Peer: Intel's crypto_mb (multi-buffer part of its Cryptography Primitives Library), whose calls
//! make up to eight operations in the lanes of AVX-512 IFMA.
//!
//! Public points of P-256 are used as they come: checking them is up to its callers.

use core::ffi::{c_char, c_int};

use crate::library::{Open, Search, Slot, text};
use crate::peer::Versioned;
use crate::project::{NamedLibrary, Project};
use crate::{KeyPair, Operation, Peer, PeerLibraries, PublicKey};

mod functions;
mod lanes;

use functions::Functions;
use lanes::Lanes;

const SEARCH: Search = {
    const HINT: &str = "pip install ipp-crypto intel-cmplr-lib-rt (and --peer-lib \
                        crypto-mb=PATH of its libcrypto_mb.so)";
    const FILES: &[&str] =
        &["libcrypto_mb.so.13", "libcrypto_mb.so.12", "libcrypto_mb.so.11", "libcrypto_mb.so"];
    // SAFETY: these are the library's names.
    unsafe { Search::new("crypto-mb", FILES, HINT) }
};

pub(crate) struct CryptoMb;

/// The operations that it has.
const OPERATIONS: [Operation; 9] = [
    Operation::X25519Generate,
    Operation::X25519Derive,
    Operation::Ed25519Sign,
    Operation::Ed25519Verify,
    Operation::P256Generate,
    Operation::P256Derive,
    Operation::P256Sign,
    Operation::P256Verify,
    Operation::Server,
];

impl Project for CryptoMb {
    fn source(&self) -> &'static str {
        "crypto-mb"
    }

    fn public_keys(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn PublicKey>> {
        let found = library(libraries);
        let peer = |operation| {
            let open = move |library: &&'static Library, keys: &[KeyPair<'_>]| {
                Some(Box::new(Lanes::new(library, operation, keys)?) as Box<dyn PublicKey>)
            };
            Peer::of_all_keys(["crypto-mb", "mb8"], operation, &found, open).in_batches()
        };
        OPERATIONS.map(peer).into()
    }

    fn libraries(&self) -> &'static [NamedLibrary] {
        &[NamedLibrary { name: "crypto-mb", open: |libraries| library(libraries).map(drop) }]
    }
}

/// The system's library, or the one at the given path.
fn library(libraries: &PeerLibraries) -> Result<&'static Library, String> {
    static CRYPTO_MB: Slot<Library> = Slot::new();
    CRYPTO_MB.open(libraries, "crypto-mb", |_| Library::find(SEARCH.open(libraries)?))
}

/// An open library.
struct Library {
    version: String,
    functions: Functions,
    _library: Open,
}

impl Versioned for &'static Library {
    fn version(&self) -> String {
        self.version.clone()
    }
}

/// `mbxVersion`.
#[repr(C)]
struct Version {
    numbers: [c_int; 3],
    processor: [c_char; 4],
    name: *const c_char,
    date: *const c_char,
    text: *const c_char,
}

impl Library {
    fn find(library: Open) -> Result<Self, String> {
        // SAFETY: the type is that of crypto_mb/version.h.
        let version = unsafe {
            library.symbol::<unsafe extern "C" fn() -> *const Version>(c"mbx_getversion")
        }?;
        // SAFETY: the type is that of crypto_mb/cpu_features.h.
        let is_applicable = unsafe {
            library.symbol::<unsafe extern "C" fn(u64) -> c_int>(c"mbx_is_crypto_mb_applicable")
        }?;
        // SAFETY: zero stands for the features of this processor.
        if unsafe { is_applicable(0) } == 0 {
            return Err("crypto-mb needs a processor with AVX-512 IFMA".to_owned());
        }
        // SAFETY: takes no arguments.
        let version = unsafe { version() };
        // SAFETY: the library returns a static structure, or null.
        let version = unsafe { version.as_ref() }.ok_or("crypto-mb has no version")?;
        let [major, minor, patch] = version.numbers;
        // SAFETY: it has a static string, or null.
        let name = unsafe { text(version.name) };
        if !name.starts_with("crypto_mb") {
            return Err(format!("{name} is not crypto_mb"));
        }
        Ok(Self {
            version: format!("{major}.{minor}.{patch}"),
            functions: Functions::find(&library)?,
            _library: library,
        })
    }
}
