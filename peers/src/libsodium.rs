//! Peer: both generators of libsodium 1.0.18 and later.
//!
//! `randombytes_set_implementation` chooses one of them for the whole process. To measure both in
//! one process, the default is called by the usual functions and the internal one through its own
//! table of functions.

use core::ffi::{c_char, c_int, c_void};

use lanecrypt_kernels::Level;

use crate::arc4random::Arc4Random;
use crate::library::{Open, Search, Slot, text};
use crate::peer::Versioned;
use crate::project::{Hold, NamedLibrary, Project};
use crate::{Generator, Peer, PeerLibraries, generator};

const SEARCH: Search = {
    const FILES: &[&str] = &["libsodium.so.26", "libsodium.so.23", "libsodium.so"];
    const HINT: &str = "apt install libsodium23 (or --peer-lib libsodium=PATH of a libsodium.so)";
    // SAFETY: these are libsodium's names.
    unsafe { Search::new("libsodium", FILES, HINT) }
};

pub(crate) struct LibSodium;

impl Project for LibSodium {
    fn source(&self) -> &'static str {
        "libsodium"
    }

    /// ChaCha20 chooses among SSSE3 and AVX2.
    fn hold(&self, level: Level) -> Hold {
        if level.includes(Level::Avx2) { Hold::Yes } else { Hold::No }
    }

    fn generators(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Generator>> {
        let found = library(libraries);
        let peer = |api, functions: fn(&Libsodium) -> Arc4Random| {
            Peer::generator(["libsodium", api, "chacha20"], &found, move |library| {
                generator(functions(library))
            })
        };
        vec![
            peer("default", |library| library.default),
            peer("internal", |library| library.internal),
        ]
    }

    fn libraries(&self) -> &'static [NamedLibrary] {
        &[NamedLibrary { name: "libsodium", open: |libraries| library(libraries).map(drop) }]
    }
}

/// The system's libsodium, or the one at the given path.
fn library(libraries: &PeerLibraries) -> Result<&'static Libsodium, String> {
    static LIBSODIUM: Slot<Libsodium> = Slot::new();
    LIBSODIUM.open(libraries, "libsodium", |_| Libsodium::find(SEARCH.open(libraries)?))
}

impl Versioned for &'static Libsodium {
    fn version(&self) -> String {
        self.version.clone()
    }
}

struct Libsodium {
    version: String,
    /// The kernel's generator, by system calls of at most 256 bytes.
    default: Arc4Random,
    /// ChaCha20 in user space, a state for each thread.
    internal: Arc4Random,
    _library: Open,
}

/// `struct randombytes_implementation`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Implementation {
    implementation_name: Option<unsafe extern "C" fn() -> *const c_char>,
    random: Option<unsafe extern "C" fn() -> u32>,
    stir: Option<unsafe extern "C" fn()>,
    uniform: Option<unsafe extern "C" fn(u32) -> u32>,
    buf: Option<unsafe extern "C" fn(*mut c_void, usize)>,
    close: Option<unsafe extern "C" fn() -> c_int>,
}

impl Libsodium {
    fn find(library: Open) -> Result<Self, String> {
        // SAFETY: the type is that of sodium/core.h.
        let init = unsafe { library.symbol::<unsafe extern "C" fn() -> c_int>(c"sodium_init") }?;
        // SAFETY: the type is that of sodium/version.h.
        let version = unsafe {
            library.symbol::<unsafe extern "C" fn() -> *const c_char>(c"sodium_version_string")
        }?;
        // SAFETY: the type is that of sodium/randombytes.h; the library stays open beside it.
        let word = unsafe { library.symbol(c"randombytes_random") }?;
        // SAFETY: the type is that of sodium/randombytes.h; the library stays open beside it.
        let fill = unsafe { library.symbol(c"randombytes_buf") }?;
        // SAFETY: the symbol is a variable of this type in sodium/randombytes_internal_random.h.
        let internal = unsafe {
            library.symbol::<*const Implementation>(c"randombytes_internal_implementation")
        }?;
        // SAFETY: takes nothing and may be called again and from any thread.
        if unsafe { init() } < 0 {
            return Err("sodium_init fails here".to_owned());
        }
        // SAFETY: takes nothing.
        let version = unsafe { version() };
        // SAFETY: the library returns a static string.
        let version = unsafe { text(version) };
        // SAFETY: the library's variable is initialised, aligned and never written.
        let internal = stirred(unsafe { internal.read() })?;
        Ok(Self { version, default: Arc4Random { word, fill }, internal, _library: library })
    }
}

/// The functions of `table`, after its set-up for the process; threads set themselves up.
fn stirred(table: Implementation) -> Result<Arc4Random, String> {
    let (Some(word), Some(stir), Some(fill)) = (table.random, table.stir, table.buf) else {
        return Err("libsodium's internal generator lacks a function".to_owned());
    };
    // SAFETY: takes nothing; no other thread has these functions yet.
    unsafe { stir() };
    Ok(Arc4Random { word, fill })
}
