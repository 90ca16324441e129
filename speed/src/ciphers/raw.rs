//! Ciphers without authentication.

use std::sync::{Arc, OnceLock};

use lanecrypt_ciphers::{Algorithm, Isa, hazmat};
use lanecrypt_peers::{Cipher, Direction};

use super::checked::Checked;
use super::served::Served;
use super::work::{Requests, Task};
use super::{Api, CHECKED, CipherUnderTest, Shape, typed};
use crate::results::Point;
use crate::row::Row;

impl Api for dyn Cipher {
    fn checked(
        algorithm: Algorithm,
        isa: Isa,
        direction: Direction,
        keys: &[&[u8]],
    ) -> Option<Box<Self>> {
        Some(Box::new(Checked::new(algorithm, isa, direction, keys)?))
    }

    fn typed(
        algorithm: Algorithm,
        isa: Isa,
        direction: Direction,
        keys: &[&[u8]],
    ) -> Option<Box<Self>> {
        typed::open(algorithm, isa, direction, keys)
    }

    fn served(sessions: Served) -> Box<Self> {
        Box::new(sessions)
    }

    fn row(
        candidate: &CipherUnderTest<Self>,
        table: &str,
        direction: Direction,
        shape: Shape,
    ) -> Row {
        candidate.row(table, direction, Task::Batch(shape), 1)
    }
}

impl CipherUnderTest<dyn Cipher> {
    /// The checked layer with one key, which all sessions and all threads share.
    pub(crate) fn shared(algorithm: Algorithm) -> Self {
        let isa = Isa::detect();
        let one: OnceLock<Option<Arc<hazmat::RawCipher>>> = OnceLock::new();
        let candidate = Self::ours(CHECKED, algorithm, isa, move |direction, keys| {
            let keyed =
                || Some(Arc::new(hazmat::RawCipher::with_isa(isa, algorithm, keys.first()?).ok()?));
            Some(Box::new(Checked::with(one.get_or_init(keyed).clone()?, isa, direction)))
        });
        Self { shared: true, ..candidate }
    }

    /// Whether it has this operation. Not every API has calls for each, continues a message within
    /// a block, or takes 64 KiB at once.
    pub(crate) fn has(&self, task: Task) -> bool {
        let work = self.work(Direction::Encrypt, task);
        work.is_some_and(|mut work| work.try_once().is_ok())
    }

    fn work(&self, direction: Direction, task: Task) -> Option<Requests> {
        let open = |keys: &[&[u8]]| self.open(direction, keys);
        Requests::new(self.algorithm, direction, task, self.shared, open)
    }

    /// The row of this operation.
    pub(crate) fn row(&self, table: &str, direction: Direction, task: Task, threads: u32) -> Row {
        let op = task.op(direction);
        let request = match task {
            Task::Batch(shape) => shape.described(table, op),
            _ => Point {
                table: table.into(),
                threads: Some(threads),
                op: op.into(),
                size: task.size().map(|size| size as u64),
                chained: task.is_chained(),
                key: task.key().map(str::to_owned),
                wiped: task.wiped(),
                ..Point::default()
            },
        };
        let mut suffix = task.suffix();
        if self.shared {
            suffix += &format!("/shared/t{threads}");
        }
        let candidate = self.clone();
        let row = self.described(request, &suffix, move || candidate.work(direction, task));
        match task {
            Task::Batch(shape) => Row { batches: shape.batches(), ..row },
            _ => row,
        }
    }
}
