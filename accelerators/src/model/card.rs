//! Descriptions of cards in files.

use core::str::FromStr;

use lanecrypt_engine::Algorithm;

use super::FileError;
use super::demand::{Demand, Figure, Kind, Pool, Work};
use super::host::{Host, Path};
use super::rates::{FASTEST, LONGEST, Rates};
use super::read::Fields;
use super::schedule::Schedule;

/// An accelerator card, described by a TOML file. It parses from the text of such a file;
/// `accelerators/models` has examples that explain every field.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    name: String,
    source: String,
    path: Path,
    transactions: f64,
    transaction_ns: f64,
    latency_ns: f64,
    bus_bytes_per_second: f64,
    /// Whether the bus carries both directions at the same time.
    duplex: bool,
    engines: u32,
    queue_depth: u32,
    rates: Rates,
}

impl Card {
    /// The names of the cards that are built in.
    pub const BUILT_IN: [&str; 4] = ["broadcom-5820", "hifn-7751", "hifn-6500", "intel-qat-gen4"];

    /// The card of this name, if it is built in.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let text = match name {
            "broadcom-5820" => include_str!("../../models/broadcom-5820.toml"),
            "hifn-7751" => include_str!("../../models/hifn-7751.toml"),
            "hifn-6500" => include_str!("../../models/hifn-6500.toml"),
            "intel-qat-gen4" => include_str!("../../models/intel-qat-gen4.toml"),
            _ => return None,
        };
        text.parse().ok()
    }

    /// Its name; the driver of this card is called `model:` and this name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The general source of its figures.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The algorithms that it serves.
    pub fn algorithms(&self) -> impl Iterator<Item = Algorithm> {
        self.rates.algorithms()
    }

    /// The lengths in bits of the moduli for which it signs with RSA.
    pub fn rsa_bits(&self) -> impl Iterator<Item = u32> {
        self.rates.rsa_bits()
    }

    /// The time of one request in nanoseconds, if `depth` of them are handed over at once and all
    /// are awaited before the next: the time of all, divided by their number. Depth 1 is a thread
    /// that waits for each. None if the card does not have the algorithm.
    #[must_use]
    pub fn nanoseconds(&self, host: &Host, work: Work, depth: usize) -> Option<f64> {
        self.scaled(host, work, depth, &[])
    }

    /// The same with some figures improved by a factor.
    pub(super) fn scaled(
        &self,
        host: &Host,
        work: Work,
        depth: usize,
        better: &[(Figure, f64)],
    ) -> Option<f64> {
        let demand = self.demand(host, work)?;
        let each = |demand: Demand, &(figure, factor)| demand.scaled(figure, factor);
        let demand = better.iter().fold(demand, each);
        let mut schedule = self.idle();
        let depth = depth.max(1);
        let ends = (0..depth).map(|_| schedule.take(0.0, &demand));
        Some(ends.fold(0.0, f64::max) / depth as f64)
    }

    /// The idle card.
    pub(super) fn idle(&self) -> Schedule {
        let count = |number| usize::try_from(number).unwrap_or(usize::MAX);
        Schedule::new(count(self.engines), count(self.rates.most_units()), count(self.queue_depth))
    }

    /// The demand of a request.
    pub(super) fn demand(&self, host: &Host, work: Work) -> Option<Demand> {
        let (pool, bytes, setup, engine) = match work.0 {
            Kind::Cipher { algorithm, bytes } => {
                let rate = self.rates.of(algorithm)?;
                let bytes = bytes as f64;
                let engine = bytes / rate.bytes_per_second * 1e9 * f64::from(self.engines);
                (Pool::Cipher, bytes, rate.setup_ns, engine)
            }
            Kind::Rsa { bits, crt } => {
                let rsa = self.rates.rsa(bits)?;
                let units = usize::try_from(rsa.units).unwrap_or(1);
                let engine = 1e9 / rsa.rate(crt)? * f64::from(rsa.units);
                (Pool::Rsa { units }, f64::from(bits) / 8.0, 0.0, engine)
            }
        };
        let one_way = bytes / self.bus_bytes_per_second * 1e9;
        let (bus, way_back) = if self.duplex { (one_way, one_way) } else { (2.0 * one_way, 0.0) };
        Some(Demand {
            pool,
            host: host.calls_ns(&self.path),
            copies: host.copies_ns(&self.path, bytes),
            transactions: self.transactions * self.transaction_ns,
            bus,
            setup,
            engine,
            latency: self.latency_ns,
            way_back,
            interrupt: host.interrupts_ns(&self.path),
            wake: host.switches_ns(&self.path),
        })
    }
}

impl FromStr for Card {
    type Err = FileError;

    fn from_str(text: &str) -> Result<Self, FileError> {
        let mut file = Fields::parse(text)?;
        file.kind("card")?;
        let name = file.name()?;
        let source = file.source()?;
        let engines = file.count("engines", 1..=4096)?;
        let queue_depth = file.count("queue_depth", 1..=1_000_000)?;
        let des_on_3des = file.flag("des_on_3des")?;

        let mut request = file.table("request")?;
        request.source()?;
        let mut path = Path::read(&mut request)?;
        path.interrupts = f64::from(request.count("interrupts", 0..=1000)?);
        path.driver_ns = request.number("driver_ns", 0.0..=LONGEST)?;
        let transactions = f64::from(request.count("bus_transactions", 0..=1000)?);
        let transaction_ns = request.number("transaction_ns", 0.0..=LONGEST)?;
        let latency_ns = request.number("latency_ns", 0.0..=LONGEST)?;
        request.end()?;

        let mut bus = file.table("bus")?;
        bus.source()?;
        let bus_bytes_per_second = bus.number("bytes_per_second", 1.0..=FASTEST)?;
        let duplex = bus.flag("duplex")?;
        bus.end()?;

        let mut rates = Rates::read(&mut file)?;
        if rates.is_empty() {
            return Err(file.wrong_field("cipher", "missing, and rsa too: the card serves nothing"));
        }
        if des_on_3des {
            rates.put_des_on_3des().map_err(|reason| file.wrong_field("des_on_3des", reason))?;
        }
        file.end()?;
        Ok(Self {
            name,
            source,
            path,
            transactions,
            transaction_ns,
            latency_ns,
            bus_bytes_per_second,
            duplex,
            engines,
            queue_depth,
            rates,
        })
    }
}
