//! What the messages of a row are like.

use core::time::Duration;

use super::sessions::SESSIONS;
use crate::results::Point;
use crate::row::Batches;

/// Independent messages of one size, each in a session of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bytes of a message.
    pub(crate) size: usize,
    /// Messages that are handed over at the same time, to who takes more than one.
    pub(crate) batch: usize,
    /// Whether each message brings its key.
    pub(crate) is_fresh: bool,
}

impl Shape {
    /// Messages under kept keys, one at a time.
    pub(crate) const fn single(size: usize) -> Self {
        Self { size, batch: 1, is_fresh: false }
    }

    /// How many sessions take turns.
    pub(crate) const fn sessions(self) -> usize {
        if self.batch > SESSIONS { self.batch } else { SESSIONS }
    }

    pub(crate) const fn key(self) -> &'static str {
        if self.is_fresh { "fresh" } else { "kept" }
    }

    /// How it ends the ids of points.
    pub(crate) fn suffix(self) -> String {
        let batch = if self.batch > 1 { format!("/b{}", self.batch) } else { String::new() };
        let key = if self.is_fresh { "/fresh" } else { "" };
        format!("/{}{batch}{key}", self.size)
    }

    /// What it says of a point.
    pub(crate) fn described(self, table: &str, op: &str) -> Point {
        Point {
            table: table.into(),
            op: op.into(),
            size: Some(self.size as u64),
            batch: u32::try_from(self.batch).ok(),
            threads: Some(1),
            key: Some(self.key().into()),
            chained: Some(false),
            ..Point::default()
        }
    }

    /// How the batches of its row are cut: into whole batches of messages, and longer ones where
    /// more sessions than usual have to get ready.
    pub(crate) fn batches(self) -> Batches {
        let usual = Batches::default();
        let length = if self.batch > SESSIONS { Duration::from_millis(4) } else { usual.length };
        Batches { multiple: self.batch.max(1), length, ..usual }
    }
}
