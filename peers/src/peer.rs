//! Peers as the tables measure them.

use core::fmt;
use std::sync::Arc;

use lanecrypt_libcrypto::Libcrypto;

use crate::Failed;
use crate::direction::Direction;

/// Whether a peer can be measured here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Availability {
    /// It can; with the version that was found.
    Found(String),
    /// It cannot; with a hint for people, such as `apt install libsodium23`.
    Missing(String),
}

/// A measurable part of another project, as the points of the results name it: a `dyn Generator`, a
/// `dyn Cipher`, a `dyn Aead` or a `dyn Signer`.
///
/// A peer that was found has also been tried.
#[non_exhaustive]
pub struct Peer<T: ?Sized> {
    /// The project it comes from: `openssl`, `kernel`, `rand`, …
    pub source: &'static str,
    /// The entry point that is timed: `evp`, `vdso`, `thread-rng-held`, …
    pub api: &'static str,
    /// The algorithm where it is known: `chacha12`, `aes-128-cbc`, …
    pub subject: &'static str,
    /// Whether it can be measured here.
    pub availability: Availability,
    /// Whether its API takes many messages at a time, so that batches are more than a loop.
    pub batches: bool,
    pub(crate) open: Open<T>,
}

/// Makes the generator or cipher.
#[expect(clippy::type_complexity, reason = "written once")]
pub(crate) struct Open<T: ?Sized>(
    pub(crate) Arc<dyn Fn(Direction, &[&[u8]]) -> Option<Box<T>> + Send + Sync>,
);

/// The kinds of peers.
pub(crate) trait Kind {
    /// Tries a peer; the error is text to follow the version that was found.
    fn fault(peer: &Peer<Self>) -> Option<String>;
}

/// A library that was found, or crates that are built in.
pub(crate) trait Versioned: Clone + Send + Sync + 'static {
    fn version(&self) -> String;
}

/// Crates, which are always there, by their names and versions.
impl Versioned for &'static str {
    fn version(&self) -> String {
        (*self).to_owned()
    }
}

/// The same.
impl Versioned for String {
    fn version(&self) -> String {
        self.clone()
    }
}

impl Versioned for Libcrypto {
    fn version(&self) -> String {
        Self::version(self).to_owned()
    }
}

/// A session of a cipher: one key in one direction. The loops of `T` are made for it.
pub(crate) trait Session<T: ?Sized>: Sized + 'static {
    /// The loops around `sessions`; `None` without any.
    fn boxed(direction: Direction, sessions: Vec<Self>) -> Option<Box<T>>;
}

impl<T: ?Sized + 'static> Peer<T> {
    /// A peer of the library that was `found`, or the hint how to get it. `open` makes a session
    /// for each key.
    pub(crate) fn new<L: Versioned>(
        [source, api, subject]: [&'static str; 3],
        found: &Result<L, String>,
        open: impl Fn(&L, Direction, &[&[u8]]) -> Option<Box<T>> + Send + Sync + 'static,
    ) -> Self
    where
        T: Kind,
    {
        let library = match found {
            Ok(library) => library.clone(),
            Err(hint) => return Self::missing([source, api, subject], hint),
        };
        let version = library.version();
        let open = Open(Arc::new(move |direction, keys: &[&[u8]]| open(&library, direction, keys)));
        let availability = Availability::Found(version.clone());
        let peer = Self { source, api, subject, availability, batches: false, open };
        match T::fault(&peer) {
            None => peer,
            Some(fault) => {
                Self::missing([source, api, subject], &format!("{source} {version} {fault}"))
            }
        }
    }

    /// The same with an `open` that makes one session.
    pub(crate) fn keyed<L: Versioned, S: Session<T>>(
        names: [&'static str; 3],
        found: &Result<L, String>,
        open: impl Fn(&L, Direction, &[u8]) -> Result<S, Failed> + Send + Sync + 'static,
    ) -> Self
    where
        T: Kind,
    {
        Self::new(names, found, move |library, direction, keys| {
            let sessions = keys.iter().map(|key| open(library, direction, key));
            S::boxed(direction, sessions.collect::<Result<_, _>>().ok()?)
        })
    }

    /// A missing peer, with the hint how to get it.
    pub(crate) fn missing([source, api, subject]: [&'static str; 3], hint: &str) -> Self {
        let open = Open(Arc::new(|_: Direction, _: &[&[u8]]| None));
        let availability = Availability::Missing(hint.to_owned());
        Self { source, api, subject, availability, batches: false, open }
    }

    /// The same peer with an API that takes many messages at a time.
    pub(crate) fn in_batches(self) -> Self {
        Self { batches: true, ..self }
    }
}

impl<T: ?Sized> Peer<T> {
    /// A cipher with one session for each key; `None` if the peer is missing or refuses a key, or
    /// if there are no keys. With authentication, [`Direction::Encrypt`] seals and
    /// [`Direction::Decrypt`] opens.
    ///
    /// Any number of threads may call it at the same time.
    #[must_use]
    pub fn open(&self, direction: Direction, keys: &[&[u8]]) -> Option<Box<T>> {
        let (key_len, _) = lengths(self.subject)?;
        if keys.iter().any(|key| key.len() != key_len) {
            return None;
        }
        (self.open.0)(direction, keys)
    }
}

impl<T: ?Sized> Clone for Peer<T> {
    fn clone(&self) -> Self {
        let availability = self.availability.clone();
        Self { availability, open: Open(self.open.0.clone()), ..*self }
    }
}

impl<T: ?Sized> fmt::Debug for Peer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, api, subject, availability, .. } = self;
        write!(f, "{source} {api} {subject}: {availability:?}")
    }
}

/// The lengths in bytes of the key and of the IV or nonce of a measured algorithm; `None` for
/// others. Tags have 16 bytes.
#[must_use]
pub fn lengths(algorithm: &str) -> Option<(usize, usize)> {
    match algorithm {
        "aes-128-cbc" | "aes-128-ctr" | "serpent-128-cbc" | "serpent-128-ctr" => Some((16, 16)),
        "aes-128-xts" => Some((32, 16)),
        "aes-256-xts" => Some((64, 16)),
        "chacha20-ietf" => Some((32, 12)),
        "des-cbc" => Some((8, 8)),
        "3des-cbc" => Some((24, 8)),
        "aes-128-gcm" | "aes-128-gcm-siv" => Some((16, 12)),
        "aes-siv-256" => Some((32, 16)),
        "aes-siv-512" => Some((64, 16)),
        "aes-128-cbc+hmac-sha256" => Some((48, 16)),
        "aes-256-gcm" | "aes-256-gcm-siv" | "chacha20-poly1305" => Some((32, 12)),
        "xchacha20-poly1305" => Some((32, 24)),
        "aegis-128l" => Some((16, 16)),
        "aegis-256" => Some((32, 32)),
        _ => None,
    }
}

/// Whether a measured algorithm takes whole blocks only, as CBC without padding does.
#[must_use]
pub fn whole_blocks(algorithm: &str) -> bool {
    algorithm.contains("-cbc")
}
