//! The measured ciphers, ours and the peers', behind one interface: call by call for ciphers
//! without authentication, and whole messages one by one or in batches.

use core::fmt;
use std::sync::Arc;

use lanecrypt_ciphers::{Algorithm, Isa, Level};
use lanecrypt_peers::{Availability, Cipher, Direction, Peer};

#[cfg(target_os = "linux")]
pub(crate) use self::served::keep_built_in_lanes;
use self::served::{Served, Way};

use crate::results::Point;
use crate::row::{Batches, Row, Workload};

mod aeads;
mod checked;
pub(crate) mod known;
mod packets;
mod queued;
mod raw;
mod served;
pub(crate) mod sessions;
mod shape;
mod sizes;
mod typed;
mod wipe;
mod work;

pub(crate) use aeads::op as seal_or_open;
pub(crate) use known::WHOLE;
pub(crate) use queued::{Kind, Plan, Queued, Watch, Watching, session};
pub(crate) use shape::Shape;
pub(crate) use sizes::Sizes;
pub(crate) use wipe::Wipe;
pub(crate) use work::Task;

/// The entry point of our checked layer.
pub(crate) const CHECKED: &str = "cipher";
/// The engine's sessions: one message for each call.
pub(crate) const SESSION: &str = "session";
/// The engine's slices of requests: all requests are made first, and handed over together.
pub(crate) const PROCESS: &str = "process";
/// The engine's batches, which are served while they are filled.
pub(crate) const BATCH: &str = "batch";
/// The entry point below the checked layer, which has nothing to check.
pub(crate) const TYPED: &str = "kernel";

/// Makes a cipher with one session for each key.
#[expect(clippy::type_complexity, reason = "it is spelt out here only")]
struct Open<T: ?Sized>(Arc<dyn Fn(Direction, &[&[u8]]) -> Option<Box<T>> + Send + Sync>);

impl<T: ?Sized> Clone for Open<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// The interface that ciphers are measured through: `dyn Cipher`, or `dyn Aead` with
/// authentication.
pub(crate) trait Api: 'static {
    /// Our checked layer, with a session for each key.
    fn checked(
        algorithm: Algorithm,
        isa: Isa,
        direction: Direction,
        keys: &[&[u8]],
    ) -> Option<Box<Self>>;

    /// Our typed layer, if it is measured with this algorithm.
    fn typed(_: Algorithm, _: Isa, _: Direction, _: &[&[u8]]) -> Option<Box<Self>> {
        None
    }

    /// The engine.
    fn served(sessions: Served) -> Box<Self>;

    /// The row of independent messages.
    fn row(
        candidate: &CipherUnderTest<Self>,
        table: &str,
        direction: Direction,
        shape: Shape,
    ) -> Row;
}

/// A cipher that can be measured here: `dyn Cipher`, or `dyn Aead` if it authenticates.
pub(crate) struct CipherUnderTest<T: ?Sized = dyn Cipher> {
    /// Names it, without operation and size.
    point: Point,
    algorithm: Algorithm,
    open: Open<T>,
    /// Whether it is ours at a lower instruction set level than this processor's.
    lower: bool,
    /// Whether all of its sessions have one key, which threads share.
    shared: bool,
    /// Whether its API takes many messages at a time; otherwise a batch is a loop.
    batches: bool,
}

impl<T: ?Sized> Clone for CipherUnderTest<T> {
    fn clone(&self) -> Self {
        Self {
            point: self.point.clone(),
            algorithm: self.algorithm,
            open: self.open.clone(),
            lower: self.lower,
            shared: self.shared,
            batches: self.batches,
        }
    }
}

impl<T: ?Sized> fmt::Debug for CipherUnderTest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CipherUnderTest").field("point", &self.point).finish_non_exhaustive()
    }
}

impl<T: Api + ?Sized> CipherUnderTest<T> {
    /// A cipher under a name.
    pub(crate) fn new(
        source: &str,
        api: &str,
        algorithm: Algorithm,
        open: impl Fn(Direction, &[&[u8]]) -> Option<Box<T>> + Send + Sync + 'static,
    ) -> Self {
        let point = Point {
            source: source.into(),
            api: api.into(),
            subject: algorithm.to_string(),
            ..Point::default()
        };
        let open = Open(Arc::new(open));
        Self { point, algorithm, open, lower: false, shared: false, batches: false }
    }

    /// The peer; none if it is missing, or if its algorithm is not built in here.
    pub(crate) fn peer(peer: &Peer<T>) -> Option<Self> {
        let Availability::Found(version) = &peer.availability else { return None };
        let opened = peer.clone();
        let open = move |direction, keys: &[&[u8]]| opened.open(direction, keys);
        let mut candidate = Self::new(peer.source, peer.api, peer.subject.parse().ok()?, open);
        candidate.point.version = Some(version.clone());
        candidate.batches = peer.batches;
        Some(candidate)
    }

    /// Ours for this algorithm: the typed layer if there is one, then the checked one, also at each
    /// lower level that has its own kernel.
    pub(crate) fn all_ours(algorithm: Algorithm) -> Vec<Self> {
        let checked = Self::at_levels(algorithm, |algorithm, isa| {
            Self::ours(CHECKED, algorithm, isa, move |direction, keys| {
                T::checked(algorithm, isa, direction, keys)
            })
        });
        Self::typed(algorithm, Isa::detect()).into_iter().chain(checked).collect()
    }

    fn typed(algorithm: Algorithm, isa: Isa) -> Option<Self> {
        T::typed(algorithm, isa, Direction::Encrypt, &[&sessions::keys(algorithm, 1)?[0]])?;
        Some(Self::ours(TYPED, algorithm, isa, move |direction, keys| {
            T::typed(algorithm, isa, direction, keys)
        }))
    }

    /// The engine's sessions, one message for each call.
    pub(crate) fn session(algorithm: Algorithm) -> Self {
        Self::served(Way::Alone, algorithm, Isa::detect())
    }

    /// The engine's batches and its slices of requests, each also at every lower level that has its
    /// own kernel.
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
        let candidate = Self::ours(api, algorithm, isa, move |direction, keys| {
            Some(T::served(Served::new(algorithm, isa, direction, keys, way)?))
        });
        Self { batches: way != Way::Alone, ..candidate }
    }

    /// The row of independent messages, of sizes that the mode takes. With authentication they are
    /// sealed, or opened with [`Direction::Decrypt`].
    pub(crate) fn messages(&self, table: &str, direction: Direction, shape: Shape) -> Row {
        let sizes = shape.sizes.whole(self.algorithm.granularity());
        T::row(self, table, direction, Shape { sizes, ..shape })
    }

    fn ours(
        api: &str,
        algorithm: Algorithm,
        isa: Isa,
        open: impl Fn(Direction, &[&[u8]]) -> Option<Box<T>> + Send + Sync + 'static,
    ) -> Self {
        let candidate = Self::new("lanecrypt", api, algorithm, open);
        Self { point: candidate.point.clone().of_ours(isa), ..candidate }
    }

    /// Ours as `made` for this processor, then for each lower level that has its own kernel.
    fn at_levels(algorithm: Algorithm, made: impl Fn(Algorithm, Isa) -> Self) -> Vec<Self> {
        let best = Isa::detect();
        let running = algorithm.kernel_at(best.level());
        let is_lower = |&level: &Level| level != running && running.includes(level);
        let mut lower: Vec<Level> = algorithm.kernels().filter(is_lower).collect();
        lower.reverse();
        let lower = lower
            .into_iter()
            .map(|level| Self { lower: true, ..made(algorithm, best.at_most(level)) });
        [made(algorithm, best)].into_iter().chain(lower).collect()
    }

    /// One session for each key.
    pub(crate) fn open(&self, direction: Direction, keys: &[&[u8]]) -> Option<Box<T>> {
        (self.open.0)(direction, keys)
    }

    /// Its name in the results.
    pub(crate) const fn point(&self) -> &Point {
        &self.point
    }

    pub(crate) const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(crate) const fn is_lower(&self) -> bool {
        self.lower
    }

    /// Whether its API takes many messages at a time; otherwise a batch is a loop.
    pub(crate) const fn has_batches(&self) -> bool {
        self.batches
    }

    /// The row of the requests that `request` describes and `make` makes; its id ends with
    /// `suffix`.
    fn described<W: Workload + 'static>(
        &self,
        request: Point,
        suffix: &str,
        make: impl Fn() -> Option<W> + Send + Sync + 'static,
    ) -> Row {
        let Point { source, version, api, subject, isa, .. } = self.point.clone();
        let level = isa.as_ref().filter(|_| self.lower);
        let level = level.map_or_else(String::new, |isa| format!("@{isa}"));
        let Point { table, op, .. } = &request;
        let id = format!("{table}/{source}/{api}/{subject}{level}/{op}{suffix}");
        let point = Point { id, source, version, api, subject, isa, ..request };
        Row::new(point, Batches::default(), make)
    }
}
