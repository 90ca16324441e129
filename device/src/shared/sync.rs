//! The atomic types of the wake-up. A test has those of `loom` in their place.

pub(super) use core::sync::atomic::{AtomicU32, Ordering, fence};
