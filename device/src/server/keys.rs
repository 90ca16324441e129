//! Named keys of the daemon.

use core::fmt;

#[cfg(feature = "rsa")]
use lanecrypt_engine::RsaKey;
use lanecrypt_engine::{Algorithm, Engine, Error, Operation};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::Padding;
use zeroize::Zeroizing;

#[cfg(feature = "rsa")]
use super::rsa_key;
use super::sessions::{Opened, Uses, open, operations};
#[cfg(feature = "rsa")]
use super::sessions::{open_rsa, rsa_operations};
#[cfg(feature = "rsa")]
use crate::RejectReason;

/// A named key of the daemon, and the users that may use it.
pub struct Key {
    name: String,
    secret: Secret,
    users: Vec<u32>,
    /// `None` stands for all.
    operations: Option<Vec<Operation>>,
}

enum Secret {
    Cipher(Algorithm, Zeroizing<Vec<u8>>),
    #[cfg(feature = "rsa")]
    /// There is one session for each padding.
    Rsa(RsaKey, Vec<Padding>),
}

impl Key {
    /// A key of this name for all operations, and for the daemon's own user.
    #[must_use]
    pub fn new(name: impl Into<String>, algorithm: Algorithm, bytes: Zeroizing<Vec<u8>>) -> Self {
        Self::of(name.into(), Secret::Cipher(algorithm, bytes))
    }

    /// The same for an RSA key, whose signatures have this padding. A public key only verifies.
    #[cfg(feature = "rsa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
    #[must_use]
    pub fn rsa(name: impl Into<String>, key: impl Into<RsaKey>, padding: Padding) -> Self {
        Self::of(name.into(), Secret::Rsa(key.into(), vec![padding]))
    }

    /// The same for the PEM or DER of an RSA key: a private key (PKCS#8 or PKCS#1) or a public key
    /// (SPKI or PKCS#1).
    ///
    /// # Errors
    ///
    /// [`KeyError`](lanecrypt_rsa::KeyError) of RSA.
    #[cfg(feature = "rsa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
    pub fn rsa_from_pem_or_der(
        name: impl Into<String>,
        bytes: &[u8],
        padding: Padding,
    ) -> Result<Self, lanecrypt_rsa::KeyError> {
        Ok(Self::rsa(name, rsa_key::read(bytes)?, padding))
    }

    fn of(name: String, secret: Secret) -> Self {
        Self { name, secret, users: Vec::new(), operations: None }
    }

    /// The same RSA key, whose signatures may have these paddings as well. The first one remains
    /// the default of clients. Keys of ciphers have no paddings, and are unchanged.
    #[cfg(feature = "rsa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
    #[must_use]
    pub fn with_paddings(mut self, paddings: impl IntoIterator<Item = Padding>) -> Self {
        if let Secret::Rsa(_, own) = &mut self.secret {
            for padding in paddings {
                if !own.contains(&padding) {
                    own.push(padding);
                }
            }
        }
        self
    }

    /// The same key for these users, by number. They may then connect.
    #[must_use]
    pub fn for_users(self, users: impl Into<Vec<u32>>) -> Self {
        Self { users: users.into(), ..self }
    }

    /// The same key for only these operations, which its algorithm must have.
    #[must_use]
    pub fn for_operations(self, operations: impl IntoIterator<Item = Operation>) -> Self {
        Self { operations: Some(operations.into_iter().collect()), ..self }
    }
}

impl Secret {
    fn operations(&self) -> &'static [Operation] {
        match self {
            Self::Cipher(algorithm, _) => operations(*algorithm),
            #[cfg(feature = "rsa")]
            Self::Rsa(key, _) => rsa_operations(key),
        }
    }

    /// The sessions with the key: one, or one for each padding.
    fn open(self, engine: &Engine) -> Result<Vec<Opened>, Error> {
        match self {
            Self::Cipher(algorithm, bytes) => Ok(vec![open(engine, algorithm, &bytes)?]),
            #[cfg(feature = "rsa")]
            Self::Rsa(key, paddings) => {
                let paddings = paddings.into_iter();
                Ok(paddings.map(|padding| open_rsa(engine, key.clone(), padding)).collect())
            }
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The reason for which a named key cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// Another key has the name.
    Taken(String),
    /// The algorithm has no keys of this length, or the key is weak.
    Key(String, Error),
    /// The key's algorithm does not have the operation.
    Operation(String, Operation),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(name) => write!(f, "two keys have the name {name}"),
            Self::Key(name, error) => write!(f, "key {name}: {error}"),
            Self::Operation(name, operation) => {
                write!(f, "key {name}: its algorithm cannot {}", operation.name())
            }
        }
    }
}

impl core::error::Error for KeyError {}

/// The named keys, expanded.
#[derive(Debug, Default)]
pub(super) struct Keys(Vec<Named>);

#[derive(Debug)]
struct Named {
    name: String,
    users: Vec<u32>,
    /// One, or of an RSA key one for each padding.
    sessions: Vec<Opened>,
}

impl Keys {
    /// Expands the keys.
    pub(super) fn new(engine: &Engine, keys: Vec<Key>) -> Result<Self, KeyError> {
        let mut named: Vec<Named> = Vec::with_capacity(keys.len());
        for Key { name, secret, users, operations } in keys {
            if named.iter().any(|other| other.name == name) {
                return Err(KeyError::Taken(name));
            }
            let has = secret.operations();
            let is_other = |operation: &&Operation| !has.contains(operation);
            if let Some(&other) = operations.iter().flatten().find(is_other) {
                return Err(KeyError::Operation(name, other));
            }
            let uses = operations.map_or(Uses::ALL, Uses::of);
            let sessions = match secret.open(engine) {
                Ok(opened) => opened.into_iter().map(|opened| opened.for_uses(uses)).collect(),
                Err(error) => return Err(KeyError::Key(name, error)),
            };
            named.push(Named { name, users, sessions });
        }
        Ok(Self(named))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether any key is for this user.
    pub(super) fn serve(&self, user: u32) -> bool {
        self.0.iter().any(|named| named.users.contains(&user))
    }

    /// Whether any key is for other users than this one.
    pub(super) fn serve_others(&self, than: u32) -> bool {
        self.0.iter().any(|named| named.users.iter().any(|&user| user != than))
    }

    /// The key of this name, if this user may use it. A key without users is for the daemon's.
    pub(super) fn find(&self, name: &str, user: u32, own: u32) -> Option<Opened> {
        self.named(name, user, own)?.sessions.first().cloned()
    }

    /// The same for an RSA key with this padding.
    ///
    /// # Errors
    ///
    /// There is no such key for this user, or it has other paddings.
    #[cfg(feature = "rsa")]
    pub(super) fn find_rsa(
        &self,
        name: &str,
        padding: Padding,
        user: u32,
        own: u32,
    ) -> Result<Opened, RejectReason> {
        let Named { sessions, .. } = self.named(name, user, own).ok_or(RejectReason::Name)?;
        let has_padding =
            |opened: &&Opened| opened.session().rsa_key().is_some_and(|(_, its)| its == padding);
        let found = sessions.iter().find(has_padding);
        found.cloned().ok_or(RejectReason::Padding)
    }

    fn named(&self, name: &str, user: u32, own: u32) -> Option<&Named> {
        let named = self.0.iter().find(|named| named.name == name)?;
        let may = match &named.users[..] {
            [] => user == own,
            users => users.contains(&user),
        };
        may.then_some(named)
    }
}
