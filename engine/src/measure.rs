//! Measures at which lengths lanes are faster, within milliseconds.

use core::time::Duration;
use std::time::Instant;

use lanecrypt_ciphers::lanes::Lengths;
use lanecrypt_ciphers::{Algorithm, Isa};

use crate::lanes::measured::{self, Measured};
use crate::lanes::{AtDepths, DEPTHS, LaneKind, Lanes};
use crate::{BatchBuffer, Session};

/// The lengths in bytes that are measured.
const SIZES: [u32; 6] = [16, 64, 128, 256, 512, 1024];

/// Lanes must save at least this share of the time. Messages of mixed lengths gain less than the
/// measured ones, which all have one length. The gain is also smaller if another
/// thread runs on the same core and keeps the vector units busy.
const LEAST_GAIN: f32 = 0.06;

/// Counts a session with these kinds of messages. The second session of a kind measures it. Other
/// threads do not wait for that; they use the built-in lengths until it has ended.
#[inline]
pub(crate) fn count_session(isa: Isa, kinds: [u8; 2]) {
    let Some(table) = measured::at(isa.level()) else { return };
    let [forward, backward] = kinds;
    let backward = (backward != forward).then_some(backward);
    for number in [forward].into_iter().chain(backward) {
        let kind = table.get(usize::from(number));
        if kind.is_some_and(Measured::is_second_session) {
            measure(isa, |kind| kind as u8 == number);
        }
    }
}

/// Measures all kinds that have not been measured.
pub(crate) fn measure_all(isa: Isa) {
    let Some(table) = measured::at(isa.level()) else { return };
    measure(isa, |kind| table[kind as usize].begin());
}

/// Measures the kinds that this function selects.
#[cold]
#[inline(never)]
fn measure(isa: Isa, is_selected: impl Fn(LaneKind) -> bool) {
    let Some(table) = measured::at(isa.level()) else { return };
    let kinds = LaneKind::measured().filter(|(kind, _)| isa.has(kind.lowest_level()));
    for (kind, algorithm) in kinds.filter(|(kind, _)| is_selected(*kind)) {
        // Without a result the built-in lengths remain.
        if let Some(lengths) = lengths(isa, algorithm) {
            measured::set(&table[kind as usize], lengths);
        }
    }
}

/// The lengths at which lanes are faster with the kernels of `isa`. `None` if that takes too long,
/// or if the clock measures no time.
fn lengths(isa: Isa, algorithm: Algorithm) -> Option<AtDepths> {
    lengths_by(isa, algorithm, &Effort::QUICK)
}

fn lengths_by(isa: Isa, algorithm: Algorithm, effort: &Effort) -> Option<AtDepths> {
    Gains::of(Messages::new(isa, algorithm)?, effort).map(|gains| gains.lengths())
}

/// The duration of a measurement.
struct Effort {
    /// The least duration of a sample, so that the clock's resolution and the cost of reading it do
    /// not matter.
    sample: Duration,
    /// The number of samples. The fastest counts, because disturbances only make a sample longer.
    samples: u32,
    /// A figure that takes longer than this gets fewer samples, but at least two.
    enough: Duration,
    /// A batch that takes longer is not measured.
    longest: Duration,
    /// The measurement is given up after this time.
    limit: Duration,
}

impl Effort {
    /// Takes one to some milliseconds for a kind.
    const QUICK: Self = Self {
        sample: Duration::from_micros(2),
        samples: 5,
        enough: Duration::from_micros(60),
        longest: Duration::from_millis(1),
        limit: Duration::from_millis(25),
    };
}

/// The distance between the starts of two buffers, in bytes. It is not a power of two, so that the
/// buffers do not all map to the same cache sets.
const STRIDE: usize = SIZES[SIZES.len() - 1] as usize + 16 + 64;
/// The most messages of a batch.
const MOST: usize = DEPTHS[DEPTHS.len() - 1];
/// The messages that are measured without lanes.
const ALONE: usize = 16;

/// Messages of one algorithm, each with its own key and buffer.
struct Messages {
    sessions: Vec<Session>,
    data: Vec<u8>,
    nonce: Vec<u8>,
}

impl Messages {
    /// `None` for an algorithm that has no sessions.
    fn new(isa: Isa, algorithm: Algorithm) -> Option<Self> {
        let longest = algorithm.key_lengths().longest();
        let session = |at: usize| {
            let key: Vec<u8> = (0..longest).map(|byte| (at + 7 * byte).to_le_bytes()[0]).collect();
            match algorithm.is_aead() {
                true => Session::sealed(isa, algorithm, &key),
                false => Session::raw(isa, algorithm, &key),
            }
        };
        let sessions: Result<_, _> = (0..MOST).map(session).collect();
        let sessions = sessions.ok()?;
        let nonce = vec![5; algorithm.nonce_length()];
        Some(Self { sessions, data: vec![0; MOST * STRIDE], nonce })
    }

    /// Nanoseconds for a message of this many bytes without lanes: each by a call of its session.
    fn alone(&mut self, bytes: usize, effort: &Effort) -> f32 {
        let Self { sessions, data, nonce } = self;
        let all = fastest(effort, || {
            let buffers = data.chunks_exact_mut(STRIDE);
            for (session, buffer) in sessions.iter().zip(buffers).take(ALONE) {
                let (data, rest) = buffer.split_at_mut(bytes);
                // The lengths are valid, so there is no error.
                let _ = match session.algorithm().is_some_and(|algorithm| algorithm.is_aead()) {
                    true => {
                        let tag = &mut rest[..session.tag_length()];
                        session.seal_detached(nonce, &[], data, tag)
                    }
                    false => session.encrypt(nonce, data),
                };
            }
        });
        all / ALONE as f32
    }

    /// Nanoseconds for a message of this many bytes, in lanes, in batches of `count` that are
    /// filled.
    fn beside(&mut self, bytes: usize, count: usize, effort: &Effort) -> f32 {
        let Self { sessions, data, nonce } = self;
        let mut buffer = BatchBuffer::new(Lanes::EVERYTHING, count);
        let all = fastest(effort, || {
            let mut batch = buffer.batch();
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
            // The lengths are valid, so there is no error.
            let _ = batch.finish();
        });
        all / count as f32
    }
}

/// The share of the time that lanes save, including the time to build the requests: at each of the
/// [`DEPTHS`], for each of the [`SIZES`].
struct Gains([[f32; SIZES.len()]; DEPTHS.len()]);

impl Gains {
    /// `None` if there is not enough time, or if a time is zero, which a clock of low resolution
    /// may return.
    fn of(mut messages: Messages, effort: &Effort) -> Option<Self> {
        let end = Instant::now() + effort.limit;
        let mut gains = [[0.0; SIZES.len()]; DEPTHS.len()];
        for (at, bytes) in SIZES.into_iter().map(|bytes| bytes as usize).enumerate() {
            let alone = messages.alone(bytes, effort);
            for (gains, count) in gains.iter_mut().zip(DEPTHS) {
                if Instant::now() > end {
                    return None;
                }
                let whole = Duration::from_secs_f32(alone * count as f32 * 1e-9);
                gains[at] = match at.checked_sub(1) {
                    // Longer messages of the same kind gain as well, or do not.
                    Some(shorter) if whole > effort.longest => gains[shorter],
                    _ => gain(alone, messages.beside(bytes, count, effort))?,
                };
            }
        }
        Some(Self(gains))
    }

    /// The shortest and the longest message for which lanes pay, at each depth: of several ranges,
    /// that which gains most. Between a length that pays and one that does not, messages run
    /// without lanes.
    fn lengths(&self) -> AtDepths {
        self.0.map(|gains| {
            let (mut best, mut most, mut first, mut sum) = (Lengths::NONE, 0.0, 0, 0.0);
            for (at, gain) in gains.into_iter().enumerate() {
                if gain < LEAST_GAIN {
                    (first, sum) = (at + 1, 0.0);
                    continue;
                }
                sum += gain;
                if sum > most {
                    most = sum;
                    best = Lengths {
                        shortest: if first == 0 { 1 } else { SIZES[first] },
                        longest: SIZES.get(at + 1).map_or(u32::MAX, |_| SIZES[at]),
                    };
                }
            }
            best
        })
    }
}

/// The share of the time that lanes save; `None` if no time has been measured.
fn gain(alone: f32, beside: f32) -> Option<f32> {
    (alone > 0.0 && beside > 0.0).then_some(1.0 - beside / alone)
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

    #[test]
    fn lengths_are_where_it_pays() {
        let first = |gains| Gains([gains; DEPTHS.len()]).lengths()[0];
        let (no, yes) = (0.05, 0.2);
        assert_eq!(first([no; SIZES.len()]), Lengths::NONE);
        assert_eq!(first([yes; SIZES.len()]), Lengths::ALL);
        // A chained mode: lanes pay from some length on.
        let long = first([no, no, yes, yes, yes, yes]);
        assert_eq!(long, Lengths { shortest: 128, longest: u32::MAX });
        // A stream: lanes pay up to some length.
        let short = first([yes, yes, yes, yes, no, no]);
        assert_eq!(short, Lengths { shortest: 1, longest: 256 });
        assert!(short.contains(256) && !short.contains(512) && !short.contains(0));
        // Of two ranges, that which gains most.
        let long = first([no, yes, no, yes, yes, yes]);
        assert_eq!(long, Lengths { shortest: 256, longest: u32::MAX });
        let once = first([no, 0.7, no, yes, yes, yes]);
        assert_eq!(once, Lengths { shortest: 64, longest: 64 });
    }

    #[test]
    fn times_of_nothing_decide_nothing() {
        assert_eq!(gain(0.0, 5.0), None);
        assert_eq!(gain(5.0, 0.0), None);
        assert_eq!(gain(10.0, 5.0), Some(0.5));
    }

    /// Each depth is decided by its own times.
    #[test]
    fn each_depth_has_its_own_lengths() {
        let mut gains = [[0.0; SIZES.len()]; DEPTHS.len()];
        gains[3] = [0.5; SIZES.len()];
        for (at, lengths) in Gains(gains).lengths().into_iter().enumerate() {
            assert_eq!(lengths, if at == 3 { Lengths::ALL } else { Lengths::NONE });
        }
    }

    const NO_EFFORT: Effort = Effort {
        sample: Duration::ZERO,
        samples: 1,
        enough: Duration::ZERO,
        longest: Duration::from_secs(1),
        limit: Duration::from_secs(1000),
    };

    /// The kinds that have lanes on this processor.
    fn kinds(isa: Isa) -> impl Iterator<Item = (LaneKind, Algorithm)> {
        LaneKind::measured().filter(move |(kind, _)| isa.has(kind.lowest_level()))
    }

    /// Every kind can be measured that has lanes.
    #[test]
    fn everything_is_measured() {
        let isa = Isa::detect();
        for (kind, algorithm) in kinds(isa) {
            assert!(lengths_by(isa, algorithm, &NO_EFFORT).is_some(), "{kind:?}");
        }
    }

    #[test]
    fn the_limit_is_kept() {
        let isa = Isa::detect();
        for (_, algorithm) in kinds(isa) {
            let effort = Effort { limit: Duration::ZERO, ..NO_EFFORT };
            assert_eq!(lengths_by(isa, algorithm, &effort), None);
        }
    }

    /// Long batches are not measured: longer messages are decided like shorter ones.
    #[test]
    fn long_batches_are_decided_by_short_ones() {
        let isa = Isa::detect();
        for (kind, algorithm) in kinds(isa) {
            let effort = Effort { longest: Duration::ZERO, ..NO_EFFORT };
            for lengths in lengths_by(isa, algorithm, &effort).expect("there is time") {
                assert!(lengths == Lengths::ALL || lengths == Lengths::NONE, "{kind:?}");
            }
        }
    }

    /// Prints the ranges of this processor, a line for each kind and level, like the rows of
    /// `lanes/built_in.rs`:
    ///
    /// ```text
    /// cargo test --release -p lanecrypt-engine --features legacy print_ranges -- \
    ///     --ignored --nocapture
    /// ```
    #[test]
    #[ignore = "it prints what was measured and tests nothing"]
    fn print_ranges() {
        let effort = Effort {
            sample: Duration::from_micros(20),
            samples: 61,
            enough: Duration::from_secs(1),
            longest: Duration::from_secs(1),
            limit: Duration::from_secs(1000),
        };
        for &level in Level::built() {
            let isa = Isa::detect().at_most(level);
            for (kind, algorithm) in kinds(isa) {
                let lengths = lengths_by(isa, algorithm, &effort).expect("there is time");
                let lengths = lengths.map(|it| match (it.shortest, it.longest) {
                    _ if it == Lengths::NONE => "NO".to_owned(),
                    (1, u32::MAX) => "ALL".to_owned(),
                    (shortest, u32::MAX) => format!("from({shortest})"),
                    (1, longest) => format!("to({longest})"),
                    (shortest, longest) => format!("between({shortest}, {longest})"),
                });
                println!("    (&[{kind:?}], &[{level:?}], [{}]),", lengths.join(", "));
            }
        }
    }
}
