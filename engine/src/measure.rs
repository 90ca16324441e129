//! Measures at which lengths lanes are faster, within milliseconds.

use core::time::Duration;
use std::time::Instant;

use lanecrypt_ciphers::lanes::Lengths;
use lanecrypt_ciphers::{Algorithm, Isa};

use crate::lanes::{AtDepths, DEPTHS, LaneKind, Lanes};
use crate::{BatchBuffer, Session};

/// The lengths in bytes that are measured.
const SIZES: [u32; 6] = [16, 64, 128, 256, 512, 1024];

/// Lanes must cost at most this share of the time without lanes. Messages of mixed lengths gain
/// less than the measured ones, which all have one length. The gain is also smaller if another
/// thread runs on the same core and keeps the vector units busy.
const GAIN: f32 = 0.85;

/// The ranges that run in lanes on this processor, with the kernels of `isa`.
pub(crate) fn lanes(isa: Isa) -> Lanes {
    Lanes::calibrated(isa.level(), measured(isa, &Effort::QUICK))
}

/// The duration of a measurement.
struct Effort {
    /// The least duration of a sample, so that the clock's resolution and the cost of reading it do
    /// not matter.
    sample: Duration,
    /// The number of samples. The fastest counts, because disturbances only make a sample longer.
    samples: u32,
    /// A figure that takes longer than this gets fewer samples.
    enough: Duration,
    /// After this time, the remaining kinds are skipped.
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

/// The kinds that have lanes with the kernels of `isa`, and the lengths at which these are faster.
/// A kind is skipped if no time is left, or if the clock measures no time for it.
fn measured(isa: Isa, effort: &Effort) -> impl Iterator<Item = (LaneKind, AtDepths)> {
    let end = Instant::now() + effort.limit;
    let kinds = LaneKind::measured().filter(move |(kind, _)| isa.has(kind.lowest_level()));
    kinds.filter_map(move |(kind, algorithm)| {
        let lengths = Times::of(isa, algorithm, end, effort)?.lengths()?;
        Some((kind, lengths))
    })
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

    /// Nanoseconds for a message of this many bytes without lanes: each by a call of its session.
    fn alone(&mut self, bytes: usize, effort: &Effort) -> f32 {
        let Self { sessions, data, nonce } = self;
        let all = fastest(effort, || {
            for (session, buffer) in sessions.iter().zip(data.chunks_exact_mut(STRIDE)) {
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
        all / sessions.len() as f32
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

/// Nanoseconds of messages of one kind, for each of the [`SIZES`].
struct Times {
    /// Without lanes: one after the other, each by a call of its session.
    alone: [f32; SIZES.len()],
    /// In lanes, at each of the [`DEPTHS`], including the time to build the requests.
    beside: [[f32; SIZES.len()]; DEPTHS.len()],
}

impl Times {
    /// `None` if there is not enough time.
    fn of(isa: Isa, algorithm: Algorithm, end: Instant, effort: &Effort) -> Option<Self> {
        let mut messages = Messages::new(isa, algorithm, MOST)?;
        let none = [0.0; SIZES.len()];
        let mut times = Self { alone: none, beside: [none; DEPTHS.len()] };
        for (at, bytes) in SIZES.into_iter().map(|bytes| bytes as usize).enumerate() {
            if Instant::now() > end {
                return None;
            }
            times.alone[at] = messages.alone(bytes, effort);
            for (beside, count) in times.beside.iter_mut().zip(DEPTHS) {
                if Instant::now() > end {
                    return None;
                }
                beside[at] = messages.beside(bytes, count, effort);
            }
        }
        Some(times)
    }

    /// The shortest and the longest message for which lanes pay, at each depth. `None` if a time is
    /// zero, which a clock of low resolution may return.
    fn lengths(&self) -> Option<AtDepths> {
        let mut all = self.beside.as_flattened().iter().chain(&self.alone);
        all.all(|&time| time > 0.0).then(|| {
            self.beside.map(|beside| {
                let pays = |at: &usize| beside[*at] < GAIN * self.alone[*at];
                let Some(first) = (0..SIZES.len()).find(pays) else { return Lengths::NONE };
                let behind = (first..SIZES.len()).find(|at| !pays(at));
                // Between a length that pays and one that does not, messages run without lanes.
                Lengths {
                    shortest: if first == 0 { 1 } else { SIZES[first] },
                    longest: behind.map_or(u32::MAX, |behind| SIZES[behind - 1]),
                }
            })
        })
    }
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

    fn times(beside: [f32; SIZES.len()]) -> Times {
        let alone = [10.0, 40.0, 80.0, 160.0, 320.0, 640.0];
        Times { alone, beside: [beside; DEPTHS.len()] }
    }

    #[test]
    fn lengths_are_where_it_pays() {
        let first = |beside| times(beside).lengths().expect("it takes time")[0];
        assert_eq!(first([10.0, 40.0, 80.0, 160.0, 320.0, 640.0]), Lengths::NONE);
        assert_eq!(first([5.0, 20.0, 40.0, 80.0, 160.0, 320.0]), Lengths::ALL);
        // A chained mode: lanes pay from some length on.
        let long = first([12.0, 40.0, 50.0, 60.0, 70.0, 80.0]);
        assert_eq!(long, Lengths { shortest: 128, longest: u32::MAX });
        // A stream: lanes pay up to some length.
        let short = first([2.0, 10.0, 30.0, 100.0, 320.0, 650.0]);
        assert_eq!(short, Lengths { shortest: 1, longest: 256 });
        assert!(short.contains(256) && !short.contains(512) && !short.contains(0));
        // What pays again after a length that does not pay runs alone.
        let once = first([20.0, 10.0, 100.0, 10.0, 10.0, 10.0]);
        assert_eq!(once, Lengths { shortest: 64, longest: 64 });
    }

    #[test]
    fn times_of_nothing_decide_nothing() {
        assert_eq!(times([0.0; SIZES.len()]).lengths(), None);
        assert_eq!(times([0.0, 20.0, 40.0, 80.0, 160.0, 320.0]).lengths(), None);
        let alone = [0.0; SIZES.len()];
        assert_eq!(Times { alone, beside: [[5.0; SIZES.len()]; DEPTHS.len()] }.lengths(), None);
    }

    /// Each depth is decided by its own times.
    #[test]
    fn each_depth_has_its_own_lengths() {
        let mut times = times([12.0, 50.0, 90.0, 170.0, 330.0, 650.0]);
        times.beside[3] = [12.0, 20.0, 30.0, 40.0, 50.0, 60.0];
        for (at, lengths) in times.lengths().expect("it takes time").into_iter().enumerate() {
            assert_eq!(lengths != Lengths::NONE, at == 3);
        }
    }

    /// Every kind is measured that has lanes.
    #[test]
    fn everything_is_measured() {
        let effort = Effort {
            sample: Duration::ZERO,
            samples: 1,
            enough: Duration::ZERO,
            limit: Duration::from_secs(1000),
        };
        let isa = Isa::detect();
        let wanted = LaneKind::measured().filter(|(kind, _)| isa.has(kind.lowest_level()));
        let found = measured(isa, &effort).map(|(kind, _)| kind);
        assert!(found.eq(wanted.map(|(kind, _)| kind)));
    }

    #[test]
    fn the_limit_is_kept() {
        let effort = Effort { limit: Duration::ZERO, ..Effort::QUICK };
        assert_eq!(measured(Isa::detect(), &effort).count(), 0);
    }

    /// Prints the rows of `lanes/built_in.rs` for this processor, a line for each kind and level:
    ///
    /// ```text
    /// cargo test --release -p lanecrypt-engine --features legacy print_built_in -- \
    ///     --ignored --nocapture
    /// ```
    #[test]
    #[ignore = "it prints what was measured and tests nothing"]
    fn print_built_in() {
        let effort = Effort {
            sample: Duration::from_micros(20),
            samples: 61,
            enough: Duration::from_secs(1),
            limit: Duration::from_secs(1000),
        };
        for &level in Level::built() {
            for (kind, lengths) in measured(Isa::detect().at_most(level), &effort) {
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
