//! Encrypted files in pieces.
//!
//! A file of Rust is a writer or a reader around another one. Here the inner ones are the output of
//! a call, and its input, which answers that it would block when it has nothing more.

use core::ffi::c_int;
use core::mem;
use core::ptr;
use std::io::{self, ErrorKind, Read, Write as _};

use lanecrypt_kernels::fork::Generation;
use lanecrypt_stream::file::{self, Argon2id, Options, Secret};
use lanecrypt_stream::{CHUNK_SIZE, Cipher, Decryptor, Encryptor};
use zeroize::Zeroizing;

use crate::algorithm;
use crate::code::Code;
use crate::ffi_args::{Bytes, caught, checked, free, give, give_nothing, give_object};
use crate::ffi_args::{object, object_mut};

/// The kinds of secrets.
pub(crate) const KEY: c_int = 1;
pub(crate) const PASSPHRASE: c_int = 2;

/// How a new file is encrypted. 0 is the default of each.
#[repr(C)]
pub(crate) struct FileOptions {
    pub(crate) algorithm: c_int,
    pub(crate) memory: u32,
    pub(crate) passes: u32,
    pub(crate) lanes: u32,
}

impl FileOptions {
    fn options(&self) -> Result<Options, Code> {
        let Options { algorithm, argon2id: usual } = Options::default();
        let algorithm = match self.algorithm {
            0 => algorithm,
            number => algorithm::of_number(number)?,
        };
        let or = |number, usual| if number == 0 { usual } else { number };
        // What does not fit is beyond the limits, too.
        let argon2id = Argon2id {
            memory: or(self.memory, usual.memory),
            passes: u16::try_from(or(self.passes, usual.passes.into())).unwrap_or(u16::MAX),
            lanes: u8::try_from(or(self.lanes, usual.lanes.into())).unwrap_or(u8::MAX),
        };
        Ok(Options { algorithm, argon2id })
    }
}

/// A file that is being encrypted or decrypted.
pub(crate) struct File {
    state: State,
    /// Output. Of decryption it has room behind what was given.
    out: Zeroizing<Vec<u8>>,
    /// How many of these bytes were given with the last call.
    given: usize,
}

type FileEncryptor = Encryptor<Vec<u8>, Box<Cipher>>;
type FileDecryptor = Decryptor<Input, Box<Cipher>>;

enum State {
    /// The process must stay the same: in another one, nonces would repeat.
    Encrypting(FileEncryptor, Generation),
    /// What came of the header, which is not whole.
    Header(Kept, Vec<u8>),
    Decrypting(FileDecryptor),
    /// What all calls answer.
    Ended(Code),
}

/// A secret that waits for a header.
struct Kept {
    kind: c_int,
    bytes: Zeroizing<Vec<u8>>,
}

fn of_kind(kind: c_int, bytes: &[u8]) -> Result<Secret<'_>, Code> {
    match kind {
        KEY => bytes.try_into().map(Secret::Key).map_err(|_| Code::KeyLength),
        PASSPHRASE => Ok(Secret::Passphrase(bytes)),
        _ => Err(Code::Range),
    }
}

/// What a decryptor reads: the beginning of the header from earlier calls, then what C lends for
/// this call.
struct Input {
    front: Vec<u8>,
    used: usize,
    lent: Bytes,
    is_last: bool,
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let front = &self.front[self.used..];
        if !front.is_empty() {
            let bytes = front.len().min(out.len());
            out[..bytes].copy_from_slice(&front[..bytes]);
            self.used += bytes;
            return Ok(bytes);
        }
        let bytes = self.lent.len().min(out.len());
        if bytes == 0 && !out.is_empty() && !self.is_last {
            return Err(ErrorKind::WouldBlock.into());
        }
        let (now, later) =
            self.lent.split_at(bytes).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        // SAFETY: C lends the bytes for the call, and `lent` has none after it.
        out[..bytes].copy_from_slice(unsafe { now.read() });
        self.lent = later;
        Ok(bytes)
    }
}

impl File {
    /// Begins a new file. Its header is the first output.
    fn encrypt(options: &Options, secret: Secret<'_>) -> Result<Self, Code> {
        let process = Generation::now();
        let made = file::encryptor(options, secret, Vec::new()).map_err(|error| match error {
            file::Error::Algorithm => Code::Unsupported,
            error => error.into(),
        });
        let mut encryptor = made?.without_copy();
        let out = Zeroizing::new(mem::take(encryptor.get_mut()));
        Ok(Self { state: State::Encrypting(encryptor, process), out, given: 0 })
    }

    /// Takes a piece of input, and returns the output that there is. After an error there is none,
    /// and it stays.
    fn step(&mut self, from: Bytes, is_last: bool) -> Result<&[u8], Code> {
        from.apart_from(Bytes::input(self.out.as_ptr(), self.out.capacity())?)?;
        let stepped = match mem::replace(&mut self.state, State::Ended(Code::Internal)) {
            State::Encrypting(encryptor, process) => self.seal(encryptor, process, from, is_last),
            State::Header(kept, front) => self.begin(kept, front, from, is_last),
            State::Decrypting(decryptor) => self.open(decryptor, from, is_last),
            State::Ended(code) => Err(code),
        };
        match stepped {
            Ok(state) => self.state = state,
            Err(code) => {
                *self = Self { state: State::Ended(code), out: Zeroizing::default(), given: 0 };
                return Err(code);
            }
        }
        Ok(&self.out[..self.given])
    }

    /// Encrypts. What another process made of the same chunks is not given out.
    fn seal(
        &mut self,
        mut encryptor: FileEncryptor,
        process: Generation,
        from: Bytes,
        is_last: bool,
    ) -> Result<State, Code> {
        self.out.drain(..self.given);
        mem::swap(encryptor.get_mut(), &mut self.out);
        // SAFETY: C lends the bytes for the call, and nothing is written to them.
        encryptor.write_all(unsafe { from.read() }).map_err(of_stream)?;
        if is_last {
            encryptor.try_finish().map_err(of_stream)?;
        }
        mem::swap(encryptor.get_mut(), &mut self.out);
        self.given = self.out.len();
        match process.is_current() {
            false => Err(Code::Forked),
            true if is_last => Ok(FINISHED),
            true => Ok(State::Encrypting(encryptor, process)),
        }
    }

    /// Reads the header, and what follows it.
    fn begin(
        &mut self,
        kept: Kept,
        mut front: Vec<u8>,
        from: Bytes,
        is_last: bool,
    ) -> Result<State, Code> {
        let input = Input { front: front.clone(), used: 0, lent: from, is_last };
        match file::decryptor(of_kind(kept.kind, &kept.bytes)?, input) {
            Ok(decryptor) => self.open_rest(decryptor, is_last),
            // All that came belongs to the header.
            Err(file::Error::Read(error)) if error.kind() == ErrorKind::WouldBlock => {
                // SAFETY: C lends the bytes for the call.
                front.extend_from_slice(unsafe { from.read() });
                Ok(State::Header(kept, front))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn open(
        &mut self,
        mut decryptor: FileDecryptor,
        from: Bytes,
        is_last: bool,
    ) -> Result<State, Code> {
        let input = decryptor.get_mut();
        (input.lent, input.is_last) = (from, is_last);
        self.open_rest(decryptor, is_last)
    }

    /// Decrypts all that can be.
    fn open_rest(&mut self, mut decryptor: FileDecryptor, is_last: bool) -> Result<State, Code> {
        self.given = 0;
        // Enough for files with the usual chunks.
        let expected = decryptor.get_ref().lent.len().saturating_add(2 * CHUNK_SIZE);
        if self.out.len() < expected {
            self.grow(expected);
        }
        loop {
            if self.given == self.out.len() {
                self.grow(2 * self.given);
            }
            match decryptor.read(&mut self.out[self.given..]) {
                Ok(0) => break,
                Ok(bytes) => self.given += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(of_stream(error)),
            }
        }
        if is_last {
            return Ok(FINISHED);
        }
        decryptor.get_mut().lent = Bytes::NONE;
        Ok(State::Decrypting(decryptor))
    }

    /// Leaves no copy where the output was before.
    fn grow(&mut self, bytes: usize) {
        let mut larger = Zeroizing::new(vec![0; bytes]);
        larger[..self.given].copy_from_slice(&self.out[..self.given]);
        self.out = larger;
    }
}

/// Nothing comes after the end.
const FINISHED: State = State::Ended(Code::Unsupported);

/// An error of an encryptor or decryptor. Neither output nor input have any of their own.
fn of_stream(error: io::Error) -> Code {
    error.downcast::<lanecrypt_stream::Error>().map_or(Code::Internal, Code::from)
}

impl From<lanecrypt_stream::Error> for Code {
    fn from(error: lanecrypt_stream::Error) -> Self {
        use lanecrypt_stream::Error;
        match error {
            Error::Authentication { .. } | Error::Extended { .. } => Self::Authentication,
            Error::Truncated { .. } => Self::FileTruncated,
            Error::TooLong => Self::DataLength,
            Error::Refused(error) => error.into(),
            _ => Self::Internal,
        }
    }
}

impl From<file::Error> for Code {
    fn from(error: file::Error) -> Self {
        use file::Error;
        match error {
            Error::NotThisFormat => Self::FileFormat,
            Error::Version(_) | Error::Algorithm | Error::ChunkSize(_) | Error::KeyKind(_) => {
                Self::FileVersion
            }
            Error::TruncatedHeader => Self::FileTruncated,
            Error::Argon2id(_) => Self::FileCost,
            Error::Memory => Self::Memory,
            Error::NeedsKey => Self::FileNeedsKey,
            Error::NeedsPassphrase => Self::FileNeedsPassphrase,
            Error::Secret => Self::FileSecret,
            Error::Stream(error) => error.into(),
            _ => Self::Internal,
        }
    }
}

/// Begins a new file.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_file_encrypt(
    file: *mut *mut File,
    options: *const FileOptions,
    kind: c_int,
    secret: *const u8,
    secret_len: usize,
) -> c_int {
    // Read before anything is written.
    let options = if options.is_null() {
        Ok(Options::default())
    } else {
        // SAFETY: the caller lends the options for the call.
        unsafe { object(options) }.and_then(FileOptions::options)
    };
    let make = |secret: Bytes| {
        // SAFETY: the caller lends the secret for the call.
        let secret = of_kind(kind, unsafe { secret.read() })?;
        Ok(Box::new(File::encrypt(&options?, secret)?))
    };
    // SAFETY: the caller lends the place.
    unsafe { give_object(file, Bytes::input(secret, secret_len), make) }
}

/// Begins to read a file. The secret is kept until its header has come.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_file_decrypt(
    file: *mut *mut File,
    kind: c_int,
    secret: *const u8,
    secret_len: usize,
) -> c_int {
    let make = |secret: Bytes| {
        // SAFETY: the caller lends the secret for the call.
        let bytes = unsafe { secret.read() };
        of_kind(kind, bytes)?;
        let kept = Kept { kind, bytes: Zeroizing::new(bytes.to_vec()) };
        let state = State::Header(kept, Vec::new());
        Ok(Box::new(File { state, out: Zeroizing::default(), given: 0 }))
    };
    // SAFETY: the caller lends the place.
    unsafe { give_object(file, Bytes::input(secret, secret_len), make) }
}

/// Takes a piece of a file.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_file_update(
    file: *mut File,
    from: *const u8,
    from_len: usize,
    to: *mut *const u8,
    to_len: *mut usize,
) -> c_int {
    // SAFETY: the same arguments.
    unsafe { step(file, Bytes::input(from, from_len), false, to, to_len) }
}

/// Ends a file.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_file_finish(
    file: *mut File,
    to: *mut *const u8,
    to_len: *mut usize,
) -> c_int {
    // SAFETY: the same arguments.
    unsafe { step(file, Ok(Bytes::NONE), true, to, to_len) }
}

/// Takes a piece, and gives the output, or nothing with an error.
///
/// # Safety
///
/// The caller lends the file, the bytes and the places, and uses the file in no other thread
/// meanwhile.
unsafe fn step(
    file: *mut File,
    from: Result<Bytes, Code>,
    is_last: bool,
    to: *mut *const u8,
    to_len: *mut usize,
) -> c_int {
    caught(|| {
        checked(to)?;
        checked(to_len)?;
        Bytes::of_place(to).apart_from(Bytes::of_place(to_len))?;
        // SAFETY: the caller lends the places.
        unsafe { give_nothing(to_len, 0, from) }?;
        // SAFETY: the same.
        unsafe { give_nothing(to, ptr::null(), from) }?;
        // SAFETY: the caller lends the file.
        let given = unsafe { object_mut(file) }?.step(from?, is_last)?;
        // SAFETY: the caller lends the places.
        unsafe { give(to_len, given.len()) }?;
        // SAFETY: the same.
        unsafe { give(to, given.as_ptr()) }
    })
}

/// Wipes a file and frees it.
#[unsafe(no_mangle)]
unsafe extern "C" fn lc_file_free(file: *mut File) {
    // SAFETY: the caller gives the file back.
    unsafe { free(file) };
}
