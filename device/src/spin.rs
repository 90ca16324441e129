//! How long a side looks for something before it sleeps.

use core::hint::spin_loop;
use core::time::Duration;
use std::time::Instant;

/// How long to look before sleeping: as long as was set while looking helps, and less and less while
/// it does not, down to nothing. After a number of sleeps it is tried again.
#[derive(Debug)]
pub(crate) struct Spin {
    longest: Duration,
    now: Duration,
    /// How often it has slept without looking first.
    sleeps: u32,
}

/// After how many sleeps looking is tried again.
const AGAIN: u32 = 64;

impl Spin {
    pub(crate) fn new(longest: Duration) -> Self {
        Self { longest, now: longest, sleeps: 0 }
    }

    /// Looks for a while; true if something was found. It does not look where the other side needs
    /// the processor that it would look on.
    #[inline]
    pub(crate) fn finds(&mut self, same_processor: bool, mut found: impl FnMut() -> bool) -> bool {
        if same_processor || self.longest.is_zero() {
            return false;
        }
        if self.now.is_zero() {
            self.sleeps += 1;
            if self.sleeps < AGAIN {
                return false;
            }
            (self.sleeps, self.now) = (0, self.longest / 4);
        }
        let begun = Instant::now();
        loop {
            for _ in 0..32 {
                if found() {
                    self.now = self.longest;
                    return true;
                }
                spin_loop();
            }
            if begun.elapsed() >= self.now {
                break;
            }
        }
        // Halved five times it is given up.
        self.now = if self.now <= self.longest / 32 { Duration::ZERO } else { self.now / 2 };
        false
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
    fn nobody_looks_on_the_processor_of_the_other_side() {
        let mut spin = Spin::new(Duration::MAX);
        assert!(!spin.finds(true, || unreachable!("it does not look")));
        assert!(spin.finds(false, || true));
        let mut never = Spin::new(Duration::ZERO);
        assert!(!never.finds(false, || unreachable!("it does not look")));
    }
}
