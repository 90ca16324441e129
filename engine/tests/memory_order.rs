//! What the threads of queues and measurements share, in any order of what they do on a machine
//! that orders memory weakly.
//!
//! It takes the sources with the atomic types of `loom`, which tries all orders:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p lanecrypt-engine --test memory_order
//! ```

#![cfg(loom)]

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering, fence};

    pub(crate) use super::once_lock::OnceLock;
}

/// The type's ranges of lengths. Here a number is enough.
type AtDepths = usize;

#[path = "../src/queue/closed.rs"]
mod closed;
#[path = "../src/lanes/measured/kind.rs"]
mod kind;
mod once_lock {
    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicBool, Ordering};

    /// The promise of `std`: who finds the value sees all of it.
    #[derive(Debug, Default)]
    pub(crate) struct OnceLock<T> {
        is_set: AtomicBool,
        value: UnsafeCell<Option<T>>,
    }

    // SAFETY: the flag separates the accesses.
    unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

    impl<T> OnceLock<T> {
        pub(crate) fn get(&self) -> Option<&T> {
            let is_set = self.is_set.load(Ordering::Acquire);
            // SAFETY: it is never written after the flag was set.
            is_set.then(|| self.value.with(|value| unsafe { (*value).as_ref() }))?
        }

        /// Sets the value; here only one thread does.
        pub(crate) fn set(&self, new: T) -> Result<(), T> {
            // SAFETY: nobody reads it before the flag is set.
            self.value.with_mut(|value| unsafe { *value = Some(new) });
            self.is_set.store(true, Ordering::Release);
            Ok(())
        }
    }
}
#[path = "../src/queue/wakeup.rs"]
mod wakeup;

use closed::Closed;
use kind::{Changes, Measured};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use wakeup::Wakeup;

/// All orders with up to three preemptions.
fn model(run: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(run);
}

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

/// Takes items until the queue is closed, as the worker does, and returns their number.
fn work(wakeup: &Wakeup, ring: &Ring, closed: &Closed) -> usize {
    let mut taken = 0;
    loop {
        let is_closed = closed.is_set();
        match ring.count() - taken {
            0 if is_closed => return taken,
            0 => {
                if wakeup.falls_asleep(|| ring.count() > taken || closed.is_set()) {
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
fn no_wake_up_and_no_message_is_lost() {
    for pushes in 0..=2 {
        model(move || {
            let shared = Arc::new((Wakeup::new(), Ring(AtomicUsize::new(0)), Closed::new()));
            let worker = thread::spawn({
                let shared = shared.clone();
                move || work(&shared.0, &shared.1, &shared.2)
            });
            let (wakeup, ring, closed) = &*shared;
            let wake = || {
                if wakeup.is_due() {
                    worker.thread().unpark();
                }
            };
            for left in (0..pushes).rev() {
                ring.push();
                // A queue of several threads may be closed between the two.
                if left > 0 {
                    wake();
                }
            }
            closed.set();
            wake();
            assert_eq!(worker.join().expect("it only counts"), pushes);
        });
    }
}

/// Two workers wake one client; each publishes in a ring of its own.
#[test]
fn two_may_ring() {
    model(|| {
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

/// As a batch buffer keeps them: the number of changes first, then the ranges.
#[test]
fn who_sees_a_change_finds_the_ranges() {
    model(|| {
        let shared = Arc::new((Changes::default(), [(); 2].map(|()| Measured::default())));
        let measure = |at: usize| {
            let shared = shared.clone();
            thread::spawn(move || shared.1[at].set(7, &shared.0))
        };
        let measuring = [0, 1].map(measure);
        let (changes, kinds) = &*shared;
        let seen = changes.get();
        let found = kinds.iter().filter(|kind| kind.lengths() == Some(&7)).count();
        assert!(found >= seen, "the others would never be looked up");
        for thread in measuring {
            thread.join().expect("it only writes");
        }
    });
}

#[test]
fn one_thread_measures() {
    model(|| {
        let kind = Arc::new(Measured::default());
        let threads = [(); 2].map(|()| {
            let kind = kind.clone();
            thread::spawn(move || kind.is_second_session())
        });
        let begun = kind.begin();
        let counted = threads.map(|thread| thread.join().expect("it only counts"));
        assert_eq!(usize::from(begun) + counted.iter().filter(|it| **it).count(), 1);
        assert!(!kind.begin() && !kind.is_second_session());
    });
    model(|| {
        let kind = Arc::new(Measured::default());
        let other = thread::spawn({
            let kind = kind.clone();
            move || kind.is_second_session()
        });
        let counted = [kind.is_second_session(), other.join().expect("it only counts")];
        assert_ne!(counted[0], counted[1], "one of two is the second");
    });
}
