//! Small runs of the table.

use core::time::Duration;
use std::collections::HashSet;

use super::*;
use crate::depth::Depth;
use crate::glob::Glob;
use crate::options::{Options, Peers};
use crate::processors;
use crate::results::Results;
use crate::tests::whole_run;

fn engine(only: &str, milliseconds: u64) -> Options {
    Options {
        tables: vec![NAME.parse().expect("a table")],
        budget: Some(Duration::from_millis(milliseconds)),
        only: Some(Glob::new(only)),
        peers: Peers::None,
        ..Options::default()
    }
}

#[test]
fn ids_are_unique_and_every_layer_is_there() {
    for depth in [Depth::Quick, Depth::Normal, Depth::Full] {
        let rows = rows::rows(depth).into_iter().map(|row| row.point.id);
        let given = (TABLE.given)().into_iter().map(|point| point.id);
        let ids: Vec<String> = rows.chain(given).chain(latency::ids()).collect();
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{depth:?}");
        for id in [
            "lanecrypt/session/null/process/64/d1/t1",
            "lanecrypt/process/null/process/1024/d8/t1",
            "lanecrypt/local-queue/null/process/64/d32/t1",
            "lanecrypt/worker-queue/null/process/1024/d32/t1",
            "lanecrypt/worker-queue/null/process/64/d32/t2",
            "lanecrypt/local-queue/aes-128-cbc/decrypt/1024/d32/t1",
            "lanecrypt/process/3des-cbc/encrypt/64/d1/t1",
            "lanecrypt/local-queue/aes-128-cbc+hmac-sha256/seal/1024/d32/t1",
            "lanecrypt/worker-queue/null/process/64/d64/latency",
            "lanecrypt/local-queue/aes-128-cbc/encrypt/1024/d1/latency",
            "machine/ring/null/process/d32/t1",
            "document/null/process/1024",
        ] {
            assert!(ids.contains(&format!("{NAME}/{id}")), "{id} at {depth:?}");
        }
    }
}

#[test]
fn a_short_run_is_verified_and_has_the_keys() {
    let (report, text) = whole_run(engine("engine/*/1024*", 4000));
    assert!(report.wrong == 0 && !report.interrupted, "{text}");
    let json = report.results.to_json().expect("serialises");
    let points = Results::from_json(&json).expect("parses").points;
    let (document, measured): (Vec<&Point>, Vec<&Point>) =
        points.iter().partition(|p| p.source == "document");
    assert_eq!(document.len(), 1, "{text}");
    for point in measured {
        assert!(point.verified && point.cycles > Some(0.0), "{}", point.id);
        assert!(point.driver.as_deref() == Some("software"), "{}", point.id);
        assert!(point.depth.is_some() && point.size == Some(1024), "{}", point.id);
        let is_latency = point.id.ends_with("latency");
        assert_eq!(point.p50_ns.is_some(), is_latency, "{}", point.id);
        assert!(point.p50_ns <= point.p99_ns && point.p99_ns <= point.p999_ns, "{}", point.id);
    }
    for part in ["null process, driver software", "study: KERNEL-NULL", "420", "model: hifn-7751"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// A worker and the bare ring answer from the other processor.
#[test]
fn workers_and_the_bare_ring_are_verified() {
    if processors::allowed().len() < 2 {
        eprintln!("SKIPPED engine workers: they need two processors");
        return;
    }
    let (report, text) = whole_run(engine("engine/*/null/process/*d32*", 2000));
    let points = &report.results.points;
    assert!(report.wrong == 0, "{text}");
    for api in ["ring", "worker-queue", "local-queue", "process"] {
        let of = points.iter().find(|p| p.api == api);
        assert!(of.is_some_and(|p| p.verified && p.cycles > Some(0.0)), "{api} in {text}");
    }
    assert!(text.contains("machine ring"), "{text}");
}

#[test]
fn latencies_grow_with_the_requests_in_flight() {
    let (report, text) = whole_run(engine("engine/*/local-queue/aes-128-cbc/*/latency", 30_000));
    let points = &report.results.points;
    assert_eq!(points.len(), 7, "{text}");
    assert!(points.iter().all(|p| p.verified && p.p50_ns > Some(0.0)), "{text}");
    assert!(text.contains("p99.9 ns"), "{text}");
}
