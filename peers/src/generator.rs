//! Random number generators as the tables measure them, and their loops, written once for all.

use core::hint::black_box;

use crate::direction::Direction;
use crate::peer::{Kind, Versioned};
use crate::{Failed, Peer};

/// One generator, used by one thread.
///
/// The loops are inside the implementation, so that there is one dynamic call for each batch and
/// only the request itself inside the loop.
///
/// # Panics
///
/// Drawing panics if the generator fails during a measurement, because no time could be reported.
/// [`Peer::make`](crate::Peer::make) tries it beforehand.
pub trait Generator {
    /// Draws `requests` 32-bit words and returns their XOR. It uses the generator's own 32-bit call
    /// if there is one, otherwise a 4-byte fill.
    fn words(&mut self, requests: usize) -> u32;

    /// Fills the whole of `buffer`, `requests` times.
    fn fills(&mut self, buffer: &mut [u8], requests: usize);

    /// Makes the generator drop its buffer and take a new key from the kernel. Returns false if it
    /// has no call for that, or if the call failed.
    fn rekey(&mut self) -> bool;
}

/// The single requests that a [`Generator`] repeats.
///
/// Implementations mark the methods that draw `#[inline]`, so that the loops are compiled for each
/// generator and contain nothing else.
pub trait Draw {
    /// Fills the whole of `buffer`.
    ///
    /// # Errors
    ///
    /// [`Failed`] when the generator gave no or too few bytes.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed>;

    /// Draws one 32-bit word; by a 4-byte fill unless the generator has a call of its own.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Draw::fill`].
    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    /// Drops the buffer and takes a new key from the kernel.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the generator has no call for that, which is the default, or the kernel gave
    /// no bytes.
    fn rekey(&mut self) -> Result<(), Failed> {
        Err(Failed)
    }
}

/// Wraps `draw` in the measured loops; `None` when a first draw of 32 bytes fails.
///
/// The first draw also takes the peer's set-up (seeding, thread-local state) out of the
/// measurement.
#[must_use]
pub fn generator<D: Draw + 'static>(mut draw: D) -> Option<Box<dyn Generator>> {
    draw.fill(&mut [0; 32]).ok()?;
    Some(Box::new(Loops(draw)))
}

struct Loops<D>(D);

impl<D: Draw> Generator for Loops<D> {
    fn words(&mut self, requests: usize) -> u32 {
        let mut folded = 0;
        for _ in 0..requests {
            match self.0.word() {
                Ok(word) => folded ^= word,
                Err(Failed) => stop::<D>(),
            }
        }
        folded
    }

    fn fills(&mut self, buffer: &mut [u8], requests: usize) {
        // The compiler must not specialise a generator for a length that it can see.
        let buffer = black_box(buffer);
        for _ in 0..requests {
            if self.0.fill(buffer).is_err() {
                stop::<D>();
            }
            // Counts the bytes as used, so that no fill is removed because the next one replaces
            // it. Only the pointer goes through memory, and nothing waits for it.
            black_box(buffer.as_mut_ptr());
        }
    }

    fn rekey(&mut self) -> bool {
        self.0.rekey().is_ok()
    }
}

#[cold]
#[inline(never)]
fn stop<D>() -> ! {
    panic!("{} failed in the middle of a measurement", core::any::type_name::<D>())
}

impl Peer<dyn Generator> {
    /// Makes one generator for the calling thread; `None` when the peer is missing or a first draw
    /// of 32 bytes fails. Any number of threads may call it at the same time.
    #[must_use]
    pub fn make(&self) -> Option<Box<dyn Generator>> {
        (self.open.0)(Direction::Encrypt, &[])
    }

    /// A generator of the library that was `found`, or the hint how to get it.
    pub(crate) fn generator<L: Versioned>(
        names: [&'static str; 3],
        found: &Result<L, String>,
        make: impl Fn(&L) -> Option<Box<dyn Generator>> + Send + Sync + 'static,
    ) -> Self {
        Self::new(names, found, move |library, _, _| make(library))
    }
}

impl Kind for dyn Generator {
    fn fault(peer: &Peer<Self>) -> Option<String> {
        peer.make().is_none().then(|| "refuses to work here".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts up, and fails once it has given `left` requests.
    struct Counter {
        next: u8,
        left: usize,
    }

    impl Draw for Counter {
        fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
            self.left = self.left.checked_sub(1).ok_or(Failed)?;
            for byte in buffer {
                *byte = self.next;
                self.next = self.next.wrapping_add(1);
            }
            Ok(())
        }
    }

    #[test]
    fn loops_make_every_request() {
        let mut made = generator(Counter { next: 0, left: 6 }).expect("the first draw works");
        let first = u32::from_ne_bytes([32, 33, 34, 35]);
        let second = u32::from_ne_bytes([36, 37, 38, 39]);
        assert_eq!(made.words(2), first ^ second);
        assert_eq!(made.words(0), 0);
        let mut buffer = [0; 3];
        made.fills(&mut buffer, 2);
        assert_eq!(buffer, [43, 44, 45]);
        assert!(!made.rekey(), "it has no key");
    }

    #[test]
    fn a_generator_that_does_not_work_is_not_made() {
        assert!(generator(Counter { next: 0, left: 0 }).is_none());
    }

    #[test]
    #[should_panic(expected = "Counter failed in the middle of a measurement")]
    fn a_failure_in_the_middle_names_the_generator() {
        generator(Counter { next: 0, left: 2 }).expect("the first draw works").words(2);
    }
}
