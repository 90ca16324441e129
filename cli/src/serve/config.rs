//! The daemon's file of settings.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use lanecrypt_ciphers::Algorithm;
use lanecrypt_device::Key;
use lanecrypt_engine::Operation;
use lanecrypt_rsa::{Hash, Padding};
use serde::Deserialize;

use crate::secret;

/// The longest file of settings in bytes.
const LONGEST_SETTINGS: u64 = 1 << 20;

/// What the file says, with the keys of the files that it names.
#[derive(Default)]
pub(super) struct Config {
    pub(super) users: Vec<u32>,
    pub(super) keys: Vec<Key>,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// The users that may connect, beside that of the daemon.
    #[serde(default)]
    allow: Vec<u32>,
    #[serde(default, rename = "key")]
    keys: Vec<WrittenKey>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenKey {
    name: String,
    /// The file with the bytes of the key, and nothing else; of an RSA key with its PEM or DER. A
    /// relative path is from where this file is.
    file: PathBuf,
    /// A cipher, or RSA with its padding, such as `rsa-pss-sha256`, or with several.
    algorithm: Algorithms,
    /// The users that may use it; without any, that of the daemon.
    #[serde(default)]
    allow: Vec<u32>,
    /// What they may do with it; without any, everything.
    #[serde(default)]
    operations: Vec<String>,
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
}

impl Config {
    /// Reads a file and the keys that it names.
    ///
    /// # Errors
    ///
    /// What is wrong, with the place.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let at = path.display();
        // It says who may use the keys, so nobody else may change it.
        let mut text = String::new();
        secret::open(path, 0o022, "change", LONGEST_SETTINGS)?
            .read_to_string(&mut text)
            .map_err(|error| format!("{at}: {error}"))?;
        let written: Written = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            format!("{at}:{line}: {}", error.message().replace('\n', ", "))
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let keys = written.keys.into_iter().map(|key| {
            let name = key.name.clone();
            key.load(folder).map_err(|reason| format!("{at}: key {name}: {reason}"))
        });
        Ok(Self { users: written.allow, keys: keys.collect::<Result<_, _>>()? })
    }
}

impl WrittenKey {
    fn load(self, folder: &Path) -> Result<Key, String> {
        let bytes = || secret::read(&folder.join(&self.file));
        let key = if let Some(paddings) = self.algorithm.paddings()
            && let [first, others @ ..] = &paddings[..]
        {
            let at = self.file.display();
            Key::rsa_from_pem_or_der(self.name, &bytes()?, *first)
                .map_err(|error| format!("{at}: {error}"))?
                .with_paddings(others.iter().copied())
        } else {
            let names = self.algorithm.names();
            let [name] = names else {
                let other = names.iter().find(|name| padding(name).is_none());
                let other = other.map_or("an empty list", String::as_str);
                return Err(format!("only RSA has lists of algorithms: {other} is none of it"));
            };
            let unknown = |_| format!("unknown algorithm {name}");
            let algorithm: Algorithm = name.parse().map_err(unknown)?;
            if algorithm == Algorithm::NULL {
                return Err(String::from("the null cipher has no key"));
            }
            Key::new(self.name, algorithm, bytes()?)
        };
        let operations = self.operations.iter().map(|name| {
            let found = Operation::ALL.into_iter().find(|operation| operation.name() == name);
            found.ok_or_else(|| format!("unknown operation {name}"))
        });
        let operations = operations.collect::<Result<Vec<_>, _>>()?;
        let key = key.for_users(self.allow);
        Ok(if operations.is_empty() { key } else { key.for_operations(operations) })
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
