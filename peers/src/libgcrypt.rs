//! Peer: libgcrypt's strong generator (a pool mixed by SHA-1) and its nonce generator (SHA-1 of a
//! running state). Both stand behind one mutex of the process.

use core::ffi::{c_char, c_int, c_uchar, c_uint, c_void};
use core::ptr;
use std::path::Path;

use crate::library::{Open, Search, Slot, text};
use crate::{Draw, Failed, GeneratorPeer, PeerLibraries, generator};

const SEARCH: Search = Search {
    files: &["libgcrypt.so.20", "libgcrypt.so"],
    hint: "apt install libgcrypt20 (or --peer-lib libgcrypt=PATH of a libgcrypt.so)",
};

/// `GCRY_STRONG_RANDOM`.
const STRONG: c_int = 1;
/// `GCRYCTL_DISABLE_SECMEM`.
const DISABLE_SECURE_MEMORY: c_int = 37;
/// `GCRYCTL_INITIALIZATION_FINISHED`.
const FINISHED: c_int = 38;
/// `GCRYCTL_INITIALIZATION_FINISHED_P`.
const IS_FINISHED: c_int = 39;

static LIBGCRYPT: Slot<Libgcrypt> = Slot::new();

pub(crate) fn generators(libraries: &PeerLibraries) -> [GeneratorPeer; 2] {
    let found = || {
        let opened = LIBGCRYPT.open(libraries.path("libgcrypt"), Libgcrypt::open);
        opened.map(|library| library.version.clone())
    };
    [
        GeneratorPeer::tried("libgcrypt", "strong", "sha1-pool", found(), || {
            generator(Strong(LIBGCRYPT.opened()?.randomize))
        }),
        GeneratorPeer::tried("libgcrypt", "nonce", "sha1", found(), || {
            generator(Nonce(LIBGCRYPT.opened()?.create_nonce))
        }),
    ]
}

struct Libgcrypt {
    version: String,
    randomize: unsafe extern "C" fn(*mut c_void, usize, c_int),
    create_nonce: unsafe extern "C" fn(*mut c_uchar, usize),
    _library: Open,
}

impl Libgcrypt {
    fn open(path: Option<&Path>) -> Result<Self, String> {
        let library = SEARCH.open(path)?;
        // SAFETY: the type is that of gcrypt.h.
        let check_version = unsafe {
            library.symbol::<unsafe extern "C" fn(*const c_char) -> *const c_char>(
                c"gcry_check_version",
            )
        }?;
        // SAFETY: the type is that of gcrypt.h.
        let control = unsafe {
            library.symbol::<unsafe extern "C" fn(c_int, ...) -> c_uint>(c"gcry_control")
        }?;
        // SAFETY: the type is that of gcrypt.h; the library stays open beside it.
        let randomize = unsafe { library.symbol(c"gcry_randomize") }?;
        // SAFETY: the type is that of gcrypt.h; the library stays open beside it.
        let create_nonce = unsafe { library.symbol(c"gcry_create_nonce") }?;
        // SAFETY: null asks for the version; the first call sets the library up.
        let version = unsafe { check_version(ptr::null()) };
        // SAFETY: the library returns a static string.
        let version = unsafe { text(version) };
        // SAFETY: this command takes no argument.
        let finished = unsafe { control(IS_FINISHED) } != 0;
        if !finished {
            // Without it the library prints a warning where the limit of locked memory is small.
            // SAFETY: this command takes an int, which it ignores.
            unsafe { control(DISABLE_SECURE_MEMORY, 0 as c_int) };
            // SAFETY: this command takes an int, which it ignores.
            unsafe { control(FINISHED, 0 as c_int) };
        }
        Ok(Self { version, randomize, create_nonce, _library: library })
    }
}

struct Strong(unsafe extern "C" fn(*mut c_void, usize, c_int));

impl Draw for Strong {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        // SAFETY: writes `buffer.len()` bytes to a buffer of that size; aborts when it cannot.
        unsafe { (self.0)(buffer.as_mut_ptr().cast(), buffer.len(), STRONG) };
        Ok(())
    }
}

struct Nonce(unsafe extern "C" fn(*mut c_uchar, usize));

impl Draw for Nonce {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        // SAFETY: writes `buffer.len()` bytes to a buffer of that size; aborts when it cannot.
        unsafe { (self.0)(buffer.as_mut_ptr(), buffer.len()) };
        Ok(())
    }
}
