//! The atomic types of what threads share. A test replaces them with those of `loom`.

pub(crate) use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering, fence};
pub(crate) use std::sync::OnceLock;
