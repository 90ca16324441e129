//! The engine's driver `device`.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "rsa")]
use lanecrypt_engine::AsymmetricKey;
use lanecrypt_engine::{Algorithm, Driver, Error as Cipher, Job, Jobs, Operation, SessionId};
use zeroize::Zeroizing;

use super::channel::Channel;
use super::parts::{Part, behind, put_asymmetric};
use super::window::Owner;
use super::{Client, Session, Settings};
use crate::protocol::request::{Code, Request};
use crate::protocol::status;
use crate::shared::Mapping;
use crate::{ConnectError, Error, RejectReason};

/// The engine's driver `device`, whose sessions live in a daemon.
///
/// [`Engine::with_driver`](lanecrypt_engine::Engine::with_driver) adds it, and
/// [`session_on`](lanecrypt_engine::Engine::session_on) opens sessions on it. Results and errors
/// are those of the software. The engine's session also holds the key, as with every driver: for
/// keys that must not be in this process, use a [`Client`] with named or generated keys.
///
/// It has one connection behind a lock: threads that share it wait for one another. Requests that
/// are longer than the arena end with [`Error::DataLength`](Cipher::DataLength). If the daemon has
/// ended, requests end with [`Error::DriverFailed`](Cipher::DriverFailed).
///
/// ```no_run
/// use lanecrypt_device::Remote;
/// use lanecrypt_engine::{Algorithm, Engine};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::new().with_driver(Remote::connect("/run/lanecrypt.sock")?)?;
/// let session = engine.session_on("device", Algorithm::AES_128_GCM, &[1; 16])?;
/// session.seal(&[0; 12], b"header", &mut [7; 100 + 16])?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Remote(Mutex<Client>);

impl Remote {
    /// Connects to the daemon whose socket is at this path.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]
    pub fn connect(path: impl AsRef<Path>) -> Result<Self, ConnectError> {
        Ok(Self(Mutex::new(Client::connect(path)?)))
    }

    /// The same with these settings.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]
    pub fn connect_with(path: impl AsRef<Path>, settings: &Settings) -> Result<Self, ConnectError> {
        Ok(Self(Mutex::new(Client::connect_with(path, settings)?)))
    }

    fn client(&self) -> MutexGuard<'_, Client> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver for Remote {
    fn name(&self) -> &'static str {
        "device"
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Cipher> {
        opened(self.client().session(algorithm, key))
    }

    #[cfg(feature = "rsa")]
    fn open_asymmetric(&self, key: &AsymmetricKey) -> Result<SessionId, Cipher> {
        let (key, padding) = key.rsa().ok_or(Cipher::Unsupported)?;
        opened(self.client().rsa_session(key.clone(), padding))
    }

    fn close(&self, session: SessionId) {
        let number = u32::try_from(session.0).unwrap_or(u32::MAX);
        // If the daemon has ended, the session has, too.
        let _ = self.client().close(Session::asymmetric(number, 0, 0));
    }

    fn process(&self, jobs: Jobs<'_, '_>) {
        let mut parts: Vec<Sent<'_, '_>> = jobs.into_iter().map(|job| Sent(Some(job))).collect();
        if self.client().run(&mut parts).is_err() {
            parts.iter_mut().for_each(|part| part.settle(Err(Error::Disconnected)));
        }
    }
}

/// The driver's identifier of a session.
fn opened(session: Result<Session, Error>) -> Result<SessionId, Cipher> {
    match session {
        Ok(session) => Ok(SessionId(u64::from(session.number))),
        Err(Error::Denied(RejectReason::KeyLength)) => Err(Cipher::KeyLength),
        Err(Error::Denied(RejectReason::WeakKey)) => Err(Cipher::WeakKey),
        Err(Error::Denied(_)) => Err(Cipher::Unsupported),
        Err(_) => Err(Cipher::DriverFailed),
    }
}

/// A job until it is settled.
struct Sent<'j, 'a>(Option<Job<'j, 'a>>);

/// The longest tag in bytes.
const TAG: usize = 64;

impl Part for Sent<'_, '_> {
    fn put(&mut self, channel: &mut Channel, owner: Owner) -> Result<(), Error> {
        let Some(job) = &mut self.0 else { return Err(Error::Malformed) };
        let (operation, nonce, aad) = (job.operation(), job.nonce(), job.aad());
        let (number, length) = (job.session_id().0, job.tag_length());
        let session = u32::try_from(number).unwrap_or(u32::MAX);
        if operation.is_asymmetric() {
            let result = job.signature().ok_or_else(|| job.output_length());
            return put_asymmetric(channel, owner, (session, Code::Keyed(operation)), aad, result);
        }
        // A received tag, or room for one.
        let mut tag = [0; TAG];
        let tag = tag.get_mut(..length).ok_or(Error::Refused(Cipher::TagLength))?;
        if operation == Operation::Open {
            match job.tag() {
                Some(came) if came.len() == tag.len() => tag.copy_from_slice(came),
                Some(_) => return Err(Error::Refused(Cipher::TagLength)),
                // The data below returns the error.
                None => {}
            }
        }
        let usual = job.session().tag_length();
        let mut data = job.data().map_err(Error::Refused)?;
        if tag.len() != usual && matches!(operation, Operation::Seal | Operation::Open) {
            return Err(Error::Refused(Cipher::TagLength));
        }
        let data = data.reborrow();
        let message = data.get_in();
        let request = Request {
            session,
            code: Code::Keyed(operation),
            nonce,
            header: aad.len(),
            length: message.len() + tag.len(),
        };
        channel.put(&request, owner, |memory, offset| {
            let message_at = behind(offset, aad);
            memory.write(offset, aad)
                && memory.write(message_at, message)
                && memory.write(behind(message_at, message), tag)
        })?;
        Ok(())
    }

    fn take(&mut self, memory: &Mapping, offset: u32, status: u32) {
        let unread = status::changes(status) && !self.read(memory, offset);
        self.settle(if unread { Err(Error::Malformed) } else { status::outcome(status) });
    }

    fn settle(&mut self, outcome: Result<(), Error>) {
        let Some(job) = self.0.take() else { return };
        job.settle(outcome.map_err(|error| match error {
            Error::Refused(error) => error,
            Error::TooLong => Cipher::DataLength,
            _ => Cipher::DriverFailed,
        }));
    }
}

impl Sent<'_, '_> {
    /// Copies the answer to its place in the job; false if that is impossible.
    fn read(&mut self, memory: &Mapping, offset: u32) -> bool {
        let Some(job) = &mut self.0 else { return false };
        let (operation, length) = (job.operation(), job.tag_length());
        match operation {
            Operation::Sign | Operation::Agree => {
                let mut made = Zeroizing::new(vec![0; job.output_length()]);
                return memory.read(offset, &mut made) && job.put_output(&made).is_ok();
            }
            Operation::Verify => return true,
            _ => {}
        }
        let Ok(mut data) = job.data() else { return false };
        let message = data.get_out();
        let tag_at = behind(offset, message);
        if !memory.read(offset, message) {
            return false;
        }
        if operation != Operation::Seal {
            return true;
        }
        let mut tag = [0; TAG];
        tag.get_mut(..length)
            .is_some_and(|tag| memory.read(tag_at, tag) && job.put_tag(tag).is_ok())
    }
}
