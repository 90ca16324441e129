//! The random number generators that are measured: ours and the peers', as one kind of thing.

use core::marker::PhantomData;
use std::sync::Arc;

use lanecrypt_kernels::aes::AesCtr;
use lanecrypt_kernels::chacha::ChaCha;
use lanecrypt_kernels::{Isa, Level};
use lanecrypt_peers::{Availability, Draw, Failed, Generator, GeneratorPeer, generator};
use lanecrypt_random::{Erasing, PerThread, SeedCore, ThreadCore};

use crate::results::Point;
use crate::row::{Arena, Row, Work};
use crate::verify::{self, Defect};

/// A generator that can be measured here.
#[derive(Clone)]
pub(crate) struct Contender {
    /// Names it, without size and threads.
    point: Point,
    make: Arc<dyn Fn() -> Option<Box<dyn Generator>> + Send + Sync>,
    /// Compares its kernel, for requests of a size, with the portable one; peers have none.
    kernel: Option<Arc<dyn Fn(usize) -> bool + Send + Sync>>,
}

impl Contender {
    /// A generator under a name; `kernel` checks what stands under it.
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
        Self { point, make: Arc::new(make), kernel: None }
    }

    /// The peer, unless it is missing.
    pub(crate) fn peer(peer: &GeneratorPeer) -> Option<Self> {
        let Availability::Found(version) = &peer.availability else { return None };
        let mut contender = Self::new([peer.source, peer.api, peer.subject], peer.make);
        contender.point.version = Some(version.clone());
        Some(contender)
    }

    fn ours<C: SeedCore + 'static>(
        api: &str,
        subject: &str,
        isa: Isa,
        make: impl Fn() -> Option<Box<dyn Generator>> + Send + Sync + 'static,
    ) -> Self {
        let mut contender = Self::new(["lanecrypt", api, subject], make);
        contender.point.version = Some(env!("CARGO_PKG_VERSION").to_owned());
        contender.point.generator = Some("erasing".to_owned());
        contender.point.isa = Some(isa.level().name().to_owned());
        contender.kernel = Some(Arc::new(move |size| verify::kernel_is_right::<C>(isa, size)));
        contender
    }

    /// The calling thread's generator over `C`.
    fn per_thread<C: ThreadCore + 'static>(subject: &str) -> Self {
        Self::ours::<C>("per-thread", subject, Isa::detect(), || generator(Local::<C>(PhantomData)))
    }

    /// A generator over `C` that its user owns, by kernels of `isa`.
    fn owned<C: SeedCore + 'static>(api: &str, subject: &str, isa: Isa) -> Self {
        Self::ours::<C>(api, subject, isa, move || {
            generator(Owned(Erasing::<C>::with_isa(isa).ok()?))
        })
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.point.is_ours()
    }

    /// The row that times requests of `size` bytes on `threads` threads.
    pub(crate) fn row(&self, table: &str, op: Op, size: usize, threads: u32) -> Row {
        let mut point = self.point.clone();
        point.table = table.into();
        point.op = op.name().into();
        point.size = Some(size as u64);
        point.threads = Some(threads);
        let Self { make, kernel, .. } = self.clone();
        let make = move || -> Option<Box<dyn Work>> {
            let kernel = kernel.clone();
            Some(Box::new(Draws { generator: make()?, kernel, size, op, folded: 0 }))
        };
        Row { point, make: Box::new(make), whole: None }
    }
}

/// What a request asks a generator for.
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

/// Our generators as programs use them: the thread's own, then owned ones.
pub(crate) fn ours() -> Vec<Contender> {
    let isa = Isa::detect();
    vec![
        Contender::ours::<ChaCha<20>>("per-thread", "chacha20", isa, || generator(Default)),
        Contender::per_thread::<ChaCha<12>>("chacha12"),
        Contender::per_thread::<ChaCha<8>>("chacha8"),
        Contender::per_thread::<AesCtr<256>>("aes-256-ctr"),
        Contender::owned::<ChaCha<20>>("held", "chacha20", isa),
        Contender::owned::<ChaCha<12>>("held", "chacha12", isa),
        Contender::owned::<ChaCha<8>>("held", "chacha8", isa),
        Contender::owned::<AesCtr<256>>("held", "aes-256-ctr", isa),
    ]
}

/// Our two main cores at every level of instruction set that this processor has.
pub(crate) fn ours_by_level() -> Vec<Contender> {
    let best = Isa::detect();
    let levels = Level::ALL.into_iter().rev().filter(|&level| best.has(level));
    let isas: Vec<Isa> = levels.map(|level| best.at_most(level)).collect();
    let chacha = isas.iter().map(|&isa| Contender::owned::<ChaCha<20>>("stream", "chacha20", isa));
    let aes = isas.iter().map(|&isa| Contender::owned::<AesCtr<256>>("stream", "aes-256-ctr", isa));
    chacha.chain(aes).collect()
}

/// The functions at the root of `lanecrypt_random`, as most programs call them.
struct Default;

impl Draw for Default {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        lanecrypt_random::fill(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(lanecrypt_random::u32())
    }
}

/// The calling thread's generator over a core.
struct Local<C>(PhantomData<C>);

impl<C: ThreadCore> Draw for Local<C> {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        PerThread::<C>::fill(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(PerThread::<C>::u32())
    }
}

/// A generator in the hands of its user.
struct Owned<C: SeedCore>(Erasing<C>);

impl<C: SeedCore> Draw for Owned<C> {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        self.0.fill(buffer);
        Ok(())
    }

    #[inline]
    fn word(&mut self) -> Result<u32, Failed> {
        Ok(self.0.u32())
    }
}

/// Requests to a generator, as a row repeats them.
struct Draws {
    generator: Box<dyn Generator>,
    kernel: Option<Arc<dyn Fn(usize) -> bool + Send + Sync>>,
    size: usize,
    op: Op,
    /// All words of the last run, folded.
    folded: u32,
}

impl Work for Draws {
    fn run(&mut self, arena: &mut Arena, requests: usize) {
        match self.op {
            Op::Word => self.folded = self.generator.words(requests),
            Op::Fill | Op::Read => self.generator.fills(arena.slice(self.size), requests),
        }
    }

    fn digest(&self, arena: &mut Arena) -> u64 {
        if self.op == Op::Word {
            return u64::from(self.folded);
        }
        let (words, rest) = arena.slice(self.size).as_chunks::<8>();
        let folded = words.iter().fold(0, |folded, word| folded ^ u64::from_ne_bytes(*word));
        rest.iter().fold(folded, |folded, &byte| folded.rotate_left(8) ^ u64::from(byte))
    }

    fn check(&mut self, arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        if self.kernel.as_ref().is_some_and(|is_right| !is_right(self.size)) {
            return Err(Defect::Kernel);
        }
        let buffer = arena.slice(self.size);
        verify::draw_sample(self.generator.as_mut(), self.op == Op::Word, buffer)
    }
}
