//! Memory that a fork empties, and a number that tells a value whether it is still in the process
//! that made it.

#[cfg(all(feature = "std", target_os = "linux"))]
mod mapped;
#[cfg(not(all(feature = "std", unix)))]
mod never;
#[cfg(all(feature = "std", unix, not(target_os = "linux")))]
mod process_id;

#[cfg(all(feature = "std", target_os = "linux"))]
use self::mapped::Number;
#[cfg(all(feature = "std", target_os = "linux"))]
pub use self::mapped::{NoPage, map_wiped};
#[cfg(not(all(feature = "std", unix)))]
use self::never::Number;
#[cfg(all(feature = "std", unix, not(target_os = "linux")))]
use self::process_id::Number;

/// The process that a value was made in, as the count of forks since the first of its ancestors.
///
/// The number is in a page that the kernel empties in a forked child (`MADV_WIPEONFORK`, Linux
/// 4.14). The child finds zero there and takes the next number, so no process ever has the number
/// of an ancestor. Every kind of fork is noticed: `fork`, `clone`, raw system calls, and in signal
/// handlers. A child that shares the memory of its parent (`vfork`, `CLONE_VM`) has its parent's
/// number, and so has a copy of the whole process or machine.
///
/// Compare with [`is_current`](Self::is_current): if memory is short at first, one process has two
/// values. If the kernel refuses such pages, and on other systems with `fork`, the id of the
/// process replaces the number. Then two cases are not noticed: a child in its own namespace of
/// process ids that has the id of its parent, and a later process with the same id. Without the
/// feature `std` no fork is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation(Number);

impl Generation {
    /// The calling process. On Linux the first call of a process maps a page. Safe in signal
    /// handlers.
    #[must_use]
    #[inline]
    pub fn now() -> Self {
        Self(Number::now())
    }

    /// Whether this is still the process that made the value: on Linux two loads and a comparison.
    #[must_use]
    #[inline(always)]
    pub fn is_current(self) -> bool {
        self.0.is_current()
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_one_number() {
        let numbers: Vec<_> =
            (0..8).map(|_| std::thread::spawn(Generation::now)).map(|t| t.join()).collect();
        for number in numbers {
            let number = number.expect("it only asks");
            assert!(number.is_current() && number == Generation::now());
        }
    }
}
