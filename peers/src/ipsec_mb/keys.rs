//! Expanded keys, as jobs point to them.

use core::ffi::c_void;
use core::ptr;

use super::Manager;
use crate::Failed;

/// A key of an algorithm, expanded in a place where it stays.
pub(super) trait Expanded: Send + 'static {
    /// Without a key yet.
    fn empty() -> Self;

    /// Takes a key.
    ///
    /// # Errors
    ///
    /// [`Failed`] if it has the wrong length.
    fn set(&mut self, manager: &Manager, key: &[u8]) -> Result<(), Failed>;

    /// The pointers of a job to it, for encryption and for decryption.
    fn pointers(&self) -> [*const c_void; 2];
}

/// An expanded key of AES-128, in one direction.
#[repr(C, align(64))]
pub(super) struct Schedule([u8; 176]);

/// AES-128, in both directions.
pub(super) struct Aes([Schedule; 2]);

impl Expanded for Aes {
    fn empty() -> Self {
        Self([const { Schedule([0; 176]) }; 2])
    }

    #[inline]
    fn set(&mut self, manager: &Manager, key: &[u8]) -> Result<(), Failed> {
        manager.expand(key.try_into().map_err(|_| Failed)?, &mut self.0);
        Ok(())
    }

    #[inline]
    fn pointers(&self) -> [*const c_void; 2] {
        let [encrypt, decrypt] = &self.0;
        [ptr::from_ref(encrypt).cast(), ptr::from_ref(decrypt).cast()]
    }
}

/// An expanded key of DES, for both directions.
#[repr(C, align(64))]
pub(super) struct DesSchedule([u64; 16]);

impl DesSchedule {
    const EMPTY: Self = Self([0; 16]);
}

/// DES.
pub(super) struct Des(DesSchedule);

impl Expanded for Des {
    fn empty() -> Self {
        Self(DesSchedule::EMPTY)
    }

    #[inline]
    fn set(&mut self, manager: &Manager, key: &[u8]) -> Result<(), Failed> {
        manager.expand_des(key.try_into().map_err(|_| Failed)?, &mut self.0);
        Ok(())
    }

    #[inline]
    fn pointers(&self) -> [*const c_void; 2] {
        [ptr::from_ref(&self.0).cast(); 2]
    }
}

/// 3DES with three keys. A job points to pointers to these, which are set with the keys.
pub(super) struct TripleDes {
    schedules: [DesSchedule; 3],
    pointers: [*const DesSchedule; 3],
}

impl Expanded for TripleDes {
    fn empty() -> Self {
        Self { schedules: [DesSchedule::EMPTY; 3], pointers: [ptr::null(); 3] }
    }

    #[inline]
    fn set(&mut self, manager: &Manager, key: &[u8]) -> Result<(), Failed> {
        let key: &[u8; 24] = key.try_into().map_err(|_| Failed)?;
        let (keys, _) = key.as_chunks();
        for (key, schedule) in keys.iter().zip(&mut self.schedules) {
            manager.expand_des(key, schedule);
        }
        self.pointers = self.schedules.each_ref().map(ptr::from_ref);
        Ok(())
    }

    #[inline]
    fn pointers(&self) -> [*const c_void; 2] {
        [self.pointers.as_ptr().cast(); 2]
    }
}

// SAFETY: the pointers lead into the value itself, and only the library follows them.
unsafe impl Send for TripleDes {}

/// `struct gcm_key_data`: the schedule and powers of the hash key.
#[repr(C, align(64))]
pub(super) struct GcmKey([u8; 1024]);

impl GcmKey {
    pub(super) const EMPTY: Self = Self([0; 1024]);
}

/// `struct gcm_context_data`: the state of a message.
#[repr(C, align(64))]
pub(super) struct GcmState([u8; 128]);

impl GcmState {
    pub(super) const EMPTY: Self = Self([0; 128]);
}

/// AES-GCM with keys of this many bytes.
pub(super) struct GcmSession<const KEY: usize>(GcmKey);

impl<const KEY: usize> Expanded for GcmSession<KEY> {
    fn empty() -> Self {
        Self(GcmKey::EMPTY)
    }

    #[inline]
    fn set(&mut self, manager: &Manager, key: &[u8]) -> Result<(), Failed> {
        Failed::unless(key.len() == KEY)?;
        let functions = manager.gcm(KEY).ok_or(Failed)?;
        // SAFETY: the functions are those for this length.
        unsafe { functions.expand(key, &mut self.0) };
        Ok(())
    }

    #[inline]
    fn pointers(&self) -> [*const c_void; 2] {
        [ptr::from_ref(&self.0).cast(); 2]
    }
}

/// ChaCha20-Poly1305, whose keys are not expanded.
pub(super) struct ChaCha([u8; 32]);

impl Expanded for ChaCha {
    fn empty() -> Self {
        Self([0; 32])
    }

    #[inline]
    fn set(&mut self, _manager: &Manager, key: &[u8]) -> Result<(), Failed> {
        self.0 = key.try_into().map_err(|_| Failed)?;
        Ok(())
    }

    #[inline]
    fn pointers(&self) -> [*const c_void; 2] {
        [self.0.as_ptr().cast(); 2]
    }
}
