//! Asynchronous jobs of OpenSSL (`ASYNC_start_job`): stacks that programs switch between.

use core::ffi::{c_int, c_void};
use core::ptr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::sync::{Mutex, PoisonError};

use crate::abi::Function;
use crate::library::functions;

type CleanUp = unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void);

functions! {
    /// Functions for jobs.
    Jobs {
        ASYNC_get_current_job: fn() -> *mut c_void;
        ASYNC_get_wait_ctx: fn(*mut c_void) -> *mut c_void;
        ASYNC_pause_job: fn() -> c_int;
        ASYNC_WAIT_CTX_get_fd:
            fn(*mut c_void, *const c_void, *mut c_int, *mut *mut c_void) -> c_int;
        ASYNC_WAIT_CTX_set_wait_fd:
            fn(*mut c_void, *const c_void, c_int, *mut c_void, Option<CleanUp>) -> c_int;
        ASYNC_WAIT_CTX_clear_fd: fn(*mut c_void, *const c_void) -> c_int;
        ASYNC_WAIT_CTX_get_callback:
            fn(*mut c_void, *mut Option<Function>, *mut *mut c_void) -> c_int;
    }
}

/// What stands for us in the contexts on which programs wait: its address.
static OURS: u8 = 0;

/// The job that runs.
pub(crate) struct Job<'j> {
    functions: &'j Jobs,
    /// The context on which the program waits.
    context: *mut c_void,
}

/// Gives up what a job waits for.
pub(super) type GiveUp = Box<dyn FnOnce() + Send>;

/// What wakes the program: a counter of the kernel, which stays with the context on which the
/// program waits. Programs remember its number, so it may not change as long as they do.
struct Wake {
    counter: File,
    /// The process that made it. A forked one would take away what its parent waits for.
    process: u32,
    /// Called if the context ends while the job waits.
    give_up: Mutex<Option<GiveUp>>,
}

impl Jobs {
    /// The job that runs, if there is one that can be paused.
    pub(crate) fn current(&self) -> Option<Job<'_>> {
        // SAFETY: no argument.
        let job = unsafe { (self.ASYNC_get_current_job)() };
        if job.is_null() {
            return None;
        }
        // SAFETY: the job that runs.
        let context = unsafe { (self.ASYNC_get_wait_ctx)(job) };
        if context.is_null() {
            return None;
        }
        // Programs that want to be called do not look at counters.
        let (mut callback, mut argument) = (None, ptr::null_mut());
        // SAFETY: a context, and places for the answers.
        let asked = unsafe {
            (self.ASYNC_WAIT_CTX_get_callback)(context, &raw mut callback, &raw mut argument)
        };
        (asked != 1 || callback.is_none()).then_some(Job { functions: self, context })
    }
}

impl Job<'_> {
    /// Pauses the job. The program may resume it at once; until it does, others run. If it never
    /// does, `give_up` is called at the end of the context on which the program waits. Says no if
    /// the program could not be woken, and the job has not been paused.
    pub(super) fn pause(&self, give_up: GiveUp) -> bool {
        let Some(wake) = self.wake().or_else(|| self.new_wake()) else { return false };
        if (&wake.counter).write_all(&1_u64.to_ne_bytes()).is_err() {
            return false;
        }
        wake.set(Some(give_up));
        // SAFETY: called in a job. If it cannot be paused, the call returns at once.
        unsafe { (self.functions.ASYNC_pause_job)() };
        // What was found before may have gone if another process resumes the job.
        if let Some(wake) = self.wake() {
            wake.set(None);
            // There is nothing to read if somebody else has read it.
            let _ = (&wake.counter).read(&mut [0; 8]);
        }
        true
    }

    /// The counter of this process, if the context has one.
    fn wake(&self) -> Option<&Wake> {
        let (mut counter, mut wake) = (0, ptr::null_mut());
        let (key, functions) = ((&raw const OURS).cast(), self.functions);
        // SAFETY: a context, and places for the answers.
        let found = unsafe {
            (functions.ASYNC_WAIT_CTX_get_fd)(self.context, key, &raw mut counter, &raw mut wake)
        };
        if found != 1 {
            return None;
        }
        let wake = wake.cast::<Wake>();
        // SAFETY: what `new_wake` has given to the context, which gives it back at its end.
        let value = unsafe { wake.as_ref() }?;
        if value.process == std::process::id() {
            return Some(value);
        }
        // SAFETY: a context that has it.
        if unsafe { (functions.ASYNC_WAIT_CTX_clear_fd)(self.context, key) } == 1 {
            // SAFETY: the context has forgotten it without a call of `clean_up`.
            drop(unsafe { Box::from_raw(wake) });
        }
        None
    }

    fn new_wake(&self) -> Option<&Wake> {
        // SAFETY: no pointer is passed.
        let counter = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if counter < 0 {
            return None;
        }
        // SAFETY: a new descriptor, which nobody else has.
        let counter = unsafe { File::from_raw_fd(counter) };
        let process = std::process::id();
        let wake = Box::new(Wake { counter, process, give_up: Mutex::new(None) });
        let number = wake.counter.as_raw_fd();
        let wake = Box::into_raw(wake);
        // SAFETY: a context, and what `clean_up` takes.
        let set = unsafe {
            (self.functions.ASYNC_WAIT_CTX_set_wait_fd)(
                self.context,
                (&raw const OURS).cast(),
                number,
                wake.cast(),
                Some(clean_up),
            )
        };
        if set != 1 {
            // SAFETY: the context has not taken it.
            drop(unsafe { Box::from_raw(wake) });
            return None;
        }
        // SAFETY: the context keeps it.
        unsafe { wake.as_ref() }
    }
}

impl Wake {
    fn set(&self, give_up: Option<GiveUp>) {
        *self.give_up.lock().unwrap_or_else(PoisonError::into_inner) = give_up;
    }
}

/// The end of a context on which a program waits.
unsafe extern "C" fn clean_up(_: *mut c_void, _: *const c_void, _: c_int, wake: *mut c_void) {
    if wake.is_null() {
        return;
    }
    // SAFETY: what `new_wake` gave to the context, which gives it back once.
    let wake = unsafe { Box::from_raw(wake.cast::<Wake>()) };
    let give_up = wake.give_up.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(give_up) = give_up {
        give_up();
    }
}
