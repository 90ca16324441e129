//! The ciphers that are measured: ours at both layers, and the peers', as one kind of thing.

use core::fmt;
use std::sync::{Arc, OnceLock};

use lanecrypt_ciphers::{Algorithm, Isa, Level, hazmat};
use lanecrypt_peers::{Availability, Cipher, CipherPeer, Direction};

use self::checked::Checked;
use self::work::Requests;
use crate::results::Point;
use crate::row::{Batches, Row, Work};

mod checked;
mod known;
mod typed;
mod work;

pub(crate) use known::WHOLE;
pub(crate) use work::Task;

/// The entry point that is our checked layer.
pub(crate) const CHECKED: &str = "cipher";
/// The one below, which has nothing to check.
pub(crate) const TYPED: &str = "kernel";

/// Makes a cipher with one session for each key.
#[derive(Clone)]
#[expect(clippy::type_complexity, reason = "it is spelt out here only")]
struct Open(Arc<dyn Fn(Direction, &[&[u8]]) -> Option<Box<dyn Cipher>> + Send + Sync>);

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Open")
    }
}

/// A cipher that can be measured here.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    /// Names it, without operation and size.
    point: Point,
    algorithm: Algorithm,
    open: Open,
    /// Whether it is ours at a lower level of instruction set than this processor's.
    lower: bool,
    /// Whether all of its sessions are one key, which threads share.
    shared: bool,
}

impl Contender {
    /// A cipher under a name.
    pub(crate) fn new(
        source: &str,
        api: &str,
        algorithm: Algorithm,
        open: impl Fn(Direction, &[&[u8]]) -> Option<Box<dyn Cipher>> + Send + Sync + 'static,
    ) -> Self {
        let point = Point {
            source: source.into(),
            api: api.into(),
            subject: algorithm.to_string(),
            ..Point::default()
        };
        let open = Open(Arc::new(open));
        Self { point, algorithm, open, lower: false, shared: false }
    }

    /// The peer, unless it is missing or measured with what is not built in here.
    pub(crate) fn peer(peer: &CipherPeer) -> Option<Self> {
        let Availability::Found(version) = &peer.availability else { return None };
        let algorithm = peer.algorithm.parse().ok()?;
        let opened = peer.clone();
        let mut contender = Self::new(peer.source, peer.api, algorithm, move |direction, keys| {
            opened.open(direction, keys)
        });
        contender.point.version = Some(version.clone());
        Some(contender)
    }

    fn ours(
        api: &str,
        algorithm: Algorithm,
        isa: Isa,
        open: impl Fn(Direction, &[&[u8]]) -> Option<Box<dyn Cipher>> + Send + Sync + 'static,
    ) -> Self {
        let mut contender = Self::new("lanecrypt", api, algorithm, open);
        contender.point.version = Some(env!("CARGO_PKG_VERSION").to_owned());
        contender.point.isa = Some(isa.level().name().to_owned());
        contender
    }

    /// The typed layer, if it is measured with this algorithm.
    fn typed(algorithm: Algorithm, isa: Isa) -> Option<Self> {
        typed::open(algorithm, isa, Direction::Encrypt, &[&known::keys(algorithm)?[0]])?;
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

    /// One session for each key.
    pub(crate) fn open(&self, direction: Direction, keys: &[&[u8]]) -> Option<Box<dyn Cipher>> {
        (self.open.0)(direction, keys)
    }

    /// What names it.
    pub(crate) const fn point(&self) -> &Point {
        &self.point
    }

    pub(crate) const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(crate) const fn is_lower(&self) -> bool {
        self.lower
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
        let mut point = self.point.clone();
        point.table = table.into();
        point.threads = Some(threads);
        point.op = task.op(direction).into();
        point.size = task.size().map(|size| size as u64);
        point.chained = task.is_chained();
        point.key = task.key().map(str::to_owned);
        let Point { source, api, subject, isa, op, .. } = &point;
        let level = isa.as_ref().filter(|_| self.lower);
        let level = level.map_or_else(String::new, |isa| format!("@{isa}"));
        let mut id = format!("{table}/{source}/{api}/{subject}{level}/{op}{}", task.suffix());
        if self.shared {
            id += &format!("/shared/t{threads}");
        }
        point.id = id;
        let contender = self.clone();
        let make =
            move || -> Option<Box<dyn Work>> { Some(Box::new(contender.work(direction, task)?)) };
        let batches = Batches::default();
        Row { point, make: Box::new(make), whole: None, batches, faulty: false }
    }
}

/// Ours for this algorithm: both layers, then the checked one at each lower level of instruction
/// set that has a kernel of its own.
pub(crate) fn ours(algorithm: Algorithm) -> Vec<Contender> {
    let best = Isa::detect();
    let mut contenders: Vec<Contender> = Contender::typed(algorithm, best).into_iter().collect();
    contenders.push(Contender::checked(algorithm, best));
    let primitive = algorithm.primitive();
    let running = primitive.kernel_at(best.level());
    let mut lower: Vec<Level> = primitive.kernels().filter(|&level| level < running).collect();
    lower.reverse();
    contenders.extend(lower.into_iter().map(|level| Contender {
        lower: true,
        ..Contender::checked(algorithm, best.at_most(level))
    }));
    contenders
}
