//! Single operations with one key.

use super::{Job, Operation};
use crate::Failed;

/// One key: an API's call for one operation.
///
/// Every peer implements it, and so can callers for their own.
pub trait PublicKeySession: Send {
    /// Makes the operation; the lengths are those of [`Operation::input`] and
    /// [`Operation::output`].
    ///
    /// # Errors
    ///
    /// [`Failed`] if the call failed, or a signature is wrong.
    fn run(&mut self, job: &mut Job<'_>) -> Result<(), Failed>;

    /// As [`PublicKey::shared`](super::PublicKey::shared), of the key that was generated last.
    ///
    /// # Errors
    ///
    /// [`Failed`] if there is none.
    fn shared(&mut self, _input: &[u8], _secret: &mut [u8]) -> Result<(), Failed> {
        Err(Failed)
    }
}

/// A session.
pub(crate) type Session = Box<dyn PublicKeySession>;

impl<F: FnMut(&mut Job<'_>) -> Result<(), Failed> + Send> PublicKeySession for F {
    #[inline]
    fn run(&mut self, job: &mut Job<'_>) -> Result<(), Failed> {
        self(job)
    }
}

/// A session that generates keys: `generate` makes one and writes its public part, `shared` uses
/// it.
pub(crate) fn generating<K: Send + 'static>(
    generate: impl FnMut(&mut [u8]) -> Result<K, Failed> + Send + 'static,
    shared: impl FnMut(K, &[u8], &mut [u8]) -> Result<(), Failed> + Send + 'static,
) -> Session {
    Box::new(Generating { last: None, generate, shared })
}

struct Generating<K, G, S> {
    last: Option<K>,
    generate: G,
    shared: S,
}

impl<K, G, S> PublicKeySession for Generating<K, G, S>
where
    K: Send,
    G: FnMut(&mut [u8]) -> Result<K, Failed> + Send,
    S: FnMut(K, &[u8], &mut [u8]) -> Result<(), Failed> + Send,
{
    #[inline]
    fn run(&mut self, job: &mut Job<'_>) -> Result<(), Failed> {
        self.last = Some((self.generate)(job.output)?);
        Ok(())
    }

    #[inline]
    fn shared(&mut self, input: &[u8], secret: &mut [u8]) -> Result<(), Failed> {
        (self.shared)(self.last.take().ok_or(Failed)?, input, secret)
    }
}

/// The server's part of a handshake, whose operations `open` makes.
pub(crate) fn server(
    operation: Operation,
    open: impl Fn(Operation) -> Result<Session, Failed>,
) -> Result<Session, Failed> {
    let parts = operation.parts().ok_or(Failed)?;
    let mut sessions = parts.iter().map(|&part| open(part));
    let (Some(exchange), Some(sign)) = (sessions.next(), sessions.next()) else {
        return Err(Failed);
    };
    let (exchange, sign, encapsulate) = (exchange?, sign?, sessions.next().transpose()?);
    Ok(Box::new(Server { exchange, sign, encapsulate }))
}

struct Server {
    exchange: Session,
    sign: Session,
    encapsulate: Option<Session>,
}

impl PublicKeySession for Server {
    fn run(&mut self, job: &mut Job<'_>) -> Result<(), Failed> {
        let Job { session, input, message, digest, output } = job;
        let (share, secrets) = output.split_at_mut_checked(32).ok_or(Failed)?;
        let (client, key) = input.split_at_checked(32).ok_or(Failed)?;
        let end = secrets.len().checked_sub(64).ok_or(Failed)?;
        let (rest, signature) = secrets.split_at_mut(end);
        let end = rest.len().checked_sub(32).ok_or(Failed)?;
        let (encapsulated, secret) = rest.split_at_mut(end);
        let make = |part: &mut Session, input: &[u8], output: &mut [u8]| {
            part.run(&mut Job { session: *session, input, message, digest, output })
        };
        make(&mut self.exchange, &[], share)?;
        if let Some(encapsulate) = &mut self.encapsulate {
            make(encapsulate, key, encapsulated)?;
        }
        make(&mut self.sign, &[], signature)?;
        self.exchange.shared(client, secret)
    }
}
