//! Forks: no process ever gives out what another one gives out.

#[allow(dead_code, reason = "each test uses its part of it")]
mod common;

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use core::time::Duration;

use common::arena::Arena;
use common::drawer::{Drawer, Owned, StrictThread, shared};
use common::harness::{self, Case, skipped, times};
use common::seccomp::{self, Rule};
use common::sys::{self, Fork};
use common::toy::{Defect, Toy};
use lanecrypt_random::{
    AesCtr, ChaCha, Erasing, Held, PerCpu, PerThread, Rekeying, Salsa, Shared, Single,
};
#[cfg(feature = "legacy")]
use lanecrypt_random::{Arc4, Hc128, Inlined};

fn main() {
    harness::run(&[
        Case("fork::of_the_c_library", of_the_c_library),
        Case("fork::raw", raw),
        Case("fork::clone_call", clone_call),
        Case("fork::new_pid_namespace", new_pid_namespace),
        Case("fork::threaded_process", threaded_process),
        Case("fork::grandchildren", grandchildren),
        Case("fork::inside_a_signal_handler", inside_a_signal_handler),
        Case("fork::held_generators", held_generators),
        Case("fork::other_placements", other_placements),
        Case("fork::ciphers_that_run_on", ciphers_that_run_on),
        Case("fork::before_the_first_draw", before_the_first_draw),
        Case("fork::vfork_and_exec", vfork_and_exec),
        Case("fork::without_wipe_on_fork", without_wipe_on_fork),
        Case("fork::defects_are_found", defects_are_found),
    ]);
}

/// Forks `count` times in a row; parent and child draw after each fork.
fn siblings(
    arena: &Arena,
    how: Fork,
    count: usize,
    drawers: &[&dyn Drawer],
) -> std::io::Result<()> {
    for _ in 0..count {
        let child = sys::fork(how)?;
        if child == 0 {
            drawers.iter().for_each(|&drawer| arena.draw(drawer));
            sys::exit(0);
        }
        // Before the child is done: both draw at the same time.
        drawers.iter().for_each(|&drawer| arena.draw(drawer));
        sys::wait_for_success(child);
    }
    Ok(())
}

/// [`siblings`] with the generators of this thread, which have drawn before.
fn check_siblings(how: Fork, count: usize) -> std::io::Result<()> {
    let drawers: [&dyn Drawer; 3] = [
        &PerThread::<Erasing<ChaCha<20>>>::new(),
        &PerThread::<Erasing<AesCtr<256>>>::new(),
        &StrictThread,
    ];
    let arena = Arena::new(drawers.len() * (2 * count + 1));
    drawers.iter().for_each(|&drawer| arena.draw(drawer));
    siblings(&arena, how, count, &drawers)?;
    assert_eq!(arena.used(), drawers.len() * (2 * count + 1));
    arena.check().expect("nothing repeats");
    Ok(())
}

fn of_the_c_library() {
    check_siblings(Fork::Library, times(250, 250, 2500)).expect("processes can be made");
}

fn raw() {
    check_siblings(Fork::Raw, times(200, 200, 2000)).expect("processes can be made");
}

fn clone_call() {
    check_siblings(Fork::Clone(0), times(100, 100, 1000)).expect("processes can be made");
}

fn new_pid_namespace() {
    let count = times(50, 50, 500);
    if let Err(error) = check_siblings(Fork::Clone(libc::CLONE_NEWPID), count) {
        skipped("fork::new_pid_namespace", &format!("clone: {error}"));
    }
}

/// One thread forks while others draw; the children draw on the thread that forked.
fn threaded_process() {
    let count = times(100, 100, 1000);
    let arena = Arena::new(2 * count + 3 * 64);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                // So many draws are looked at; after them the threads go on to keep busy.
                (0..64).for_each(|_| arena.draw(&PerThread::<Erasing<ChaCha<20>>>::new()));
                while !done.load(Ordering::Relaxed) {
                    let _: [u8; 4096] = lanecrypt_random::bytes();
                    // Threads that come and go keep the pool of pages busy, too.
                    std::thread::spawn(lanecrypt_random::u64).join().expect("it only draws");
                }
            });
        }
        for i in 0..count {
            let how = if i % 2 == 0 { Fork::Library } else { Fork::Raw };
            let drawer = PerThread::<Erasing<ChaCha<20>>>::new();
            let child = sys::fork(how).expect("processes can be made");
            arena.draw(&drawer);
            if child == 0 {
                sys::exit(0);
            }
            sys::wait_for_success(child);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(arena.used(), 2 * count + 3 * 64);
    arena.check().expect("nothing repeats");
}

/// Chains of processes, each of which draws before and after it forks the next.
fn grandchildren() {
    let (chains, depth) = (times(25, 25, 250), 4);
    let arena = Arena::new(chains * 2 * depth);
    let drawer = PerThread::<Erasing<ChaCha<20>>>::new();
    for chain in 0..chains {
        let child = sys::fork(Fork::Library).expect("processes can be made");
        if child != 0 {
            sys::wait_for_success(child);
            continue;
        }
        // In half of the chains the processes in between have not drawn when they fork.
        for level in 0..depth {
            if chain % 2 == 0 {
                arena.draw(&drawer);
            }
            if level + 1 < depth {
                let child = sys::fork(Fork::Raw).expect("processes can be made");
                if child == 0 {
                    continue;
                }
                arena.draw(&drawer);
                sys::wait_for_success(child);
            } else {
                arena.draw(&drawer);
            }
            sys::exit(0);
        }
    }
    assert!(arena.used() >= chains * depth);
    arena.check().expect("nothing repeats");
}

static HANDLER_ARENA: AtomicPtr<Arena> = AtomicPtr::new(core::ptr::null_mut());
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Forks in a signal handler; the child draws there and then goes on where the signal came.
extern "C" fn fork_and_draw(_: libc::c_int) {
    let drawer = PerThread::<Erasing<ChaCha<20>>>::new();
    // SAFETY: the test leaked the arena before it sent the first signal.
    let arena = unsafe { &*HANDLER_ARENA.load(Ordering::Acquire) };
    let child = sys::fork(Fork::Raw).expect("processes can be made");
    arena.draw(&drawer);
    if child == 0 {
        CHILD.store(true, Ordering::Relaxed);
        return;
    }
    FORKS.fetch_add(1, Ordering::Relaxed);
    sys::wait_for_success(child);
}

static CHILD: AtomicBool = AtomicBool::new(false);

/// Signals come at any point of a stream of draws. (`signals.rs` goes through every single one.)
fn inside_a_signal_handler() {
    let count = times(50, 50, 500);
    let arena: &Arena = Box::leak(Box::new(Arena::new(8 * count)));
    HANDLER_ARENA.store(core::ptr::from_ref(arena).cast_mut(), Ordering::Release);
    sys::on_signal(libc::SIGUSR1, fork_and_draw);
    let drawer = PerThread::<Erasing<ChaCha<20>>>::new();
    // SAFETY: has no preconditions.
    let process = unsafe { libc::getpid() };
    // SAFETY: has no preconditions.
    let thread = unsafe { libc::gettid() };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while FORKS.load(Ordering::Relaxed) < count {
                // SAFETY: the signal has a handler, and the thread lives as long as this one.
                unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGUSR1) };
                std::thread::sleep(Duration::from_micros(300));
            }
            done.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            let _ = (drawer.u64(), drawer.u32());
            let _: [u8; 100] = lanecrypt_random::bytes();
            if CHILD.load(Ordering::Relaxed) {
                // The child draws once more outside of the handler.
                arena.draw(&drawer);
                sys::exit(0);
            }
        }
    });
    arena.draw(&drawer);
    assert!(arena.used() >= 3 * count);
    arena.check().expect("nothing repeats");
}

fn held_generators() {
    let count = times(75, 75, 750);
    let chacha = Owned::new(Held::<Erasing<ChaCha<20>>>::new().expect("the kernel has randomness"));
    let chacha8 = Owned::new(Held::<Erasing<ChaCha<8>>>::new().expect("the kernel has randomness"));
    let aes = Owned::new(Held::<Erasing<AesCtr<256>>>::new().expect("the kernel has randomness"));
    let drawers: [&dyn Drawer; 3] = [&chacha, &chacha8, &aes];
    let arena = Arena::new(6 * count + 3);
    drawers.iter().for_each(|&drawer| arena.draw(drawer));
    siblings(&arena, Fork::Raw, count, &drawers).expect("processes can be made");
    assert_eq!(arena.used(), 6 * count + 3);
    arena.check().expect("nothing repeats");
}

/// [`siblings`] with generators that have drawn before, by every way to fork.
fn check_all(drawers: &[&dyn Drawer]) {
    for how in [Fork::Library, Fork::Raw, Fork::Clone(0)] {
        let count = times(25, 50, 500);
        let arena = Arena::new(drawers.len() * (2 * count + 1));
        drawers.iter().for_each(|&drawer| arena.draw(drawer));
        siblings(&arena, how, count, drawers).expect("processes can be made");
        assert_eq!(arena.used(), drawers.len() * (2 * count + 1));
        arena.check().unwrap_or_else(|fault| panic!("{how:?}: {fault}"));
    }
}

fn other_placements() {
    let single = Single::<Erasing<ChaCha<12>>>::new().expect("the kernel has randomness");
    check_all(&[
        &PerCpu::<Erasing<ChaCha<20>>>::new(),
        &PerCpu::<Erasing<AesCtr<256>>>::new(),
        &PerCpu::<Rekeying<Salsa<20>>>::new(),
        shared::<Erasing<ChaCha<20>>>(),
        shared::<Rekeying<AesCtr<128>>>(),
        &single,
    ]);
}

/// A cipher's state is emptied by a fork as well as a buffer.
fn ciphers_that_run_on() {
    let held = Owned::new(Held::<Rekeying<ChaCha<20>>>::new().expect("the kernel has randomness"));
    #[cfg(feature = "legacy")]
    {
        let inlined = Owned::new(Held::<Inlined<Hc128>>::new().expect("the kernel has randomness"));
        check_all(&[
            &PerThread::<Rekeying<Arc4>>::new(),
            &PerThread::<Rekeying<Hc128>>::new(),
            &PerThread::<Inlined<Hc128>>::new(),
            &PerCpu::<Inlined<Hc128>>::new(),
            shared::<Inlined<Hc128>>(),
            &inlined,
        ]);
    }
    check_all(&[&PerThread::<Rekeying<ChaCha<8>>>::new(), &held]);
    // A child's counters begin anew.
    let _ = PerThread::<Rekeying<ChaCha<8>>>::u64();
    let of_parent = PerThread::<Rekeying<ChaCha<8>>>::counters();
    let shared: &Shared<Rekeying<ChaCha<20>>> = shared();
    shared.reseed().expect("the kernel has randomness");
    assert!(of_parent.keys == 1 && shared.counters().keys == 2);
    let child = sys::fork(Fork::Raw).expect("processes can be made");
    if child == 0 {
        let wiped = lanecrypt_random::facilities().wipe_on_fork;
        let before = (PerThread::<Rekeying<ChaCha<8>>>::counters().keys, shared.counters().keys);
        let _ = (PerThread::<Rekeying<ChaCha<8>>>::u64(), shared.u64());
        let after = (PerThread::<Rekeying<ChaCha<8>>>::counters().keys, shared.counters().keys);
        sys::exit(i32::from(wiped && (before, after) != ((0, 0), (1, 1))));
    }
    sys::wait_for_success(child);
    assert_eq!(
        (PerThread::<Rekeying<ChaCha<8>>>::counters(), shared.counters().keys),
        (of_parent, 2)
    );
}

/// Parent and children make their first draw after the fork.
fn before_the_first_draw() {
    let count = times(50, 50, 500);
    let arena = Arena::new(2 * count + 2);
    let draw = || {
        arena.draw(&PerThread::<Erasing<ChaCha<20>>>::new());
        arena.draw(&PerCpu::<Erasing<ChaCha<20>>>::new());
    };
    let children: Vec<_> = (0..count)
        .map(|_| {
            let child = sys::fork(Fork::Library).expect("processes can be made");
            if child == 0 {
                draw();
                sys::exit(0);
            }
            child
        })
        .collect();
    draw();
    children.into_iter().for_each(sys::wait_for_success);
    assert_eq!(arena.used(), 2 * count + 2);
    arena.check().expect("nothing repeats");
}

/// The standard library starts programs by `vfork`: the parent's pages must survive that.
fn vfork_and_exec() {
    let arena = Arena::new(21);
    let drawer = PerThread::<Erasing<ChaCha<20>>>::new();
    arena.draw(&drawer);
    let pages = common::maps::live_pages(&common::maps::wiped_on_fork());
    for _ in 0..20 {
        let status = std::process::Command::new("/bin/true").status();
        assert!(status.is_ok_and(|status| status.success()));
        arena.draw(&drawer);
    }
    if lanecrypt_random::facilities().wipe_on_fork {
        assert!(!pages.is_empty());
        let after = common::maps::live_pages(&common::maps::wiped_on_fork());
        assert_eq!(after.len(), pages.len(), "starting a program emptied a page of its parent");
    }
    arena.check().expect("nothing repeats");
}

/// Where the kernel cannot empty pages, nothing may be buffered.
fn without_wipe_on_fork() {
    if let Err(error) = seccomp::install(&[Rule::no_wipe_on_fork()]) {
        skipped("fork::without_wipe_on_fork", &format!("seccomp: {error}"));
        return;
    }
    assert!(!lanecrypt_random::facilities().wipe_on_fork);
    assert!(!lanecrypt_random::facilities().dont_dump);
    assert!(!lanecrypt_random::facilities().locked);
    let mappings = common::maps::wiped_on_fork();
    assert!(mappings.iter().all(|mapping| mapping.droppable), "there are pages: {mappings:?}");
    let held = Owned::new(Held::<Erasing<ChaCha<20>>>::new().expect("the kernel has randomness"));
    let drawers: [&dyn Drawer; 6] = [
        &PerThread::<Erasing<ChaCha<20>>>::new(),
        &held,
        &StrictThread,
        &PerCpu::<Erasing<ChaCha<20>>>::new(),
        &PerCpu::<Rekeying<Salsa<20>>>::new(),
        shared::<Erasing<AesCtr<256>>>(),
    ];
    let count = times(50, 50, 500);
    let arena = Arena::new(12 * count + 6);
    drawers.iter().for_each(|&drawer| arena.draw(drawer));
    siblings(&arena, Fork::Raw, count, &drawers).expect("processes can be made");
    assert_eq!(arena.used(), 12 * count + 6);
    arena.check().expect("nothing repeats");
}

/// The check accepts a generator without defects and rejects one whose page a child inherits.
fn defects_are_found() {
    let check = |defect| {
        let toy = Toy::new(defect);
        let arena = Arena::new(7);
        arena.draw(&toy);
        siblings(&arena, Fork::Library, 3, &[&toy]).expect("processes can be made");
        arena.check()
    };
    check(Defect::None).expect("nothing is wrong with it");
    check(Defect::KeepsPageOnFork).expect_err("parent and child repeat each other");
}
