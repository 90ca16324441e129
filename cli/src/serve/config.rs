//! The daemon's file of settings.

mod key;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lanecrypt_device::{Key, Limits};
use toml::Spanned;

use self::key::Loader;
use super::escape::{LONGEST_MESSAGE, quoted, visible};
use super::names::{Allowed, Names};
use super::written::{self, Who, Written, WrittenKey};
use crate::secret;
use crate::wrapping::Passphrase;

/// The longest file of settings in bytes.
const LONGEST_SETTINGS: u64 = 1 << 20;

/// What the file says, with the keys of the files that it names.
#[derive(Default)]
pub(super) struct Config {
    pub(super) allowed: Allowed,
    pub(super) keys: Vec<Key>,
    pub(super) limits: Limits,
    /// The directories of the files that were read.
    pub(super) folders: BTreeSet<PathBuf>,
}

impl Config {
    /// Reads a file and the keys that it names, which belong to this user or to root.
    ///
    /// # Errors
    ///
    /// What is wrong, with the place.
    pub(super) fn read(
        path: &Path,
        user: u32,
        names: &mut Names,
        passphrase: &mut Passphrase,
    ) -> Result<Self, String> {
        let read = Self::try_read(path, user, names, passphrase);
        // Paths are in it, too.
        read.map_err(|reason| visible(&reason, LONGEST_MESSAGE))
    }

    fn try_read(
        path: &Path,
        user: u32,
        names: &mut Names,
        passphrase: &mut Passphrase,
    ) -> Result<Self, String> {
        let at = path.display();
        // It says who may use the keys, so nobody else may change it.
        secret::check_folders(path, user)?;
        let mut text = String::new();
        secret::open(path, 0o022, "change", LONGEST_SETTINGS, user)?
            .read_to_string(&mut text)
            .map_err(|error| format!("{at}: {error}"))?;
        let written = Written::parse(&text).map_err(|reason| format!("{at}:{reason}"))?;
        let mut allowed = |list: &[Spanned<Who>]| {
            let mut allowed = Allowed::default();
            for who in list {
                names.resolve(who.get_ref(), &mut allowed).map_err(|reason| {
                    let line = written::line(&text, who.span().start);
                    format!("{at}:{line}: allow: {reason}")
                })?;
            }
            Ok::<_, String>(allowed)
        };
        let limits = written.limits();
        let mut config = Self { allowed: allowed(&written.allow)?, limits, ..Self::default() };
        config.saw(path);
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut loader = Loader::new(folder, user, passphrase);
        let of_key = |name: &str, reason: String| format!("{at}: key {}: {reason}", quoted(name));
        let (wrapping, served) = written.keys.into_iter().partition::<Vec<_>, _>(WrittenKey::wraps);
        for key in &wrapping {
            loader.load_wrapping(key).map_err(|reason| of_key(&key.name, reason))?;
        }
        for key in served {
            let (users, name) = (allowed(&key.allow)?, key.name.clone());
            let key = loader.load(&key, users).map_err(|reason| of_key(&name, reason))?;
            config.keys.push(key);
        }
        loader.files().iter().for_each(|file| config.saw(file));
        Ok(config)
    }

    /// Notes the directories of a file: where its path is, and where the file is.
    fn saw(&mut self, path: &Path) {
        let whole = std::path::absolute(path).ok();
        let files = whole.into_iter().chain(path.canonicalize());
        self.folders.extend(files.filter_map(|file| Some(file.parent()?.to_owned())));
    }
}
