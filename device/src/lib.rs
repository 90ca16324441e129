//! The engine in a separate process: keys are isolated, and requests of many processes share lanes.
//!
//! A [`Server`] is the daemon, `lanecrypt serve`. A [`Client`] connects to it by a Unix socket and
//! receives shared memory: two rings and an arena of data. After that neither makes a system call
//! while both are awake. Keys are sent by the socket, read from files by the daemon, or generated
//! inside; they never leave it, and are never in the shared memory.
//!
//! ```no_run
//! use lanecrypt_device::{Client, Message};
//! use lanecrypt_engine::Algorithm;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut client = Client::connect("/run/lanecrypt.sock")?;
//! let session = client.generated_session(Algorithm::AES_128_GCM)?;
//!
//! // One message, and wait for it.
//! let mut packet = [7; 100 + 16];
//! client.seal(session, &[0; 12], b"header", &mut packet)?;
//!
//! // Many in flight.
//! for number in 1..=32_u8 {
//!     client.submit(Message::seal(session, [number; 12], vec![7; 100 + 16]))?;
//! }
//! while let Some(done) = client.wait()? {
//!     done.outcome?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Remote`] is the engine's driver `device`: programs that use an engine can point it at a
//! daemon.
//!
//! It requires Linux. Workers the crate is empty.
//!
#![doc = include_str!("security.md")]
#![cfg(target_os = "linux")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

mod client;
mod error;
mod message;
mod protocol;
mod server;
#[allow(unsafe_code, reason = "memory that another process may change")]
mod shared;
mod spin;
mod statistics;
mod sync;

pub use self::client::{AsyncClient, Client, CompletionFuture, Remote, Session, Settings};
pub use self::error::{ConnectError, Error};
pub use self::message::{Completion, Message, Rejected, Ticket};
pub use self::protocol::RejectReason;
pub use self::server::{
    BindError, Daemon, Event, Handle, Key, KeyError, Limits, NonceSource, Placement, Prepared,
    Requests, Server,
};
pub use self::statistics::Statistics;

use std::path::PathBuf;

/// The path of the daemon's socket unless another is named: `$XDG_RUNTIME_DIR/lanecrypt.sock`, or
/// `/run/lanecrypt.sock` if the variable names no absolute path.
#[must_use]
pub fn default_path() -> PathBuf {
    let run = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let run = run.filter(|path| path.is_absolute());
    run.unwrap_or_else(|| PathBuf::from("/run")).join("lanecrypt.sock")
}
