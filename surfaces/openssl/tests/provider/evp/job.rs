//! Asynchronous jobs.

use core::ffi::{c_int, c_void};
use core::ptr;

use super::{Crypto, Raw};

/// What a job does, and where it puts what comes out.
type Work<'w> = Box<dyn FnMut() + 'w>;

/// Jobs of the calling thread.
pub(crate) struct Jobs<'w> {
    crypto: &'static Crypto,
    jobs: Vec<(Raw, Raw, Work<'w>)>,
}

/// How a call of a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Paused,
    Finished,
}

unsafe extern "C" fn run(argument: *mut c_void) -> c_int {
    // SAFETY: `step` passes the address of a pointer to the work.
    let work = unsafe { argument.cast::<*mut Work<'_>>().read() };
    // SAFETY: the work stays where it is until the job has ended.
    unsafe { (*work)() };
    1
}

impl<'w> Jobs<'w> {
    pub(crate) fn new(crypto: &'static Crypto) -> Self {
        Self { crypto, jobs: Vec::new() }
    }

    /// Adds a job, which has not begun.
    pub(crate) fn add(&mut self, work: impl FnMut() + 'w) {
        // SAFETY: no argument.
        let wait = unsafe { (self.crypto.ASYNC_WAIT_CTX_new)() };
        assert!(!wait.is_null());
        self.jobs.push((ptr::null_mut(), wait, Box::new(work)));
    }

    /// Begins a job or resumes it.
    pub(crate) fn step(&mut self, number: usize) -> Step {
        let (job, wait, work) = &mut self.jobs[number];
        let (mut work, mut result) = (ptr::from_mut(work), 0);
        // SAFETY: a place for the job, what it waits on, and an argument, which is copied.
        let step = unsafe {
            let start = self.crypto.ASYNC_start_job;
            let argument = (&raw mut work).cast();
            start(job, *wait, &raw mut result, run, argument, size_of::<*mut Work<'_>>())
        };
        match step {
            2 => Step::Paused,
            3 => Step::Finished,
            other => panic!("a job that ended with {other}"),
        }
    }

    /// Whether a job's program would be woken.
    pub(crate) fn is_woken(&self, number: usize) -> bool {
        let (mut counters, mut count) = ([0; 4], 4);
        // SAFETY: what a job waits on, and room.
        let asked = unsafe {
            let ask = self.crypto.ASYNC_WAIT_CTX_get_all_fds;
            ask(self.jobs[number].1, counters.as_mut_ptr(), &raw mut count)
        };
        assert_eq!((asked, count), (1, 1));
        let mut poll = libc::pollfd { fd: counters[0], events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, and no time to wait.
        unsafe { libc::poll(&raw mut poll, 1, 0) == 1 }
    }

    /// Gives up what a job waits on, as a server does whose client has gone. The job itself stays
    /// as it is: OpenSSL has no end for one that is paused.
    pub(crate) fn abandon(&mut self, number: usize) {
        let wait = core::mem::replace(&mut self.jobs[number].1, ptr::null_mut());
        // SAFETY: nobody uses it again.
        unsafe { (self.crypto.ASYNC_WAIT_CTX_free)(wait) };
    }
}

impl Drop for Jobs<'_> {
    fn drop(&mut self) {
        for (_, wait, work) in self.jobs.drain(..) {
            if wait.is_null() {
                // The job that was given up still has its address.
                core::mem::forget(work);
                continue;
            }
            // SAFETY: nobody uses it again.
            unsafe { (self.crypto.ASYNC_WAIT_CTX_free)(wait) };
        }
    }
}
