//! Descriptions of hosts in files.

use core::str::FromStr;

use lanecrypt_engine::Algorithm;

use super::FileError;
use super::demand::{Kind, Work};
use super::rates::{FASTEST, LONGEST, Rates};
use super::read::Fields;

/// The costs of a host's operating system and optionally its software, described by a TOML file.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    name: String,
    source: String,
    system_call_ns: f64,
    context_switch_ns: f64,
    interrupt_ns: f64,
    copy_bytes_per_second: f64,
    software: Path,
    rates: Rates,
}

/// The host's part of a request, of a card or of software.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Path {
    pub(super) system_calls: f64,
    pub(super) context_switches: f64,
    pub(super) interrupts: f64,
    /// The number of times the host copies the data.
    pub(super) copies: f64,
    /// Besides, on the host's processor: the driver.
    pub(super) driver_ns: f64,
}

impl Path {
    /// Reads the fields that cards and software share.
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, FileError> {
        let mut count = |name| fields.count(name, 0..=1000).map(f64::from);
        Ok(Self {
            system_calls: count("system_calls")?,
            context_switches: count("context_switches")?,
            copies: count("copies")?,
            ..Self::default()
        })
    }
}

impl Host {
    /// The names of the hosts that are built in.
    pub const BUILT_IN: [&str; 2] = ["host-2003", "host-2026"];

    /// The host of this name, if it is built in.
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let text = match name {
            "host-2003" => include_str!("../../models/host-2003.toml"),
            "host-2026" => include_str!("../../models/host-2026.toml"),
            _ => return None,
        };
        text.parse().ok()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The general source of its figures.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The algorithms whose software has figures in the file.
    pub fn algorithms(&self) -> impl Iterator<Item = Algorithm> {
        self.rates.algorithms()
    }

    /// The time in nanoseconds that the host's software takes for one request, if `depth` of them
    /// are handed over at once. None if the file has no figure.
    #[must_use]
    pub fn software(&self, work: Work, depth: usize) -> Option<f64> {
        let (bytes, computed) = match work.0 {
            Kind::Cipher { algorithm, bytes } => {
                let rate = self.rates.of(algorithm)?;
                let bytes = bytes as f64;
                (bytes, rate.setup_ns + bytes / rate.bytes_per_second * 1e9)
            }
            Kind::Rsa { bits, crt } => {
                (f64::from(bits) / 8.0, 1e9 / self.rates.rsa(bits)?.rate(crt)?)
            }
        };
        let path = &self.software;
        let once = self.switches_ns(path) / depth.max(1) as f64;
        Some(self.calls_ns(path) + self.copies_ns(path, bytes) + computed + once)
    }

    /// The time of an empty algorithm on the path of the software: system calls, context switches
    /// and copies, in nanoseconds.
    #[must_use]
    pub fn null(&self, bytes: usize, depth: usize) -> f64 {
        let path = &self.software;
        let once = self.switches_ns(path) / depth.max(1) as f64;
        self.calls_ns(path) + self.copies_ns(path, bytes as f64) + once
    }

    /// The time of the host's processor for a request, without copies.
    pub(super) fn calls_ns(&self, path: &Path) -> f64 {
        path.system_calls * self.system_call_ns + path.driver_ns
    }

    pub(super) fn copies_ns(&self, path: &Path, bytes: f64) -> f64 {
        path.copies * bytes / self.copy_bytes_per_second * 1e9
    }

    pub(super) fn interrupts_ns(&self, path: &Path) -> f64 {
        path.interrupts * self.interrupt_ns
    }

    /// The time until the waiting program runs again.
    pub(super) fn switches_ns(&self, path: &Path) -> f64 {
        path.context_switches * self.context_switch_ns
    }
}

impl FromStr for Host {
    type Err = FileError;

    fn from_str(text: &str) -> Result<Self, FileError> {
        let mut file = Fields::parse(text)?;
        file.kind("host")?;
        let name = file.name()?;
        let source = file.source()?;

        let mut costs = file.table("costs")?;
        costs.source()?;
        let system_call_ns = costs.number("system_call_ns", 0.0..=LONGEST)?;
        let context_switch_ns = costs.number("context_switch_ns", 0.0..=LONGEST)?;
        let interrupt_ns = costs.number("interrupt_ns", 0.0..=LONGEST)?;
        let copy_bytes_per_second = costs.number("copy_bytes_per_second", 1.0..=FASTEST)?;
        costs.end()?;

        let mut way = file.table("software")?;
        way.source()?;
        let software = Path::read(&mut way)?;
        way.end()?;

        let rates = Rates::read(&mut file)?;
        file.end()?;
        Ok(Self {
            name,
            source,
            system_call_ns,
            context_switch_ns,
            interrupt_ns,
            copy_bytes_per_second,
            software,
            rates,
        })
    }
}
