//! Named keys of the daemon.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(feature = "_asymmetric")]
use lanecrypt_engine::AsymmetricKey;
#[cfg(feature = "rsa")]
use lanecrypt_engine::RsaKey;
use lanecrypt_engine::{Algorithm, Engine, Error, Mode, Operation};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::Padding;
use zeroize::Zeroizing;

use super::cost::CostTable;
use super::nonces::{NonceSource, SharedNonces};
#[cfg(feature = "_asymmetric")]
use super::sessions::open_asymmetric;
use super::sessions::{NamedKey, Opened, open};
use super::users::{User, Users};
use super::uses::{Uses, operations};
#[cfg(feature = "rsa")]
use crate::RejectReason;

/// A named key of the daemon, and the users that may use it.
pub struct Key {
    name: String,
    secret: Secret,
    /// Those of earlier versions, which only open and verify.
    older: Vec<Secret>,
    users: Users,
    /// `None` stands for all.
    operations: Option<Vec<Operation>>,
    nonces: NonceSource,
}

enum Secret {
    Cipher(Algorithm, Zeroizing<Vec<u8>>),
    /// One key, or of RSA one for each padding.
    #[cfg(feature = "_asymmetric")]
    Asymmetric(Vec<AsymmetricKey>),
}

impl Key {
    /// A key of this name for all operations, and for the daemon's own user. The daemon makes the
    /// nonces.
    #[must_use]
    pub fn new(name: impl Into<String>, algorithm: Algorithm, bytes: Zeroizing<Vec<u8>>) -> Self {
        Self::of(name.into(), Secret::Cipher(algorithm, bytes))
    }

    /// The same for an asymmetric key, of signatures or of key exchange. A public key only
    /// verifies, or encapsulates.
    #[cfg(feature = "_asymmetric")]
    #[cfg_attr(docsrs, doc(cfg(any(feature = "pk", feature = "rsa"))))]
    #[must_use]
    pub fn asymmetric(name: impl Into<String>, key: impl Into<AsymmetricKey>) -> Self {
        Self::of(name.into(), Secret::Asymmetric(vec![key.into()]))
    }

    /// The same for the PEM or DER of a key of Ed25519: a private key (PKCS#8) or a public key
    /// (SPKI).
    ///
    /// # Errors
    ///
    /// [`KeyError`](lanecrypt_pk::KeyError) of the crate of curves.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    pub fn ed25519_from_pem_or_der(
        name: impl Into<String>,
        bytes: &[u8],
    ) -> Result<Self, lanecrypt_pk::KeyError> {
        Ok(Self::asymmetric(name, AsymmetricKey::ed25519_from_pem_or_der(bytes)?))
    }

    /// The same for the PEM or DER of a key of P-256: a private key (PKCS#8 or SEC 1) or a public
    /// key (SPKI).
    ///
    /// # Errors
    ///
    /// [`KeyError`](lanecrypt_pk::KeyError) of the crate of curves.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    pub fn p256_from_pem_or_der(
        name: impl Into<String>,
        bytes: &[u8],
    ) -> Result<Self, lanecrypt_pk::KeyError> {
        Ok(Self::asymmetric(name, AsymmetricKey::p256_from_pem_or_der(bytes)?))
    }

    /// The same for a key of X25519: PEM or DER (PKCS#8), or its 32 bytes.
    ///
    /// # Errors
    ///
    /// [`KeyError`](lanecrypt_pk::KeyError) of the crate of curves.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    pub fn x25519_from_bytes(
        name: impl Into<String>,
        bytes: &[u8],
    ) -> Result<Self, lanecrypt_pk::KeyError> {
        Ok(Self::asymmetric(name, AsymmetricKey::x25519_from_bytes(bytes)?))
    }

    /// The same for a key of ECDH with P-256: PEM or DER (PKCS#8 or SEC 1), or its 32 bytes, the
    /// most significant one first.
    ///
    /// # Errors
    ///
    /// [`KeyError`](lanecrypt_pk::KeyError) of the crate of curves.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    pub fn ecdh_p256_from_bytes(
        name: impl Into<String>,
        bytes: &[u8],
    ) -> Result<Self, lanecrypt_pk::KeyError> {
        Ok(Self::asymmetric(name, AsymmetricKey::ecdh_p256_from_bytes(bytes)?))
    }

    /// The same for a key of ML-KEM-768: to decapsulate, PEM or DER (PKCS#8) with the seed, or the
    /// 64 bytes of the seed; to encapsulate, PEM or DER (SPKI), or 1184 bytes.
    ///
    /// # Errors
    ///
    /// [`KeyError`](lanecrypt_pk::KeyError) of the crate of curves.
    #[cfg(feature = "pk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "pk")))]
    pub fn mlkem768_from_bytes(
        name: impl Into<String>,
        bytes: &[u8],
    ) -> Result<Self, lanecrypt_pk::KeyError> {
        Ok(Self::asymmetric(name, AsymmetricKey::mlkem768_from_bytes(bytes)?))
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
        Ok(Self::asymmetric(name, (RsaKey::from_pem_or_der(bytes)?, padding)))
    }

    fn of(name: String, secret: Secret) -> Self {
        let (older, users) = (Vec::new(), Users::default());
        Self { name, secret, older, users, operations: None, nonces: NonceSource::Random }
    }

    /// With an earlier version of the key, of the same algorithm: sessions open and verify with any
    /// version, and seal and sign with the current one. A key of key exchange has one version,
    /// since what the other side sent does not reveal for which version it is. The name, users and
    /// operations of `other` do not matter.
    #[must_use]
    pub fn with_older(mut self, other: Self) -> Self {
        self.older.push(other.secret);
        self.older.extend(other.older);
        self
    }

    /// With nonces from this source. Clients make those of algorithms that do not authenticate.
    #[must_use]
    pub fn with_nonces(self, nonces: NonceSource) -> Self {
        Self { nonces, ..self }
    }

    /// The same RSA key, whose signatures may have these paddings as well. The first one remains
    /// the default of clients. Other keys have no paddings, and are unchanged.
    #[cfg(feature = "rsa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
    #[must_use]
    pub fn with_paddings(mut self, paddings: impl IntoIterator<Item = Padding>) -> Self {
        if let Secret::Asymmetric(keys) = &mut self.secret
            && let Some((rsa, _)) = keys.first().and_then(AsymmetricKey::rsa)
        {
            let rsa = rsa.clone();
            for padding in paddings {
                let other = AsymmetricKey::from((rsa.clone(), padding));
                if !keys.iter().any(|own| own.has_scheme_of(&other)) {
                    keys.push(other);
                }
            }
        }
        self
    }

    /// The same key for these users, by number. They may then connect.
    #[must_use]
    pub fn for_users(mut self, users: impl Into<Vec<u32>>) -> Self {
        self.users.users = users.into();
        self
    }

    /// The same key for the members of these groups, by number, beside its users. They may then
    /// connect.
    #[must_use]
    pub fn for_groups(mut self, groups: impl Into<Vec<u32>>) -> Self {
        self.users.groups = groups.into();
        self
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
            #[cfg(feature = "_asymmetric")]
            Self::Asymmetric(keys) => keys.first().map_or(&[], AsymmetricKey::operations),
        }
    }

    /// The algorithm of a cipher.
    fn algorithm(&self) -> Option<Algorithm> {
        match self {
            Self::Cipher(algorithm, _) => Some(*algorithm),
            #[cfg(feature = "_asymmetric")]
            Self::Asymmetric(_) => None,
        }
    }

    /// Whether it is a key of the same algorithm.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cipher(algorithm, _), Self::Cipher(other, _)) => algorithm == other,
            #[cfg(feature = "_asymmetric")]
            (Self::Asymmetric(keys), Self::Asymmetric(others)) => keys
                .first()
                .zip(others.first())
                .is_some_and(|(key, other)| key.has_scheme_of(other)),
            #[cfg(feature = "_asymmetric")]
            _ => false,
        }
    }

    /// The sessions with the key: one, or of RSA one for each padding.
    fn open(self, engine: &Engine, costs: &mut CostTable) -> Result<Vec<Opened>, Error> {
        match self {
            Self::Cipher(algorithm, bytes) => Ok(vec![open(engine, costs, algorithm, &bytes)?]),
            #[cfg(feature = "_asymmetric")]
            Self::Asymmetric(keys) => {
                Ok(keys.into_iter().map(|key| open_asymmetric(engine, key)).collect())
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
    /// An operation cannot be withheld: with nonces of its choice, a client that may seal or
    /// encrypt can open and decrypt, and the reverse.
    Withheld(String),
    /// The daemon makes no nonces for the algorithm: clients have to.
    Nonces(String),
    /// The versions of the key have different algorithms.
    Versions(String),
    /// The key is one of key exchange, and has several versions.
    SeveralVersions(String),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(name) => write!(f, "two keys have the name {name}"),
            Self::Key(name, error) => write!(f, "key {name}: {error}"),
            Self::Operation(name, operation) => {
                write!(f, "key {name}: its algorithm cannot {}", operation.name())
            }
            Self::Withheld(name) => write!(
                f,
                "key {name}: with nonces from clients, its algorithm needs both operations"
            ),
            Self::Nonces(name) => {
                write!(f, "key {name}: the nonces of its algorithm come from clients")
            }
            Self::Versions(name) => {
                write!(f, "key {name}: its versions have different algorithms")
            }
            Self::SeveralVersions(name) => {
                write!(f, "key {name}: a key of key exchange has one version")
            }
        }
    }
}

impl core::error::Error for KeyError {}

/// The named keys, expanded.
#[derive(Debug, Default)]
pub(super) struct Keys {
    named: Vec<Named>,
    /// The numbers of nonces that keys of these names have used.
    used: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Named {
    key: Arc<NamedKey>,
    users: Users,
    /// One, or of RSA one for each padding.
    sessions: Vec<Opened>,
}

impl Keys {
    /// Expands the keys.
    pub(super) fn new(
        engine: &Engine,
        costs: &mut CostTable,
        keys: Vec<Key>,
    ) -> Result<Self, KeyError> {
        let mut named: Vec<Named> = Vec::with_capacity(keys.len());
        for key in keys {
            if named.iter().any(|other| other.key.name == key.name) {
                return Err(KeyError::Taken(key.name));
            }
            named.push(Named::new(engine, costs, key)?);
        }
        Ok(Self { named, used: BTreeMap::new() })
    }

    pub(super) fn len(&self) -> usize {
        self.named.len()
    }

    /// Continues the counts of nonces of keys with the same names, even if a name was absent
    /// meanwhile.
    pub(super) fn follow(&mut self, before: &Self) {
        self.used.clone_from(&before.used);
        for Named { key, .. } in &before.named {
            if let Some(nonces) = &key.nonces {
                self.used.insert(key.name.clone(), nonces.used());
            }
        }
        for Named { key, sessions, .. } in &self.named {
            let used = self.used.get(&key.name).copied();
            let algorithm = sessions.first().and_then(|opened| opened.session().algorithm());
            if let (Some(nonces), Some(used), Some(algorithm)) = (&key.nonces, used, algorithm) {
                // It fails only for algorithms that have no nonces.
                let _ = nonces.follows(algorithm, used);
            }
        }
    }

    /// Whether any key is for this user.
    pub(super) fn serve(&self, user: &User) -> bool {
        self.named.iter().any(|named| named.users.contain(user))
    }

    /// Those that are for others than the daemon's user.
    pub(super) fn users(&self) -> impl Iterator<Item = &Users> {
        self.named.iter().map(|named| &named.users)
    }

    /// The number of keys that this user may use.
    pub(super) fn count_for(&self, user: &User) -> usize {
        self.named.iter().filter(|named| named.are_for(user)).count()
    }

    /// The key of this name, if this user may use it. A key without users is for the daemon's.
    pub(super) fn find(&self, name: &str, user: &User) -> Option<Opened> {
        self.named(name, user)?.sessions.first().cloned()
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
        user: &User,
    ) -> Result<Opened, RejectReason> {
        let Named { sessions, .. } = self.named(name, user).ok_or(RejectReason::Name)?;
        let has_padding = |opened: &&Opened| {
            let key = opened.session().asymmetric_key().and_then(AsymmetricKey::rsa);
            key.is_some_and(|(_, its)| its == padding)
        };
        let found = sessions.iter().find(has_padding);
        found.cloned().ok_or(RejectReason::Padding)
    }

    /// What takes the place of a session of a named key: the key that has the name now, if it is
    /// for the same user and of the same algorithm.
    pub(super) fn successor(&self, opened: &Opened, user: &User) -> Option<Opened> {
        let name = &opened.named.as_ref()?.name;
        let is_same = |other: &&Opened| {
            let (its, own) = (other.session(), opened.session());
            other.has_scheme_of(opened)
                && its.algorithm() == own.algorithm()
                && its.signature_length() == own.signature_length()
                && its.agreement_length() == own.agreement_length()
        };
        self.named(name, user)?.sessions.iter().find(is_same).cloned()
    }

    fn named(&self, name: &str, user: &User) -> Option<&Named> {
        self.named.iter().find(|named| named.key.name == name).filter(|named| named.are_for(user))
    }
}

impl Named {
    fn new(engine: &Engine, costs: &mut CostTable, key: Key) -> Result<Self, KeyError> {
        let Key { name, secret, older, users, operations, nonces } = key;
        let has = secret.operations();
        let is_other = |operation: &&Operation| !has.contains(operation);
        if let Some(&other) = operations.iter().flatten().find(is_other) {
            return Err(KeyError::Operation(name, other));
        }
        let algorithm = secret.algorithm();
        if !older.iter().all(|older| older.is_like(&secret)) {
            return Err(KeyError::Versions(name));
        }
        if !older.is_empty() && has.contains(&Operation::Agree) {
            return Err(KeyError::SeveralVersions(name));
        }
        let is_partial =
            operations.as_ref().is_some_and(|only| has.iter().any(|one| !only.contains(one)));
        let uses = operations.map_or(Uses::ALL, Uses::of);
        let nonces = match (algorithm, nonces) {
            (Some(algorithm), NonceSource::Random) => match SharedNonces::new(algorithm) {
                Ok(nonces) => Some(nonces),
                Err(_) => return Err(KeyError::Nonces(name)),
            },
            (Some(algorithm), NonceSource::Client) if is_partial && repeats(algorithm) => {
                return Err(KeyError::Withheld(name));
            }
            _ => None,
        };
        let mut opened = Vec::with_capacity(1 + older.len());
        for secret in [secret].into_iter().chain(older) {
            match secret.open(engine, costs) {
                Ok(sessions) => opened.push(sessions),
                Err(error) => return Err(KeyError::Key(name, error)),
            }
        }
        let older = opened.split_off(1).into_iter().flatten().collect();
        let key = Arc::new(NamedKey { name, uses, older, nonces });
        let sessions = opened.into_iter().flatten().map(|opened| opened.of_key(&key)).collect();
        Ok(Self { key, users, sessions })
    }

    fn are_for(&self, user: &User) -> bool {
        match self.users.is_empty() {
            true => user.is_own,
            false => self.users.contain(user),
        }
    }
}

/// Whether a client that chooses the nonce gets plaintext out of a ciphertext by sealing or
/// encrypting it again: the keystream, at least its beginning, depends on key and nonce only.
fn repeats(algorithm: Algorithm) -> bool {
    algorithm.is_stream()
        || algorithm.is_aead() && !matches!(algorithm.mode(), Mode::Siv | Mode::GcmSiv)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::server::sessions::Sessions;

    fn keys(names: &[&str]) -> Keys {
        let key =
            |name: &&str| Key::new(*name, Algorithm::AES_256_GCM, Zeroizing::new(vec![7; 32]));
        let keys = names.iter().map(key).collect();
        Keys::new(&Engine::new(), &mut CostTable::new(), keys).expect("they are right")
    }

    #[test]
    fn a_removed_key_is_dropped_and_its_nonces_stay_counted() {
        let (socket, _other) = UnixStream::pair().expect("there are sockets");
        let (user, _) = User::of(&socket).expect("the kernel says it");
        let before = keys(&["k"]);
        let opened = before.find("k", &user).expect("it is for this user");
        let key = Arc::downgrade(opened.named.as_ref().expect("it has a name"));
        let nonces = |keys: &Keys| {
            let opened = keys.find("k", &user).expect("it is for this user");
            opened.named.and_then(|key| key.nonces.as_ref().map(SharedNonces::used))
        };
        for _ in 0..3 {
            let nonces = opened.named.as_ref().and_then(|key| key.nonces.as_ref());
            nonces.expect("the daemon makes them").fresh().expect("there are some");
        }
        let mut sessions = Sessions::default();
        let number = sessions.add(opened, 10).expect("there is room");

        let mut without = keys(&[]);
        without.follow(&before);
        assert_eq!(sessions.rebind(|opened| without.successor(opened, &user)), 1);
        drop(before);
        assert!(key.upgrade().is_none(), "nobody has the key any more");
        assert!(sessions.find(number).is_some_and(|place| place.opened().is_none()));
        assert_eq!((sessions.len(), sessions.memory()), (1, 0));
        assert!(sessions.remove(number).is_some() && sessions.remove(number).is_none());
        assert_eq!(sessions.len(), 0);

        let mut again = keys(&["k"]);
        again.follow(&without);
        assert_eq!(nonces(&again), Some(3));
    }
}
