//! Sessions move when their driver fails: each request is answered once, with the right bytes.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use lanecrypt_accelerators::model::{Card, Fault, Faults, Host, Model, VirtualClock};
use lanecrypt_accelerators::{Balanced, Member};
use lanecrypt_engine::queue::{LocalQueue, MessageError, Settings, WorkerQueue};
use lanecrypt_engine::{
    Algorithm, Driver, Engine, Error, Jobs, OpenSsl, Request, Session, SessionId,
};
use lanecrypt_testing::batches::batch::{Rooms, check, random};
use lanecrypt_testing::batches::keys::{Key, algorithms, random_keys};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};

use crate::flaky::{self, Flaky, cases, software};
use crate::queues::{Buffer, Case, Queue};

/// Two drivers that fail, one of them asynchronous.
fn flaky(one_in: usize) -> [Flaky; 2] {
    let second = Flaky::new("flaky-async", one_in + 1).asynchronous(Duration::from_nanos(300));
    [Flaky::new("flaky", one_in), second]
}

/// They share load with others, and an engine has them.
fn engine(flaky: &[Flaky; 2], others: impl IntoIterator<Item = Member>) -> (Engine, Balanced) {
    let members = flaky.iter().map(Flaky::member).chain(others);
    let balanced = Balanced::with_migration(members).expect("good names");
    (flaky::engine(&balanced, &["flaky", "flaky-async"]), balanced)
}

fn steady() -> Member {
    Flaky::new("steady", 0).member()
}

/// Repairs what is broken.
fn repair(balanced: &Balanced, flaky: &[Flaky]) {
    flaky.iter().for_each(Flaky::repair);
    let failed: Vec<String> = balanced.failed().map(str::to_owned).collect();
    for name in failed {
        // It may fail again before the next line, in another thread.
        assert!(balanced.readmit(&name));
    }
}

/// Sessions of all drivers together, and of each that fails.
fn open(engine: &Engine, keys: &[Key]) -> Vec<Session> {
    let names = ["balanced", "flaky", "flaky-async"];
    let each = keys.iter().zip(names.iter().cycle());
    each.map(|(key, name)| {
        engine.session_on(name, key.algorithm, &key.bytes).expect("they serve all algorithms")
    })
    .collect()
}

/// Whole batches, of requests and filled ones. No driver is the software, so that all answers can
/// be counted.
#[test]
fn each_request_is_answered_once() {
    let flaky = flaky(60);
    let steady = Flaky::new("steady-too", 0);
    let (engine, balanced) = engine(&flaky, [steady.member()]);
    let mut numbers = Random(301);
    let keys = random_keys(3, &algorithms(), &mut numbers);
    let sessions = open(&engine, &keys);
    let mut rooms = Rooms::new(&engine);
    let (mut requests, mut failed) = (0, 0);
    while requests < cases() {
        let mut messages = random(&keys, &mut numbers);
        // Those that are served before their batch would be counted once more.
        messages.iter_mut().for_each(|message| message.before = false);
        check(&engine, &sessions, &messages, &mut rooms).expect("as one by one");
        requests += 2 * messages.len();
        let answered: usize = flaky.iter().chain([&steady]).map(Flaky::answered).sum();
        assert_eq!(answered, requests, "each once");
        if numbers.one_in(2) {
            failed += balanced.failed().count();
            repair(&balanced, &flaky);
        }
    }
    assert!(failed > requests / 1000, "{failed}");
    for driver in &flaky {
        assert!(driver.rarest() > 5, "{driver:?}");
    }
    drop(sessions);
    repair(&balanced, &flaky);
    assert_eq!(steady.sessions(), 0, "all are closed");
}

/// Sends random messages through a queue, whose drivers fail meanwhile.
fn through(
    queue: &mut impl Queue,
    (engine, balanced): (&Engine, &Balanced),
    flaky: &[Flaky],
    (keys, cases): (&[Key], &[Case]),
    messages: usize,
    numbers: &mut Random,
) {
    repair(balanced, flaky);
    let sessions = open(engine, keys);
    let attached: Vec<_> = sessions.into_iter().map(|session| queue.attach(session)).collect();
    let mut open: Vec<Option<usize>> = Vec::new();
    loop {
        for _ in 0..numbers.below(60) {
            let pick = numbers.below(cases.len());
            let case = &cases[pick];
            let message = case.message(attached[case.session], open.len() as u64);
            if open.len() < messages && queue.submit(message).is_ok() {
                open.push(Some(pick));
            }
        }
        for _ in 0..numbers.below(60) {
            let Some(done) = queue.poll() else { continue };
            let at = usize::try_from(done.user).expect("an index");
            let pick = open[at].take().expect("a message that has not completed before");
            assert_ne!(done.outcome, Err(MessageError::Panicked));
            cases[pick].check(&done).unwrap_or_else(|what| panic!("{at}: {what}"));
        }
        if numbers.one_in(8) {
            repair(balanced, flaky);
        }
        if open.len() == messages && queue.in_flight() == 0 {
            break;
        }
    }
    assert!(open.iter().all(Option::is_none), "messages without a completion");
}

fn random_cases(numbers: &mut Random) -> (Vec<Key>, Vec<Case>) {
    let keys = random_keys(2, &algorithms(), numbers);
    let case = |numbers: &mut Random| {
        let (key, len) = (numbers.below(keys.len()), *numbers.choice(&[64, 64, 300, 1500]));
        Case::random(&keys, key, len, numbers)
    };
    let cases = (0..3000).map(|_| case(numbers)).collect();
    (keys, cases)
}

#[test]
fn a_local_queue_loses_nothing() {
    let mut numbers = Random(302);
    let flaky = flaky(80);
    let (engine, balanced) = engine(&flaky, [software(), steady()]);
    let (keys, messages) = random_cases(&mut numbers);
    for depth in [1, 30, 400] {
        let mut queue = LocalQueue::<Buffer>::new(&engine, depth);
        let both = (&keys[..], &messages[..]);
        through(&mut queue, (&engine, &balanced), &flaky, both, cases() / 3, &mut numbers);
    }
    assert!(flaky.iter().all(|driver| driver.rarest() > 5), "{flaky:?}");
}

#[test]
fn a_worker_queue_loses_nothing() {
    let mut numbers = Random(303);
    let flaky = flaky(80);
    let (engine, balanced) = engine(&flaky, [software()]);
    let (keys, messages) = random_cases(&mut numbers);
    for settings in [Settings::new(30), Settings::new(300), Settings::new(300).in_order()] {
        let mut queue =
            WorkerQueue::<Buffer>::with(&engine, settings).expect("threads can be made");
        let both = (&keys[..], &messages[..]);
        through(&mut queue, (&engine, &balanced), &flaky, both, cases() / 3, &mut numbers);
    }
    assert!(flaky.iter().all(|driver| driver.failed() > 20), "{flaky:?}");
}

/// Threads share the sessions, while another one repairs the drivers, until each has failed often.
#[test]
fn threads_lose_nothing() {
    let mut numbers = Random(305);
    let flaky = flaky(200);
    let (engine, balanced) = engine(&flaky, [steady()]);
    let keys = random_keys(1, &algorithms(), &mut numbers);
    let sessions = open(&engine, &keys);
    let left = AtomicUsize::new(cases() / 2);
    let has_failed = || flaky.iter().all(|driver| driver.failed() > 20);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..3_u64)
            .map(|seed| {
                let (engine, keys, sessions, left) = (&engine, &keys, &sessions, &left);
                let has_failed = &has_failed;
                scope.spawn(move || {
                    let (mut numbers, mut rooms) = (Random(seed << 32), Rooms::new(engine));
                    // Relaxed: it is only a counter.
                    while left.load(Ordering::Relaxed) > 0 || !has_failed() {
                        let messages = random(keys, &mut numbers);
                        check(engine, sessions, &messages, &mut rooms).expect("as one by one");
                        let served = 2 * messages.len();
                        let less = |left: usize| Some(left.saturating_sub(served));
                        let _ = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
                    }
                })
            })
            .collect();
        // Also when one of them has failed.
        while threads.iter().any(|thread| !thread.is_finished()) {
            flaky.iter().for_each(Flaky::repair);
            for name in ["flaky", "flaky-async"] {
                balanced.readmit(name);
            }
            thread::yield_now();
        }
    });
    drop(sessions);
}

/// A card that loses or refuses requests, with OpenSSL, or with the software if that is not there.
#[test]
fn a_failing_card_is_replaced() {
    let faults = Faults::default();
    let card = Card::built_in("intel-qat-gen4").expect("it is built in");
    let host = Host::built_in("host-2026").expect("it is built in");
    let model = Model::new(card.clone(), host).with_clock(&VirtualClock::default());
    let name = "model:intel-qat-gen4";
    let other = OpenSsl::open().map(Member::new).unwrap_or_else(|error| {
        println!("SKIPPED openssl: {error}");
        software()
    });
    let balanced = Balanced::with_migration([other, Member::new(model.with_faults(&faults))]);
    let balanced = balanced.expect("good names");
    let engine = flaky::engine(&balanced, &[name]);

    let mut numbers = Random(304);
    let mut of: Vec<Algorithm> = card.algorithms().collect();
    of.retain(|algorithm| algorithm.to_string().starts_with("aes-"));
    let keys = random_keys(6, &of, &mut numbers);
    let sessions: Vec<Session> = keys
        .iter()
        .zip([name, "balanced"].iter().cycle())
        .map(|(key, name)| {
            engine.session_on(name, key.algorithm, &key.bytes).expect("they have it")
        })
        .collect();
    let mut rooms = Rooms::new(&engine);
    let (mut requests, mut failed) = (0, 0);
    while requests < cases() / 2 {
        let fault = match numbers.one_in(2) {
            true => Fault::Lose,
            false => Fault::Fail(Error::DriverFailed),
        };
        faults.at(faults.requests() + numbers.below(60) as u64, fault);
        let messages = random(&keys, &mut numbers);
        requests += 2 * messages.len();
        check(&engine, &sessions, &messages, &mut rooms).expect("as the software");
        if balanced.failed().eq([name]) {
            failed += 1;
            if numbers.one_in(2) {
                assert!(balanced.readmit(name));
            }
        } else {
            assert_eq!(balanced.failed().count(), 0);
        }
    }
    assert!(failed > 100, "{failed}");
    assert!(
        balanced.shares().all(|(_, given)| given > 1000),
        "{:?}",
        balanced.shares().collect::<Vec<_>>()
    );
}

/// A session stays where it was opened until that driver fails, and comes back when it is repaired.
#[test]
fn a_session_moves_and_comes_back() {
    let flaky = flaky(0);
    let (engine, balanced) = engine(&flaky, [steady()]);
    let shares = || balanced.shares().map(|(_, given)| given).collect::<Vec<_>>();
    let session = engine.session_on("flaky", Algorithm::AES_128_GCM, &[1; 16]).expect("it has it");
    let seal = || {
        let mut packet = [5; 100 + 16];
        session.seal(&[3; 12], b"aad", &mut packet).map(|()| packet)
    };
    let right = seal();
    assert!(right.is_ok());
    assert_eq!(shares(), [1, 0, 0]);
    flaky[0].fail_one_in(1);
    assert_eq!(seal(), right);
    assert!(balanced.failed().eq(["flaky"]));
    assert_eq!(shares()[0], 2);
    assert_eq!(seal(), right);
    assert_eq!(shares()[0], 2, "it is left alone");
    flaky[0].fail_one_in(0);
    repair(&balanced, &flaky);
    assert_eq!(seal(), right);
    assert_eq!(shares()[0], 3, "it is back");
    assert_eq!(session.driver(), "flaky");
    drop(session);
    assert!(flaky.iter().all(|driver| driver.sessions() == 0));
}

/// A driver that is readmitted too early fails again, when it is to open a session.
#[test]
fn a_driver_that_opens_nothing_has_failed() {
    let flaky = flaky(0);
    let (engine, balanced) = engine(&flaky, [software()]);
    let open = || engine.session_on("balanced", Algorithm::AES_128_GCM, &[1; 16]);
    flaky[0].fail_one_in(1);
    flaky[1].fail_one_in(0);
    let session = engine.session_on("flaky", Algorithm::AES_128_GCM, &[1; 16]).expect("it has it");
    let seal = |session: &Session| session.seal(&[3; 12], b"", &mut [5; 16]);
    // It says so, or panics.
    for _ in 0..20 {
        assert_eq!(seal(&session), Ok(()));
        assert!(balanced.failed().eq(["flaky"]));
        assert!(balanced.readmit("flaky"));
        assert_eq!(seal(&open().expect("others have it")), Ok(()));
        assert!(balanced.failed().eq(["flaky"]));
        assert!(balanced.readmit("flaky"));
    }
}

/// A driver that fails over each job with an odd nonce, but keeps its sessions. It holds a job with
/// the nonce [`HELD`] until the test resumes it.
#[derive(Clone, Debug)]
struct Keeping(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    opened: AtomicUsize,
    closed: AtomicUsize,
    begun: Sender<()>,
    goes_on: Mutex<Receiver<()>>,
}

const HELD: u8 = 4;

impl Driver for Keeping {
    fn name(&self) -> &'static str {
        "keeping"
    }

    fn open(&self, _: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        Ok(SessionId(self.0.opened.fetch_add(1, Ordering::Relaxed) as u64))
    }

    fn close(&self, _: SessionId) {
        self.0.closed.fetch_add(1, Ordering::Relaxed);
    }

    fn process(&self, jobs: Jobs<'_, '_>) {
        for job in jobs {
            if job.nonce()[0] == HELD {
                self.0.begun.send(()).expect("the test waits");
                self.0.goes_on.lock().expect("nothing panics").recv().expect("the test tells");
            }
            let fails = job.nonce()[0] % 2 == 1;
            job.settle(if fails { Err(Error::DriverFailed) } else { Ok(()) });
        }
    }
}

/// The old sessions of a driver are closed when it is readmitted, however often, but not while
/// another thread uses them.
#[test]
fn readmitted_drivers_keep_no_old_sessions() {
    let ((begun, has_begun), (go_on, goes_on)) = (mpsc::channel(), mpsc::channel());
    let (opened, closed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let inside = Arc::new(Inside { opened, closed, begun, goes_on: Mutex::new(goes_on) });
    let driver = Keeping(inside.clone());
    let balanced = Balanced::with_migration([Member::new(driver), software()]);
    let balanced = balanced.expect("good names");
    let engine = flaky::engine(&balanced, &["keeping"]);
    let open = || engine.session_on("keeping", Algorithm::AES_128_CBC, &[1; 16]);
    let sessions = [open().expect("it opens all"), open().expect("it opens all")];
    let counts = || [&inside.opened, &inside.closed].map(|count| count.load(Ordering::Relaxed));
    let encrypt = |session: &Session, first| session.encrypt(&[first; 16], &mut [0; 16]);
    for turn in 1..=100 {
        assert_eq!(encrypt(&sessions[0], 1), Ok(()));
        assert!(balanced.failed().eq(["keeping"]));
        assert!(balanced.readmit("keeping") && !balanced.readmit("keeping"));
        assert_eq!(counts(), [2 * turn, 2 * turn]);
        sessions.iter().for_each(|session| assert_eq!(encrypt(session, 2), Ok(())));
        assert_eq!(counts(), [2 * turn + 2, 2 * turn]);
    }
    thread::scope(|scope| {
        let held = scope.spawn(|| encrypt(&sessions[1], HELD));
        has_begun.recv().expect("the driver says so");
        let meanwhile = (encrypt(&sessions[0], 1), balanced.readmit("keeping"), counts());
        go_on.send(()).expect("the driver waits");
        assert_eq!(held.join().expect("nothing panics"), Ok(()));
        assert_eq!(meanwhile, (Ok(()), true, [202, 200]), "one of them is in use");
    });
    drop(sessions);
    assert_eq!(counts(), [202, 202], "all are closed");
}

/// The last driver has failed: an error of its own, and nothing is written.
#[test]
fn without_any_driver_the_error_says_so() {
    let flaky = flaky(0);
    let (engine, balanced) = engine(&flaky, []);
    let session = engine.session_on("balanced", Algorithm::AES_128_CBC, &[1; 16]);
    let session = session.expect("they have it");
    for driver in &flaky {
        driver.fail_one_in(1);
    }
    let from = [7; 64];
    for _ in 0..20 {
        let (mut in_place, mut to) = ([9; 64], [8; 64]);
        let mut batch = [
            Request::encrypt(&session, &[2; 16], &mut in_place),
            Request::encrypt(&session, &[2; 16], (&from[..], &mut to[..])),
            Request::encrypt(&session, &[2; 5], &mut []),
        ];
        assert_eq!(engine.process(&mut batch).map_err(|error| error.failed), Err(3));
        assert!(batch.iter().all(|one| one.outcome() == Some(Err(Error::DriverFailed))));
        assert_eq!((in_place, to), ([9; 64], [8; 64]));
        let mut in_place = [9; 64];
        assert_eq!(session.encrypt(&[2; 16], &mut in_place), Err(Error::DriverFailed));
        assert_eq!(in_place, [9; 64]);
        // Each kind of failure comes up.
        repair(&balanced, &flaky);
    }
    let mut in_place = [9; 64];
    assert_eq!(session.encrypt(&[2; 16], &mut in_place), Err(Error::DriverFailed));
    assert!(balanced.failed().eq(["flaky", "flaky-async"]));
    for name in ["balanced", "flaky"] {
        let refused = engine.session_on(name, Algorithm::AES_128_CBC, &[1; 16]).err();
        assert_eq!(refused, Some(Error::DriverFailed), "{name}");
    }
}
