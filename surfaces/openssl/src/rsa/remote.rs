//! Keys that live in the daemon `lanecrypt serve`, and never here.
//!
//! Each thread has its own connections, so that nothing is locked when a process forks: one for
//! each socket, made when the thread first signs. A forked child finds that a connection is its
//! parent's, and makes another one.

use core::cell::RefCell;
use std::path::{Path, PathBuf};

use lanecrypt_device::{Client, ConnectError, Error, Message, RejectReason, Session, Settings};
use lanecrypt_rsa::{Padding, PublicKey};

use super::uri::Uri;

/// The most signatures in flight, and the bytes that they have: a digest and a signature of 8192
/// bits each.
const DEPTH: u32 = 32;
const ARENA: u32 = DEPTH * (64 + 1024);

thread_local! {
    static LINKS: RefCell<Vec<Link>> = const { RefCell::new(Vec::new()) };
}

/// A key in a daemon.
pub(super) struct Remote {
    name: String,
    socket: PathBuf,
    /// The DER of its public key. The daemon may have another key under the name when it starts
    /// again.
    public: Vec<u8>,
}

/// A signature that is wanted: the key, the padding, the digest.
pub(super) type Wanted<'w> = (&'w Remote, Padding, &'w [u8]);

/// A connection to a daemon, and the sessions that it has opened.
struct Link {
    socket: PathBuf,
    client: Client,
    sessions: Vec<Open>,
}

/// A session, and what it was opened for.
struct Open {
    name: String,
    public: Vec<u8>,
    padding: Padding,
    session: Session,
}

impl Remote {
    /// Asks the daemon for the public key.
    ///
    /// # Errors
    ///
    /// Why there is none, for people.
    pub(super) fn find(uri: Uri, default: &Path) -> Result<(Self, PublicKey), String> {
        let Uri { name, socket } = uri;
        let socket = socket.unwrap_or_else(|| default.to_owned());
        let of_key = |reason: &dyn core::fmt::Display| described(&socket, &name, reason);
        let mut client = connect(&socket).map_err(|error| error.with_path(&socket))?;
        let session = client.named_session(&name).map_err(|error| of_key(&error))?;
        let public = client.public_key(session).map_err(|error| match error {
            Error::Denied(RejectReason::Algorithm) => of_key(&"it is not an RSA key"),
            error => of_key(&error),
        })?;
        let key = PublicKey::from_spki_der(&public).map_err(|error| of_key(&error))?;
        Ok((Self { name, socket, public }, key))
    }

    fn described(&self, error: Error) -> String {
        described(&self.socket, &self.name, &error)
    }
}

/// What is wrong with a key.
fn described(socket: &Path, name: &str, reason: &dyn core::fmt::Display) -> String {
    format!("{}: key {name}: {reason}", socket.display())
}

fn connect(socket: &Path) -> Result<Client, ConnectError> {
    // A signature takes so long that nothing is gained by looking for it.
    let settings = Settings::default().depth(DEPTH).arena(ARENA).spin(core::time::Duration::ZERO);
    Client::connect_with(socket, &settings)
}

/// Has daemons make these signatures: all at once, and again by a new connection what was lost with
/// an old one.
///
/// Errors are for people.
pub(super) fn sign(wanted: &[Wanted<'_>]) -> Vec<Result<Vec<u8>, String>> {
    let mut outcomes: Vec<Option<Result<Vec<u8>, String>>> = wanted.iter().map(|_| None).collect();
    while let Some(first) = outcomes.iter().position(Option::is_none) {
        let (Remote { socket, .. }, ..) = wanted[first];
        let mut waiting: Vec<usize> = (first..wanted.len())
            .filter(|&at| outcomes[at].is_none() && wanted[at].0.socket == *socket)
            .collect();
        // What is kept may have ended, what is new is there.
        for link in [kept(socket).map(Ok), None] {
            let is_new = link.is_none();
            let link = link.unwrap_or_else(|| Link::new(socket));
            if waiting.is_empty() {
                break;
            }
            let mut link = match link {
                Ok(link) => link,
                Err(reason) => {
                    waiting.drain(..).for_each(|at| outcomes[at] = Some(Err(reason.clone())));
                    break;
                }
            };
            let (mut lost, mut has_ended) = (Vec::new(), false);
            for (&at, made) in waiting.iter().zip(link.sign(&waiting, wanted)) {
                has_ended |= matches!(made, Err(Failed::Lost(_)));
                match made {
                    Err(Failed::Lost(_)) if !is_new => lost.push(at),
                    Err(Failed::Lost(error)) => {
                        outcomes[at] = Some(Err(wanted[at].0.described(error)));
                    }
                    Err(Failed::Key(reason)) => outcomes[at] = Some(Err(reason)),
                    Ok(signature) => outcomes[at] = Some(Ok(signature)),
                }
            }
            waiting = lost;
            if !has_ended && link.client.in_flight() == 0 {
                keep(link);
            }
        }
    }
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(|| Err(String::new()))).collect()
}

/// Why a signature was not made.
enum Failed {
    /// The connection has ended, or is another process's.
    Lost(Error),
    /// It will not be made by another one.
    Key(String),
}

impl Failed {
    fn of(remote: &Remote, error: Error) -> Self {
        match error {
            Error::Disconnected | Error::Forked | Error::Malformed => Self::Lost(error),
            error => Self::Key(remote.described(error)),
        }
    }
}

/// Takes the connection of this thread to a socket.
fn kept(socket: &Path) -> Option<Link> {
    let take = |links: &RefCell<Vec<Link>>| {
        let mut links = links.try_borrow_mut().ok()?;
        let at = links.iter().position(|link| link.socket == socket)?;
        Some(links.swap_remove(at))
    };
    LINKS.try_with(take).ok().flatten()
}

/// Keeps a connection for the next signature. A thread that ends keeps none.
fn keep(link: Link) {
    let _ = LINKS.try_with(|links| {
        if let Ok(mut links) = links.try_borrow_mut() {
            links.push(link);
        }
    });
}

impl Link {
    fn new(socket: &Path) -> Result<Self, String> {
        let client = connect(socket).map_err(|error| error.with_path(socket))?;
        Ok(Self { socket: socket.to_owned(), client, sessions: Vec::new() })
    }

    /// Makes those of the wanted signatures whose indices these are.
    fn sign(&mut self, which: &[usize], wanted: &[Wanted<'_>]) -> Vec<Result<Vec<u8>, Failed>> {
        let mut outcomes: Vec<Option<Result<Vec<u8>, Failed>>> = Vec::new();
        for (place, &at) in which.iter().enumerate() {
            let (remote, padding, digest) = wanted[at];
            outcomes.push(None);
            let begun = self.session(remote, padding).and_then(|session| {
                let buffer = [digest, &vec![0; session.signature_length()]].concat();
                let mut message = Message::sign_digest(session, buffer).with_user(place as u64);
                loop {
                    match self.client.submit(message) {
                        Ok(_) => return Ok(()),
                        Err(not_taken) if not_taken.reason == Error::Full => {
                            message = not_taken.value;
                            self.take(&mut outcomes, which, wanted)
                                .map_err(|error| Failed::of(remote, error))?;
                        }
                        Err(not_taken) => return Err(Failed::of(remote, not_taken.reason)),
                    }
                }
            });
            if let Err(failed) = begun {
                outcomes[place] = Some(Err(failed));
            }
        }
        let mut ended = Error::Disconnected;
        loop {
            match self.take(&mut outcomes, which, wanted) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    ended = error;
                    break;
                }
            }
        }
        let outcomes = outcomes.into_iter();
        outcomes.map(|outcome| outcome.unwrap_or(Err(Failed::Lost(ended)))).collect()
    }

    /// Waits for one signature, if any is in flight.
    fn take(
        &mut self,
        outcomes: &mut [Option<Result<Vec<u8>, Failed>>],
        which: &[usize],
        wanted: &[Wanted<'_>],
    ) -> Result<bool, Error> {
        let Some(done) = self.client.wait()? else { return Ok(false) };
        let place = usize::try_from(done.user).unwrap_or(usize::MAX);
        if let (Some(outcome), Some(&at)) = (outcomes.get_mut(place), which.get(place)) {
            let (remote, _, digest) = wanted[at];
            let mut signature = done.buffer;
            signature.drain(..digest.len().min(signature.len()));
            let made = done.outcome.map(|()| signature);
            *outcome = Some(made.map_err(|error| Failed::of(remote, error)));
        }
        Ok(true)
    }

    /// The session of a key with a padding. Each is checked to be of the key that was loaded.
    fn session(&mut self, remote: &Remote, padding: Padding) -> Result<Session, Failed> {
        let Remote { name, public, .. } = remote;
        let mut sessions = self.sessions.iter();
        // By the key, too: a program may have loaded one before the daemon got another.
        let is_it =
            |open: &&Open| open.padding == padding && open.name == *name && open.public == *public;
        if let Some(open) = sessions.find(is_it) {
            return Ok(open.session);
        }
        let of = |error| Failed::of(remote, error);
        let session = self.client.named_rsa_session(name, padding).map_err(of)?;
        if self.client.public_key(session).map_err(of)? != *public {
            self.client.close(session).map_err(of)?;
            let reason = "the daemon has another key under the name than when it was loaded";
            return Err(Failed::Key(described(&self.socket, name, &reason)));
        }
        let (name, public) = (name.clone(), public.clone());
        self.sessions.push(Open { name, public, padding, session });
        Ok(session)
    }
}
