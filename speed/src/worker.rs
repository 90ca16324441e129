//! Processes that share the passes of a table. Where code and memory lie is another in each
//! process, and may cost a row a few per cent, or double it: the median of the passes of several
//! does not depend on one process's luck.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::options::Options;
use crate::plan;
use crate::progress::Progress;
use crate::reference::{References, Sharing};
use crate::results::Point;
use crate::sampler::{self, Limits, Sampled, TOO_SHORT};
use crate::statistics::Estimate;

/// The number of processes.
const PROCESSES: u32 = 3;
/// In less time than this each would have too few passes.
const LEAST: Duration = Duration::from_secs(5);

/// How often an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(200);

/// What a worker is to do: the part of the run's plan, its time, and the clock that batches are
/// scaled to.
#[derive(Serialize, Deserialize)]
struct Order {
    part: usize,
    milliseconds: u64,
    core_ghz: Option<f64>,
}

/// What it has measured.
#[derive(Default, Serialize, Deserialize)]
struct Outcome {
    points: Vec<Point>,
    remarks: Vec<String>,
    wrong: usize,
    sharing: Sharing,
}

/// Measures a part of a run in a process that [`crate::run`] has started by [`Options::worker`],
/// with the same options. The order is a line of the standard input, and the outcome goes to the
/// standard output. It ends soon after `stop` is set, or the standard input ends.
///
/// # Errors
///
/// If there is no such part, or one of the streams fails.
pub fn work(options: &Options, stop: &Arc<AtomicBool>) -> io::Result<()> {
    let mut order = String::new();
    io::stdin().read_line(&mut order)?;
    let end = Arc::clone(stop);
    thread::spawn(move || {
        // Nothing more comes: it ends when the run is interrupted or has died.
        let _ = io::stdin().read(&mut [0]);
        end.store(true, Ordering::Relaxed);
    });
    let Order { part, milliseconds, core_ghz } = serde_json::from_str(&order)?;
    let deadline = Instant::now() + Duration::from_millis(milliseconds);
    let plan = plan::plan_of(options).map_err(|error| io::Error::other(error.to_string()))?;
    let part = plan.get(part).ok_or_else(|| io::Error::other("there is no such part"))?;
    let mut references = References::at(core_ghz);
    let least = sampler::PASSES / PROCESSES as usize;
    let limits = Limits { deadline: Some(deadline), stop, least };
    let progress = Progress::new(part.heading(), Some(deadline), Some(deadline));
    let sampled = sampler::measure(&part.rows, &part.first, &limits, &mut references, &progress);
    let Sampled { points, remarks, wrong } = sampled;
    let outcome = Outcome { points, remarks, wrong, sharing: references.sharing() };
    io::stdout().write_all(&serde_json::to_vec(&outcome)?)
}

/// Has workers measure a part; `None` if there is too little time, or one fails.
pub(crate) fn measure(
    command: &[OsString],
    part: usize,
    time: Duration,
    core_ghz: Option<f64>,
    stop: &AtomicBool,
) -> Option<(Sampled, Sharing)> {
    let (start, mut outcomes) = (Instant::now(), Vec::new());
    if time < LEAST {
        return None;
    }
    for worker in 0..PROCESSES {
        let left = time.saturating_sub(start.elapsed()) / (PROCESSES - worker);
        let milliseconds = u64::try_from(left.as_millis()).ok()?;
        let order = Order { part, milliseconds, core_ghz };
        outcomes.push(outcome(command, &order, stop).ok()?);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Some(united(outcomes))
}

fn outcome(command: &[OsString], order: &Order, stop: &AtomicBool) -> io::Result<Outcome> {
    let (program, arguments) =
        command.split_first().ok_or_else(|| io::Error::other("there is no command"))?;
    let mut command = Command::new(program);
    let mut worker =
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let outcome = exchange(&mut worker, order, stop);
    // One that has said something wrong is of no more use.
    if outcome.is_err() {
        let _ = worker.kill();
    }
    let status = worker.wait()?;
    outcome.and_then(|outcome| match status.success() {
        true => Ok(outcome),
        false => Err(io::Error::other(status.to_string())),
    })
}

/// Sends the order and reads the outcome; an interrupt ends the orders, and so the worker.
fn exchange(worker: &mut Child, order: &Order, stop: &AtomicBool) -> io::Result<Outcome> {
    let no_pipe = || io::Error::other("there is no pipe");
    let mut orders = worker.stdin.take().ok_or_else(no_pipe)?;
    let mut answers = worker.stdout.take().ok_or_else(no_pipe)?;
    orders.write_all(&serde_json::to_vec(order)?)?;
    orders.write_all(b"\n")?;
    let (end, ended) = channel::<()>();
    thread::scope(|scope| {
        // The end of its orders interrupts it.
        scope.spawn(move || {
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
            drop(orders);
        });
        let mut answer = Vec::new();
        answers.read_to_end(&mut answer)?;
        drop(end);
        Ok(serde_json::from_slice(&answer)?)
    })
}

/// One outcome of several: points in the order of the first.
fn united(outcomes: Vec<Outcome>) -> (Sampled, Sharing) {
    let (mut sampled, mut sharing) = (Sampled::default(), Sharing::default());
    let mut points: Vec<Vec<Point>> = Vec::new();
    let last = outcomes.len().saturating_sub(1);
    for (number, outcome) in outcomes.into_iter().enumerate() {
        for point in outcome.points {
            match points.iter_mut().find(|all| all[0].id == point.id) {
                Some(all) => all.push(point),
                None => points.push(vec![point]),
            }
        }
        for remark in outcome.remarks {
            // What an earlier one had no time for, a later one may have measured.
            let is_stale = number < last && remark.contains(TOO_SHORT);
            if !is_stale && !sampled.remarks.contains(&remark) {
                sampled.remarks.push(remark);
            }
        }
        sampled.wrong = sampled.wrong.max(outcome.wrong);
        sharing.add(&outcome.sharing);
    }
    sampled.points = points.into_iter().map(of_all_passes).collect();
    (sampled, sharing)
}

/// A point of the passes of all processes, of those in which it was not disturbed if there are any.
fn of_all_passes(mut all: Vec<Point>) -> Point {
    let verified = all.iter().all(|point| point.verified);
    let whole = all.iter().any(|point| point.whole == Some(true));
    if all.iter().any(|point| !point.disturbed) {
        all.retain(|point| !point.disturbed);
    }
    let passes: Vec<f64> = all.iter().flat_map(|point| point.passes.iter().copied()).collect();
    let mut point = all.swap_remove(0);
    if let Some(estimate) = Estimate::between(&passes).filter(|_| passes.len() > 1) {
        point = point.measured(estimate).with_passes(&passes);
    }
    point.verified = verified;
    point.whole = point.whole.map(|_| whole);
    point
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(id: &str, passes: &[f64], disturbed: bool) -> Point {
        let point = Point { id: id.into(), verified: true, disturbed, ..Point::default() };
        let estimate = Estimate::of(passes).expect("there are passes");
        point.measured(estimate).with_passes(passes)
    }

    #[test]
    fn the_passes_of_all_processes_count() {
        let outcome = |passes: &[f64], disturbed, remark: &str| Outcome {
            points: vec![point("b", passes, disturbed), point("a", &[5.0], false)],
            remarks: vec![remark.into()],
            ..Outcome::default()
        };
        let outcomes = vec![
            outcome(&[10.0, 10.1, 10.2], false, "1 rows not measured: the time was too short"),
            outcome(&[20.0, 20.1, 20.2], false, "odd"),
            outcome(&[10.1, 10.3, 10.2], false, "odd"),
        ];
        let (sampled, _) = united(outcomes);
        assert_eq!(sampled.remarks, ["odd"]);
        let ids: Vec<&str> = sampled.points.iter().map(|point| point.id.as_str()).collect();
        assert_eq!(ids, ["b", "a"]);
        assert_eq!(sampled.points[0].passes.len(), 9);
        assert_eq!(sampled.points[0].cycles, Some(10.2), "one process's luck does not count");
        assert_eq!(sampled.points[1].passes.len(), 3);
    }

    #[test]
    fn processes_that_were_disturbed_count_if_all_were() {
        let of = |disturbed: [bool; 2]| {
            of_all_passes(vec![
                point("a", &[10.0, 10.0], disturbed[0]),
                point("a", &[15.0, 15.0], disturbed[1]),
            ])
        };
        assert_eq!((of([false, true]).cycles, of([false, true]).disturbed), (Some(10.0), false));
        assert_eq!((of([true, true]).passes.len(), of([true, true]).disturbed), (4, true));
    }

    #[test]
    fn an_interrupt_ends_a_worker() {
        let order = Order { part: 0, milliseconds: 60_000, core_ghz: Some(4.0) };
        // It waits for the end of its orders.
        let command = ["sh", "-c", "cat >/dev/null; exec sleep 0"].map(OsString::from);
        let start = Instant::now();
        assert!(outcome(&command, &order, &AtomicBool::new(true)).is_err(), "no outcome");
        assert!(start.elapsed() < Duration::from_secs(30), "it went on");
    }

    #[test]
    fn a_worker_that_fails_is_noticed() {
        let order = Order { part: 0, milliseconds: 1, core_ghz: None };
        for command in [&["false"][..], &["echo", "nonsense"], &["no-such-program"], &[]] {
            let command: Vec<OsString> = command.iter().map(OsString::from).collect();
            assert!(outcome(&command, &order, &AtomicBool::new(false)).is_err(), "{command:?}");
        }
    }
}
