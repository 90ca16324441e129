//! How much is measured.

/// The number of points that a run measures. Samples are never shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Depth {
    /// Fewer points.
    Quick,
    /// Every point of a table, but a selection of packets; the document's tests on less data.
    #[default]
    Normal,
    /// Also all batches, sizes and keys of packets, and the document's tests on all of their data,
    /// however long that takes.
    Full,
}
