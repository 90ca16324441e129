//! The id of a process, where no kernel empties pages.

/// The id of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(u32);

impl Number {
    #[inline]
    pub(super) fn now() -> Self {
        Self(std::process::id())
    }

    #[inline]
    pub(super) fn is_current(self) -> bool {
        Self::now() == self
    }
}
