//! Rings of keys.

use core::fmt;

use serde::Deserialize;
use zeroize::Zeroizing;

use crate::blocks::Cells;
use crate::layout::PREFIX;
use crate::{CellError, ColumnKey, Error, Layout};

/// Keys of one layout, each with an id, so that a column can have cells of several keys while it
/// moves from one to another.
///
/// One key is the primary one: it encrypts. Each cell begins with the id of its key, by which it is
/// decrypted: the byte 1 and the id in 4 bytes, big-endian, before a cell of the [`Layout`]. These
/// are the ciphertexts of Tink's AES-GCM (layout `aes_gcm`, keys of 16 or 32 bytes, output prefix
/// `TINK`) with the associated data of [`Options`](crate::Options).
///
/// ```
/// use lanecrypt_columns::{Column, Error, Keyring, Layout, Options};
///
/// # fn main() -> Result<(), Error> {
/// let mut ring = Keyring::new(Layout::AesGcm);
/// let old = ring.generate()?;
/// let table = Options::new().context(b"people.ssn");
/// let cells = ring.encrypt(&Column::binary(&[0, 4, 9], b"AnneBerta"), &table)?;
///
/// let new = ring.generate()?;
/// ring.set_primary(new)?;
/// let moved = ring.rekey(&cells.column(), &table)?;
/// assert_eq!((moved.moved, moved.unknown, moved.forged), (2, 0, 0));
/// ring.disable(old)?;
/// assert_eq!(ring.decrypt(&moved.cells.column(), &table)?.data, b"AnneBerta");
/// # Ok(())
/// # }
/// ```
///
/// Keys are wiped on drop.
pub struct Keyring {
    layout: Layout,
    keys: Vec<Entry>,
}

/// The state of a key of a [`Keyring`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyState {
    /// It encrypts and decrypts.
    Primary,
    /// It decrypts.
    Active,
    /// It is kept and not used.
    Disabled,
}

impl KeyState {
    /// Its name: `primary`, `active` or `disabled`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Active => "active",
            Self::Disabled => "disabled",
        }
    }
}

struct Entry {
    id: u32,
    state: KeyState,
    bytes: Zeroizing<Vec<u8>>,
    key: ColumnKey,
}

/// The version of rings in JSON.
const FORMAT: u32 = 1;

/// The longest key of any layout.
const LONGEST: usize = 64;

impl Keyring {
    /// A ring without keys.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        Self { layout, keys: Vec::new() }
    }

    /// The layout of its cells, behind the id.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The id of the primary key.
    #[must_use]
    pub fn primary(&self) -> Option<u32> {
        self.keys().find(|&(_, state)| state == KeyState::Primary).map(|(id, _)| id)
    }

    /// The ids of its keys and their states.
    pub fn keys(&self) -> impl Iterator<Item = (u32, KeyState)> {
        self.keys.iter().map(|entry| (entry.id, entry.state))
    }

    /// Adds a random key of the greatest length that the layout has, and returns its random id. The
    /// first key of a ring is the primary one, later ones are active.
    ///
    /// # Errors
    ///
    /// [`Error::Entropy`].
    pub fn generate(&mut self) -> Result<u32, Error> {
        let mut bytes = Zeroizing::new([0; LONGEST]);
        let length = self.layout.key_lengths().last().copied().unwrap_or(LONGEST);
        lanecrypt_random::try_fill(&mut bytes[..length]).map_err(|_| Error::Entropy)?;
        self.add(&bytes[..length])
    }

    /// Adds a key, as [`generate`](Self::generate) does.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] and [`Error::Entropy`].
    pub fn add(&mut self, key: &[u8]) -> Result<u32, Error> {
        let id = loop {
            let mut id = [0; 4];
            lanecrypt_random::try_fill(&mut id).map_err(|_| Error::Entropy)?;
            let id = u32::from_be_bytes(id);
            if id != 0 && self.position(id).is_err() {
                break id;
            }
        };
        self.add_with_id(id, key)?;
        Ok(id)
    }

    /// Adds a key that has an id already, such as one of Tink.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] and [`Error::KeyExists`].
    pub fn add_with_id(&mut self, id: u32, key: &[u8]) -> Result<(), Error> {
        let state = if self.keys.is_empty() { KeyState::Primary } else { KeyState::Active };
        self.push(id, state, key)
    }

    fn push(&mut self, id: u32, state: KeyState, bytes: &[u8]) -> Result<(), Error> {
        if self.position(id).is_ok() {
            return Err(Error::KeyExists { id });
        }
        let key = ColumnKey::new(self.layout, bytes)?.with_id(id);
        self.keys.push(Entry { id, state, bytes: Zeroizing::new(bytes.to_vec()), key });
        Ok(())
    }

    /// Makes this key the primary one. The one before stays active.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`] and [`Error::DisabledKey`].
    pub fn set_primary(&mut self, id: u32) -> Result<(), Error> {
        let position = self.position(id)?;
        if self.keys[position].state == KeyState::Disabled {
            return Err(Error::DisabledKey { id });
        }
        for entry in &mut self.keys {
            if entry.state == KeyState::Primary {
                entry.state = KeyState::Active;
            }
        }
        self.keys[position].state = KeyState::Primary;
        Ok(())
    }

    /// Disables this key: its cells are refused.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`] and [`Error::PrimaryKey`].
    pub fn disable(&mut self, id: u32) -> Result<(), Error> {
        let position = self.secondary(id)?;
        self.keys[position].state = KeyState::Disabled;
        Ok(())
    }

    /// Makes this disabled key active again.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`] and [`Error::PrimaryKey`].
    pub fn enable(&mut self, id: u32) -> Result<(), Error> {
        let position = self.secondary(id)?;
        self.keys[position].state = KeyState::Active;
        Ok(())
    }

    /// Removes this key and wipes it: its cells are lost.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`] and [`Error::PrimaryKey`].
    pub fn remove(&mut self, id: u32) -> Result<(), Error> {
        let position = self.secondary(id)?;
        self.keys.remove(position);
        Ok(())
    }

    fn position(&self, id: u32) -> Result<usize, Error> {
        self.keys.iter().position(|entry| entry.id == id).ok_or(Error::UnknownKey { id })
    }

    /// The position of a key that is not the primary one.
    fn secondary(&self, id: u32) -> Result<usize, Error> {
        let position = self.position(id)?;
        match self.keys[position].state {
            KeyState::Primary => Err(Error::PrimaryKey { id }),
            _ => Ok(position),
        }
    }

    pub(crate) fn primary_key(&self) -> Result<&ColumnKey, Error> {
        let primary = self.keys.iter().find(|entry| entry.state == KeyState::Primary);
        primary.map(|entry| &entry.key).ok_or(Error::NoPrimaryKey)
    }

    /// A key of the ring, for what all of them have in common.
    pub(crate) fn any_key(&self) -> Option<&ColumnKey> {
        self.keys.first().map(|entry| &entry.key)
    }

    /// Finds the keys of cells, and takes their ids off.
    pub(crate) fn find<'k>(
        &'k self,
        cells: &mut Cells<'_>,
        found: &mut [Option<&'k ColumnKey>],
        reasons: &mut [Option<CellError>],
    ) {
        // Most cells have the key of the one before.
        let mut last = None;
        for (cell, (found, reason)) in cells.iter_mut().zip(found.iter_mut().zip(reasons)) {
            *found = None;
            let Some(cell) = cell else { continue };
            let key = match cell.split_first_chunk() {
                Some((prefix, rest)) => {
                    *cell = rest;
                    match last {
                        Some((known, key)) if known == *prefix => key,
                        _ => last.insert((*prefix, self.key_of(*prefix))).1,
                    }
                }
                None => {
                    *cell = &[];
                    Err(CellError::NoKeyId)
                }
            };
            match key {
                Ok(key) => *found = Some(key),
                Err(error) => *reason = Some(error),
            }
        }
    }

    /// The key of cells that begin with this.
    fn key_of(&self, prefix: [u8; PREFIX]) -> Result<&ColumnKey, CellError> {
        let [1, id @ ..] = prefix else { return Err(CellError::NoKeyId) };
        let id = u32::from_be_bytes(id);
        match self.keys.iter().find(|entry| entry.id == id) {
            None => Err(CellError::UnknownKey { id }),
            Some(entry) if entry.state == KeyState::Disabled => Err(CellError::DisabledKey { id }),
            Some(entry) => Ok(&entry.key),
        }
    }

    /// The ring with its keys as JSON, to be stored encrypted.
    ///
    /// It is an object with the name of the `layout` and an array of `keys`, each with `id`,
    /// `state` (`primary`, `active`, `disabled`) and `key` in hexadecimal digits. This is version 1
    /// of the format; later ones have their number in a field `version`.
    #[must_use]
    pub fn to_json(&self) -> Zeroizing<String> {
        // Enough, so that no copy is left by growing.
        let capacity = 64 + self.keys.len() * (64 + 2 * LONGEST);
        let mut json = Zeroizing::new(String::with_capacity(capacity));
        json.push_str("{\"layout\":\"");
        json.push_str(self.layout.name());
        json.push_str("\",\"keys\":[");
        for (index, entry) in self.keys.iter().enumerate() {
            json.push_str(if index == 0 { "{\"id\":" } else { ",{\"id\":" });
            json.push_str(&entry.id.to_string());
            json.push_str(",\"state\":\"");
            json.push_str(entry.state.name());
            json.push_str("\",\"key\":\"");
            for &byte in entry.bytes.iter() {
                json.push(char::from(digit(byte >> 4)));
                json.push(char::from(digit(byte & 15)));
            }
            json.push_str("\"}");
        }
        json.push_str("]}");
        json
    }

    /// A ring from [`to_json`](Self::to_json).
    ///
    /// # Errors
    ///
    /// [`Error::Format`], [`Error::FormatVersion`], [`Error::KeyLength`] and [`Error::KeyExists`].
    /// None of them contains a key.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        // All other fields are skipped.
        #[derive(Deserialize)]
        struct Version {
            #[serde(default)]
            version: Option<u32>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Ring<'a> {
            #[serde(default, rename = "version")]
            _version: Option<u32>,
            layout: &'a str,
            #[serde(borrow)]
            keys: Vec<Key<'a>>,
        }
        // Borrowed, so that there is no copy of a key that is not wiped.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Key<'a> {
            id: u32,
            state: &'a str,
            key: &'a str,
        }
        let of_version: Version = serde_json::from_str(json).map_err(|_| Error::Format)?;
        if let Some(version) = of_version.version.filter(|&version| version != FORMAT) {
            return Err(Error::FormatVersion { version });
        }
        let Ring { layout, keys, .. } = serde_json::from_str(json).map_err(|_| Error::Format)?;
        let mut ring = Self::new(layout.parse().map_err(|_| Error::Format)?);
        for Key { id, state, key } in keys {
            let states = [KeyState::Primary, KeyState::Active, KeyState::Disabled];
            let state = states.into_iter().find(|it| it.name() == state).ok_or(Error::Format)?;
            if state == KeyState::Primary && ring.primary().is_some() {
                return Err(Error::Format);
            }
            let mut bytes = Zeroizing::new([0; LONGEST]);
            let bytes = decoded(key, &mut bytes[..]).ok_or(Error::Format)?;
            ring.push(id, state, bytes)?;
        }
        Ok(ring)
    }
}

/// Without the keys.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.keys().collect();
        f.debug_struct("Keyring").field("layout", &self.layout).field("keys", &keys).finish()
    }
}

/// The hexadecimal digit of a number below 16, without a look-up.
fn digit(number: u8) -> u8 {
    b'0' + number + (b'a' - b'0' - 10) * u8::from(number > 9)
}

/// The bytes of hexadecimal digits, without look-ups.
fn decoded<'b>(digits: &str, bytes: &'b mut [u8]) -> Option<&'b [u8]> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let bytes = bytes.get_mut(..pairs.len())?;
    let mut is_sound = true;
    let mut number = |digit: u8| {
        let (decimal, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
        is_sound &= (decimal < 10) | (letter < 6);
        let letter = u8::from(letter < 6) * letter.wrapping_add(10);
        letter | (u8::from(decimal < 10) * decimal)
    };
    for (byte, &[high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = number(high) << 4 | number(low);
    }
    is_sound.then_some(bytes)
}
