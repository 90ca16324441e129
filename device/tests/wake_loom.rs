//! No wake-up of a client or of the daemon is lost, in any order of what both do.
//!
//! It takes the source of the wake-up with the atomic types of `loom`, which tries all orders:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p lanecrypt-device --test wake_loom
//! ```

#![cfg(loom)]

mod sync {
    pub(super) use loom::sync::atomic::{AtomicU32, Ordering, fence};
}

#[path = "../src/shared/wakeup.rs"]
mod wakeup;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use wakeup::{Wakeup, settle};

/// The words of the shared memory.
struct Shared {
    submitted: AtomicU32,
    completed: AtomicU32,
    daemon_asleep: AtomicU32,
    client_asleep: AtomicU32,
}

impl Shared {
    fn new() -> Self {
        let [submitted, completed, daemon_asleep, client_asleep] =
            [(); 4].map(|()| AtomicU32::new(0));
        Self { submitted, completed, daemon_asleep, client_asleep }
    }

    /// The daemon: answers `total` requests.
    fn serve(&self, total: u32, client: &thread::Thread) {
        let mut taken = 0;
        while taken < total {
            let submitted = self.submitted.load(Ordering::Acquire);
            if submitted == taken {
                let wakeup = Wakeup::new(&self.daemon_asleep);
                wakeup.falls_asleep();
                settle();
                if self.submitted.load(Ordering::Acquire) == taken {
                    // A doorbell that rang before is still heard, as with a descriptor.
                    thread::park();
                }
                wakeup.wakes_up();
                continue;
            }
            while taken < submitted {
                taken += 1;
                // A part: nobody is woken yet.
                self.completed.store(taken, Ordering::Release);
            }
            settle();
            if Wakeup::new(&self.client_asleep).is_due() {
                client.unpark();
            }
        }
    }

    /// The client: makes requests and waits for the answers.
    fn ask(&self, batches: &[u32], daemon: &thread::Thread) {
        let mut made = 0;
        for batch in batches {
            for _ in 0..*batch {
                made += 1;
                self.submitted.store(made, Ordering::Release);
            }
            settle();
            if Wakeup::new(&self.daemon_asleep).is_due() {
                daemon.unpark();
            }
            while self.completed.load(Ordering::Acquire) != made {
                let wakeup = Wakeup::new(&self.client_asleep);
                wakeup.falls_asleep();
                settle();
                if self.completed.load(Ordering::Acquire) != made {
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
                    read = shared.completed.load(Ordering::Acquire);
                    let wakeup = Wakeup::new(&shared.client_asleep);
                    wakeup.falls_asleep();
                    settle();
                    if shared.completed.load(Ordering::Acquire) == read
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
                shared.completed.store(1, Ordering::Release);
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
