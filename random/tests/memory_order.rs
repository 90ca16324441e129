//! What threads publish and lock, in any order of what they do on a machine that orders memory
//! weakly.
//!
//! It takes the sources with the atomic types of `loom`, which tries all orders:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test --release -p lanecrypt-random --test memory_order
//! ```

#![cfg(loom)]

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering};
}

#[path = "../src/linux/lock_word.rs"]
mod lock_word;
#[path = "../src/linux/published.rs"]
mod published;

use core::ptr::null_mut;

use lock_word::LockWord;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use loom::thread;
use published::{Published, PublishedSlice};

/// All orders with up to three preemptions.
fn model(run: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(run);
}

/// A value without atomics. `loom` reports two accesses of which neither is known to come first.
#[derive(Default)]
struct Plain(UnsafeCell<usize>);

// SAFETY: `loom` checks that no two threads use it at once.
unsafe impl Sync for Plain {}

impl Plain {
    fn get(&self) -> usize {
        // SAFETY: it is valid, and `loom` checks that nobody writes to it.
        self.0.with(|value| unsafe { value.read() })
    }

    fn set(&self, value: usize) {
        // SAFETY: it is valid, and `loom` checks that nobody uses it.
        self.0.with_mut(|place| unsafe { place.write(value) });
    }
}

/// Values for ever, as a mapping is, set to their number.
fn map(count: usize) -> *mut Plain {
    let values: Vec<_> = (0..count).map(|_| Plain::default()).collect();
    values.iter().for_each(|value| value.set(count));
    values.leak().as_mut_ptr()
}

fn null<T>() -> Published<T> {
    Published(AtomicPtr::new(null_mut()))
}

/// Runs it in three threads at once, and returns the results.
fn race<T: 'static>(run: impl Fn(usize) -> T + Clone + 'static) -> [T; 3] {
    let others = [1, 2].map(|number| {
        let run = run.clone();
        thread::spawn(move || run(number))
    });
    let first = run(0);
    let [second, third] = others.map(|thread| thread.join().expect("it only looks"));
    [first, second, third]
}

#[test]
fn what_is_published_is_whole_and_the_same_for_all() {
    model(|| {
        // A pointer, and a number that is set before, as the size of the states in the vDSO.
        let shared = Arc::new((null::<Plain>(), AtomicUsize::new(0)));
        let addresses = race(move |_| {
            let (published, size) = &*shared;
            let mut found = published.get();
            if found.is_null() {
                size.store(1, Ordering::Relaxed);
                found = published.publish(map(1)).unwrap_or_else(|first| first);
            }
            // SAFETY: it is never freed.
            assert_eq!(unsafe { &*found }.get(), 1);
            assert_eq!(size.load(Ordering::Relaxed), 1);
            found.addr()
        });
        assert_eq!(addresses, [addresses[0]; 3]);
    });
}

#[test]
fn a_published_slice_has_its_length() {
    model(|| {
        let slice = PublishedSlice { first: null(), length: AtomicUsize::new(0) };
        let slice = Arc::new(slice);
        let lengths = race(move |number| {
            // The first thread only looks.
            if number > 0 && slice.get().is_empty() {
                let length = slice.agree(number);
                // SAFETY: there are so many for ever.
                unsafe { slice.publish(map(length)) };
            }
            let found = slice.get();
            assert!(found.iter().all(|value| value.get() == found.len()));
            assert!(number == 0 || !found.is_empty());
            found.len()
        });
        assert!(lengths[1] == lengths[2] && [0, lengths[1]].contains(&lengths[0]));
    });
}

#[test]
fn one_thread_at_a_time_holds_the_lock() {
    model(|| {
        let shared = Arc::new((LockWord::default(), Plain::default()));
        let taken = race({
            let shared = shared.clone();
            move |_| {
                let (lock, value) = &*shared;
                let is_taken = lock.try_lock();
                if is_taken {
                    value.set(value.get() + 1);
                    lock.unlock();
                }
                is_taken
            }
        });
        assert!(shared.0.try_lock());
        assert_eq!(shared.1.get(), taken.iter().filter(|taken| **taken).count());
    });
}
