//! No area for restartable sequences is known on these processors.

/// The area of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Area {}

impl Area {
    pub(crate) fn here() -> Option<Self> {
        None
    }

    pub(crate) fn watch(self) -> usize {
        match self {}
    }

    pub(crate) fn was_undisturbed(self, _: usize) -> bool {
        match self {}
    }
}

/// The offset of each thread's area from the thread pointer: zero, for none.
pub(crate) fn offset() -> isize {
    0
}
