//! Streams of every algorithm.

use std::io::{self, Read as _, Write as _};

use lanecrypt_ciphers::{Algorithm, Cipher};
use lanecrypt_stream::{Decryptor, Encryptor, Error, Stream, prefix_length};

pub(crate) const ALGORITHMS: [Algorithm; 4] = [
    Algorithm::AES_128_GCM,
    Algorithm::AES_256_GCM,
    Algorithm::CHACHA20_POLY1305,
    Algorithm::XCHACHA20_POLY1305,
];

/// Sizes of chunks around those of blocks and lanes, and the usual one.
pub(crate) const CHUNKS: [usize; 9] = [1, 2, 15, 16, 17, 64, 1000, 4097, 64 << 10];

pub(crate) const AAD: &[u8] = b"of every chunk";
pub(crate) const KEY: [u8; 32] = [0x5a; 32];

/// Lengths of data at all edges of chunks.
pub(crate) fn lengths(chunk: usize) -> Vec<usize> {
    let mut all = vec![0, 1, chunk - 1, chunk, chunk + 1];
    all.extend([2 * chunk - 1, 2 * chunk, 2 * chunk + 1, 5 * chunk, 9 * chunk + chunk / 2]);
    all.dedup();
    all
}

pub(crate) fn data(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i ^ (i >> 8) ^ (i >> 15)).to_le_bytes()[0]).collect()
}

pub(crate) fn prefix(algorithm: Algorithm) -> Vec<u8> {
    (100..).take(prefix_length(algorithm)).collect()
}

pub(crate) fn stream(algorithm: Algorithm) -> Stream<Box<Cipher>> {
    let length = if algorithm == Algorithm::AES_128_GCM { 16 } else { 32 };
    let cipher = Cipher::boxed(algorithm, &KEY[..length]).expect("a key");
    Stream::new(cipher, &prefix(algorithm)).expect("a prefix")
}

pub(crate) fn encryptor<W: io::Write>(
    algorithm: Algorithm,
    chunk: usize,
    inner: W,
) -> Encryptor<W, Box<Cipher>> {
    Encryptor::with_chunk_size(stream(algorithm), chunk, AAD, inner).expect("a size")
}

pub(crate) fn decryptor<R: io::Read>(
    algorithm: Algorithm,
    chunk: usize,
    inner: R,
) -> Decryptor<R, Box<Cipher>> {
    Decryptor::with_chunk_size(stream(algorithm), chunk, AAD, inner).expect("a size")
}

pub(crate) fn seal(algorithm: Algorithm, chunk: usize, data: &[u8]) -> Vec<u8> {
    let mut encryptor = encryptor(algorithm, chunk, Vec::new());
    encryptor.write_all(data).expect("memory takes everything");
    encryptor.finish().expect("memory takes everything")
}

/// What is given out, and the error that ended it.
pub(crate) fn open(algorithm: Algorithm, chunk: usize, sealed: &[u8]) -> (Vec<u8>, Option<Error>) {
    let mut out = Vec::new();
    let outcome = decryptor(algorithm, chunk, sealed).read_to_end(&mut out);
    (out, outcome.err().map(|error| of_stream(&error)))
}

/// The stream's error within that of a reader or writer.
pub(crate) fn of_stream(error: &io::Error) -> Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    *inner.unwrap_or_else(|| panic!("not of the stream: {error}"))
}
