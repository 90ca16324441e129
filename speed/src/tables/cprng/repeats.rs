//! Counts words that occur twice when several threads draw at the same time.
//!
//! Two neighbouring words that occur again, in any thread, are a repetition: among 2^21 pairs of 64
//! bits chance alone makes one in four million runs. The count is of pairs that had occurred
//! before.

use std::sync::Barrier;
use std::thread;

use crate::candidate::Candidate;
use crate::clock::as_f64;
use crate::processors::{self, Pinned};
use crate::results::Point;
use crate::table;
use crate::tables::random;

/// Words that each thread draws in a round.
pub(crate) const WORDS: usize = 1 << 20;
/// The number of rounds after which the search for a fault ends.
const ROUNDS: usize = 10;
/// The most threads; each is on its own processor.
const THREADS: usize = 4;

/// The number of threads that would draw.
pub(crate) fn threads(processors: usize) -> usize {
    processors.min(THREADS)
}

/// The point for a generator's repetitions, without their number.
pub(crate) fn point(candidate: &Candidate, threads: usize) -> Point {
    let mut point = candidate.point().clone();
    point.table = random::NAME.into();
    point.op = "u32".into();
    point.size = Some(4);
    point.threads = u32::try_from(threads).ok();
    point.id = format!("{}/repeats/t{threads}", table::id(&point));
    point
}

/// Counts the repetitions of each candidate, as far as there is time.
///
/// A candidate that is wrong by design gets up to ten rounds until a repetition occurs; the others
/// then get the same number.
pub(crate) fn measure(
    candidates: &[Candidate],
    words: usize,
    over: impl Fn() -> bool,
) -> Vec<Point> {
    let processors = processors::allowed();
    let threads = threads(processors.len());
    let mut points = Vec::new();
    let mut rounds = 1;
    for candidate in candidates {
        let most = if candidate.is_faulty() { ROUNDS } else { rounds };
        let (mut repeated, mut made) = (Some(0), 0);
        while made < most && repeated.is_some_and(|n| n == 0) && !over() {
            repeated = round(candidate, words, &processors[..threads]);
            made += 1;
        }
        let Some(repeated) = repeated.filter(|_| made > 0) else { continue };
        rounds = rounds.max(made);
        let mut point = point(candidate, threads);
        point.repeats = Some(repeated as u64);
        point.verified = repeated == 0 && !candidate.is_faulty();
        points.push(point);
    }
    points
}

/// One round with a new key; `None` if the generator fails.
fn round(candidate: &Candidate, words: usize, cpus: &[usize]) -> Option<usize> {
    // A state that all threads share takes its new key here, before they start.
    candidate.generator()?.rekey();
    let start = Barrier::new(cpus.len());
    let drawn: Vec<Option<Vec<u32>>> = thread::scope(|scope| {
        let start = &start;
        let threads = cpus.iter().map(|&cpu| {
            scope.spawn(move || {
                let _pinned = Pinned::to(cpu);
                let generator = candidate.generator();
                let mut drawn = vec![1; words];
                start.wait();
                let mut generator = generator?;
                for word in &mut drawn {
                    *word = generator.words(1);
                }
                Some(drawn)
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    let drawn: Option<Vec<Vec<u32>>> = drawn.into_iter().collect();
    Some(count(&drawn?))
}

/// Pairs of neighbouring words that occurred before.
fn count(drawn: &[Vec<u32>]) -> usize {
    let pairs = drawn.iter().flat_map(|words| words.windows(2));
    let mut pairs: Vec<u64> =
        pairs.map(|pair| u64::from(pair[0]) << 32 | u64::from(pair[1])).collect();
    pairs.sort_unstable();
    pairs.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// The average number of repetitions by chance among this many words: n²/2 pairs of 2^64 values.
pub(crate) fn by_chance(words: u64) -> f64 {
    as_f64(words).powi(2) / 2.0 / 2f64.powi(64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_generators;

    #[test]
    fn neighbours_that_occur_again_are_counted() {
        assert_eq!(count(&[vec![1, 2, 3, 1, 2, 4], vec![3, 1, 2]]), 3);
        assert_eq!(count(&[vec![1, 2, 1], vec![3, 2, 3]]), 0);
        assert!(by_chance(1 << 21) < 1.0 / 4e6);
    }

    #[test]
    fn a_state_without_a_lock_repeats_itself_and_others_do_not() {
        let _turn = processors::turn();
        if processors::allowed().len() < 2 {
            eprintln!("SKIPPED repeats: threads that meet need two processors");
            return;
        }
        let points = measure(&own_generators::of_repeats(), WORDS / 4, || false);
        assert_eq!(points.len(), 4);
        for point in points {
            let faulty = point.api == "unsynchronised";
            assert_eq!(point.repeats > Some(0), faulty, "{}", point.id);
            assert_eq!(point.verified, !faulty);
        }
    }
}
