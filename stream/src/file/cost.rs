//! The cost of passphrases.

/// What Argon2id (RFC 9106) costs for a passphrase. It stands in the header of the file.
///
/// The default is the second recommended option of RFC 9106, section 4: 64 MiB, 3 passes, 4 lanes.
/// Files may ask for at most [`MOST_MEMORY`](Self::MOST_MEMORY), [`MOST_PASSES`](Self::MOST_PASSES)
/// and [`MOST_LANES`](Self::MOST_LANES), and for no less than one pass, one lane, and 8 KiB for
/// each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argon2id {
    /// The memory in KiB (`m`).
    pub memory: u32,
    /// The passes over the memory (`t`).
    pub passes: u16,
    /// The lanes of the memory (`p`). They are filled one after the other, by one thread.
    pub lanes: u8,
}

impl Default for Argon2id {
    fn default() -> Self {
        Self { memory: 64 << 10, passes: 3, lanes: 4 }
    }
}

impl Argon2id {
    /// The most memory in KiB: 1 GiB.
    pub const MOST_MEMORY: u32 = 1 << 20;
    /// The most passes.
    pub const MOST_PASSES: u16 = 16;
    /// The most lanes.
    pub const MOST_LANES: u8 = 4;

    /// Whether files may ask for this.
    pub(super) fn is_allowed(self) -> bool {
        (1..=Self::MOST_LANES).contains(&self.lanes)
            && (1..=Self::MOST_PASSES).contains(&self.passes)
            && (8 * u32::from(self.lanes)..=Self::MOST_MEMORY).contains(&self.memory)
    }
}
