//! Peer: Intel's IPsec-MB, version 1.3 only: these files know its layouts. The calls without checks
//! are used.
//!
//! A job is a message with its own key and IV. Jobs are submitted one by one (`job`), in bursts
//! (`burst`), or in bursts of one cipher (`cipher-burst`), which is the fastest and only for AES.
//! Lanes work on several jobs at once, so a caller submits all its jobs before the first is
//! complete. Ciphers with authentication use the same calls, but have no lanes: each job is
//! complete when it is submitted. AES-GCM also has one function for a whole message (`direct`).

use core::ffi::{c_char, c_int, c_uint, c_void};

use lanecrypt_kernels::Level;

use crate::library::{Open, Search, Slot, text};
use crate::peer::Versioned;
use crate::project::{Hold, NamedLibrary, Project};
use crate::{Aead, Cipher, Peer, PeerLibraries};

mod aeads;
mod ciphers;
mod functions;
mod gcm;
mod job;
mod keys;
mod sessions;
mod submit;

use functions::Functions;
use functions::{Gcm, GcmMessage};
use job::{Algorithm, Job};
use keys::{Aes, ChaCha, Des, Expanded, GcmKey, GcmSession, GcmState, TripleDes};
use submit::BURST;

const SEARCH: Search = {
    const HINT: &str =
        "apt install libipsec-mb1 (or --peer-lib ipsec-mb=PATH of a libIPSec_MB.so 1.3)";
    // SAFETY: this is the library's name.
    unsafe { Search::new("ipsec-mb", &["libIPSec_MB.so.1"], HINT) }
};

pub(crate) struct IntelIpsecMb;

impl Project for IntelIpsecMb {
    fn source(&self) -> &'static str {
        "ipsec-mb"
    }

    /// By [`Setup::at`]; all of its code takes AES-NI.
    fn hold(&self, level: Level) -> Hold {
        if level.includes(Level::AesNi) { Hold::Yes } else { Hold::No }
    }

    fn ciphers(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Cipher>> {
        ciphers::all(&library(libraries))
    }

    fn aeads(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
        aeads::all(&library(libraries))
    }

    fn libraries(&self) -> &'static [NamedLibrary] {
        &[NamedLibrary { name: "ipsec-mb", open: |libraries| library(libraries).map(drop) }]
    }
}

/// `IMB_VERSION(1, 3, 0)`. Other versions have other layouts.
const VERSION: c_uint = 0x1_0300;
/// `sizeof(IMB_MGR)` of that version.
const MANAGER_SIZE: usize = 52_520;

/// The system's library, or the one at the given path.
fn library(libraries: &PeerLibraries) -> Result<&'static IpsecMb, String> {
    static IPSEC_MB: Slot<IpsecMb> = Slot::new();
    IPSEC_MB
        .open(libraries, "ipsec-mb", |_| IpsecMb::find(SEARCH.open(libraries)?, libraries.level()))
}

impl Versioned for &'static IpsecMb {
    fn version(&self) -> String {
        self.version.clone()
    }
}

/// An open library.
struct IpsecMb {
    version: String,
    allocate: unsafe extern "C" fn(u64) -> *mut c_void,
    setup: Setup,
    free: unsafe extern "C" fn(*mut c_void),
    _library: Open,
}

impl IpsecMb {
    fn find(library: Open, level: Option<Level>) -> Result<Self, String> {
        // SAFETY: the type is that of intel-ipsec-mb.h.
        let version =
            unsafe { library.symbol::<unsafe extern "C" fn() -> c_uint>(c"imb_get_version") }?;
        // SAFETY: as above.
        let name = unsafe {
            library.symbol::<unsafe extern "C" fn() -> *const c_char>(c"imb_get_version_str")
        }?;
        // SAFETY: as above.
        let size =
            unsafe { library.symbol::<unsafe extern "C" fn() -> usize>(c"imb_get_mb_mgr_size") }?;
        // SAFETY: takes no arguments.
        let version = unsafe { version() };
        // SAFETY: takes no arguments.
        let name = unsafe { name() };
        // SAFETY: the library returns a static string.
        let name = unsafe { text(name) };
        // SAFETY: takes no arguments.
        let size = unsafe { size() };
        if version != VERSION || size < MANAGER_SIZE {
            return Err(format!("ipsec-mb {name} has another layout than 1.3"));
        }
        Ok(Self {
            version: name,
            // SAFETY: the type is that of intel-ipsec-mb.h; the library stays open beside it.
            allocate: unsafe { library.symbol(c"alloc_mb_mgr") }?,
            setup: Setup::at(&library, level)?,
            // SAFETY: as above.
            free: unsafe { library.symbol(c"free_mb_mgr") }?,
            _library: library,
        })
    }
}

/// How a manager is set up: the flags of its allocation, and the function that chooses its kernels.
struct Setup {
    flags: u64,
    initialise: Initialise,
}

#[derive(Clone, Copy)]
enum Initialise {
    /// By what the processor has, which it also returns.
    Detecting(unsafe extern "C" fn(*mut c_void, *mut c_int)),
    /// For one architecture of Intel's.
    Held(unsafe extern "C" fn(*mut c_void)),
}

impl Setup {
    /// For this processor, or held to `level`.
    fn at(library: &Open, level: Option<Level>) -> Result<Self, String> {
        /// `IMB_FLAG_GFNI_OFF` of version 1.3. Kernels with VAES in 256-bit registers also need
        /// GFNI.
        const GFNI_OFF: u64 = 1 << 2;
        let (flags, name) = match level {
            Some(Level::Avx2Vaes) => (0, c"init_mb_mgr_avx2"),
            Some(Level::Avx2) => (GFNI_OFF, c"init_mb_mgr_avx2"),
            Some(Level::AesNi) => (GFNI_OFF, c"init_mb_mgr_sse"),
            _ => {
                // SAFETY: the type is that of intel-ipsec-mb.h.
                let initialise = unsafe { library.symbol(c"init_mb_mgr_auto") }?;
                return Ok(Self { flags: 0, initialise: Initialise::Detecting(initialise) });
            }
        };
        // SAFETY: as above.
        let initialise = unsafe { library.symbol(name) }?;
        Ok(Self { flags, initialise: Initialise::Held(initialise) })
    }
}

/// A manager, which has the kernels that its [`Setup`] chose (`IMB_MGR`).
struct Manager {
    library: &'static IpsecMb,
    manager: *mut c_void,
    functions: Functions,
    /// Jobs of a burst, in the manager.
    places: Box<[*mut Job; BURST]>,
}

impl Manager {
    fn new(library: &'static IpsecMb) -> Option<Self> {
        // SAFETY: the flags are known to this version.
        let manager = unsafe { (library.allocate)(library.setup.flags) };
        if manager.is_null() {
            return None;
        }
        match library.setup.initialise {
            Initialise::Detecting(initialise) => {
                let mut kind = 0;
                // SAFETY: the manager is new, and the answer has a place.
                unsafe { initialise(manager, &raw mut kind) };
            }
            // SAFETY: the manager is new.
            Initialise::Held(initialise) => unsafe { initialise(manager) },
        }
        // SAFETY: the manager is one of this version.
        if let Some(functions) = unsafe { Functions::of(manager) } {
            let places = Box::new([core::ptr::null_mut(); BURST]);
            return Some(Self { library, manager, functions, places });
        }
        // SAFETY: the library made it, and there is no other owner.
        unsafe { (library.free)(manager) };
        None
    }

    /// AES-GCM with keys of 16 or 32 bytes.
    fn gcm(&self, key_len: usize) -> Option<Gcm> {
        let [short, long] = self.functions.gcm;
        match key_len {
            16 => Some(short),
            32 => Some(long),
            _ => None,
        }
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: the library made it, and there is no other owner.
        unsafe { (self.library.free)(self.manager) };
    }
}

// SAFETY: a manager belongs to no thread; it is only used through `&mut`, or read. The job places
// are its own, and are used only inside calls.
unsafe impl Send for Manager {}
