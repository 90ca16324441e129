//! Errors on OpenSSL's stack.

use core::ffi::{CStr, c_void};
use core::ptr;

use crate::abi::{Core, Reason, Table};

/// Why something failed.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Failure {
    /// The default provider has no RSA, or is not there.
    NoDefaultProvider = 1,
    /// A wrong signature was discarded.
    Fault,
    /// The system gave no random numbers.
    Entropy,
    /// The place for a signature is too short.
    Room,
    /// No memory.
    Memory,
}

const REASONS: &[(Failure, &CStr)] = &[
    (Failure::NoDefaultProvider, c"the default provider is not active, or has no RSA"),
    (Failure::Fault, c"a wrong signature was discarded: an error of the machine, or a bad key"),
    (Failure::Entropy, c"no random numbers"),
    (Failure::Room, c"no room for the signature"),
    (Failure::Memory, c"a context of the default provider could not be made"),
];

/// The reasons as OpenSSL wants them.
static LIST: Table<[Reason; REASONS.len() + 1]> = Table({
    let mut list = [const { Reason { number: 0, text: ptr::null() } }; REASONS.len() + 1];
    let mut i = 0;
    while i < REASONS.len() {
        list[i] = Reason { number: REASONS[i].0 as u32, text: REASONS[i].1.as_ptr() };
        i += 1;
    }
    list
});

pub(crate) unsafe extern "C" fn reasons(_: *mut c_void) -> *const Reason {
    LIST.0.as_ptr()
}

/// What errors are reported to.
pub(crate) struct Reporter {
    pub(crate) handle: *const c_void,
    pub(crate) core: Core,
}

impl Reporter {
    /// Puts an error on the stack of the calling thread. It always says no.
    #[cold]
    pub(crate) fn fail(&self, failure: Failure) -> bool {
        let (Some(new), Some(locate), Some(set)) =
            (self.core.new_error, self.core.locate_error, self.core.set_error)
        else {
            return false;
        };
        // SAFETY: the handle belongs to these functions.
        unsafe { new(self.handle) };
        // SAFETY: strings that live for ever.
        unsafe { locate(self.handle, c"lanecrypt".as_ptr(), 0, c"".as_ptr()) };
        // Without a format there is no argument, and the list of them is not read.
        let mut none = [0_u64; 4];
        // SAFETY: no format, and a list of arguments that is not read.
        unsafe { set(self.handle, failure as u32, ptr::null(), none.as_mut_ptr().cast()) };
        false
    }
}
