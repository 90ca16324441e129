//! The results of a run: the JSON of schema 2.

use lanecrypt_kernels::Isa;
use serde::{Deserialize, Serialize};

use crate::conditions::Conditions;
use crate::fit::Fit;
use crate::machine::Machine;
use crate::statistics::Estimate;

/// The version of the JSON that this crate writes. It reads that of schema 1 as well, whose points
/// have no [`Point::passes`] and whose runs no [`Conditions`].
pub const SCHEMA: u32 = 2;
/// The oldest version that it reads.
const OLDEST: u32 = 1;

/// One run: the machine and everything measured on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Results {
    /// [`SCHEMA`], or that of the file which was read.
    pub schema: u32,
    /// The machine of the run.
    pub machine: Machine,
    /// What the machine did meanwhile; absent in schema 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    /// The measured points.
    pub points: Vec<Point>,
}

impl Results {
    /// The results of a run on `machine`.
    #[must_use]
    pub fn new(machine: Machine, points: Vec<Point>) -> Self {
        Self { schema: SCHEMA, machine, conditions: None, points }
    }

    /// As JSON, indented, ending in a newline.
    ///
    /// # Errors
    ///
    /// Those of the serialiser; it has no reason to fail with these types.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Reads what [`Results::to_json`] wrote.
    ///
    /// # Errors
    ///
    /// If the text is not JSON of a schema that this crate knows.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let results: Self = serde_json::from_str(text)?;
        match results.schema {
            OLDEST..=SCHEMA => Ok(results),
            other => Err(serde::de::Error::custom(format!(
                "schema {other} is none of {OLDEST} to {SCHEMA}, which this version reads"
            ))),
        }
    }
}

/// One measured figure, or one figure of a source document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Point {
    /// Unique in a run and the same in every run; `compare` and `--only` use it.
    pub id: String,
    /// The table it belongs to.
    pub table: String,
    /// The project that was measured: `lanecrypt`, `openssl`, `kernel`, …; `document` for a
    /// figure of the source document, `machine` for one of the hardware.
    pub source: String,
    /// The version of that project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The entry point that was timed.
    pub api: String,
    /// The cipher behind it.
    pub subject: String,
    /// The operation of a request: `u32`, `fill`, `read`, `encrypt`, `seal`, `set-key`, …
    pub op: String,
    /// Bytes of one request, if all are of one size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Bytes of requests of mixed sizes, spread evenly over a range: `60-1400`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<String>,
    /// Requests that were handed over at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Requests in flight: handed over and not yet answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Threads that made requests at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Processes that made requests at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// Where a daemon runs: on the processor of its clients (`same`), on another (`other`), or
    /// where the system puts it (`auto`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
    /// How a daemon and its clients wait: they look for a long time before they sleep (`spin`),
    /// sleep at once (`sleep`), or look for as long as is usual (`auto`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// Whether a request finds its key set up (`kept`) or brings one of its own (`fresh`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Whether requests continue one message, each waiting for the one before; otherwise each is a
    /// separate message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chained: Option<bool>,
    /// Whether a private key of RSA knows its primes (Chinese remainder theorem).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crt: Option<bool>,
    /// The level of instruction set that ours ran at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isa: Option<String>,
    /// The kind of generator: `erasing`, `rekeying`, `rekeying-inline` (rekeying, with the cipher's
    /// steps inlined and no buffer) or `rekeying-diagnostic` (rekeying, with a branch before every
    /// draw).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
    /// The action before each batch: `initial`, a generator was made with its first key; `rekeyed`,
    /// it took a new key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The driver that served the requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Time-stamp-counter cycles of one request: wall cycles × threads / requests, or with
    /// processes wall cycles × processes / requests; the median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<f64>,
    /// Whether every pass was disturbed: another guest used the core, or threads lost their
    /// processors.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub disturbed: bool,
    /// The figures of the passes over all rows, of which [`Point::cycles`] is the median; absent in
    /// schema 1, and for figures that are not sampled in passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<f64>,
    /// Lower end of the median's 95 % interval, by the spread between the passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles_low: Option<f64>,
    /// Upper end of that interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles_high: Option<f64>,
    /// The same as [`Point::cycles`] in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns: Option<f64>,
    /// Nanoseconds from handing a request over to taking its completion: half of the requests take
    /// no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<f64>,
    /// The same for 99 of 100 requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<f64>,
    /// The same for 999 of 1000 requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999_ns: Option<f64>,
    /// The cost of the call: the cycles of a request, less those of the same number of bytes in one
    /// request for the whole buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<f64>,
    /// Bytes of stack that the caller clears after each request, beside what the entry point clears
    /// by itself; only in rows that compare this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wiped: Option<u64>,
    /// The cost of clearing them: the cycles of a request, less those of the same request where
    /// the caller clears nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wiping: Option<f64>,
    /// The cost of the calls that continue one message, fitted to all sizes; at the whole buffer's
    /// point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// Requests of all threads or processes in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// Whether the document's whole test was made; false where the figure is projected from less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<bool>,
    /// Seconds that the document's whole test takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Pairs of neighbouring 32-bit words that had occurred before, while each thread drew 2^20
    /// words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u64>,
    /// Whether the answers were checked and used; also false if that is impossible, as for a figure
    /// of a document. Only verified points are ranked.
    pub verified: bool,
}

impl Point {
    /// Enters a measured figure: cycles of one request.
    #[must_use]
    pub(crate) fn measured(mut self, estimate: Estimate) -> Self {
        let ns = estimate.median / crate::clock::ghz();
        self.cycles = Some(estimate.median);
        self.cycles_low = Some(estimate.low);
        self.cycles_high = Some(estimate.high);
        self.ns = Some(ns);
        if ns > 0.0 {
            let at_the_same_time = self.threads.or(self.processes).unwrap_or(1);
            self.per_second = Some(1e9 / ns * f64::from(at_the_same_time));
        }
        self
    }

    /// Enters that it is ours, by kernels of `isa`.
    #[must_use]
    pub(crate) fn of_ours(self, isa: Isa) -> Self {
        let (source, version) = ("lanecrypt".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        Self { source, version: Some(version), isa: Some(isa.level().name().to_owned()), ..self }
    }

    /// Enters the figures of the passes, as exact as a difference between runs can be.
    #[must_use]
    pub(crate) fn with_passes(mut self, passes: &[f64]) -> Self {
        self.passes = passes.iter().copied().map(six_figures).collect();
        self
    }

    /// The cycles as an estimate, if this point was measured.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        Some(Estimate { median: self.cycles?, low: self.cycles_low?, high: self.cycles_high? })
    }

    /// Whether its figure may be compared with others': it comes from more than one pass, or from
    /// none and has an interval of its own, and not all passes were disturbed.
    #[must_use]
    pub fn is_firm(&self) -> bool {
        !self.disturbed && self.passes.len() != 1
    }

    /// The work that it shares with points of other projects: that of its cipher, and that of any.
    pub(crate) fn work(&self) -> [String; 2] {
        let Self { table, op, sizes, key, phase, placement, .. } = self;
        let numbers = (self.size, self.threads, self.processes, self.chained, self.crt);
        let any = format!("{:?}", (table, op, sizes, key, phase, placement, numbers));
        [format!("{} {any}", self.subject), any]
    }

    /// Whether it is ours.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.source == "lanecrypt"
    }

    /// Cycles of one byte.
    #[must_use]
    pub fn cycles_per_byte(&self) -> Option<f64> {
        Some(self.cycles? / crate::clock::as_f64(self.size.filter(|&size| size > 0)?))
    }

    /// Megabytes (10^6 bytes) of all threads in a second.
    #[must_use]
    pub fn megabytes_per_second(&self) -> Option<f64> {
        Some(self.per_second? * crate::clock::as_f64(self.size?) / 1e6)
    }
}

/// The value to six significant figures, which keeps files short.
fn six_figures(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return value;
    }
    let scale = 10_f64.powf(5.0 - value.log10().floor());
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { value }
}

/// The point that is certainly the fastest of `points`: it is verified and firm, and its interval
/// is entirely below that of every other such one.
#[must_use]
pub fn fastest<'a>(points: impl IntoIterator<Item = &'a Point>) -> Option<&'a Point> {
    let mut best: Option<(&Point, Estimate)> = None;
    let mut peers = Vec::new();
    for point in points.into_iter().filter(|point| point.verified && point.is_firm()) {
        let Some(estimate) = point.estimate() else { continue };
        peers.push((point, estimate));
        if best.is_none_or(|(_, b)| estimate.median < b.median) {
            best = Some((point, estimate));
        }
    }
    let (point, estimate) = best?;
    let clear = peers.iter().all(|(p, e)| core::ptr::eq(*p, point) || estimate.is_below(e));
    clear.then_some(point)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn point(id: &str, median: f64, verified: bool) -> Point {
        let estimate = Estimate { median, low: median * 0.99, high: median * 1.01 };
        Point { id: id.into(), verified, ..Point::default() }.measured(estimate)
    }

    #[test]
    fn json_comes_back_as_it_was() {
        let mut full = point("a/b", 12.5, true);
        full.whole = Some(false);
        full.size = Some(32);
        full.sizes = Some("60-200".into());
        full.isa = Some("avx512".into());
        full = full.with_passes(&[12.345_678, 12.5]);
        let bare = Point { id: "document".into(), ..Point::default() };
        let mut results = Results::new(Machine::default(), vec![full, bare]);
        results.conditions = Some(Conditions { interrupted: true, ..Conditions::default() });
        let text = results.to_json().expect("serialises");
        assert_eq!(Results::from_json(&text).expect("parses"), results);
        assert!(text.starts_with("{\n  \"schema\": 2,") && text.ends_with("}\n"));
        let value: serde_json::Value = serde_json::from_str(&text).expect("parses");
        assert_eq!(value["points"][0]["cycles"], 12.5);
        assert!(value["points"][1].get("cycles").is_none(), "absent, not null");
        assert_eq!(value["points"][0]["passes"], serde_json::json!([12.3457, 12.5]));
        for (schema, is_known) in [(0, false), (1, true), (3, false)] {
            let other = text.replace("\"schema\": 2", &format!("\"schema\": {schema}"));
            assert_eq!(Results::from_json(&other).is_ok(), is_known, "{schema}");
        }
    }

    #[test]
    fn six_figures_are_kept() {
        for (value, kept) in [(123_456.7, 123_457.0), (0.012_345_678, 0.012_345_7), (0.0, 0.0)] {
            assert!((six_figures(value) - kept).abs() <= kept * 1e-12, "{value}");
        }
        assert!(six_figures(f64::NAN).is_nan());
        assert_eq!(six_figures(f64::MIN_POSITIVE), f64::MIN_POSITIVE);
    }

    #[test]
    fn only_verified_and_clearly_faster_points_rank() {
        let (slow, fast) = (point("slow", 20.0, true), point("fast", 10.0, true));
        let (near, wrong) = (point("near", 10.1, true), point("wrong", 1.0, false));
        assert_eq!(fastest([&slow, &fast, &wrong]).map(|p| p.id.as_str()), Some("fast"));
        assert_eq!(fastest([&slow, &fast, &near]), None);
        assert_eq!(fastest([&wrong]), None);
    }

    #[test]
    fn rates_follow_from_cycles() {
        let mut point = point("x", clock_cycles(50.0), true);
        point.size = Some(100);
        assert!((point.ns.expect("measured") - 50.0).abs() < 1e-6);
        assert!((point.megabytes_per_second().expect("measured") - 2000.0).abs() < 1e-3);
    }

    fn clock_cycles(ns: f64) -> f64 {
        ns * crate::clock::ghz()
    }
}
