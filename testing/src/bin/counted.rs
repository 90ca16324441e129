//! Requests whose instructions a plugin of qemu counts (`testing/qemu/plugin.c`): `cargo xtask
//! arm64` starts this program at each level. A line for each request: level, request, how many, and
//! the instructions of all.

use std::io::{self, BufRead as _, BufReader};
use std::os::fd::AsRawFd as _;

use lanecrypt_ciphers::hazmat::RawCipher;
use lanecrypt_ciphers::{Algorithm, Cipher, Isa};
use lanecrypt_engine::Engine;
use lanecrypt_rsa::{Hash, Padding, PrivateKey, Workspace};

/// Messages of a batch.
const BATCH: usize = 8;

/// The longest message, with room for a tag.
const LONGEST: usize = 8192 + 16;

fn main() {
    let mut counter = Counter::new();
    let mut data = vec![0x5a; LONGEST];
    for (algorithm, lengths) in [
        (Algorithm::AES_128_GCM, &[64, 1500, 8192][..]),
        (Algorithm::AES_128_GCM_SIV, &[64, 1500]),
        (Algorithm::CHACHA20_POLY1305, &[64, 1500]),
    ] {
        let cipher = Cipher::new(algorithm, &key(algorithm)).expect("a good key");
        for &length in lengths {
            counter.count(&format!("{algorithm}/seal/{length}"), 1, || {
                let nonce = [7; 12];
                cipher.seal(&nonce, &[1; 13], &mut data[..length + 16]).expect("good lengths");
            });
        }
    }
    for (algorithm, length) in [(Algorithm::AES_128_CTR, 8192), (Algorithm::AES_128_XTS, 1504)] {
        let cipher = RawCipher::new(algorithm, &key(algorithm)).expect("a good key");
        counter.count(&format!("{algorithm}/encrypt/{length}"), 1, || {
            cipher.encrypt(&[7; 16], &mut data[..length]).expect("good lengths");
        });
    }
    batch(&mut counter);
    let mut bytes = [0; 32];
    counter.count("random/fill/32", 1, || lanecrypt_random::fill(&mut bytes));
    rsa(&mut counter);
}

fn key(algorithm: Algorithm) -> Vec<u8> {
    (1..).take(algorithm.key_lengths().longest()).collect()
}

/// Messages under a key each.
fn batch(counter: &mut Counter) {
    let algorithm = Algorithm::AES_128_CBC;
    // Measured lanes would differ from run to run.
    let engine = Engine::new().with_built_in_lanes();
    let sessions: Vec<_> = (0..BATCH)
        .map(|_| engine.raw_session(algorithm, &key(algorithm)).expect("a good key"))
        .collect();
    let mut data = vec![[0x5a; 1504]; BATCH];
    let mut buffer = engine.batch_buffer(BATCH);
    counter.count(&format!("{algorithm}/encrypt/1504/b{BATCH}"), BATCH, || {
        let mut batch = buffer.batch();
        for (session, data) in sessions.iter().zip(&mut data) {
            batch.encrypt(session, &[7; 16], data);
        }
        batch.finish().expect("good messages");
    });
}

fn rsa(counter: &mut Counter) {
    let key = include_str!("../../../rsa/tests/key.pem");
    let key = PrivateKey::from_pem(key).expect("a good key");
    let (public, padding) = (key.public_key(), Padding::pkcs1v15(Hash::SHA256));
    let mut workspace = Workspace::new();
    let mut signature = vec![0; key.signature_length()];
    let bits = 8 * signature.len();
    counter.count(&format!("rsa-{bits}/sign"), 1, || {
        key.sign(padding, b"message", &mut signature, &mut workspace).expect("a good key");
    });
    counter.count(&format!("rsa-{bits}/verify"), 1, || {
        public.verify(padding, b"message", &signature, &mut workspace).expect("its signature");
    });
}

/// What the plugin writes to, and what comes of it.
struct Counter {
    counts: BufReader<io::PipeReader>,
    mark: io::PipeWriter,
}

impl Counter {
    fn new() -> Self {
        let (reader, mark) = io::pipe().expect("there are descriptors left");
        Self { counts: BufReader::new(reader), mark }
    }

    /// Counts what `run` takes, less what the marks take.
    fn count(&mut self, name: &str, requests: usize, mut run: impl FnMut()) {
        // The first calls look things up.
        (0..4).for_each(|_| run());
        let between = |work: &mut dyn FnMut()| {
            self.mark();
            work();
            self.mark();
        };
        between(&mut || ());
        between(&mut run);
        let [_, marks, _, instructions] = [(); 4].map(|()| self.next());
        let level = Isa::detect().level();
        println!("{level:<9} {name:<32} {requests:>2} {:>9}", instructions - marks);
    }

    /// A system call that Linux does not have; the plugin writes what it has counted since the last
    /// one to the file.
    fn mark(&self) {
        // SAFETY: the kernel knows no call of this number; the plugin reads these numbers only.
        unsafe { libc::syscall(10_000, 2, self.mark.as_raw_fd()) };
    }

    fn next(&mut self) -> u64 {
        let mut line = String::new();
        self.counts.read_line(&mut line).expect("a pipe can be read");
        line.split(' ').next().and_then(|count| count.parse().ok()).expect("a count")
    }
}
