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
/// Where the manager has its function that names the place for the next job.
const NEXT_JOB: usize = 64;
/// Where the manager has its function that runs that job without checks.
const SUBMIT_JOB: usize = 80;
/// Where the manager has its function that expands keys of AES-128.
const EXPAND_128: usize = 112;
/// Where the manager has its function that runs bursts of ciphers without checks.
const CIPHER_BURST: usize = 992;

/// Where the manager has its functions for AES-GCM, with keys of 128 and of 256 bits: encryption,
/// decryption, expansion of a key.
const GCM: [[usize; 3]; 2] = [[256, 280, 448], [272, 296, 464]];

/// `IMB_MAX_BURST_SIZE`: jobs in a burst at most.
pub(crate) const BURST: usize = 128;
/// `IMB_CIPHER_CBC`.
pub(crate) const CBC: c_int = 1;
/// `IMB_CIPHER_CNTR`.
pub(crate) const CTR: c_int = 2;
/// `IMB_CIPHER_CHACHA20_POLY1305`.
const CHACHA20_POLY1305: c_int = 19;
/// `IMB_AUTH_CHACHA20_POLY1305`.
const CHACHA20_POLY1305_TAG: c_int = 29;
/// `IMB_STATUS_COMPLETED`.
const COMPLETED: c_int = 3;
/// `IMB_DIR_ENCRYPT`, and `IMB_ORDER_CIPHER_HASH`.
pub(crate) const ENCRYPT: c_int = 1;
/// `IMB_DIR_DECRYPT`, and `IMB_ORDER_HASH_CIPHER`.
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
    hash_offset: u64,
    hash_len: u64,
    pub(crate) iv: *const u8,
    pub(crate) iv_len: u64,
    tag: *mut u8,
    tag_len: u64,
    aad: *const u8,
    aad_len: u64,
    context: *mut c_void,
    status: c_int,
    cipher: c_int,
    direction: c_int,
    hash: c_int,
    order: c_int,
    rest: [u64; 6],
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
        hash_offset: 0,
        hash_len: 0,
        iv: ptr::null(),
        iv_len: 16,
        tag: ptr::null_mut(),
        tag_len: 0,
        aad: ptr::null(),
        aad_len: 0,
        context: ptr::null_mut(),
        status: 0,
        cipher: 0,
        direction: 0,
        hash: 0,
        order: 0,
        rest: [0; 6],
    };
}

/// A manager, which chooses the kernels for this processor (`IMB_MGR`).
pub(crate) struct Manager {
    library: &'static IpsecMb,
    manager: *mut c_void,
    functions: Functions,
}

#[derive(Clone, Copy)]
struct Functions {
    expand: Expand,
    burst: Burst,
    gcm: [Gcm; 2],
    next_job: NextJob,
    submit_job: SubmitJob,
}

/// Key, schedule for encryption, for decryption.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Expand(unsafe extern "C" fn(*const u8, *mut Schedule, *mut Schedule));

/// Manager, jobs, how many, mode, direction, bytes of a key; returns how many were completed.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Burst(unsafe extern "C" fn(*mut c_void, *mut Job, u32, c_int, c_int, c_int) -> u32);

/// Manager; returns where to describe the next job.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct NextJob(unsafe extern "C" fn(*mut c_void) -> *mut Job);

/// Manager; returns a job that is done, if there is one.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct SubmitJob(unsafe extern "C" fn(*mut c_void) -> *mut Job);

/// The functions of AES-GCM for one length of keys, which need no manager.
#[derive(Clone, Copy)]
pub(crate) struct Gcm {
    pub(crate) encrypt: GcmMessage,
    pub(crate) decrypt: GcmMessage,
    pub(crate) expand: GcmExpand,
}

/// A message: key, state, to, from, bytes, nonce of 12 bytes, associated data, bytes of these, tag,
/// bytes of the tag. In both directions the tag is written, not compared.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct GcmMessage(
    pub(crate)  unsafe extern "C" fn(
        *const GcmKey,
        *mut GcmState,
        *mut u8,
        *const u8,
        u64,
        *const u8,
        *const u8,
        u64,
        *mut u8,
        u64,
    ),
);

/// Key, and where to expand it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct GcmExpand(pub(crate) unsafe extern "C" fn(*const u8, *mut GcmKey));

/// `struct gcm_key_data`: the schedule and powers of the hash key.
#[repr(C, align(64))]
pub(crate) struct GcmKey([u8; 1024]);

impl GcmKey {
    pub(crate) const EMPTY: Self = Self([0; 1024]);
}

/// `struct gcm_context_data`: what a message needs on its way.
#[repr(C, align(64))]
pub(crate) struct GcmState([u8; 128]);

impl GcmState {
    pub(crate) const EMPTY: Self = Self([0; 128]);
}

/// A message for [`Manager::chacha20_poly1305`].
pub(crate) struct ChaChaMessage<'a> {
    pub(crate) key: &'a [u8; 32],
    pub(crate) nonce: &'a [u8; 12],
    pub(crate) aad: &'a [u8],
    pub(crate) from: *const u8,
    pub(crate) to: *mut u8,
    pub(crate) len: usize,
    /// Written, not compared.
    pub(crate) tag: &'a mut [u8; 16],
}

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
        // SAFETY: the manager is one of this version.
        if let Some(functions) = unsafe { Functions::of(manager) } {
            return Some(Self { library, manager, functions });
        }
        // SAFETY: the library made it, and nobody else has it.
        unsafe { (library.free)(manager) };
        None
    }

    /// Expands a key for both directions.
    #[inline]
    pub(crate) fn expand(&self, key: &[u8; 16], [encrypt, decrypt]: &mut [Schedule; 2]) {
        // SAFETY: 16 bytes are read and 176 aligned ones written twice.
        unsafe { (self.functions.expand.0)(key.as_ptr(), encrypt, decrypt) };
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
        let burst = self.functions.burst.0;
        // SAFETY: as many jobs as said; the caller vouches for what they point to.
        let done = unsafe { burst(self.manager, jobs.as_mut_ptr(), count, mode, direction, 16) };
        done == count
    }

    /// AES-GCM with keys of 16 or 32 bytes.
    pub(crate) fn gcm(&self, key_len: usize) -> Option<Gcm> {
        let [short, long] = self.functions.gcm;
        match key_len {
            16 => Some(short),
            32 => Some(long),
            _ => None,
        }
    }

    /// Runs a message of ChaCha20-Poly1305 as one job; whether it was completed.
    ///
    /// # Safety
    ///
    /// `from` and `to` have `len` bytes; they are the same or do not overlap.
    #[inline]
    pub(crate) unsafe fn chacha20_poly1305(
        &mut self,
        message: ChaChaMessage<'_>,
        direction: c_int,
    ) -> bool {
        // SAFETY: the manager is there, and every earlier job is done.
        let place = unsafe { (self.functions.next_job.0)(self.manager) };
        let key = message.key.as_ptr().cast();
        let len = message.len as u64;
        let job = Job {
            encrypt_key: key,
            decrypt_key: key,
            key_len: 32,
            src: message.from,
            dst: message.to,
            offset: 0,
            len,
            hash_offset: 0,
            hash_len: len,
            iv: message.nonce.as_ptr(),
            iv_len: 12,
            tag: message.tag.as_mut_ptr(),
            tag_len: 16,
            aad: message.aad.as_ptr(),
            aad_len: message.aad.len() as u64,
            context: ptr::null_mut(),
            status: 0,
            cipher: CHACHA20_POLY1305,
            direction,
            hash: CHACHA20_POLY1305_TAG,
            order: direction,
            rest: [0; 6],
        };
        // SAFETY: the place is in the manager, and a job's.
        unsafe { place.write(job) };
        // SAFETY: the job is described; key, nonce, data and tag are borrowed until it is done,
        // which ciphers without lanes are at once.
        let done = unsafe { (self.functions.submit_job.0)(self.manager) };
        if done != place {
            return false;
        }
        // SAFETY: the job stays in the manager.
        let status = unsafe { (*done).status };
        status == COMPLETED
    }
}

impl Functions {
    /// `None` when the manager lacks one.
    ///
    /// # Safety
    ///
    /// `manager` is a manager of [`VERSION`] that has been initialised.
    unsafe fn of(manager: *const c_void) -> Option<Self> {
        let gcm = |[encrypt, decrypt, expand]: [usize; 3]| {
            Some(Gcm {
                // SAFETY: a function of this type lies there.
                encrypt: unsafe { function(manager, encrypt) }?,
                // SAFETY: as above.
                decrypt: unsafe { function(manager, decrypt) }?,
                // SAFETY: as above.
                expand: unsafe { function(manager, expand) }?,
            })
        };
        let [short, long] = GCM;
        Some(Self {
            // SAFETY: as above.
            expand: unsafe { function(manager, EXPAND_128) }?,
            // SAFETY: as above.
            burst: unsafe { function(manager, CIPHER_BURST) }?,
            gcm: [gcm(short)?, gcm(long)?],
            // SAFETY: as above.
            next_job: unsafe { function(manager, NEXT_JOB) }?,
            // SAFETY: as above.
            submit_job: unsafe { function(manager, SUBMIT_JOB) }?,
        })
    }
}

/// What lies at `offset` in a manager, unless it is null.
///
/// # Safety
///
/// The offset lies inside the manager, at an aligned pointer to a function of type `F`.
unsafe fn function<F: Copy>(manager: *const c_void, offset: usize) -> Option<F> {
    // SAFETY: the caller vouches for it.
    let place = unsafe { manager.byte_add(offset) };
    // SAFETY: the caller vouches for the type; a null pointer is `None`.
    unsafe { place.cast::<Option<F>>().read() }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // SAFETY: the library made it, and nobody else has it.
        unsafe { (self.library.free)(self.manager) };
    }
}

// SAFETY: a manager belongs to no thread; it is only used through `&mut`, or read.
unsafe impl Send for Manager {}
