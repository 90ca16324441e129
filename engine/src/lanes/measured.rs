//! The ranges that this process has measured, by level and kind. Each is measured at most once.

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::OnceLock;

use lanecrypt_ciphers::Level;

use super::{AtDepths, LaneKind};

pub(crate) type Table = [Measured; LaneKind::COUNT];

/// More than any architecture has levels.
const LEVELS: usize = 8;

static TABLES: [Table; LEVELS] = [const { [const { Measured::new() }; LaneKind::COUNT] }; LEVELS];

/// The number of measurements that have ended.
static CHANGES: AtomicUsize = AtomicUsize::new(0);

/// The measurement of a kind.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    state: AtomicU8,
    lengths: OnceLock<AtDepths>,
}

/// No session has been opened.
const UNUSED: u8 = 0;
/// One session has been opened. A program with a single session may never fill a batch.
const USED: u8 = 1;
/// The measurement has begun, and has perhaps ended.
const BEGUN: u8 = 2;

impl Measured {
    const fn new() -> Self {
        Self { state: AtomicU8::new(UNUSED), lengths: OnceLock::new() }
    }

    #[inline]
    pub(super) fn lengths(&self) -> Option<&AtDepths> {
        self.lengths.get()
    }

    pub(crate) fn set(&self, lengths: AtDepths) {
        // Only the thread that begins a measurement sets them.
        let _ = self.lengths.set(lengths);
        CHANGES.fetch_add(1, Ordering::Release);
    }

    /// Counts a session. True for the second one, whose thread measures.
    #[inline]
    pub(crate) fn is_second_session(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        state != BEGUN && self.advance(state, state + 1) && state == USED
    }

    /// True for the first caller: the measurement has not begun before.
    pub(crate) fn begin(&self) -> bool {
        self.state.swap(BEGUN, Ordering::Relaxed) != BEGUN
    }

    /// Whether this call has made the step from one state to another.
    #[cold]
    fn advance(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// The measurements of a level.
pub(crate) fn at(level: Level) -> Option<&'static Table> {
    TABLES.get(level as usize % 0x10)
}

#[inline]
pub(super) fn changes() -> usize {
    CHANGES.load(Ordering::Acquire)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_session_measures() {
        let kind = Measured::new();
        let measures = [(); 5].map(|()| kind.is_second_session());
        assert_eq!(measures, [false, true, false, false, false]);
    }

    #[test]
    fn levels_have_places_of_their_own() {
        for &level in Level::built() {
            let table = at(level).expect("there is room for it");
            for &other in Level::built().iter().filter(|other| **other != level) {
                assert!(!core::ptr::eq(table, at(other).expect("there is room for it")));
            }
        }
    }
}
