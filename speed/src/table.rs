//! A table: what it measures, and what it shows of it.

use core::time::Duration;

use crate::block::{Block, Sheet};
use crate::depth::Depth;
use crate::device::DeviceOptions;
use crate::drawing::Drawing;
use crate::peer_set::PeerSet;
use crate::results::Point;
use crate::row::Row;
use crate::sampler::{Limits, Sampled};
use crate::scope::Scope;
use crate::view::Screen;

/// Which figures are measured that are not sampled in rows, and for how long.
pub(crate) struct How<'a> {
    /// Whether the id of a point is wanted.
    pub(crate) fits: &'a dyn Fn(&str) -> bool,
    pub(crate) time: Duration,
    /// What ends it earlier.
    pub(crate) limits: Limits<'a>,
    pub(crate) device: &'a DeviceOptions,
    #[cfg(all(target_os = "linux", any(feature = "aws-lc", feature = "ring")))]
    pub(crate) peers: &'a PeerSet<'a>,
}

/// Figures that are not sampled in rows.
pub(crate) struct Extra {
    /// The ids of all that there may be.
    pub(crate) ids: fn() -> Vec<String>,
    pub(crate) measure: fn(&How<'_>, &mut Sampled),
}

/// A table, or a part of one.
pub(crate) struct Table {
    /// Its name on the command line and in [`Point::table`].
    pub(crate) name: &'static str,
    /// Its name while it is measured.
    pub(crate) heading: &'static str,
    /// The default time of the whole table in seconds, at each [`Depth`].
    pub(crate) seconds: [u64; 3],
    /// The sampled rows at a depth: ours and the peers that it asks `peers` for.
    pub(crate) rows: fn(&PeerSet<'_>, Depth) -> Vec<Row>,
    /// Points that need no measurement: a document's figures.
    pub(crate) given: fn() -> Vec<Point>,
    pub(crate) extra: Option<Extra>,
    /// Enters figures that follow from the measured ones.
    pub(crate) finish: fn(&mut [Point]),
    /// Whether it has the document's whole test, which has no time limit.
    pub(crate) has_test: bool,
    /// Whether it is longer than a screen: its rows of the first screen are then what is measured
    /// and shown, unless more is asked for. A pattern selects from all of its rows.
    pub(crate) is_long: bool,
    /// What it shows of its points.
    pub(crate) blocks: fn(&Scope<'_>) -> Vec<Block>,
    /// How to read that.
    pub(crate) legend: &'static str,
    /// Its charts.
    pub(crate) drawings: &'static [Drawing],
    /// Its blocks of the first screen.
    pub(crate) screen: &'static [Screen],
}

impl Table {
    /// What a table is unless it says otherwise.
    pub(crate) const USUAL: Self = Self {
        name: "",
        heading: "",
        seconds: [20, 60, 60],
        rows: |_, _| Vec::new(),
        given: Vec::new,
        extra: None,
        finish: |_| (),
        has_test: false,
        is_long: false,
        blocks: |_| Vec::new(),
        legend: "",
        drawings: &[],
        screen: &[],
    };

    /// A table of this name.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, heading: name, ..Self::USUAL }
    }

    /// Its rows on the first screen: what each line compares at this processor's level. Rows of
    /// several threads take long on a busy machine, so all others come first.
    pub(crate) fn screen_rows(&self, peers: &PeerSet<'_>) -> Vec<Row> {
        if self.screen.is_empty() {
            return Vec::new();
        }
        let mut rows = (self.rows)(peers, Depth::Normal);
        rows.retain(|row| {
            !row.is_lower() && self.screen.iter().any(|screen| screen.needs(&row.point))
        });
        rows.sort_by_key(Row::threads);
        rows
    }

    /// Everything that it shows of the points.
    pub(crate) fn sheet(&self, scope: &Scope<'_>) -> Sheet {
        let legend = self.legend.to_owned();
        Sheet { table: self.name, blocks: (self.blocks)(scope), legend }
    }

    /// Its part of the first screen.
    pub(crate) fn summary(&self, scope: &Scope<'_>) -> Sheet {
        let blocks = self.screen.iter().filter_map(|screen| screen.block(scope)).collect();
        Sheet { table: self.name, blocks, legend: String::new() }
    }
}

/// How to read a screen.
pub(crate) const READING: &str = "\
To read: cycles, medians; less is faster. 1.50x: the time of the peer
divided by ours. ~: the two cannot be distinguished. ?: ours is not verified. (1.50x): from one pass
only, or from passes that others disturbed. †: by another cipher.
";

/// The first elements of a point's id; `erasing` is the default and is omitted.
pub(crate) fn id(point: &Point) -> String {
    let Point { table, source, api, subject, generator, .. } = point;
    let kind = generator.as_deref().filter(|&kind| kind != "erasing");
    let kind = kind.map_or_else(String::new, |kind| format!("/{kind}"));
    format!("{table}/{source}/{api}/{subject}{kind}")
}
