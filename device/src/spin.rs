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

/// How long to look before sleeping: as long as was set while looking helps, and less and less
/// while it does not, down to nothing. After a number of sleeps it is tried again.
#[derive(Debug)]
pub(crate) struct Spin {
    longest: Duration,
    now: Duration,
    /// How often it has slept without looking first.
    sleeps: u32,
}

/// After how many sleeps looking is tried again.
const AGAIN: u32 = 16;

/// For how long to look, unless something else is set. To be woken on another processor takes half
/// of it: otherwise, after one late answer, both sides would sleep at every request.
pub(crate) const USUAL: Duration = Duration::from_micros(100);

impl Spin {
    pub(crate) fn new(longest: Duration) -> Self {
        Self { longest, now: longest, sleeps: 0 }
    }

    /// Looks for a while; true if something was found. Where the other side needs the processor
    /// that it looks on, it gives way between two looks, which costs less than to sleep and be
    /// woken.
    #[inline]
    pub(crate) fn finds(&mut self, same_processor: bool, mut found: impl FnMut() -> bool) -> bool {
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
            return self.finds_giving_way(found);
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
            // The clock is not read for what comes at once.
            if begun.get_or_insert_with(Instant::now).elapsed() >= self.now {
                break;
            }
        }
        self.looks_less();
        false
    }

    fn finds_giving_way(&mut self, mut found: impl FnMut() -> bool) -> bool {
        let begun = Instant::now();
        loop {
            sched_yield();
            let (is_found, took) = (found(), begun.elapsed());
            match is_found {
                true if took <= self.longest => self.now = self.longest,
                // Others want the processor, too. Who is woken has it sooner than who gives way.
                true => self.looks_less(),
                false if took < self.now => continue,
                false => self.looks_less(),
            }
            return is_found;
        }
    }

    fn looks_less(&mut self) {
        // Halved five times it is given up.
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
            assert!(!spin.finds(false, || false));
            vain += 1;
        }
        assert!((5..=7).contains(&vain), "{vain} times");
        // It sleeps without looking, until it is time to try again.
        for _ in 1..AGAIN {
            assert!(!spin.finds(false, || unreachable!("it does not look")));
        }
        assert!(spin.finds(false, || true));
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
        assert!(spin.finds(true, third));
        assert_eq!(looks, 3);
        // What is found too late counts as if nothing was found.
        let mut spin = Spin::new(Duration::from_nanos(1));
        while !spin.now.is_zero() {
            assert!(spin.finds(true, || true));
        }
        assert!(!spin.finds(true, || unreachable!("it does not look")));
        for same in [false, true] {
            let mut never = Spin::new(Duration::ZERO);
            assert!(!never.finds(same, || unreachable!("it does not look")));
        }
    }
}
