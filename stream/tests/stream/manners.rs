//! Readers and writers that take or give little, are interrupted, or are not ready.

use std::io::{self, ErrorKind, Read, Write};

use lanecrypt_ciphers::Algorithm;

use crate::support::{data, decryptor, encryptor, seal};

const CHUNK: usize = 100;

/// Says in turn: not ready, interrupted, and a few bytes.
struct Reluctant<T> {
    inner: T,
    calls: usize,
    most: usize,
    may_block: bool,
}

impl<T> Reluctant<T> {
    fn new(inner: T, most: usize, may_block: bool) -> Self {
        Self { inner, calls: 0, most, may_block }
    }

    fn turn(&mut self) -> io::Result<usize> {
        self.calls += 1;
        match self.calls % 4 {
            1 => Err(ErrorKind::Interrupted.into()),
            2 if self.may_block => Err(ErrorKind::WouldBlock.into()),
            turn => Ok(1 + (self.calls / 4 + turn) % self.most),
        }
    }
}

impl<R: Read> Read for Reluctant<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        assert!(!out.is_empty(), "an empty read would look like the end");
        let most = self.turn()?.min(out.len());
        self.inner.read(&mut out[..most])
    }
}

impl<W: Write> Write for Reluctant<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let most = self.turn()?.min(data.len());
        self.inner.write(&data[..most])
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.turn() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err(error),
            _ => self.inner.flush(),
        }
    }
}

/// Repeats a call until it is ready.
fn insist<T>(mut call: impl FnMut() -> io::Result<T>) -> T {
    for _ in 0..1_000_000 {
        match call() {
            Ok(value) => return value,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
    }
    panic!("it is never ready")
}

#[test]
fn a_writer_that_is_not_ready_loses_nothing() {
    let algorithm = Algorithm::AES_256_GCM;
    let data = data(1000 * CHUNK + 1);
    let sealed = seal(algorithm, CHUNK, &data);
    for (most, piece, may_block) in
        [(1, 1000, false), (1, 33, true), (7, 70_000, true), (100_000, 9_999, true)]
    {
        let writer = Reluctant::new(Vec::new(), most, may_block);
        let mut encryptor = encryptor(algorithm, CHUNK, writer);
        for part in data.chunks(piece) {
            let mut rest = part;
            while !rest.is_empty() {
                let taken = insist(|| encryptor.write(rest));
                assert!(taken > 0);
                rest = &rest[taken..];
            }
        }
        insist(|| encryptor.try_finish());
        assert!(encryptor.get_ref().inner == sealed, "{most} {piece}");
    }
}

#[test]
fn a_reader_that_is_not_ready_loses_nothing() {
    let algorithm = Algorithm::CHACHA20_POLY1305;
    let data = data(700 * CHUNK);
    let sealed = seal(algorithm, CHUNK, &data);
    for (most, piece, may_block) in
        [(1, 1000, false), (1, 33, true), (7, 70_000, true), (100_000, 9_999, true)]
    {
        let mut decryptor =
            decryptor(algorithm, CHUNK, Reluctant::new(&sealed[..], most, may_block));
        let (mut out, mut part) = (Vec::new(), vec![0; piece]);
        loop {
            let bytes = insist(|| decryptor.read(&mut part));
            if bytes == 0 {
                break;
            }
            out.extend_from_slice(&part[..bytes]);
        }
        assert!(out == data, "{most} {piece}");
    }
    // Interruptions are nobody's business.
    let mut out = Vec::new();
    let mut decryptor = decryptor(algorithm, CHUNK, Reluctant::new(&sealed[..], 9, false));
    decryptor.read_to_end(&mut out).expect("it comes to its end");
    assert!(out == data);
}

/// A chunk is given as soon as a byte of the next one is there, and not only with a whole buffer.
#[test]
fn a_chunk_does_not_wait_for_the_next_one() {
    let sealed = seal(Algorithm::AES_128_GCM, CHUNK, &data(3 * CHUNK));
    let arrived = &sealed[..CHUNK + 16 + 1];
    let mut decryptor = decryptor(Algorithm::AES_128_GCM, CHUNK, Slow(arrived, 0));
    let mut out = vec![0; 4 * CHUNK];
    assert_eq!(decryptor.read(&mut out).expect("it is there"), CHUNK);
    assert_eq!(decryptor.get_ref().1, 1, "another call might have to wait");
    let error = decryptor.read(&mut out).expect_err("no more is there");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

/// Is not ready at its end; counts its calls.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.0.is_empty() { Err(ErrorKind::WouldBlock.into()) } else { self.0.read(out) }
    }
}

/// Fails for good after some bytes, as a full disk does.
struct Full {
    room: usize,
}

impl Write for Full {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        let taken = self.room.min(data.len());
        self.room -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_error_of_the_writer_is_told_and_stays() {
    for room in [0, 1, 5000, 300_000] {
        let mut encryptor = encryptor(Algorithm::AES_256_GCM, CHUNK, Full { room });
        let error = encryptor.write_all(&data(1 << 20)).expect_err("it is full");
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert_eq!(encryptor.finish().err().map(|e| e.kind()), Some(ErrorKind::StorageFull));
    }
    let zero = encryptor(Algorithm::AES_256_GCM, CHUNK, &mut [][..]).finish();
    assert_eq!(zero.err().map(|e| e.kind()), Some(ErrorKind::WriteZero));
}
