//! Pools of closures.

use core::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use lanecrypt_fibers::{Current, Pool, wait};

thread_local! {
    static CURRENT: Current<u64> = const { Current::new() };
    static OTHER: Current<u64> = const { Current::new() };
}

/// Whether closures are collected here.
const COLLECTS: bool = Pool::<u64>::AT_ONCE > 1;

fn square(number: u64) -> u64 {
    wait(&CURRENT, number).unwrap_or_else(|number| number * number)
}

fn squares(jobs: &mut [u64]) {
    jobs.iter_mut().for_each(|job| *job *= *job);
}

fn message(panic: Box<dyn core::any::Any + Send>) -> String {
    panic.downcast_ref::<&str>().map_or_else(
        || panic.downcast_ref::<String>().expect("a message").clone(),
        |message| (*message).to_owned(),
    )
}

#[test]
fn results_are_in_order_and_jobs_in_batches() {
    let mut pool = Pool::new(&CURRENT);
    for count in [0, 1, 2, 7, 64, 65, 200] {
        let mut batches = Vec::new();
        // Closure `i` waits `i % 4` times.
        let closures = (0..count).map(|i| move || (0..i % 4).fold(i, |sum, _| sum + square(i)));
        let results = pool.run(closures, |jobs| {
            batches.push(jobs.len());
            squares(jobs);
        });
        let expected: Vec<_> = (0..count).map(|i| i + (i % 4) * i * i).collect();
        assert_eq!(results, expected);
        if COLLECTS && count == 7 {
            // The second waits once, the third twice, and so on.
            assert_eq!(batches, [5, 3, 1]);
        }
        if count == 1 {
            assert!(batches.is_empty(), "alone, nothing waits");
        }
    }
}

#[test]
fn closures_borrow_and_change() {
    let mut numbers = [1, 2, 3, 4];
    let label = String::from("not Send");
    let seen = Rc::new(RefCell::new(Vec::new()));
    let closures = numbers.iter_mut().map(|number| {
        let (seen, label) = (seen.clone(), &label);
        move || {
            *number = square(*number);
            seen.borrow_mut().push(label.len());
        }
    });
    Pool::new(&CURRENT).run(closures, squares);
    assert_eq!(numbers, [1, 4, 9, 16]);
    assert_eq!((seen.borrow().len(), Rc::strong_count(&seen)), (4, 1));
}

/// Counts how many are dropped.
struct Counted<'a>(&'a Cell<u32>);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
        // Outside of the pool, or while a panic unwinds.
        assert_eq!(square(3), 9);
    }
}

#[test]
fn the_first_panic_comes_after_all_others_are_done() {
    let mut pool = Pool::new(&CURRENT);
    let (dropped, done) = (Cell::new(0), Cell::new(0));
    for _ in 0..3 {
        dropped.set(0);
        done.set(0);
        let closures = (0..7_u64).map(|i| {
            let (dropped, done) = (&dropped, &done);
            move || {
                let _counted = Counted(dropped);
                assert!(i != 5, "before it waited");
                let result = square(i);
                assert!(i != 2, "after it waited");
                done.set(done.get() + 1);
                result + square(i)
            }
        });
        let outcome = catch_unwind(AssertUnwindSafe(|| pool.run(closures, squares)));
        let first = if COLLECTS { "before it waited" } else { "after it waited" };
        if COLLECTS {
            assert_eq!(message(outcome.expect_err("two closures panic")), first);
            assert_eq!((dropped.get(), done.get()), (7, 5));
        }
        // The pool is as good as new.
        assert_eq!(pool.run((2..5).map(|i| move || square(i)), squares), [4, 9, 16]);
        assert_eq!(square(5), 25);
    }
}

#[test]
fn a_panic_of_the_processing_unwinds_all() {
    if !COLLECTS {
        return;
    }
    let mut pool = Pool::new(&CURRENT);
    let (dropped, after) = (Cell::new(0), Cell::new(0));
    let closures = (0..7).map(|i| {
        let (dropped, after) = (&dropped, &after);
        move || {
            let _counted = Counted(dropped);
            square(i);
            after.set(after.get() + 1);
        }
    });
    let panics = |_: &mut [u64]| panic!("no batch");
    let outcome = catch_unwind(AssertUnwindSafe(|| pool.run(closures, panics)));
    assert_eq!(message(outcome.expect_err("it panics")), "no batch");
    assert_eq!((dropped.get(), after.get()), (7, 0));
    assert_eq!(pool.run((2..5).map(|i| move || square(i)), squares), [4, 9, 16]);
}

#[test]
fn pools_within_pools() {
    let (outer, inner) = (Cell::new(0), Cell::new(0));
    let counted = |count: &Cell<usize>, jobs: &mut [u64]| {
        count.set(count.get() + jobs.len());
        squares(jobs);
    };
    let closures = (0..4).map(|i| {
        let inner = &inner;
        move || {
            let before = square(i);
            let within = (0..3).map(|k| move || square(k));
            let sum: u64 =
                Pool::new(&CURRENT).run(within, |jobs| counted(inner, jobs)).iter().sum();
            // Alone in a pool within a pool: part of the outer one.
            let alone = Pool::new(&CURRENT).run([|| square(2)], |jobs| counted(inner, jobs));
            before + sum + alone[0] + square(i)
        }
    });
    let results = Pool::new(&CURRENT).run(closures, |jobs| counted(&outer, jobs));
    assert_eq!(results, [9, 11, 17, 27]);
    if COLLECTS {
        assert_eq!((outer.get(), inner.get()), (12, 12));
    }
}

#[test]
fn pools_of_different_jobs_do_not_mix() {
    let cube = |number| wait(&OTHER, number).unwrap_or_else(|number| number * number * number);
    let closures = (0..4).map(|i| move || square(i) + cube(i));
    assert_eq!(Pool::new(&CURRENT).run(closures, squares), [0, 2, 12, 36]);
}

#[cfg(all(target_arch = "x86_64", unix, not(miri)))]
mod other_stacks {
    use corosensei::{Coroutine, CoroutineResult};

    use super::*;

    /// A closure that has a stack of its own within the pool's.
    #[test]
    fn are_not_the_pools() {
        let closures = (2..5).map(|i| {
            move || {
                let mut other = Coroutine::new(move |yielder, ()| {
                    yielder.suspend(square(i));
                    square(i + 1)
                });
                let CoroutineResult::Yield(first) = other.resume(()) else { panic!("it yields") };
                let CoroutineResult::Return(last) = other.resume(()) else { panic!("it returns") };
                first + last + square(i)
            }
        });
        let mut batches = Vec::new();
        let results = Pool::new(&CURRENT).run(closures, |jobs| {
            batches.push(jobs.len());
            squares(jobs);
        });
        assert_eq!(results, [4 + 9 + 4, 9 + 16 + 9, 16 + 25 + 16]);
        assert_eq!(batches, [3]);
    }

    /// A stack that calls a pool, is left in the middle of a closure, and continues elsewhere.
    #[test]
    fn may_be_left_within_a_pool() {
        let mut caller = Coroutine::new(|yielder, ()| {
            let closures = (2..5).map(|i| {
                move || {
                    yielder.suspend(i);
                    square(i)
                }
            });
            Pool::new(&CURRENT).run(closures, squares).iter().sum::<u64>()
        });
        for i in 2..5 {
            assert_eq!(caller.resume(()), CoroutineResult::Yield(i));
            assert_eq!(square(7), 49, "here is no pool");
            let results = Pool::new(&CURRENT).run([3, 4].map(|n| move || square(n)), squares);
            assert_eq!(results, [9, 16]);
        }
        assert_eq!(caller.resume(()), CoroutineResult::Return(29));

        // The same, left forever.
        let mut caller = Coroutine::new(|yielder, ()| {
            let closures = (2..5).map(|i| {
                move || {
                    let _counted = Counted(&Cell::new(0));
                    yielder.suspend(i);
                    square(i)
                }
            });
            Pool::new(&CURRENT).run(closures, squares);
        });
        assert_eq!(caller.resume(()), CoroutineResult::Yield(2));
        drop(caller);
        assert_eq!(square(7), 49);
    }
}

#[test]
fn threads_have_pools_of_their_own() {
    let closures = (0..3).map(|i| {
        move || {
            let elsewhere = std::thread::spawn(move || square(i)).join().expect("no panic");
            elsewhere + square(i)
        }
    });
    assert_eq!(Pool::new(&CURRENT).run(closures, squares), [0, 2, 8]);
}
