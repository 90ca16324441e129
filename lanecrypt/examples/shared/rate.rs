//! Packets a second on one core: several ways of doing the same take turns, and the best turn of
//! each counts, because other programs can only slow one down.

use core::time::Duration;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

/// How long a turn is, about: shorter than what the system gives a thread before it looks for others,
/// so that some turns are without interruption.
const TURN: Duration = Duration::from_millis(2);
/// Turns of each way, at least.
const TURNS: u32 = 3;

/// Keeps this thread on the processor that it is on. Where the system does not allow that, the
/// figures are a little less steady.
pub(crate) fn stay_on_one_core() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    let _ = sched_setaffinity(None, &here);
}

/// Rounds a second of each way, when all of them together take `span`.
///
/// # Errors
///
/// What a round answers.
pub(crate) fn best<W: Copy, E>(
    ways: &[W],
    span: Duration,
    mut round: impl FnMut(W) -> Result<(), E>,
) -> Result<Vec<f64>, E> {
    /// Rounds between two looks at the clock, which would show in the figures of small rounds.
    const STRETCH: u32 = 8;
    let mut best = vec![0.0_f64; ways.len()];
    let (all, mut turns) = (Instant::now(), 0);
    while turns < TURNS || all.elapsed() < span {
        for (&way, best) in ways.iter().zip(&mut best) {
            let (start, mut rounds) = (Instant::now(), 0_u32);
            while start.elapsed() < TURN {
                for _ in 0..STRETCH {
                    round(way)?;
                }
                rounds += STRETCH;
            }
            *best = best.max(f64::from(rounds) / start.elapsed().as_secs_f64());
        }
        turns += 1;
    }
    Ok(best)
}

/// A line of a table: a title, the rates of ours (in a batch, one at a time) and, if it is there, of
/// OpenSSL, and how many times more packets a batch carries than OpenSSL.
pub(crate) fn line(title: &str, rates: &[f64]) -> String {
    let cells = rates.iter().map(|rate| format!("{rate:>16.0}")).collect::<String>();
    match rates {
        [batch, _, openssl] => format!("{title:<24}{cells}{:>10.2}", batch / openssl),
        _ => format!("{title:<24}{cells}"),
    }
}

/// The line above it.
pub(crate) fn head(title: &str, openssl: Option<&str>) -> String {
    let ours = format!("{title:<24}{:>16}{:>16}", "in batches", "one at a time");
    match openssl {
        Some(version) => format!("{ours}{:>16}{:>10}", format!("OpenSSL {version}"), "ratio"),
        None => ours,
    }
}
