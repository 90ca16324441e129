//! Measures the cost of requests, within milliseconds.

use core::time::Duration;
use std::time::Instant;

use lanecrypt_ciphers::{Algorithm, Isa};

use crate::cost::built_in::{self, Maker};
use crate::cost::figures::{DEPTHS, Figures, Kind, SIZES};
use crate::cost::{Lanes, rows};
use crate::{Costs, Room, Session};

/// Measures the costs on this processor, with the kernels of `isa`.
pub(crate) fn costs(isa: Isa) -> Costs {
    let before = built_in::at(isa.level(), Maker::of_processor());
    Costs::calibrated(isa.level(), figures(isa, before, &Effort::QUICK))
}

/// How much time the measurement takes.
struct Effort {
    /// The least duration of a sample, so that the clock's resolution and the cost of reading it do
    /// not matter.
    sample: Duration,
    /// The number of samples. The fastest counts, because disturbances only make a sample longer.
    samples: u32,
    /// A figure that takes longer than this gets fewer samples.
    enough: Duration,
    /// When this time is over, the remaining figures keep their previous values.
    limit: Duration,
}

impl Effort {
    /// Takes some tens of milliseconds.
    const QUICK: Self = Self {
        sample: Duration::from_micros(2),
        samples: 3,
        enough: Duration::from_micros(40),
        limit: Duration::from_millis(40),
    };
}

/// The distance between the starts of two buffers, in bytes. It is not a power of two, so that the
/// buffers do not all map to the same cache sets.
const STRIDE: usize = SIZES[SIZES.len() - 1] as usize + 16 + 64;
/// The most messages of a batch.
const MOST: usize = DEPTHS[DEPTHS.len() - 1];

/// Measures the figures. A figure keeps its value of `before` if there is no time left for it, or
/// if the clock shows no time for it.
fn figures(isa: Isa, before: &Figures, effort: &Effort) -> Figures {
    let end = Instant::now() + effort.limit;
    let mut figures = before.clone();
    // A clock of low resolution may show that something takes no time.
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

/// Messages of one algorithm, each with its own key and buffer.
struct Messages {
    sessions: Vec<Session>,
    data: Vec<u8>,
    nonce: Vec<u8>,
}

impl Messages {
    /// `None` for an algorithm that has no sessions.
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

    /// Nanoseconds for a message of this many bytes, alone: each by a call of its session.
    fn alone(&mut self, bytes: usize, effort: &Effort) -> f32 {
        let Self { sessions, data, nonce } = self;
        let all = fastest(effort, || {
            for (session, buffer) in sessions.iter().zip(data.chunks_exact_mut(STRIDE)) {
                let (data, rest) = buffer.split_at_mut(bytes);
                // The lengths are right, so that there is no error.
                let _ = match session.algorithm().is_some_and(|algorithm| algorithm.is_aead()) {
                    true => {
                        let tag = &mut rest[..session.tag_length()];
                        session.seal_detached(nonce, &[], data, tag)
                    }
                    false => session.encrypt(nonce, data),
                };
            }
        });
        all / sessions.len() as f32
    }

    /// Nanoseconds for a message of this many bytes, in lanes, in batches of `count` that are
    /// filled.
    fn beside(&mut self, bytes: usize, count: usize, effort: &Effort) -> f32 {
        let Self { sessions, data, nonce } = self;
        let mut room = Room::new(Lanes::EVERYTHING, count);
        let all = fastest(effort, || {
            let mut batch = room.batch();
            let buffers = data.chunks_exact_mut(STRIDE);
            for (session, buffer) in sessions.iter().zip(buffers).take(count) {
                let (data, rest) = buffer.split_at_mut(bytes);
                // Opening would need a sealed message each time. It costs as much as sealing.
                match session.algorithm().is_some_and(|algorithm| algorithm.is_aead()) {
                    true => {
                        let tag = &mut rest[..session.tag_length()];
                        batch.seal_detached(session, nonce, &[], data, tag)
                    }
                    false => batch.encrypt(session, nonce, data),
                };
            }
            // The lengths are right, so that there is no error.
            let _ = batch.finish();
        });
        all / count as f32
    }
}

/// The figures alone and in lanes.
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

/// Nanoseconds of the fastest of several runs.
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
        // A single sample may have been interrupted.
        if samples >= effort.samples || samples > 1 && begin.elapsed() > effort.enough {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_ciphers::Level;

    use super::*;
    use crate::cost::rows::ROWS;

    const NOTHING: Figures = Figures(
        [Kind { alone: [0.0; SIZES.len()], beside: [[0.0; SIZES.len()]; DEPTHS.len()] }; ROWS],
    );

    /// Every kind is measured, and its figures are above 0.
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

    /// Figures for which there is no time keep their values.
    #[test]
    fn the_limit_is_kept() {
        let effort = Effort { limit: Duration::ZERO, ..Effort::QUICK };
        let before = built_in::at(Level::Avx512, Maker::Intel);
        let figures = figures(Isa::detect(), before, &effort);
        for (kind, before) in figures.0.iter().zip(&before.0) {
            assert_eq!((kind.alone, kind.beside), (before.alone, before.beside));
        }
    }

    /// Rewrites the built-in figures of this processor's maker:
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
            let costs = Costs::calibrated(level, figures);
            text += &format!("\n{costs}");
        }
        let path = format!("{}/src/cost/built_in/{maker}.rs", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, text).expect("the file can be written");
    }
}
