//! Sets of members.

/// The most drivers that can share load.
pub(super) const MOST: usize = 16;

/// Some of the members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mask(u16);

const _: () = assert!(MOST == u16::BITS as usize);

impl Mask {
    /// The first `count`.
    pub(super) fn first(count: usize) -> Self {
        (0..count).fold(Self(0), Self::with)
    }

    /// One of them.
    pub(super) fn of(at: usize) -> Self {
        Self(0).with(at)
    }

    pub(super) fn with(self, at: usize) -> Self {
        debug_assert!(at < MOST, "there are no more");
        Self(self.0 | 1 << (at % MOST))
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, at: usize) -> bool {
        !self.and(Self::of(at)).is_empty()
    }

    /// The members, in their order.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..MOST).filter(move |&at| self.has(at))
    }
}
