//! Records of TLS 1.2 and older in CBC: MAC, then encrypt.

mod record;

use core::fmt;

use lanecrypt_kernels::{Isa, wipe};
use zeroize::ZeroizeOnDrop;

use self::record::{LONGEST_PADDING, Parts, code_at, padded};
use super::RawCipher;
use crate::mac_key::{MacKey, by_mac};
use crate::{Algorithm, Error, KeyError, Mac};

/// The keys of one direction of a connection in TLS 1.0, 1.1 or 1.2 with a cipher suite in CBC (RFC
/// 2246, 4346 and 5246, section 6.2.3.2): a block cipher with HMAC-SHA-1, -SHA-256 or -SHA-384,
/// without compression. DTLS 1.0 and 1.2 have the same records. SSL 3.0 has others, whose padding
/// cannot be checked ("POODLE", 2014).
///
/// A record is encrypted with its code and its padding inside, so a receiver decrypts before it
/// knows what is authentic. Receivers whose time or answers say whether the padding or the code was
/// wrong have been broken many times ("Lucky Thirteen", 2013). Here both give the same error, and
/// take the same time: see [`open`](Self::open). Use it for peers that have nothing better; the
/// extension `encrypt_then_mac` (RFC 7366) and the suites of TLS 1.2 with GCM or
/// ChaCha20-Poly1305 do not have the problem.
///
/// Expanded once and wiped on drop; requests only read it, so any number of threads may share it.
///
/// ```
/// use lanecrypt_ciphers::hazmat::{TlsCbc, TlsHeader};
/// use lanecrypt_ciphers::{Algorithm, Error, Mac};
///
/// # fn main() -> Result<(), Error> {
/// let keys = TlsCbc::new(Algorithm::AES_128_CBC, &[1; 16], Mac::HmacSha256, &[2; 32])?;
/// let header = TlsHeader { sequence: 0, content_type: 23, version: 0x0303 };
/// let iv = [3; 16]; // random, and sent in front of the record
/// let mut record = b"content".to_vec();
/// record.resize(keys.sealed_length(7), 0);
/// keys.seal(header, &iv, &mut record, 7)?;
///
/// let length = keys.open(header, &iv, &mut record)?;
/// assert_eq!(&record[..length], b"content");
/// # Ok(())
/// # }
/// ```
pub struct TlsCbc {
    cipher: RawCipher,
    code: Mac,
    mac: MacKey,
}

/// The input of a record's MAC besides its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the protocols have no other fields")]
pub struct TlsHeader {
    /// The number of the record in its direction; in DTLS, the epoch and the number.
    pub sequence: u64,
    /// The content type: 23 for application data.
    pub content_type: u8,
    /// The version: 0x0301 for TLS 1.0 to 0x0303 for TLS 1.2; 0xfeff and 0xfefd for DTLS.
    pub version: u16,
}

impl TlsHeader {
    fn bytes(self, length: usize) -> [u8; 13] {
        let [high, low] = self.version.to_be_bytes();
        // The length of a record has 16 bits.
        let [.., length_high, length_low] = (length as u64).to_be_bytes();
        let mut bytes = [0; 13];
        bytes[..8].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[8..].copy_from_slice(&[self.content_type, high, low, length_high, length_low]);
        bytes
    }
}

/// Clears what making the keys leaves on the stack: the frames of setting them, and above them the
/// values that are moved.
type Cleared = wipe::SetUp<CLEARED, CLEARED>;

const CLEARED: usize = wipe::below(2 * (size_of::<TlsCbc>() + align_of::<TlsCbc>()), wipe::DEEP);

impl TlsCbc {
    /// The most bytes of content in a record.
    pub const LONGEST: usize = 1 << 14;

    /// Expands both keys. `algorithm` is a block cipher in CBC. The key of the code is as long as
    /// the code: 20, 32 or 48 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for algorithms that are not raw CBC, [`Error::KeyLength`].
    pub fn new(algorithm: Algorithm, key: &[u8], code: Mac, mac: &[u8]) -> Result<Self, KeyError> {
        Self::with_isa(Isa::detect(), algorithm, key, code, mac)
    }

    /// The same with the kernels of `isa`.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    pub fn with_isa(
        isa: Isa,
        algorithm: Algorithm,
        key: &[u8],
        code: Mac,
        mac: &[u8],
    ) -> Result<Self, KeyError> {
        if algorithm.mode() != crate::Mode::Cbc || algorithm.is_aead() {
            return Err(KeyError::new(algorithm, Error::Unsupported));
        }
        if mac.len() != code.output_length() {
            return Err(KeyError::of_code(code, mac));
        }
        let _cleared = Cleared::new(false);
        Self::expand(isa, algorithm, key, code, mac)
    }

    /// Expands the keys.
    //
    // Not inlined, so that its caller can clear the stack that it used.
    #[inline(never)]
    fn expand(
        isa: Isa,
        algorithm: Algorithm,
        key: &[u8],
        code: Mac,
        mac: &[u8],
    ) -> Result<Self, KeyError> {
        let mut keys = Self {
            cipher: RawCipher::with_isa(isa, algorithm, key)?,
            code,
            mac: MacKey::empty(code),
        };
        by_mac!(&mut keys.mac, key => key.set(mac));
        Ok(keys)
    }

    /// The length in bytes of a record with this much content: with its code and the shortest
    /// padding, without the header and without an initialization vector in front.
    #[must_use]
    pub fn sealed_length(&self, content: usize) -> usize {
        let block = self.cipher.algorithm().granularity();
        (content + self.code.output_length()) / block * block + block
    }

    /// Seals the record that begins with `content` bytes of content, in place. It must have
    /// [`sealed_length`](Self::sealed_length) bytes.
    ///
    /// `iv` is as long as a block. From TLS 1.1 on it is random and unpredictable, and precedes the
    /// record. In TLS 1.0 it is the last block of the record before, which an attacker knows
    /// beforehand ("BEAST", 2011).
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] for more than [`LONGEST`](Self::LONGEST) bytes of content,
    /// [`Error::OutputLength`] for a record of another length, [`Error::NonceLength`]. Then the
    /// record is as it was.
    pub fn seal(
        &self,
        header: TlsHeader,
        iv: &[u8],
        record: &mut [u8],
        content: usize,
    ) -> Result<(), Error> {
        if content > Self::LONGEST {
            return Err(Error::DataLength);
        }
        if record.len() != self.sealed_length(content) {
            return Err(Error::OutputLength);
        }
        if iv.len() != self.cipher.algorithm().nonce_length() {
            return Err(Error::NonceLength);
        }
        let (data, rest) = record.split_at_mut(content);
        let (tag, padding) = rest.split_at_mut(self.code.output_length());
        by_mac!(&self.mac, key => {
            let mut message = key.begin();
            message.update(&header.bytes(content));
            message.update(data);
            key.finish(message).put(tag);
        });
        padding.fill(padded(padding.len()));
        self.cipher.encrypt(iv, record)
    }

    /// Opens a record in place, and returns how many bytes of content it begins with. Behind them
    /// are code and padding.
    ///
    /// Constant time in keys and plaintext, which includes the lengths of padding and content: code
    /// and padding are both checked in full, every block of the hash in which the content may end
    /// is compressed, and the code is read from wherever it may be. Branches and addresses depend
    /// on the length of the record, and at the end on whether it is authentic. This holds with AES
    /// and Serpent; DES and triple DES index tables by secrets where records are short
    /// ([`Primitive::timing_leak`](crate::Primitive::timing_leak)).
    ///
    /// What the caller does with the length that is returned, and how an application answers, is
    /// not covered.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] if the code or the padding is wrong, if the record is not whole
    /// blocks or too short, or if its content is longer than [`LONGEST`](Self::LONGEST); the record
    /// is zero then. [`Error::NonceLength`]; the record is as it was.
    pub fn open(&self, header: TlsHeader, iv: &[u8], record: &mut [u8]) -> Result<usize, Error> {
        if iv.len() != self.cipher.algorithm().nonce_length() {
            return Err(Error::NonceLength);
        }
        let block = self.cipher.algorithm().granularity();
        let tag = self.code.output_length();
        let lengths = tag + 1..=Self::LONGEST + tag + LONGEST_PADDING;
        if !record.len().is_multiple_of(block) || !lengths.contains(&record.len()) {
            record.fill(0);
            return Err(Error::Authentication);
        }
        self.cipher.decrypt(iv, &mut *record)?;
        let parts = Parts::of(record, tag);
        let mut came = code_at(record, parts.content, tag);
        let made = by_mac!(&self.mac, key => {
            let mut message = key.begin();
            message.update(&header.bytes(parts.content));
            key.finish_secret(message, parts.longest(record), parts.shortest, parts.content)
        });
        let is_authentic = made.matches(&came[..tag]) & parts.is_good(Self::LONGEST);
        wipe::memory(&mut came);
        if bool::from(is_authentic) {
            return Ok(parts.content);
        }
        record.fill(0);
        Err(Error::Authentication)
    }
}

impl fmt::Debug for TlsCbc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (algorithm, code) = (self.cipher.algorithm(), self.code);
        f.debug_struct("TlsCbc")
            .field("algorithm", &algorithm)
            .field("code", &code)
            .finish_non_exhaustive()
    }
}

impl ZeroizeOnDrop for TlsCbc {}
