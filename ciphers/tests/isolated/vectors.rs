//! Every test vector at every level of the processor: both directions, in place and apart, whole
//! and, but for XTS, in pieces, at many alignments.

use std::thread;

use lanecrypt_ciphers::hazmat::{Decryptor, Encryptor, Padding, RawCipher, Stream};
use lanecrypt_ciphers::{Algorithm, Error, InOutBuf, Isa, Mode};
use lanecrypt_testing::levels;
use lanecrypt_testing::vectors::whole::{ESTREAM, OWN_BLOCKS, RFC_6229, SHARED_BLOCKS};
use lanecrypt_testing::vectors::whole::{assert_generated, assert_whole};
use lanecrypt_testing::vectors::{self, Answer, Vector};

use crate::fenced::{Fenced, each, splits};
use crate::matrix::{self, Matrix};

pub(crate) fn every_vector_at_every_level() {
    let mut lines = vectors::own();
    let own = lines.len();
    assert!(own > 1000, "vectors/ has only {own} lines");
    for algorithm in raw() {
        assert!(lines.iter().any(|line| line.algorithm == algorithm), "{algorithm}: no vector");
    }
    assert_whole(&lines, RFC_6229);
    assert_whole(&lines, OWN_BLOCKS);
    assert_generated(&lines, "generated/block");
    match vectors::shared() {
        Some(shared) => {
            assert_whole(&shared, RFC_6229);
            assert_whole(&shared, ESTREAM);
            assert_whole(&shared, SHARED_BLOCKS);
            assert_generated(&shared, "generated/block.jsonl");
            lines.extend(shared);
        }
        None => {
            let how = String::from("shared-vectors: set LANECRYPT_SHARED to their folder");
            matrix::say("SKIPPED", &[how]);
        }
    }
    thread::scope(|scope| {
        for isa in levels() {
            let lines = &lines;
            scope.spawn(move || lines.iter().enumerate().for_each(|(i, line)| run(isa, line, i)));
        }
    });
    let mut matrix = Matrix::new();
    let mut modes = Matrix::new();
    for (isa, line) in levels().flat_map(|isa| lines.iter().map(move |line| (isa, line))) {
        matrix.tested(line.algorithm.primitive(), isa.level());
        // The mode that has kernels of its own.
        if line.algorithm.mode() == Mode::Xts {
            modes.tested(line.algorithm, isa.level());
        }
    }
    let mut table = matrix.lines();
    table.extend(modes.lines().into_iter().skip(1));
    for algorithm in raw() {
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

/// What [`RawCipher`] and [`Stream`] do.
fn raw() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|row| !row.is_aead())
}

fn run(isa: Isa, line: &Vector, seed: usize) {
    match &line.answer {
        Answer::Digest { len, digest } => run_digest(isa, line, *len, digest),
        Answer::Text { plain, cipher } => {
            if line.algorithm.is_stream() {
                for (i, pieces) in splits(plain.len(), 1, &line.chunks).iter().enumerate() {
                    run_stream(isa, line, plain, cipher, pieces, seed + i);
                }
            }
            // Messages of a cipher begin at the first byte of the first block.
            if (line.skip, line.counter) == (0, 0) {
                run_messages(isa, line, plain, cipher, seed);
            }
        }
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
    let mut data = Fenced::room(plain.len(), to);
    let mut stream = open(isa, line);
    each(pieces, |range| {
        let (input, output) = (&source.slice()[range.clone()], &mut data.bytes()[range]);
        let buffers = InOutBuf::new(input, output).expect("equal lengths");
        stream.xor(buffers).expect(&place);
    });
    assert_eq!(data.checked(), cipher, "{place}: apart");

    let mut data = Fenced::room(plain.len(), to);
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

/// Both directions through a keyed cipher, in every form that it offers.
fn run_messages(isa: Isa, line: &Vector, plain: &[u8], cipher: &[u8], seed: usize) {
    let keyed = match RawCipher::with_isa(isa, line.algorithm, &line.key) {
        // Its keys serve for one stream only.
        Err(error) if error == Error::Unsupported && line.algorithm.to_string() == "arc4" => return,
        keyed => keyed.expect(&line.place),
    };
    for way in [Way::Encrypt, Way::Decrypt] {
        let (input, output) = match way {
            Way::Encrypt => (plain, cipher),
            Way::Decrypt => (cipher, plain),
        };
        let message = Message { keyed: &keyed, line, way, input, output };
        message.whole(seed);
        if line.algorithm.mode() == Mode::Xts {
            continue;
        }
        let unit = line.algorithm.granularity();
        for (i, pieces) in splits(input.len(), unit, &line.chunks).iter().enumerate() {
            message.applied(pieces, seed + i);
        }
        for (i, pieces) in splits(input.len(), 1, &line.chunks).iter().enumerate() {
            message.updated(pieces, seed + i);
        }
    }
    // Thousands of single blocks need not be run again where the kernel is that of a lower level.
    if line.algorithm.primitive().kernel_at(isa.level()) == isa.level() {
        run_iterated(isa, line, &keyed, plain);
    }
}

/// One block that is encrypted many times.
fn run_iterated(isa: Isa, line: &Vector, keyed: &RawCipher, plain: &[u8]) {
    for (times, expected) in &line.iterated {
        let mut block = plain.to_vec();
        (0..*times).for_each(|_| keyed.encrypt(&[], &mut block[..]).expect(&line.place));
        assert_eq!(block, *expected, "{} {}: {times} times", line.place, isa.level());
    }
    // And back again, as far as is quickly done.
    if let Some((times @ ..=100, end)) = line.iterated.first() {
        let mut block = end.clone();
        (0..*times).for_each(|_| keyed.decrypt(&[], &mut block[..]).expect(&line.place));
        assert_eq!(block, plain, "{} {}: {times} times back", line.place, isa.level());
    }
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Encrypt,
    Decrypt,
}

/// One direction of a vector.
struct Message<'a> {
    keyed: &'a RawCipher,
    line: &'a Vector,
    way: Way,
    input: &'a [u8],
    output: &'a [u8],
}

impl<'a> Message<'a> {
    /// In one call.
    fn whole(&self, seed: usize) {
        let call = |data: InOutBuf<'_, '_, u8>| match self.way {
            Way::Encrypt => self.keyed.encrypt(&self.line.nonce, data),
            Way::Decrypt => self.keyed.decrypt(&self.line.nonce, data),
        };
        let mut data = Fenced::new(self.input, seed * 13 % 64);
        call(data.bytes().into()).expect(&self.line.place);
        assert_eq!(data.checked(), self.output, "{}: in place", self.place(&[]));

        let source = Fenced::new(self.input, seed * 7 % 64);
        let mut data = Fenced::room(self.input.len(), seed * 13 % 64);
        call(InOutBuf::new(source.slice(), data.bytes()).expect("equal lengths"))
            .expect(&self.line.place);
        assert_eq!(data.checked(), self.output, "{}: apart", self.place(&[]));
    }

    /// In calls of whole blocks, which write as much as they read.
    fn applied(&self, pieces: &[usize], seed: usize) {
        let place = self.place(pieces);
        let mut data = Fenced::new(self.input, seed * 13 % 64);
        let mut running = self.start();
        each(pieces, |range| running.apply((&mut data.bytes()[range]).into()).expect(&place));
        assert_eq!(data.checked(), self.output, "{place}: applied in place");

        let source = Fenced::new(self.input, seed * 7 % 64);
        let mut data = Fenced::room(self.input.len(), seed * 13 % 64);
        let mut running = self.start();
        each(pieces, |range| {
            let (input, output) = (&source.slice()[range.clone()], &mut data.bytes()[range]);
            running.apply(InOutBuf::new(input, output).expect("equal lengths")).expect(&place);
        });
        assert_eq!(data.checked(), self.output, "{place}: applied apart");
    }

    /// In calls that may cut blocks apart.
    fn updated(&self, pieces: &[usize], seed: usize) {
        let place = self.place(pieces);
        let source = Fenced::new(self.input, seed * 7 % 64);
        let mut data = Fenced::room(self.input.len(), seed * 13 % 64);
        let mut running = self.start();
        let mut at = 0;
        each(pieces, |range| {
            let to = &mut data.bytes()[at..];
            at += running.update(&source.slice()[range], to).expect(&place);
        });
        at += running.finish(&mut data.bytes()[at..]).expect(&place);
        assert_eq!(at, self.output.len(), "{place}");
        assert_eq!(data.checked(), self.output, "{place}: updated");
    }

    fn start(&self) -> Running<'a> {
        let iv = &self.line.nonce;
        match self.way {
            Way::Encrypt => {
                Running::Encrypt(self.keyed.encryptor(iv, Padding::None).expect(&self.line.place))
            }
            Way::Decrypt => {
                Running::Decrypt(self.keyed.decryptor(iv, Padding::None).expect(&self.line.place))
            }
        }
    }

    fn place(&self, pieces: &[usize]) -> String {
        format!("{} {} {:?} {pieces:?}", self.line.place, self.line.algorithm, self.way)
    }
}

/// A message under way.
enum Running<'a> {
    Encrypt(Encryptor<'a>),
    Decrypt(Decryptor<'a>),
}

impl Running<'_> {
    fn apply(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        match self {
            Self::Encrypt(running) => running.apply(data),
            Self::Decrypt(running) => running.apply(data),
        }
    }

    fn update(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::Encrypt(running) => running.update(input, output),
            Self::Decrypt(running) => running.update(input, output),
        }
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::Encrypt(running) => running.finish(output),
            Self::Decrypt(running) => running.finish(output),
        }
    }
}
