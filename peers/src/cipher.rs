//! A cipher as the tables measure it.

use core::fmt;
use std::sync::Arc;

use crate::{Availability, Crypt, Failed, cipher};

/// Whether a cipher makes ciphertext or plaintext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third direction")]
pub enum Direction {
    /// Plaintext becomes ciphertext.
    Encrypt,
    /// Ciphertext becomes plaintext.
    Decrypt,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Encrypt, Self::Decrypt];

    /// `encrypt` or `decrypt`: the operation's name in the results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        }
    }
}

/// One request of [`Cipher::messages`]: a whole message.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "measuring code makes it, field by field")]
pub struct Message<'a> {
    /// Which of the sessions has its key, counted from zero.
    pub session: usize,
    /// The IV.
    pub iv: &'a [u8],
    /// What is encrypted or decrypted in place.
    pub data: &'a mut [u8],
}

/// One algorithm in one direction, in one or more sessions that have each a key of their own.
///
/// The loops are inside the implementation, so that a dynamic call happens once a batch and
/// nothing but the request itself is inside the loop. All methods but those that take [`Message`]s
/// use the first session. All of them end at the first request that fails.
pub trait Cipher: Send {
    /// Starts a message, then makes one call for each `chunk` bytes of `data` and for what is left
    /// behind them; `times` times over, which continues the message.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Crypt::start`] and [`Crypt::next`], or when `chunk` is zero.
    fn chunks(
        &mut self,
        iv: &[u8],
        data: &mut [u8],
        chunk: usize,
        times: usize,
    ) -> Result<(), Failed>;

    /// Makes `requests` requests: the messages of `batch` in their order, and from the first again
    /// as often as needed. Each starts with its IV and is one call, under the key of its session.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Crypt::start`] and [`Crypt::next`], or when there is no such session.
    fn messages(&mut self, batch: &mut [Message<'_>], requests: usize) -> Result<(), Failed>;

    /// The same with a key set before each message: request after request, the keys of `keys` in
    /// turn, from the first again as often as needed.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Cipher::messages`] and [`Crypt::key`], or when there are no keys.
    fn messages_rekeyed(
        &mut self,
        batch: &mut [Message<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed>;

    /// The same requests as [`Cipher::messages`], where the API is handed `batch` of them before the
    /// first result is needed: in one call, or in several and a last one that waits for all, as the
    /// API has it. An API that knows no batches goes from message to message. The last batch of a
    /// round through `messages`, and the last of all, may be shorter.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Cipher::messages`]; an API that knows batches also refuses a `batch` of
    /// zero.
    fn batches(
        &mut self,
        messages: &mut [Message<'_>],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        let _ = batch;
        self.messages(messages, requests)
    }

    /// The same with a key set for each message: the requests of [`Cipher::messages_rekeyed`] in
    /// batches as [`Cipher::batches`] makes them.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Cipher::batches`] and [`Cipher::messages_rekeyed`].
    fn batches_rekeyed(
        &mut self,
        messages: &mut [Message<'_>],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        let _ = batch;
        self.messages_rekeyed(messages, keys, requests)
    }

    /// Starts a message `times` times.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Crypt::start`].
    fn set_ivs(&mut self, iv: &[u8], times: usize) -> Result<(), Failed>;

    /// Sets the keys of `keys` in turn, from the first again as often as needed, `times` in all.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Crypt::key`], or when there are no keys.
    fn set_keys(&mut self, keys: &[&[u8]], times: usize) -> Result<(), Failed>;

    /// Makes `times` contexts, one after another, with the keys of `keys` in turn, and frees each.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Crypt::open`], or when there are no keys.
    fn open(&mut self, keys: &[&[u8]], iv: &[u8], times: usize) -> Result<(), Failed>;

    /// Looks the algorithm up `times` times.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Crypt::fetch`].
    fn fetch(&mut self, times: usize) -> Result<(), Failed>;
}

/// A cipher that a table can measure, as the points of the results name it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CipherPeer {
    /// The project it comes from: `openssl`, `libgcrypt`, …
    pub source: &'static str,
    /// The entry point that is timed: `evp`, `gcry`, …
    pub api: &'static str,
    /// The algorithm: `aes-128-cbc`, `chacha20-ietf`, …
    pub algorithm: &'static str,
    /// Whether it can be measured here.
    pub availability: Availability,
    /// Whether [`Cipher::batches`] is more than a loop: the API takes many messages at a time.
    pub batches: bool,
    sessions: Sessions,
}

impl CipherPeer {
    /// A cipher with one session for each key; `None` when the peer is missing or refuses a key,
    /// and without keys.
    ///
    /// Any number of threads may call it at the same time.
    #[must_use]
    pub fn open(&self, direction: Direction, keys: &[&[u8]]) -> Option<Box<dyn Cipher>> {
        let (key_len, _) = lengths(self.algorithm)?;
        if keys.iter().any(|key| key.len() != key_len) {
            return None;
        }
        (self.sessions.0)(direction, keys)
    }

    /// A peer of the version that was `found`, if it also works. `open` makes one session.
    pub(crate) fn tried<C: Crypt + Send + 'static>(
        names: [&'static str; 3],
        version: String,
        open: impl Fn(Direction, &[u8]) -> Result<C, Failed> + Send + Sync + 'static,
    ) -> Self {
        Self::made(names, version, move |direction, keys| {
            let made: Result<Vec<C>, Failed> =
                keys.iter().map(|key| open(direction, key)).collect();
            cipher(made.ok()?)
        })
    }

    /// The same, where `open` makes all sessions at once.
    pub(crate) fn made(
        [source, api, algorithm]: [&'static str; 3],
        version: String,
        open: impl Fn(Direction, &[&[u8]]) -> Option<Box<dyn Cipher>> + Send + Sync + 'static,
    ) -> Self {
        let sessions = Sessions(Arc::new(open));
        let availability = Availability::Found(version);
        let mut peer = Self { source, api, algorithm, availability, batches: false, sessions };
        if let (false, Availability::Found(version)) = (peer.works(), &peer.availability) {
            let hint = format!("{source} {version} has no working {algorithm} here");
            peer.availability = Availability::Missing(hint);
        }
        peer
    }

    /// A peer that is not here, and what to do about it.
    pub(crate) fn missing(names: [&'static str; 3], hint: &str) -> Self {
        let [source, api, algorithm] = names;
        let sessions = Sessions(Arc::new(|_, _| None));
        let availability = Availability::Missing(hint.to_owned());
        Self { source, api, algorithm, availability, batches: false, sessions }
    }

    /// The same peer, whose API takes many messages at a time.
    pub(crate) fn in_batches(self) -> Self {
        Self { batches: true, ..self }
    }

    /// Whether what is encrypted can be decrypted, in one call and, but for XTS, in two.
    fn works(&self) -> bool {
        let Some((key_len, iv_len)) = lengths(self.algorithm) else { return false };
        let Some(key) = KEY.get(..key_len) else { return false };
        let iv = [7; 16];
        let Some(iv) = iv.get(..iv_len) else { return false };
        // A data unit of XTS is not to be cut.
        let first = if self.algorithm.ends_with("xts") { 128 } else { 64 };
        let plain: [u8; 128] = core::array::from_fn(|at| u8::try_from(at).unwrap_or(0));
        let mut data = plain;
        let mut run = |direction, chunk| {
            let mut cipher = self.open(direction, &[key])?;
            cipher.chunks(iv, &mut data, chunk, 1).ok()?;
            Some(data)
        };
        run(Direction::Encrypt, first).is_some_and(|data| data != plain)
            && run(Direction::Decrypt, 128) == Some(plain)
    }
}

/// The key of the first test: three different keys of DES, none of them weak; different halves for
/// XTS.
const KEY: [u8; 64] = [
    0x23, 0x57, 0x68, 0x4c, 0xa1, 0x0e, 0x92, 0xdb, 0x0d, 0x7c, 0x85, 0xe3, 0x19, 0x2a, 0xb6, 0xf4,
    0x51, 0x8f, 0x3e, 0xc2, 0x76, 0xad, 0x04, 0x98, 0x6b, 0xd0, 0x1f, 0xe9, 0x47, 0xbc, 0x32, 0x8a,
    0xc6, 0x09, 0xd3, 0x5e, 0x1b, 0xf7, 0x88, 0x24, 0x60, 0xae, 0x91, 0x3d, 0x7f, 0x02, 0xec, 0x55,
    0x0a, 0xb8, 0x4d, 0xf1, 0x37, 0x9c, 0x63, 0xde, 0x82, 0x19, 0xc5, 0x70, 0x2e, 0xeb, 0x46, 0x93,
];

/// Bytes of the key and of the IV of an algorithm that peers are measured with; `None` for others.
#[must_use]
pub fn lengths(algorithm: &str) -> Option<(usize, usize)> {
    match algorithm {
        "aes-128-cbc" | "aes-128-ctr" | "serpent-128-cbc" | "serpent-128-ctr" => Some((16, 16)),
        "aes-128-xts" => Some((32, 16)),
        "aes-256-xts" => Some((64, 16)),
        "chacha20-ietf" => Some((32, 12)),
        "des-cbc" => Some((8, 8)),
        "3des-cbc" => Some((24, 8)),
        _ => None,
    }
}

/// Makes the sessions of a peer.
#[derive(Clone)]
#[expect(clippy::type_complexity, reason = "written once")]
struct Sessions(Arc<dyn Fn(Direction, &[&[u8]]) -> Option<Box<dyn Cipher>> + Send + Sync>);

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sessions")
    }
}
