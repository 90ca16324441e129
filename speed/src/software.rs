//! What this processor's software takes for messages of any length, measured at a few lengths.

use core::time::Duration;
use std::time::Instant;

use lanecrypt_engine::{Algorithm, BatchBuffer, Engine, Error, Session};

use crate::processors::{Pinned, allowed};

/// The lengths that are measured, in bytes.
const SIZES: [usize; 6] = [16, 64, 256, 1024, 4096, 16_384];
/// How many keys messages have.
const KEYS: usize = 32;
/// The least number of messages between two readings of the clock.
const MESSAGES: usize = 64;
/// The time for each length, if that is enough for three rounds.
const TIME: Duration = Duration::from_millis(8);

/// The time of one message by its length, in batches of one depth.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    /// Lengths in bytes, shortest first, and nanoseconds.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Measures encryption by one thread, in batches of `depth`, in less than half a second. None
    /// if sessions do not have the algorithm.
    #[must_use]
    pub(crate) fn measure(engine: &Engine, algorithm: Algorithm, depth: usize) -> Option<Self> {
        let _pinned = allowed().first().map(|&cpu| Pinned::to(cpu));
        let sessions: Vec<Session> = (0..KEYS.min(depth))
            .map(|at| session(engine, algorithm, at))
            .collect::<Result<_, _>>()
            .ok()?;
        let points = SIZES.iter().map(|&size| {
            let ns = nanoseconds(engine, &sessions, size, depth)?;
            Some((size as f64, ns))
        });
        Some(Self { points: points.collect::<Option<_>>()? })
    }

    /// The time of a message in nanoseconds: on straight lines between the lengths that were
    /// measured, and beyond them on the same lines.
    #[must_use]
    pub(crate) fn nanoseconds(&self, bytes: usize) -> f64 {
        let bytes = bytes as f64;
        let lines = self.points.windows(2);
        let line = lines.clone().find(|line| bytes <= line[1].0).or(lines.last());
        match line {
            Some(&[(from, low), (to, high)]) => {
                (low + (high - low) * (bytes - from) / (to - from)).max(0.0)
            }
            _ => self.points.first().map_or(0.0, |point| point.1),
        }
    }
}

fn session(engine: &Engine, algorithm: Algorithm, at: usize) -> Result<Session, Error> {
    let length = algorithm.key_lengths().longest();
    // No two halves or keys are the same.
    let key: Vec<u8> = (0..length).map(|i| (i * 7 + at * 101 + 1).to_le_bytes()[0]).collect();
    match algorithm.is_aead() {
        true => engine.session(algorithm, &key),
        false => engine.raw_session(algorithm, &key),
    }
}

/// The quickest of some rounds, each a batch.
fn nanoseconds(engine: &Engine, sessions: &[Session], size: usize, depth: usize) -> Option<f64> {
    let first = sessions.first()?;
    let nonce = vec![1; first.algorithm()?.nonce_length()];
    let mut messages = vec![vec![0; size]; depth];
    let mut tags = vec![vec![0; first.tag_length()]; depth];
    let mut buffer = engine.batch_buffer(depth);
    // So that reading the clock does not count.
    let turns = MESSAGES.div_ceil(depth);
    let (start, mut rounds, mut least) = (Instant::now(), 0, Duration::MAX);
    // The first rounds warm up caches.
    while rounds < 3 || start.elapsed() < TIME {
        let begun = Instant::now();
        for _ in 0..turns {
            serve(sessions, &nonce, &mut messages, &mut tags, &mut buffer)?;
        }
        least = least.min(begun.elapsed());
        rounds += 1;
    }
    Some(least.as_secs_f64() * 1e9 / (turns * depth) as f64)
}

/// Serves one batch, or a message alone.
#[inline]
fn serve(
    sessions: &[Session],
    nonce: &[u8],
    messages: &mut [Vec<u8>],
    tags: &mut [Vec<u8>],
    buffer: &mut BatchBuffer,
) -> Option<()> {
    let alone = messages.len() == 1;
    let each = sessions.iter().cycle().zip(messages.iter_mut().zip(tags));
    if alone {
        for (session, (message, tag)) in each {
            match session.tag_length() {
                0 => session.encrypt(nonce, &mut message[..]).ok()?,
                _ => session.seal_detached(nonce, &[], &mut message[..], tag).ok()?,
            }
        }
        return Some(());
    }
    let mut batch = buffer.batch();
    for (session, (message, tag)) in each {
        match session.tag_length() {
            0 => batch.encrypt(session, nonce, &mut message[..]),
            _ => batch.seal_detached(session, nonce, &[], &mut message[..], tag),
        };
    }
    batch.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_through_what_was_measured_and_on() {
        let curve = Curve { points: vec![(16.0, 10.0), (64.0, 20.0), (256.0, 116.0)] };
        for (bytes, ns) in [(16, 10.0), (64, 20.0), (256, 116.0), (160, 68.0), (512, 244.0)] {
            assert!((curve.nanoseconds(bytes) - ns).abs() < 1e-9, "{bytes}");
        }
        assert!(curve.nanoseconds(0) > 0.0 && curve.nanoseconds(0) < 10.0);
    }

    #[test]
    fn every_algorithm_with_sessions_is_measured() {
        let engine = Engine::new();
        for &algorithm in Algorithm::ALL {
            let curve = Curve::measure(&engine, algorithm, 3);
            let has_sessions = algorithm != Algorithm::ARC4;
            assert_eq!(curve.is_some(), has_sessions, "{algorithm}");
            assert!(curve.is_none_or(|curve| curve.nanoseconds(100) > 0.0));
        }
    }
}
