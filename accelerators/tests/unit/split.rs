//! Messages are split in proportion to costs.

use super::*;

fn here(fixed: f64, each: f64) -> Candidate {
    Candidate { is_asynchronous: false, start: 0.0, line: Line { fixed, each } }
}

fn card(fixed: f64, each: f64) -> Candidate {
    Candidate { is_asynchronous: true, ..here(fixed, each) }
}

#[test]
fn on_one_thread_the_cheapest_serves_all() {
    assert_eq!(*split(100, &[here(0.0, 3.0), here(50.0, 1.0)]), [0, 100]);
    assert_eq!(*split(10, &[here(0.0, 3.0), here(50.0, 1.0)]), [10, 0]);
    assert_eq!(*split(7, &[here(0.0, 1.0)]), [7]);
    assert_eq!(*split(0, &[here(0.0, 1.0)]), [0]);
    assert!(split(7, &[]).is_empty());
}

#[test]
fn shares_are_in_proportion_to_speed() {
    assert_eq!(*split(100, &[here(0.0, 1.0), card(0.0, 3.0)]), [75, 25]);
    assert_eq!(*split(90, &[card(0.0, 1.0), here(0.0, 1.0), card(0.0, 1.0)]), [30, 30, 30]);
    // Of two on the calling thread, the faster one.
    assert_eq!(*split(100, &[here(0.0, 2.0), here(0.0, 1.0), card(0.0, 1.0)]), [0, 50, 50]);
}

#[test]
fn a_slow_start_takes_less_or_nothing() {
    assert_eq!(*split(100, &[here(0.0, 1.0), card(50.0, 1.0)]), [75, 25]);
    assert_eq!(*split(100, &[here(0.0, 1.0), card(200.0, 0.1)]), [100, 0]);
    // Busy with the work of others.
    let busy = Candidate { start: 50.0, ..card(0.0, 1.0) };
    assert_eq!(*split(100, &[here(0.0, 1.0), busy]), [75, 25]);
    // A gain of little is none.
    assert_eq!(*split(100, &[here(0.0, 1.0), card(97.0, 1.0)]), [100, 0]);
}

#[test]
fn no_message_is_lost_or_invented() {
    let mut seed = 1_u32;
    let mut number = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    for _ in 0..10_000 {
        let candidates: Vec<Candidate> = (0..1 + number(16))
            .map(|_| Candidate {
                is_asynchronous: number(2) == 0,
                start: f64::from(number(2) * number(10_000)),
                line: Line {
                    fixed: f64::from(number(2) * number(10_000)),
                    each: f64::from(1 + number(1000)) / 100.0,
                },
            })
            .collect();
        let messages = number(300) as usize;
        let shares = split(messages, &candidates);
        assert_eq!(shares.iter().sum::<usize>(), messages, "{candidates:?}");
        let on_thread =
            shares.iter().zip(&candidates).filter(|(n, c)| **n > 0 && !c.is_asynchronous);
        assert!(on_thread.count() <= 1);
    }
}

#[test]
fn a_line_goes_through_both_times() {
    let line = Line::through(40.0, 512.0, 60);
    assert!((line.time(1) - 40.0).abs() < 1e-9 && (line.time(60) - 512.0).abs() < 1e-9);
    assert_eq!(Line::through(7.0, 7.0, 1), Line { fixed: 0.0, each: 7.0 });
    // More messages may cost no more.
    assert!(Line::through(7.0, 7.0, 10).time(10) >= 7.0);
}
