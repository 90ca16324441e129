//! Signatures in asynchronous jobs, which are made together.

use core::cell::RefCell;

use crate::evp::{Context, Jobs, Key, Padding, Step};
use crate::{everywhere_with_rsa, everywhere_with_rsa_alone};

const PADDING: Padding<'_> =
    Padding { hash: Some("SHA256"), mode: "pss", salt: Some(-1), mask: None };

/// The message of a job.
fn message(number: usize) -> Vec<u8> {
    vec![u8::try_from(number).expect("few jobs"); number]
}

/// Jobs that sign so many messages with keys in turn, and where they put the signatures.
fn signers<'s>(
    context: &Context,
    keys: &'s [Key<'_>],
    count: usize,
    made: &'s RefCell<Vec<Option<Vec<u8>>>>,
) -> Jobs<'s> {
    made.replace(vec![None; count]);
    let mut jobs = Jobs::new(context.crypto);
    for number in 0..count {
        let key = &keys[number % keys.len()];
        jobs.add(move || {
            let begun = key.message("lanecrypt", PADDING, true).update(&message(number));
            let signature = begun.sign();
            made.borrow_mut()[number] = signature;
        });
    }
    jobs
}

/// All signatures are those of their messages, as the default provider says.
fn check(keys: &[Key<'_>], made: &RefCell<Vec<Option<Vec<u8>>>>) {
    for (number, made) in made.borrow().iter().enumerate() {
        let made = made.as_ref().unwrap_or_else(|| panic!("signature {number} is lost"));
        let key = &keys[number % keys.len()];
        let begun = key.message("default", PADDING, false).update(&message(number));
        assert!(begun.verify(made), "signature {number}");
    }
}

fn counted(context: &Context) -> [u64; 2] {
    [c"lanecrypt-signatures", c"lanecrypt-together"].map(|name| context.counter(name))
}

#[test]
fn jobs_sign_together() {
    everywhere_with_rsa_alone(|context| {
        let [two, three] = [2048, 3072].map(|bits| context.shared_key(bits));
        let keys = [two, three, context.new_key("default", 2048)];
        let made = RefCell::default();
        for count in [1, 2, 8, 31, 32, 33, 70] {
            let before = counted(context);
            let mut jobs = signers(context, &keys, count, &made);
            for number in 0..count {
                assert_eq!(jobs.step(number), Step::Paused);
                assert!(jobs.is_woken(number));
            }
            // In another order than that in which they have begun.
            for number in (0..count).rev() {
                assert_eq!(jobs.step(number), Step::Finished);
                assert!(!jobs.is_woken(number));
            }
            check(&keys, &made);
            let after = counted(context);
            let alone = u64::from(count == 1 || count == 33);
            assert_eq!(after[0] - before[0], count as u64);
            assert_eq!(after[1] - before[1], count as u64 - alone, "{count} jobs");
        }
    });
}

/// Jobs that are never resumed, because their clients have gone, take nothing from others.
#[test]
fn jobs_that_are_given_up() {
    everywhere_with_rsa_alone(|context| {
        let made = RefCell::default();
        let keys = [context.shared_key(2048)];
        {
            // A key that has gone when the others are resumed.
            let gone = [context.new_key("default", 2048)];
            let (lost, before) = (RefCell::default(), counted(context));
            let mut jobs = signers(context, &keys, 8, &made);
            let mut others = signers(context, &gone, 4, &lost);
            for number in 0..8 {
                assert_eq!(jobs.step(number), Step::Paused);
                if number < 4 {
                    assert_eq!(others.step(number), Step::Paused);
                }
            }
            for number in 0..4 {
                others.abandon(number);
            }
            drop(others);
            drop(gone);
            for number in 0..8 {
                assert_eq!(jobs.step(number), Step::Finished);
            }
            check(&keys, &made);
            assert_eq!(counted(context)[0] - before[0], 8, "nobody waits for the others");
        }
        let mut jobs = signers(context, &keys, 3, &made);
        for step in [Step::Paused, Step::Finished] {
            for number in 0..3 {
                assert_eq!(jobs.step(number), step);
            }
        }
        check(&keys, &made);
    });
}

/// Each thread has a queue, and a thread may end when its jobs have.
#[test]
fn threads_have_queues_of_their_own() {
    everywhere_with_rsa(|context| {
        let keys = [context.shared_key(2048)];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let made = RefCell::default();
                    for _ in 0..3 {
                        let mut jobs = signers(context, &keys, 5, &made);
                        for step in [Step::Paused, Step::Finished] {
                            for number in 0..5 {
                                assert_eq!(jobs.step(number), step);
                            }
                        }
                        drop(jobs);
                        check(&keys, &made);
                    }
                    context.leave();
                });
            }
        });
    });
}

/// A process that forks while jobs wait: both sides get all signatures.
#[test]
fn a_fork_while_jobs_wait() {
    everywhere_with_rsa_alone(|context| {
        let keys = [context.shared_key(2048)];
        let made = RefCell::default();
        let mut jobs = signers(context, &keys, 4, &made);
        for number in 0..4 {
            assert_eq!(jobs.step(number), Step::Paused);
        }
        // SAFETY: the child only continues with what this thread has, and ends.
        let child = unsafe { libc::fork() };
        let good = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            if child != 0 {
                let mut status = 1;
                // SAFETY: a child, and a place for how it ended.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
                assert_eq!(status, 0, "the child");
                // It has not taken what wakes its parent.
                assert!((0..4).all(|number| jobs.is_woken(number)));
            }
            for number in 0..4 {
                assert_eq!(jobs.step(number), Step::Finished);
            }
            check(&keys, &made);
        }));
        if child == 0 {
            // SAFETY: nothing of the parent's is run.
            unsafe { libc::_exit(good.is_err().into()) };
        }
        good.expect("the parent");
    });
}
