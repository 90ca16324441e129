//! Measuring what requests cost, within milliseconds.

use core::time::Duration;
use std::time::Instant;

use arrayvec::ArrayVec;
use lanecrypt_ciphers::lanes::Lengths;
use lanecrypt_ciphers::{Algorithm, Isa};

use super::figures::{ALONE, DEPTHS, Figures, Lanes, SIZES};
use super::rows;
use crate::drivers::serve_as;
use crate::{Request, Session};

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
const STRIDE: usize = SIZES[SIZES.len() - 1] + 16 + 64;
/// The most messages of a batch.
const MOST: usize = DEPTHS[DEPTHS.len() - 1];

/// Measures; what there is no time for, or takes none, stays as it was `before`.
pub(super) fn figures(isa: Isa, before: &Figures, effort: &Effort) -> Figures {
    let end = Instant::now() + effort.limit;
    let mut figures = before.clone();
    // A clock of large steps may say that something takes no time.
    let took = |line: &[f32; SIZES.len()]| line.iter().all(|&figure| figure > 0.0);
    for (row, algorithm) in rows::measured() {
        if let Some(lanes) = lanes(isa, algorithm, end, effort)
            && lanes.alone.iter().all(took)
            && lanes.beside.iter().all(took)
        {
            figures.lanes[row] = lanes;
        }
    }
    for (figures, &algorithm) in figures.alone.iter_mut().zip(Algorithm::ALL) {
        if let Some(both) = alone(isa, algorithm, end, effort)
            && both.iter().all(took)
        {
            *figures = both;
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

    /// Nanoseconds of a message of so many bytes, in batches of as many messages as there are.
    fn time(
        &mut self,
        lengths: Lengths,
        bytes: usize,
        (count, backward): (usize, bool),
        effort: &Effort,
    ) -> f32 {
        let Self { sessions, data, nonce } = self;
        let batch = fastest(effort, || {
            let buffers = data.chunks_exact_mut(STRIDE);
            let mut requests = ArrayVec::<_, MOST>::new();
            requests.extend(sessions.iter().zip(buffers).take(count).map(|(session, buffer)| {
                let (data, rest) = buffer.split_at_mut(bytes);
                match (session.algorithm().is_aead(), backward) {
                    // What is opened would have to be sealed before each time; it costs as much.
                    (true, _) => Request::seal_detached(session, nonce, &[], data, &mut rest[..16]),
                    (false, false) => Request::encrypt(session, nonce, data),
                    (false, true) => Request::decrypt(session, nonce, data),
                }
            }));
            serve_as(lengths, &mut requests);
        });
        batch / count as f32
    }
}

/// One by one and side by side.
fn lanes(isa: Isa, algorithm: Algorithm, end: Instant, effort: &Effort) -> Option<Lanes> {
    let mut messages = Messages::new(isa, algorithm, MOST)?;
    let mut lanes = Lanes {
        alone: [[0.0; SIZES.len()]; ALONE.len()],
        beside: [[0.0; SIZES.len()]; DEPTHS.len()],
    };
    for (at, bytes) in SIZES.into_iter().enumerate() {
        for (alone, count) in lanes.alone.iter_mut().zip(ALONE) {
            if Instant::now() > end {
                return None;
            }
            alone[at] = messages.time(Lengths::NONE, bytes, (count, false), effort);
        }
        for (beside, count) in lanes.beside.iter_mut().zip(DEPTHS) {
            if Instant::now() > end {
                return None;
            }
            beside[at] = messages.time(Lengths::ALL, bytes, (count, false), effort);
        }
    }
    Some(lanes)
}

/// One by one, forward and backward.
fn alone(
    isa: Isa,
    algorithm: Algorithm,
    end: Instant,
    effort: &Effort,
) -> Option<[[f32; SIZES.len()]; 2]> {
    let mut messages = Messages::new(isa, algorithm, 8)?;
    let mut both = [[0.0; SIZES.len()]; 2];
    for (backward, figures) in [false, true].into_iter().zip(&mut both) {
        // The others lie on the lines between.
        for at in [0, 1, 3, 5] {
            if Instant::now() > end {
                return None;
            }
            figures[at] = messages.time(Lengths::NONE, SIZES[at], (8, backward), effort);
        }
        figures[2] = figures[1] + (figures[3] - figures[1]) / 3.0;
        figures[4] = figures[3] + (figures[5] - figures[3]) / 3.0;
    }
    Some(both)
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
    use core::fmt::Write;

    use lanecrypt_ciphers::Level;

    use super::super::{built_in, figures};
    use super::*;

    #[test]
    fn there_is_room_for_every_algorithm() {
        assert!(Algorithm::ALL.len() <= figures::ALGORITHMS);
        assert_eq!(cfg!(feature = "legacy"), Algorithm::ALL.len() == figures::ALGORITHMS);
    }

    /// Every kind and every algorithm that has sessions is measured, and takes some time.
    #[test]
    fn everything_is_measured() {
        let effort = Effort {
            sample: Duration::ZERO,
            samples: 1,
            enough: Duration::ZERO,
            limit: Duration::from_secs(1000),
        };
        let nothing = Figures {
            alone: [[[0.0; SIZES.len()]; 2]; figures::ALGORITHMS],
            lanes: built_in::at(Level::Portable).lanes.map(|_| NO_LANES),
        };
        let figures = figures(Isa::detect(), &nothing, &effort);
        for (row, algorithm) in rows::measured() {
            let Lanes { alone, beside } = figures.lanes[row];
            let all = beside.as_flattened().iter().chain(alone.as_flattened());
            assert!(all.copied().all(|figure| figure > 0.0), "{algorithm}");
        }
        for (both, &algorithm) in figures.alone.iter().zip(Algorithm::ALL) {
            // It has no sessions, for it has no nonces.
            let some = algorithm.to_string() != "arc4";
            let measured = both.as_flattened().iter().all(|&figure| figure > 0.0);
            assert_eq!(measured, some, "{algorithm}");
        }
    }

    /// What there is no time for stays.
    #[test]
    fn the_limit_is_kept() {
        let effort = Effort { limit: Duration::ZERO, ..Effort::QUICK };
        let before = built_in::at(Level::Avx512);
        let figures = figures(Isa::detect(), before, &effort);
        assert_eq!(figures.alone, before.alone);
    }

    const NO_LANES: Lanes = Lanes {
        alone: [[0.0; SIZES.len()]; ALONE.len()],
        beside: [[0.0; SIZES.len()]; DEPTHS.len()],
    };

    /// Writes `built_in/figures.rs` anew, from this processor:
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
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cost/built_in/figures.rs");
        std::fs::write(path, written(&effort)).expect("the file can be written");
    }

    fn written(effort: &Effort) -> String {
        let nothing = Figures {
            alone: [[[0.0; SIZES.len()]; 2]; figures::ALGORITHMS],
            lanes: built_in::at(Level::Portable).lanes.map(|_| NO_LANES),
        };
        let mut text = String::from(
            "//! The figures, nanoseconds. Written by the test `write_built_in` of `measure.rs`: not by hand.\n\n\
             use super::super::figures::{Figures, Lanes};\n",
        );
        for level in Level::ALL {
            let figures = figures(Isa::detect().at_most(level), &nothing, effort);
            let name = level.name().to_uppercase();
            let line = |line: &[f32]| {
                line.iter().map(|figure| format!("{figure:.1}")).collect::<Vec<_>>().join(", ")
            };
            write!(
                text,
                "\n#[rustfmt::skip]\npub(super) static {name}: Figures = Figures {{\n    alone: [\n"
            )
            .expect("it is a string");
            for (at, [forward, backward]) in figures.alone.iter().enumerate() {
                let algorithm = Algorithm::ALL[at];
                writeln!(
                    text,
                    "        // {algorithm}\n        [[{}], [{}]],",
                    line(forward),
                    line(backward)
                )
                .expect("it is a string");
            }
            text += "    ],\n    lanes: [\n";
            for (row, algorithm) in rows::measured() {
                let Lanes { alone, beside } = figures.lanes[row];
                writeln!(text, "        // {algorithm}\n        Lanes {{\n            alone: [[{}], [{}]],\n            beside: [", line(&alone[0]), line(&alone[1])).expect("it is a string");
                for beside in beside {
                    writeln!(text, "                [{}],", line(&beside)).expect("it is a string");
                }
                text += "            ],\n        },\n";
            }
            text += "    ],\n};\n";
        }
        text
    }
}
