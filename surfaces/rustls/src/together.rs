//! Key exchange and signatures of several connections at once.

mod curves;
mod groups;
mod hybrid;
mod jobs;
mod keys;
mod known;
mod pool;
mod tasks;

pub use pool::HandshakePool;
pub use tasks::HandshakeTasks;

pub(crate) use groups::ours as group;
pub(crate) use keys::ours as keys;
