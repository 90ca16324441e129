//! The shape of a row's messages: sizes, batch and keys.

use core::time::Duration;

use super::Sizes;
use super::sessions::SESSIONS;
use crate::results::Point;
use crate::row::Batches;

/// Independent messages, each in a session of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bytes of a message.
    pub(crate) sizes: Sizes,
    /// Messages that are handed over together, if the API takes more than one.
    pub(crate) batch: usize,
    /// Whether each message brings its key.
    pub(crate) is_fresh: bool,
}

impl Shape {
    /// Messages under kept keys, one at a time.
    pub(crate) const fn single(size: usize) -> Self {
        Self { sizes: Sizes::one(size), batch: 1, is_fresh: false }
    }

    /// The number of sessions that take turns.
    pub(crate) fn sessions(self) -> usize {
        let usual = if self.sizes.is_mixed() { Sizes::LENGTHS } else { SESSIONS };
        self.batch.max(usual)
    }

    pub(crate) const fn key(self) -> &'static str {
        if self.is_fresh { "fresh" } else { "kept" }
    }

    /// The end of a point's id.
    pub(crate) fn suffix(self) -> String {
        let batch = if self.batch > 1 { format!("/b{}", self.batch) } else { String::new() };
        let key = if self.is_fresh { "/fresh" } else { "" };
        format!("/{}{batch}{key}", self.sizes)
    }

    /// Describes a point.
    pub(crate) fn described(self, table: &str, op: &str) -> Point {
        Point {
            table: table.into(),
            op: op.into(),
            size: self.sizes.single().map(|size| size as u64),
            sizes: self.sizes.range(),
            batch: u32::try_from(self.batch).ok(),
            threads: Some(1),
            key: Some(self.key().into()),
            chained: Some(false),
            ..Point::default()
        }
    }

    /// The batches of its row: whole batches of messages, with each mixed length equally often.
    /// They are longer if more sessions than usual must get ready.
    pub(crate) fn batches(self) -> Batches {
        let usual = Batches::default();
        let sessions = self.sessions();
        let length = if sessions > SESSIONS { Duration::from_millis(4) } else { usual.length };
        let multiple = if self.sizes.is_mixed() { sessions } else { self.batch.max(1) };
        Batches { multiple, length, ..usual }
    }
}
