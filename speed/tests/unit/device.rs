//! Small runs of the table, and answers that are wrong.

use core::time::Duration;
use std::collections::HashSet;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};

use lanecrypt_device::{Client, ConnectError};

use super::daemons::Daemons;
use super::link::Link;
use super::many::Many;
use super::messages::{Messages, Plan};
use super::process::{Job, Order, Process, RANDOM};
use super::setting::Setting;
use super::*;
use crate::ciphers::sessions;
use crate::depth::Depth;
use crate::device::DeviceOptions;
use crate::glob::Glob;
use crate::machine::Machine;
use crate::options::{Options, Peers};
use crate::peer_set::PeerSet;
use crate::processors::turn;
use crate::results::Results;
use crate::row::{Arena, Row, Workload as _};
use crate::scope::Scope;
use crate::statistics::Estimate;
use crate::tests::whole_run;
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
    let _ = child(&lanecrypt_peers::PeerLibraries::new());
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
    let peers = PeerSet::new(&options).expect("the options are good");
    rows::rows(&peers, depth).into_iter().map(|row| row.point.id).collect()
}

#[test]
fn ids_are_unique_and_every_setting_is_there() {
    for depth in [Depth::Quick, Depth::Normal, Depth::Full] {
        let given = (TABLE.given)().into_iter().map(|point| point.id);
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

/// Makes the requests of all rows that match, once before and once after a check of their answers;
/// the points.
fn answered(device: DeviceOptions, only: &str, depth: Depth) -> Vec<Point> {
    let _turn = turn();
    let options = Options { device, peers: Peers::None, ..Options::default() };
    let (peers, only) = (PeerSet::new(&options).expect("the options are good"), Glob::new(only));
    let rows = rows::rows(&peers, depth).into_iter().filter(|row| only.matches(&row.point.id));
    let mut arena = Arena::new();
    let answer = |row: Row| {
        let id = &row.point.id;
        let mut work = (row.make)().unwrap_or_else(|| panic!("{id} cannot be made"));
        let sample = work.check(&mut arena);
        assert!(sample.is_ok(), "{id}: {sample:?}");
        let mut digest = || {
            assert_eq!(work.begin(&mut arena), Ok(()), "{id}");
            work.run(&mut arena, row.batches.multiple);
            work.digest(&mut arena)
        };
        assert_ne!(digest(), digest(), "{id}");
        assert_eq!(work.check_again(&mut arena), Ok(()), "{id}");
        row.point
    };
    rows.map(answer).collect()
}

#[test]
fn rows_of_one_process_are_answered_in_every_setting() {
    let only = |depth: &str| format!("{NAME}/lanecrypt/{API}/*/64/{depth}/p1/*");
    // The null algorithm, and both directions of five others.
    assert_eq!(answered(options(), &only("d1"), Depth::Normal).len(), 11 * 4);
    assert_eq!(answered(options(), &only("d32"), Depth::Normal).len(), 3 * 4);
}

#[test]
fn rows_of_several_processes_are_answered() {
    let points = answered(options(), "device/*/64/d1/p4/*", Depth::Quick);
    assert_eq!(points.len(), 3 * 3);
    assert!(points.iter().all(|point| point.processes == Some(4)));
}

#[test]
fn random_bytes_are_answered() {
    let points = answered(options(), "device/lanecrypt/device/random/*auto-auto", Depth::Quick);
    assert_eq!(points.len(), 7);
}

#[test]
fn a_run_is_verified_and_has_the_keys() {
    let (report, text) = whole_run(device("device/*/null/process/256*", "none", 120_000));
    assert!(report.wrong == 0 && !report.interrupted, "{text}");
    let json = report.results.to_json().expect("serialises");
    let points = Results::from_json(&json).expect("parses").points;
    // Four settings, a session, a pipe and two echoes.
    assert_eq!(points.len(), 8, "{text}");
    for point in &points {
        assert!(point.verified && point.cycles > Some(0.0), "{}", point.id);
        assert!(point.per_second > Some(0.0) && point.depth == Some(1), "{}", point.id);
        assert_eq!(point.processes, Some(1), "{}", point.id);
        let has_setting = point.api == API || point.api == echo::SOCKET;
        assert_eq!(point.placement.is_some(), has_setting, "{}", point.id);
        assert_eq!(point.wait.is_some(), has_setting, "{}", point.id);
    }
    for part in ["null process, one process", "device same, sleep", "pipe", "unix-socket other"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// The study's figures, its cards, several processes and random bytes have their places.
#[test]
fn the_text_has_all_parts() {
    let options = Options { device: options(), peers: Peers::None, ..Options::default() };
    let peers = PeerSet::new(&options).expect("the options are good");
    let rows = rows::rows(&peers, Depth::Normal).into_iter();
    let estimate = Estimate::of(&[2600.0, 2600.0, 2600.0]).expect("there are figures");
    let measured = rows.map(|row| {
        let mut point = row.point.measured(estimate);
        point.verified = true;
        point
    });
    let points: Vec<Point> = measured.chain((TABLE.given)()).collect();
    let machine = Machine::of_this_process();
    let text = TABLE.sheet(&Scope::of(&machine, &points, NAME)).text();
    for part in [
        "null process, one process",
        "study: KERNEL-NULL",
        "420",
        "model: hifn-7751",
        "aes-128-gcm open, one process",
        "Several processes",
        "Random bytes",
        "(no daemon)",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains('?') || text.matches('?').count() == 1, "{text}");
}

#[test]
fn latencies_are_by_setting_and_requests_in_flight() {
    let (report, text) = whole_run(device("device/*/same-sleep/latency", "none", 120_000));
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

/// Where a daemon cannot be started the rest is measured, and a line says so.
#[test]
fn without_a_daemon_the_rest_is_measured() {
    for device in [
        DeviceOptions::started_by(vec!["/nowhere".into()]),
        DeviceOptions::started_by(vec!["false".into()]),
        options().at(Some("/nowhere".into())),
    ] {
        let options = Options { device, peers: Peers::None, ..Options::default() };
        let peers = PeerSet::new(&options).expect("the options are good");
        let rows = rows::rows(&peers, Depth::Quick);
        let is_there = |id: &str| rows.iter().any(|row| row.point.id == id);
        assert!(is_there("device/lanecrypt/session/null/process/64/d1"));
        assert!(rows.iter().all(|row| row.point.api != API));
        let line = peers.missing();
        assert!(line.contains("rows of device ("), "{line:?}");
    }
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

#[test]
fn an_echo_returns_what_came_with_its_order() {
    use std::io::{Read as _, Write as _};
    let mut process = Process::start(&options().command).expect("it can be started");
    let processors = crate::processors::allowed();
    process.tell(&Order::Echo { processors }).expect("it listens");
    // Both are there before the process has begun.
    process.stream().write_all(b"first").expect("it listens");
    process.stream().set_read_timeout(Some(Duration::from_secs(60))).expect("it is a time");
    let mut back = [0; 5];
    process.stream().read_exact(&mut back).expect("it answers");
    assert_eq!(&back, b"first");
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
    let points = answered(options().at(socket), "device/*/null/process/64/d?/*", Depth::Normal);
    let ids: Vec<&str> = points.iter().map(|point| point.id.as_str()).collect();
    // One and eight in flight; two to sixteen processes.
    assert_eq!(ids.len(), 6, "{ids:?}");
    assert!(ids.contains(&"device/lanecrypt/device/null/process/64/d1/p1/given"), "{ids:?}");
    assert!(ids.iter().all(|id| id.contains("/given")), "{ids:?}");
    assert!(points.iter().all(|point| point.placement.is_none()), "{ids:?}");
}
