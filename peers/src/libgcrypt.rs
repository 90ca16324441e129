//! Peer: libgcrypt, twice: unchanged, and with all hardware features disabled.
//!
//! Its strong generator is a pool mixed by SHA-1, and its nonce generator is SHA-1 of a running
//! state. Both are behind one mutex of the process.
//!
//! The features in use are global to a loaded library. So the second instance is a copy of the
//! file, which the loader takes for another library, with its own globals. Both run in one process
//! and can be measured in turns.

use core::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use std::io;
use std::path::{Path, PathBuf};

use lanecrypt_kernels::Level;

use crate::library::{Open, Search, Slot, text};
use crate::peer::Versioned;
use crate::project::{Hold, NamedLibrary, Project};
use crate::{Aead, Cipher, Draw, Failed, Generator, Peer, PeerLibraries, Signer, generator};

mod ciphers;
mod signatures;

const NAME: &str = "libgcrypt";
const SEARCH: Search = {
    const FILES: &[&str] = &["libgcrypt.so.20", "libgcrypt.so"];
    const HINT: &str = "apt install libgcrypt20 (or --peer-lib libgcrypt=PATH of a libgcrypt.so)";
    // SAFETY: these are libgcrypt's names.
    unsafe { Search::new(NAME, FILES, HINT) }
};

/// `GCRY_STRONG_RANDOM`.
const STRONG: c_int = 1;
/// `GCRYCTL_DISABLE_SECMEM`.
const DISABLE_SECURE_MEMORY: c_int = 37;
/// `GCRYCTL_INITIALIZATION_FINISHED`.
const FINISHED: c_int = 38;
/// `GCRYCTL_INITIALIZATION_FINISHED_P`.
const IS_FINISHED: c_int = 39;
/// `GCRYCTL_DISABLE_HWF`.
const DISABLE_HARDWARE: c_int = 63;

/// Hardware features by the level that they belong to; `intel-shaext` belongs to none.
const FEATURES: &[(Level, &[&CStr])] = &[
    (Level::Avx512, &[c"intel-avx512", c"intel-gfni"]),
    (Level::Avx2Vaes, &[c"intel-vaes-vpclmul"]),
    (Level::Avx2, &[c"intel-avx2", c"intel-fast-vpgather", c"intel-bmi2", c"intel-avx"]),
    (Level::AesNi, &[c"intel-aesni", c"intel-pclmul", c"intel-sse4.1"]),
    (Level::Ssse3, &[c"intel-ssse3"]),
];

pub(crate) struct LibGcrypt;

impl Project for LibGcrypt {
    fn source(&self) -> &'static str {
        NAME
    }

    /// By [`Libgcrypt::set_up`].
    fn hold(&self, _level: Level) -> Hold {
        if cfg!(target_arch = "x86_64") { Hold::Yes } else { Hold::No }
    }

    fn generators(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Generator>> {
        let found = library(libraries);
        vec![
            Peer::generator([NAME, "strong", "sha1-pool"], &found, |library| {
                generator(Strong(library.randomize))
            }),
            Peer::generator([NAME, "nonce", "sha1"], &found, |library| {
                generator(Nonce(library.create_nonce))
            }),
        ]
    }

    fn ciphers(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Cipher>> {
        ciphers::raw("gcry", &library(libraries))
            .chain(ciphers::raw("gcry-nohw", &without_hardware(libraries)))
            .collect()
    }

    fn aeads(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
        // One cipher without hardware features is enough to show their effect.
        ciphers::aeads("gcry", &library(libraries))
            .chain(ciphers::aeads("gcry-nohw", &without_hardware(libraries)).take(1))
            .collect()
    }

    fn signers(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Signer>> {
        vec![signatures::signer([NAME, "gcry"], &library(libraries))]
    }

    fn libraries(&self) -> &'static [NamedLibrary] {
        &[NamedLibrary { name: NAME, open: |libraries| library(libraries).map(drop) }]
    }
}

/// The system's libgcrypt, or the one at the given path.
fn library(libraries: &PeerLibraries) -> Result<&'static Libgcrypt, String> {
    static LIBGCRYPT: Slot<Libgcrypt> = Slot::new();
    LIBGCRYPT
        .open(libraries, NAME, |_| Libgcrypt::set_up(SEARCH.open(libraries)?, libraries.level()))
}

/// Another instance of the same file, which uses no hardware features.
fn without_hardware(libraries: &PeerLibraries) -> Result<&'static Libgcrypt, String> {
    static WITHOUT_HARDWARE: Slot<Libgcrypt> = Slot::new();
    let original = library(libraries)?;
    WITHOUT_HARDWARE.open(libraries, NAME, |_| {
        let copy = copy(&original.file)
            .map_err(|error| format!("cannot copy {}: {error}", original.file.display()))?;
        // SAFETY: it is a copy of a file that is open already and may be loaded.
        let library = unsafe { Open::at(&copy) }?;
        if !Libgcrypt::disable(&library, c"all")? {
            return Err("libgcrypt lets no features be disabled".to_owned());
        }
        let library = Libgcrypt::set_up(library, None)?;
        let features = library.features()?;
        if features.is_empty() { Ok(library) } else { Err(library.keeps(&features)) }
    })
}

impl Versioned for &'static Libgcrypt {
    fn version(&self) -> String {
        self.version.clone()
    }
}

/// An instance of the library, ready for use.
struct Libgcrypt {
    version: String,
    ciphers: Ciphers,
    public_keys: signatures::PublicKeys,
    randomize: unsafe extern "C" fn(*mut c_void, usize, c_int),
    create_nonce: unsafe extern "C" fn(*mut c_uchar, usize),
    /// The file that it was loaded from.
    file: PathBuf,
    library: Open,
}

/// Its functions for ciphers. A handle is a pointer; all of them return zero or an error's number.
struct Ciphers {
    /// Where to store the handle, algorithm, mode, flags.
    open: unsafe extern "C" fn(*mut *mut c_void, c_int, c_int, c_uint) -> c_uint,
    close: unsafe extern "C" fn(*mut c_void),
    set_key: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_uint,
    set_iv: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_uint,
    set_counter: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_uint,
    /// Handle, out, its size, in, its size; without an input, `out` is both.
    encrypt: unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *const c_void, usize) -> c_uint,
    decrypt: unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *const c_void, usize) -> c_uint,
    /// Handle, associated data, their size.
    authenticate: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_uint,
    get_tag: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> c_uint,
    check_tag: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_uint,
}

impl Libgcrypt {
    /// Sets the library up, held to a level.
    fn set_up(library: Open, level: Option<Level>) -> Result<Self, String> {
        let above = |(of, _): &&(Level, _)| level.is_some_and(|level| !level.includes(*of));
        let disabled = || FEATURES.iter().filter(above).flat_map(|(_, names)| *names);
        for feature in disabled() {
            // A version that does not know a feature has no code for it.
            Self::disable(&library, feature)?;
        }
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
        let ciphers = Ciphers::find(&library)?;
        let public_keys = signatures::PublicKeys::find(&library)?;
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
        let file = file_of(check_version as *const c_void);
        let set_up = Self { version, ciphers, public_keys, randomize, create_nonce, file, library };
        let features = if level.is_some() { set_up.features()? } else { String::new() };
        let is_used = |name: &&CStr| features.split(':').any(|it| it.as_bytes() == name.to_bytes());
        match disabled().copied().find(is_used) {
            Some(feature) => Err(set_up.keeps(&feature.to_string_lossy())),
            None => Ok(set_up),
        }
    }

    /// Disables a hardware feature; whether the library knows it. Must be called before the library
    /// is set up.
    fn disable(library: &Open, feature: &CStr) -> Result<bool, String> {
        // SAFETY: the type is that of gcrypt.h.
        let control = unsafe {
            library.symbol::<unsafe extern "C" fn(c_int, ...) -> c_uint>(c"gcry_control")
        }?;
        // SAFETY: this command takes a name and a null pointer.
        let status = unsafe { control(DISABLE_HARDWARE, feature.as_ptr(), ptr::null::<c_char>()) };
        Ok(status == 0)
    }

    /// The error that features are used although they were disabled.
    fn keeps(&self, features: &str) -> String {
        format!("libgcrypt {} keeps using {features}", self.version)
    }

    /// The hardware features in use, separated by colons.
    fn features(&self) -> Result<String, String> {
        // SAFETY: the type is that of gcrypt.h.
        let config = unsafe {
            self.library.symbol::<unsafe extern "C" fn(c_int, *const c_char) -> *mut c_char>(
                c"gcry_get_config",
            )
        }?;
        // SAFETY: the mode must be zero; the name ends with a zero byte.
        let answer = unsafe { config(0, c"hwflist".as_ptr()) };
        // The caller should free it; it is a few bytes, once, and is not freed.
        // SAFETY: null or a string.
        let answer = unsafe { text(answer) };
        let list = answer.trim().strip_prefix("hwflist").ok_or("libgcrypt lists no features")?;
        Ok(list.trim_matches(':').to_owned())
    }
}

impl Ciphers {
    fn find(library: &Open) -> Result<Self, String> {
        Ok(Self {
            // SAFETY: the type is that of gcrypt.h; the library stays open beside it.
            open: unsafe { library.symbol(c"gcry_cipher_open") }?,
            // SAFETY: as above.
            close: unsafe { library.symbol(c"gcry_cipher_close") }?,
            // SAFETY: as above.
            set_key: unsafe { library.symbol(c"gcry_cipher_setkey") }?,
            // SAFETY: as above.
            set_iv: unsafe { library.symbol(c"gcry_cipher_setiv") }?,
            // SAFETY: as above.
            set_counter: unsafe { library.symbol(c"gcry_cipher_setctr") }?,
            // SAFETY: as above.
            encrypt: unsafe { library.symbol(c"gcry_cipher_encrypt") }?,
            // SAFETY: as above.
            decrypt: unsafe { library.symbol(c"gcry_cipher_decrypt") }?,
            // SAFETY: as above.
            authenticate: unsafe { library.symbol(c"gcry_cipher_authenticate") }?,
            // SAFETY: as above.
            get_tag: unsafe { library.symbol(c"gcry_cipher_gettag") }?,
            // SAFETY: as above.
            check_tag: unsafe { library.symbol(c"gcry_cipher_checktag") }?,
        })
    }
}

/// The file that the code at `address` was loaded from; empty if the loader does not know.
fn file_of(address: *const c_void) -> PathBuf {
    let mut place = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for, and the answer has room.
    let known = unsafe { libc::dladdr(address, place.as_mut_ptr()) } != 0;
    // SAFETY: zero bytes are valid for its pointers and numbers.
    let place = unsafe { place.assume_init() };
    if !known || place.dli_fname.is_null() {
        return PathBuf::new();
    }
    // SAFETY: a string of the loader, which stays as long as the library.
    PathBuf::from(unsafe { text(place.dli_fname) })
}

/// A copy in memory, under a name that the loader can open. It stays until the process ends, so
/// that the name cannot refer to another file.
#[cfg(target_os = "linux")]
fn copy(file: &Path) -> io::Result<PathBuf> {
    use std::fs::File;
    use std::os::fd::{AsRawFd as _, FromRawFd as _};

    const NAME: &CStr = c"libgcrypt-without-hardware";
    // SAFETY: the name ends with a zero byte.
    let descriptor = unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and has no other owner.
    let mut copy = unsafe { File::from_raw_fd(descriptor) };
    io::copy(&mut File::open(file)?, &mut copy)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", copy.as_raw_fd()));
    core::mem::forget(copy);
    Ok(path)
}

#[cfg(not(target_os = "linux"))]
fn copy(_file: &Path) -> io::Result<PathBuf> {
    Err(io::ErrorKind::Unsupported.into())
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

#[cfg(test)]
mod tests {
    mod x86_64;

    use super::*;

    #[test]
    fn the_copy_has_features_of_its_own() {
        let libraries = PeerLibraries::new();
        let (Ok(whole), Ok(bare)) = (library(&libraries), without_hardware(&libraries)) else {
            println!("SKIPPED libgcrypt: {:?}", without_hardware(&libraries).err());
            return;
        };
        assert_eq!(bare.features(), Ok(String::new()));
        assert!(whole.features().is_ok(), "the copy lists them, too");
        assert_ne!(whole.randomize as usize, bare.randomize as usize);
        assert_ne!(whole.file, bare.file);
    }
}
