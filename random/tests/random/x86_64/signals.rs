//! Signals: a handler that draws, and one that forks, at every instruction of a draw.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::time::Instant;

use crate::common::drawer::{Drawer, shared};
use crate::common::toy::{self, Defect, Toy};
use crate::common::x86_64::stepping::{self, Action, Pass, Stepped};
use crate::common::{processors, windows};
use lanecrypt_random::{AesCtr, ChaCha, Erasing, PerCpu, PerThread, Rekeying};
#[cfg(feature = "study")]
use lanecrypt_random::{Hc128, Inlined};
use lanecrypt_testing::harness::{self, Case, skipped, times};
use lanecrypt_testing::sys;

pub(crate) const CASES: &[Case] = &[
    Case("signals::chacha20_stepped", || chacha20(&DRAWS[..5])),
    Case("signals::chacha20_refills_stepped", || chacha20(&DRAWS[5..7])),
    Case("signals::chacha20_new_keys_stepped", || chacha20(&DRAWS[7..9])),
    Case("signals::aes256_stepped", aes256_stepped),
    Case("signals::per_cpu_stepped", per_cpu_stepped),
    Case("signals::per_cpu_stepped_without_sequences", per_cpu_stepped_without_sequences),
    Case("signals::per_cpu_in_sequence", || {
        static ERASING: PerCpu<Erasing<ChaCha<20>>> = PerCpu::new();
        in_sequence(&ERASING, &DRAWS[..7]);
    }),
    Case("signals::per_cpu_rekeying_in_sequence", || {
        static REKEYING: PerCpu<Rekeying<ChaCha<8>>> = PerCpu::new();
        in_sequence(&REKEYING, &DRAWS[..7]);
    }),
    Case("signals::shared_stepped", shared_stepped),
    Case("signals::rekeying_stepped", rekeying_stepped),
    Case("signals::one_signal_a_draw", one_signal_a_draw),
    Case("signals::soak", soak),
    Case("signals::defects_are_found", defects_are_found),
];

/// Instructions of a draw after it has looked at the page for the last time: from there on parent
/// and child hold the same result. Putting a word together after a refill takes most of them.
const AFTER_LAST_LOOK: usize = if cfg!(debug_assertions) { 200 } else { 120 };

/// Bytes that a refill leaves to hand out.
const YIELD: usize = 8096;

/// From this instruction on a draw holds the claim, or the lock of a processor's page.
const BEFORE_CLAIM: usize = 200;

/// A draw to step through, and what comes before it.
struct Draw {
    name: &'static str,
    /// Requests before, by which the buffer holds what the draw is to find there.
    before: &'static [usize],
    /// The request; 4 and 8 bytes are drawn as words.
    length: usize,
}

/// Draws within the buffer, draws that need a refill, a first draw and one under a key of its own.
const DRAWS: [Draw; 9] = [
    Draw { name: "u32", before: &[4], length: 4 },
    Draw { name: "u64", before: &[4], length: 8 },
    Draw { name: "fill of 16", before: &[4], length: 16 },
    Draw { name: "fill of 32", before: &[4], length: 32 },
    Draw { name: "fill of 200", before: &[4], length: 200 },
    Draw { name: "u64 with refill", before: &[4, YIELD - 10], length: 8 },
    Draw { name: "fill of 100 with refill", before: &[4, YIELD - 54], length: 100 },
    Draw { name: "first draw of the thread", before: &[], length: 64 },
    Draw { name: "fill of 16,000", before: &[4], length: 16_000 },
];

fn chacha20(draws: &[Draw]) {
    static DRAWER: PerThread<Erasing<ChaCha<20>>> = PerThread::new();
    step_through("signals::chacha20", &DRAWER, draws);
}

fn aes256_stepped() {
    static DRAWER: PerThread<Erasing<AesCtr<256>>> = PerThread::new();
    step_through("signals::aes256_stepped", &DRAWER, &DRAWS[..times(7, 9)]);
}

/// Every restartable sequence aborts when it is stepped through: then these draws lock pages by an
/// atomic instruction.
fn per_cpu_stepped() {
    static ERASING: PerCpu<Erasing<ChaCha<20>>> = PerCpu::new();
    // On another processor a draw would have to get its pages first.
    processors::stay_on(processors::allowed()[0]);
    step_through("signals::per_cpu_stepped", &ERASING, &DRAWS[..times(3, 9)]);
}

/// Without sequences the draws take an atomic instruction at once, and find what draws before have
/// left in the buffer.
fn per_cpu_stepped_without_sequences() {
    static ERASING: PerCpu<Erasing<ChaCha<20>>> = PerCpu::new();
    static REKEYING: PerCpu<Rekeying<AesCtr<128>>> = PerCpu::new();
    const WITHOUT: (&str, &str) = ("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    let name = "signals::per_cpu_stepped_without_sequences";
    if std::env::var_os(WITHOUT.0).is_none() {
        assert!(harness::again(name, &[WITHOUT]), "it fails without restartable sequences");
        return;
    }
    processors::stay_on(processors::allowed()[0]);
    step_through(name, &ERASING, &DRAWS[..times(7, 9)]);
    step_through(name, &REKEYING, &DRAWS[..times(5, 9)]);
}

fn shared_stepped() {
    let drawer = shared::<Erasing<ChaCha<20>>>();
    step_through("signals::shared_stepped", drawer, &DRAWS[..times(7, 9)]);
}

fn rekeying_stepped() {
    static PER_THREAD: PerThread<Rekeying<ChaCha<8>>> = PerThread::new();
    step_through("signals::rekeying_stepped", &PER_THREAD, &DRAWS[..times(5, 9)]);
    #[cfg(feature = "study")]
    {
        static INLINED: PerThread<Inlined<Hc128>> = PerThread::new();
        step_through("signals::rekeying_stepped", &INLINED, &DRAWS[..5]);
    }
}

/// The draws run freely through the sequence that locks the processor's own page; from there on a
/// signal comes at each instruction.
fn in_sequence(drawer: &'static (dyn Drawer + Sync), draws: &[Draw]) {
    if let Err(reason) = stepping::check_permitted() {
        skipped("signals", &format!("ptrace is not permitted here ({reason})"));
        return;
    }
    processors::stay_on(processors::allowed()[0]);
    for draw in draws {
        let stepped = Stepped { drawer, before: draw.before, length: draw.length };
        let ends = stepping::sequences(stepped);
        if ends.is_empty() {
            let reason = "the C library registers no restartable sequences";
            return skipped("signals::per_cpu_in_sequence", reason);
        }
        let stride = if draw.before.len() > 1 { times(21, 5) } else { 1 };
        for action in [Action::Draw, Action::Fork] {
            let (mut passes, mut attempts, mut signals, mut at) = (0, 0, 0, 0);
            let mut total = usize::MAX;
            // One signal a draw in short ones, and then at every instruction.
            while at <= total {
                attempts += 1;
                assert!(attempts < 50 * (passes + 10), "the sequence hardly ever comes through");
                let is_last = at == total;
                let pass = stepping::run_from(stepped, action, &ends, |position| {
                    position == at || is_last && position.is_multiple_of(stride)
                });
                let Some(pass) = pass else { continue };
                passes += 1;
                signals += pass.signals.len();
                total = total.min(pass.instructions);
                judge(&pass, draw.length).unwrap_or_else(|fault| {
                    panic!("{}, {action:?} at {at}, page locked: {fault}", draw.name)
                });
                let parts = if total < 1000 { times(16, 60) } else { times(6, 20) };
                at = if is_last { usize::MAX } else { total.min(at + 1 + total / parts) };
            }
            println!(
                "  {}: {passes} of {attempts} draws locked their own page, {signals} signals \
                 ({action:?})",
                draw.name
            );
            assert!(signals > 0);
        }
    }
}

/// Instructions, at most, that a refill has more when its kernel bytes come by the vDSO. When the
/// clock's second has changed they come by system call: that depends on when a draw is made.
const BY_VDSO: usize = 5000;

/// Instructions, at least, of a draw that takes `total` when nothing interrupts it. Without its
/// refill it would have few.
fn least(total: usize) -> usize {
    if total < 1000 { total } else { total.saturating_sub(BY_VDSO).max(total / 4) }
}

/// Steps through every draw with a signal at each instruction, or at so many, evenly spread.
fn step_through(name: &str, drawer: &'static (dyn Drawer + Sync), draws: &[Draw]) {
    if let Err(reason) = stepping::check_permitted() {
        skipped("signals", &format!("ptrace is not permitted here ({reason})"));
        return;
    }
    for draw in draws {
        let stepped = Stepped { drawer, before: draw.before, length: draw.length };
        let total = stepping::count(stepped);
        let stride = total.div_ceil(times(250, 4000));
        // A handler that draws before the draw has claimed the page spares it the refill; the later
        // positions must not suffer from that.
        let parts = [
            (Action::Draw, 0..BEFORE_CLAIM),
            (Action::Draw, BEFORE_CLAIM..total),
            (Action::Fork, 0..total),
        ];
        for (action, positions) in parts {
            // A phase that differs from run to run covers all positions in time. This process
            // itself must not draw: the first draw is among those that are stepped through.
            let mut phase = [0; 8];
            toy::kernel(&mut phase);
            let phase = usize::from_ne_bytes(phase) % stride;
            let signals = |position| positions.contains(&position) && position % stride == phase;
            let pass = stepping::run(stepped, action, signals);
            // Of a first draw, a handler may get the pages at any time before they are claimed.
            if action == Action::Draw && positions.start != 0 && !draw.before.is_empty() {
                assert!(
                    pass.instructions + stride >= least(total),
                    "the handlers changed the draw: {} of {total} instructions",
                    pass.instructions,
                );
            }
            let shared = judge(&pass, draw.length)
                .unwrap_or_else(|fault| panic!("{name}, {}, {action:?}: {fault}", draw.name));
            println!(
                "  {}: {total} instructions, {} signals ({action:?}), same result after {shared}",
                draw.name,
                pass.signals.len(),
            );
        }
    }
}

/// As above, for the short draws, but with a fresh process for each position: nothing but that one
/// signal disturbs the draw.
fn one_signal_a_draw() {
    if let Err(reason) = stepping::check_permitted() {
        skipped("signals", &format!("ptrace is not permitted here ({reason})"));
        return;
    }
    static DRAWER: PerThread = PerThread::new();
    for draw in &DRAWS[..5] {
        let stepped = Stepped { drawer: &DRAWER, before: draw.before, length: draw.length };
        let total = stepping::count(stepped);
        for action in [Action::Draw, Action::Fork] {
            for at in 0..total {
                let pass = stepping::run(stepped, action, |position| position == at);
                judge(&pass, draw.length)
                    .unwrap_or_else(|fault| panic!("{}, {action:?} at {at}: {fault}", draw.name));
            }
        }
    }
}

/// Says what is wrong with the draws of a pass; returns after how many instructions parent and
/// child hold the same result.
fn judge(pass: &Pass, length: usize) -> Result<usize, String> {
    let total = pass.instructions;
    let is_zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    let mut from = total;
    for signal in &pass.signals {
        let Some(result) = &signal.result else { continue };
        if *result == pass.result {
            from = from.min(signal.position);
        } else if signal.position > from {
            let at = signal.position;
            return Err(format!("same result from {from} on, but not at {at}, of {total}"));
        }
        if is_zero(result) {
            return Err(format!("a child's result is zero at {} of {total}", signal.position));
        }
    }
    if is_zero(&pass.result) {
        return Err("the result is zero".to_owned());
    }
    if from + AFTER_LAST_LOOK < total {
        return Err(format!("parent and child hold the same result from {from} of {total} on"));
    }
    // Everything else differs. Children that share the parent's result share it with each other.
    let results = pass.signals.iter().filter(|signal| signal.position < from);
    let results = results.filter_map(|signal| signal.result.as_deref());
    let rest = pass.signals.iter().flat_map(|signal| [&*signal.handler, &*signal.more]);
    let records = [&*pass.result, &*pass.more].into_iter().chain(rest);
    if length >= windows::WINDOW {
        windows::unique(records.chain(results))?;
    } else {
        windows::unique(records.filter(|record| record.len() >= windows::WINDOW))?;
        let words: Vec<&[u8]> = results.collect();
        // Words of eight bytes do not repeat by chance either; words of four do.
        if length == 8 && words.iter().enumerate().any(|(i, word)| words[..i].contains(word)) {
            return Err("two children drew the same word".to_owned());
        }
    }
    Ok(from)
}

/// Bytes that the handler of [`soak`] may write, and how many it wrote.
const ROOM: usize = 1 << 21;
static HANDLER_BYTES: [core::sync::atomic::AtomicU8; ROOM] =
    [const { core::sync::atomic::AtomicU8::new(0) }; ROOM];
static HANDLER_USED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn draw_in_handler(_: libc::c_int) {
    let mut bytes = [0; 36];
    lanecrypt_random::fill(&mut bytes[..32]);
    bytes[32..].copy_from_slice(&lanecrypt_random::u32().to_ne_bytes());
    // The signal is blocked in its own handler: nothing comes in between.
    let begin = HANDLER_USED.load(Ordering::Relaxed);
    if begin + bytes.len() <= ROOM {
        for (place, byte) in HANDLER_BYTES[begin..].iter().zip(bytes) {
            place.store(byte, Ordering::Relaxed);
        }
        HANDLER_USED.store(begin + bytes.len(), Ordering::Relaxed);
    }
}

/// A timer's handler draws at a high rate while the thread draws.
fn soak() {
    sys_timer(50);
    let begin = Instant::now();
    let mut drawn: Vec<u8> = Vec::new();
    let long_enough = Duration::from_secs(times(2, 30) as u64);
    let mut request = 0;
    let mut buffer = vec![0; 9000];
    let handler_ran = || HANDLER_USED.load(Ordering::Relaxed) / 36;
    // Longer where other programs take the processor: the timer counts this program's time only.
    while begin.elapsed() < long_enough || handler_ran() <= 100 {
        for _ in 0..50 {
            request += 1;
            let length = [16, 33, 64, 200, 1000, 4000, 9000][request % 7];
            lanecrypt_random::fill(&mut buffer[..length]);
            let word = lanecrypt_random::u64();
            // Later draws count less, or the test would be one of memory.
            if drawn.len() + length < 1 << 23 {
                drawn.extend_from_slice(&buffer[..length]);
                drawn.extend_from_slice(&word.to_ne_bytes());
            }
        }
    }
    sys_timer(0);
    let used = HANDLER_USED.load(Ordering::Relaxed);
    let in_handler: Vec<u8> =
        HANDLER_BYTES[..used].iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
    windows::assert_unique("the handler and the thread", [&*drawn, &*in_handler]);
}

/// Lets `SIGVTALRM` come each so many microseconds of processor time; zero ends it.
fn sys_timer(microseconds: libc::suseconds_t) {
    sys::on_signal(libc::SIGVTALRM, draw_in_handler);
    let every = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the structure is filled in, and the old value is not asked for.
    let result =
        unsafe { libc::setitimer(libc::ITIMER_VIRTUAL, &raw const timer, core::ptr::null_mut()) };
    assert_eq!(result, 0);
}

/// The checks accept a generator without defects and reject one that leaves out a protection.
fn defects_are_found() {
    if let Err(reason) = stepping::check_permitted() {
        skipped("signals", &format!("ptrace is not permitted here ({reason})"));
        return;
    }
    let check = |defect, action, signals: &dyn Fn(usize) -> bool| {
        let drawer: &'static Toy = Box::leak(Box::new(Toy::new(defect)));
        let stepped = Stepped { drawer, before: &[4], length: 16 };
        judge(&stepping::run(stepped, action, signals), 16)
    };
    check(Defect::None, Action::Draw, &|_| true).expect("nothing is wrong with it");
    check(Defect::None, Action::Fork, &|_| true).expect("nothing is wrong with it");
    let error = check(Defect::DoesNotLookAtLive, Action::Fork, &|_| true);
    error.expect_err("the child draws zeros");
    let error = check(Defect::KeepsPageOnFork, Action::Fork, &|_| true);
    error.expect_err("parent and child draw the same");
    // One signal at a time: handlers that draw all the time hide each other's mistakes.
    let check = |defect, at| check(defect, Action::Draw, &|position| position == at).is_ok();
    let positions = || (0..400).step_by(8);
    assert!(positions().all(|at| check(Defect::None, at)), "nothing is wrong with it");
    assert!(!positions().all(|at| check(Defect::DoesNotClaim, at)), "both draw the same bytes");
}
