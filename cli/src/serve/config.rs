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
    /// A cipher, or RSA with its padding, such as `rsa-pss-sha256`.
    algorithm: String,
    /// The users that may use it; without any, that of the daemon.
    #[serde(default)]
    allow: Vec<u32>,
    /// What they may do with it; without any, everything.
    #[serde(default)]
    operations: Vec<String>,
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
        let key = if let Some(padding) = padding(&self.algorithm) {
            let at = self.file.display();
            Key::rsa_from_pem_or_der(self.name, &bytes()?, padding)
                .map_err(|error| format!("{at}: {error}"))?
        } else {
            let unknown = |_| format!("unknown algorithm {}", self.algorithm);
            let algorithm: Algorithm = self.algorithm.parse().map_err(unknown)?;
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
