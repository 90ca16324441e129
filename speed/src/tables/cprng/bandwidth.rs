//! Memory bandwidth by copying, as the STREAM benchmark counts it: bytes read and written.
//!
//! Arrays are twice the last cache, as far as memory allows. A copy is the C library's `memcpy`.

use core::ops::Range;
use std::fs;
use std::sync::Barrier;
use std::thread;

use crate::block::Block;
use crate::clock::{self, as_f64};
use crate::processors::{Pinned, shared_out};
use crate::results::Point;
use crate::scope::Scope;
use crate::statistics::Estimate;
use crate::tables::random;

/// Bounds of an array's size.
const SIZES: Range<u64> = 64 << 20..1 << 30;
/// The least and the most copies that are timed; STREAM makes ten.
const COPIES: Range<usize> = 3..10;

/// The message's figure, in 10^6 bytes a second.
const DOCUMENT: f64 = 7732.0;

/// The size of the arrays on this machine, and of the last cache if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Bytes of each of the two arrays.
    pub(crate) array: u64,
    /// Bytes of the last cache.
    pub(crate) cache: Option<u64>,
}

impl Sizes {
    /// Twice the cache, if both arrays fit in a quarter of the free memory.
    pub(crate) fn of_this_machine() -> Self {
        let cache = (0..8)
            .filter_map(|index| {
                let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
                kilobytes(fs::read_to_string(path).ok()?.trim().strip_suffix('K')?)
            })
            .max();
        let free = fs::read_to_string("/proc/meminfo").ok().and_then(|info| {
            let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
            kilobytes(line.trim().strip_suffix("kB")?.trim())
        });
        Self::from(cache, free)
    }

    fn from(cache: Option<u64>, free: Option<u64>) -> Self {
        let array = cache.unwrap_or(0).saturating_mul(2).clamp(SIZES.start, SIZES.end);
        let array = free.map_or(array, |free| array.min(free / 8)).max(1 << 20);
        Self { array, cache }
    }

    /// Whether the arrays are well beyond the cache.
    pub(crate) fn suffice(self) -> bool {
        self.cache.is_none_or(|cache| self.array >= 2 * cache)
    }
}

fn kilobytes(text: &str) -> Option<u64> {
    text.parse::<u64>().ok()?.checked_mul(1024)
}

/// The point for this number of threads, without figures.
pub(crate) fn point(threads: usize) -> Point {
    Point {
        id: format!("{}/machine/memcpy/memory/copy/t{threads}", random::NAME),
        table: random::NAME.into(),
        source: "machine".into(),
        api: "memcpy".into(),
        subject: "memory".into(),
        op: "copy".into(),
        threads: u32::try_from(threads).ok(),
        ..Point::default()
    }
}

/// The message's figure as a point.
pub(crate) fn document() -> Point {
    Point {
        id: format!("{}/document/stream/memory/copy", random::NAME),
        source: "document".into(),
        api: "stream".into(),
        threads: None,
        // Of requests of a megabyte.
        size: Some(1_000_000),
        per_second: Some(DOCUMENT),
        ns: Some(1e9 / DOCUMENT),
        ..point(1)
    }
}

/// A part of both arrays.
struct Part {
    from: Vec<u8>,
    to: Vec<u8>,
}

/// Copies arrays of `array` bytes by one thread and by all of `cpus`, until `over`, but at least
/// three times each.
pub(crate) fn measure(array: u64, cpus: &[usize], over: impl Fn() -> bool) -> Vec<Point> {
    let length = usize::try_from(array).unwrap_or(usize::MAX) / cpus.len().max(1);
    // Each thread is the first to touch its own parts.
    let parts = thread::scope(|scope| {
        let made = cpus.iter().map(|&cpu| {
            scope.spawn(move || {
                let _pinned = Pinned::to(cpu);
                Part { from: vec![0x5A; length], to: vec![1; length] }
            })
        });
        let made: Vec<_> = made.collect();
        made.into_iter().map(|thread| thread.join().ok()).collect::<Option<Vec<Part>>>()
    });
    let Some(mut parts) = parts else { return Vec::new() };
    let counts = if cpus.len() > 1 { vec![1, cpus.len()] } else { vec![1] };
    let points = counts.into_iter().filter_map(|threads| {
        let (mut samples, mut correct) = (Vec::new(), true);
        while samples.len() < COPIES.start || samples.len() < COPIES.end && !over() {
            parts.iter_mut().for_each(|part| part.to[length / 2] = 0);
            samples.push(as_f64(copy(&mut parts, &shared_out(cpus, threads))?));
            correct &= parts.iter().all(|part| part.to[length / 2] == 0x5A);
        }
        let mut point = point(threads).measured(Estimate::of(&samples)?);
        // A request is one thread's part.
        let all = 2 * length * cpus.len();
        point.size = Some((all / threads) as u64);
        point.verified = correct;
        Some(point)
    });
    points.collect()
}

/// Cycles from the common start to the last thread's end; each copies its share of the parts.
fn copy(parts: &mut [Part], cpus: &[usize]) -> Option<u64> {
    let share = parts.len().div_ceil(cpus.len());
    let (start, end) = (Barrier::new(cpus.len()), Barrier::new(cpus.len()));
    thread::scope(|scope| {
        let (start, end) = (&start, &end);
        let threads = parts.chunks_mut(share).zip(cpus).map(|(parts, &cpu)| {
            scope.spawn(move || {
                let _pinned = Pinned::to(cpu);
                start.wait();
                let begin = clock::now();
                for part in parts {
                    part.to.copy_from_slice(&part.from);
                }
                end.wait();
                clock::now() - begin
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().ok()).next().flatten()
    })
}

/// The rates of the copies; nothing without points.
pub(super) fn block(scope: &Scope<'_>, sizes: Sizes) -> Option<Block> {
    let copies = scope.only(|point| point.op == "copy" && point.source == "machine");
    let rates = copies.points.iter().filter_map(|p| {
        let by = match p.threads? {
            1 => "one thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        Some(format!("{:.0} MB/sec by {by}", p.megabytes_per_second()?))
    });
    let rates = rates.collect::<Vec<_>>().join(", ");
    let cache = match sizes.cache {
        Some(cache) if sizes.suffice() => format!("the last cache has {} MiB", cache >> 20),
        Some(cache) => format!("the last cache has {} MiB, too much for more", cache >> 20),
        None => "the last cache is unknown".to_owned(),
    };
    let array = sizes.array >> 20;
    let note = format!(
        "{rates} (arrays of {array} MiB; {cache}).\nThe message's machine: {DOCUMENT:.0} MB/sec.\n"
    );
    let title = "Memory bandwidth, copying: bytes read and written";
    Block::of_words(title, note).filter(|_| !rates.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    #[test]
    fn arrays_are_well_beyond_the_cache_if_memory_allows() {
        let mib = |n: u64| n << 20;
        let sizes = |cache, free| Sizes::from(Some(mib(cache)), Some(mib(free)));
        assert_eq!(sizes(2, 4096).array, mib(64));
        assert_eq!(sizes(480, 20_000).array, mib(960));
        assert_eq!(sizes(480, 1600).array, mib(200));
        assert!(sizes(480, 20_000).suffice() && !sizes(480, 1600).suffice());
        assert!(Sizes::from(None, None).suffice());
        assert!(Sizes::of_this_machine().array > 0);
    }

    #[test]
    fn copies_have_a_rate() {
        let _turn = crate::processors::turn();
        let cpus = crate::processors::allowed();
        let cpus = &cpus[..cpus.len().min(2)];
        let points = measure(8 << 20, cpus, || true);
        assert_eq!(points.len(), cpus.len());
        for point in &points {
            assert!(point.verified && point.megabytes_per_second() > Some(0.0), "{point:?}");
            let threads = u64::from(point.threads.expect("it has threads"));
            assert_eq!(point.size.expect("it has a size") * threads, 16 << 20);
        }
        let scope = Scope { machine: &Machine::default(), points: points.iter().collect() };
        let sizes = Sizes { array: 8 << 20, cache: Some(4 << 20) };
        let text = block(&scope, sizes).expect("there are copies").text();
        assert!(
            text.contains("MB/sec by one thread") && text.contains("arrays of 8 MiB"),
            "{text}"
        );
        assert_eq!(document().megabytes_per_second(), Some(DOCUMENT));
    }
}
