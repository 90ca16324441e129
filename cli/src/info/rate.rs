//! How fast an algorithm is here and now, by a few short measurements: good enough to choose by,
//! while `lanecrypt speed` measures with care.

use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;

use lanecrypt_ciphers::hazmat::{Cipher, Stream};
use lanecrypt_ciphers::{Algorithm, Error, Isa};
use lanecrypt_speed::{Estimate, clock};

/// Bytes of the message that is measured.
pub(crate) const MESSAGE: u16 = 16 << 10;

/// How often the message is measured if that is quickly done, and if it is not.
const SAMPLES: usize = 25;
const LEAST_SAMPLES: usize = 7;

/// How long one direction may take before the least samples must do.
const PATIENCE: Duration = Duration::from_millis(2);

/// Cycles of the time-stamp counter for a byte of a message of [`MESSAGE`] bytes, in place, the key
/// set up before.
#[derive(Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) encrypt: f64,
    pub(crate) decrypt: f64,
}

impl Rate {
    /// Measures at `isa`; none if the algorithm refuses what is asked of it here.
    pub(crate) fn measure(isa: Isa, algorithm: Algorithm) -> Option<Self> {
        let key = vec![0x6b; algorithm.key_lengths().longest()];
        let nonce = vec![0x31; algorithm.nonce_length()];
        let mut message = vec![0; usize::from(MESSAGE)];
        if algorithm.is_stream() {
            // Either direction is the same.
            let mut stream = Stream::new(isa, algorithm, &key, &nonce).ok()?;
            let both = cycles_per_byte(|| stream.xor(black_box(&mut message[..])))?;
            return Some(Self { encrypt: both, decrypt: both });
        }
        let cipher = Cipher::new(isa, algorithm, &key).ok()?;
        Some(Self {
            encrypt: cycles_per_byte(|| cipher.encrypt(&nonce, black_box(&mut message[..])))?,
            decrypt: cycles_per_byte(|| cipher.decrypt(&nonce, black_box(&mut message[..])))?,
        })
    }
}

/// The median of several runs, after one that warms up.
fn cycles_per_byte(mut run: impl FnMut() -> Result<(), Error>) -> Option<f64> {
    run().ok()?;
    let start = Instant::now();
    let mut samples = Vec::with_capacity(SAMPLES);
    while samples.len() < LEAST_SAMPLES || (samples.len() < SAMPLES && start.elapsed() < PATIENCE) {
        let before = clock::now();
        run().ok()?;
        let cycles = u32::try_from(clock::now() - before).unwrap_or(u32::MAX);
        samples.push(f64::from(cycles) / f64::from(MESSAGE));
    }
    Estimate::of(&samples).map(|estimate| estimate.median)
}
