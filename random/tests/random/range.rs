//! `range` gives each value the same probability.

use core::ops::Bound;

use lanecrypt_random::range;
use lanecrypt_testing::harness::{Case, times};

pub(crate) const CASES: &[Case] = &[
    Case("range::small_bounds_are_uniform", small_bounds_are_uniform),
    Case("range::large_bounds_are_uniform", large_bounds_are_uniform),
    Case("range::signed_types_are_uniform", signed_types_are_uniform),
    Case("range::edges", edges),
    Case("range::empty_ranges_panic", empty_ranges_panic),
    Case("range::defects_are_found", defects_are_found),
];

/// Standard deviations that the statistic may lie above its mean: one false alarm in 10^15 tests,
/// of which there are some hundreds.
const DEVIATIONS: f64 = 8.0;

fn samples() -> usize {
    times(100_000, 10_000_000)
}

/// Whether so many hits in each cell fit with these probabilities (Pearson's test, with Wilson and
/// Hilferty's approximation of the distribution).
fn fits(hits: &[u64], probability: impl Fn(usize) -> f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let float = |count: u64| count as f64;
    let total = float(hits.iter().sum());
    let statistic: f64 = hits
        .iter()
        .enumerate()
        .map(|(cell, &hits)| {
            let expected = total * probability(cell);
            (float(hits) - expected).powi(2) / expected
        })
        .sum();
    let freedom = float(hits.len() as u64 - 1);
    let spread = 2.0 / (9.0 * freedom);
    ((statistic / freedom).cbrt() - (1.0 - spread)) / spread.sqrt() < DEVIATIONS
}

/// Whether numbers from 0 to `values` - 1 are uniform: by their size, and by their remainders,
/// which show a generator that prefers every so manieth value.
fn is_uniform(values: u128, mut draw: impl FnMut() -> u128) -> bool {
    const CELLS: u128 = 200;
    let cells = CELLS.min(values);
    let mut by_size = vec![0; usize::try_from(cells).expect("few")];
    let divisors = [2, 3, 5, 7, 16];
    let mut by_remainder = divisors.map(|divisor| vec![0; divisor]);
    for _ in 0..samples() {
        let value = draw();
        assert!(value < values, "{value} of {values}");
        by_size[usize::try_from(value * cells / values).expect("few")] += 1;
        for (divisor, hits) in divisors.iter().zip(&mut by_remainder) {
            hits[usize::try_from(value % *divisor as u128).expect("few")] += 1;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "an error of one in 2^53 does not show")]
    let share = |count: u128| count as f64 / values as f64;
    // The cell `c` holds the values from ceil(c n / k) up to, not including, ceil((c + 1) n / k).
    let begin = |cell: usize| (cell as u128 * values).div_ceil(cells);
    let sizes = fits(&by_size, |cell| share(begin(cell + 1) - begin(cell)));
    let remainders = divisors.iter().zip(&by_remainder).all(|(&divisor, hits)| {
        let divisor = divisor as u128;
        // Remainders that do not occur make cells without a probability.
        divisor > values
            || fits(hits, |remainder| share((values - remainder as u128).div_ceil(divisor)))
    });
    sizes && remainders
}

fn small_bounds_are_uniform() {
    for values in [2_u32, 3, 5, 6, 7, 10, 16, 52, 100, 127, 200, 255, 256, 257, 1000, 65_537] {
        assert!(is_uniform(values.into(), || range(0..values).into()), "0..{values}");
    }
    for values in [3_u8, 10, 100, 255] {
        assert!(is_uniform(values.into(), || range(..values).into()), "..{values}");
    }
    for values in [3_u16, 1000, 65_535] {
        assert!(is_uniform(values.into(), || range(1..=values).wrapping_sub(1).into()));
    }
    assert!(is_uniform(256, || range::<u8>(..).into()));
    assert!(is_uniform(65_536, || range::<u16>(..).into()));
}

fn large_bounds_are_uniform() {
    // Just above a power of two, and where a plain remainder or product is off by half.
    for values in [(1 << 31) + 1, (1 << 31) + 12_345, 3 << 30, 5 << 29, 7 << 28, u32::MAX] {
        assert!(is_uniform(values.into(), || range(0..values).into()), "0..{values}");
    }
    assert!(is_uniform(1 << 32, || range::<u32>(..).into()));
    let bounds = [(1 << 32) + 1, 3 << 32, (1 << 63) + 1, (1 << 63) + 12_345, 3 << 62, 5 << 61];
    for values in bounds.into_iter().chain([7 << 60, u64::MAX]) {
        assert!(is_uniform(values.into(), || range(0..values).into()), "0..{values}");
    }
    assert!(is_uniform(1 << 64, || range::<u64>(..).into()));
    assert!(is_uniform(1 << 32, || range(0..=u64::from(u32::MAX)).into()));
}

fn signed_types_are_uniform() {
    let above = |low: i64, value: i64| u128::from(value.abs_diff(low));
    assert!(is_uniform(7, || above(-3, range(-3_i64..=3))));
    assert!(is_uniform(200, || above(-100, range(-100_i8..100).into())));
    assert!(is_uniform(256, || above(i8::MIN.into(), range::<i8>(..).into())));
    assert!(is_uniform(60_000, || above(-30_000, range(-30_000_i16..30_000).into())));
    assert!(is_uniform(3 << 30, || above(i32::MIN.into(), range(i32::MIN..1 << 30).into())));
    assert!(is_uniform(3 << 62, || above(i64::MIN, range(i64::MIN..1 << 62))));
    assert!(is_uniform(1 << 64, || above(i64::MIN, range::<i64>(..))));
}

fn edges() {
    assert_eq!(range(5..6), 5);
    assert_eq!(range(5..=5), 5);
    assert_eq!(range(u64::MAX..), u64::MAX);
    assert_eq!(range(..=i32::MIN), i32::MIN);
    assert_eq!(range::<u8>((Bound::Excluded(3), Bound::Included(4))), 4);
    assert_eq!(range::<i64>((Bound::Excluded(i64::MAX - 1), Bound::Unbounded)), i64::MAX);
    for _ in 0..1000 {
        assert!((-1..=1).contains(&range(-1_isize..=1)));
        assert!((usize::MAX - 1..).contains(&range(usize::MAX - 1..)));
        assert!(range(0..u64::MAX) < u64::MAX);
        assert!((1..=6).contains(&range(1..=6)));
    }
}

fn empty_ranges_panic() {
    std::panic::set_hook(Box::new(|_| ()));
    let panics = |draw: fn()| std::panic::catch_unwind(draw).is_err();
    assert!(panics(|| drop(range(5..5).to_string())));
    #[expect(clippy::reversed_empty_ranges, reason = "the point of the test")]
    let reversed = panics(|| drop(range(6..5).to_string()));
    assert!(reversed);
    assert!(panics(|| drop(range(..u8::MIN).to_string())));
    assert!(panics(|| drop(range((Bound::Excluded(i8::MAX), Bound::Unbounded)).to_string())));
    assert!(!panics(|| drop(range(5..6).to_string())));
}

/// The usual mistakes are found.
fn defects_are_found() {
    use lanecrypt_random::u32;
    let values: u32 = 3 << 30;
    assert!(!is_uniform(values.into(), || (u32() % values).into()), "a plain remainder");
    let product = || u128::from((u64::from(u32()) * u64::from(values)) >> 32);
    assert!(!is_uniform(values.into(), product), "a product without rejection");
    assert!(!is_uniform(100, || range(0_u32..99).into()), "the largest value is missing");
    assert!(!is_uniform(7, || (range(0_u32..256) % 7 % 6).into()), "one value for another");
}
