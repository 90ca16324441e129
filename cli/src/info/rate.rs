//! The speed of an algorithm on this machine, by a few short measurements. That is enough to choose
//! an algorithm; `lanecrypt speed` measures precisely.

use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;

use lanecrypt_ciphers::hazmat::{self, Stream};
use lanecrypt_ciphers::{Algorithm, Cipher, Error, InOutBuf, Isa};
use lanecrypt_speed::{Estimate, clock};

/// The length of the measured message in bytes.
pub(crate) const MESSAGE: u16 = 16 << 10;

/// The number of samples of a fast message, and of a slow one.
const SAMPLES: usize = 25;
const LEAST_SAMPLES: usize = 7;

/// A direction that takes longer than this gets only the least number of samples.
const PATIENCE: Duration = Duration::from_millis(2);

/// Time-stamp-counter cycles per byte of a message of [`MESSAGE`] bytes, in place, with the key set
/// up before. Ciphers with authentication seal in place, but open into another buffer: opening the
/// same message twice in place would be a forgery.
#[derive(Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) encrypt: f64,
    pub(crate) decrypt: f64,
}

impl Rate {
    /// Measures at `isa`; none if the algorithm refuses the request.
    pub(crate) fn measure(isa: Isa, algorithm: Algorithm) -> Option<Self> {
        // XTS refuses a key of two equal halves.
        let key: Vec<u8> =
            (0x6b..=u8::MAX).cycle().take(algorithm.key_lengths().longest()).collect();
        let nonce = vec![0x31; algorithm.nonce_length()];
        let mut message = vec![0; usize::from(MESSAGE)];
        if algorithm.is_stream() {
            // Both directions are the same.
            let mut stream = Stream::new(isa, algorithm, &key, &nonce).ok()?;
            let both = cycles_per_byte(|| stream.xor(black_box(&mut message[..])))?;
            return Some(Self { encrypt: both, decrypt: both });
        }
        if algorithm.is_aead() {
            return Self::measure_packets(isa, algorithm, &key, &nonce);
        }
        let cipher = hazmat::RawCipher::with_isa(isa, algorithm, &key).ok()?;
        Some(Self {
            encrypt: cycles_per_byte(|| cipher.encrypt(&nonce, black_box(&mut message[..])))?,
            decrypt: cycles_per_byte(|| cipher.decrypt(&nonce, black_box(&mut message[..])))?,
        })
    }

    fn measure_packets(isa: Isa, algorithm: Algorithm, key: &[u8], nonce: &[u8]) -> Option<Self> {
        let cipher = Cipher::with_isa(isa, algorithm, key).ok()?;
        let mut message = vec![0; usize::from(MESSAGE)];
        let mut out = message.clone();
        let mut tag = vec![0; algorithm.tag_length()];
        let encrypt = cycles_per_byte(|| {
            cipher.seal_detached(nonce, &[], black_box(&mut message[..]), &mut tag)
        })?;
        let decrypt = cycles_per_byte(|| {
            let apart = InOutBuf::new(&message, &mut out).map_err(|_| Error::OutputLength)?;
            cipher.open_detached(nonce, &[], black_box(apart), &tag)
        })?;
        Some(Self { encrypt, decrypt })
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
