//! Frames of signals: who interrupts a draw, on whichever stack, learns nothing that is still to be
//! given out, nor what a long request gets.
//!
//! Bytes that a draw just hands out are in registers for some instructions, and no subject of these
//! checks.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::time::Instant;

use crate::common::drawer::Drawer;
use crate::common::maps;
use crate::common::toy::{Defect, Toy};
use crate::common::windows::Windows;
use crate::common::x86_64::frames::{self, Found, Interrupted};
use crate::common::x86_64::{key, stepping};
use lanecrypt_kernels::wipe;
use lanecrypt_random::{AesCtr, ChaCha, Erasing, Isa, Level, PerThread, Rekeying, SeedCore};
use lanecrypt_testing::harness::{Case, again, skipped, times};

pub(crate) const CASES: &[Case] = &[
    Case("frames::aes256_refill", || at_levels("frames::aes256_refill", AES, || aes256(REFILL))),
    Case("frames::aes256_long", || at_levels("frames::aes256_long", AES, || aes256(LONG))),
    Case("frames::chacha20_refill", || {
        at_levels("frames::chacha20_refill", CHACHA, || chacha20(REFILL));
    }),
    Case("frames::chacha20_long", || at_levels("frames::chacha20_long", CHACHA, || chacha20(LONG))),
    Case("frames::rekeying_stepped", || or_skip(rekeying)),
    Case("frames::aes256_by_timer", || {
        let body = || by_timer(&PerThread::<Erasing<AesCtr<256>>>::new());
        with_and_without_rseq("frames::aes256_by_timer", body);
    }),
    Case("frames::chacha20_by_timer", || {
        let body = || by_timer(&PerThread::<Erasing<ChaCha<20>>>::new());
        with_and_without_rseq("frames::chacha20_by_timer", body);
    }),
    Case("frames::mask_is_put_back", mask_is_put_back),
    Case("frames::defects_are_found", || or_skip(defects_are_found)),
];

/// Bytes that a refill leaves to hand out.
const YIELD: usize = 8096;
/// A draw that needs a refill, and one under a key of its own.
const REFILL: (&[usize], usize) = (&[4, YIELD - 54], 100);
const LONG: (&[usize], usize) = (&[4, 100], 9000);

/// Signals come so many instructions apart.
fn stride() -> usize {
    times(5, 1)
}

fn or_skip(body: fn()) {
    match stepping::check_permitted() {
        Ok(()) => body(),
        Err(reason) => skipped("frames", &format!("ptrace is not permitted here ({reason})")),
    }
}

const ISA: &str = "LANECRYPT_ISA";
const WITHOUT_RSEQ: (&str, &str) = ("GLIBC_TUNABLES", "glibc.pthread.rseq=0");

/// Lower levels at which a core or what hands out its bytes has other code. Without AES
/// instructions a refill takes too many steps.
const AES: [Level; 2] = [Level::AesNi, Level::Avx2];
const CHACHA: [Level; 2] = [Level::Ssse3, Level::Avx2];

/// At the processor's level and, in processes of their own, at lower ones.
fn at_levels(name: &str, levels: [Level; 2], body: fn()) {
    or_skip(body);
    // Without optimisation a refill takes ten times as many steps.
    if std::env::var_os(ISA).is_some() || cfg!(debug_assertions) {
        return;
    }
    for level in levels {
        assert!(again(name, &[(ISA, &level.to_string())]), "at level {level}");
    }
}

fn with_and_without_rseq(name: &str, body: fn()) {
    body();
    if std::env::var_os(WITHOUT_RSEQ.0).is_none() {
        assert!(again(name, &[WITHOUT_RSEQ]), "it fails without restartable sequences");
    }
}

fn aes256(draw: (&'static [usize], usize)) {
    static DRAWER: PerThread<Erasing<AesCtr<256>>> = PerThread::new();
    if Isa::detect().has_aes() {
        step_through::<AesCtr<256>>(&DRAWER, draw);
    }
}

fn chacha20(draw: (&'static [usize], usize)) {
    static DRAWER: PerThread<Erasing<ChaCha<20>>> = PerThread::new();
    step_through::<ChaCha<20>>(&DRAWER, draw);
}

/// The draw is one of [`REFILL`] and [`LONG`].
fn step_through<C: SeedCore>(
    drawer: &'static (dyn Drawer + Sync),
    (before, length): (&'static [usize], usize),
) {
    for alternate in [true, false] {
        let draw = Interrupted { drawer, before, length, alternate };
        let found = frames::run(draw, |position| position.is_multiple_of(stride()));
        let signals = found.stacks.len() - 1;
        let secrets = secrets::<C>(&found, length > YIELD);
        let places = format!("{length} bytes, alternate stack: {alternate}");
        judge(&found, &secrets).unwrap_or_else(|fault| panic!("{places}: {fault}"));
        println!("  {places}: {} instructions, {signals} signals", found.instructions);
        assert!(signals * stride() > 500, "most of the draw can be interrupted");
    }
}

/// A cipher that runs on: its whole page is secret.
fn rekeying() {
    static DRAWER: PerThread<Rekeying<AesCtr<256>>> = PerThread::new();
    for alternate in [true, false] {
        // More than the buffer ever holds, and less than goes past it.
        let draw = Interrupted { drawer: &DRAWER, before: &[4, 100], length: 8000, alternate };
        let found = frames::run(draw, |position| position.is_multiple_of(stride()));
        let mut secrets = Windows::new(2 * maps::PAGE);
        insert(&mut secrets, &found.page);
        judge(&found, &secrets).unwrap_or_else(|fault| panic!("{alternate}: {fault}"));
        assert!(found.stacks.len() > 100, "there are signals around the refill");
    }
}

/// What nobody may know after a draw: the page's key and bytes, the key that made them, in the
/// forms in which a core holds it, and what a long request got.
fn secrets<C: SeedCore>(found: &Found, is_long: bool) -> Windows {
    let mut secrets = Windows::new(1 << 16);
    let last = found.keys.last().expect("there is always one");
    let makes_it = |key: &&[u8; 32]| {
        let mut next = [0; 32];
        C::from_seed(Isa::detect(), key).keystream(&mut next);
        next == *last
    };
    let maker = found.keys.iter().find(makes_it);
    assert!(maker.is_some() || is_long, "the refill's key is among those of the page");
    for key in maker.into_iter().chain([last]) {
        secrets.insert(key);
        for word in key.as_chunks::<4>().0 {
            secrets.insert(&word.repeat(4));
        }
        insert(&mut secrets, &expanded::<C>(key));
    }
    secrets.insert(maps::unused(&found.page));
    if is_long {
        secrets.insert(&found.result);
    }
    secrets
}

/// What differs in the core from that of another key; the rest is zero.
fn expanded<C: SeedCore>(key: &[u8; 32]) -> Vec<u8> {
    let bytes = |key: &[u8; 32]| {
        let mut place = vec![0_u128; size_of::<C>().div_ceil(16) + align_of::<C>() / 16];
        let base: *mut u128 = place.as_mut_ptr();
        let offset = base.cast::<u8>().align_offset(align_of::<C>());
        let core = base.cast::<u8>().wrapping_add(offset).cast::<C>();
        // SAFETY: the vector has room for the aligned core.
        unsafe { core.write(C::from_seed(Isa::detect(), key)) };
        let bytes: Vec<u8> = place.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes[offset..offset + size_of::<C>()].to_vec()
    };
    let other = bytes(&[0x5a; 32]);
    bytes(key).iter().zip(other).map(|(&a, b)| if a == b { 0 } else { a }).collect()
}

/// Inserts the parts of `bytes` that are not mostly zeros.
fn insert(windows: &mut Windows, bytes: &[u8]) {
    for part in bytes.chunk_by(|&a, &b| a != 0 || b != 0) {
        if part.len() >= 16 {
            windows.insert(part);
        }
    }
}

fn judge(found: &Found, secrets: &Windows) -> Result<(), String> {
    let count = found.stacks.len();
    for (number, stack) in found.stacks.iter().enumerate() {
        if let Some(at) = secrets.find_in(stack) {
            return Err(format!("the stack of signal {number} of {count} tells a secret at {at}"));
        }
    }
    Ok(())
}

static SIGNALS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(_: libc::c_int) {
    SIGNALS.fetch_add(1, Ordering::Relaxed);
}

/// A timer interrupts draws that run freely: here it is the kernel's signal alone that is noticed.
fn by_timer(drawer: &dyn Drawer) {
    let stack = frames::handle(libc::SIGALRM, count, true);
    let mut out = vec![0; 16_384];
    let mut buffer = vec![0; frames::stack_size()];
    drawer.fill(&mut out);
    let mappings = maps::wiped_on_fork();
    every(30);
    let begin = Instant::now();
    let long_enough = Duration::from_millis(times(700, 20_000) as u64);
    let mut frames = 0;
    while begin.elapsed() < long_enough || frames < 100 {
        let length = [4100, 9000][frames % 2];
        let before = SIGNALS.load(Ordering::Relaxed);
        // A draw at least: else a signal that comes before it leaves zeros to be looked for.
        loop {
            drawer.fill(&mut out[..length]);
            if SIGNALS.load(Ordering::Relaxed) != before {
                break;
            }
        }
        // What this test itself has in registers must not count.
        block(libc::SIG_BLOCK);
        frames += 1;
        // SAFETY: the stack is that large, lives for ever, and no handler runs now.
        unsafe { stack.copy_to_nonoverlapping(buffer.as_mut_ptr(), buffer.len()) };
        let mut secrets = Windows::new(1 << 15);
        for page in maps::live_pages(&mappings) {
            secrets.insert(key(&page));
            secrets.insert(maps::unused(&page));
        }
        if length > YIELD {
            secrets.insert(&out[..length]);
        }
        if let Some(at) = secrets.find_in(&buffer) {
            panic!("frame {frames}, of a draw of {length} bytes, tells a secret at {at}");
        }
        out.fill(0);
        // SAFETY: as above.
        unsafe { stack.write_bytes(0, buffer.len()) };
        drop(secrets);
        wipe::registers();
        block(libc::SIG_UNBLOCK);
    }
    every(0);
    println!("  {frames} frames");
}

fn block(how: libc::c_int) {
    // SAFETY: all zeros make an empty set.
    let mut set: libc::sigset_t = unsafe { core::mem::zeroed() };
    // SAFETY: the signal is one that there is.
    unsafe { libc::sigaddset(&raw mut set, libc::SIGALRM) };
    // SAFETY: the set is filled in, and the old one is not asked for.
    unsafe { libc::pthread_sigmask(how, &raw const set, core::ptr::null_mut()) };
}

/// Lets `SIGALRM` come each so many microseconds; zero ends it.
fn every(microseconds: libc::suseconds_t) {
    let every = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the structure is filled in, and the old value is not asked for.
    let result =
        unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, core::ptr::null_mut()) };
    assert_eq!(result, 0);
}

/// Draws of all sizes leave the same signals blocked as before, and so do failures.
fn mask_is_put_back() {
    let name = "frames::mask_is_put_back";
    let blocked = || {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("it is mounted");
        status.lines().find(|line| line.starts_with("SigBlk:")).map(str::to_owned)
    };
    block(libc::SIG_BLOCK);
    let before = blocked();
    let mut out = vec![0; 1 << 20];
    for length in [4, 8096, 9000, 1 << 20] {
        PerThread::<Erasing<AesCtr<256>>>::fill(&mut out[..length]);
        PerThread::<Rekeying<ChaCha<8>>>::fill(&mut out[..length]);
        lanecrypt_random::strict().fill(&mut out[..length]);
        assert_eq!(blocked(), before);
    }
    if std::env::var_os(WITHOUT_RSEQ.0).is_none() {
        assert!(again(name, &[WITHOUT_RSEQ]), "it fails without restartable sequences");
    }
}

/// The check finds what a generator leaves that does not mind signals.
fn defects_are_found() {
    for alternate in [true, false] {
        let drawer: &'static Toy = Box::leak(Box::new(Toy::new(Defect::None)));
        let draw = Interrupted { drawer, before: &[4, 8000], length: 100, alternate };
        let found = frames::run(draw, |position| position.is_multiple_of(stride()));
        let secrets = secrets::<ChaCha<20>>(&found, false);
        judge(&found, &secrets).expect_err("frames tell the page");
    }
}
