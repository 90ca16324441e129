//! The source of random bytes: the cipher, the kind of generator, and its place.

use clap::ValueEnum;
use lanecrypt_random::{
    AesCtr, Arc4, ChaCha, EntropyError, Erasing, ErasingCore, Fastest, Generator, Hc128, Isa,
    PerCpu, PerThread, Rekeying, Salsa, SeedCore, Shared, StaticGenerator,
};

/// The available ciphers.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Core {
    /// AES-256-CTR where the processor has instructions for AES, else ChaCha20
    #[value(name = "fastest")]
    Fastest,
    #[value(name = "chacha20")]
    ChaCha20,
    #[value(name = "chacha12")]
    ChaCha12,
    #[value(name = "chacha8")]
    ChaCha8,
    #[value(name = "salsa20")]
    Salsa20,
    #[value(name = "salsa12")]
    Salsa12,
    #[value(name = "salsa8")]
    Salsa8,
    #[value(name = "aes-256-ctr")]
    Aes256Ctr,
    /// Not constant time; needs --generator rekeying
    #[value(name = "hc128")]
    Hc128,
    /// Broken, for study only; needs --generator rekeying
    #[value(name = "arc4")]
    Arc4,
}

/// The kinds of generator, by their treatment of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// A new key at each refill: the memory does not reveal earlier output
    Erasing,
    /// A new key every 512 MiB, as in NetBSD's cprng_fast: for comparison
    Rekeying,
}

/// The places of generators.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Placement {
    /// One for each thread
    PerThread,
    /// One for each processor
    PerCpu,
    /// One behind a lock
    Shared,
}

/// A generator in its place.
pub(crate) trait Source: Sync {
    /// Fills `out` with random bytes, on any thread.
    fn fill(&self, out: &mut [u8]) -> Result<(), EntropyError>;
}

impl<G: StaticGenerator> Source for PerThread<G> {
    fn fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        Self::try_fill(out)
    }
}

impl<G: StaticGenerator> Source for PerCpu<G> {
    fn fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        Self::try_fill(out)
    }
}

impl<G: Generator> Source for Shared<G> {
    fn fill(&self, out: &mut [u8]) -> Result<(), EntropyError> {
        self.try_fill(out)
    }
}

/// The reason why there is no such source.
pub(crate) enum Missing {
    /// This kind of generator does not exist with this cipher.
    Combination(String),
    /// The generator could not be seeded.
    Entropy(EntropyError),
}

impl From<EntropyError> for Missing {
    fn from(error: EntropyError) -> Self {
        Self::Entropy(error)
    }
}

impl Core {
    /// The warning that a user must see before this cipher is used.
    pub(crate) fn warning(self) -> Option<&'static str> {
        match self {
            Self::Arc4 => Some("warning: ARC4 is broken, its output is biased: for study only"),
            _ => None,
        }
    }

    /// The generator over this cipher.
    pub(crate) fn source(
        self,
        kind: Kind,
        placement: Placement,
    ) -> Result<Box<dyn Source>, Missing> {
        match self {
            Self::Fastest => match Self::from_str(Fastest::name(Isa::detect()), false) {
                Ok(named) => named.source(kind, placement),
                Err(reason) => Err(Missing::Combination(reason)),
            },
            Self::ChaCha20 => of_kind::<ChaCha<20>>(kind, placement),
            Self::ChaCha12 => of_kind::<ChaCha<12>>(kind, placement),
            Self::ChaCha8 => of_kind::<ChaCha<8>>(kind, placement),
            Self::Salsa20 => of_kind::<Salsa<20>>(kind, placement),
            Self::Salsa12 => of_kind::<Salsa<12>>(kind, placement),
            Self::Salsa8 => of_kind::<Salsa<8>>(kind, placement),
            Self::Aes256Ctr => of_kind::<AesCtr<256>>(kind, placement),
            Self::Hc128 => self.only_rekeying::<Hc128>(kind, placement),
            Self::Arc4 => self.only_rekeying::<Arc4>(kind, placement),
        }
    }

    fn only_rekeying<C: SeedCore + 'static>(
        self,
        kind: Kind,
        placement: Placement,
    ) -> Result<Box<dyn Source>, Missing>
    where
        Rekeying<C>: StaticGenerator,
    {
        match kind {
            Kind::Rekeying => placed::<Rekeying<C>>(placement),
            Kind::Erasing => Err(Missing::Combination(format!(
                "--core {} does not erase its keys; it needs --generator rekeying",
                self.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
            ))),
        }
    }
}

fn of_kind<C: ErasingCore + 'static>(
    kind: Kind,
    placement: Placement,
) -> Result<Box<dyn Source>, Missing>
where
    Erasing<C>: StaticGenerator,
    Rekeying<C>: StaticGenerator,
{
    match kind {
        Kind::Erasing => placed::<Erasing<C>>(placement),
        Kind::Rekeying => placed::<Rekeying<C>>(placement),
    }
}

fn placed<G: StaticGenerator + 'static>(placement: Placement) -> Result<Box<dyn Source>, Missing> {
    Ok(match placement {
        Placement::PerThread => Box::new(PerThread::<G>::new()),
        Placement::PerCpu => Box::new(PerCpu::<G>::new()),
        Placement::Shared => Box::new(Shared::<G>::new()?),
    })
}
