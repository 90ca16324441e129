//! Named keys, as the settings write them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lanecrypt_ciphers::Algorithm;
use lanecrypt_device::{Key, NonceSource};
use lanecrypt_engine::Operation;
use lanecrypt_rsa::{Hash, Padding};
use serde::Deserialize;
use toml::Spanned;
use zeroize::Zeroizing;

use crate::secret;
use crate::serve::names::{Allowed, Who};
use crate::wrapping::{self, Passphrase, WrappingKey};

/// The algorithm of keys that wrap others, which clients cannot use.
const WRAPPING: &str = "aes-256-wrap";

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
    wrapped_by: Option<String>,
    /// A cipher, or RSA with its padding, such as `rsa-pss-sha256`, or with several.
    algorithm: Algorithms,
    /// The users and groups that may use it; without any, the user of the daemon.
    #[serde(default)]
    pub(super) allow: Vec<Spanned<Who>>,
    /// What they may do with it; without any, everything.
    #[serde(default)]
    operations: Vec<String>,
    #[serde(default)]
    nonces: Nonces,
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
enum Nonces {
    #[default]
    Daemon,
    Client,
}

/// One algorithm, or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "algorithm: neither a name nor a list of names")]
enum Algorithms {
    One(String),
    Several(Vec<String>),
}

impl Algorithms {
    /// The paddings of RSA; none for a cipher.
    fn paddings(&self) -> Option<Vec<Padding>> {
        let names = self.names();
        let paddings = names.iter().map(|name| padding(name)).collect::<Option<Vec<_>>>();
        paddings.filter(|paddings| !paddings.is_empty())
    }

    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => core::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }

    /// The only one, which is that of a cipher.
    fn cipher(&self) -> Result<Algorithm, String> {
        let names = self.names();
        let [name] = names else {
            let other = names.iter().find(|name| padding(name).is_none());
            let other = other.map_or("an empty list", String::as_str);
            return Err(format!("only RSA has lists of algorithms: {other} is none of it"));
        };
        match name.parse() {
            Ok(Algorithm::NULL) => Err(String::from("the null cipher has no key")),
            Ok(algorithm) => Ok(algorithm),
            Err(_) => Err(format!("unknown algorithm {name}")),
        }
    }
}

impl WrittenKey {
    /// Whether it wraps other keys.
    pub(super) fn wraps(&self) -> bool {
        matches!(self.algorithm.names(), [name] if name == WRAPPING)
    }

    /// Where its versions are, the current one first.
    fn places(&self) -> Result<Vec<Place>, String> {
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
                return Err(format!("two versions have the name {version}"));
            }
            if self.current.as_ref().is_none_or(|current| current == version) {
                at = Some(index);
            }
            let place = Place::new(file.as_deref(), credential.as_deref());
            places.push(place.map_err(|reason| format!("version {version}: {reason}"))?);
        }
        let current = self.current.as_deref().unwrap_or_default();
        places.swap(0, at.ok_or_else(|| format!("current: there is no version {current}"))?);
        Ok(places)
    }

    fn operations(&self) -> Result<Vec<Operation>, String> {
        let find = |name: &String| {
            let found = Operation::ALL.into_iter().find(|operation| operation.name() == name);
            found.ok_or_else(|| format!("unknown operation {name}"))
        };
        self.operations.iter().map(find).collect()
    }
}

/// Where the bytes of a key are.
enum Place {
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

    /// The path, if files are in this folder, and the rights that others must not have.
    fn find(&self, folder: &Path) -> Result<(PathBuf, u32), String> {
        let name = match self {
            Self::File(file) => return Ok((folder.join(file), 0o077)),
            Self::Credential(name) => name,
        };
        let folder = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
        let folder = folder.filter(|folder| folder.is_absolute());
        let folder = folder.ok_or("credential: there is no $CREDENTIALS_DIRECTORY")?;
        let is_name = !name.is_empty() && !name.contains('/') && !name.starts_with('.');
        if !is_name {
            return Err(format!("credential: {name} is not a name"));
        }
        // The rights of the group are those of an access list for the service's user.
        Ok((folder.join(name), 0o037))
    }

    /// As the settings write it.
    fn shown(&self) -> String {
        match self {
            Self::File(file) => file.display().to_string(),
            Self::Credential(name) => name.clone(),
        }
    }
}

/// Reads keys.
pub(super) struct Loader<'a> {
    folder: &'a Path,
    /// The user that key files may belong to, beside root.
    user: u32,
    passphrase: &'a mut Passphrase,
    wrapping: BTreeMap<String, WrappingKey>,
    files: Vec<PathBuf>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(folder: &'a Path, user: u32, passphrase: &'a mut Passphrase) -> Self {
        let (wrapping, files) = (BTreeMap::new(), Vec::new());
        Self { folder, user, passphrase, wrapping, files }
    }

    /// The files that were read.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Reads a key that wraps others.
    pub(super) fn load_wrapping(&mut self, key: &WrittenKey) -> Result<(), String> {
        let places = key.places()?;
        let [place] = &places[..] else {
            return Err(String::from("a key that wraps others has one version"));
        };
        let is_plain = key.wrapped_by.is_none()
            && key.allow.is_empty()
            && key.operations.is_empty()
            && matches!(key.nonces, Nonces::Daemon);
        if !is_plain {
            return Err(String::from("a key that wraps others has a name and a place only"));
        }
        let bytes = self.read(place)?;
        let wrapping = self.passphrase.key(&bytes);
        let wrapping = wrapping.map_err(|reason| format!("{}: {reason}", place.shown()))?;
        match self.wrapping.insert(key.name.clone(), wrapping) {
            Some(_) => Err(String::from("another key has the name")),
            None => Ok(()),
        }
    }

    /// Reads a key with all of its versions, for these users.
    pub(super) fn load(&mut self, key: &WrittenKey, allowed: Allowed) -> Result<Key, String> {
        let mut versions = Vec::new();
        for place in key.places()? {
            let mut bytes = self.read(&place)?;
            if let Some(name) = &key.wrapped_by {
                let by = self.wrapping.get(name);
                let by = by.ok_or_else(|| format!("wrapped_by: no {WRAPPING} key {name}"))?;
                bytes = wrapping::unwrap(by, &bytes)
                    .map_err(|reason| format!("{}: {reason}", place.shown()))?;
            }
            versions.push(version(key, &place, bytes)?);
        }
        let operations = key.operations()?;
        let mut versions = versions.into_iter();
        let current = versions.next().ok_or("there is no version")?;
        let whole = versions.fold(current, Key::with_older);
        let whole = whole.for_users(allowed.users).for_groups(allowed.groups);
        let whole = match key.nonces {
            Nonces::Daemon => whole,
            Nonces::Client => whole.with_nonces(NonceSource::Client),
        };
        Ok(if operations.is_empty() { whole } else { whole.for_operations(operations) })
    }

    fn read(&mut self, place: &Place) -> Result<Zeroizing<Vec<u8>>, String> {
        let (path, rights) = place.find(self.folder)?;
        secret::check_folders(&path, self.user)?;
        let bytes = secret::read_of(&path, rights, self.user)?;
        self.files.push(path);
        Ok(bytes)
    }
}

/// One version of a key.
fn version(key: &WrittenKey, place: &Place, bytes: Zeroizing<Vec<u8>>) -> Result<Key, String> {
    if let Some(paddings) = key.algorithm.paddings()
        && let [first, others @ ..] = &paddings[..]
    {
        return Ok(Key::rsa_from_pem_or_der(&key.name, &bytes, *first)
            .map_err(|error| format!("{}: {error}", place.shown()))?
            .with_paddings(others.iter().copied()));
    }
    Ok(Key::new(&key.name, key.algorithm.cipher()?, bytes))
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
