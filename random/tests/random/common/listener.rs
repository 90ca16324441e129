//! Answering a thread's calls of `getrandom` from another thread.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::sync::Mutex;

use lanecrypt_testing::harness::skipped;
use lanecrypt_testing::seccomp::{self, Rule};
use lanecrypt_testing::sys::{self, Fork};

/// What `getrandom` is made to answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Error(i32),
    /// So many bytes.
    Bytes(usize),
}

/// What a thread was given.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    pub(crate) thread: libc::pid_t,
    pub(crate) bytes: Vec<u8>,
}

/// Answers to come; after them the kernel answers.
static ANSWERS: Mutex<VecDeque<Answer>> = Mutex::new(VecDeque::new());
/// Calls answered so far, by script or by the kernel.
static CALLS: AtomicUsize = AtomicUsize::new(0);
/// What was answered in full while `RECORDS` was set.
static SEEDS: Mutex<Vec<Seed>> = Mutex::new(Vec::new());
static RECORDS: AtomicBool = AtomicBool::new(false);

pub(crate) fn script(answers: &[Answer]) {
    *ANSWERS.lock().expect("nobody panics") = answers.iter().copied().collect();
}

pub(crate) fn scripted_left() -> usize {
    ANSWERS.lock().expect("nobody panics").len()
}

pub(crate) fn calls() -> usize {
    CALLS.load(Ordering::Relaxed)
}

/// From here on every call for 32 bytes that the script does not answer is kept with its answer:
/// generators take their seeds that way, and nothing else in these tests asks for so many.
pub(crate) fn record() {
    RECORDS.store(true, Ordering::Relaxed);
}

/// What was recorded since the last time.
pub(crate) fn recorded() -> Vec<Seed> {
    core::mem::take(&mut *SEEDS.lock().expect("nobody panics"))
}

/// Runs `body` in two processes, on a thread whose calls of `getrandom` another thread answers.
pub(crate) fn with_and_without_vdso(name: &str, body: fn()) {
    for vdso in [true, false] {
        if !answered(name, vdso, body) {
            return;
        }
    }
}

/// Runs `body` in a process of its own, on a thread whose calls of `getrandom` another thread
/// answers; false, with a line, if that cannot be done here.
pub(crate) fn answered(name: &str, vdso: bool, body: fn()) -> bool {
    let child = sys::fork(Fork::Library).expect("processes can be made");
    if child == 0 {
        let drawing = std::thread::spawn(move || {
            let mut rules = vec![Rule::getrandom_asks()];
            if !vdso {
                rules.push(Rule::no_vdso_states());
            }
            let Ok(listener) = seccomp::install_with_listener(&rules) else { return false };
            LISTENER.store(listener.cast_unsigned() as usize, Ordering::Release);
            body();
            true
        });
        while !drawing.is_finished() && LISTENER.load(Ordering::Acquire) == usize::MAX {
            std::thread::yield_now();
        }
        if LISTENER.load(Ordering::Acquire) != usize::MAX {
            // Ends with the process.
            std::thread::spawn(|| {
                loop {
                    answer(i32::try_from(LISTENER.load(Ordering::Relaxed)).expect("small"));
                }
            });
        }
        sys::exit(match drawing.join() {
            Ok(true) => 0,
            Ok(false) => 77,
            Err(_) => 1,
        });
    }
    let status = sys::wait(child);
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 77 {
        skipped(name, "seccomp cannot ask a listener here");
        return false;
    }
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "vdso: {vdso}");
    true
}

static LISTENER: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Answers one call: by the script, or by letting it go on.
fn answer(listener: i32) {
    // SAFETY: the structures are plain integers; the kernel wants them zeroed.
    let mut call: libc::seccomp_notif = unsafe { core::mem::zeroed() };
    // SAFETY: as above.
    let mut reply: libc::seccomp_notif_resp = unsafe { core::mem::zeroed() };
    // SAFETY: the request fills in a structure of this type.
    if unsafe { libc::ioctl(listener, NOTIF_RECV, &raw mut call) } != 0 {
        return;
    }
    reply.id = call.id;
    let wanted = usize::try_from(call.data.args[1]).expect("64-bit addresses");
    let address = usize::try_from(call.data.args[0]).expect("64-bit addresses");
    let give = |count: usize| {
        let place = core::ptr::with_exposed_provenance_mut::<u8>(address);
        let mut bytes = vec![0; count];
        super::toy::kernel(&mut bytes);
        // SAFETY: the thread that called waits, and gave this place for at least so many.
        unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), count) };
        bytes
    };
    let answer = ANSWERS.lock().expect("nobody panics").pop_front();
    match answer {
        None if RECORDS.load(Ordering::Relaxed) && wanted == 32 => {
            let thread = libc::pid_t::try_from(call.pid).expect("threads have small numbers");
            SEEDS.lock().expect("nobody panics").push(Seed { thread, bytes: give(wanted) });
            reply.val = i64::try_from(wanted).expect("small");
        }
        None => reply.flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).expect("one"),
        Some(Answer::Error(error)) => reply.error = -error,
        Some(Answer::Bytes(count)) => {
            reply.val = i64::try_from(give(count.min(wanted)).len()).expect("small");
        }
    }
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the reply is filled in.
    unsafe { libc::ioctl(listener, NOTIF_SEND, &raw mut reply) };
}

/// `SECCOMP_IOCTL_NOTIF_RECV` and `SECCOMP_IOCTL_NOTIF_SEND`: direction, size, '!', number.
const NOTIF_RECV: libc::c_ulong = 0xc000_2100 | (size_of::<libc::seccomp_notif>() as u64) << 16;
const NOTIF_SEND: libc::c_ulong =
    0xc000_2101 | (size_of::<libc::seccomp_notif_resp>() as u64) << 16;
