//! Clients of the device's protocol that need not keep to it, and memory that processes share.

mod memory;
pub mod random;
mod raw;

pub use self::memory::{Advice, Memory};
pub use self::raw::{
    ARENA, COMPLETED, DEPTH, MAGIC, PROTOCOL, Raw, SUBMISSIONS, SUBMITTED, dial, receive,
    send_packet, try_dial,
};
