//! A page of the heap, where no call that locks memory is known.

use core::ops::{Deref, DerefMut};

use super::LockedPage;

pub(super) struct Memory(Box<[u8; LockedPage::LENGTH]>);

impl Memory {
    #[expect(clippy::unnecessary_wraps, reason = "a mapping may be refused")]
    pub(super) fn new() -> Option<Self> {
        Some(Self(Box::new([0; LockedPage::LENGTH])))
    }
}

impl Deref for Memory {
    type Target = [u8; LockedPage::LENGTH];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
