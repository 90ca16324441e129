//! The ranges that this process has measured, by level and kind. Each is measured at most once.

mod kind;

use lanecrypt_ciphers::Level;

use self::kind::Changes;
pub(crate) use self::kind::Measured;
use super::{AtDepths, LaneKind};
use crate::sync::{AtomicU8, AtomicUsize, OnceLock};

pub(crate) type Table = [Measured; LaneKind::COUNT];

/// More than any architecture has levels.
const LEVELS: usize = 8;

static TABLES: [Table; LEVELS] = [const { [const { unused() }; LaneKind::COUNT] }; LEVELS];

static CHANGES: Changes = Changes(AtomicUsize::new(0));

const fn unused() -> Measured {
    Measured { state: AtomicU8::new(0), lengths: OnceLock::new() }
}

/// The measurements of a level.
pub(crate) fn at(level: Level) -> Option<&'static Table> {
    TABLES.get(level as usize % 0x10)
}

/// Sets what was measured for a kind.
pub(crate) fn set(kind: &Measured, lengths: AtDepths) {
    kind.set(lengths, &CHANGES);
}

/// The number of measurements that have ended.
#[inline]
pub(super) fn changes() -> usize {
    CHANGES.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_session_measures() {
        let kind = unused();
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
