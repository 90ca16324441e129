//! The atomic types of the wake-up. A test replaces them with those of `loom`.

pub(super) use core::sync::atomic::{AtomicBool, Ordering, fence};
