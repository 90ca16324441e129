//! The size from which a card is faster than software, and the figure that determines it.

use lanecrypt_engine::Algorithm;

use super::demand::{Figure, Work};
use super::{Card, Host};

/// The longest message that is considered, in bytes: 64 MiB.
const LONGEST: usize = 1 << 26;

/// The sizes at which a card is faster than software.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakEven {
    /// The smallest such size in bytes; none if there is none up to 64 MiB.
    pub from: Option<usize>,
    /// The first larger size at which the software is faster again, if there is one up to 64 MiB.
    pub until: Option<usize>,
    /// The limiting figure; several if only all of them together would make the card faster; empty
    /// if it is already faster at the smallest size.
    ///
    /// With a break-even, this is the figure whose reduction by a tenth lowers it most. Without
    /// one, it is the single figure that would give, if it cost nothing, the lowest size above
    /// which the card stays faster.
    pub decides: Vec<Figure>,
}

/// Compares a card with software in batches of `depth`; `software` returns its time in nanoseconds
/// for a message of some bytes. None if the card or the software does not have the algorithm.
#[must_use]
pub fn break_even(
    card: &Card,
    host: &Host,
    algorithm: Algorithm,
    depth: usize,
    software: impl Fn(usize) -> Option<f64>,
) -> Option<BreakEven> {
    let smallest = smallest(algorithm);
    software(smallest)?;
    card.demand(host, Work::new(algorithm, smallest))?;
    let wins = |bytes: usize, better: &[(Figure, f64)]| {
        let work = Work::new(algorithm, bytes);
        match (card.scaled(host, work, depth, better), software(bytes)) {
            (Some(card), Some(software)) => card < software,
            _ => false,
        }
    };
    let from = |better: &[(Figure, f64)]| first(smallest, |bytes| wins(bytes, better));
    let won = from(&[]);
    let until = won.and_then(|won| first(won, |bytes| !wins(bytes, &[])));
    let decides = match won {
        Some(bytes) if bytes == smallest => Vec::new(),
        Some(bytes) => {
            let (mut least, mut decides) = (bytes, Figure::FixedCost);
            for figure in Figure::ALL {
                let lower = from(&[(figure, 0.9)]).unwrap_or(LONGEST);
                if lower < least {
                    (least, decides) = (lower, figure);
                }
            }
            vec![decides]
        }
        // With short messages a card may win because the software's path is longer.
        None => few_that_would_do(|better| from(better).filter(|_| wins(LONGEST, better))),
    };
    // Of the sizes between, only whole blocks are messages.
    let whole = |bytes: usize| bytes.next_multiple_of(algorithm.granularity());
    Some(BreakEven { from: won.map(whole), until: until.map(whole), decides })
}

/// The fewest figures that would make a card win if they cost nothing.
fn few_that_would_do(from: impl Fn(&[(Figure, f64)]) -> Option<usize>) -> Vec<Figure> {
    let mut sets: Vec<Vec<Figure>> =
        (1_u32..1 << Figure::ALL.len()).map(|set| members(set).collect()).collect();
    sets.sort_by_key(Vec::len);
    let mut best: Option<(usize, Vec<Figure>)> = None;
    for set in sets {
        if best.as_ref().is_some_and(|(_, best)| best.len() < set.len()) {
            break;
        }
        let ideal: Vec<_> = set.iter().map(|&figure| (figure, 0.0)).collect();
        if let Some(bytes) = from(&ideal)
            && best.as_ref().is_none_or(|(least, _)| bytes < *least)
        {
            best = Some((bytes, set));
        }
    }
    best.map_or_else(|| Figure::ALL.to_vec(), |(_, set)| set)
}

/// The figures whose bits are set.
fn members(set: u32) -> impl Iterator<Item = Figure> {
    (0_u32..).zip(Figure::ALL).filter(move |(bit, _)| set >> bit & 1 == 1).map(|(_, figure)| figure)
}

/// The smallest message that is considered, in bytes.
fn smallest(algorithm: Algorithm) -> usize {
    // XTS requires at least a block.
    if algorithm.to_string().ends_with("-xts") { 16 } else { algorithm.granularity() }
}

/// The first size from `smallest` on for which `holds`. Sizes are doubled until it does, and then
/// halved into.
fn first(smallest: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    let mut below = smallest;
    if holds(below) {
        return Some(below);
    }
    let mut above = loop {
        let next = below.saturating_mul(2);
        if next > LONGEST {
            return None;
        }
        if holds(next) {
            break next;
        }
        below = next;
    };
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if holds(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
    Some(above)
}
