//! The atomic types of counts and wake-ups. A test replaces them with those of `loom`.

pub(crate) use core::sync::atomic::{AtomicU32, Ordering, fence};
