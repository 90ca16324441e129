//! The daemon's file of settings, as it is written.

use std::path::{Path, PathBuf};

use lanecrypt_ciphers::Algorithm;
use lanecrypt_device::Limits;
use lanecrypt_engine::Operation;
use lanecrypt_rsa::{Hash, Padding};
use serde::Deserialize;
use toml::Spanned;

use super::escape::{LONGEST, quoted, visible};

/// The algorithm of keys that wrap others, which clients cannot use.
pub(super) const WRAPPING: &str = "aes-256-wrap";

/// What stands between the parts of a message.
const EXPECTED: &str = ", expected ";
/// The longest parts of a message in bytes: with a value, and with a list of what may be there.
const FOUND: usize = LONGEST + 32;
const LIST: usize = 192;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    /// The users and groups that may connect, beside the user of the daemon.
    #[serde(default)]
    pub(super) allow: Vec<Spanned<Who>>,
    #[serde(default)]
    limits: WrittenLimits,
    #[serde(default, rename = "key")]
    pub(super) keys: Vec<WrittenKey>,
}

impl Written {
    /// Parses the text of a file.
    ///
    /// # Errors
    ///
    /// The number of the line, and what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            format!("{}: {}", line(text, start), shortened(error.message()))
        })
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits.limits()
    }
}

/// The number of the line at this place in the text of a file.
pub(super) fn line(text: &str, start: usize) -> usize {
    let before = text.as_bytes().get(..start).unwrap_or_default();
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// A message of the parser, with the beginning of the value that it quotes.
fn shortened(message: &str) -> String {
    let message = message.replace('\n', ", ");
    // What is expected is a text of the program.
    match message.rsplit_once(EXPECTED) {
        Some((found, expected)) => {
            format!("{}{EXPECTED}{}", visible(found, FOUND), visible(expected, LIST))
        }
        None => visible(&message, LIST),
    }
}

/// Who may do something, as the settings write it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "neither a user, nor an @group, nor the number of a user")]
pub(super) enum Who {
    Number(u32),
    Name(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenKey {
    pub(super) name: String,
    /// The file with the bytes of the key, and nothing else; of an RSA key with its PEM or DER. A
    /// relative path is from where the settings are.
    file: Option<PathBuf>,
    /// A credential of the service manager, instead of a file.
    credential: Option<String>,
    /// Several versions, instead of a file or a credential.
    #[serde(default)]
    versions: Vec<WrittenVersion>,
    /// The version that seals and signs; without it, the last one.
    current: Option<String>,
    /// The name of the key that wraps all of its versions.
    pub(super) wrapped_by: Option<String>,
    /// A cipher, a name of [`Asymmetric`], or RSA with its padding, such as `rsa-pss-sha256`, or
    /// with several.
    pub(super) algorithm: Algorithms,
    /// The users and groups that may use it; without any, the user of the daemon.
    #[serde(default)]
    pub(super) allow: Vec<Spanned<Who>>,
    /// What they may do with it; without any, everything.
    #[serde(default)]
    operations: Vec<String>,
    #[serde(default)]
    pub(super) nonces: Nonces,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenVersion {
    version: String,
    file: Option<PathBuf>,
    credential: Option<String>,
}

/// Who makes the nonces.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Nonces {
    #[default]
    Daemon,
    Client,
}

/// One algorithm, or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "algorithm: neither a name nor a list of names")]
pub(super) enum Algorithms {
    One(String),
    Several(Vec<String>),
}

/// Signatures on curves, and key exchange.
#[derive(Clone, Copy)]
pub(super) enum Asymmetric {
    Ed25519,
    EcdsaP256,
    X25519,
    EcdhP256,
    MlKem768,
}

impl Algorithms {
    /// The paddings of RSA; none for a cipher.
    pub(super) fn paddings(&self) -> Option<Vec<Padding>> {
        let names = self.names();
        let paddings = names.iter().map(|name| padding(name)).collect::<Option<Vec<_>>>();
        paddings.filter(|paddings| !paddings.is_empty())
    }

    /// The only one, if it is a signature on a curve, or key exchange.
    pub(super) fn asymmetric(&self) -> Option<Asymmetric> {
        let [name] = self.names() else { return None };
        Some(match name.as_str() {
            "ed25519" => Asymmetric::Ed25519,
            "ecdsa-p256-sha256" => Asymmetric::EcdsaP256,
            "x25519" => Asymmetric::X25519,
            "ecdh-p256" => Asymmetric::EcdhP256,
            "ml-kem-768" => Asymmetric::MlKem768,
            _ => return None,
        })
    }

    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => core::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }

    /// The only one, which is that of a cipher.
    pub(super) fn cipher(&self) -> Result<Algorithm, String> {
        let names = self.names();
        let [name] = names else {
            let other = names.iter().find(|name| padding(name).is_none());
            let other = other.map_or("an empty list", String::as_str);
            return Err(format!(
                "only RSA has lists of algorithms: {} is none of it",
                quoted(other)
            ));
        };
        match name.parse() {
            Ok(Algorithm::NULL) => Err(String::from("the null cipher has no key")),
            Ok(algorithm) => Ok(algorithm),
            Err(_) => Err(format!("unknown algorithm {}", quoted(name))),
        }
    }
}

impl WrittenKey {
    /// Whether it wraps other keys.
    pub(super) fn wraps(&self) -> bool {
        matches!(self.algorithm.names(), [name] if name == WRAPPING)
    }

    /// Where it is, if it wraps other keys.
    pub(super) fn wrapping_place(&self) -> Result<Place, String> {
        let places = self.places()?;
        let [place] = <[Place; 1]>::try_from(places)
            .map_err(|_| String::from("a key that wraps others has one version"))?;
        let is_plain = self.wrapped_by.is_none()
            && self.allow.is_empty()
            && self.operations.is_empty()
            && matches!(self.nonces, Nonces::Daemon);
        match is_plain {
            true => Ok(place),
            false => Err(String::from("a key that wraps others has a name and a place only")),
        }
    }

    /// Where its versions are, the current one first.
    pub(super) fn places(&self) -> Result<Vec<Place>, String> {
        if self.versions.is_empty() {
            if self.current.is_some() {
                return Err(String::from("current: there are no versions"));
            }
            return Ok(vec![Place::new(self.file.as_deref(), self.credential.as_deref())?]);
        }
        if self.file.is_some() || self.credential.is_some() {
            return Err(String::from("the place is that of each version, not of the key"));
        }
        let mut places = Vec::with_capacity(self.versions.len());
        let mut at = None;
        for (index, WrittenVersion { version, file, credential }) in
            self.versions.iter().enumerate()
        {
            if self.versions.iter().take(index).any(|other| other.version == *version) {
                return Err(format!("two versions have the name {}", quoted(version)));
            }
            if self.current.as_ref().is_none_or(|current| current == version) {
                at = Some(index);
            }
            let place = Place::new(file.as_deref(), credential.as_deref());
            places.push(place.map_err(|reason| format!("version {}: {reason}", quoted(version)))?);
        }
        let current = self.current.as_deref().unwrap_or_default();
        places.swap(
            0,
            at.ok_or_else(|| format!("current: there is no version {}", quoted(current)))?,
        );
        Ok(places)
    }

    pub(super) fn operations(&self) -> Result<Vec<Operation>, String> {
        let find = |name: &String| {
            let found = Operation::ALL.into_iter().find(|operation| operation.name() == name);
            found.ok_or_else(|| format!("unknown operation {}", quoted(name)))
        };
        self.operations.iter().map(find).collect()
    }
}

/// Where the bytes of a key are.
pub(super) enum Place {
    File(PathBuf),
    Credential(String),
}

impl Place {
    fn new(file: Option<&Path>, credential: Option<&str>) -> Result<Self, String> {
        match (file, credential) {
            (Some(file), None) => Ok(Self::File(file.to_owned())),
            (None, Some(name)) => Ok(Self::Credential(name.to_owned())),
            _ => Err("either file or credential says where it is".into()),
        }
    }

    /// As the settings write it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::File(file) => quoted(&file.to_string_lossy()),
            Self::Credential(name) => quoted(name),
        }
    }
}

/// The padding of an algorithm such as `rsa-pkcs1v15-sha256` or `rsa-pss-sha512`.
fn padding(algorithm: &str) -> Option<Padding> {
    let (padding, hash) = algorithm.strip_prefix("rsa-")?.split_once('-')?;
    // Not SHA-1.
    let hash = [Hash::SHA256, Hash::SHA384, Hash::SHA512]
        .into_iter()
        .find(|known| known.name() == hash)?;
    match padding {
        "pkcs1v15" => Some(Padding::pkcs1v15(hash)),
        "pss" => Some(Padding::pss(hash)),
        _ => None,
    }
}

/// Limits that the settings change; see [`Limits`].
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLimits {
    clients: Option<u32>,
    user_clients: Option<u32>,
    sessions: Option<u32>,
    user_sessions: Option<u32>,
    /// In bytes.
    arena: Option<u32>,
    signatures: Option<u32>,
    /// In bytes.
    memory: Option<u64>,
}

impl WrittenLimits {
    fn limits(&self) -> Limits {
        let usual = Limits::default();
        let count = |written: Option<u32>, usual| written.map_or(usual, |number| number as usize);
        Limits {
            clients: count(self.clients, usual.clients),
            user_clients: count(self.user_clients, usual.user_clients),
            sessions: count(self.sessions, usual.sessions),
            user_sessions: count(self.user_sessions, usual.user_sessions),
            arena: self.arena.unwrap_or(usual.arena),
            signatures: self.signatures.unwrap_or(usual.signatures),
            memory: self.memory.unwrap_or(usual.memory),
        }
    }
}
