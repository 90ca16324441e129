//! Splits messages among drivers, so that the last driver finishes as early as possible.

use arrayvec::ArrayVec;

use super::mask::MOST;

/// The cost of messages of one kind: a time for all, and one for each. In nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) fixed: f64,
    pub(super) each: f64,
}

impl Line {
    /// No message is free.
    const LEAST: f64 = 0.01;

    /// The line through the times of one message and of `messages`.
    pub(super) fn through(one: f64, all: f64, messages: usize) -> Self {
        let others = count(messages.max(2)) - 1.0;
        let each = if messages < 2 { one } else { (all - one) / others };
        let each = each.max(Self::LEAST);
        Self { fixed: (one - each).max(0.0), each }
    }

    /// The time of this many messages.
    pub(super) fn time(&self, messages: usize) -> f64 {
        self.fixed + self.each * count(messages)
    }
}

/// A driver that may serve messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Only one of the others receives messages: they would wait for each other.
    pub(super) is_asynchronous: bool,
    /// The time at which it can begin.
    pub(super) start: f64,
    pub(super) line: Line,
}

impl Candidate {
    fn end(&self, messages: usize) -> f64 {
        self.start + self.line.time(messages)
    }
}

/// Several drivers must take at most this share of the time of a single one.
const GAIN: f64 = 0.95;

/// The number of messages for each candidate, of which there are at most [`MOST`].
pub(super) fn split(messages: usize, candidates: &[Candidate]) -> ArrayVec<usize, MOST> {
    let earliest = |candidates: &mut dyn Iterator<Item = (usize, &Candidate)>| {
        let ends = candidates.map(|(at, candidate)| (at, candidate.end(messages)));
        ends.min_by(|(_, a), (_, b)| a.total_cmp(b))
    };
    let mut alone: ArrayVec<usize, MOST> = candidates.iter().take(MOST).map(|_| 0).collect();
    let Some((best, end)) = earliest(&mut candidates.iter().enumerate().take(MOST)) else {
        return alone;
    };
    if let Some(share) = alone.get_mut(best) {
        *share = messages;
    }
    let mut here =
        candidates.iter().enumerate().filter(|(_, candidate)| !candidate.is_asynchronous);
    let here = earliest(&mut here).map(|(at, _)| at);
    let together: ArrayVec<bool, MOST> = candidates
        .iter()
        .take(MOST)
        .enumerate()
        .map(|(at, candidate)| candidate.is_asynchronous || here == Some(at))
        .collect();
    let shares = shared(messages, candidates, together);
    let ends = shares.iter().zip(candidates).filter(|(share, _)| **share > 0);
    let last = ends.map(|(&share, candidate)| candidate.end(share)).fold(0.0, f64::max);
    if last < GAIN * end { shares } else { alone }
}

/// The shares with which all participants finish at the same time.
fn shared(
    messages: usize,
    candidates: &[Candidate],
    mut part: ArrayVec<bool, MOST>,
) -> ArrayVec<usize, MOST> {
    let ready = |candidate: &Candidate| candidate.start + candidate.line.fixed;
    loop {
        let those = || candidates.iter().zip(&part).filter(|(_, part)| **part);
        let (rate, lead) = those().fold((0.0, 0.0), |(rate, lead), (candidate, _)| {
            let own = 1.0 / candidate.line.each;
            (rate + own, lead + own * ready(candidate))
        });
        // When all finish: each serves `1 / each` messages a nanosecond from its start.
        let end = (count(messages) + lead) / rate;
        let late = |(candidate, part): (&Candidate, &bool)| *part && ready(candidate) >= end;
        if let Some(late) = candidates.iter().zip(&part).position(late)
            && let Some(part) = part.get_mut(late)
        {
            *part = false;
            continue;
        }
        let mut shares: ArrayVec<usize, MOST> = candidates
            .iter()
            .zip(&part)
            .map(|(candidate, part)| match part {
                true => whole((end - ready(candidate)) / candidate.line.each).min(messages),
                false => 0,
            })
            .collect();
        // The rest from rounding, one by one, to the driver that finishes first.
        let mut left = messages.saturating_sub(shares.iter().sum());
        while left > 0 {
            let ends = shares.iter().zip(candidates).enumerate().filter(|(at, _)| part[*at]);
            let ends = ends.map(|(at, (share, candidate))| (at, candidate.end(share + 1)));
            let Some((at, _)) = ends.min_by(|(_, a), (_, b)| a.total_cmp(b)) else { break };
            shares[at] += 1;
            left -= 1;
        }
        return shares;
    }
}

#[expect(clippy::cast_precision_loss, reason = "batches are not that long")]
fn count(messages: usize) -> f64 {
    messages as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn whole(messages: f64) -> usize {
    messages as usize
}

#[cfg(test)]
#[path = "../../tests/unit/split.rs"]
mod tests;
