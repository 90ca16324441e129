//! Processors whose vector registers in use cannot be read.

use super::Width;

pub(super) fn has(width: Width) -> bool {
    width == Width::None
}

pub(super) fn forget() {}

pub(super) fn occupy(_width: Width) {}

pub(super) fn in_use() -> Option<Width> {
    None
}

pub(super) fn work(_width: Width, x: u32) -> u32 {
    x
}
