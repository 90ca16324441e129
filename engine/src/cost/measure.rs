//! Measuring what requests cost, within milliseconds.

use core::time::Duration;
use std::time::Instant;

use lanecrypt_ciphers::{Algorithm, Isa};

use super::figures::{DEPTHS, Figures, Kind, SIZES};
use super::lanes::Lanes;
use super::rows;
use crate::Session;
use crate::batch::Room;

/// How much time is taken for it.
pub(super) struct Effort {
    /// A sample lasts at least as long, so that the clock's step and reading it do not show.
    sample: Duration,
    /// Samples of which the fastest counts: what disturbs a measurement makes it longer.
    samples: u32,
    /// What takes longer than this is not repeated so often.
    enough: Duration,
    /// What has not been measured by then keeps the figures that it has.
    limit: Duration,
}

impl Effort {
    /// Milliseconds.
    pub(super) const QUICK: Self = Self {
        sample: Duration::from_micros(2),
        samples: 3,
        enough: Duration::from_micros(40),
        limit: Duration::from_millis(40),
    };
}

/// Bytes from the beginning of a buffer to that of the next: one size of all, and some more, so that
/// they do not all fall on the same places of a cache.
const STRIDE: usize = SIZES[SIZES.len() - 1] as usize + 16 + 64;
/// The most messages of a batch.
const MOST: usize = DEPTHS[DEPTHS.len() - 1];

/// Measures; what there is no time for, or takes none, stays as it was `before`.
pub(super) fn figures(isa: Isa, before: &Figures, effort: &Effort) -> Figures {
    let end = Instant::now() + effort.limit;
    let mut figures = before.clone();
    // A clock of large steps may say that something takes no time.
    let took = |line: &[f32; SIZES.len()]| line.iter().all(|&figure| figure > 0.0);
    for (row, algorithm) in rows::measured() {
        if let Some(kind) = kind(isa, algorithm, end, effort)
            && took(&kind.alone)
            && kind.beside.iter().all(took)
        {
            figures.0[row] = kind;
        }
    }
    figures
}

/// Messages of one algorithm, each with a key and a buffer of its own.
struct Messages {
    sessions: Vec<Session>,
    data: Vec<u8>,
    nonce: Vec<u8>,
}

impl Messages {
    /// `None` for what has no sessions.
    fn new(isa: Isa, algorithm: Algorithm, count: usize) -> Option<Self> {
        let longest = algorithm.key_lengths().longest();
        let session = |at: usize| {
            let key: Vec<u8> = (0..longest).map(|byte| (at + 7 * byte).to_le_bytes()[0]).collect();
            match algorithm.is_aead() {
                true => Session::sealed(isa, algorithm, &key),
                false => Session::raw(isa, algorithm, &key),
            }
        };
        let sessions: Result<_, _> = (0..count).map(session).collect();
        let sessions = sessions.ok()?;
        let nonce = vec![5; algorithm.nonce_length()];
        Some(Self { sessions, data: vec![0; count * STRIDE], nonce })
    }

    /// Nanoseconds of a message of so many bytes, each by a call of its session.
    fn alone(&mut self, bytes: usize, effort: &Effort) -> f32 {
        let Self { sessions, data, nonce } = self;
        let all = fastest(effort, || {
            for (session, buffer) in sessions.iter().zip(data.chunks_exact_mut(STRIDE)) {
                let (data, rest) = buffer.split_at_mut(bytes);
                // Lengths are right, so that there is no error to look at.
                let _ = match session.algorithm().is_aead() {
                    true => session.seal_detached(nonce, &[], data, &mut rest[..16]),
                    false => session.encrypt(nonce, data),
                };
            }
        });
        all / sessions.len() as f32
    }

    /// The same side by side, in batches of so many, as they are filled.
    fn beside(&mut self, bytes: usize, count: usize, effort: &Effort) -> f32 {
        let Self { sessions, data, nonce } = self;
        let mut room = Room::new(Lanes::EVERYTHING, count);
        let all = fastest(effort, || {
            let mut batch = room.batch();
            let buffers = data.chunks_exact_mut(STRIDE);
            for (session, buffer) in sessions.iter().zip(buffers).take(count) {
                let (data, rest) = buffer.split_at_mut(bytes);
                // What is opened would have to be sealed before each time; it costs as much.
                match session.algorithm().is_aead() {
                    true => batch.seal_detached(session, nonce, &[], data, &mut rest[..16]),
                    false => batch.encrypt(session, nonce, data),
                };
            }
            // Lengths are right, so that there is no error to look at.
            let _ = batch.finish();
        });
        all / count as f32
    }
}

/// One after the other and side by side.
fn kind(isa: Isa, algorithm: Algorithm, end: Instant, effort: &Effort) -> Option<Kind> {
    let mut messages = Messages::new(isa, algorithm, MOST)?;
    let mut kind = Kind { alone: [0.0; SIZES.len()], beside: [[0.0; SIZES.len()]; DEPTHS.len()] };
    for (at, bytes) in SIZES.into_iter().map(|bytes| bytes as usize).enumerate() {
        if Instant::now() > end {
            return None;
        }
        kind.alone[at] = messages.alone(bytes, effort);
        for (beside, count) in kind.beside.iter_mut().zip(DEPTHS) {
            if Instant::now() > end {
                return None;
            }
            beside[at] = messages.beside(bytes, count, effort);
        }
    }
    Some(kind)
}

/// Nanoseconds of the fastest of some runs.
fn fastest(effort: &Effort, mut run: impl FnMut()) -> f32 {
    let begin = Instant::now();
    let mut times = 1_u16;
    let (mut best, mut samples) = (f32::INFINITY, 0);
    loop {
        let start = Instant::now();
        for _ in 0..times {
            run();
        }
        let taken = start.elapsed();
        if taken < effort.sample && times < 1 << 12 {
            times *= 2;
            continue;
        }
        best = best.min(taken.as_secs_f32() * 1e9 / f32::from(times));
        samples += 1;
        // One alone may have been interrupted.
        if samples >= effort.samples || samples > 1 && begin.elapsed() > effort.enough {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use lanecrypt_ciphers::Level;

    use super::super::built_in::{self, Maker};
    use super::super::rows::ROWS;
    use super::super::{CostSource, Costs};
    use super::*;

    const NOTHING: Figures = Figures(
        [Kind { alone: [0.0; SIZES.len()], beside: [[0.0; SIZES.len()]; DEPTHS.len()] }; ROWS],
    );

    /// Every kind is measured, and takes some time.
    #[test]
    fn everything_is_measured() {
        let effort = Effort {
            sample: Duration::ZERO,
            samples: 1,
            enough: Duration::ZERO,
            limit: Duration::from_secs(1000),
        };
        let figures = figures(Isa::detect(), &NOTHING, &effort);
        for (row, algorithm) in rows::measured() {
            let Kind { alone, beside } = figures.0[row];
            let mut all = beside.as_flattened().iter().chain(&alone);
            assert!(all.all(|&figure| figure > 0.0), "{algorithm}");
        }
    }

    /// What there is no time for stays.
    #[test]
    fn the_limit_is_kept() {
        let effort = Effort { limit: Duration::ZERO, ..Effort::QUICK };
        let before = built_in::at(Level::Avx512, Maker::Intel);
        let figures = figures(Isa::detect(), before, &effort);
        for (kind, before) in figures.0.iter().zip(&before.0) {
            assert_eq!((kind.alone, kind.beside), (before.alone, before.beside));
        }
    }

    /// Writes the built-in figures of this processor's maker anew:
    ///
    /// ```text
    /// cargo test --release -p lanecrypt-engine --features legacy write_built_in -- --ignored
    /// ```
    #[test]
    #[ignore = "it writes a source file and tests nothing"]
    fn write_built_in() {
        let effort = Effort {
            sample: Duration::from_micros(20),
            samples: 61,
            enough: Duration::from_secs(1),
            limit: Duration::from_secs(1000),
        };
        let (maker, processor) = match Maker::of_processor() {
            Maker::Amd => ("amd", "AMD EPYC (Zen 4), about 3.7 GHz"),
            Maker::Intel => {
                ("intel", "Intel Xeon with AVX-512 and VAES (Ice Lake and later), about 3.6 GHz")
            }
        };
        let mut text = format!(
            "//! {processor}. Written by the test\n\
             //! `write_built_in` of `measure.rs`: not by hand.\n\n\
             use super::super::figures::{{Figures, Kind}};\n"
        );
        for level in Level::ALL {
            let figures = figures(Isa::detect().at_most(level), &NOTHING, &effort);
            let costs = Costs::new(level, Cow::Owned(figures), CostSource::Calibrated);
            text += &format!("\n{costs}");
        }
        let path = format!("{}/src/cost/built_in/{maker}.rs", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, text).expect("the file can be written");
    }
}
