//! The ciphers that are measured, ours and the peers', as one kind of thing: those without
//! authentication call by call, and messages one by one or in batches.

use core::fmt;
use std::sync::Arc;

use lanecrypt_ciphers::{Algorithm, Isa, Level};
use lanecrypt_peers::{Availability, Cipher, Direction};

use crate::results::Point;
use crate::row::{Batches, Row, Work};

mod aeads;
mod checked;
mod known;
mod raw;
mod served;
mod sessions;
mod shape;
mod sizes;
mod typed;
mod work;

pub(crate) use known::WHOLE;
pub(crate) use shape::Shape;
pub(crate) use sizes::Sizes;
pub(crate) use work::Task;

/// The entry point that is our checked layer.
pub(crate) const CHECKED: &str = "cipher";
/// The engine's sessions, one message a call.
pub(crate) const SESSION: &str = "session";
/// The engine's slices of requests: all are made, and handed over together.
pub(crate) const PROCESS: &str = "process";
/// The engine's batches, which serve while they are filled.
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

/// A cipher that can be measured here: `dyn Cipher`, or `dyn Aead` if it authenticates.
pub(crate) struct Contender<T: ?Sized = dyn Cipher> {
    /// Names it, without operation and size.
    point: Point,
    algorithm: Algorithm,
    open: Open<T>,
    /// Whether it is ours at a lower level of instruction set than this processor's.
    lower: bool,
    /// Whether all of its sessions are one key, which threads share.
    shared: bool,
    /// Whether it takes many messages at a time; else batches are a loop.
    batches: bool,
}

impl<T: ?Sized> Clone for Contender<T> {
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

impl<T: ?Sized> fmt::Debug for Contender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contender").field("point", &self.point).finish_non_exhaustive()
    }
}

impl<T: ?Sized + 'static> Contender<T> {
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

    /// A peer, unless it is missing or measured with what is not built in here.
    fn found(
        [source, api, algorithm]: [&str; 3],
        availability: &Availability,
        open: impl Fn(Direction, &[&[u8]]) -> Option<Box<T>> + Send + Sync + 'static,
    ) -> Option<Self> {
        let Availability::Found(version) = availability else { return None };
        let mut contender = Self::new(source, api, algorithm.parse().ok()?, open);
        contender.point.version = Some(version.clone());
        Some(contender)
    }

    fn ours(
        api: &str,
        algorithm: Algorithm,
        isa: Isa,
        open: impl Fn(Direction, &[&[u8]]) -> Option<Box<T>> + Send + Sync + 'static,
    ) -> Self {
        let mut contender = Self::new("lanecrypt", api, algorithm, open);
        contender.point.version = Some(env!("CARGO_PKG_VERSION").to_owned());
        contender.point.isa = Some(isa.level().name().to_owned());
        contender
    }

    /// Ours as `made` for this processor, then for each lower level of instruction set that has a
    /// kernel of its own.
    fn at_levels(algorithm: Algorithm, made: impl Fn(Algorithm, Isa) -> Self) -> Vec<Self> {
        let best = Isa::detect();
        let running = algorithm.kernel_at(best.level());
        let mut lower: Vec<Level> = algorithm.kernels().filter(|&level| level < running).collect();
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

    /// Whether it takes many messages at a time; else a batch is a loop.
    pub(crate) const fn has_batches(&self) -> bool {
        self.batches
    }

    /// The row of the requests that `request` describes and `make` makes; `suffix` ends its id.
    fn described(
        &self,
        request: Point,
        suffix: &str,
        make: impl Fn() -> Option<Box<dyn Work>> + Send + Sync + 'static,
    ) -> Row {
        let Point { source, version, api, subject, isa, .. } = self.point.clone();
        let level = isa.as_ref().filter(|_| self.lower);
        let level = level.map_or_else(String::new, |isa| format!("@{isa}"));
        let Point { table, op, .. } = &request;
        let id = format!("{table}/{source}/{api}/{subject}{level}/{op}{suffix}");
        let point = Point { id, source, version, api, subject, isa, ..request };
        let batches = Batches::default();
        Row { point, make: Box::new(make), whole: None, batches, faulty: false }
    }
}
