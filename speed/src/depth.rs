//! How much is measured.

/// How many points a run measures. Samples are never shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Depth {
    /// Fewer points.
    Quick,
    /// Every point of a table, but of packets a choice; the document's tests on less data.
    #[default]
    Normal,
    /// All batches, sizes and keys of packets, and the document's tests on all of their data, too,
    /// however long it takes.
    Full,
}
