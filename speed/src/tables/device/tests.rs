//! Small runs of the table, and answers that are wrong.

use core::time::Duration;
use std::collections::HashSet;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};

use lanecrypt_device::{Client, ConnectError};

use super::daemons::Daemons;
use super::link::Link;
use super::many::{Job, Many, RANDOM};
use super::messages::{Messages, Plan};
use super::setting::Setting;
use super::*;
use crate::ciphers::sessions;
use crate::device::DeviceOptions;
use crate::glob::Glob;
use crate::options::{Options, Peers};
use crate::results::Results;
use crate::row::{Arena, Workload as _};
use crate::tests::{short_run, turn};
use crate::verify::Defect;

/// Starts this program of tests again, as [`a_child`].
fn options() -> DeviceOptions {
    let program = std::env::current_exe().expect("this program is a file").into_os_string();
    let arguments = ["tables::device::tests::a_child", "--exact", "--ignored"];
    let arguments = arguments.map(OsString::from);
    DeviceOptions::started_by([program].into_iter().chain(arguments).collect())
}

#[test]
#[ignore = "it is what the other tests start"]
fn a_child() {
    // Without a socket as its standard input there is nothing to do.
    let _ = child();
}

fn device(only: &str, peers: &str, milliseconds: u64) -> Options {
    Options {
        tables: vec![NAME.parse().expect("a table")],
        budget: Some(Duration::from_millis(milliseconds)),
        only: Some(Glob::new(only)),
        peers: Peers::from_list(peers),
        device: options(),
        ..Options::default()
    }
}

fn ids(device: DeviceOptions, depth: Depth) -> Vec<String> {
    let options = Options { device, ..Options::default() };
    let rivals = Rivals::new(&options).expect("the options are good");
    rows::rows(&rivals, depth).into_iter().map(|row| row.point.id).collect()
}

#[test]
fn ids_are_unique_and_every_setting_is_there() {
    for depth in [Depth::Quick, Depth::Normal, Depth::Full] {
        let given = document::points().into_iter().map(|point| point.id);
        let rows = ids(options(), depth).into_iter();
        let ids: Vec<String> = rows.chain(given).chain(latency::ids()).collect();
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{depth:?}");
        for id in [
            "lanecrypt/device/null/process/64/d1/p1/same-sleep",
            "lanecrypt/device/null/process/1024/d1/p1/other-spin",
            "lanecrypt/device/null/process/64/d32/p1/auto-auto",
            "lanecrypt/device/aes-128-gcm/open/1024/d1/p1/other-sleep",
            "lanecrypt/device/aes-128-cbc/encrypt/64/d32/p1/same-sleep",
            "lanecrypt/device/null/process/64/d1/p4/same-sleep",
            "lanecrypt/device/aes-128-gcm/seal/1500/d32/p4/auto-auto",
            "lanecrypt/device/random/fill/32/d32/p1/other-spin",
            "lanecrypt/device/random/fill/4194304/d1/p4/auto-auto",
            "lanecrypt/device/null/process/64/d32/p1/same-sleep/latency",
            "lanecrypt/session/aes-128-cbc/decrypt/64/d1",
            "lanecrypt/process/aes-128-gcm/seal/1500/d32",
            "kernel/pipe/null/process/64",
            "kernel/unix-socket/null/process/1024/other-sleep",
            "document/null/process/1024",
        ] {
            assert!(ids.contains(&format!("{NAME}/{id}")), "{id} at {depth:?}");
        }
        for id in [
            "lanecrypt/device/3des-cbc/decrypt/8192/d1/p1/same-sleep",
            "lanecrypt/device/aes-128-ctr/encrypt/4096/d1/p1/auto-auto",
            "lanecrypt/device/null/process/64/d128/p1/other-spin",
            "lanecrypt/device/null/process/1024/d1/p16/other-sleep",
        ] {
            let is_there = ids.contains(&format!("{NAME}/{id}"));
            assert_eq!(is_there, depth != Depth::Quick, "{id} at {depth:?}");
        }
    }
}

/// Whoever cannot start processes gets the rest.
#[test]
fn without_a_command_there_are_rows_of_this_process_only() {
    let ids = ids(DeviceOptions::default(), Depth::Normal);
    assert!(ids.iter().all(|id| !id.contains("/device/") || id.starts_with("device/kernel/")));
    assert!(ids.contains(&"device/lanecrypt/session/null/process/64/d1".to_owned()));
}

#[test]
fn a_short_run_is_verified_and_has_the_keys() {
    let options = device("device/*/null/process/1024*", "none", 12_000);
    let (report, text) = short_run(Options { depth: Depth::Quick, ..options });
    assert!(report.wrong == 0 && !report.interrupted, "{text}");
    let json = report.results.to_json().expect("serialises");
    let points = Results::from_json(&json).expect("parses").points;
    let (document, measured): (Vec<&Point>, Vec<&Point>) =
        points.iter().partition(|p| p.source == "document");
    assert_eq!(document.len(), 1, "{text}");
    for point in &measured {
        assert!(point.verified && point.cycles > Some(0.0), "{}", point.id);
        assert!(point.processes >= Some(1) && point.depth >= Some(1), "{}", point.id);
        let has_setting = point.api == API || point.api == echo::SOCKET;
        assert_eq!(point.placement.is_some(), has_setting, "{}", point.id);
        assert_eq!(point.wait.is_some(), has_setting, "{}", point.id);
    }
    let of = |api: &str| measured.iter().any(|p| p.api == api);
    assert!(of(API) && of("session") && of(echo::PIPE), "{text}");
    for part in ["null process, one process", "study: KERNEL-NULL", "420", "device same, sleep"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn both_directions_of_all_algorithms_are_verified() {
    let only = "device/lanecrypt/device/*/64/d1/p1/same-sleep";
    let (report, text) = short_run(device(only, "none", 5000));
    let points = &report.results.points;
    assert!(report.wrong == 0 && points.iter().all(|p| p.verified), "{text}");
    assert!(points.len() >= 5, "{text}");
    assert!(text.contains("model: hifn-7751"), "{text}");
}

#[test]
fn several_processes_are_verified() {
    let only = "device/*/64/d1/p4/same-sleep";
    let (report, text) = short_run(device(only, "none", 6000));
    let points = &report.results.points;
    assert!(report.wrong == 0 && points.iter().all(|p| p.verified), "{text}");
    assert!(!points.is_empty(), "{text}");
    assert!(points.iter().all(|p| p.per_second > Some(0.0) && p.processes == Some(4)), "{text}");
    assert!(text.contains("Several processes"), "{text}");
}

#[test]
fn random_bytes_are_verified() {
    let only = "device/lanecrypt/device/random/*auto-auto";
    let (report, text) = short_run(device(only, "none", 6000));
    let points = &report.results.points;
    assert!(report.wrong == 0 && points.iter().all(|p| p.verified), "{text}");
    assert!(points.len() >= 4, "{text}");
    assert!(text.contains("Random bytes"), "{text}");
}

#[test]
fn latencies_are_by_setting_and_requests_in_flight() {
    let (report, text) = short_run(device("device/*/same-sleep/latency", "none", 12_000));
    let points = &report.results.points;
    assert_eq!(points.len(), 8, "{text}");
    for point in points {
        assert!(point.verified && point.p50_ns > Some(0.0), "{text}");
        assert!(point.p50_ns <= point.p99_ns && point.p99_ns <= point.p999_ns, "{}", point.id);
    }
    assert!(text.contains("p99.9 ns"), "{text}");
}

const CBC: Plan =
    Plan { algorithm: Algorithm::AES_128_CBC, direction: Direction::Encrypt, size: 64, depth: 8 };

fn link(daemons: &Daemons) -> Arc<Mutex<Link>> {
    daemons.link(Setting::SameSleep).expect("a daemon can be started")
}

/// A daemon that has other keys answers wrong, blocked and in flight.
#[test]
fn wrong_answers_are_found() {
    let _turn = turn();
    for (plan, defect) in [
        (CBC, Defect::Answer),
        (Plan { depth: 1, ..CBC }, Defect::Answer),
        (Plan { algorithm: Algorithm::AES_128_GCM, ..CBC }, Defect::Answer),
        (
            Plan { algorithm: Algorithm::AES_128_GCM, direction: Direction::Decrypt, ..CBC },
            Defect::Failed,
        ),
    ] {
        let daemons = Daemons::new(&options());
        let link = link(&daemons);
        let mut keys = sessions::keys(plan.algorithm, 64).expect("it is measured");
        keys[17][3] ^= 1;
        let opened = link.lock().expect("nobody panics").sessions(plan.algorithm, &keys);
        assert!(opened.is_some());
        let mut messages = Messages::new(&link, plan).expect("the sessions are open");
        assert_eq!(messages.checked(), Err(defect), "{plan:?}");
    }
}

#[test]
fn right_answers_are_accepted_and_digests_differ() {
    let _turn = turn();
    let daemons = Daemons::new(&options());
    let link = link(&daemons);
    let mut arena = Arena::new();
    for algorithm in ALGORITHMS {
        for &direction in directions(algorithm) {
            for depth in [1, 8, 128] {
                let plan = Plan { algorithm, direction, depth, ..CBC };
                let mut messages = Messages::new(&link, plan).expect("it has sessions");
                assert_eq!(messages.checked(), Ok(()), "{plan:?}");
                let mut digest = || {
                    messages.begin(&mut arena).expect("nothing fails");
                    messages.run(&mut arena, 100);
                    messages.digest(&mut arena)
                };
                assert_ne!(digest(), digest(), "{plan:?}");
                let mut taken = Vec::new();
                messages.timed(200, &mut taken).expect("nothing fails");
                assert_eq!(taken.len(), 200);
            }
        }
    }
    // No whole block.
    let mut odd = Messages::new(&link, Plan { size: 63, ..CBC }).expect("it has sessions");
    assert_eq!(odd.checked(), Err(Defect::Failed));
}

#[test]
fn client_processes_tell_what_is_wrong() {
    let _turn = turn();
    let daemons = Daemons::new(&options());
    let setting = Setting::SameSleep;
    let job = |subject: &str, size| Job {
        socket: daemons.socket(setting).expect("a daemon can be started"),
        setting,
        processors: daemons.processors().to_vec(),
        subject: subject.to_owned(),
        is_encryption: true,
        size,
        depth: 1,
    };
    let mut arena = Arena::new();
    let mut check = |job: Job| Many::new(&daemons, job, 2).check(&mut arena);
    assert_eq!(check(job("aes-128-cbc", 64)), Ok(Vec::new()));
    assert_eq!(check(job(RANDOM, 32)), Ok(Vec::new()));
    assert_eq!(check(job("aes-128-cbc", 63)), Err(Defect::Failed), "no whole block");
    assert_eq!(check(job("nothing", 64)), Err(Defect::Failed));
    let nowhere = Job { socket: "/nowhere".into(), ..job("null", 64) };
    assert_eq!(check(nowhere), Err(Defect::Failed));
}

/// A daemon ends with the run, and its socket with it.
#[test]
fn daemons_end_with_the_run() {
    let _turn = turn();
    let daemons = Daemons::new(&options());
    let socket = daemons.socket(Setting::Auto).expect("a daemon can be started");
    Client::<Vec<u8>>::connect(&socket).expect("it listens");
    drop(daemons);
    let refused = Client::<Vec<u8>>::connect(&socket).map(|_| ());
    assert!(matches!(refused, Err(ConnectError::NoSocket(_))), "{refused:?}");
    assert!(!socket.parent().expect("it has a folder").exists());
}

/// A daemon that the user has started is measured under its own name.
#[test]
fn a_given_daemon_is_measured() {
    let started = Daemons::new(&options());
    let socket = started.socket(Setting::Auto);
    let mut options = device("device/lanecrypt/device/null/process/64/d?/*", "none", 3000);
    options.device = options.device.at(socket);
    let (report, text) = short_run(options);
    let points = &report.results.points;
    assert!(report.wrong == 0 && points.iter().all(|p| p.verified), "{text}");
    let ids: Vec<&str> = points.iter().map(|p| p.id.as_str()).collect();
    assert!(ids.contains(&"device/lanecrypt/device/null/process/64/d1/p1/given"), "{ids:?}");
    assert!(ids.iter().all(|id| id.contains("/given")), "{ids:?}");
    assert!(points.iter().all(|p| p.placement.is_none()), "{ids:?}");
}
