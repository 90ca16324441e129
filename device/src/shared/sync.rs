//! The atomic types of the bell. A test has those of `loom` in their place.

pub(super) use core::sync::atomic::{AtomicU32, Ordering, fence};
