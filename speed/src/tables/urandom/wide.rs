//! The cost of wide vectors besides their instructions: the first one after a pause, and a context
//! switch while registers are in use. Part of the table `urandom`.

use core::time::Duration;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::thread;
use std::time::Instant;

use lanecrypt_peers::vectors::{self, Width};

use super::NAME;
use crate::clock::{self, as_f64};
use crate::figure::marked;
use crate::processors::{self, Pinned, WaitingTime};
use crate::results::Point;
use crate::sampler::Limits;
use crate::scope::Scope;
use crate::statistics::Estimate;
use crate::view::List;

/// Pauses after which the first wide instruction is timed; the first pause is the baseline.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(10)];
/// The name of the first pause.
const AT_ONCE: &str = "at-once";
/// The most samples of each pause and width.
const SAMPLES: usize = 41;
/// Round trips of one batch between two threads.
const ROUND_TRIPS: u32 = 200;

/// Measures both within `time`, unless `limits` end it first.
pub(crate) fn measure(time: Duration, limits: &Limits<'_>) -> Vec<Point> {
    let _pinned = processors::allowed().first().map(|&cpu| Pinned::to(cpu));
    let start = Instant::now();
    let mut points = first_uses(|| limits.over() || start.elapsed() > time / 2);
    points.extend(switches(|| limits.over() || start.elapsed() > time));
    points
}

/// Every id that [`measure`] can return.
pub(crate) fn ids() -> Vec<String> {
    let first = PAUSES.into_iter().flat_map(|pause| Width::ALL.map(|w| first_use(pause, w).id));
    first.chain(Width::ALL.map(|width| switch(width).id)).collect()
}

fn first_use(pause: Duration, width: Width) -> Point {
    match pause.as_millis() {
        0 => point("lanecrypt", AT_ONCE, width, "first-use"),
        ms => point("lanecrypt", &format!("after-{ms}ms"), width, "first-use"),
    }
}

fn switch(width: Width) -> Point {
    point("kernel", "pipe", width, "context-switch")
}

fn point(source: &str, api: &str, width: Width, op: &str) -> Point {
    let subject = width.name();
    Point {
        id: format!("{}/{source}/{api}/{subject}/{op}", NAME),
        table: NAME.into(),
        source: source.into(),
        version: (source == "lanecrypt").then(|| env!("CARGO_PKG_VERSION").to_owned()),
        api: api.into(),
        subject: subject.into(),
        op: op.into(),
        threads: Some(1),
        ..Point::default()
    }
}

/// The same short chain of instructions on registers of each width, after a pause.
fn first_uses(over: impl Fn() -> bool) -> Vec<Point> {
    let widths = Width::available();
    let waiting = WaitingTime::of_this_thread();
    let mut points = Vec::new();
    for pause in PAUSES {
        let mut samples = vec![Vec::new(); widths.len()];
        let mut correct = vec![true; widths.len()];
        for _ in 0..SAMPLES {
            for (i, &width) in widths.iter().enumerate() {
                if over() {
                    break;
                }
                vectors::forget();
                if pause.is_zero() {
                    // The same work just before, so that it is no longer the first.
                    let _ = vectors::work(width, 3);
                } else {
                    thread::sleep(pause);
                }
                let waited = waiting.read();
                let start = clock::now();
                let sum = vectors::work(width, 3);
                let cycles = clock::now() - start;
                correct[i] &= sum == vectors::work(Width::None, 3);
                if waiting.read() == waited {
                    samples[i].push(as_f64(cycles));
                }
            }
        }
        for ((width, samples), correct) in widths.iter().zip(&samples).zip(correct) {
            if let Some(estimate) = Estimate::of(samples) {
                let mut point = first_use(pause, *width).measured(estimate);
                point.verified = correct;
                points.push(point);
            }
        }
    }
    points
}

/// Two threads on one processor that wake each other, with registers of each width in use.
fn switches(over: impl Fn() -> bool) -> Vec<Point> {
    let widths = Width::available();
    let mut samples = vec![Vec::new(); widths.len()];
    let mut in_use = vec![true; widths.len()];
    for _ in 0..SAMPLES {
        for (i, &width) in widths.iter().enumerate() {
            if over() {
                break;
            }
            if let Ok((cycles, held)) = round_trips(width) {
                samples[i].push(cycles);
                in_use[i] &= held;
            }
        }
    }
    let rows = widths.iter().zip(&samples).zip(in_use);
    let points = rows.filter_map(|((width, samples), in_use)| {
        let mut point = switch(*width).measured(Estimate::of(samples)?);
        point.verified = in_use;
        Some(point)
    });
    points.collect()
}

/// Cycles of one switch, and whether the registers were in use to the end.
///
/// Every round trip is two switches, each with one write and one read of a byte.
fn round_trips(width: Width) -> std::io::Result<(f64, bool)> {
    let (there, here) = (pipe()?, pipe()?);
    thread::scope(|scope| {
        // The thread inherits the processor that its parent is pinned to.
        let partner = scope.spawn(move || {
            let (mut from, mut to) = (there.0, here.1);
            vectors::occupy(width);
            while pass(&mut from, &mut to).is_ok() {}
            vectors::is_occupied(width)
        });
        let (mut from, mut to) = (here.0, there.1);
        to.write_all(&[1])?;
        from.read_exact(&mut [0])?;
        vectors::occupy(width);
        let start = clock::now();
        for _ in 0..ROUND_TRIPS {
            to.write_all(&[1])?;
            from.read_exact(&mut [0])?;
        }
        let cycles = clock::now() - start;
        let held = vectors::is_occupied(width);
        vectors::forget();
        drop(to);
        // A partner that panicked did not use its registers.
        let theirs = partner.join().unwrap_or(false);
        Ok((as_f64(cycles) / f64::from(2 * ROUND_TRIPS), held && theirs))
    })
}

fn pass(from: &mut PipeReader, to: &mut PipeWriter) -> std::io::Result<()> {
    let mut byte = [0];
    from.read_exact(&mut byte)?;
    to.write_all(&byte)
}

/// Both, and what they add.
pub(super) const COSTS: List = List {
    of: |point| point.op == "first-use" || point.op == "context-switch",
    title: |_| "Other costs of wide vectors: cycles [95 % interval of the median]".to_owned(),
    names: (&["", "registers"], |_, point| {
        let what = match &*point.op {
            "first-use" => format!("first use {}", point.api.replace('-', " ")),
            _ => "context switch, live registers".to_owned(),
        };
        vec![what, point.subject.clone()]
    }),
    columns: &[
        ("cycles", |_, line| marked(line.points[0], line.points[0].cycles)),
        ("95 %", |_, line| {
            let estimate = line.points[0].estimate()?;
            Some(format!("[{:.0}, {:.0}]", estimate.low, estimate.high))
        }),
        ("added", |all, line| Some(added(all, line.points[0]).unwrap_or_default())),
    ],
    note: "\
First use: a chain of 32 multiplications in registers of that width; \"added\" is the difference to
its time without a pause. Context switch: one write and one read of a pipe by two threads on one
processor; \"added\" is the difference to a switch without live registers. ~: cannot be distinguished
from nothing. The message's remark: \"extra work doing the XSAVE and XRESTORE because of the use of
the AVX registers\".
",
    ..List::USUAL
};

/// The difference to the same work without a pause, or to a switch without registers.
fn added(scope: &Scope<'_>, point: &Point) -> Option<String> {
    let base = scope.find(|q| {
        let is_base = match &*point.op {
            "first-use" => q.api == AT_ONCE && point.api != AT_ONCE && q.subject == point.subject,
            _ => q.subject == Width::None.name() && point.subject != q.subject,
        };
        is_base && q.op == point.op && q.verified
    });
    let base = base.filter(|_| point.verified)?;
    let (a, b) = (point.estimate()?, base.estimate()?);
    let mark = if a.is_below(&b) || b.is_below(&a) { "" } else { "~" };
    Some(format!("{mark}{:+.0}", a.median - b.median))
}
