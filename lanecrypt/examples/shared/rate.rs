//! Packets per second on one core. Several ways of doing the same work take turns, and the best
//! turn of each counts, because other programs can only slow a turn down.

use core::time::Duration;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

/// The implementation that protects or opens the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Batch,
    OneByOne,
    OpenSsl,
}

impl Way {
    /// All available implementations.
    pub(crate) fn all(with_openssl: bool) -> &'static [Self] {
        let all = &[Self::Batch, Self::OneByOne, Self::OpenSsl];
        if with_openssl { all } else { &all[..2] }
    }
}

/// The direction of the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Protect,
    Unprotect,
}

/// Approximate length of a turn. It is shorter than a scheduler time slice, so that some turns run
/// without interruption.
const TURN: Duration = Duration::from_millis(2);
/// Minimum number of turns of each way.
const TURNS: u32 = 3;

/// Pins this thread to its current processor. If the system does not allow that, the figures are a
/// little less steady.
pub(crate) fn stay_on_one_core() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    let _ = sched_setaffinity(None, &here);
}

/// Returns rounds per second for each way, when all of them together take `span`.
///
/// # Errors
///
/// Returns the first error of a round.
pub(crate) fn best<W: Copy, E>(
    ways: &[W],
    span: Duration,
    mut round: impl FnMut(W) -> Result<(), E>,
) -> Result<Vec<f64>, E> {
    /// Rounds between two readings of the clock. Reading it after every round would distort the
    /// figures of small rounds.
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

/// A line of a table: the title, the rates of Lanecrypt in batches and one at a time, and, if
/// OpenSSL is present, its rate and the ratio of the batch rate to it.
pub(crate) fn line(title: &str, rates: &[f64]) -> String {
    let cells = rates.iter().map(|rate| format!("{rate:>16.0}")).collect::<String>();
    match rates {
        [batch, _, openssl] => format!("{title:<24}{cells}{:>10.2}", batch / openssl),
        _ => format!("{title:<24}{cells}"),
    }
}

/// The heading of the table.
pub(crate) fn head(title: &str, openssl: Option<&str>) -> String {
    let ours = format!("{title:<24}{:>16}{:>16}", "in batches", "one at a time");
    match openssl {
        Some(version) => format!("{ours}{:>16}{:>10}", format!("OpenSSL {version}"), "ratio"),
        None => ours,
    }
}
