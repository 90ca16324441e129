//! Whole runs in miniature, and rows that lie.

use core::sync::atomic::AtomicBool;
use core::time::Duration;
use std::collections::HashSet;
use std::time::Instant;

use lanecrypt_peers::{Draw, Failed, PeerLibraries, generator, generators};

use crate::candidate::{Candidate, Op};
use crate::depth::Depth;
use crate::glob::Glob;
use crate::machine::Machine;
use crate::options::{Options, Peers};
use crate::own_generators;
use crate::peer_set::PeerSet;
use crate::processors::{self, turn};
use crate::progress::Progress;
use crate::reference::References;
use crate::results::{Point, Results, fastest};
use crate::row::{Row, Test};
use crate::run::{Report, run};
use crate::sampler::{self, Limits, Sampled};
use crate::scope::Scope;
use crate::tables::urandom::wide;
use crate::tables::{cprng, random, urandom};

static GO_ON: AtomicBool = AtomicBool::new(false);

pub(crate) fn short_run(options: Options) -> (Report, String) {
    let _turn = turn();
    let mut text = String::new();
    let report = run(&options, &GO_ON, &mut |part| text += part).expect("the options are good");
    (report, text)
}

/// A run that measures every row: if others keep the processors busy, with more time than the
/// options give it.
pub(crate) fn whole_run(mut options: Options) -> (Report, String) {
    loop {
        let (report, text) = short_run(options.clone());
        if !text.contains(sampler::TOO_SHORT) {
            return (report, text);
        }
        let budget = options.budget.expect("only a budget ends");
        assert!(budget < Duration::from_secs(600), "the processors are too busy");
        options.budget = Some(2 * budget);
    }
}

/// Whether there are rows at lower levels than that of this process.
pub(crate) fn has_lower_levels() -> bool {
    lanecrypt_kernels::Isa::detect() != lanecrypt_kernels::Isa::PORTABLE
}

/// Measures until every row is done.
pub(crate) fn sample(rows: &[Row]) -> Sampled {
    let _turn = turn();
    measure(rows, None)
}

/// Measures for at most this time.
fn sample_for(rows: &[Row], time: Duration) -> Sampled {
    let _turn = turn();
    measure(rows, Some(Instant::now() + time))
}

fn measure(rows: &[Row], deadline: Option<Instant>) -> Sampled {
    let (limits, progress) = (
        Limits { deadline, stop: &GO_ON, least: sampler::PASSES },
        Progress::new("test", None, None),
    );
    let first = vec![false; rows.len()];
    sampler::measure(rows, &first, &limits, &mut References::default(), &progress)
}

#[test]
fn ids_are_unique_in_each_run_and_the_headline_rows_are_those_of_the_tables() {
    let peers = generators(&PeerLibraries::new());
    let mut all = own_generators::by_size();
    all.extend(peers.iter().filter_map(Candidate::peer));
    let ids = |rows: &[Row]| rows.iter().map(|row| row.point.id.clone()).collect::<Vec<_>>();
    for depth in [Depth::Quick, Depth::Normal, Depth::Full] {
        let random = ids(&random::rows(&all, depth));
        let mut levels = own_generators::by_level();
        levels.extend(peers.iter().filter_map(Candidate::peer));
        let mut tables = random.clone();
        tables.extend(ids(&urandom::rows(&levels, depth)));
        tables.extend(urandom::document().into_iter().map(|point| point.id));
        tables.extend(wide::ids());
        let peers: Vec<Candidate> = peers.iter().filter_map(Candidate::peer).collect();
        tables.extend(ids(&cprng::rows(&peers, depth)));
        tables.extend(cprng::document().into_iter().map(|point| point.id));
        tables.extend(cprng::extra::ids());
        let unique: HashSet<&String> = tables.iter().collect();
        assert_eq!(unique.len(), tables.len(), "{depth:?}");
        let options = Options::default();
        let peers = PeerSet::new(&options).expect("the options are good");
        let headline = ids(&random::TABLE.screen_rows(&peers));
        assert_eq!(headline.iter().collect::<HashSet<_>>().len(), headline.len());
        let whole = ids(&random::rows(&all, Depth::Normal));
        assert!(headline.iter().all(|id| whole.contains(id)));
    }
}

#[test]
fn a_short_run_of_the_table_random_is_verified() {
    let (report, text) = whole_run(Options {
        tables: vec!["random".parse().expect("a table")],
        budget: Some(Duration::from_secs(5)),
        only: Some(Glob::new("random/lanecrypt/*/256/t?")),
        peers: Peers::None,
        ..Options::default()
    });
    let points = &report.results.points;
    let single: Vec<&Point> = points.iter().filter(|p| p.threads == Some(1)).collect();
    assert_eq!(single.len(), 13, "{text}");
    assert!(points.iter().all(|p| p.verified && p.cycles > Some(0.0)), "{text}");
    assert!(report.wrong == 0 && !report.interrupted);
    assert!(text.contains("lanecrypt per-thread") && text.contains("aes-256-ctr"), "{text}");
    let json = report.results.to_json().expect("serialises");
    assert_eq!(Results::from_json(&json).expect("parses").points.len(), points.len());
}

#[test]
fn a_short_run_of_the_messages_table_is_verified() {
    let (report, text) = whole_run(Options {
        tables: vec!["random".parse().expect("a table")],
        budget: Some(Duration::from_secs(4)),
        only: Some(Glob::new("random/*/hc128/rekeying*")),
        depth: Depth::Quick,
        peers: Peers::None,
        ..Options::default()
    });
    let (document, measured): (Vec<&Point>, Vec<&Point>) =
        report.results.points.iter().partition(|p| p.source == "document");
    assert_eq!(document.len(), 6, "{text}");
    assert!(report.wrong == 0 && measured.iter().all(|p| p.verified), "{text}");
    let seconds = measured.iter().filter(|p| p.op == "fill");
    assert!(seconds.clone().all(|p| p.seconds > Some(0.0) && p.whole.is_some()), "{text}");
    assert!(seconds.clone().any(|p| p.whole == Some(false)), "nobody asked for all of it");
    for name in ["hc128-percpu ", "hc128-percpu-diagnostic", "hc128-inline ", "hc128-single"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} in {text}");
    }
    assert!(text.contains("The message's figures") && text.contains("31.75"), "{text}");
    if processors::allowed().len() < 2 {
        eprintln!("SKIPPED parallel_streams: they need two processors");
        return;
    }
    assert!(measured.iter().any(|p| p.threads == Some(4)), "{text}");
}

#[test]
fn what_is_wrong_by_design_is_timed_and_never_verified() {
    let rows = cprng::rows(&[], Depth::Quick);
    let rows: Vec<Row> = rows.into_iter().filter(|row| row.faulty).collect();
    let sampled = sample_for(&rows, Duration::from_secs(1));
    assert!(!sampled.points.is_empty() && sampled.wrong == 0, "{:?}", sampled.remarks);
    assert!(sampled.points.iter().all(|p| !p.verified && p.cycles > Some(0.0)));
    assert_eq!(fastest(&sampled.points), None);
    assert!(!sampled.remarks.iter().any(|remark| remark.contains("verified")));
}

#[test]
fn a_documents_test_is_made_whole_if_it_is_not_too_long() {
    let honest = liar("honest", |_, _| ());
    let rows = [(Duration::from_secs(60), 3), (Duration::ZERO, 0)].map(|(longest, runs)| {
        let mut row = honest.row("test", Op::Fill, 64, 1);
        row.point.whole = Some(false);
        let requests = 200_000;
        row.batches.test = Some(Test { requests, longest, runs: Some(runs), parts: 5 });
        row
    });
    let sampled = sample(&rows);
    let whole: Vec<Option<bool>> = sampled.points.iter().map(|p| p.whole).collect();
    assert_eq!(whole, [Some(true), Some(false)]);
}

#[test]
fn a_run_that_is_interrupted_counts_as_far_as_it_came() {
    let honest = liar("honest", |_, _| ());
    let mut row = honest.row("test", Op::Fill, 64, 1);
    row.point.whole = Some(false);
    let (requests, longest) = (1 << 40, Duration::from_secs(1 << 30));
    row.batches.test = Some(Test { requests, longest, runs: Some(1), parts: 1 << 20 });
    let sampled = sample_for(&[row], Duration::from_secs(1));
    let point = sampled.points.first().expect("it was measured");
    assert!(point.whole == Some(false) && point.cycles > Some(0.0));
}

#[test]
fn a_short_run_of_the_table_urandom_is_verified_and_answers() {
    let (report, text) = whole_run(Options {
        tables: vec!["urandom".parse().expect("a table")],
        budget: Some(Duration::from_secs(4)),
        only: Some(Glob::new("urandom/*/32")),
        peers: Peers::Only(vec!["kernel".to_owned()]),
        ..Options::default()
    });
    let (document, measured): (Vec<&Point>, Vec<&Point>) =
        report.results.points.iter().partition(|p| p.source == "document");
    assert_eq!(document.len(), 1);
    assert!((document[0].megabytes_per_second().expect("a figure") - 18.95).abs() < 0.01);
    assert!(measured.iter().filter(|p| p.is_ours()).count() >= 2, "{text}");
    assert!(measured.iter().any(|p| p.source == "kernel"), "{text}");
    assert!(measured.iter().all(|p| p.verified && p.cycles > Some(0.0)), "{text}");
    assert!(text.contains("the message, 2016") && text.contains("18.9"), "{text}");
}

#[test]
fn a_short_run_without_a_table_shows_the_headline() {
    let (report, text) = short_run(Options {
        budget: Some(Duration::from_millis(2500)),
        depth: Depth::Quick,
        peers: Peers::Only(vec!["rand".to_owned()]),
        ..Options::default()
    });
    assert!(report.results.points.iter().all(|p| p.verified), "{text}");
    assert!(text.contains("best peer") || report.results.points.is_empty(), "{text}");
}

#[test]
fn the_cost_of_wide_vectors_is_measured() {
    let _turn = turn();
    let limits = Limits { deadline: None, stop: &GO_ON, least: sampler::PASSES };
    let points = wide::measure(Duration::from_millis(300), &limits);
    assert!(points.iter().any(|p| p.op == "first-use"));
    let ids = wide::ids();
    assert!(points.iter().all(|p| ids.contains(&p.id) && p.cycles > Some(0.0)));
    let machine = Machine::default();
    let text = |points| urandom::TABLE.sheet(&Scope::of(&machine, points, "urandom")).text();
    assert!(text(&points).contains("first use") && text(&[]).is_empty());
}

#[test]
fn an_interrupt_ends_a_run_with_what_is_known() {
    let stop = AtomicBool::new(true);
    let options = Options { peers: Peers::None, ..Options::default() };
    let report = run(&options, &stop, &mut |_| ()).expect("the options are good");
    assert!(report.interrupted && report.results.points.is_empty());
}

/// Applies a function to the bytes of a true generator.
struct Liar(fn(&mut [u8], u64), u64);

impl Draw for Liar {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        lanecrypt_random::fill(buffer);
        (self.0)(buffer, self.1);
        self.1 += 1;
        Ok(())
    }
}

fn liar(name: &'static str, lie: fn(&mut [u8], u64)) -> Candidate {
    Candidate::new(["liar", name, "none"], move || generator(Liar(lie, 0)))
}

#[test]
fn rows_that_lie_are_not_verified_and_not_ranked() {
    let liars = [
        liar("zeros", |buffer, _| buffer.fill(0)),
        liar("constant", |buffer, _| buffer.fill(0xA5)),
        liar("repeats", |buffer, request| {
            if request % 2 == 0 {
                buffer.iter_mut().zip(0..).for_each(|(b, i)| *b = i);
            }
        }),
        liar("biased", |buffer, _| buffer.iter_mut().for_each(|b| *b |= 1)),
        liar("short", |buffer, _| {
            let end = buffer.len().saturating_sub(16);
            buffer[end..].fill(0);
        }),
    ];
    let honest = liar("honest", |_, _| ());
    for threads in 1..=processors::allowed().len().min(2) {
        let threads = u32::try_from(threads).expect("at most two");
        let row = |c: &Candidate| c.row("test", Op::Fill, 64, threads);
        let mut rows: Vec<Row> = liars.iter().map(row).collect();
        rows.push(row(&honest));
        let sampled = sample(&rows);
        assert_eq!(sampled.points.len(), rows.len(), "{:?}", sampled.remarks);
        for point in &sampled.points {
            assert_eq!(point.verified, point.api == "honest", "{}", point.api);
        }
        assert_eq!(sampled.remarks.len(), liars.len(), "{:?}", sampled.remarks);
        // Not on a machine where other programs disturbed all passes.
        let firm = sampled.points.iter().find(|p| p.verified && p.is_firm());
        assert_eq!(fastest(&sampled.points).map(|p| &p.api), firm.map(|p| &p.api));
        assert_eq!(sampled.wrong, 0, "liars are not ours");
    }
}

#[test]
fn words_that_lie_are_found_too() {
    let zeros = liar("zeros", |buffer, _| buffer.fill(0));
    let honest = liar("honest", |_, _| ());
    let rows = [&zeros, &honest].map(|c| c.row("test", Op::Word, 4, 1));
    let sampled = sample(&rows);
    let verified: Vec<bool> = sampled.points.iter().map(|p| p.verified).collect();
    assert_eq!(verified, [false, true]);
}

#[test]
fn two_threads_that_give_the_same_bytes_are_not_verified() {
    if processors::allowed().len() < 2 {
        return;
    }
    // A generator with a fixed seed: fine alone, wrong in two threads.
    struct Fixed(u64);
    impl Draw for Fixed {
        fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
            for byte in buffer {
                self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                *byte = (self.0 >> 56) as u8;
            }
            Ok(())
        }
    }
    let fixed = Candidate::new(["liar", "fixed", "none"], || generator(Fixed(7)));
    let rows = [1, 2].map(|threads| fixed.row("test", Op::Fill, 32, threads));
    let sampled = sample(&rows);
    let verified: Vec<bool> = sampled.points.iter().map(|p| p.verified).collect();
    assert_eq!(verified, [true, false], "{:?}", sampled.remarks);
}

#[test]
fn a_peer_that_fails_in_the_middle_ends_its_own_row_only() {
    struct Failing(u32);
    impl Draw for Failing {
        fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
            self.0 += 1;
            lanecrypt_random::fill(buffer);
            assert!(self.0 <= 20_000, "this peer fails on purpose");
            Ok(())
        }
    }
    let failing = Candidate::new(["liar", "failing", "none"], || generator(Failing(0)));
    let honest = liar("honest", |_, _| ());
    for threads in [1, 2] {
        let rows = [&failing, &honest].map(|c| c.row("test", Op::Fill, 32, threads));
        let sampled = sample(&rows);
        let honest = sampled.points.iter().find(|p| p.api == "honest");
        assert!(honest.is_none_or(|p| p.verified), "{:?}", sampled.remarks);
        assert!(sampled.points.iter().all(|p| p.api == "honest" || !p.verified));
    }
}
