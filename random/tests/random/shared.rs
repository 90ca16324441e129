//! One generator behind a lock: threads that take turns, handlers that interrupt a draw, forks
//! while another thread holds the lock.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;

use crate::common::arena::Arena;
use crate::common::drawer::{Drawer, shared};
use crate::common::{maps, windows};
use lanecrypt_random::Hc128;
#[cfg(feature = "study")]
use lanecrypt_random::Inlined;
use lanecrypt_random::{AesCtr, ChaCha, Erasing, Generator, Rekeying, Salsa, Shared};
use lanecrypt_testing::harness::{Case, times};
use lanecrypt_testing::sys::{self, Fork};

pub(crate) const CASES: &[Case] = &[
    Case("shared::eight_threads", eight_threads),
    Case("shared::handlers_interrupt_draws", handlers_interrupt_draws),
    Case("shared::forks_while_another_holds", forks_while_another_holds),
    Case("shared::forks_in_handlers", forks_in_handlers),
    Case("shared::wiped_when_dropped", wiped_when_dropped),
];

fn eight_threads() {
    fn check<G: Generator>() {
        let generator = shared::<G>();
        let start = Barrier::new(8);
        let drawn: Vec<Vec<u8>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|number| {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        let mut drawn = Vec::new();
                        for i in 0..times(1500, 60_000) {
                            let mut bytes = vec![0; [16, 24, 100, 200, 9][(number + i) % 5]];
                            generator.fill(&mut bytes);
                            drawn.extend_from_slice(&bytes);
                            drawn.extend_from_slice(&generator.u64().to_ne_bytes());
                            drawn.extend_from_slice(&generator.u32().to_ne_bytes());
                        }
                        drawn
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("it only draws")).collect()
        });
        windows::assert_unique("eight threads", drawn.iter().map(Vec::as_slice));
    }
    check::<Erasing<ChaCha<20>>>();
    check::<Erasing<AesCtr<256>>>();
    check::<Rekeying<Salsa<12>>>();
    check::<Rekeying<Hc128>>();
    #[cfg(feature = "study")]
    check::<Inlined<Hc128>>();
}

static GENERATOR: OnceLock<&'static Shared<Erasing<ChaCha<20>>>> = OnceLock::new();
static HANDLERS: AtomicUsize = AtomicUsize::new(0);
static HANDLER_BYTES: [AtomicU32; 1 << 16] = [const { AtomicU32::new(0) }; 1 << 16];

extern "C" fn draw_in_handler(_: libc::c_int) {
    let Some(generator) = GENERATOR.get() else { return };
    let begin = 16 * HANDLERS.fetch_add(1, Ordering::Relaxed);
    let mut bytes = [0; 64];
    generator.fill(&mut bytes[..56]);
    bytes[56..].copy_from_slice(&generator.u64().to_ne_bytes());
    for (place, word) in HANDLER_BYTES.iter().skip(begin).zip(bytes.as_chunks::<4>().0) {
        place.store(u32::from_ne_bytes(*word), Ordering::Relaxed);
    }
}

/// Lets a signal come each so many microseconds of processor time; zero ends it.
fn timer(microseconds: libc::suseconds_t) {
    let every = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the structure is filled in, and the old value is not asked for.
    let result =
        unsafe { libc::setitimer(libc::ITIMER_VIRTUAL, &raw const timer, core::ptr::null_mut()) };
    assert_eq!(result, 0);
}

/// A handler that meets its own thread's draw, or that of another thread, gets bytes and returns.
fn handlers_interrupt_draws() {
    let generator = shared();
    assert!(GENERATOR.set(generator).is_ok());
    sys::on_signal(libc::SIGVTALRM, draw_in_handler);
    timer(300);
    let threads: Vec<_> = (0..3)
        .map(|_| {
            thread::spawn(move || {
                let mut out = vec![0; 1 << 18];
                let mut kept = Vec::new();
                while HANDLERS.load(Ordering::Relaxed) < times(200, 4000) {
                    generator.fill(&mut out);
                    kept.extend_from_slice(&out[..64]);
                    kept.extend_from_slice(&out[out.len() - 64..]);
                    generator.fill(&mut out[..100]);
                    kept.extend_from_slice(&out[..100]);
                }
                kept
            })
        })
        .collect();
    let mut drawn: Vec<Vec<u8>> =
        threads.into_iter().map(|thread| thread.join().expect("it only draws")).collect();
    timer(0);
    let used = (16 * HANDLERS.load(Ordering::Relaxed)).min(HANDLER_BYTES.len());
    let words = HANDLER_BYTES[..used].iter().map(|word| word.load(Ordering::Relaxed));
    drawn.push(words.flat_map(u32::to_ne_bytes).collect());
    windows::assert_unique("handlers and threads", drawn.iter().map(Vec::as_slice));
}

/// Seconds after which a child that is blocked is ended, and the test with it.
const PATIENCE: u32 = 60;

fn is_some_page_locked() -> bool {
    maps::live_pages(&maps::wiped_on_fork()).iter().any(|page| maps::is_locked(page))
}

/// A thread fills megabytes while another one forks; children find the lock free.
fn forks_while_another_holds() {
    let (one, two) = (shared::<Erasing<ChaCha<20>>>(), shared::<Rekeying<ChaCha<8>>>());
    for drawer in [one as &'static (dyn Drawer + Sync), two] {
        let forks = times(60, 2000);
        let arena: &'static Arena = Box::leak(Box::new(Arena::new(4 * forks)));
        let is_over = AtomicBool::new(false);
        let mut held = 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut out = vec![0; 8 << 20];
                while !is_over.load(Ordering::Relaxed) {
                    drawer.fill(&mut out);
                    thread::yield_now();
                }
            });
            for _ in 0..forks {
                while !is_some_page_locked() {
                    thread::yield_now();
                }
                let child = sys::fork(Fork::Library).expect("processes can be made");
                if child == 0 {
                    // SAFETY: sets a timer; without a handler it ends the process.
                    unsafe { libc::alarm(PATIENCE) };
                    // Whoever held the lock is not there, and the fork freed it.
                    if is_some_page_locked() {
                        sys::exit(1);
                    }
                    arena.draw(drawer);
                    let thread = thread::spawn(move || arena.draw(drawer));
                    sys::exit(i32::from(thread.join().is_err()));
                }
                // While it waits for the child, the parent's thread continues.
                arena.draw(drawer);
                sys::wait_for_success(child);
                held += 1;
            }
            is_over.store(true, Ordering::Relaxed);
        });
        assert_eq!((held, arena.used()), (forks, 3 * forks));
        arena.check().expect("nothing repeats");
    }
}

static FORKED: AtomicUsize = AtomicUsize::new(0);
static IS_CHILD: AtomicBool = AtomicBool::new(false);
static ARENA: OnceLock<&'static Arena> = OnceLock::new();

/// Forks in the middle of a draw; the child draws there and then finishes the draw.
extern "C" fn fork_in_handler(_: libc::c_int) {
    let (Some(arena), Some(&generator)) = (ARENA.get(), GENERATOR.get()) else { return };
    if IS_CHILD.load(Ordering::Relaxed) {
        return;
    }
    let Ok(child) = sys::fork(Fork::Raw) else { return };
    arena.draw(generator);
    if child == 0 {
        // SAFETY: sets a timer; without a handler it ends the process.
        unsafe { libc::alarm(PATIENCE) };
        IS_CHILD.store(true, Ordering::Relaxed);
        return;
    }
    FORKED.fetch_add(1, Ordering::Relaxed);
    sys::wait_for_success(child);
}

fn forks_in_handlers() {
    let count = times(50, 2000);
    let arena: &'static Arena = Box::leak(Box::new(Arena::new(4 * (count + 100))));
    let generator = shared();
    assert!(GENERATOR.set(generator).is_ok() && ARENA.set(arena).is_ok());
    sys::on_signal(libc::SIGVTALRM, fork_in_handler);
    timer(1000);
    let mut out = vec![0; 1 << 20];
    let mut results = Vec::new();
    while FORKED.load(Ordering::Relaxed) < count {
        generator.fill(&mut out);
        if IS_CHILD.load(Ordering::Relaxed) {
            // Timers are not inherited. Once more, outside of the handler.
            arena.draw(generator);
            sys::exit(i32::from(out[out.len() - 16..] == [0; 16]));
        }
        results.extend_from_slice(&out[..1000]);
        results.extend_from_slice(&out[out.len() - 1000..]);
    }
    timer(0);
    assert!(arena.used() >= 3 * count);
    windows::assert_unique("parent and children", [arena.bytes(), &results]);
}

fn wiped_when_dropped() {
    for _ in 0..100 {
        let generator = Shared::<Erasing>::new().expect("the kernel has randomness");
        let rekeying = Shared::<Rekeying<AesCtr<128>>>::new().expect("the kernel has randomness");
        let _ = (generator.u64(), rekeying.u64());
        let live = maps::live_pages(&maps::wiped_on_fork()).len();
        assert!(live == 2 || !lanecrypt_random::capabilities().wipe_on_fork);
        drop((generator, rekeying));
        assert!(maps::live_pages(&maps::wiped_on_fork()).is_empty(), "dropping wipes the page");
    }
}
