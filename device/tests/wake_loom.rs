//! No wake-up of a client or of the daemon is lost, in any order of what both do.
//!
//! It takes the source of the bell with the atomic types of `loom`, which tries all orders:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p lanecrypt-device --test wake_loom
//! ```

#![cfg(loom)]

mod sync {
    pub(super) use loom::sync::atomic::{AtomicU32, Ordering, fence};
}

#[path = "../src/shared/bell.rs"]
mod bell;

use bell::{Bell, settle};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

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
                let bell = Bell::new(&self.daemon_asleep);
                bell.falls_asleep();
                settle();
                if self.submitted.load(Ordering::Acquire) == taken {
                    // A doorbell that rang before is still heard, as with a descriptor.
                    thread::park();
                }
                bell.wakes_up();
                continue;
            }
            while taken < submitted {
                taken += 1;
                // A part: nobody is woken yet.
                self.completed.store(taken, Ordering::Release);
            }
            settle();
            if Bell::new(&self.client_asleep).is_to_ring() {
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
            if Bell::new(&self.daemon_asleep).is_to_ring() {
                daemon.unpark();
            }
            while self.completed.load(Ordering::Acquire) != made {
                let bell = Bell::new(&self.client_asleep);
                bell.falls_asleep();
                settle();
                if self.completed.load(Ordering::Acquire) != made {
                    // The kernel compares the word, and sleeps or does not: whoever wakes has changed
                    // the word before, and is heard even if that was not seen yet.
                    if bell.word().load(Ordering::Relaxed) == Bell::ASLEEP {
                        thread::park();
                    }
                }
                bell.wakes_up();
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

/// The thread of an asynchronous client naps at the same bell. Who closes the client wakes it, and so
/// does the daemon.
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
                    let bell = Bell::new(&shared.client_asleep);
                    bell.falls_asleep();
                    settle();
                    if shared.completed.load(Ordering::Acquire) == read
                        && !is_closed.load(Ordering::Relaxed)
                        && bell.word().load(Ordering::Relaxed) == Bell::ASLEEP
                    {
                        thread::park();
                    }
                    bell.wakes_up();
                }
                read
            }
        });
        let daemon = thread::spawn({
            let (shared, waiter) = (shared.clone(), waiter.thread().clone());
            move || {
                shared.completed.store(1, Ordering::Release);
                settle();
                if Bell::new(&shared.client_asleep).is_to_ring() {
                    waiter.unpark();
                }
            }
        });
        is_closed.store(true, Ordering::Relaxed);
        settle();
        if Bell::new(&shared.client_asleep).is_to_ring() {
            waiter.thread().unpark();
        }
        daemon.join().expect("it only counts");
        waiter.join().expect("it only looks");
    });
}
