//! Client and daemon, in any order of what both do on a machine that orders memory weakly: no
//! wake-up is lost, and no place of a ring is read or overwritten too early.
//!
//! It takes the sources of the counts and of the wake-up with the atomic types of `loom`, which
//! tries all orders:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p lanecrypt-device --test memory_order
//! ```

#![cfg(loom)]

mod sync {
    pub(super) use loom::sync::atomic::{AtomicU32, Ordering, fence};
}

#[path = "../src/shared/count.rs"]
mod count;
#[path = "../src/shared/wakeup.rs"]
mod wakeup;

use count::Count;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use wakeup::{Wakeup, settle};

/// Two places, so that the third request overwrites the first. `loom` reports two accesses of
/// which neither is known to come first.
struct Ring([UnsafeCell<u32>; 2]);

// SAFETY: `loom` checks that the counts separate the accesses.
unsafe impl Sync for Ring {}

impl Ring {
    fn new() -> Self {
        Self([(); 2].map(|()| UnsafeCell::new(0)))
    }

    fn read(&self, number: u32) -> u32 {
        // SAFETY: it is valid, and `loom` checks that nobody writes to it.
        self.0[number as usize % 2].with(|place| unsafe { place.read() })
    }

    fn write(&self, number: u32, value: u32) {
        // SAFETY: it is valid, and `loom` checks that nobody uses it.
        self.0[number as usize % 2].with_mut(|place| unsafe { place.write(value) });
    }
}

/// The shared memory.
struct Shared {
    submitted: AtomicU32,
    completed: AtomicU32,
    daemon_asleep: AtomicU32,
    client_asleep: AtomicU32,
    submissions: Ring,
    completions: Ring,
}

impl Shared {
    fn new() -> Self {
        let [submitted, completed, daemon_asleep, client_asleep] =
            [(); 4].map(|()| AtomicU32::new(0));
        let [submissions, completions] = [(); 2].map(|()| Ring::new());
        Self { submitted, completed, daemon_asleep, client_asleep, submissions, completions }
    }

    fn submitted(&self) -> Count<'_> {
        Count::new(&self.submitted)
    }

    fn completed(&self) -> Count<'_> {
        Count::new(&self.completed)
    }

    /// The daemon: answers `total` requests.
    fn serve(&self, total: u32, client: &thread::Thread) {
        let mut taken = 0;
        while taken < total {
            let submitted = self.submitted().get();
            if submitted == taken {
                let wakeup = Wakeup::new(&self.daemon_asleep);
                wakeup.falls_asleep();
                settle();
                if self.submitted().get() == taken {
                    // A doorbell that rang before is still heard, as with a descriptor.
                    thread::park();
                }
                wakeup.wakes_up();
                continue;
            }
            while taken < submitted {
                self.completions.write(taken, self.submissions.read(taken) * 10);
                taken += 1;
                // A part: nobody is woken yet.
                self.completed().publish(taken);
            }
            settle();
            if Wakeup::new(&self.client_asleep).is_due() {
                client.unpark();
            }
        }
    }

    /// The client: makes requests and waits for the answers.
    fn ask(&self, batches: &[u32], daemon: &thread::Thread) {
        let (mut made, mut read) = (0, 0);
        for batch in batches {
            for _ in 0..*batch {
                self.submissions.write(made, made + 1);
                made += 1;
                self.submitted().publish(made);
            }
            settle();
            if Wakeup::new(&self.daemon_asleep).is_due() {
                daemon.unpark();
            }
            while read != made {
                if self.completed().get() != read {
                    read += 1;
                    assert_eq!(self.completions.read(read - 1), read * 10);
                    continue;
                }
                let wakeup = Wakeup::new(&self.client_asleep);
                wakeup.falls_asleep();
                settle();
                if self.completed().get() == read {
                    // The kernel compares the word, and sleeps or does not: whoever wakes has
                    // changed the word before, and is heard even if that was not seen yet.
                    if wakeup.word().load(Ordering::Relaxed) == Wakeup::ASLEEP {
                        thread::park();
                    }
                }
                wakeup.wakes_up();
            }
        }
    }
}

/// A lost wake-up is a thread that nobody wakes, which loom reports as a deadlock.
fn check(batches: &'static [u32]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let shared = Arc::new(Shared::new());
        let daemon = thread::spawn({
            let (shared, total) = (shared.clone(), batches.iter().sum());
            let client = thread::current();
            move || shared.serve(total, &client)
        });
        shared.ask(batches, daemon.thread());
        daemon.join().expect("it only counts");
    });
}

#[test]
fn one_at_a_time() {
    check(&[1]);
    check(&[1, 1]);
}

#[test]
fn batches() {
    check(&[2]);
    check(&[2, 1]);
}

/// The thread of an asynchronous client sleeps at the same wake-up. Closing the client wakes it,
/// and so does the daemon.
#[test]
fn closing_ends_a_nap() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let shared = Arc::new(Shared::new());
        let is_closed = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let waiter = thread::spawn({
            let (shared, is_closed) = (shared.clone(), is_closed.clone());
            move || {
                let mut read = 0;
                while !is_closed.load(Ordering::Relaxed) {
                    read = shared.completed().get();
                    let wakeup = Wakeup::new(&shared.client_asleep);
                    wakeup.falls_asleep();
                    settle();
                    if shared.completed().get() == read
                        && !is_closed.load(Ordering::Relaxed)
                        && wakeup.word().load(Ordering::Relaxed) == Wakeup::ASLEEP
                    {
                        thread::park();
                    }
                    wakeup.wakes_up();
                }
                read
            }
        });
        let daemon = thread::spawn({
            let (shared, waiter) = (shared.clone(), waiter.thread().clone());
            move || {
                shared.completed().publish(1);
                settle();
                if Wakeup::new(&shared.client_asleep).is_due() {
                    waiter.unpark();
                }
            }
        });
        is_closed.store(true, Ordering::Relaxed);
        settle();
        if Wakeup::new(&shared.client_asleep).is_due() {
            waiter.thread().unpark();
        }
        daemon.join().expect("it only counts");
        waiter.join().expect("it only looks");
    });
}
