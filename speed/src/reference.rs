//! Two loops of known cost, timed beside each batch: whether this program had the core to itself.
//!
//! On a shared host another guest may run on the second hardware thread of the core. It takes
//! execution ports and caches, so that code with many independent instructions takes up to twice as
//! long, for milliseconds to seconds, and neither the system nor the clock shows it. A loop that
//! fills the ports does. A chain of dependent instructions leaves ports free, so it takes the same
//! time and shows the core's clock alone. The clock moves by some per cent with the load of the
//! host: what a batch took is scaled to one clock for the whole run.

use core::hint::black_box;
use core::ops::RangeInclusive;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::{self, as_f64};

/// Steps of the loop that fills the ports, a microsecond or two.
const STEPS: u32 = 1200;
/// Steps of the chain, as much.
const LINKS: u32 = 200;

/// By how much the first loop may take longer than at best. A second thread on the core adds 20 %
/// and more.
const CROWDED: f64 = 1.04;
/// By how much the core's clock may differ from the usual one.
const CLOCK: f64 = 0.1;
/// The share of the references that are quicker than what counts as the best: an interrupt may
/// fall between two readings of the clock.
const GLITCHES: f64 = 0.01;
/// The least share of references that are like the best, if the core is ever quiet.
const SEEN: f64 = 0.05;
/// What one state of the core differs from the next by, at least twice.
const STATE: f64 = 1.05;
/// The share of batches left out that is worth a line.
const WORTH_SAYING: f64 = 0.01;

/// What the loops took beside a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reference {
    /// The loop that fills the ports, in steps of the chain: whatever the clock is, the same.
    pub(crate) ports: f64,
    /// Cycles of the time-stamp counter that the chain took.
    pub(crate) chain: f64,
}

impl Reference {
    /// Measures on this thread's processor, in about three microseconds.
    pub(crate) fn measure() -> Self {
        let start = clock::now();
        let filled = fill_ports(black_box(STEPS));
        let middle = clock::now();
        let chained = clock::chain(black_box(LINKS));
        let end = clock::now();
        black_box((filled, chained));
        let chain = as_f64((end - middle).max(1));
        Self { ports: as_f64(middle - start) / chain, chain }
    }

    /// Of one before a batch and one after it: the more crowded ports, and the clock between them.
    pub(crate) fn around(before: Self, after: Self) -> Self {
        let chain = f64::midpoint(before.chain, after.chain);
        Self { chain, ..before.worse(after) }
    }

    /// Of two the one that was disturbed more.
    pub(crate) fn worse(self, other: Self) -> Self {
        Self { ports: self.ports.max(other.ports), chain: self.chain.max(other.chain) }
    }
}

/// Core cycles that the chain takes, with the readings of the clock around it.
fn chain_cycles() -> f64 {
    let mut cycles: Vec<f64> = (0..501)
        .map(|_| {
            let before = clock::core_ratio_of(1000);
            let chain = Reference::measure().chain;
            chain * f64::midpoint(before, clock::core_ratio_of(1000))
        })
        .collect();
    cycles.sort_unstable_by(f64::total_cmp);
    cycles[cycles.len() / 2]
}

/// Six independent chains, four additions of floating-point numbers and two loads a step.
fn fill_ports(steps: u32) -> u64 {
    let table: [u64; 64] = black_box([1; 64]);
    let mut x: [u64; 6] = black_box([1, 2, 3, 4, 5, 6]);
    let mut y: [f64; 4] = black_box([1.0; 4]);
    let step = black_box(0.5);
    for _ in 0..steps {
        // A rotation and an addition do not combine.
        x[0] = x[0].rotate_left(3).wrapping_add(0x1234_5677);
        x[1] = x[1].rotate_left(5).wrapping_add(0x1234_5675);
        x[2] = x[2].rotate_left(7).wrapping_add(0x1234_5673);
        x[3] = x[3].rotate_left(9).wrapping_add(0x1234_5671);
        x[4] = x[4].rotate_left(11).wrapping_add(table[(x[0] & 63) as usize]);
        x[5] = x[5].rotate_left(13).wrapping_add(table[(x[1] & 63) as usize]);
        for y in &mut y {
            *y += step;
        }
    }
    let sum = y[0] + y[1] + y[2] + y[3];
    x.iter().fold(sum.to_bits(), |folded, x| folded ^ x)
}

/// The references of a run, and which of them were measured while nothing else used the core.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// With the cycles of the batch beside each.
    all: Vec<(Reference, u64)>,
    quiet: Quiet,
    /// Those that the limits were computed from.
    asked: usize,
    /// What the chain takes at the run's clock.
    usual: Option<f64>,
}

/// References at most of one core at its usual clock.
#[derive(Clone, Debug, PartialEq)]
struct Quiet {
    ports: f64,
    chain: RangeInclusive<f64>,
}

impl Default for Quiet {
    /// Before anything is known, everything is quiet.
    fn default() -> Self {
        Self { ports: f64::INFINITY, chain: 0.0..=f64::INFINITY }
    }
}

impl References {
    /// For a run whose figures are those of a core at `core_ghz`, if that is known. Measures on the
    /// calling thread's processor.
    pub(crate) fn at(core_ghz: Option<f64>) -> Self {
        let usual = core_ghz.map(|ghz| chain_cycles() / ghz * clock::ghz());
        Self { usual, ..Self::default() }
    }

    /// What to multiply the cycles of a batch by, so that they are those at the run's clock.
    pub(crate) fn scale(&self, reference: Reference) -> f64 {
        /// An interrupt may fall into the chain: such a batch is not scaled.
        const LIKELY: RangeInclusive<f64> = 0.75..=1.33;
        let scale = self.usual.map(|usual| usual / reference.chain);
        scale.filter(|scale| LIKELY.contains(scale)).unwrap_or(1.0)
    }

    /// Adds what was measured beside a batch of these cycles.
    pub(crate) fn add(&mut self, reference: Reference, cycles: u64) {
        self.all.push((reference, cycles));
        // Often at first, when little is known.
        if self.all.len() > self.asked + self.asked / 8 {
            self.asked = self.all.len();
            self.quiet = Quiet::of(&self.all);
        }
    }

    /// Whether the program had the core to itself, at its usual clock, as far as is known.
    pub(crate) fn is_quiet(&self, reference: Reference) -> bool {
        self.quiet.includes(reference)
    }

    /// How the core was shared.
    pub(crate) fn sharing(&self) -> Sharing {
        let mut sharing =
            Sharing { batches: self.all.len(), states: states(&self.all), ..Sharing::default() };
        for &(reference, cycles) in self.all.iter().filter(|(it, _)| !self.quiet.includes(*it)) {
            match reference.ports > self.quiet.ports {
                true => sharing.crowded += 1,
                false => sharing.off_clock += 1,
            }
            sharing.lost += as_f64(cycles) / clock::ghz() / 1e9;
        }
        sharing
    }
}

impl Quiet {
    /// By all references so far. If hardly any are like the best, the best is not believed: nothing
    /// is quiet.
    fn of(all: &[(Reference, u64)]) -> Self {
        let sorted = |figure: fn(&Reference) -> f64| {
            let mut figures: Vec<f64> = all.iter().map(|(it, _)| figure(it)).collect();
            figures.sort_unstable_by(f64::total_cmp);
            figures
        };
        let (ports, chain) = (sorted(|it| it.ports), sorted(|it| it.chain));
        let Some(usual) = chain.get(chain.len() / 2) else { return Self::default() };
        let limit = at(&ports, GLITCHES) * CROWDED;
        let seen = ports.partition_point(|&it| it <= limit);
        let ports =
            if as_f64(seen as u64) < SEEN * as_f64(ports.len() as u64) { 0.0 } else { limit };
        Self { ports, chain: usual * (1.0 - CLOCK)..=usual * (1.0 + CLOCK) }
    }

    fn includes(&self, reference: Reference) -> bool {
        reference.ports <= self.ports && self.chain.contains(&reference.chain)
    }
}

/// The value at this share of sorted figures, of which there is at least one.
fn at(sorted: &[f64], share: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a length"
    )]
    let place = (as_f64(sorted.len() as u64) * share) as usize;
    sorted[place]
}

/// The number of states that the ports were in: of times of the first loop around which there are
/// many, with few between them.
fn states(all: &[(Reference, u64)]) -> usize {
    let mut bins: BTreeMap<i64, usize> = BTreeMap::new();
    for (reference, _) in all {
        #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
        let bin = (reference.ports.max(1e-3).ln() / STATE.ln()).floor() as i64;
        *bins.entry(bin).or_default() += 1;
    }
    let many = bins.into_iter().filter(|&(_, count)| count * 50 >= all.len()).map(|(bin, _)| bin);
    let (mut states, mut last) = (0, i64::MIN);
    for bin in many {
        states += usize::from(bin > last.saturating_add(1));
        last = bin;
    }
    states
}

/// How the core of a run was shared with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sharing {
    /// Batches beside which there were references.
    batches: usize,
    /// Those while another guest used the core, and of the others those at another clock.
    crowded: usize,
    off_clock: usize,
    /// The states that the core was in.
    states: usize,
    /// The seconds that both kinds took.
    lost: f64,
}

impl Sharing {
    /// Adds another process's, or another table's.
    pub(crate) fn add(&mut self, other: &Self) {
        self.batches += other.batches;
        self.crowded += other.crowded;
        self.off_clock += other.off_clock;
        self.states = self.states.max(other.states);
        self.lost += other.lost;
    }

    /// The share of batches that were left out.
    pub(crate) fn left_out(&self) -> f64 {
        as_f64((self.crowded + self.off_clock) as u64) / as_f64(self.batches.max(1) as u64)
    }

    /// What a reader should know of it, in a line; nothing if it was little.
    pub(crate) fn text(&self) -> String {
        if self.batches == 0 || self.left_out() < WORTH_SAYING {
            return String::new();
        }
        let share = |count: usize| {
            format!("{:.0} %", as_f64(count as u64) / as_f64(self.batches as u64) * 100.0)
        };
        if self.crowded == self.batches {
            return String::from(
                "another guest shared the core all the time, more or less: the figures are too high",
            );
        }
        let mut text = format!(
            "another guest shared the core for {} of the time ({:.1} s left out, {} state{})",
            share(self.crowded),
            self.lost,
            self.states,
            if self.states == 1 { "" } else { "s" }
        );
        if as_f64(self.off_clock as u64) > WORTH_SAYING * as_f64(self.batches as u64) {
            text += &format!("\nthe clock was another for {} of the time", share(self.off_clock));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(ports: f64, chain: f64) -> Reference {
        Reference { ports, chain }
    }

    /// References of which this many in a hundred are crowded.
    fn references(crowded: u32) -> References {
        let mut references = References::default();
        for i in 0..1000 {
            let noise = f64::from(i * 7 % 20) / 1000.0;
            let ports = if i * 37 % 100 < crowded { 2.9 } else { 1.43 };
            references.add(reference(ports * (1.0 + noise), 3200.0), 1_000_000);
        }
        references
    }

    #[test]
    fn a_shared_core_is_told_from_one_alone() {
        for crowded in [0, 5, 41, 90] {
            let references = references(crowded);
            assert!(references.is_quiet(reference(1.44, 3210.0)), "{crowded}");
            assert!(!references.is_quiet(reference(1.7, 3200.0)), "{crowded}");
            assert!(!references.is_quiet(reference(1.44, 3700.0)), "another clock");
            let sharing = references.sharing();
            assert!((sharing.left_out() - f64::from(crowded) / 100.0).abs() < 0.01, "{sharing:?}");
            assert_eq!(sharing.states, if crowded == 0 { 1 } else { 2 });
            let said = format!("shared the core for {crowded} % of the time (");
            assert_eq!(sharing.text().contains(&said), crowded > 0, "{}", sharing.text());
        }
    }

    #[test]
    fn a_core_that_is_never_quiet_is_not_taken_for_one() {
        let mut references = References::default();
        for i in 0..1000 {
            references.add(reference(1.4 + f64::from(i) / 100.0, 3200.0), 1);
        }
        assert!(!references.is_quiet(reference(1.4, 3200.0)));
        assert!(references.sharing().text().contains("all the time"));
    }

    #[test]
    fn few_glitches_are_not_the_best() {
        let mut references = references(10);
        for _ in 0..5 {
            references.add(reference(0.01, 40_000.0), 1);
        }
        assert!(references.is_quiet(reference(1.43, 3200.0)));
    }

    #[test]
    fn figures_are_those_at_one_clock() {
        let references = References { usual: Some(3000.0), ..References::default() };
        for (chain, scale) in [(3000.0, 1.0), (3300.0, 1.0 / 1.1), (2700.0, 1.0 / 0.9)] {
            let scaled = references.scale(reference(1.4, chain));
            assert!((scaled - scale).abs() < 1e-9, "{chain}: {scaled}");
        }
        assert_eq!(references.scale(reference(1.4, 9000.0)), 1.0, "an interrupt");
        assert_eq!(References::default().scale(reference(1.4, 3300.0)), 1.0, "no clock is known");
        let around = Reference::around(reference(1.4, 3000.0), reference(1.5, 3100.0));
        assert_eq!(around, reference(1.5, 3050.0));
    }

    #[test]
    fn the_loops_take_time() {
        let one = Reference::measure();
        assert!(one.ports > 0.0 && one.chain > 0.0);
        let other = reference(one.ports * 2.0, one.chain / 2.0);
        assert_eq!(one.worse(other), reference(other.ports, one.chain));
    }
}
