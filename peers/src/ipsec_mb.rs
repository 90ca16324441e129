//! The functions of Intel's IPsec-MB 1.3, whose layouts this file knows.

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr;

use crate::PeerLibraries;
use crate::library::{Open, Search, Slot, text};

const SEARCH: Search = Search {
    files: &["libIPSec_MB.so.1"],
    hint: "apt install libipsec-mb1 (or --peer-lib ipsec-mb=PATH of a libIPSec_MB.so 1.3)",
};

/// `IMB_VERSION(1, 3, 0)`. Other versions have other layouts.
const VERSION: c_uint = 0x1_0300;
/// `sizeof(IMB_MGR)` of that version.
const MANAGER_SIZE: usize = 52_520;
/// Where the manager has its function that expands keys of AES-128.
const EXPAND_128: usize = 112;
/// Where the manager has its function that runs bursts of ciphers without checks.
const CIPHER_BURST: usize = 992;

/// `IMB_MAX_BURST_SIZE`: jobs in a burst at most.
pub(crate) const BURST: usize = 128;
/// `IMB_CIPHER_CBC`.
pub(crate) const CBC: c_int = 1;
/// `IMB_CIPHER_CNTR`.
pub(crate) const CTR: c_int = 2;
/// `IMB_DIR_ENCRYPT`.
pub(crate) const ENCRYPT: c_int = 1;
/// `IMB_DIR_DECRYPT`.
pub(crate) const DECRYPT: c_int = 2;

static IPSEC_MB: Slot<IpsecMb> = Slot::new();

/// The system's library, or that at the given path.
pub(crate) fn library(libraries: &PeerLibraries) -> Result<&'static IpsecMb, String> {
    IPSEC_MB.open(libraries.path("ipsec-mb"), |path| IpsecMb::find(SEARCH.open(path)?))
}

/// An open library.
pub(crate) struct IpsecMb {
    pub(crate) version: String,
    allocate: unsafe extern "C" fn(u64) -> *mut c_void,
    initialise: unsafe extern "C" fn(*mut c_void, *mut c_int),
    free: unsafe extern "C" fn(*mut c_void),
    _library: Open,
}

impl IpsecMb {
    fn find(library: Open) -> Result<Self, String> {
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
        // SAFETY: takes nothing.
        let version = unsafe { version() };
        // SAFETY: takes nothing.
        let name = unsafe { name() };
        // SAFETY: the library returns a static string.
        let name = unsafe { text(name) };
        // SAFETY: takes nothing.
        let size = unsafe { size() };
        if version != VERSION || size < MANAGER_SIZE {
            return Err(format!("ipsec-mb {name} has another layout than 1.3"));
        }
        Ok(Self {
            version: name,
            // SAFETY: the type is that of intel-ipsec-mb.h; the library stays open beside it.
            allocate: unsafe { library.symbol(c"alloc_mb_mgr") }?,
            // SAFETY: as above.
            initialise: unsafe { library.symbol(c"init_mb_mgr_auto") }?,
            // SAFETY: as above.
            free: unsafe { library.symbol(c"free_mb_mgr") }?,
            _library: library,
        })
    }
}

/// An expanded key of AES-128, in one direction.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Schedule([u8; 176]);

impl Schedule {
    /// Both directions, without a key yet.
    pub(crate) const EMPTY: [Self; 2] = [const { Self([0; 176]) }; 2];
}

/// `IMB_JOB`. What ciphers do not use is left zero.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Job {
    pub(crate) encrypt_key: *const Schedule,
    pub(crate) decrypt_key: *const Schedule,
    pub(crate) key_len: u64,
    pub(crate) src: *const u8,
    pub(crate) dst: *mut u8,
    pub(crate) offset: u64,
    pub(crate) len: u64,
    hash: [u64; 2],
    pub(crate) iv: *const u8,
    pub(crate) iv_len: u64,
    rest: [u64; 14],
}

const _: () = assert!(size_of::<Job>() == 200);

impl Job {
    pub(crate) const EMPTY: Self = Self {
        encrypt_key: ptr::null(),
        decrypt_key: ptr::null(),
        key_len: 16,
        src: ptr::null(),
        dst: ptr::null_mut(),
        offset: 0,
        len: 0,
        hash: [0; 2],
        iv: ptr::null(),
        iv_len: 16,
        rest: [0; 14],
    };
}

/// A manager, which chooses the kernels for this processor (`IMB_MGR`).
pub(crate) struct Manager {
    library: &'static IpsecMb,
    manager: *mut c_void,
    expand: Expand,
    burst: Burst,
}

/// Key, schedule for encryption, for decryption.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Expand(unsafe extern "C" fn(*const u8, *mut Schedule, *mut Schedule));

/// Manager, jobs, how many, mode, direction, bytes of a key; returns how many were completed.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Burst(unsafe extern "C" fn(*mut c_void, *mut Job, u32, c_int, c_int, c_int) -> u32);

impl Manager {
    pub(crate) fn new(library: &'static IpsecMb) -> Option<Self> {
        // SAFETY: without flags.
        let manager = unsafe { (library.allocate)(0) };
        if manager.is_null() {
            return None;
        }
        let mut kind = 0;
        // SAFETY: the manager is new, and the answer has a place.
        unsafe { (library.initialise)(manager, &raw mut kind) };
        // SAFETY: the offset lies inside a manager of this version.
        let expand = unsafe { manager.byte_add(EXPAND_128) };
        // SAFETY: a function of this type lies there, aligned, or a null pointer.
        let expand = unsafe { expand.cast::<Option<Expand>>().read() };
        // SAFETY: the offset lies inside a manager of this version.
        let burst = unsafe { manager.byte_add(CIPHER_BURST) };
        // SAFETY: a function of this type lies there, aligned, or a null pointer.
        let burst = unsafe { burst.cast::<Option<Burst>>().read() };
        let (Some(expand), Some(burst)) = (expand, burst) else {
            // SAFETY: the library made it, and nobody else has it.
            unsafe { (library.free)(manager) };
            return None;
        };
        Some(Self { library, manager, expand, burst })
    }

    /// Expands a key for both directions.
    #[inline]
    pub(crate) fn expand(&self, key: &[u8; 16], [encrypt, decrypt]: &mut [Schedule; 2]) {
        // SAFETY: 16 bytes are read and 176 aligned ones written twice.
        unsafe { (self.expand.0)(key.as_ptr(), encrypt, decrypt) };
    }

    /// Runs jobs of AES-128 in a mode; whether all were completed.
    ///
    /// # Safety
    ///
    /// The keys, IVs and data of the jobs are valid for as long as this runs; those of CBC are whole
    /// blocks.
    #[inline]
    pub(crate) unsafe fn burst(&mut self, jobs: &mut [Job], mode: c_int, direction: c_int) -> bool {
        let Ok(count) = u32::try_from(jobs.len()) else { return false };
        // SAFETY: as many jobs as said; the caller vouches for what they point to.
        let done =
            unsafe { (self.burst.0)(self.manager, jobs.as_mut_ptr(), count, mode, direction, 16) };
        done == count
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: the library made it, and nobody else has it.
        unsafe { (self.library.free)(self.manager) };
    }
}

// SAFETY: a manager belongs to no thread; it is only used through `&mut`, or read.
unsafe impl Send for Manager {}
