//! Shared parts of the tests of batches.

pub mod adding;
pub mod batch;
pub mod kept;
pub mod keys;
pub mod message;
pub mod numbers;
pub mod place;
