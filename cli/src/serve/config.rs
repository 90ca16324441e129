//! The daemon's file of settings.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lanecrypt_ciphers::Algorithm;
use lanecrypt_device::Key;
use lanecrypt_engine::Operation;
use lanecrypt_rsa::{Hash, Padding};
use serde::Deserialize;
use toml::Spanned;

use super::names::{Allowed, Names, Who};
use crate::secret;

/// The longest file of settings in bytes.
const LONGEST_SETTINGS: u64 = 1 << 20;

/// What the file says, with the keys of the files that it names.
#[derive(Default)]
pub(super) struct Config {
    pub(super) allowed: Allowed,
    pub(super) keys: Vec<Key>,
    /// The directories of the files that were read.
    pub(super) folders: BTreeSet<PathBuf>,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// The users and groups that may connect, beside the user of the daemon.
    #[serde(default)]
    allow: Vec<Spanned<Who>>,
    #[serde(default, rename = "key")]
    keys: Vec<WrittenKey>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenKey {
    name: String,
    /// The file with the bytes of the key, and nothing else; of an RSA key with its PEM or DER. A
    /// relative path is from where the settings are.
    file: Option<PathBuf>,
    /// A credential of the service manager, instead of a file.
    credential: Option<String>,
    /// A cipher, or RSA with its padding, such as `rsa-pss-sha256`, or with several.
    algorithm: Algorithms,
    /// The users and groups that may use it; without any, the user of the daemon.
    #[serde(default)]
    allow: Vec<Spanned<Who>>,
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
    /// Reads a file and the keys that it names, which belong to this user or to root.
    ///
    /// # Errors
    ///
    /// What is wrong, with the place.
    pub(super) fn read(path: &Path, user: u32, names: &mut Names) -> Result<Self, String> {
        let at = path.display();
        // It says who may use the keys, so nobody else may change it.
        secret::check_folders(path, user)?;
        let mut text = String::new();
        secret::open(path, 0o022, "change", LONGEST_SETTINGS, user)?
            .read_to_string(&mut text)
            .map_err(|error| format!("{at}: {error}"))?;
        let line = |start: usize| {
            let before = text.get(..start).unwrap_or_default();
            before.matches('\n').count() + 1
        };
        let written: Written = toml::from_str(&text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            format!("{at}:{}: {}", line(start), error.message().replace('\n', ", "))
        })?;
        let mut allowed = |list: &[Spanned<Who>]| {
            let mut allowed = Allowed::default();
            for who in list {
                names.resolve(who.get_ref(), &mut allowed).map_err(|reason| {
                    format!("{at}:{}: allow: {reason}", line(who.span().start))
                })?;
            }
            Ok::<_, String>(allowed)
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut config = Self { allowed: allowed(&written.allow)?, ..Self::default() };
        config.saw(path);
        for key in written.keys {
            let users = allowed(&key.allow)?;
            let name = key.name.clone();
            let (key, file) = key
                .load(folder, user, users)
                .map_err(|reason| format!("{at}: key {name}: {reason}"))?;
            config.saw(&file);
            config.keys.push(key);
        }
        Ok(config)
    }

    /// Notes the directories of a file: where its path is, and where the file is.
    fn saw(&mut self, path: &Path) {
        let whole = std::path::absolute(path).ok();
        let files = whole.into_iter().chain(path.canonicalize());
        self.folders.extend(files.filter_map(|file| Some(file.parent()?.to_owned())));
    }
}

impl WrittenKey {
    /// The file of the key, and the rights that others must not have.
    fn place(&self, folder: &Path) -> Result<(PathBuf, u32), String> {
        match (&self.file, &self.credential) {
            (Some(file), None) => Ok((folder.join(file), 0o077)),
            (None, Some(name)) => {
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
            _ => Err("either file or credential says where it is".into()),
        }
    }

    /// Where the key is, as the settings write it.
    fn shown(&self) -> String {
        let file = self.file.as_ref().map(|file| file.display().to_string());
        file.or_else(|| self.credential.clone()).unwrap_or_default()
    }

    fn load(self, folder: &Path, user: u32, allowed: Allowed) -> Result<(Key, PathBuf), String> {
        let (path, rights) = self.place(folder)?;
        let bytes = || {
            secret::check_folders(&path, user)?;
            secret::read_of(&path, rights, user)
        };
        let key = if let Some(paddings) = self.algorithm.paddings()
            && let [first, others @ ..] = &paddings[..]
        {
            let at = self.shown();
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
        let key = allow(key, allowed);
        let key = if operations.is_empty() { key } else { key.for_operations(operations) };
        Ok((key, path))
    }
}

/// A key for these users and groups.
fn allow(key: Key, allowed: Allowed) -> Key {
    key.for_users(allowed.users).for_groups(allowed.groups)
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
