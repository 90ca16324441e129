//! The measured random number generators, ours and the peers', behind one interface.

use std::sync::Arc;

use lanecrypt_kernels::Isa;
use lanecrypt_peers::{Availability, Draw, Generator, Peer, generator};

use crate::results::Point;
use crate::row::{Arena, Batches, Row, Workload};
use crate::verify::{self, Defect};

/// Makes a generator for the calling thread.
#[derive(Clone)]
struct Make(Arc<dyn Fn() -> Option<Box<dyn Generator>> + Send + Sync>);

/// Compares a kernel, for requests of a size, with another implementation.
#[derive(Clone)]
struct Check(Arc<dyn Fn(usize) -> bool + Send + Sync>);

/// A generator that can be measured here.
#[derive(Clone)]
pub(crate) struct Candidate {
    /// Its name, without size and threads.
    point: Point,
    make: Make,
    /// Makes one with a new key; [`Candidate::make`] may return one that has been drawn from.
    fresh: Make,
    /// Checks its kernel; peers have none.
    kernel: Option<Check>,
    /// Whether it can take a new key on request.
    rekeys: bool,
    /// Whether it is wrong by design.
    faulty: bool,
}

/// A kind of our generators, as the results name it.
pub(crate) struct Our {
    pub(crate) subject: &'static str,
    pub(crate) generator: &'static str,
    /// Compares its kernel, for requests of a size, with another implementation.
    pub(crate) check: fn(Isa, usize) -> bool,
}

impl Candidate {
    /// A generator under a name.
    pub(crate) fn new(
        [source, api, subject]: [&str; 3],
        make: impl Fn() -> Option<Box<dyn Generator>> + Send + Sync + 'static,
    ) -> Self {
        let point = Point {
            source: source.into(),
            api: api.into(),
            subject: subject.into(),
            ..Point::default()
        };
        let make = Make(Arc::new(make));
        Self { point, fresh: make.clone(), make, kernel: None, rekeys: false, faulty: false }
    }

    /// The peer, unless it is missing.
    pub(crate) fn peer(peer: &Peer<dyn Generator>) -> Option<Self> {
        let Availability::Found(version) = &peer.availability else { return None };
        let (names, made) = ([peer.source, peer.api, peer.subject], peer.clone());
        let mut candidate = Self::new(names, move || made.make());
        candidate.point.version = Some(version.clone());
        candidate.rekeys = peer.make().is_some_and(|mut generator| generator.rekey());
        Some(candidate)
    }

    /// One of ours, of a kind, in a place, by kernels of `isa`.
    pub(crate) fn ours<D: Draw + 'static>(
        kind: &Our,
        api: &str,
        isa: Isa,
        draw: impl Fn() -> Option<D> + Send + Sync + 'static,
    ) -> Self {
        let mut candidate = Self::new(["lanecrypt", api, kind.subject], move || generator(draw()?));
        candidate.point = candidate.point.of_ours(isa);
        candidate.point.generator = Some(kind.generator.to_owned());
        let check = kind.check;
        candidate.kernel = Some(Check(Arc::new(move |size| check(isa, size))));
        candidate.rekeys = true;
        candidate
    }

    /// Sets a way to get one with a new key, for generators that may have been drawn from.
    pub(crate) fn keyed_anew<D: Draw + 'static>(
        mut self,
        draw: impl Fn() -> Option<D> + Send + Sync + 'static,
    ) -> Self {
        self.fresh = Make(Arc::new(move || {
            let mut draw = draw()?;
            draw.rekey().ok()?;
            generator(draw)
        }));
        self
    }

    /// Marks it as wrong by design.
    pub(crate) const fn faulty(mut self) -> Self {
        self.faulty = true;
        self
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.point.is_ours()
    }

    /// Whether it can take a new key on request.
    pub(crate) const fn rekeys(&self) -> bool {
        self.rekeys
    }

    /// Whether it is wrong by design.
    pub(crate) const fn is_faulty(&self) -> bool {
        self.faulty
    }

    /// Its name in the results.
    pub(crate) const fn point(&self) -> &Point {
        &self.point
    }

    /// A generator for the calling thread.
    pub(crate) fn generator(&self) -> Option<Box<dyn Generator>> {
        (self.make.0)()
    }

    /// The row that times requests of `size` bytes on `threads` threads.
    pub(crate) fn row(&self, table: &str, op: Op, size: usize, threads: u32) -> Row {
        self.row_after(Before::Nothing, table, op, size, threads)
    }

    /// The same, with something done before each batch.
    pub(crate) fn row_after(
        &self,
        before: Before,
        table: &str,
        op: Op,
        size: usize,
        threads: u32,
    ) -> Row {
        let mut point = self.point.clone();
        point.table = table.into();
        point.op = op.name().into();
        point.size = Some(size as u64);
        point.threads = Some(threads);
        let Self { make, fresh, kernel, .. } = self.clone();
        let row = Row::new(point, Batches::default(), move || {
            let (fresh, kernel) = (fresh.clone(), kernel.clone());
            let generator = (make.0)()?;
            Some(Draws { generator, fresh, before, kernel, size, op, folded: 0 })
        });
        Row { faulty: self.faulty, ..row }
    }
}

/// A request to a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// A 32-bit word.
    Word,
    /// A buffer full of bytes.
    Fill,
    /// The same, under the name of the document's test.
    Read,
}

impl Op {
    const fn name(self) -> &'static str {
        match self {
            Self::Word => "u32",
            Self::Fill => "fill",
            Self::Read => "read",
        }
    }
}

/// An action before each batch, which is not timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing.
    Nothing,
    /// A generator is made, with its first key.
    Making,
    /// The generator takes a new key.
    Rekeying,
}

/// Requests to a generator, as a row repeats them.
struct Draws {
    generator: Box<dyn Generator>,
    fresh: Make,
    before: Before,
    kernel: Option<Check>,
    size: usize,
    op: Op,
    /// All words of the last run, folded.
    folded: u32,
}

impl Workload for Draws {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        match self.before {
            Before::Nothing => Ok(()),
            Before::Making => {
                self.generator = (self.fresh.0)().ok_or(Defect::Failed)?;
                Ok(())
            }
            Before::Rekeying if self.generator.rekey() => Ok(()),
            Before::Rekeying => Err(Defect::Failed),
        }
    }

    fn run(&mut self, arena: &mut Arena, requests: usize) {
        match self.op {
            Op::Word => self.folded = self.generator.words(requests),
            Op::Fill | Op::Read => self.generator.fills(arena.slice(self.size), requests),
        }
    }

    fn digest(&mut self, arena: &mut Arena) -> u64 {
        if self.op == Op::Word {
            return u64::from(self.folded);
        }
        let (words, rest) = arena.slice(self.size).as_chunks::<8>();
        let folded = words.iter().fold(0, |folded, word| folded ^ u64::from_ne_bytes(*word));
        rest.iter().fold(folded, |folded, &byte| folded.rotate_left(8) ^ u64::from(byte))
    }

    fn check(&mut self, arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        if self.kernel.as_ref().is_some_and(|is_right| !is_right.0(self.size)) {
            return Err(Defect::Kernel);
        }
        let buffer = arena.slice(self.size);
        verify::draw_sample(self.generator.as_mut(), self.op == Op::Word, buffer)
    }

    /// No answer is known.
    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        Ok(())
    }
}
