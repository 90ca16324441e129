//! The further measurements of the message's table: repeated words, and the memory's bandwidth.

use core::sync::atomic::Ordering;

use super::bandwidth::{self, Sizes};
use super::repeats;
use crate::candidate::Candidate;
use crate::sampler::{Limits, Sampled};
use crate::{own_generators, processors};

/// Measures the points of both that match `fits`, unless `limits` end it first.
pub(crate) fn measure(fits: impl Fn(&str) -> bool, limits: &Limits<'_>, sampled: &mut Sampled) {
    let processors = processors::allowed();
    let threads = repeats::threads(processors.len());
    let counted: Vec<Candidate> = own_generators::of_repeats()
        .into_iter()
        .filter(|candidate| fits(&repeats::point(candidate, threads).id))
        .collect();
    if threads > 1 {
        for point in repeats::measure(&counted, repeats::WORDS, || limits.over()) {
            if point.repeats > Some(0) && point.api != "unsynchronised" {
                sampled.remarks.push(format!("not verified: {}: words occurred twice", point.id));
                sampled.wrong += 1;
            }
            sampled.points.push(point);
        }
    } else if !counted.is_empty() {
        sampled.remarks.push("repeated words not counted: this needs 2 processors".to_owned());
    }
    // Setting up the arrays takes time, and an interrupt should not wait for it.
    let stopped = limits.stop.load(Ordering::Relaxed);
    if !stopped && copies(processors.len()).iter().any(|id| fits(id)) {
        let array = Sizes::of_this_machine().array;
        let points = bandwidth::measure(array, &processors, || limits.over());
        sampled.points.extend(points.into_iter().filter(|point| fits(&point.id)));
    }
}

/// Every id that [`measure`] can return.
pub(crate) fn ids() -> Vec<String> {
    let processors = processors::allowed().len();
    let threads = repeats::threads(processors);
    let counts =
        own_generators::of_repeats().map(|candidate| repeats::point(&candidate, threads).id);
    counts.into_iter().chain(copies(processors)).collect()
}

fn copies(processors: usize) -> Vec<String> {
    let threads = if processors > 1 { vec![1, processors] } else { vec![1] };
    threads.into_iter().map(|threads| bandwidth::point(threads).id).collect()
}
