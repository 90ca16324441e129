//! Every test vector at every level of the processor: in place and apart, whole and in pieces, at
//! many alignments.

mod common;
mod levels;
mod matrix;

use common::{Answer, Vector};
use lanecrypt_ciphers::hazmat::{Ecb, Stream};
use lanecrypt_ciphers::{Algorithm, InOutBuf, Isa};
use levels::levels;
use matrix::Matrix;

/// Bytes on each side of a buffer that no kernel may touch.
const FENCE: usize = 64;
/// What the fence is made of.
const POST: u8 = 0xa7;

#[test]
fn every_vector_at_every_level() {
    let mut lines = common::own();
    let own = lines.len();
    assert!(own > 1000, "vectors/ has only {own} lines");
    for algorithm in Algorithm::ALL {
        assert!(lines.iter().any(|line| line.algorithm == *algorithm), "{algorithm}: no vector");
    }
    assert_whole(&lines, &RFC_6229);
    match common::shared() {
        Some(shared) => {
            assert_whole(&shared, &RFC_6229);
            assert_whole(&shared, &ESTREAM);
            lines.extend(shared);
        }
        None => {
            let how = String::from("shared-vectors: set LANECRYPT_SHARED to their folder");
            matrix::say("SKIPPED", &[how]);
        }
    }
    let mut matrix = Matrix::default();
    for isa in levels() {
        for (i, line) in lines.iter().enumerate() {
            run(isa, line, i);
            matrix.tested(line.algorithm.primitive(), isa.level());
        }
    }
    let mut table = matrix.lines();
    for &algorithm in Algorithm::ALL {
        let count = |lines: &[Vector]| lines.iter().filter(|v| v.algorithm == algorithm).count();
        let (own, shared) = (count(&lines[..own]), count(&lines[own..]));
        table.push(format!(
            "{:<16}vectors a level:{own:>5} own,{shared:>6} shared",
            algorithm.to_string()
        ));
    }
    table.push(format!("vectors a level: {own} own, {} shared", lines.len() - own));
    matrix::say("MATRIX", &table);
}

/// Files that must have been run whole, and their test vectors. In RFC 6229: 18 offsets of two
/// keys for each of seven key sizes.
const RFC_6229: [(&str, &str, usize); 7] = [
    ("arc4", "rfc/rfc-6229-40.txt", 36),
    ("arc4", "rfc/rfc-6229-56.txt", 36),
    ("arc4", "rfc/rfc-6229-64.txt", 36),
    ("arc4", "rfc/rfc-6229-80.txt", 36),
    ("arc4", "rfc/rfc-6229-128.txt", 36),
    ("arc4", "rfc/rfc-6229-192.txt", 36),
    ("arc4", "rfc/rfc-6229-256.txt", 36),
];

/// Those of eSTREAM, a fifth of which are digests of 512 or of 131,072 bytes; and those of
/// Crypto++, with lengths of 1 to 98 bytes and counters that pass 2^32.
const ESTREAM: [(&str, &str, usize); 6] = [
    ("hc128", "estream/ecrypt_HC-128.txt", 480),
    ("hc128", "estream/cryptopp_hc128.txt", 80),
    ("salsa20/20", "estream/ecrypt_salsa20-full.txt", 960),
    ("salsa20/20", "estream/cryptopp_salsa.txt", 10),
    ("salsa20/12", "estream/cryptopp_salsa.txt", 2),
    ("salsa20/8", "estream/cryptopp_salsa.txt", 2),
];

/// Asserts that no line of these files is missing; of algorithms that are not built in, all are.
fn assert_whole(lines: &[Vector], files: &[(&str, &str, usize)]) {
    for &(name, source, count) in files {
        let Ok(algorithm) = name.parse::<Algorithm>() else { continue };
        let of_it = |line: &&Vector| line.algorithm == algorithm && line.source == source;
        assert_eq!(lines.iter().filter(of_it).count(), count, "{name} of {source}");
    }
}

fn run(isa: Isa, line: &Vector, seed: usize) {
    match &line.answer {
        Answer::Digest { len, digest } => run_digest(isa, line, *len, digest),
        Answer::Text { plain, cipher } if line.algorithm.is_stream() => {
            for (i, pieces) in splits(plain.len(), &line.chunks).iter().enumerate() {
                run_stream(isa, line, plain, cipher, pieces, seed + i);
            }
        }
        Answer::Text { plain, cipher } => run_ecb(isa, line, plain, cipher, seed),
    }
}

fn open(isa: Isa, line: &Vector) -> Stream {
    let mut stream = Stream::at_block(isa, line.algorithm, &line.key, &line.nonce, line.counter)
        .expect(&line.place);
    stream.seek(line.skip).expect(&line.place);
    stream
}

fn run_stream(isa: Isa, line: &Vector, plain: &[u8], cipher: &[u8], pieces: &[usize], seed: usize) {
    let place = format!("{} {} {} {pieces:?}", line.place, line.algorithm, isa.level());
    let (from, to) = (seed * 7 % 64, seed * 13 % 64);

    let mut data = Fenced::new(plain, to);
    let mut stream = open(isa, line);
    each(pieces, |range| stream.xor(&mut data.bytes()[range]).expect(&place));
    assert_eq!(data.checked(), cipher, "{place}: in place");

    let source = Fenced::new(plain, from);
    let mut data = Fenced::new(&vec![0x5a; plain.len()], to);
    let mut stream = open(isa, line);
    each(pieces, |range| {
        let (input, output) = (&source.slice()[range.clone()], &mut data.bytes()[range]);
        let buffers = InOutBuf::new(input, output).expect("equal lengths");
        stream.xor(buffers).expect(&place);
    });
    assert_eq!(data.checked(), cipher, "{place}: apart");

    let mut data = Fenced::new(&vec![0x5a; plain.len()], to);
    let mut stream = open(isa, line);
    each(pieces, |range| stream.keystream(&mut data.bytes()[range]).expect(&place));
    let xored: Vec<u8> = data.checked().iter().zip(plain).map(|(k, p)| k ^ p).collect();
    assert_eq!(xored, cipher, "{place}: keystream");
}

fn run_digest(isa: Isa, line: &Vector, len: usize, digest: &[u8]) {
    let mut data = vec![0x5a; len];
    open(isa, line).keystream(&mut data).expect(&line.place);
    let mut sum = [0; 64];
    for block in data.chunks_exact(sum.len()) {
        sum.iter_mut().zip(block).for_each(|(s, b)| *s ^= b);
    }
    assert_eq!(sum, digest, "{} {} {}", line.place, line.algorithm, isa.level());
}

fn run_ecb(isa: Isa, line: &Vector, plain: &[u8], cipher: &[u8], seed: usize) {
    let place = format!("{} {} {}", line.place, line.algorithm, isa.level());
    let ecb = Ecb::new(isa, line.algorithm, &line.key).expect(&place);
    let one_by_one = vec![16; plain.len() / 16];
    for pieces in [&[plain.len()], one_by_one.as_slice(), &line.chunks] {
        let mut data = Fenced::new(plain, seed % 64);
        if pieces.is_empty() {
            continue;
        }
        each(pieces, |range| ecb.encrypt(&mut data.bytes()[range]).expect(&place));
        assert_eq!(data.checked(), cipher, "{place}: in place {pieces:?}");
    }
    let source = Fenced::new(plain, seed * 7 % 64);
    let mut data = Fenced::new(&vec![0x5a; plain.len()], seed * 13 % 64);
    ecb.encrypt_to(source.slice(), data.bytes()).expect(&place);
    assert_eq!(data.checked(), cipher, "{place}: apart");
}

/// Ways to cut `len` bytes into successive calls.
fn splits(len: usize, given: &[usize]) -> Vec<Vec<usize>> {
    let every = |n: usize| {
        let mut pieces = vec![n; len / n];
        pieces.push(len % n);
        pieces
    };
    let mut splits: Vec<_> = [15, 16, 17, 63, 64, 65, 130].into_iter().map(every).collect();
    splits.push(vec![len]);
    splits.push(vec![0, len.min(1), 0, len - len.min(1), 0]);
    if len <= 600 {
        splits.push(every(1));
    }
    if !given.is_empty() {
        assert_eq!(given.iter().sum::<usize>(), len);
        splits.push(given.to_vec());
    }
    splits
}

/// Calls `f` with the range of each piece in turn.
fn each(pieces: &[usize], mut f: impl FnMut(core::ops::Range<usize>)) {
    let mut at = 0;
    for piece in pieces {
        f(at..at + piece);
        at += piece;
    }
}

/// Bytes at a chosen distance from a 64-byte boundary, between two fences.
struct Fenced {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Fenced {
    fn new(bytes: &[u8], offset: usize) -> Self {
        let mut memory = vec![POST; bytes.len() + 2 * FENCE + 128];
        let start = FENCE + memory[FENCE..].as_ptr().align_offset(64) + offset;
        memory[start..start + bytes.len()].copy_from_slice(bytes);
        Self { memory, start, len: bytes.len() }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }

    fn slice(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }

    /// The bytes, after a look at the fences.
    fn checked(&self) -> &[u8] {
        let after = self.start + self.len;
        let fences = self.memory[..self.start].iter().chain(&self.memory[after..]);
        assert!(fences.into_iter().all(|&byte| byte == POST), "written outside the buffer");
        self.slice()
    }
}
