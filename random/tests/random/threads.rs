//! Threads: many at a time, many in a row, and draws while a thread ends.

use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

use crate::common::{maps, windows};
use lanecrypt_random::Hc128;
#[cfg(feature = "study")]
use lanecrypt_random::Inlined;
use lanecrypt_random::{
    AesCtr, ChaCha, Erasing, Owned, PerCpu, PerThread, Rekeying, Salsa, Shared,
};
use lanecrypt_testing::harness::{Case, times};

pub(crate) const CASES: &[Case] = &[
    Case("threads::sixty_four_at_a_time", sixty_four_at_a_time),
    Case("threads::come_and_go", come_and_go),
    Case("threads::thread_local_destructors", thread_local_destructors),
    Case("threads::pthread_key_destructors", pthread_key_destructors),
    Case("threads::held_generator_is_sent", held_generator_is_sent),
    Case("threads::errno_is_kept", errno_is_kept),
    Case("threads::all_keys_taken", all_keys_taken),
    Case("threads::last_round_of_destructors", last_round_of_destructors),
    Case("threads::locked_memory_is_counted", locked_memory_is_counted),
    Case("threads::locked_memory_is_shared", locked_memory_is_shared),
];

/// Draws of every kind.
fn draw() -> Vec<u8> {
    let mut drawn = Vec::new();
    for length in [32, 16, 1, 100, 300, 9000] {
        let mut bytes = vec![0; length];
        lanecrypt_random::fill(&mut bytes);
        drawn.extend_from_slice(&bytes);
        PerThread::<Erasing<AesCtr<256>>>::fill(&mut bytes);
        drawn.extend_from_slice(&bytes);
        drawn.extend_from_slice(&lanecrypt_random::u32().to_ne_bytes());
        drawn.extend_from_slice(&lanecrypt_random::u64().to_ne_bytes());
    }
    drawn
}

/// Kinds and places besides those of [`draw`], whose pages stay with the processors.
const OTHERS: &[fn(&mut [u8])] = &[
    PerThread::<Rekeying<ChaCha<8>>>::fill,
    PerThread::<Rekeying<AesCtr<128>>>::fill,
    PerThread::<Erasing<Salsa<20>>>::fill,
    PerCpu::<Erasing<ChaCha<20>>>::fill,
    PerCpu::<Rekeying<Salsa<8>>>::fill,
    PerThread::<Rekeying<Hc128>>::fill,
    #[cfg(feature = "study")]
    PerThread::<Inlined<Hc128>>::fill,
    #[cfg(feature = "study")]
    PerCpu::<Inlined<Hc128>>::fill,
];

fn draw_from_others() -> Vec<u8> {
    let mut drawn = vec![0; OTHERS.len() * 3000];
    for (part, fill) in drawn.chunks_mut(3000).zip(OTHERS) {
        let (first, rest) = part.split_at_mut(50);
        fill(first);
        fill(rest);
    }
    drawn
}

fn sixty_four_at_a_time() {
    let start = Barrier::new(64);
    let records: Vec<Vec<u8>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..64)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    (0..4).flat_map(|_| [draw(), draw_from_others()].concat()).collect()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it only draws")).collect()
    });
    windows::assert_unique("64 threads", records.iter().map(Vec::as_slice));
}

/// A draw may be made in a signal handler, which must not change the error number, also where the
/// draw maps memory, refills, or gives a page back.
fn errno_is_kept() {
    const NUMBER: libc::c_int = 77;
    // SAFETY: the C library's pointer to this thread's number is always valid.
    let errno = || unsafe { libc::__errno_location() };
    let threads: Vec<_> = (0..40)
        .map(|_| {
            thread::spawn(move || {
                // SAFETY: as above.
                unsafe { errno().write(NUMBER) };
                let mut generator =
                    Owned::<Erasing<ChaCha<8>>>::new().expect("the kernel has randomness");
                let mut bytes = vec![0; 20_000];
                generator.fill(&mut bytes[..100]);
                drop(generator);
                lanecrypt_random::fill(&mut bytes);
                let shared =
                    Shared::<Rekeying<ChaCha<8>>>::new().expect("the kernel has randomness");
                shared.fill(&mut bytes);
                drop(shared);
                OTHERS.iter().for_each(|fill| fill(&mut bytes));
                let mut per_cpu = PerCpu::<Erasing<AesCtr<256>>>::new().strict();
                per_cpu.fill(&mut bytes[..10]);
                lanecrypt_random::strict().fill(&mut bytes[..10]);
                for _ in 0..3000 {
                    let _ = lanecrypt_random::u32();
                }
                // SAFETY: as above.
                unsafe { errno().read() }
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().expect("it only draws"), NUMBER);
    }
}

/// Bytes of memory that is emptied on fork: generators' pages and states of the kernel's generator.
fn mapped() -> usize {
    maps::wiped_on_fork().iter().map(|mapping| mapping.length).sum()
}

fn come_and_go() {
    let rounds = times(625, 6_250);
    let mut records: Vec<Vec<u8>> = Vec::new();
    let mut after_first = 0;
    for round in 0..rounds {
        // Sixteen at a time: slots are returned while others are taken.
        let threads: Vec<_> = (0..16)
            .map(|i| {
                thread::spawn(move || {
                    let mut bytes = vec![0; 32];
                    lanecrypt_random::fill(&mut bytes);
                    if i % 4 == 0 {
                        PerThread::<Erasing<AesCtr<256>>>::fill(&mut bytes[16..]);
                    }
                    bytes
                })
            })
            .collect();
        records.extend(threads.into_iter().map(|thread| thread.join().expect("it only draws")));
        if round == 20 {
            after_first = mapped();
        }
    }
    let at_end = mapped();
    // A page whose return found the pool busy is lost; that is rare. Twice is no leak of 10,000.
    assert!(at_end <= 2 * after_first, "{after_first} bytes became {at_end}");
    windows::assert_unique("threads in a row", records.iter().map(Vec::as_slice));
    // The pages of threads that ended hold nothing any more.
    assert!(maps::live_pages(&maps::wiped_on_fork()).is_empty(), "this thread has not drawn");
}

static LATE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

fn record_late_draw() {
    LATE.lock().expect("nobody panics").push(draw());
}

fn thread_local_destructors() {
    fn record_late_draw() {
        LATE.lock().expect("nobody panics").push([draw(), draw_from_others()].concat());
    }
    /// Draws when it is dropped.
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            record_late_draw();
        }
    }
    thread_local! {
        static FIRST: RefCell<Option<Late>> = const { RefCell::new(None) };
        static SECOND: RefCell<Option<Late>> = const { RefCell::new(None) };
    }
    for round in 0..100 {
        let thread = thread::spawn(move || {
            FIRST.with_borrow_mut(|late| *late = Some(Late));
            // Some threads have drawn before, some draw for the first time when they end.
            if round % 2 == 0 {
                record_late_draw();
            }
            SECOND.with_borrow_mut(|late| *late = Some(Late));
        });
        thread.join().expect("it only draws");
    }
    let late = LATE.lock().expect("nobody panics");
    assert_eq!(late.len(), 250);
    windows::assert_unique("destructors", late.iter().map(Vec::as_slice));
}

static KEY: AtomicU32 = AtomicU32::new(0);
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Draws, and asks to be called again, as often as the C library does that.
unsafe extern "C" fn draw_at_exit(value: *mut c_void) {
    record_late_draw();
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the key was made by the test and is never deleted.
    unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), value) };
}

fn pthread_key_destructors() {
    let mut key = 0;
    // Made before the first draw makes the crate's own key: this destructor runs first, and again
    // after that one.
    // SAFETY: the pointer is to a key, and the destructor has the right type.
    assert_eq!(unsafe { libc::pthread_key_create(&raw mut key, Some(draw_at_exit)) }, 0);
    KEY.store(key, Ordering::Relaxed);
    for round in 0..100 {
        let thread = thread::spawn(move || {
            // SAFETY: the value is never looked at.
            unsafe { libc::pthread_setspecific(key, core::ptr::dangling::<u8>().cast()) };
            if round % 2 == 0 {
                record_late_draw();
            }
        });
        thread.join().expect("it only draws");
    }
    assert!(CALLS.load(Ordering::Relaxed) >= 200, "the destructor is called repeatedly");
    let late = LATE.lock().expect("nobody panics");
    windows::assert_unique("destructors", late.iter().map(Vec::as_slice));
    drop(late);
    assert!(maps::live_pages(&maps::wiped_on_fork()).is_empty(), "a thread that ended left a page");
}

fn held_generator_is_sent() {
    let mut generator = Owned::<Erasing<ChaCha<12>>>::new().expect("the kernel has randomness");
    let mut records = Vec::new();
    for _ in 0..50 {
        let thread = thread::spawn(move || {
            let mut bytes = vec![0; 700];
            generator.fill(&mut bytes);
            bytes.extend_from_slice(&generator.u64().to_ne_bytes());
            (generator, bytes)
        });
        let (back, bytes) = thread.join().expect("it only draws");
        generator = back;
        records.push(bytes);
        let mut bytes = vec![0; 700];
        generator.fill(&mut bytes);
        records.push(bytes);
    }
    windows::assert_unique("a generator that moves", records.iter().map(Vec::as_slice));
    drop(generator);
    assert!(maps::live_pages(&maps::wiped_on_fork()).is_empty(), "dropping it wipes its page");
}

/// All keys of thread-specific data that are left.
fn take_all_keys() -> Vec<libc::pthread_key_t> {
    let mut key = 0;
    // SAFETY: the pointer is to a key; there is no destructor.
    let mut more = || unsafe { libc::pthread_key_create(&raw mut key, None) == 0 }.then_some(key);
    core::iter::from_fn(&mut more).collect()
}

/// A thread whose exit is not notified gets none.
fn all_keys_taken() {
    // The standard library has keys of its own for threads.
    thread::spawn(|| {}).join().expect("it does nothing");
    let keys = take_all_keys();
    let (drawn, held) = (Barrier::new(9), Barrier::new(9));
    let records: Vec<Vec<u8>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let record = draw();
                    drawn.wait();
                    held.wait();
                    record
                })
            })
            .collect();
        drawn.wait();
        let live = maps::live_count(&maps::wiped_on_fork());
        held.wait();
        assert_eq!(live, 0, "threads have pages that they cannot give back");
        threads.into_iter().map(|thread| thread.join().expect("it only draws")).collect()
    });
    windows::assert_unique("without keys", records.iter().map(Vec::as_slice));
    for key in keys {
        // SAFETY: the key was made above and never used.
        unsafe { libc::pthread_key_delete(key) };
    }
    // With keys again, new threads have pages.
    let live = thread::spawn(|| {
        let _ = lanecrypt_random::u32();
        maps::live_pages(&maps::wiped_on_fork()).len()
    });
    let expected = usize::from(lanecrypt_random::capabilities().wipe_on_fork);
    assert_eq!(live.join().expect("it only draws"), expected);
    assert!(maps::live_pages(&maps::wiped_on_fork()).is_empty(), "and they give them back");
}

thread_local! {
    static ROUNDS: Cell<u32> = const { Cell::new(0) };
}

/// Draws in the last round only.
unsafe extern "C" fn draw_in_the_last_round(value: *mut c_void) {
    ROUNDS.set(ROUNDS.get() + 1);
    if ROUNDS.get() == 4 {
        let _: [u8; 40] = lanecrypt_random::bytes();
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: the key was made by the test and is never deleted.
    unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), value) };
}

/// What a thread leaves that first draws after its exit notification, others take.
fn last_round_of_destructors() {
    // The keys of the crate come first, so that their destructors are over when the test's runs.
    let _ = (lanecrypt_random::u64(), PerThread::<Erasing<AesCtr<256>>>::u64());
    let mut key = 0;
    // SAFETY: the pointer is to a key, and the destructor has the right type.
    let result = unsafe { libc::pthread_key_create(&raw mut key, Some(draw_in_the_last_round)) };
    assert_eq!(result, 0);
    KEY.store(key, Ordering::Relaxed);
    let end_late = |before: fn()| {
        for _ in 0..25 {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    thread::spawn(move || {
                        before();
                        let value = core::ptr::dangling::<u8>().cast();
                        // SAFETY: the key was made above.
                        unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), value) };
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().expect("it only draws"));
        }
    };
    // Threads that have drawn from another generator before are known to end.
    let before = maps::live_pages(&maps::wiped_on_fork()).len();
    end_late(|| drop(PerThread::<Erasing<AesCtr<256>>>::u64().to_string()));
    assert_eq!(CALLS.load(Ordering::Relaxed), 200, "the destructor was called in its last round");
    assert_eq!(maps::live_pages(&maps::wiped_on_fork()).len(), before, "a page was left");
    // Those that have not leave pages, which do not get more and more.
    end_late(|| {});
    let early = mapped();
    (0..5).for_each(|_| end_late(|| {}));
    assert_eq!(CALLS.load(Ordering::Relaxed), 1400);
    assert!(mapped() <= early + (1 << 19), "{early} bytes became {}", mapped());
}

/// Gives up the right to lock more memory than the limit says, and sets that.
fn limit_locked_memory(bytes: u64) {
    const VERSION: u32 = 0x2008_0522;
    const IPC_LOCK: u32 = 14;
    let mut header = [VERSION, 0];
    // Effective, permitted, inheritable; twice.
    let mut sets = [0_u32; 6];
    // SAFETY: both arrays have the layout that this version of the call asks for.
    let result = unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) };
    assert_eq!(result, 0);
    sets[0] &= !(1 << IPC_LOCK);
    // SAFETY: as above.
    let result = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) };
    assert_eq!(result, 0);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the structure is filled in.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit) }, 0);
}

/// What the generators count as locked is what the kernel counts, with pages of any size.
fn locked_memory_is_counted() {
    let (counted, status) = beside_sixteen(|| {
        let counted = lanecrypt_random::capabilities().locked_bytes;
        (counted, std::fs::read_to_string("/proc/self/status"))
    });
    let status = status.expect("/proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    assert_eq!(kibibytes.map(|kibibytes: usize| kibibytes << 10), Some(counted));
}

/// Calls a function while sixteen threads have generators.
fn beside_sixteen<T>(call: impl FnOnce() -> T) -> T {
    let (drawn, held) = (Barrier::new(17), Barrier::new(17));
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let _ = draw();
                drawn.wait();
                held.wait();
            });
        }
        drawn.wait();
        let result = call();
        held.wait();
        result
    })
}

/// Generators leave three quarters of what may be locked to the program.
fn locked_memory_is_shared() {
    limit_locked_memory(64 << 10);
    let own = vec![1_u8; 32 << 10];
    // SAFETY: the range is that of a live vector.
    let locked = beside_sixteen(|| match unsafe { libc::mlock(own.as_ptr().cast(), own.len()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    });
    locked.expect("three quarters of the limit are left");
    let capabilities = lanecrypt_random::capabilities();
    assert_eq!(
        (capabilities.lock_limit, capabilities.lock_budget),
        (Some(64 << 10), Some(16 << 10))
    );
    if capabilities.wipe_on_fork {
        assert!((1..=16 << 10).contains(&capabilities.locked_bytes), "{capabilities:?}");
        assert!(!capabilities.locked, "{capabilities:?}");
    }
}
