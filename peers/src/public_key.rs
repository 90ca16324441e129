//! The public-key operations of handshakes as the tables measure them, and their loops, written
//! once for all.

use core::fmt;

use crate::loops::{Run, rounds};
use crate::peer::{Open, Versioned};
use crate::{Direction, Failed, Peer};

mod known;
mod operation;
mod session;

pub use operation::{KeyKind, Operation};
pub use session::PublicKeySession;
pub(crate) use session::{Session, generating, server};

/// The key of a session, in the formats of the standards.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "measuring code makes it, field by field")]
pub struct KeyPair<'a> {
    /// A scalar of X25519 or P-256, a seed of Ed25519, or an expanded decapsulation key.
    pub private: &'a [u8],
    /// The public key; a point of P-256 is not compressed.
    pub public: &'a [u8],
}

impl fmt::Debug for KeyPair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPair").finish_non_exhaustive()
    }
}

/// One operation, with the key of a session.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "measuring code makes it, field by field")]
pub struct Job<'a> {
    /// The index of the session that has its key.
    pub session: usize,
    /// What the other side has sent: a public key, a ciphertext, or both keys of a client that
    /// offers X25519MLKEM768, that of X25519 first.
    pub input: &'a [u8],
    /// The message to sign or to check, for APIs that take no digest.
    pub message: &'a [u8],
    /// Its digest by SHA-256.
    pub digest: &'a [u8; 32],
    /// What is written, as [`Operation::output`] says; of a check, the signature.
    pub output: &'a mut [u8],
}

/// Makes operations of one kind, in one or more sessions.
///
/// The loops are inside the implementation, so that there is one dynamic call for each batch.
pub trait PublicKey: Send {
    /// Makes the operations of `run`, as [`Messages::messages`](crate::Messages::messages) does. A
    /// wrong signature is a failed operation.
    ///
    /// # Errors
    ///
    /// [`Failed`] if an operation fails, a job has no session or a wrong length, or there are no
    /// jobs.
    fn jobs(&mut self, jobs: &mut [Job<'_>], run: Run<'_>) -> Result<(), Failed>;

    /// What the private key that the last job of the last run has generated shares with a public
    /// key, or gets out of a ciphertext. Keys that cannot be exported are checked by it, each once.
    ///
    /// # Errors
    ///
    /// [`Failed`] if no key was generated, or its library refuses.
    fn shared(&mut self, input: &[u8], secret: &mut [u8]) -> Result<(), Failed>;
}

/// Sessions of an API that has one call for each operation.
struct Single {
    operation: Operation,
    sessions: Vec<Session>,
    /// The session of the last job.
    last: usize,
}

impl PublicKey for Single {
    fn jobs(&mut self, jobs: &mut [Job<'_>], run: Run<'_>) -> Result<(), Failed> {
        let Self { operation, sessions, last } = self;
        Failed::unless(jobs.iter().all(|job| operation.fits(job)))?;
        rounds(jobs.len(), run.requests, |count| {
            for job in &mut jobs[..count] {
                *last = job.session;
                sessions.get_mut(job.session).ok_or(Failed)?.run(job)?;
            }
            Ok(())
        })
    }

    fn shared(&mut self, input: &[u8], secret: &mut [u8]) -> Result<(), Failed> {
        self.sessions.get_mut(self.last).ok_or(Failed)?.shared(input, secret)
    }
}

/// Wraps `sessions` of one operation, which differ in their keys only, in the measured loops;
/// `None` without any.
#[must_use]
pub fn public_key(
    operation: Operation,
    sessions: Vec<Box<dyn PublicKeySession>>,
) -> Option<Box<dyn PublicKey>> {
    if sessions.is_empty() {
        return None;
    }
    Some(Box::new(Single { operation, sessions, last: 0 }))
}

/// The number of parts that a key has.
const PARTS: usize = 2;

impl Peer<dyn PublicKey> {
    /// A peer with one operation of the library that was `found`, or the hint how to get it. `open`
    /// makes a session of one key.
    pub(crate) fn of_operation<L: Versioned>(
        [source, api]: [&'static str; 2],
        operation: Operation,
        found: &Result<L, String>,
        open: impl Fn(&L, Operation, &KeyPair<'_>) -> Result<Session, Failed> + Send + Sync + 'static,
    ) -> Self {
        Self::of_all_keys([source, api], operation, found, move |library, keys| {
            let sessions = keys.iter().map(|key| match operation.parts() {
                None => open(library, operation, key),
                Some(_) => server(operation, |part| open(library, part, key)),
            });
            public_key(operation, sessions.collect::<Result<_, _>>().ok()?)
        })
    }

    /// The same with an `open` that takes all keys.
    pub(crate) fn of_all_keys<L: Versioned>(
        [source, api]: [&'static str; 2],
        operation: Operation,
        found: &Result<L, String>,
        open: impl Fn(&L, &[KeyPair<'_>]) -> Option<Box<dyn PublicKey>> + Send + Sync + 'static,
    ) -> Self {
        Self::new([source, api, operation.name()], found, move |library, _, parts| {
            let keys = parts.chunks_exact(PARTS).filter_map(|parts| {
                let &[private, public] = parts else { return None };
                Some(KeyPair { private, public })
            });
            open(library, &keys.collect::<Vec<_>>())
        })
    }

    /// Its operation.
    #[must_use]
    pub fn operation(&self) -> Option<Operation> {
        Operation::of_name(self.subject)
    }

    /// The operation, with one session for each key; `None` if the peer is missing or refuses a
    /// key, or if there are no keys. Sessions that generate keys ignore theirs.
    ///
    /// Any number of threads may call it at the same time.
    #[must_use]
    pub fn with_key_pairs(&self, keys: &[KeyPair<'_>]) -> Option<Box<dyn PublicKey>> {
        let parts: Vec<&[u8]> = keys.iter().flat_map(|key| [key.private, key.public]).collect();
        let Open(open) = &self.open;
        open(Direction::Encrypt, &parts)
    }
}
