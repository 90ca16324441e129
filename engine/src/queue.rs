//! Queues: messages that own their buffers, submitted now and returned later.
//!
//! | queue | who serves | completions |
//! |---|---|---|
//! | [`LocalQueue`] | the caller's thread | in order, by [`poll`](LocalQueue::poll) |
//! | [`WorkerQueue`] | a thread of its own | as served or in order, by [`poll`](WorkerQueue::poll), [`wait`](WorkerQueue::wait) and a file descriptor |
//! | [`AsyncQueue`] | a thread of its own | futures |
//!
//! A session is attached to a queue once; its number names it in [`Message`]s. A message owns its
//! buffer, which its [`Completion`] returns. Each message that a queue accepts completes exactly
//! once: served, refused, cancelled, or closed. A full queue accepts no messages until completions
//! are taken.
//!
//! ```
//! use lanecrypt_engine::queue::{LocalQueue, Message, MessageError};
//! use lanecrypt_engine::{Algorithm, Engine, Error};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new();
//! let mut queue = LocalQueue::new(&engine, 64);
//! let session = queue.attach(engine.session(Algorithm::AES_128_GCM, &[1; 16])?)?;
//!
//! queue.submit(Message::seal(session, [0; 12], vec![7; 100 + 16]).with_user(1))?;
//! queue.submit(Message::open(session, [0; 12], vec![7; 100 + 16]).with_user(2))?;
//!
//! let first = queue.poll().expect("two messages are in flight");
//! assert_eq!((first.user, first.outcome), (1, Ok(())));
//! let second = queue.poll().expect("one message is in flight");
//! assert_eq!(second.outcome, Err(MessageError::Refused(Error::Authentication)));
//! # Ok(())
//! # }
//! ```

mod closed;
mod completion;
mod futures;
mod jobs;
mod local;
mod message;
mod nonce;
mod service;
mod sessions;
mod slot;
mod wakeup;
mod worker;

pub use self::completion::{Completion, MessageError, QueueError, Rejected};
pub use self::futures::{AsyncQueue, CompletionFuture};
pub use self::local::LocalQueue;
pub use self::message::Message;
pub use self::sessions::SessionHandle;
pub use self::worker::{Settings, WorkerQueue};

/// A message in a queue, by which it can be cancelled. Each queue counts its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);
