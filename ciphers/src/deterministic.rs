//! Deterministic encryption: AES-SIV without a nonce.

mod many;

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::siv::{AesSiv, Strings};
use lanecrypt_kernels::{Aead, equal, wipe};
use zeroize::ZeroizeOnDrop;

pub use self::many::{ValueToOpen, ValueToSeal};
use crate::key_bytes::array;
use crate::{Buffers, Error, Isa};

/// The most strings before the plaintext (RFC 5297, section 2.6).
const MOST_STRINGS: usize = 126;

/// Deterministic encryption with authentication: AES-SIV (RFC 5297) without a nonce.
///
/// **Equal values give equal ciphertexts**: whoever sees ciphertexts under one key and the same
/// associated strings learns which values are equal and how often each occurs, and how long they
/// are. That is what it is for: an encrypted column of a database that can still be compared,
/// joined and indexed, or a key that is wrapped. Everywhere else take a [`Cipher`](crate::Cipher),
/// whose nonces hide that. `AesSiv256` and `AesSiv512` are the same algorithm with a nonce.
///
/// The result is that of the RFC: a synthetic vector V of 16 bytes, which is also the tag, and then
/// the ciphertext, as long as the value. Associated strings are authenticated, not encrypted, and
/// keep places apart: a value that is moved to another row or column does not open there. Their
/// number and borders count; there are at most 126.
///
/// Strings that all values have in common, such as the names of table and column, are hashed once:
///
/// ```
/// use lanecrypt_ciphers::DeterministicAesSiv;
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// # let key = [7; 32];
/// let column = DeterministicAesSiv::new(&key)?.with_context(&[b"customers", b"city"])?;
/// let mut packet = *b"................Bern";
/// column.seal(&[], &mut packet)?;
///
/// let mut other = *b"................Bern";
/// column.seal(&[], &mut other)?;
/// assert_eq!(packet, other);
/// assert_eq!(column.open(&[], &mut packet)?, b"Bern");
/// # Ok(())
/// # }
/// ```
///
/// Keys have 32, 48 or 64 bytes: two of AES-128, AES-192 or AES-256. The key is expanded once and
/// wiped on drop. Requests only read it, so any number of threads may share it, and they do not
/// allocate. Constant time in key, strings and data; lengths are public, and whether a packet is
/// authentic.
pub struct DeterministicAesSiv {
    key: Key,
    context: Strings,
    /// The number of strings in the context.
    strings: usize,
}

/// An expanded key of each length.
enum Key {
    Aes128(AesSiv<128>),
    Aes192(AesSiv<192>),
    Aes256(AesSiv<256>),
}

/// Evaluates an expression for the kernel of a key.
macro_rules! by_key {
    ($keyed:expr, $key:ident => $result:expr) => {
        match $keyed {
            Key::Aes128($key) => $result,
            Key::Aes192($key) => $result,
            Key::Aes256($key) => $result,
        }
    };
}

use by_key;

impl DeterministicAesSiv {
    /// The length of V in bytes, by which a packet is longer than its value.
    pub const OVERHEAD: usize = 16;

    /// Expands `key`, for the best kernels that this processor can run.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`].
    pub fn new(key: &[u8]) -> Result<Self, Error> {
        Self::with_isa(Isa::detect(), key)
    }

    /// Same as [`new`](Self::new), with the kernels of `isa`.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`].
    pub fn with_isa(isa: Isa, key: &[u8]) -> Result<Self, Error> {
        // Clears what this leaves on the stack: the frames of setting a key, and above them the
        // value that is moved to the caller.
        let _cleared = wipe::SetUp::<
            { wipe::below(2 * (size_of::<Self>() + align_of::<Self>()), wipe::SHALLOW) },
            { wipe::below(2 * (size_of::<Self>() + align_of::<Self>()), wipe::DEEP) },
        >::new(false);
        Self::expand(isa, key)
    }

    /// Same as [`new`](Self::new), but on the heap. The key is expanded there, is wiped there on
    /// drop, and leaves no copy elsewhere, as long as the box is moved and not what is in it.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`].
    #[cfg(feature = "std")]
    pub fn boxed(key: &[u8]) -> Result<Box<Self>, Error> {
        Self::boxed_with_isa(Isa::detect(), key)
    }

    /// Same as [`boxed`](Self::boxed), with the kernels of `isa`.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`].
    #[cfg(feature = "std")]
    pub fn boxed_with_isa(isa: Isa, key: &[u8]) -> Result<Box<Self>, Error> {
        let mut place = Box::new(Self::empty(isa, key.len())?);
        place.set_key(key)?;
        Ok(place)
    }

    /// Replaces the key with another one of the same length, for the same kernels. Strings that
    /// were fixed are no longer: their hash was that of the other key.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`]; then nothing has changed.
    pub fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        let set = self.rekey(key);
        drop(wipe::SetUp::<{ wipe::SHALLOW }, { wipe::DEEP }>::new(false));
        set
    }

    // Not inlined, so that its caller can clear the stack.
    #[inline(never)]
    fn expand(isa: Isa, key: &[u8]) -> Result<Self, Error> {
        let mut place = Self::empty(isa, key.len())?;
        place.rekey(key)?;
        Ok(place)
    }

    /// A cipher without a key, which must be set before the cipher is used.
    //
    // Not inlined, so that functions that set keys do not use as much stack as this one.
    #[inline(never)]
    fn empty(isa: Isa, key_length: usize) -> Result<Self, Error> {
        let key = match key_length {
            32 => Key::Aes128(Aead::empty(isa)),
            48 => Key::Aes192(Aead::empty(isa)),
            64 => Key::Aes256(Aead::empty(isa)),
            _ => return Err(Error::KeyLength),
        };
        let context = by_key!(&key, key => key.strings().clone());
        Ok(Self { key, context, strings: 0 })
    }

    // Not inlined, so that its caller can clear the stack.
    #[inline(never)]
    fn rekey(&mut self, key: &[u8]) -> Result<(), Error> {
        by_key!(&mut self.key, own => own.set_key(array(key)?));
        self.context = by_key!(&self.key, key => key.strings().clone());
        self.strings = 0;
        Ok(())
    }

    /// Fixes the first strings of all values: they are hashed once, and stand before those of each
    /// request.
    ///
    /// # Errors
    ///
    /// [`Error::AadLength`] if there are more than 126.
    pub fn with_context(mut self, strings: &[&[u8]]) -> Result<Self, Error> {
        self.set_context(strings)?;
        Ok(self)
    }

    /// Same as [`with_context`](Self::with_context), in place. It replaces strings that were fixed
    /// before.
    ///
    /// # Errors
    ///
    /// [`Error::AadLength`] if there are more than 126; then nothing has changed.
    pub fn set_context(&mut self, strings: &[&[u8]]) -> Result<(), Error> {
        if strings.len() > MOST_STRINGS {
            return Err(Error::AadLength);
        }
        self.hash(strings);
        // Hashing has left parts of the context on the stack, which is made of the key.
        drop(wipe::SetUp::<{ wipe::SHALLOW }, { wipe::DEEP }>::new(false));
        Ok(())
    }

    // Not inlined, so that its caller can clear the stack.
    #[inline(never)]
    fn hash(&mut self, strings: &[&[u8]]) {
        self.context = by_key!(&self.key, key => {
            let mut context = key.strings().clone();
            key.associate(&mut context, strings);
            context
        });
        self.strings = strings.len();
    }

    /// Seals a value in place: `room_and_value` is room for V, 16 bytes that are overwritten, and
    /// the value, and becomes the packet.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if there is no room for V, [`Error::AadLength`] if there are more
    /// than 126 strings. After an error nothing has changed.
    pub fn seal(&self, strings: &[&[u8]], room_and_value: &mut [u8]) -> Result<(), Error> {
        let (v, value) = room_and_value.split_first_chunk_mut().ok_or(Error::OutputLength)?;
        self.seal_detached(strings, value, v)
    }

    /// Opens a packet in place, if it is authentic, and returns the value, which is at its end.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] if the packet is not authentic: the value has been wiped. The same
    /// if it is shorter than V, or [`Error::AadLength`] if there are more than 126 strings: nothing
    /// has changed.
    pub fn open<'p>(&self, strings: &[&[u8]], packet: &'p mut [u8]) -> Result<&'p mut [u8], Error> {
        let (v, value) = packet.split_first_chunk_mut().ok_or(Error::Authentication)?;
        self.open_detached(strings, &mut *value, v)?;
        Ok(value)
    }

    /// Seals a value into a packet that is longer by 16 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if the packet has another length, [`Error::AadLength`] if there are
    /// more than 126 strings. After an error nothing has changed.
    pub fn seal_to(&self, strings: &[&[u8]], value: &[u8], packet: &mut [u8]) -> Result<(), Error> {
        let (v, out) = packet.split_first_chunk_mut().ok_or(Error::OutputLength)?;
        let data = InOutBuf::new(value, out).map_err(|_| Error::OutputLength)?;
        self.seal_detached(strings, data, v)
    }

    /// Opens a packet into a value that is shorter by 16 bytes, if it is authentic.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] if the packet is not authentic, or is shorter than V: the value
    /// has been wiped. [`Error::OutputLength`] if the value has another length,
    /// [`Error::AadLength`] if there are more than 126 strings: nothing has changed.
    pub fn open_to(&self, strings: &[&[u8]], packet: &[u8], value: &mut [u8]) -> Result<(), Error> {
        let Some((v, ciphertext)) = packet.split_first_chunk() else {
            wipe::memory(value);
            return Err(Error::Authentication);
        };
        let data = InOutBuf::new(ciphertext, value).map_err(|_| Error::OutputLength)?;
        self.open_detached(strings, data, v)
    }

    /// Encrypts a value and writes its V. The data is a slice in place, or an
    /// [`InOutBuf`](crate::InOutBuf) from one buffer to another.
    ///
    /// # Errors
    ///
    /// [`Error::AadLength`] if there are more than 126 strings; then nothing has changed.
    #[inline]
    pub fn seal_detached<'i, 'o>(
        &self,
        strings: &[&[u8]],
        data: impl Buffers<'i, 'o>,
        v: &mut [u8; 16],
    ) -> Result<(), Error> {
        self.admit(strings.len())?;
        let (context, data) = (&self.context, data.in_out());
        *v = by_key!(&self.key, key => key.seal_after(context, strings, data));
        Ok(())
    }

    /// Decrypts a value, if its V is right. The data is a slice in place, or an
    /// [`InOutBuf`](crate::InOutBuf) from one buffer to another.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`]: the output has been wiped. [`Error::AadLength`] if there are more
    /// than 126 strings: nothing has changed.
    #[inline]
    pub fn open_detached<'i, 'o>(
        &self,
        strings: &[&[u8]],
        data: impl Buffers<'i, 'o>,
        v: &[u8; 16],
    ) -> Result<(), Error> {
        self.admit(strings.len())?;
        let (context, mut data) = (&self.context, data.in_out());
        let right = by_key!(&self.key, key => {
            key.open_after(context, strings, v, data.reborrow())
        });
        if equal(&right, v) {
            return Ok(());
        }
        wipe::memory(data.get_out());
        Err(Error::Authentication)
    }

    #[inline]
    fn admit(&self, strings: usize) -> Result<(), Error> {
        if strings > MOST_STRINGS - self.strings { Err(Error::AadLength) } else { Ok(()) }
    }
}

impl fmt::Debug for DeterministicAesSiv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeterministicAesSiv").finish_non_exhaustive()
    }
}

// Key and context wipe themselves.
impl ZeroizeOnDrop for DeterministicAesSiv {}
