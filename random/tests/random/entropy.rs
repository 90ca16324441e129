//! Entropy failure: when the kernel gives no random bytes, neither do the generators.

use std::io::Read;
use std::os::fd::FromRawFd;

use crate::common::listener::{self, Answer, script, scripted_left, with_and_without_vdso};
use crate::common::{maps, processors, windows};
use lanecrypt_random::{
    AesCtr, ChaCha, EntropyError, Erasing, Generator, Owned, PerCpu, PerThread, Rekeying, Salsa,
    Shared, SingleThread, StaticGenerator, set_rekey_interval,
};
#[cfg(feature = "study")]
use lanecrypt_random::{Hc128, Inlined};
use lanecrypt_testing::harness::{Case, skipped};
use lanecrypt_testing::seccomp::{self, Rule};
use lanecrypt_testing::sys::{self, Fork};

pub(crate) const CASES: &[Case] = &[
    Case("entropy::try_fill_says_which_error", try_fill_says_which_error),
    Case("entropy::the_others_abort", the_others_abort),
    Case("entropy::fails_at_a_later_refill", fails_at_a_later_refill),
    Case("entropy::interruptions", || {
        with_and_without_vdso("entropy::interruptions", interruptions);
    }),
    Case("entropy::short_reads", || with_and_without_vdso("entropy::short_reads", short_reads)),
    Case("entropy::no_bytes_at_all", || {
        with_and_without_vdso("entropy::no_bytes_at_all", no_bytes);
    }),
    Case("entropy::recovers", || {
        with_and_without_vdso("entropy::recovers", recovers::<{ libc::EAGAIN }>);
        with_and_without_vdso("entropy::recovers", recovers::<{ libc::ENOSYS }>);
        with_and_without_vdso("entropy::recovers", recovers::<{ libc::EPERM }>);
    }),
    Case("entropy::fails_at_the_rekey", || {
        with_and_without_vdso("entropy::fails_at_the_rekey", fails_at_the_rekey);
    }),
    Case("entropy::recovers_without_wipe_on_fork", recovers_without_wipe_on_fork),
];

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
        assert_eq!(
            code(PerThread::<Erasing<AesCtr<256>>>::try_fill(&mut out[..length])),
            Some(error)
        );
        let out_of = |fill: fn(&mut [u8]) -> Result<(), EntropyError>| {
            let mut out = [0; 5000];
            assert_eq!(code(fill(&mut out[..length])), Some(error));
            assert_eq!(out, [0; 5000], "nothing was written");
        };
        out_of(PerCpu::<Erasing<ChaCha<20>>>::try_fill);
        out_of(PerCpu::<Rekeying<AesCtr<256>>>::try_fill);
        out_of(PerThread::<Rekeying<Salsa<20>>>::try_fill);
        #[cfg(feature = "study")]
        out_of(PerCpu::<Inlined<Hc128>>::try_fill);
        assert_eq!(code(PerCpu::<Erasing>::new().strict().try_fill(&mut [0; 9])), Some(error));
        let mut strict = lanecrypt_random::strict();
        assert_eq!(code(strict.try_fill(&mut out[..length])), Some(error));
    }
    assert_eq!(out, [0; 5000], "nothing was written");
    let result = Owned::<Erasing<ChaCha<20>>>::new().map(drop);
    assert_eq!(code(result), Some(error));
    assert_eq!(code(Shared::<Erasing>::new().map(drop)), Some(error));
    assert_eq!(code(Shared::<Rekeying<ChaCha<8>>>::new().map(drop)), Some(error));
    assert_eq!(code(SingleThread::<Erasing>::new().map(drop)), Some(error));
    // Without pages there is nothing to give a key to.
    if lanecrypt_random::capabilities().wipe_on_fork {
        assert_eq!(code(PerThread::<Erasing>::reseed()), Some(error));
        assert_eq!(code(PerCpu::<Erasing>::reseed()), Some(error));
    }
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
    let draws: [fn(); 12] = [
        || drop(lanecrypt_random::u32().to_string()),
        || drop(lanecrypt_random::u64().to_string()),
        || lanecrypt_random::fill(&mut [0; 100]),
        || lanecrypt_random::fill(&mut [0; 100_000]),
        || drop(lanecrypt_random::range(0..10).to_string()),
        || drop(lanecrypt_random::bytes::<32>().to_vec()),
        || drop(lanecrypt_random::strict().u64().to_string()),
        || drop(PerThread::<Erasing<AesCtr<256>>>::u32().to_string()),
        || drop(PerCpu::<Erasing<AesCtr<256>>>::u32().to_string()),
        || drop(PerCpu::<Erasing<AesCtr<256>>>::u64().to_string()),
        || PerCpu::<Rekeying<ChaCha<8>>>::fill(&mut [0; 200]),
        || drop(PerThread::<Rekeying<Salsa<20>>>::u64().to_string()),
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

/// A generator that was seeded needs the kernel again, with the vDSO and without, and says so when
/// it fails.
fn fails_at_a_later_refill() {
    for rules in [&[][..], &[Rule::no_vdso_states()]] {
        filtered("entropy::fails_at_a_later_refill", rules, goes_on_for_a_while);
    }
}

fn goes_on_for_a_while() {
    let mut held = Owned::<Erasing<ChaCha<8>>>::new().expect("the kernel has randomness");
    let mut out = [0; 1000];
    assert_eq!(lanecrypt_random::try_fill(&mut out), Ok(()));
    seccomp::install(&[Rule::getrandom_fails(libc::EAGAIN)]).expect("as before");
    // What is buffered is good; by bytes or by time, whichever comes first, it ends.
    let mut drawn = 0;
    while lanecrypt_random::try_fill(&mut out) == Ok(()) {
        drawn += out.len();
        assert!(drawn <= (64 << 10) + 8096, "too much without the kernel");
    }
    assert_eq!(code(lanecrypt_random::try_fill(&mut out)), Some(libc::EAGAIN));
    drawn = 0;
    while held.try_fill(&mut out) == Ok(()) {
        drawn += out.len();
        assert!(drawn <= (64 << 10) + 8096, "too much without the kernel");
    }
    assert_eq!(code(held.try_fill(&mut [0; 4])), Some(libc::EAGAIN));
    // A large request and a strict one need it at once.
    assert_eq!(code(lanecrypt_random::strict().try_fill(&mut [0; 1])), Some(libc::EAGAIN));
    assert_eq!(code(held.try_fill(&mut vec![0; 1 << 21])), Some(libc::EAGAIN));
    assert_eq!(maps::live_pages(&maps::wiped_on_fork()).len(), 0, "no page is live");
}

/// Bytes of one key in [`fails_at_the_rekey`].
const INTERVAL: usize = 16_384;

/// Draws until the kernel is asked for a new key and refuses; then the kernel works again.
fn at_the_rekey(name: &str, drawn: usize, try_fill: &mut dyn FnMut(&mut [u8]) -> Option<i32>) {
    let mut records = Vec::new();
    let mut out = vec![0; 64];
    // The rest of the first key is good, whatever the kernel says.
    script(&[Answer::Error(libc::EAGAIN); 200]);
    let mut drawn = drawn;
    while drawn + out.len() <= INTERVAL {
        assert_eq!(try_fill(&mut out), None, "{name}: the key has bytes left");
        records.push(out.clone());
        drawn += out.len();
    }
    assert_eq!(scripted_left(), 200, "{name}: the kernel was not asked");
    out.resize(INTERVAL, 0);
    for length in [INTERVAL, 1, 8, 64] {
        assert_eq!(try_fill(&mut out[..length]), Some(libc::EAGAIN), "{name}: the key is used up");
    }
    assert_eq!(try_fill(&mut [0; 100_000]), Some(libc::EAGAIN));
    script(&[]);
    for length in [16, 100, 40_000] {
        out.resize(length, 0);
        assert_eq!(try_fill(&mut out), None, "{name}: the kernel works again");
        records.push(out.clone());
    }
    windows::assert_unique(name, records.iter().map(Vec::as_slice));
}

/// A generator that cannot have its next key gives nothing more, and continues when it can.
fn fails_at_the_rekey() {
    fn places<G: StaticGenerator>(name: &str) {
        processors::stay_on(processors::allowed()[0]);
        let fault = |result: Result<(), EntropyError>| code(result);
        let mut held = Owned::<G>::new().expect("the kernel has randomness");
        at_the_rekey(name, 4, &mut |out| fault(held.try_fill(out)));
        let single = SingleThread::<G>::new().expect("the kernel has randomness");
        at_the_rekey(name, 4, &mut |out| fault(single.try_fill(out)));
        let shared = Shared::<G>::new().expect("the kernel has randomness");
        at_the_rekey(name, 4, &mut |out| fault(shared.try_fill(out)));
        PerThread::<G>::fill(&mut [0; 4]);
        at_the_rekey(name, 4, &mut |out| fault(PerThread::<G>::try_fill(out)));
    }
    set_rekey_interval((INTERVAL as u64).try_into().expect("not zero"));
    places::<Rekeying<ChaCha<8>>>("chacha8");
    places::<Rekeying<AesCtr<256>>>("aes");
    #[cfg(feature = "study")]
    places::<Inlined<Hc128>>("inlined");
    // Of PerCpu, any of several generators may serve a request.
    PerCpu::<Rekeying<Salsa<20>>>::fill(&mut [0; 4]);
    script(&[Answer::Error(libc::EAGAIN); 200]);
    let refused =
        (0..1000).find_map(|_| code(PerCpu::<Rekeying<Salsa<20>>>::try_fill(&mut [0; 4096])));
    assert_eq!(refused, Some(libc::EAGAIN));
    script(&[]);
    let mut out = [0; 40_000];
    assert_eq!(code(PerCpu::<Rekeying<Salsa<20>>>::try_fill(&mut out)), None);
    windows::assert_unique("PerCpu", [&out[..]]);
}

/// Draws, which must work and differ.
fn draw_well() {
    let mut records = vec![vec![0; 32], vec![0; 3000], vec![0; 20_000]];
    for record in &mut records {
        assert_eq!(lanecrypt_random::try_fill(record), Ok(()));
    }
    let mut held = Owned::<Erasing<AesCtr<256>>>::new().expect("the kernel answers");
    records.push(vec![0; 500]);
    held.fill(records.last_mut().expect("just pushed"));
    let shared = well::<Erasing<ChaCha<20>>>();
    records.push(vec![0; 500]);
    shared.fill(records.last_mut().expect("just pushed"));
    for fill in [PerCpu::<Erasing<ChaCha<20>>>::try_fill, PerCpu::<Rekeying<Salsa<20>>>::try_fill] {
        records.push(vec![0; 9000]);
        assert_eq!(fill(records.last_mut().expect("just pushed")), Ok(()));
    }
    windows::assert_unique("after the failure", records.iter().map(Vec::as_slice));
}

fn well<G: Generator>() -> Shared<G> {
    Shared::new().expect("the kernel answers")
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
        let others = [
            PerCpu::<Erasing<ChaCha<12>>>::try_fill as fn(&mut [u8]) -> _,
            PerCpu::<Rekeying<ChaCha<12>>>::try_fill,
            PerThread::<Rekeying<ChaCha<12>>>::try_fill,
        ];
        for try_fill in others {
            script(&[Answer::Bytes(3), Answer::Error(ERROR), Answer::Error(ERROR)]);
            assert_eq!(code(try_fill(&mut out)), Some(ERROR));
            assert_eq!(out, [0; 64], "nothing was written");
        }
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
    with_and_without_vdso("entropy::recovers_without_wipe_on_fork", || {
        script(&[Answer::Error(libc::EINTR), Answer::Error(libc::EAGAIN)]);
        assert_eq!(code(lanecrypt_random::try_fill(&mut [0; 64])), Some(libc::EAGAIN));
        draw_well();
        assert!(listener::calls() > 3, "every request is a call");
    });
}
