//! How much is measured.

/// How many points a run measures. Samples are never shortened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Depth {
    /// Fewer points.
    Quick,
    /// Every point of a table; the document's tests on less data.
    #[default]
    Normal,
    /// The document's tests on all of their data, too, however long it takes.
    Full,
}
