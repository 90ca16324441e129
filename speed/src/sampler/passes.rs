//! The passes over all rows: their order, and the number of batches of a visit.
//!
//! A run is several short passes over all rows. What lasts longer than a batch, such as another
//! guest of the host or a change of the clock, then falls on one pass of many rows, not on all
//! batches of one; and the passes' spread tells how much it does.

use core::time::Duration;

/// The number of passes that every row gets, if there is time: the least and the greatest of six
/// figures enclose their median in 95 % of all cases.
pub(crate) const PASSES: usize = 6;
/// The number after which more would not improve a figure.
pub(super) const PLENTY: usize = 21;
/// The most batches of a visit.
const MOST: usize = 11;
/// The share of the time left that the first passes take; the rest is for rows that are noisy.
const FIRST: f64 = 0.85;

/// The order of a pass, of the rows in the order of the run: `random` gives scattered numbers.
///
/// The rows are dealt into as many groups as there are passes, and every pass begins with another
/// group: no row is always early, or always late. Within a group they are shuffled for each pass,
/// so that a row has other neighbours each time.
pub(super) fn order(dealt: &[usize], pass: usize, mut random: impl FnMut() -> u64) -> Vec<usize> {
    let groups: Vec<&[usize]> = dealt.chunks(dealt.len().div_ceil(PASSES).max(1)).collect();
    let mut order = Vec::with_capacity(dealt.len());
    for place in 0..groups.len() {
        let from = order.len();
        order.extend_from_slice(groups[(place + pass) % groups.len()]);
        shuffle(&mut order[from..], &mut random);
    }
    order
}

/// Brings rows into any order.
pub(super) fn shuffle(rows: &mut [usize], mut random: impl FnMut() -> u64) {
    for i in (1..rows.len()).rev() {
        let j = random() % (i as u64 + 1);
        rows.swap(i, usize::try_from(j).unwrap_or(i));
    }
}

/// The batches of a visit, so that the `due` passes fit into the time left. In a pass the rows with
/// long batches take `long` seconds, and the others `short` seconds for each of their batches.
/// Without a limit of time, there is time for a median.
pub(super) fn batches(left: Option<Duration>, due: usize, [long, short]: [f64; 2]) -> usize {
    let Some(left) = left else { return MOST };
    let pass = left.as_secs_f64() * FIRST / crate::clock::as_f64(due.max(1) as u64);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates: a time that is too short becomes zero"
    )]
    let batches = ((pass - long) / short.max(1e-9)) as usize;
    // Of two batches the median is no better protected against one that was disturbed than of one.
    let odd = if batches.is_multiple_of(2) { batches.saturating_sub(1) } else { batches };
    odd.clamp(1, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scattered() -> impl FnMut() -> u64 {
        let mut state = 3_u64;
        move || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            state >> 33
        }
    }

    #[test]
    fn every_row_is_once_in_every_part_of_the_order() {
        let rows: Vec<usize> = (0..60).collect();
        let mut random = scattered();
        let mut places = vec![vec![0; PASSES]; rows.len()];
        for pass in 0..PASSES {
            let order = order(&rows, pass, &mut random);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, rows);
            for (place, &row) in order.iter().enumerate() {
                places[row][place * PASSES / rows.len()] += 1;
            }
        }
        assert!(places.iter().all(|parts| parts.iter().all(|&times| times == 1)), "{places:?}");
    }

    #[test]
    fn neighbours_change() {
        let rows: Vec<usize> = (0..60).collect();
        let mut random = scattered();
        let [first, second] = [0, 1].map(|pass| order(&rows, pass, &mut random));
        let pairs = |order: &[usize]| -> Vec<[usize; 2]> {
            order.windows(2).map(|pair| [pair[0], pair[1]]).collect()
        };
        let known = pairs(&first);
        let same = pairs(&second).iter().filter(|pair| known.contains(pair)).count();
        assert!(same < 20, "{same}");
    }

    #[test]
    fn few_rows_have_an_order_too() {
        for n in 0..8 {
            let rows: Vec<usize> = (0..n).collect();
            for pass in 0..20 {
                let mut order = order(&rows, pass, scattered());
                order.sort_unstable();
                assert_eq!(order, rows);
            }
        }
    }

    #[test]
    fn batches_fit_the_time() {
        let ms = Duration::from_millis;
        for (left, due, times, expected) in [
            (Some(ms(10_000)), 5, [0.0, 0.5], 3),
            (Some(ms(100_000)), 5, [0.0, 0.5], MOST),
            (Some(ms(10_000)), 5, [1.1, 0.5], 1),
            (Some(ms(10_000)), 5, [9.0, 0.5], 1),
            (Some(ms(0)), 5, [0.0, 0.5], 1),
            (Some(ms(10_000)), 0, [0.0, 0.0], MOST),
            (None, 5, [0.0, 0.5], MOST),
        ] {
            assert_eq!(batches(left, due, times), expected, "{left:?} {due} {times:?}");
        }
    }
}
