//! The demand of one request on the host, the bus and the engines.

use core::fmt;

use lanecrypt_engine::Algorithm;

/// A request to a card or to software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work(pub(super) Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Cipher { algorithm: Algorithm, bytes: usize },
    Rsa { bits: u32, crt: bool },
}

impl Work {
    /// A message of this many bytes.
    #[must_use]
    pub const fn new(algorithm: Algorithm, bytes: usize) -> Self {
        Self(Kind::Cipher { algorithm, bytes })
    }

    /// A signature of RSA by exponentiation with the whole modulus of this many bits.
    #[must_use]
    pub const fn rsa(bits: u32) -> Self {
        Self(Kind::Rsa { bits, crt: false })
    }

    /// A signature of RSA by the Chinese remainder theorem, up to four times as fast.
    #[must_use]
    pub const fn rsa_crt(bits: u32) -> Self {
        Self(Kind::Rsa { bits, crt: true })
    }
}

/// A figure of a card that may limit its benefit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Figure {
    /// The cost of each request regardless of its length: system calls, context switches, the
    /// interrupt, the driver, transactions of the bus, the time to set up an engine.
    FixedCost,
    /// Bytes per second of the bus.
    Bus,
    /// Bytes per second of the engines.
    Engine,
    /// Copies by the host.
    Copies,
}

impl Figure {
    /// All figures.
    pub const ALL: [Self; 4] = [Self::FixedCost, Self::Bus, Self::Engine, Self::Copies];
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::FixedCost => "fixed cost",
            Self::Bus => "bus",
            Self::Engine => "engine rate",
            Self::Copies => "copies",
        })
    }
}

/// The engines that a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pool {
    Cipher,
    /// As many units of RSA as there are for its length of modulus.
    Rsa {
        units: usize,
    },
}

/// The demand of one request, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Demand {
    pub(super) pool: Pool,
    /// Of the host's processor: system calls and the driver.
    pub(super) host: f64,
    /// Of the host's processor: copies.
    pub(super) copies: f64,
    /// Of the bus: transactions without their data.
    pub(super) transactions: f64,
    /// Of the bus: data in both directions.
    pub(super) bus: f64,
    /// Of an engine, regardless of the length.
    pub(super) setup: f64,
    /// Of an engine: the data.
    pub(super) engine: f64,
    /// Additional latency, during which other requests may proceed.
    pub(super) latency: f64,
    /// The same for data that is returned while other data is sent.
    pub(super) way_back: f64,
    /// Of the interrupt's handler.
    pub(super) interrupt: f64,
    /// Until the waiting program runs: context switches.
    pub(super) wake: f64,
}

impl Demand {
    /// The same on a card with one figure multiplied by this factor: 0 is ideal.
    pub(super) fn scaled(mut self, figure: Figure, factor: f64) -> Self {
        let parts: &mut [&mut f64] = match figure {
            Figure::FixedCost => &mut [
                &mut self.host,
                &mut self.transactions,
                &mut self.setup,
                &mut self.latency,
                &mut self.interrupt,
                &mut self.wake,
            ],
            Figure::Bus => &mut [&mut self.bus, &mut self.way_back],
            Figure::Engine => &mut [&mut self.engine],
            Figure::Copies => &mut [&mut self.copies],
        };
        for part in parts {
            **part *= factor;
        }
        self
    }
}
