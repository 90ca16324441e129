//! Errors on OpenSSL's stack.

use core::ffi::{CStr, c_void};
use core::ptr;
use std::ffi::CString;

use crate::abi::{Core, Reason, Table};

/// Why something failed.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Failure {
    /// The default provider has no keys of the type, or is not there.
    NoDefaultProvider = 1,
    /// A wrong signature was discarded.
    Fault,
    /// The system gave no random numbers.
    Entropy,
    /// The place for a signature is too short.
    BatchBuffer,
    /// No memory.
    Memory,
    /// What names a key of a daemon is malformed.
    Uri,
    /// A daemon does not do what its key is needed for. The text says why.
    Daemon,
    /// A key that lives in a daemon is not for this.
    NotByDaemon,
    /// The private half of such a key cannot be exported.
    Private,
    /// A shared secret would be zero.
    SmallOrder,
}

const REASONS: &[(Failure, &CStr)] = &[
    (Failure::NoDefaultProvider, c"the default provider is not active, or has no such keys"),
    (Failure::Fault, c"a wrong signature was discarded: an error of the machine, or a bad key"),
    (Failure::Entropy, c"no random numbers"),
    (Failure::BatchBuffer, c"no room for the signature"),
    (Failure::Memory, c"a context of the default provider could not be made"),
    (Failure::Uri, c"malformed: not lanecrypt:NAME or lanecrypt:NAME?socket=/path"),
    (Failure::Daemon, c"the daemon does not serve the key"),
    (
        Failure::NotByDaemon,
        c"a key in a daemon only signs: PKCS#1 v1.5 or PSS, by SHA-256, SHA-384 or SHA-512",
    ),
    (Failure::Private, c"the private half of the key is in a daemon, and stays there"),
    (Failure::SmallOrder, c"the other side's public key has a small order: no secret is shared"),
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

/// Why something failed, with a text for people if there is more to say.
pub(crate) struct Trouble {
    failure: Failure,
    text: Option<String>,
}

impl Trouble {
    pub(crate) fn described(failure: Failure, text: String) -> Self {
        Self { failure, text: Some(text) }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self { failure, text: None }
    }
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
        self.report(failure, None)
    }

    /// The same with a text for people. Programs write it to their logs, so it has no other lines.
    #[cold]
    pub(crate) fn fail_with(&self, failure: Failure, text: &str) -> bool {
        // It becomes a format without arguments.
        let text = text.replace('%', "%%").replace(char::is_control, "?");
        let format = CString::new(text).unwrap_or_default();
        self.report(failure, Some(&format))
    }

    /// The same for what has gone wrong elsewhere.
    #[cold]
    pub(crate) fn tell(&self, trouble: &Trouble) -> bool {
        match &trouble.text {
            Some(text) => self.fail_with(trouble.failure, text),
            None => self.fail(trouble.failure),
        }
    }

    fn report(&self, failure: Failure, format: Option<&CStr>) -> bool {
        let (Some(new), Some(locate), Some(set)) =
            (self.core.new_error, self.core.locate_error, self.core.set_error)
        else {
            return false;
        };
        // SAFETY: the handle belongs to these functions.
        unsafe { new(self.handle) };
        // SAFETY: strings that live for ever.
        unsafe { locate(self.handle, c"lanecrypt".as_ptr(), 0, c"".as_ptr()) };
        // There is no argument, and the list of them is not read.
        let mut none = [0_u64; 4];
        let format = format.map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: none or a format without arguments, and a list of them that is not read.
        unsafe { set(self.handle, failure as u32, format, none.as_mut_ptr().cast()) };
        false
    }
}
