//! A comparison as text.

use core::fmt::{self, Display, Formatter};

use super::{Change, Comparison};

/// How many changes are listed that are noise.
const NOISE_LINES: usize = 5;

impl Comparison {
    /// The text, with every point or only with what matters.
    #[must_use]
    pub fn text(&self, with_all: bool) -> String {
        Text { comparison: self, with_all }.to_string()
    }
}

struct Text<'c> {
    comparison: &'c Comparison,
    with_all: bool,
}

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Comparison { changes, only, warnings, noise, unit, .. } = self.comparison;
        for (which, warnings) in ["old", "new"].into_iter().zip(warnings) {
            for warning in warnings {
                writeln!(f, "WARNING: {which} run: {warning}")?;
            }
        }
        writeln!(f, "{} points in both runs", changes.len())?;
        for (which, ids) in ["old", "new"].into_iter().zip(only) {
            if !ids.is_empty() {
                writeln!(f, "{} points only in the {which} run, such as {}", ids.len(), ids[0])?;
            }
        }
        for (noise, (is_of_several, threads)) in
            noise.iter().zip([(false, "one thread"), (true, "several threads")])
        {
            let changes = changes.iter().filter(|change| change.is_of_several == is_of_several);
            let changes: Vec<&Change> = changes.collect();
            if changes.is_empty() {
                continue;
            }
            let [half, most] =
                [0.5, 0.9].map(|share| noise.counts_from(changes.iter().copied(), share) * 100.0);
            let whose =
                if noise.is_of_peers { "peers' points" } else { "points, for want of peers" };
            writeln!(
                f,
                "{threads}: noise from {} {whose}; all together: x {:.3}\n\
                 a change counts from {half:.1} % on at half of all points, from {most:.1} % at nine \
                 of ten",
                noise.points,
                noise.drift.exp(),
            )?;
        }
        writeln!(f, "less would count with {}\n", self.comparison.remedy())?;
        let (significant, rest) = changes.split_at(changes.partition_point(|c| c.is_significant));
        let (ours, peers): (Vec<_>, Vec<_>) = significant.iter().partition(|change| change.is_ours);
        self.list(f, "ours, beyond noise", &ours, unit)?;
        self.list(f, "peers, beyond noise", &peers, unit)?;
        let shown = if self.with_all { rest.len() } else { rest.len().min(NOISE_LINES) };
        let rest: Vec<&Change> = rest.iter().take(shown).collect();
        self.list(f, "the largest within noise", &rest, unit)?;
        let slower = ours.iter().filter(|change| change.is_slower()).count();
        writeln!(f, "{} of ours faster, {slower} slower", ours.len() - slower)
    }
}

impl Text<'_> {
    fn list(
        &self,
        f: &mut Formatter<'_>,
        title: &str,
        changes: &[&Change],
        unit: &str,
    ) -> fmt::Result {
        if changes.is_empty() {
            return Ok(());
        }
        writeln!(f, "{title}\n   ratio      interval    old, new ({unit})         point")?;
        for change in changes {
            let Change { id, figures: [old, new], ratio, .. } = change;
            let what = match (change.is_significant, ratio.median > 1.0) {
                (false, _) => "",
                (true, true) => "  slower",
                (true, false) => "  faster",
            };
            writeln!(
                f,
                "{:8.3}  {:.3} to {:.3}  {old:10.1} {new:10.1}  {id}{what}",
                ratio.median, ratio.low, ratio.high
            )?;
        }
        writeln!(f)
    }
}
