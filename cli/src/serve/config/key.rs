//! The files of named keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lanecrypt_device::{Key, NonceSource};
use zeroize::Zeroizing;

use crate::secret;
use crate::serve::escape::quoted;
use crate::serve::names::Allowed;
use crate::serve::written::{Asymmetric, Nonces, Place, WRAPPING, WrittenKey};
use crate::wrapping::{self, Passphrase, WrappingKey};

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
        let place = key.wrapping_place()?;
        let bytes = self.read(&place)?;
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
                let by =
                    by.ok_or_else(|| format!("wrapped_by: no {WRAPPING} key {}", quoted(name)))?;
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
        let (path, rights) = find(place, self.folder)?;
        secret::check_folders(&path, self.user)?;
        let bytes = secret::read_of(&path, rights, self.user)?;
        self.files.push(path);
        Ok(bytes)
    }
}

/// The path of a place, if files are in this folder, and the rights that others must not have.
fn find(place: &Place, folder: &Path) -> Result<(PathBuf, u32), String> {
    let name = match place {
        Place::File(file) => return Ok((folder.join(file), 0o077)),
        Place::Credential(name) => name,
    };
    Ok((secret::credential(name)?, secret::CREDENTIAL))
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
    if let Some(algorithm) = key.algorithm.asymmetric() {
        let read = match algorithm {
            Asymmetric::Ed25519 => Key::ed25519_from_pem_or_der,
            Asymmetric::EcdsaP256 => Key::p256_from_pem_or_der,
            Asymmetric::X25519 => Key::x25519_from_bytes,
            Asymmetric::EcdhP256 => Key::ecdh_p256_from_bytes,
            Asymmetric::MlKem768 => Key::mlkem768_from_bytes,
        };
        return read(key.name.clone(), &bytes)
            .map_err(|error| format!("{}: {error}", place.shown()));
    }
    Ok(Key::new(&key.name, key.algorithm.cipher()?, bytes))
}
