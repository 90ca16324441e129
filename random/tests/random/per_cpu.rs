//! The processors' generators: threads that move, many threads, no restartable sequences, holders
//! that lose the processor, handlers and forks in the middle.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Barrier, Condvar, Mutex, OnceLock};
use std::thread;

use crate::common::arena::Arena;
use crate::common::careless::{Careless, Fault};
use crate::common::drawer::Drawer;
use crate::common::{maps, processors, windows};
use lanecrypt_random::{ChaCha, Erasing, PerCpu, PerThread, Rekeying};
use lanecrypt_testing::harness::{self, Case, skipped, times};
use lanecrypt_testing::sys::{self, Fork};

pub(crate) const CASES: &[Case] = &[
    Case("per_cpu::each_processor_has_its_own", each_processor_has_its_own),
    Case("per_cpu::migration", migration),
    Case("per_cpu::memory", memory),
    Case("per_cpu::preempted_holders", preempted_holders),
    Case("per_cpu::handlers_in_long_fills", handlers_in_long_fills),
    Case("per_cpu::forks_while_others_hold", forks_while_others_hold),
    Case("per_cpu::forks_in_handlers", forks_in_handlers),
    Case("per_cpu::without_sequences", without_sequences),
    Case("per_cpu::threads_on_one_processor", || on_one_processor(threads_stay)),
    Case("per_cpu::preempted_holders_on_one_processor", || on_one_processor(preempted_holders)),
    Case("per_cpu::forks_on_one_processor", || on_one_processor(|| forks_while_held(&ERASING))),
    Case("per_cpu::rekeying_forks_on_one_processor", || {
        on_one_processor(|| forks_while_held(&REKEYING));
    }),
    Case("per_cpu::defects_are_found", defects_are_found),
];

static ERASING: PerCpu<Erasing<ChaCha<20>>> = PerCpu::new();
static REKEYING: PerCpu<Rekeying<ChaCha<8>>> = PerCpu::new();

/// Says that the C library registers no restartable sequences, whatever the kernel has.
const WITHOUT: (&str, &str) = ("GLIBC_TUNABLES", "glibc.pthread.rseq=0");

/// Whether draws of this process lock pages by restartable sequences: only then a processor has
/// three pages, its two own and the common one.
fn has_sequences() -> bool {
    // SAFETY: the name ends with a zero byte.
    let size = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()) };
    // SAFETY: the C library's variable, which is never changed after the start.
    !size.is_null() && unsafe { size.cast::<u32>().read() } != 0
}

/// Keystream made so far by each page: of each processor its own, then its common one.
fn made() -> Vec<u64> {
    PerCpu::<Rekeying<ChaCha<8>>>::counters().map(|counters| counters.bytes).collect()
}

/// After a draw on each processor all draws there come from its own page.
fn each_processor_has_its_own() {
    let processors = processors::allowed();
    let pages_each = if has_sequences() { 3 } else { 1 };
    for (i, &cpu) in processors.iter().enumerate() {
        processors::stay_on(cpu);
        let _ = REKEYING.u32();
        assert_eq!(made().len(), pages_each * (i + 1), "processor {cpu} got its pages");
    }
    for (i, &cpu) in processors.iter().enumerate() {
        processors::stay_on(cpu);
        let before = made();
        for _ in 0..10_000 {
            let _ = REKEYING.u64();
        }
        let after = made();
        let own = after[pages_each * i] - before[pages_each * i];
        // While its holder is preempted, draws go to the second page; that is rare.
        assert!(own > 60_000, "on processor {cpu} {before:?} became {after:?}");
    }
}

/// Draws that threads make until they are stopped; the first ones are kept.
fn crowd(drawer: &(dyn Drawer + Sync), threads: usize, kept: usize, moves: bool) -> Vec<Vec<u8>> {
    let processors = processors::allowed();
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|number| {
                let (start, processors) = (&start, &processors);
                scope.spawn(move || {
                    start.wait();
                    let mut drawn = Vec::with_capacity(kept + 20_000);
                    let mut draw = number;
                    while drawn.len() < kept {
                        draw += 1;
                        if moves && draw.is_multiple_of(3) {
                            let next = draw * 2_654_435_761 / 64;
                            processors::stay_on(processors[next % processors.len()]);
                        }
                        let begin = drawn.len();
                        drawn.resize(begin + [16, 40, 8, 200, 24, 1000, 4][draw % 7], 0);
                        match &mut drawn[begin..] {
                            out if out.len() == 4 => {
                                out.copy_from_slice(&drawer.u32().to_ne_bytes());
                            }
                            out if out.len() == 8 => {
                                out.copy_from_slice(&drawer.u64().to_ne_bytes());
                            }
                            out => drawer.fill(out),
                        }
                    }
                    drawn
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it only draws")).collect()
    })
}

fn no_repeats(drawn: &[Vec<u8>]) -> Result<(), String> {
    windows::unique(drawn.iter().map(Vec::as_slice))
}

/// Threads move between processors in the middle of their draws, and 64 draw at a time.
fn migration() {
    let kept = times(40_000, 1_000_000);
    for drawer in [&ERASING as &(dyn Drawer + Sync), &REKEYING] {
        no_repeats(&crowd(drawer, 64, kept, true)).expect("nothing repeats");
    }
}

/// Bytes of generators' pages that are in memory.
fn resident() -> usize {
    let mappings = maps::wiped_on_fork();
    mappings.iter().filter(|mapping| !mapping.droppable).map(|mapping| mapping.resident).sum()
}

/// How many threads could be started and had drawn by `draw`, and how many bytes of generators'
/// state there were when they were all alive.
fn alive(wanted: usize, draw: fn() -> u64) -> (usize, usize) {
    let drawn = AtomicUsize::new(0);
    let (is_over, end) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        let mut started = 0;
        while started < wanted {
            let thread = thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, || {
                let _ = draw();
                drawn.fetch_add(1, Ordering::Release);
                let mut guard = is_over.lock().expect("nobody panics");
                while !*guard {
                    guard = end.wait(guard).expect("nobody panics");
                }
            });
            if thread.is_err() {
                break;
            }
            started += 1;
        }
        while drawn.load(Ordering::Acquire) < started {
            thread::yield_now();
        }
        let state = resident();
        *is_over.lock().expect("nobody panics") = true;
        end.notify_all();
        (started, state)
    })
}

/// A draw that finds the pool of pages busy goes to the kernel; a later one gets a page.
fn draw_from_page() -> u64 {
    while PerThread::<Rekeying<ChaCha<8>>>::counters().keys == 0 {
        let _ = PerThread::<Rekeying<ChaCha<8>>>::u64();
        thread::sleep(Duration::from_millis(1));
    }
    PerThread::<Rekeying<ChaCha<8>>>::u64()
}

/// The state of the processors' generators does not grow with threads; that of the threads' does.
fn memory() {
    const THREADS: usize = 10_000;
    if !lanecrypt_random::capabilities().wipe_on_fork {
        return skipped("per_cpu::memory", "the kernel does not empty pages on fork");
    }
    // What the pool of pages takes is there by now. Threads that make the very first draws at the
    // same time may each touch a page.
    let before = resident();
    for cpu in processors::allowed() {
        let first = thread::spawn(move || {
            processors::stay_on(cpu);
            ERASING.u64()
        });
        first.join().expect("it only draws");
    }
    let (threads, state) = alive(THREADS, || ERASING.u64());
    if threads < THREADS {
        skipped("per_cpu::memory", &format!("only {threads} of {THREADS} threads could start"));
    }
    let processors = processors::allowed().len();
    println!("  {threads} threads on {processors} processors: {state} bytes, {before} before");
    assert!(state >= maps::PAGE && state - before <= processors * (64 << 10), "{state} bytes");
    // The same measurement sees the pages of threads.
    let (threads, with_theirs) = alive(500.min(threads), draw_from_page);
    println!("  and {threads} threads with generators of their own: {with_theirs} bytes");
    let each = (with_theirs - state) / threads;
    assert!((4 << 10..12 << 10).contains(&each), "{each} bytes a thread");
}

/// Threads that fill 4 MiB at a time keep losing the processor while they hold a page; others get
/// their words all the same.
fn preempted_holders() {
    let is_over = AtomicBool::new(false);
    let fills = AtomicUsize::new(0);
    let words: Vec<Vec<u8>> = thread::scope(|scope| {
        for _ in 0..3 * processors::allowed().len() {
            scope.spawn(|| {
                let mut out = vec![0; 4 << 20];
                while !is_over.load(Ordering::Relaxed) {
                    ERASING.fill(&mut out);
                    assert!(out[out.len() - 16..] != [0; 16]);
                    fills.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut words = Vec::new();
                    // The others fill meanwhile, however the processors are shared out.
                    let least = fills.load(Ordering::Relaxed) + times(20, 200);
                    while fills.load(Ordering::Relaxed) < least {
                        if words.len() < 1 << 16 {
                            words.extend_from_slice(&ERASING.u64().to_ne_bytes());
                        }
                        thread::yield_now();
                    }
                    words
                })
            })
            .collect();
        let words = threads.into_iter().map(|thread| thread.join().expect("it only draws"));
        let words = words.collect();
        is_over.store(true, Ordering::Relaxed);
        words
    });
    assert!(words.iter().all(|words| !words.is_empty()));
    no_repeats(&words).expect("nothing repeats");
}

/// What the handlers drew, and how many there were.
static HANDLER_BYTES: [AtomicU32; 1 << 16] = [const { AtomicU32::new(0) }; 1 << 16];
static HANDLERS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn draw_in_handler(_: libc::c_int) {
    let begin = 16 * HANDLERS.fetch_add(1, Ordering::Relaxed);
    let mut bytes = [0; 64];
    ERASING.fill(&mut bytes[..40]);
    bytes[40..48].copy_from_slice(&ERASING.u64().to_ne_bytes());
    REKEYING.fill(&mut bytes[48..]);
    for (place, word) in HANDLER_BYTES.iter().skip(begin).zip(bytes.as_chunks::<4>().0) {
        place.store(u32::from_ne_bytes(*word), Ordering::Relaxed);
    }
}

/// Lets `SIGVTALRM` come each so many microseconds of processor time; zero ends it.
fn timer(microseconds: libc::suseconds_t) {
    let every = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the structure is filled in, and the old value is not asked for.
    let result =
        unsafe { libc::setitimer(libc::ITIMER_VIRTUAL, &raw const timer, core::ptr::null_mut()) };
    assert_eq!(result, 0);
}

/// Handlers that draw interrupt fills of many refills.
fn handlers_in_long_fills() {
    sys::on_signal(libc::SIGVTALRM, draw_in_handler);
    timer(500);
    let mut out = vec![0; 4 << 20];
    let mut kept = Vec::new();
    while HANDLERS.load(Ordering::Relaxed) < times(100, 1000) {
        ERASING.fill(&mut out);
        kept.extend_from_slice(&out[..1 << 12]);
        kept.extend_from_slice(&out[out.len() - (1 << 12)..]);
        REKEYING.fill(&mut out[..1 << 14]);
        kept.extend_from_slice(&out[..256]);
    }
    timer(0);
    let used = (16 * HANDLERS.load(Ordering::Relaxed)).min(HANDLER_BYTES.len());
    let words = HANDLER_BYTES[..used].iter().map(|word| word.load(Ordering::Relaxed));
    kept.extend(words.flat_map(u32::to_ne_bytes));
    no_repeats(&[kept]).expect("nothing repeats");
}

/// Seconds after which a child that is blocked is ended, and the test with it.
const PATIENCE: u32 = 60;

fn forks() -> usize {
    times(12, 120)
}

/// 64 threads draw, some in long fills, while one forks again and again. The child draws on the
/// thread that forked, then on new ones. Returns how often some page was locked just before a fork.
fn fork_in_a_crowd(drawer: &'static (dyn Drawer + Sync), arena: &'static Arena) -> usize {
    const KEPT: usize = 64;
    let is_over = AtomicBool::new(false);
    let forks = forks();
    let mut held = 0;
    thread::scope(|scope| {
        for number in 0..KEPT {
            let is_over = &is_over;
            scope.spawn(move || {
                arena.draw(drawer);
                let mut out = vec![0; if number % 8 == 0 { 1 << 20 } else { 100 }];
                while !is_over.load(Ordering::Relaxed) {
                    drawer.fill(&mut out);
                    // Else the thread that forks would hardly ever run.
                    thread::sleep(Duration::from_micros(out.len() as u64 / 64));
                }
            });
        }
        for _ in 0..forks {
            // Locked pages are rare where one must be caught by chance: wait for one, not for ever.
            for _ in 0..20 {
                if maps::live_pages(&maps::wiped_on_fork()).iter().any(|page| maps::is_locked(page))
                {
                    held += 1;
                    break;
                }
                thread::yield_now();
            }
            let child = sys::fork(Fork::Library).expect("processes can be made");
            if child == 0 {
                // SAFETY: sets a timer; without a handler it ends the process.
                unsafe { libc::alarm(PATIENCE) };
                arena.draw(drawer);
                let threads: Vec<_> =
                    (0..3).map(|_| thread::spawn(move || arena.draw(drawer))).collect();
                let all = threads.into_iter().all(|thread| thread.join().is_ok());
                sys::exit(i32::from(!all));
            }
            arena.draw(drawer);
            sys::wait_for_success(child);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(arena.used(), KEPT + 5 * forks);
    held
}

fn forks_while_others_hold() {
    forks_while_held(&ERASING);
    forks_while_held(&REKEYING);
}

fn forks_while_held(drawer: &'static (dyn Drawer + Sync)) {
    let arena = Box::leak(Box::new(Arena::new(64 + 5 * forks())));
    let held = fork_in_a_crowd(drawer, arena);
    println!("  a page was locked before {held} forks");
    assert!(held > 0, "no fork met a locked page");
    arena.check().expect("nothing repeats");
}

static FORKED: AtomicUsize = AtomicUsize::new(0);
static IS_CHILD: AtomicBool = AtomicBool::new(false);
static HANDLER_ARENA: OnceLock<&'static Arena> = OnceLock::new();

/// Forks in the middle of a draw; the child draws there and then finishes the draw.
extern "C" fn fork_in_handler(_: libc::c_int) {
    let Some(arena) = HANDLER_ARENA.get() else { return };
    if IS_CHILD.load(Ordering::Relaxed) {
        return;
    }
    let Ok(child) = sys::fork(Fork::Raw) else { return };
    if child == 0 {
        // SAFETY: sets a timer; without a handler it ends the process.
        unsafe { libc::alarm(PATIENCE) };
        IS_CHILD.store(true, Ordering::Relaxed);
        arena.draw(&ERASING);
        arena.draw(&REKEYING);
        return;
    }
    FORKED.fetch_add(1, Ordering::Relaxed);
    sys::wait_for_success(child);
}

/// The interrupted draw is a long one, so that nearly every signal meets it.
fn forks_in_handlers() {
    let count = times(40, 400);
    let arena: &'static Arena = Box::leak(Box::new(Arena::new(8 * (count + 100))));
    assert!(HANDLER_ARENA.set(arena).is_ok());
    arena.draw(&ERASING);
    arena.draw(&REKEYING);
    sys::on_signal(libc::SIGVTALRM, fork_in_handler);
    timer(2000);
    let drawers = [&ERASING as &dyn Drawer, &REKEYING];
    let mut out = vec![0; 1 << 20];
    let mut results = Vec::new();
    for request in 0.. {
        drawers[request % 2].fill(&mut out);
        if IS_CHILD.load(Ordering::Relaxed) {
            // Timers are not inherited. Once more, outside of the handler.
            arena.draw(&ERASING);
            arena.draw(&REKEYING);
            sys::exit(i32::from(out[out.len() - 16..] == [0; 16]));
        }
        results.extend_from_slice(&out[..1000]);
        results.extend_from_slice(&out[out.len() - 1000..]);
        if FORKED.load(Ordering::Relaxed) >= count {
            break;
        }
    }
    timer(0);
    assert!(arena.used() >= 4 * count);
    windows::assert_unique("parent and children", [arena.bytes(), &results]);
}

/// The same without restartable sequences: all draws take the common pages.
fn without_sequences() {
    if has_sequences() {
        let passed = harness::again("per_cpu::without_sequences", &[WITHOUT]);
        assert!(passed, "the case fails without restartable sequences");
        return;
    }
    let was_told = std::env::var(WITHOUT.0).is_ok_and(|value| value == WITHOUT.1);
    if !was_told {
        skipped("per_cpu with sequences", "this C library registers none");
    }
    // On a thread of its own, which alone stays where it goes. It expects one page for each
    // processor.
    thread::spawn(each_processor_has_its_own)
        .join()
        .expect("each processor has a common page only");
    migration();
    preempted_holders();
    handlers_in_long_fills();
    forks_while_others_hold();
    forks_in_handlers();
}

/// 64 threads draw, none of which moves.
fn threads_stay() {
    let kept = times(40_000, 1_000_000);
    no_repeats(&crowd(&ERASING, 64, kept, false)).expect("nothing repeats");
}

/// Everything on one processor: every preempted holder is in everybody's way.
fn on_one_processor(body: fn()) {
    processors::stay_on(processors::allowed()[0]);
    body();
}

/// The checks accept a generator without defects, and reject one without a lock and one whose
/// lock a child inherits.
fn defects_are_found() {
    let kept = times(40_000, 100_000);
    let check = |fault| {
        let careless: &'static Careless = Box::leak(Box::new(Careless::new(fault)));
        no_repeats(&crowd(careless, 64, kept, true))
    };
    check(Fault::None).expect("nothing is wrong with it");
    // With one processor only, threads hardly ever meet inside of a draw.
    let found = (0..50).any(|_| check(Fault::DoesNotLock).is_err());
    assert!(found || processors::allowed().len() < 2, "two threads draw the same");

    // A holder waits inside of its draw while another thread forks; the child must get its bytes.
    let child_is_blocked = |fault| {
        let careless: &'static Careless = Box::leak(Box::new(Careless::new(fault)));
        careless.fill(&mut [0; 16]);
        careless.hold();
        let child = sys::fork(Fork::Library).expect("processes can be made");
        if child == 0 {
            // SAFETY: sets a timer; without a handler it ends the process.
            unsafe { libc::alarm(2) };
            careless.fill(&mut [0; 16]);
            sys::exit(0);
        }
        let status = sys::wait(child);
        libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGALRM
    };
    assert!(!child_is_blocked(Fault::None), "nothing is wrong with it");
    assert!(child_is_blocked(Fault::KeepsLockOnFork), "the child waits for a thread of its parent");
}
