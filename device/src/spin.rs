//! Adaptive spinning before a sleep.
//!
//! After an unsuccessful spin the next one is shorter, down to none; it is tried again after some
//! sleeps. Where both sides share a processor, they yield to each other between two looks. A
//! success after the time limit counts as a failure: other threads need the processor, and a thread
//! that is woken gets it sooner than one that yields.

use core::hint::spin_loop;
use core::time::Duration;
use std::time::Instant;

use rustix::thread::sched_yield;

/// The time to spin before sleeping: the configured time while spins succeed, halved after each
/// unsuccessful one, down to zero. After a number of sleeps it is tried again.
#[derive(Debug)]
pub(crate) struct Spin {
    longest: Duration,
    now: Duration,
    /// The number of sleeps without spinning.
    sleeps: u32,
}

/// The number of sleeps after which spinning is tried again.
const AGAIN: u32 = 16;

/// The default time to spin. A wake-up on another processor takes half of it: with less, both sides
/// would sleep at every request after one late answer.
pub(crate) const USUAL: Duration = Duration::from_micros(100);

impl Spin {
    pub(crate) fn new(longest: Duration) -> Self {
        Self { longest, now: longest, sleeps: 0 }
    }

    /// Spins until `found` succeeds, or until sleeping would cost less; true if it succeeded. If the
    /// other side runs on the same processor, it yields between two checks, which costs less than
    /// sleeping and being woken.
    #[inline]
    pub(crate) fn wait_for(
        &mut self,
        same_processor: bool,
        mut found: impl FnMut() -> bool,
    ) -> bool {
        if self.longest.is_zero() {
            return false;
        }
        if self.now.is_zero() {
            self.sleeps += 1;
            if self.sleeps < AGAIN {
                return false;
            }
            (self.sleeps, self.now) = (0, self.longest / 2);
        }
        if same_processor {
            return self.wait_yielding(found);
        }
        let mut begun = None;
        loop {
            for _ in 0..32 {
                if found() {
                    self.now = self.longest;
                    return true;
                }
                spin_loop();
            }
            // The clock is not read if the first check succeeds.
            if begun.get_or_insert_with(Instant::now).elapsed() >= self.now {
                break;
            }
        }
        self.shorten();
        false
    }

    fn wait_yielding(&mut self, mut found: impl FnMut() -> bool) -> bool {
        let begun = Instant::now();
        loop {
            sched_yield();
            let (is_found, took) = (found(), begun.elapsed());
            match is_found {
                true if took <= self.longest => self.now = self.longest,
                // The processor is contended: a woken thread runs sooner than one that yields.
                true => self.shorten(),
                false if took < self.now => continue,
                false => self.shorten(),
            }
            return is_found;
        }
    }

    fn shorten(&mut self) {
        // After five halvings it is zero.
        self.now = if self.now <= self.longest / 32 { Duration::ZERO } else { self.now / 2 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_in_vain_is_given_up_and_tried_again() {
        let mut spin = Spin::new(Duration::from_nanos(640));
        let mut vain = 0;
        while !spin.now.is_zero() {
            assert!(!spin.wait_for(false, || false));
            vain += 1;
        }
        assert!((5..=7).contains(&vain), "{vain} times");
        // It sleeps without looking, until it is time to try again.
        for _ in 1..AGAIN {
            assert!(!spin.wait_for(false, || unreachable!("it does not look")));
        }
        assert!(spin.wait_for(false, || true));
        assert_eq!(spin.now, spin.longest);
    }

    #[test]
    fn who_gives_way_finds_or_gives_up() {
        let mut spin = Spin::new(Duration::MAX);
        let mut looks = 0;
        let third = || {
            looks += 1;
            looks == 3
        };
        assert!(spin.wait_for(true, third));
        assert_eq!(looks, 3);
        // A late hit counts as a miss.
        let mut spin = Spin::new(Duration::from_nanos(1));
        while !spin.now.is_zero() {
            assert!(spin.wait_for(true, || true));
        }
        assert!(!spin.wait_for(true, || unreachable!("it does not look")));
        for same in [false, true] {
            let mut never = Spin::new(Duration::ZERO);
            assert!(!never.wait_for(same, || unreachable!("it does not look")));
        }
    }
}
