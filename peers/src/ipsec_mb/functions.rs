//! The functions of a manager, at the offsets that `intel-ipsec-mb.h` 1.3.0 gives them.

use core::ffi::{c_int, c_void};

use super::keys::{DesSchedule, GcmKey, GcmState, Schedule};
use super::{Job, Manager};

/// The offset of `get_next_job` in a manager.
const NEXT_JOB: usize = 64;
/// `submit_job_nocheck`.
const SUBMIT_JOB: usize = 80;
/// `flush_job`.
const FLUSH_JOB: usize = 96;
/// `keyexp_128`.
const EXPAND_128: usize = 112;
/// `des_key_sched`.
const EXPAND_DES: usize = 152;
/// `gcm128_enc`, `gcm128_dec`, `gcm128_pre`; the same of 256 bits.
const GCM: [[usize; 3]; 2] = [[256, 280, 448], [272, 296, 464]];
/// `get_next_burst`.
const NEXT_BURST: usize = 952;
/// `submit_burst_nocheck`.
const SUBMIT_BURST: usize = 968;
/// `flush_burst`.
const FLUSH_BURST: usize = 976;
/// `submit_cipher_burst_nocheck`.
const CIPHER_BURST: usize = 992;

#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub(super) expand: Expand,
    pub(super) expand_des: ExpandDes,
    pub(super) gcm: [Gcm; 2],
    /// Returns the place for the next job.
    pub(super) next_job: OnJob,
    /// Submits that job; returns a completed one, if there is one.
    pub(super) submit_job: OnJob,
    /// Finishes the earliest job and returns it, if there is one.
    pub(super) flush_job: OnJob,
    /// Returns the places for a burst.
    pub(super) next_burst: OnBurst,
    /// Submits that burst; returns the completed jobs.
    pub(super) submit_burst: OnBurst,
    /// Finishes the earliest jobs and returns them.
    pub(super) flush_burst: OnBurst,
    pub(super) cipher_burst: CipherBurst,
}

/// Key, schedule for encryption, for decryption.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Expand(pub(super) unsafe extern "C" fn(*const u8, *mut Schedule, *mut Schedule));

/// Schedule, key.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct ExpandDes(pub(super) unsafe extern "C" fn(*mut DesSchedule, *const u8) -> c_int);

/// Manager.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct OnJob(pub(super) unsafe extern "C" fn(*mut c_void) -> *mut Job);

/// Manager, how many jobs at most, jobs; returns how many.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct OnBurst(pub(super) unsafe extern "C" fn(*mut c_void, u32, *mut *mut Job) -> u32);

/// Manager, jobs, how many, mode, direction, bytes of a key; returns how many were completed.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct CipherBurst(
    pub(super) unsafe extern "C" fn(*mut c_void, *mut Job, u32, c_int, c_int, c_int) -> u32,
);

/// The functions of AES-GCM for one length of keys, which need no manager.
#[derive(Clone, Copy)]
pub(super) struct Gcm {
    pub(super) encrypt: GcmMessage,
    pub(super) decrypt: GcmMessage,
    expand: GcmExpand,
}

/// A message: key, state, to, from, bytes, nonce of 12 bytes, associated data, bytes of these, tag,
/// bytes of the tag. In both directions the tag is written, not compared.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct GcmMessage(
    pub(super)  unsafe extern "C" fn(
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
struct GcmExpand(unsafe extern "C" fn(*const u8, *mut GcmKey));

impl Gcm {
    /// Expands a key.
    ///
    /// # Safety
    ///
    /// The key has the length of these functions.
    #[inline]
    pub(super) unsafe fn expand(&self, key: &[u8], place: &mut GcmKey) {
        // SAFETY: the caller guarantees the length, and the place is large enough.
        unsafe { (self.expand.0)(key.as_ptr(), place) };
    }
}

impl Manager {
    /// Expands a key of AES-128 for encryption and for decryption.
    #[inline]
    pub(super) fn expand(&self, key: &[u8; 16], [encrypt, decrypt]: &mut [Schedule; 2]) {
        // SAFETY: 16 bytes are read and 176 aligned ones written twice.
        unsafe { (self.functions.expand.0)(key.as_ptr(), encrypt, decrypt) };
    }

    /// Expands a key of DES.
    #[inline]
    pub(super) fn expand_des(&self, key: &[u8; 8], place: &mut DesSchedule) {
        // SAFETY: 8 bytes are read and 128 aligned ones written. It fails without a place only.
        unsafe { (self.functions.expand_des.0)(place, key.as_ptr()) };
    }
}

impl Functions {
    /// `None` when the manager lacks one.
    ///
    /// # Safety
    ///
    /// `manager` is a manager of version 1.3.0 that has been initialised.
    pub(super) unsafe fn of(manager: *const c_void) -> Option<Self> {
        let gcm = |[encrypt, decrypt, expand]: [usize; 3]| {
            Some(Gcm {
                // SAFETY: a function of this type is there.
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
            expand_des: unsafe { function(manager, EXPAND_DES) }?,
            gcm: [gcm(short)?, gcm(long)?],
            // SAFETY: as above.
            next_job: unsafe { function(manager, NEXT_JOB) }?,
            // SAFETY: as above.
            submit_job: unsafe { function(manager, SUBMIT_JOB) }?,
            // SAFETY: as above.
            flush_job: unsafe { function(manager, FLUSH_JOB) }?,
            // SAFETY: as above.
            next_burst: unsafe { function(manager, NEXT_BURST) }?,
            // SAFETY: as above.
            submit_burst: unsafe { function(manager, SUBMIT_BURST) }?,
            // SAFETY: as above.
            flush_burst: unsafe { function(manager, FLUSH_BURST) }?,
            // SAFETY: as above.
            cipher_burst: unsafe { function(manager, CIPHER_BURST) }?,
        })
    }
}

/// The function at `offset` in a manager, unless it is null.
///
/// # Safety
///
/// At the offset in the manager there is an aligned pointer to a function of type `F`.
unsafe fn function<F: Copy>(manager: *const c_void, offset: usize) -> Option<F> {
    // SAFETY: the caller guarantees the offset.
    let place = unsafe { manager.byte_add(offset) };
    // SAFETY: the caller guarantees the type; a null pointer is `None`.
    unsafe { place.cast::<Option<F>>().read() }
}
