//! Entropy failure: when the kernel gives no random bytes, neither do the generators.

#[allow(dead_code, reason = "each test uses its part of it")]
mod common;

use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::sync::Mutex;

use common::harness::{self, Case, skipped};
use common::seccomp::{self, Rule};
use common::sys::{self, Fork};
use common::{maps, windows};
use lanecrypt_random::{AesCtr, ChaCha, EntropyError, Erasing, PerThread};

fn main() {
    harness::run(&[
        Case("entropy::try_fill_says_which_error", try_fill_says_which_error),
        Case("entropy::the_others_abort", the_others_abort),
        Case("entropy::fails_at_a_later_refill", fails_at_a_later_refill),
        Case("entropy::seeded_vdso_goes_on", seeded_vdso_goes_on),
        Case("entropy::interruptions", || with_and_without_vdso("interruptions", interruptions)),
        Case("entropy::short_reads", || with_and_without_vdso("short_reads", short_reads)),
        Case("entropy::no_bytes_at_all", || with_and_without_vdso("no_bytes_at_all", no_bytes)),
        Case("entropy::recovers", || {
            with_and_without_vdso("recovers", recovers::<{ libc::EAGAIN }>);
            with_and_without_vdso("recovers", recovers::<{ libc::ENOSYS }>);
            with_and_without_vdso("recovers", recovers::<{ libc::EPERM }>);
        }),
        Case("entropy::recovers_without_wipe_on_fork", recovers_without_wipe_on_fork),
    ]);
}

const ERRORS: [i32; 4] = [libc::ENOSYS, libc::EAGAIN, libc::EPERM, libc::EFAULT];

/// Runs `body` in a child process; false, with a line, if the filter is not permitted.
fn filtered(name: &str, rules: &[Rule], body: impl FnOnce()) -> bool {
    let child = sys::fork(Fork::Library).expect("processes can be made");
    if child == 0 {
        if seccomp::install(rules).is_err() {
            sys::exit(77);
        }
        body();
        sys::exit(0);
    }
    let status = sys::wait(child);
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 77 {
        skipped(name, "seccomp filters are not permitted here");
        return false;
    }
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status:#x}");
    true
}

fn code(result: Result<(), EntropyError>) -> Option<i32> {
    result.err().map(EntropyError::raw_os_error)
}

/// Every door answers with the error of the kernel, again and again.
fn check_errors(error: i32) {
    let mut out = [0; 5000];
    for length in [1, 4, 32, 4000, 5000] {
        assert_eq!(code(lanecrypt_random::try_fill(&mut out[..length])), Some(error));
        assert_eq!(code(PerThread::<AesCtr<256>>::try_fill(&mut out[..length])), Some(error));
        let mut strict = lanecrypt_random::strict();
        assert_eq!(code(strict.try_fill(&mut out[..length])), Some(error));
    }
    assert_eq!(out, [0; 5000], "nothing was written");
    let result = Erasing::<ChaCha<20>>::new().map(drop);
    assert_eq!(code(result), Some(error));
    assert_eq!(maps::live_pages(&maps::wiped_on_fork()).len(), 0, "no page is live");
}

fn try_fill_says_which_error() {
    for error in ERRORS {
        let fails = Rule::getrandom_fails(error);
        for rules in [
            &[fails][..],
            &[fails, Rule::no_vdso_states()],
            &[fails, Rule::no_wipe_on_fork()],
            &[fails, Rule::no_wipe_on_fork(), Rule::no_vdso_states()],
        ] {
            if !filtered("entropy::try_fill_says_which_error", rules, || check_errors(error)) {
                return;
            }
        }
    }
}

/// The functions that return plain numbers end the process by SIGABRT, after one line.
fn the_others_abort() {
    let draws: [fn(); 8] = [
        || drop(lanecrypt_random::u32().to_string()),
        || drop(lanecrypt_random::u64().to_string()),
        || lanecrypt_random::fill(&mut [0; 100]),
        || lanecrypt_random::fill(&mut [0; 100_000]),
        || drop(lanecrypt_random::range(0..10).to_string()),
        || drop(lanecrypt_random::bytes::<32>().to_vec()),
        || drop(lanecrypt_random::strict().u64().to_string()),
        || drop(PerThread::<AesCtr<256>>::u32().to_string()),
    ];
    let errors = [(libc::EPERM, "001"), (libc::ENOSYS, "038")];
    for (i, (draw, (error, number))) in
        draws.into_iter().flat_map(|draw| errors.map(|error| (draw, error))).enumerate()
    {
        let mut pipe = [0; 2];
        // SAFETY: the array has room for both ends.
        assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
        let child = sys::fork(Fork::Library).expect("processes can be made");
        if child == 0 {
            let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the structure is filled in.
            unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core) };
            // SAFETY: both descriptors are open.
            unsafe { libc::dup2(pipe[1], libc::STDERR_FILENO) };
            let mut rules = vec![Rule::getrandom_fails(error)];
            if i % 3 == 0 {
                rules.push(Rule::no_vdso_states());
            }
            if seccomp::install(&rules).is_err() {
                sys::exit(77);
            }
            draw();
            sys::exit(1);
        }
        // SAFETY: the descriptor is this process's own and not used again.
        unsafe { libc::close(pipe[1]) };
        let mut text = String::new();
        // SAFETY: the descriptor is this process's own and belongs to the file from here on.
        let mut end = unsafe { std::fs::File::from_raw_fd(pipe[0]) };
        end.read_to_string(&mut text).expect("a pipe can be read");
        let status = sys::wait(child);
        if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 77 {
            return skipped("entropy::the_others_abort", "seccomp filters are not permitted here");
        }
        assert!(libc::WIFSIGNALED(status), "draw {i}: status {status:#x}, {text}");
        assert_eq!(libc::WTERMSIG(status), libc::SIGABRT);
        let line =
            format!("lanecrypt: the kernel gave no random bytes (error {number}); aborting\n");
        assert_eq!(text, line);
    }
}

/// Without the vDSO a generator that was seeded needs the kernel again, and says so when it fails.
fn fails_at_a_later_refill() {
    let name = "entropy::fails_at_a_later_refill";
    filtered(name, &[Rule::no_vdso_states()], || {
        let mut held = Erasing::<ChaCha<8>>::new().expect("the kernel has randomness");
        let mut out = [0; 1000];
        assert_eq!(lanecrypt_random::try_fill(&mut out), Ok(()));
        seccomp::install(&[Rule::getrandom_fails(libc::EAGAIN)]).expect("as before");
        // What is buffered is good; by bytes or by time, whichever comes first, it ends.
        let mut drawn = 0;
        while lanecrypt_random::try_fill(&mut out) == Ok(()) {
            drawn += out.len();
            assert!(drawn < 1 << 20, "a megabyte without the kernel");
        }
        assert_eq!(code(lanecrypt_random::try_fill(&mut out)), Some(libc::EAGAIN));
        while held.try_fill(&mut out) == Ok(()) {
            drawn += out.len();
            assert!(drawn < 2 << 20, "a megabyte without the kernel");
        }
        assert_eq!(code(held.try_fill(&mut [0; 4])), Some(libc::EAGAIN));
        // A large request and a strict one need it at once.
        assert_eq!(code(lanecrypt_random::strict().try_fill(&mut [0; 1])), Some(libc::EAGAIN));
        assert_eq!(code(held.try_fill(&mut vec![0; 1 << 21])), Some(libc::EAGAIN));
        assert_eq!(maps::live_pages(&maps::wiped_on_fork()).len(), 0, "no page is live");
    });
}

/// The kernel's generator in the vDSO is seeded for a while: draws go on.
fn seeded_vdso_goes_on() {
    if !lanecrypt_random::facilities().vdso {
        return skipped("entropy::seeded_vdso_goes_on", "this kernel has no vDSO getrandom");
    }
    let mut records = vec![vec![0; 3000]; 100];
    let _ = lanecrypt_random::u32();
    if seccomp::install(&[Rule::getrandom_fails(libc::EPERM)]).is_err() {
        return skipped("entropy::seeded_vdso_goes_on", "seccomp filters are not permitted here");
    }
    let mut given = 0;
    for record in &mut records {
        // The kernel may reseed at any time; then the draw fails, and says so.
        match lanecrypt_random::try_fill(record) {
            Ok(()) => given += 1,
            Err(error) => {
                assert_eq!(error.raw_os_error(), libc::EPERM);
                break;
            }
        }
    }
    windows::assert_unique("after seeding", records[..given].iter().map(Vec::as_slice));
}

/// What `getrandom` is made to answer.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Error(i32),
    /// So many bytes.
    Bytes(usize),
}

/// Answers to come; after them the kernel answers.
static ANSWERS: Mutex<VecDeque<Answer>> = Mutex::new(VecDeque::new());
/// Calls answered so far, by script or by the kernel.
static CALLS: AtomicUsize = AtomicUsize::new(0);

fn script(answers: &[Answer]) {
    *ANSWERS.lock().expect("nobody panics") = answers.iter().copied().collect();
}

fn scripted_left() -> usize {
    ANSWERS.lock().expect("nobody panics").len()
}

/// Runs `body` in two processes, on a thread whose calls of `getrandom` another thread answers.
fn with_and_without_vdso(name: &str, body: fn()) {
    for vdso in [true, false] {
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
            return skipped(&format!("entropy::{name}"), "seccomp cannot ask a listener here");
        }
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "vdso: {vdso}");
    }
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
    match ANSWERS.lock().expect("nobody panics").pop_front() {
        None => reply.flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).expect("one"),
        Some(Answer::Error(error)) => reply.error = -error,
        Some(Answer::Bytes(count)) => {
            let count = count.min(usize::try_from(call.data.args[1]).expect("64-bit addresses"));
            let address = usize::try_from(call.data.args[0]).expect("64-bit addresses");
            let place = core::ptr::with_exposed_provenance_mut::<u8>(address);
            let mut bytes = vec![0; count];
            common::toy::kernel(&mut bytes);
            // SAFETY: the thread that called waits, and gave this place for at least so many.
            unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), count) };
            reply.val = i64::try_from(count).expect("small");
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

/// Draws, which must work and differ.
fn draw_well() {
    let mut records = vec![vec![0; 32], vec![0; 3000], vec![0; 20_000]];
    for record in &mut records {
        assert_eq!(lanecrypt_random::try_fill(record), Ok(()));
    }
    let mut held = Erasing::<AesCtr<256>>::new().expect("the kernel answers");
    records.push(vec![0; 500]);
    held.fill(records.last_mut().expect("just pushed"));
    windows::assert_unique("after the failure", records.iter().map(Vec::as_slice));
}

/// An interrupted call is made again.
fn interruptions() {
    script(&[Answer::Error(libc::EINTR); 5]);
    draw_well();
    assert_eq!(scripted_left(), 0, "the calls were made");
}

/// A call that gives fewer bytes is followed by others for the rest.
fn short_reads() {
    script(&[1, 2, 3, 1, 7, 1, 1, 15, 1, 1, 2, 1, 1, 1].map(Answer::Bytes));
    draw_well();
    assert_eq!(scripted_left(), 0, "the calls were made");
    script(&[
        Answer::Bytes(5),
        Answer::Error(libc::EINTR),
        Answer::Bytes(9),
        Answer::Error(libc::EINTR),
        Answer::Error(libc::EINTR),
        Answer::Bytes(2),
    ]);
    // A new thread of this process is under the filter, too, and has nothing seeded.
    std::thread::spawn(draw_well).join().expect("it draws");
    assert_eq!(scripted_left(), 0, "the calls were made");
}

/// A call that succeeds without a byte is a failure, not the end of a loop or a loop without end.
fn no_bytes() {
    // The vDSO calls twice before it gives up.
    script(&[Answer::Bytes(0); 8]);
    let mut out = [0; 64];
    let error = lanecrypt_random::try_fill(&mut out);
    assert_eq!(code(error), Some(libc::EIO));
    assert_eq!(out, [0; 64]);
    script(&[]);
    draw_well();
}

/// A failure in the middle, then the kernel works again.
fn recovers<const ERROR: i32>() {
    for _ in 0..3 {
        // With the vDSO several calls are made for one failure: its own and the one after it.
        script(&[Answer::Bytes(3), Answer::Error(ERROR), Answer::Error(ERROR)]);
        let mut out = [0; 64];
        assert_eq!(code(lanecrypt_random::try_fill(&mut out)), Some(ERROR));
        assert_eq!(out, [0; 64], "nothing was written");
        assert!(maps::live_pages(&maps::wiped_on_fork()).is_empty(), "no page is live");
    }
    script(&[]);
    draw_well();
}

/// The same without pages: what a request wrote before it failed does not count as drawn.
fn recovers_without_wipe_on_fork() {
    if seccomp::install(&[Rule::no_wipe_on_fork()]).is_err() {
        let reason = "seccomp filters are not permitted here";
        return skipped("entropy::recovers_without_wipe_on_fork", reason);
    }
    with_and_without_vdso("recovers_without_wipe_on_fork", || {
        script(&[Answer::Error(libc::EINTR), Answer::Error(libc::EAGAIN)]);
        assert_eq!(code(lanecrypt_random::try_fill(&mut [0; 64])), Some(libc::EAGAIN));
        draw_well();
        assert!(CALLS.load(Ordering::Relaxed) > 3, "every request is a call");
    });
}
