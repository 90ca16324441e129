//! The atomic types of what threads share. A test replaces them with those of `loom`.

pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering};
