//! No wake-up of a sleeper is lost, in any order of what its threads do.
//!
//! It takes the source of the wake-up with the atomic types of `loom`, which tries all orders:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p lanecrypt-engine --test queue_loom
//! ```

#![cfg(loom)]

mod sync {
    pub(super) use loom::sync::atomic::{AtomicBool, Ordering, fence};
}

#[path = "../src/queue/wakeup.rs"]
mod wakeup;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use wakeup::Wakeup;

/// A ring in which only its count matters, published and read as the ring's end is.
struct Ring(AtomicUsize);

impl Ring {
    fn push(&self) {
        // Release and acquire, as in `rtrb`.
        self.0.store(self.count() + 1, Ordering::Release);
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

/// Takes `total` items, as the worker does.
fn sleeper(wakeup: &Wakeup, ring: &Ring, total: usize) {
    let mut taken = 0;
    while taken < total {
        match ring.count() - taken {
            0 => {
                if wakeup.falls_asleep(|| ring.count() > taken) {
                    thread::park();
                    wakeup.wakes_up();
                }
            }
            found => taken += found,
        }
    }
}

/// A lost wake-up is a sleeper that nobody wakes, which loom reports as a deadlock.
#[test]
fn no_wake_up_is_lost() {
    for pushes in 1..=3 {
        loom::model(move || {
            let (wakeup, ring) = (Arc::new(Wakeup::new()), Arc::new(Ring(AtomicUsize::new(0))));
            let worker = thread::spawn({
                let (wakeup, ring) = (wakeup.clone(), ring.clone());
                move || sleeper(&wakeup, &ring, pushes)
            });
            for _ in 0..pushes {
                ring.push();
                if wakeup.is_due() {
                    worker.thread().unpark();
                }
            }
            worker.join().expect("it only counts");
        });
    }
}

/// Two workers wake one client; each publishes in a ring of its own.
#[test]
fn two_may_ring() {
    loom::model(|| {
        let wakeup = Arc::new(Wakeup::new());
        let rings = [(); 2].map(|()| Arc::new(Ring(AtomicUsize::new(0))));
        let client = thread::current();
        let workers = [0, 1].map(|at| {
            let (wakeup, ring, client) = (wakeup.clone(), rings[at].clone(), client.clone());
            thread::spawn(move || {
                ring.push();
                if wakeup.is_due() {
                    client.unpark();
                }
            })
        });
        let count = || rings.iter().map(|ring| ring.count()).sum::<usize>();
        let mut taken = 0;
        while taken < 2 {
            match count() - taken {
                0 => {
                    if !wakeup.is_asleep() && wakeup.falls_asleep(|| count() > taken) {
                        thread::park();
                        wakeup.wakes_up();
                    }
                }
                found => taken += found,
            }
        }
        for worker in workers {
            worker.join().expect("it only counts");
        }
    });
}
