//! Keys that are wrapped by another key: AES key wrap with padding (RFC 5649) under 256 bits, which
//! are those of a key file, or derived from a passphrase by Argon2id (RFC 9106).
//!
//! A file for a passphrase has one line in the notation of the PHC: `$argon2id$v=19$m=262144,t=3,
//! p=1$` and the salt in base64.

use core::fmt;

use aes_kw::{KeyInit as _, KwpAes256};
use argon2::password_hash::phc::{PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Params, Version};
use zeroize::Zeroizing;

use crate::crypt::KEY_LENGTH;
use crate::secret;

/// What a file for a passphrase begins with.
const PREFIX: &[u8] = b"$argon2id$";
/// The memory in KiB and the passes of Argon2id for new files, which take about half a second: more
/// than RFC 9106, section 4, recommends where memory is scarce.
const MEMORY: u32 = 1 << 18;
const PASSES: u32 = 3;
/// The most memory in KiB that a file may ask for.
const MOST_MEMORY: u32 = 1 << 21;

/// A key that wraps others.
pub(crate) type WrappingKey = Zeroizing<[u8; KEY_LENGTH]>;

/// Where passphrases come from: a descriptor that the program has inherited, read once.
pub(crate) struct Passphrase {
    descriptor: Option<u32>,
    /// The keys that were derived so far, by what their files say.
    derived: Vec<(String, WrappingKey)>,
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passphrase").field("descriptor", &self.descriptor).finish_non_exhaustive()
    }
}

impl Passphrase {
    pub(crate) fn new(descriptor: Option<u32>) -> Self {
        Self { descriptor, derived: Vec::new() }
    }

    /// The wrapping key that the content of a file is, or that it says how to derive.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub(crate) fn key(&mut self, content: &[u8]) -> Result<WrappingKey, String> {
        if let Ok(key) = <[u8; KEY_LENGTH]>::try_from(content) {
            return Ok(Zeroizing::new(key));
        }
        let text = content.strip_suffix(b"\n").unwrap_or(content);
        let text = core::str::from_utf8(text).ok().filter(|_| content.starts_with(PREFIX));
        let Some(text) = text else {
            return Err(format!(
                "neither a key of {KEY_LENGTH} bytes, nor a file for a passphrase (lanecrypt \
                 keygen --passphrase)"
            ));
        };
        if let Some((_, key)) = self.derived.iter().find(|(known, _)| known == text) {
            return Ok(key.clone());
        }
        let descriptor =
            self.descriptor.ok_or("the key is derived from a passphrase: use --passphrase-fd")?;
        let key = derive(text, &secret::passphrase(descriptor)?)?;
        self.derived.push((text.to_owned(), key.clone()));
        Ok(key)
    }
}

/// What a new file for a passphrase says: how to derive the key, with a random salt.
pub(crate) fn new_derivation() -> Result<String, String> {
    let mut salt = [0; 16];
    lanecrypt_random::try_fill(&mut salt).map_err(|error| error.to_string())?;
    let salt = Salt::new(&salt).map_err(|error| error.to_string())?;
    Ok(format!("$argon2id$v=19$m={MEMORY},t={PASSES},p=1${salt}\n"))
}

fn derive(text: &str, passphrase: &[u8]) -> Result<WrappingKey, String> {
    let wrong = |what: &dyn fmt::Display| format!("the file for a passphrase: {what}");
    let parsed = PasswordHash::new(text).map_err(|error| wrong(&error))?;
    let params = Params::try_from(&parsed).map_err(|error| wrong(&error))?;
    if params.m_cost() > MOST_MEMORY {
        return Err(wrong(&format_args!("more than {MOST_MEMORY} KiB of memory")));
    }
    let salt = parsed.salt.ok_or_else(|| wrong(&"there is no salt"))?;
    let mut key = Zeroizing::new([0; KEY_LENGTH]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase, salt.as_ref(), &mut *key)
        .map_err(|error| wrong(&error))?;
    Ok(key)
}

/// Wraps a key.
pub(crate) fn wrap(by: &WrappingKey, key: &[u8]) -> Result<Vec<u8>, String> {
    let mut wrapped = vec![0; key.len().next_multiple_of(8) + 8];
    KwpAes256::new((&**by).into())
        .wrap_key(key, &mut wrapped)
        .map_err(|error| error.to_string())?;
    Ok(wrapped)
}

/// Unwraps a key.
///
/// # Errors
///
/// It was not wrapped by this key, or it was changed.
pub(crate) fn unwrap(by: &WrappingKey, wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, String> {
    let mut room = Zeroizing::new(vec![0; wrapped.len()]);
    let length = KwpAes256::new((&**by).into())
        .unwrap_key(wrapped, &mut room)
        .map(<[u8]>::len)
        .map_err(|_| "it was wrapped by another key, or was changed")?;
    room.truncate(length);
    Ok(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_is_unwrapped_by_its_key_alone() {
        let (by, other) = (Zeroizing::new([0x11; 32]), Zeroizing::new([0x12; 32]));
        for length in [1, 7, 8, 9, 32, 33, 1704] {
            let key = vec![7; length];
            let wrapped = wrap(&by, &key).expect("it is short enough");
            assert!(wrapped.len() >= length + 8);
            assert_eq!(*unwrap(&by, &wrapped).expect("it is the same key"), key);
            assert!(unwrap(&other, &wrapped).is_err());
            let mut changed = wrapped.clone();
            changed[length / 2] ^= 1;
            assert!(unwrap(&by, &changed).is_err());
            assert!(unwrap(&by, &wrapped[..wrapped.len() - 1]).is_err());
        }
    }

    #[test]
    fn keys_of_passphrases_depend_on_passphrase_and_salt() {
        let one = "$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA";
        let two = "$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAQ";
        let key = derive(one, b"correct horse").expect("it is right");
        assert_eq!(*derive(one, b"correct horse").expect("it is right"), *key);
        assert_ne!(*derive(one, b"battery staple").expect("it is right"), *key);
        assert_ne!(*derive(two, b"correct horse").expect("it is right"), *key);
        for wrong in [
            "$argon2id$",
            "$argon2id$v=19$m=64,t=1,p=1",
            "$argon2id$v=19$m=4294967295,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA",
        ] {
            assert!(derive(wrong, b"").is_err(), "{wrong}");
        }
        let mut none = Passphrase::new(None);
        assert!(none.key(one.as_bytes()).is_err(), "there is no passphrase");
        assert!(none.key(&[1; 31]).is_err() && none.key(&[1; 32]).is_ok());
    }
}
