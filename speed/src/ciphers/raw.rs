//! Ciphers without authentication: ours at both layers, and the peers'.

use std::sync::{Arc, OnceLock};

use lanecrypt_ciphers::{Algorithm, Isa, hazmat};
use lanecrypt_peers::{Cipher, CipherPeer, Direction};

use super::checked::Checked;
use super::served::{Served, Way};
use super::work::{Requests, Task};
use super::{BATCH, CHECKED, Contender, PROCESS, SESSION, TYPED, known, typed};
use crate::results::Point;
use crate::row::{Row, Work};

impl Contender<dyn Cipher> {
    /// The peer, unless it is missing or measured with what is not built in here.
    pub(crate) fn peer(peer: &CipherPeer) -> Option<Self> {
        let opened = peer.clone();
        let names = [peer.source, peer.api, peer.algorithm];
        let open = move |direction, keys: &[&[u8]]| opened.open(direction, keys);
        Some(Self { batches: peer.batches, ..Self::found(names, &peer.availability, open)? })
    }

    /// Ours for this algorithm: both layers, then the checked one at each lower level of
    /// instruction set that has a kernel of its own.
    pub(crate) fn all_ours(algorithm: Algorithm) -> Vec<Self> {
        let typed = Self::typed(algorithm, Isa::detect());
        typed.into_iter().chain(Self::at_levels(algorithm, Self::checked)).collect()
    }

    /// The typed layer, if it is measured with this algorithm.
    fn typed(algorithm: Algorithm, isa: Isa) -> Option<Self> {
        typed::open(algorithm, isa, Direction::Encrypt, &[&known::keys(algorithm, 1)?[0]])?;
        Some(Self::ours(TYPED, algorithm, isa, move |direction, keys| {
            typed::open(algorithm, isa, direction, keys)
        }))
    }

    /// The checked layer.
    fn checked(algorithm: Algorithm, isa: Isa) -> Self {
        Self::ours(CHECKED, algorithm, isa, move |direction, keys| {
            Some(Box::new(Checked::new(algorithm, isa, direction, keys)?))
        })
    }

    /// The engine's sessions, in calls of their own.
    pub(crate) fn session(algorithm: Algorithm) -> Self {
        Self::served(Way::Alone, algorithm, Isa::detect())
    }

    /// The engine's batches and its slices of requests, each also at every lower level of instruction
    /// set that has a kernel of its own.
    pub(crate) fn all_our_batches(algorithm: Algorithm) -> Vec<Self> {
        let ways = [Way::Filled, Way::Process].into_iter();
        ways.flat_map(|way| {
            Self::at_levels(algorithm, |algorithm, isa| Self::served(way, algorithm, isa))
        })
        .collect()
    }

    fn served(way: Way, algorithm: Algorithm, isa: Isa) -> Self {
        let api = match way {
            Way::Alone => SESSION,
            Way::Process => PROCESS,
            Way::Filled => BATCH,
        };
        let contender = Self::ours(api, algorithm, isa, move |direction, keys| {
            Some(Box::new(Served::new(algorithm, isa, direction, keys, way)?))
        });
        Self { batches: way != Way::Alone, ..contender }
    }

    /// The checked layer with one key, which all sessions and all threads share.
    pub(crate) fn shared(algorithm: Algorithm) -> Self {
        let isa = Isa::detect();
        let one: OnceLock<Option<Arc<hazmat::Cipher>>> = OnceLock::new();
        let contender = Self::ours(CHECKED, algorithm, isa, move |direction, keys| {
            let keyed = || Some(Arc::new(hazmat::Cipher::new(isa, algorithm, keys.first()?).ok()?));
            Some(Box::new(Checked::with(one.get_or_init(keyed).clone()?, isa, direction)))
        });
        Self { shared: true, ..contender }
    }

    /// Whether it has this operation at all. Not every API has calls for each, continues a message
    /// within a block, or takes 64 KiB at once.
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
                ..Point::default()
            },
        };
        let mut suffix = task.suffix();
        if self.shared {
            suffix += &format!("/shared/t{threads}");
        }
        let contender = self.clone();
        let row = self.described(request, &suffix, move || -> Option<Box<dyn Work>> {
            Some(Box::new(contender.work(direction, task)?))
        });
        match task {
            Task::Batch(shape) => Row { batches: shape.batches(), ..row },
            _ => row,
        }
    }
}
