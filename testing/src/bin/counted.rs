//! Requests whose instructions a plugin of qemu counts (`testing/qemu/plugin.c`): `cargo xtask
//! arm64` starts this program at each level. A line for each request: level, request, how many, and
//! the instructions of all.

use std::io::{self, BufRead as _, BufReader};
use std::os::fd::AsRawFd as _;

use lanecrypt_ciphers::hazmat::RawCipher;
use lanecrypt_ciphers::{Algorithm, Cipher, Isa};
use lanecrypt_engine::Engine;
use lanecrypt_kernels::montgomery::{self, Modulus, Power, PublicPower, Workspace};

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
    powers(&mut counter);
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

/// What a signature of RSA-2048 and its verification consist of. Only the lengths matter.
fn powers(counter: &mut Counter) {
    let isa = Isa::detect();
    let limbs = |count: usize, first: u64| -> Vec<u64> {
        (0..count as u64).map(|at| (first + at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1).collect()
    };
    let modulus = |count| {
        let mut limbs = limbs(count, 1);
        limbs[0] |= 1;
        limbs[count - 1] |= 1 << 63;
        Modulus::new(isa, &limbs).expect("odd and long")
    };
    let mut workspace = Workspace::new();
    let (half, whole) = (modulus(16), modulus(32));
    let (base, exponent, mut outs) = (limbs(16, 2), limbs(16, 3), [[0; 16]; 2]);
    counter.count("montgomery/powers/1024/b2", 1, || {
        let mut jobs = outs.each_mut().map(|out| Power {
            modulus: &half,
            base: &base,
            exponent: &exponent,
            factor: None,
            out,
        });
        montgomery::powers(&mut jobs, &mut workspace);
    });
    let (base, mut out) = (limbs(32, 2), [0; 32]);
    counter.count("montgomery/public-power/2048", 1, || {
        let (modulus, exponent, factor) = (&whole, 65_537, None);
        let job = PublicPower { modulus, base: &base, exponent, factor, out: &mut out };
        montgomery::public_powers(&mut [job], &mut workspace);
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
