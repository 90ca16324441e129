//! Forks: no process ever gives out what another one gives out.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Barrier;

use crate::common::arena::Arena;
use crate::common::drawer::{Drawer, OwnedDrawer, StrictThread, shared};
use crate::common::maps;
use crate::common::toy::{Defect, Toy};
use lanecrypt_kernels::fork::Generation;
use lanecrypt_random::{
    AesCtr, ChaCha, Erasing, Owned, PerCpu, PerThread, Rekeying, Salsa, Shared, SingleThread,
};
#[cfg(feature = "study")]
use lanecrypt_random::{Arc4, Hc128, Inlined};
use lanecrypt_testing::harness::{Case, skipped, times};
use lanecrypt_testing::seccomp::{self, Rule};
use lanecrypt_testing::sys::{self, Fork};

pub(crate) const CASES: &[Case] = &[
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
    Case("fork::refusals_are_final", refusals_are_final),
    Case("fork::refusals_are_final_later", refusals_are_final_later),
    Case("fork::generations_are_bounded", generations_are_bounded),
    Case("fork::processes_are_told_apart", processes_are_told_apart),
    Case("fork::defects_are_found", defects_are_found),
];

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
    check_siblings(Fork::Library, times(250, 1000)).expect("processes can be made");
}

fn raw() {
    check_siblings(Fork::Raw, times(200, 1000)).expect("processes can be made");
}

fn clone_call() {
    check_siblings(Fork::Clone(0), times(100, 500)).expect("processes can be made");
}

fn new_pid_namespace() {
    let count = times(50, 250);
    if let Err(error) = check_siblings(Fork::Clone(libc::CLONE_NEWPID), count) {
        skipped("fork::new_pid_namespace", &format!("clone: {error}"));
    }
}

/// One thread forks while others draw; the children draw on the thread that forked.
fn threaded_process() {
    let count = times(100, 500);
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
    let (chains, depth) = (times(25, 100), 4);
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

/// Forks in a signal handler; the child draws there and then continues where the signal interrupted
/// it.
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
    let count = times(50, 250);
    let arena: &Arena = Box::leak(Box::new(Arena::new(8 * count)));
    HANDLER_ARENA.store(core::ptr::from_ref(arena).cast_mut(), Ordering::Release);
    sys::on_signal(libc::SIGUSR1, fork_and_draw);
    let drawer = PerThread::<Erasing<ChaCha<20>>>::new();
    // SAFETY: has no preconditions.
    let process = unsafe { libc::getpid() };
    let thread = sys::thread();
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
    let count = times(75, 300);
    let chacha =
        OwnedDrawer::new(Owned::<Erasing<ChaCha<20>>>::new().expect("the kernel has randomness"));
    let chacha8 =
        OwnedDrawer::new(Owned::<Erasing<ChaCha<8>>>::new().expect("the kernel has randomness"));
    let aes =
        OwnedDrawer::new(Owned::<Erasing<AesCtr<256>>>::new().expect("the kernel has randomness"));
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
        let count = times(25, 250);
        let arena = Arena::new(drawers.len() * (2 * count + 1));
        drawers.iter().for_each(|&drawer| arena.draw(drawer));
        siblings(&arena, how, count, drawers).expect("processes can be made");
        assert_eq!(arena.used(), drawers.len() * (2 * count + 1));
        arena.check().unwrap_or_else(|fault| panic!("{how:?}: {fault}"));
    }
}

fn other_placements() {
    let single = SingleThread::<Erasing<ChaCha<12>>>::new().expect("the kernel has randomness");
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
    let held =
        OwnedDrawer::new(Owned::<Rekeying<ChaCha<20>>>::new().expect("the kernel has randomness"));
    #[cfg(feature = "study")]
    {
        let inlined =
            OwnedDrawer::new(Owned::<Inlined<Hc128>>::new().expect("the kernel has randomness"));
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
        let wiped = lanecrypt_random::capabilities().wipe_on_fork;
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
    let count = times(50, 250);
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
    let pages = maps::live_pages(&maps::wiped_on_fork());
    for _ in 0..20 {
        let status = std::process::Command::new("/bin/true").status();
        assert!(status.is_ok_and(|status| status.success()));
        arena.draw(&drawer);
    }
    if lanecrypt_random::capabilities().wipe_on_fork {
        assert!(!pages.is_empty());
        let after = maps::live_pages(&maps::wiped_on_fork());
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
    assert!(!lanecrypt_random::capabilities().wipe_on_fork);
    assert!(!lanecrypt_random::capabilities().dont_dump);
    assert!(!lanecrypt_random::capabilities().locked);
    let mappings = maps::wiped_on_fork();
    assert!(mappings.iter().all(|mapping| mapping.droppable), "there are pages: {mappings:?}");
    let held =
        OwnedDrawer::new(Owned::<Erasing<ChaCha<20>>>::new().expect("the kernel has randomness"));
    let drawers: [&dyn Drawer; 6] = [
        &PerThread::<Erasing<ChaCha<20>>>::new(),
        &held,
        &StrictThread,
        &PerCpu::<Erasing<ChaCha<20>>>::new(),
        &PerCpu::<Rekeying<Salsa<20>>>::new(),
        shared::<Erasing<AesCtr<256>>>(),
    ];
    let count = times(50, 250);
    let arena = Arena::new(12 * count + 6);
    drawers.iter().for_each(|&drawer| arena.draw(drawer));
    siblings(&arena, Fork::Raw, count, &drawers).expect("processes can be made");
    assert_eq!(arena.used(), 12 * count + 6);
    arena.check().expect("nothing repeats");
}

/// A filter of system calls answers what it likes; it is asked once, not at each draw.
fn refusals_are_final() {
    for code in [libc::EPERM, libc::ENOSYS, libc::EINVAL] {
        let child = sys::fork(Fork::Library).expect("processes can be made");
        if child == 0 {
            if seccomp::install(&[Rule::wipe_on_fork_fails(code)]).is_err() {
                sys::exit(77);
            }
            let held = || Owned::<Erasing>::new().expect("the kernel has randomness");
            let draw = || {
                let _ = (lanecrypt_random::u64(), PerCpu::<Erasing>::u64(), held().u64());
            };
            draw();
            assert!(!lanecrypt_random::capabilities().wipe_on_fork);
            let process = Generation::now();
            seccomp::install(&[Rule::wipe_on_fork_kills()]).expect("as before");
            (0..10).for_each(|_| draw());
            let _ = PerThread::<Erasing<AesCtr<128>>>::u64();
            assert_eq!((process.is_current(), Generation::now()), (true, process));
            sys::exit(0);
        }
        let status = sys::wait(child);
        if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 77 {
            return skipped("fork::refusals_are_final", "seccomp filters are not permitted here");
        }
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status:#x}");
    }
}

/// The same where the first pages were granted.
fn refusals_are_final_later() {
    let held = || Owned::<Erasing>::new().expect("the kernel has randomness");
    let mut first = held();
    if seccomp::install(&[Rule::wipe_on_fork_fails(libc::EPERM)]).is_err() {
        return skipped("fork::refusals_are_final_later", "seccomp filters are not permitted here");
    }
    // More than the first slab holds.
    let mut all: Vec<_> = (0..40).map(|_| held()).collect();
    seccomp::install(&[Rule::wipe_on_fork_kills()]).expect("as before");
    all.extend((0..10).map(|_| held()));
    let mut drawn: Vec<u64> = all.iter_mut().chain([&mut first]).map(Owned::u64).collect();
    drawn.sort_unstable();
    assert!(drawn.windows(2).all(|pair| pair[0] != pair[1]), "generators repeat each other");
}

/// Threads of each process in [`generations_are_bounded`].
const THREADS: usize = 24;

/// A chain of processes, in each of which threads have pages while the next is forked: their pages
/// serve the threads of the next, which maps no others; but not the page of the thread that lives
/// on.
fn generations_are_bounded() {
    let generations = times(50, 200);
    let arena: &Arena = Box::leak(Box::new(Arena::new(generations * (2 * THREADS + 3))));
    generation(arena, 1, generations, 0);
    assert!(arena.used() >= generations * (2 * THREADS + 1));
    arena.check().expect("nothing repeats");
}

/// The `n`th process of the chain and those after it; `early` is what one of the first had mapped.
fn generation(arena: &'static Arena, n: usize, last: usize, mut early: usize) {
    let drawer = PerThread::<Erasing<ChaCha<20>>>::new();
    let others = PerThread::<Erasing<AesCtr<256>>>::new();
    // Sometimes the thread that lives on is the first that draws in the child, sometimes the last.
    if n.is_multiple_of(2) {
        arena.draw(&drawer);
    }
    let hold: &(Barrier, Barrier) =
        Box::leak(Box::new((Barrier::new(THREADS + 1), Barrier::new(THREADS + 1))));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            std::thread::spawn(move || {
                arena.draw(&drawer);
                arena.draw(&others);
                hold.0.wait();
                hold.1.wait();
            })
        })
        .collect();
    hold.0.wait();
    if !n.is_multiple_of(2) {
        arena.draw(&drawer);
    }
    let mappings = maps::wiped_on_fork();
    if lanecrypt_random::capabilities().wipe_on_fork {
        let live = maps::live_pages(&mappings).len();
        assert_eq!(live, 2 * THREADS + 1, "each has a page of its own in process {n}");
    }
    let mapped = mappings.iter().map(|mapping| mapping.length).sum();
    if n == 5 {
        early = mapped;
    }
    assert!(n < 5 || mapped <= early + (1 << 20), "{early} bytes became {mapped} in process {n}");
    if n < last {
        let fork_and_wait = move || {
            let child = sys::fork(Fork::Library).expect("processes can be made");
            if child == 0 {
                // Ends at once also where it fails, whichever thread this is.
                let go_on = || generation(arena, n + 1, last, early);
                sys::exit(i32::from(std::panic::catch_unwind(go_on).is_err()));
            }
            sys::wait_for_success(child);
        };
        if n.is_multiple_of(3) {
            let thread = std::thread::spawn(move || {
                arena.draw(&drawer);
                fork_and_wait();
            });
            thread.join().expect("the next processes end well");
        } else {
            fork_and_wait();
        }
    }
    hold.1.wait();
    threads.into_iter().for_each(|thread| thread.join().expect("it only draws"));
}

/// A child, and a child of it, are other processes than the one that asked before.
fn processes_are_told_apart() {
    let check = || {
        for how in [Fork::Library, Fork::Raw, Fork::Clone(0)] {
            let first = Generation::now();
            let child = sys::fork(how).expect("processes can be made");
            if child == 0 {
                let unknown = !first.is_current();
                let second = Generation::now();
                let known = second.is_current() && second != first && !first.is_current();
                let child = sys::fork(how).expect("processes can be made");
                if child == 0 {
                    let third = Generation::now();
                    let known = third.is_current() && ![first, second].contains(&third);
                    sys::exit(i32::from(!known || first.is_current() || second.is_current()));
                }
                sys::wait_for_success(child);
                sys::exit(i32::from(!unknown || !known || !second.is_current()));
            }
            sys::wait_for_success(child);
            assert!(first.is_current() && Generation::now() == first);
        }
    };
    // Before anything is mapped: where the kernel refuses, the process's id tells.
    let child = sys::fork(Fork::Library).expect("processes can be made");
    if child == 0 {
        match seccomp::install(&[Rule::no_wipe_on_fork()]) {
            Ok(()) => check(),
            Err(error) => skipped("fork::processes_are_told_apart", &format!("seccomp: {error}")),
        }
        sys::exit(0);
    }
    sys::wait_for_success(child);
    check();
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
