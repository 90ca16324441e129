//! The speeds of a card's engines, or of the software of a host.

use lanecrypt_ciphers::{Algorithm, Primitive};

use super::FileError;
use super::read::Fields;

/// The fastest rate that a file may give, in bytes or operations per second.
pub(super) const FASTEST: f64 = 1e15;
/// The longest time that a file may give, in nanoseconds: an hour.
pub(super) const LONGEST: f64 = 3.6e12;

/// The speed of one algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    /// All engines together.
    pub(super) bytes_per_second: f64,
    /// The time of its engine for each request in addition to that for its bytes.
    pub(super) setup_ns: f64,
}

/// Private operations (signatures) of RSA with one length of the modulus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rsa {
    pub(super) bits: u32,
    /// The number of operations that are computed at the same time.
    pub(super) units: u32,
    /// All units together, without the Chinese remainder theorem.
    pub(super) per_second: Option<f64>,
    /// The same with it.
    pub(super) crt_per_second: Option<f64>,
}

/// The speeds of a card or a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rates {
    ciphers: Vec<(Algorithm, Rate)>,
    rsa: Vec<Rsa>,
}

impl Rates {
    /// Reads the tables `cipher` and `rsa` of a file.
    pub(super) fn read(file: &mut Fields<'_>) -> Result<Self, FileError> {
        let mut rates = Self::default();
        for (name, mut fields) in file.tables("cipher")? {
            let algorithm = name.parse().map_err(|unknown| fields.wrong(&format!("{unknown}")))?;
            fields.source()?;
            let bytes_per_second = fields.number("bytes_per_second", 1.0..=FASTEST)?;
            let setup_ns = fields.optional("setup_ns", 0.0..=LONGEST)?.unwrap_or(0.0);
            fields.end()?;
            rates.ciphers.push((algorithm, Rate { bytes_per_second, setup_ns }));
        }
        for (name, mut fields) in file.tables("rsa")? {
            let bits = name.parse().ok().filter(|bits| (512..=16_384).contains(bits));
            let bits = bits.ok_or_else(|| fields.wrong("must be from 512 to 16384 bits"))?;
            fields.source()?;
            let units = fields.count("units", 1..=4096)?;
            // At least one in about a year, so that sums of times are finite.
            let range = || 1e-7..=FASTEST;
            let per_second = fields.optional("per_second", range())?;
            let crt_per_second = fields.optional("crt_per_second", range())?;
            if per_second.or(crt_per_second).is_none() {
                return Err(fields.wrong_field("per_second", "missing, and crt_per_second too"));
            }
            fields.end()?;
            rates.rsa.push(Rsa { bits, units, per_second, crt_per_second });
        }
        Ok(rates)
    }

    /// Runs DES on the engine of triple DES, at its speed.
    pub(super) fn put_des_on_3des(&mut self) -> Result<(), &'static str> {
        if self.ciphers.iter().any(|(row, _)| row.primitive() == Primitive::Des) {
            return Err("DES has figures of its own");
        }
        let each = |&(triple, rate): &(Algorithm, Rate)| {
            let of_mode =
                |row: &&Algorithm| row.primitive() == Primitive::Des && row.mode() == triple.mode();
            let single = Algorithm::ALL.iter().find(of_mode);
            single.filter(|_| triple.primitive() == Primitive::TripleDes).map(|&row| (row, rate))
        };
        let single: Vec<_> = self.ciphers.iter().filter_map(each).collect();
        self.ciphers.extend(&single);
        if single.is_empty() { Err("there is no engine of 3DES") } else { Ok(()) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ciphers.is_empty() && self.rsa.is_empty()
    }

    pub(super) fn algorithms(&self) -> impl Iterator<Item = Algorithm> {
        self.ciphers.iter().map(|&(algorithm, _)| algorithm)
    }

    /// The lengths of moduli in bits.
    pub(super) fn rsa_bits(&self) -> impl Iterator<Item = u32> {
        self.rsa.iter().map(|rsa| rsa.bits)
    }

    pub(super) fn of(&self, algorithm: Algorithm) -> Option<Rate> {
        self.ciphers.iter().find(|(row, _)| *row == algorithm).map(|&(_, rate)| rate)
    }

    pub(super) fn rsa(&self, bits: u32) -> Option<Rsa> {
        self.rsa.iter().find(|rsa| rsa.bits == bits).copied()
    }

    /// The most units of RSA of any length.
    pub(super) fn most_units(&self) -> u32 {
        self.rsa.iter().map(|rsa| rsa.units).max().unwrap_or(1)
    }
}

impl Rsa {
    /// Operations per second of all units together.
    pub(super) fn rate(self, crt: bool) -> Option<f64> {
        if crt { self.crt_per_second } else { self.per_second }
    }
}
