//! The contexts of one session: libcrypto's keyed ciphers, one for each direction.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lanecrypt_ciphers::{Algorithm, Error, InOutBuf, Mode};
use lanecrypt_libcrypto::{AeadContext, Context, Direction, Error as Failure, Libcrypto};
use zeroize::Zeroizing;

use super::Served;
use super::names::{Found, find};
use crate::{Job, Operation};

/// Contexts reuse a buffer of at most this many bytes for the next message.
const KEPT: usize = 64 << 10;

/// The longest key in bytes: of AES-256-XTS.
const LONGEST_KEY: usize = 64;

/// The most bytes that libcrypto accepts in one call.
const MOST: usize = i32::MAX as usize;
/// The most that it accepts in one data unit of XTS.
const MOST_XTS: usize = 16 << 20;

/// A key in libcrypto.
pub(super) struct Contexts {
    algorithm: Algorithm,
    keyed: Keyed,
}

enum Keyed {
    Raw { encrypt: Mutex<Context>, decrypt: Mutex<Context> },
    Sealed { seal: Mutex<AeadContext>, open: Mutex<Opening> },
}

/// A context that opens, and a buffer for opening in place: libcrypto's input and output differ.
struct Opening {
    context: AeadContext,
    sealed: Vec<u8>,
}

impl Contexts {
    /// Contexts with this key.
    pub(super) fn new(
        libcrypto: &Libcrypto,
        algorithm: Algorithm,
        key: &[u8],
    ) -> Result<Self, Error> {
        if !algorithm.key_lengths().iter().any(|length| length == key.len()) {
            return Err(Error::KeyLength);
        }
        if algorithm.mode() == Mode::Xts && key.split_at(key.len() / 2).0 == &key[key.len() / 2..] {
            return Err(Error::WeakKey);
        }
        let (whole, length) = whole(algorithm, key);
        let found = find(libcrypto, algorithm);
        let keyed = found.and_then(|found| Keyed::new(&found, &whole[..length]));
        // The caller does not distinguish between unavailable and refused.
        Ok(Self { algorithm, keyed: keyed.map_err(|_| Error::Unsupported)? })
    }

    /// Serves a request, if libcrypto accepts it.
    pub(super) fn serve(&self, job: &mut Job<'_, '_>) -> Served {
        if !self.takes(job) {
            return Served::No;
        }
        let mut iv = [0; 16];
        let nonce = self.iv(job.nonce(), &mut iv);
        let served = match (&self.keyed, job.operation()) {
            (Keyed::Raw { encrypt, .. }, Operation::Encrypt) => raw(encrypt, nonce, job),
            (Keyed::Raw { decrypt, .. }, Operation::Decrypt) => raw(decrypt, nonce, job),
            (Keyed::Sealed { seal, .. }, Operation::Seal) => sealed(seal, nonce, job),
            (Keyed::Sealed { open, .. }, Operation::Open) => lock(open).open(nonce, job),
            _ => None,
        };
        served.map_or(Served::No, Served::Yes)
    }

    /// Whether a message has a form that libcrypto accepts. The software serves all others, or
    /// returns their error.
    fn takes(&self, job: &mut Job<'_, '_>) -> bool {
        let algorithm = self.algorithm;
        let tagged = match job.operation() {
            Operation::Encrypt | Operation::Decrypt => !algorithm.is_aead(),
            Operation::Seal | Operation::Open => algorithm.is_aead() && job.tag_length() == 16,
            Operation::Sign | Operation::Verify | Operation::Agree => false,
        };
        let lengths = match algorithm.mode() {
            Mode::Xts => 16..=MOST_XTS,
            _ => 0..=MOST,
        };
        tagged
            && job.nonce().len() == algorithm.nonce_length()
            && job.aad().len() <= MOST
            && job.data().is_ok_and(|data| {
                lengths.contains(&data.len()) && data.len() % algorithm.granularity() == 0
            })
    }

    /// The IV in libcrypto's form: for ChaCha20 the number of the first block, then the nonce.
    fn iv<'i>(&self, nonce: &'i [u8], room: &'i mut [u8; 16]) -> &'i [u8] {
        match self.algorithm.mode() {
            Mode::Djb | Mode::Ietf => {
                let from = room.len().saturating_sub(nonce.len());
                room[from..].copy_from_slice(nonce);
                room
            }
            _ => nonce,
        }
    }
}

impl Keyed {
    fn new(found: &Found, key: &[u8]) -> Result<Self, Failure> {
        let (forward, backward) = (Direction::Encrypt, Direction::Decrypt);
        match found {
            Found::Raw(cipher) => {
                // Each message has its own.
                let iv = vec![0; cipher.iv_length()];
                Ok(Self::Raw {
                    encrypt: Mutex::new(cipher.context(forward, key, &iv)?),
                    decrypt: Mutex::new(cipher.context(backward, key, &iv)?),
                })
            }
            Found::Sealed(cipher) => {
                let context = cipher.context(backward, key)?;
                Ok(Self::Sealed {
                    seal: Mutex::new(cipher.context(forward, key)?),
                    open: Mutex::new(Opening { context, sealed: Vec::new() }),
                })
            }
        }
    }
}

// The following return nothing if libcrypto refused a message before it had written anything.

/// Encrypts or decrypts.
fn raw(context: &Mutex<Context>, iv: &[u8], job: &mut Job<'_, '_>) -> Option<Result<(), Error>> {
    let data = job.data().ok()?;
    let mut context = lock(context);
    context.set_iv(iv).ok()?;
    let out = moved(data);
    let served = context.update(out);
    Some(served.map_err(|_| wiped(out)))
}

/// Encrypts and computes the tag.
fn sealed(
    context: &Mutex<AeadContext>,
    nonce: &[u8],
    job: &mut Job<'_, '_>,
) -> Option<Result<(), Error>> {
    let aad = job.aad();
    let mut tag = [0; 16];
    let out = moved(job.data().ok()?);
    let served = lock(context).seal(nonce, aad, out, &mut tag).map_err(|_| wiped(out));
    Some(served.and_then(|()| job.put_tag(&tag)))
}

impl Opening {
    /// Decrypts if the tag is valid. libcrypto reports an invalid tag like any other failure.
    fn open(&mut self, nonce: &[u8], job: &mut Job<'_, '_>) -> Option<Result<(), Error>> {
        let aad = job.aad();
        let tag: [u8; 16] = job.tag()?.try_into().ok()?;
        let mut data = job.data().ok()?;
        let Self { context, sealed } = self;
        sealed.clear();
        // Ciphertext, which need not be wiped.
        sealed.extend_from_slice(data.get_in());
        let opened = context.open(nonce, aad, sealed, &tag, data.get_out());
        sealed.shrink_to(KEPT);
        Some(opened.map_err(|_| Error::Authentication))
    }
}

/// The output, after the input has been copied there.
fn moved<'d>(data: InOutBuf<'_, 'd, u8>) -> &'d mut [u8] {
    data.into_out_with_copied_in()
}

/// Wipes the output of a message in the middle of which libcrypto failed.
#[cold]
fn wiped(out: &mut [u8]) -> Error {
    out.fill(0);
    Error::Unsupported
}

/// The key in libcrypto's form, at the front of the returned array, and its length: triple DES with
/// two keys repeats the first.
fn whole(algorithm: Algorithm, key: &[u8]) -> (Zeroizing<[u8; LONGEST_KEY]>, usize) {
    let mut whole = Zeroizing::new([0; LONGEST_KEY]);
    let first = key.first_chunk::<8>().filter(|_| {
        let block_size = algorithm.primitive().block_size();
        (block_size, key.len(), algorithm.key_lengths().longest()) == (8, 16, 24)
    });
    let bytes = key.iter().chain(first.into_iter().flatten());
    let length = whole.iter_mut().zip(bytes).map(|(to, from)| *to = *from).count();
    (whole, length)
}

fn lock<T>(context: &Mutex<T>) -> MutexGuard<'_, T> {
    // A call that panicked does not affect the next message, which begins with its own IV.
    context.lock().unwrap_or_else(PoisonError::into_inner)
}
