//! The driver `model` gives right results at the time that its card's description says, and has the
//! faults that it is given.

use core::time::Duration;
use std::thread;
use std::time::Instant;

use lanecrypt_accelerators::model::{Card, Fault, Faults, Host, Model, VirtualClock, Work};
use lanecrypt_engine::{Algorithm, Driver as _, Engine, Error, Request, Session};
use lanecrypt_testing::batches::batch::{Rooms, check, random};
use lanecrypt_testing::batches::keys::{algorithms, random_keys};
use lanecrypt_testing::batches::numbers::Random;

/// A card with an engine for each of these algorithms.
fn card(engines: u32, queue_depth: u32, algorithms: &[Algorithm]) -> Card {
    let mut text = format!(
        "kind = 'card'\nname = 'test'\nsource = 'none'\nengines = {engines}\n\
        queue_depth = {queue_depth}\n\
        [request]\nsource = 'none'\nsystem_calls = 1\ncontext_switches = 2\ncopies = 2\n\
        interrupts = 1\ndriver_ns = 50\nbus_transactions = 2\ntransaction_ns = 100\n\
        latency_ns = 1000\n[bus]\nsource = 'none'\nbytes_per_second = 1e9\n"
    );
    for algorithm in algorithms {
        text += &format!(
            "[cipher.\"{algorithm}\"]\nsource = 'none'\nbytes_per_second = 5e8\nsetup_ns = 25\n"
        );
    }
    text.parse().expect("a good description")
}

fn host() -> Host {
    Host::built_in("host-2026").expect("it is built in")
}

const CTR: Algorithm = Algorithm::AES_128_CTR;
const GCM: Algorithm = Algorithm::AES_128_GCM;

/// Random batches of good and bad messages of all algorithms.
#[test]
fn results_are_those_of_the_software() {
    let algorithms = algorithms();
    let clock = VirtualClock::default();
    let model = Model::new(card(2, 16, &algorithms), host()).with_clock(&clock);
    let engine = Engine::new().with_driver(model).expect("a free name");
    let mut numbers = Random(71);
    let keys = random_keys(2, &algorithms, &mut numbers);
    let open = |(algorithm, key): (Algorithm, &[u8])| {
        engine.session_on("model:test", algorithm, key).expect("a good key")
    };
    let sessions: Vec<Session> = keys.iter().map(|key| open((key.algorithm, &key.bytes))).collect();
    let mut rooms = Rooms::new(&engine);
    for _ in 0..200 {
        let messages = random(&keys, &mut numbers);
        check(&engine, &sessions, &messages, &mut rooms).expect("the model is right");
    }
    assert!(clock.now() > Duration::from_millis(1), "it has taken its time");
}

#[test]
fn only_what_the_card_has_is_served() {
    let model = Model::new(card(1, 4, &[CTR]), host());
    assert_eq!(model.open(GCM, &[1; 16]), Err(Error::Unsupported));
    assert_eq!(model.open(CTR, &[1; 17]), Err(Error::KeyLength));
    assert!(model.open(CTR, &[1; 16]).is_ok());
    assert_eq!(model.name(), "model:test");
}

/// The clock advances by what the description adds up to, for one request after the other and for
/// batches.
#[test]
fn the_time_is_that_of_the_description() {
    let card = card(1, 64, &[CTR]);
    // One system call, the driver, two copies of 1000 bytes; two transactions and the data both
    // ways; the engine; the rest of the way; interrupt; two switches.
    let expected =
        (173.0 + 50.0 + 20.0) + (200.0 + 2000.0) + (25.0 + 2000.0) + 1000.0 + 1500.0 + 2.0 * 2230.0;
    let alone = card.nanoseconds(&host(), Work::new(CTR, 1000), 1).expect("it is served");
    assert!((alone - expected).abs() < 1e-6, "{alone}, expected {expected}");
    // Of 64 the bus is the slowest part: all pass it one after the other, and the last proceeds.
    let expected = expected + 63.0 * 2200.0;
    let many = card.nanoseconds(&host(), Work::new(CTR, 1000), 64).expect("it is served") * 64.0;
    assert!((many - expected).abs() < 1e-6, "{many}, expected {expected}");

    let clock = VirtualClock::default();
    let model = Model::new(card, host()).with_clock(&clock);
    let engine = Engine::new().with_driver(model).expect("a free name");
    let session = engine.session_on("model:test", CTR, &[1; 16]).expect("a good key");
    let mut data = [[0; 1000]; 64];
    for _ in 0..10 {
        session.encrypt(&[2; 16], &mut data[0][..]).expect("good lengths");
    }
    let ten = clock.now();
    assert!(ten.abs_diff(Duration::from_secs_f64(10.0 * alone / 1e9)) < Duration::from_nanos(20));
    let mut batch: Vec<Request<'_>> =
        data.iter_mut().map(|data| Request::encrypt(&session, &[2; 16], &mut data[..])).collect();
    engine.process(&mut batch).expect("good lengths");
    let batch = clock.now() - ten;
    assert!(batch.abs_diff(Duration::from_secs_f64(many / 1e9)) < Duration::from_nanos(20));
}

/// Four engines do four requests in about the time of one, unless the card holds only one at a
/// time.
#[test]
fn engines_work_in_parallel_and_the_queue_limits_them() {
    let time = |engines, queue_depth| {
        let card = card(engines, queue_depth, &[CTR]);
        card.nanoseconds(&host(), Work::new(CTR, 100_000), 4).expect("it is served") * 4.0
    };
    // The rate is that of all engines together: four of them are each as slow as a quarter.
    let (one, four) = (time(1, 64), time(4, 64));
    assert!(four > one, "the last of four begins last and is as slow as a quarter of the card");
    let alone = time(4, 1);
    assert!(alone > 3.0 * one, "one at a time: three engines are idle");
    assert!(time(4, 2) < alone && time(4, 4) < time(4, 2));
}

/// Time itself: the model returns no earlier than its card would. How much later depends on the
/// machine.
#[test]
fn it_waits() {
    let model = Model::new(card(1, 64, &[CTR]), host());
    let engine = Engine::new().with_driver(model).expect("a free name");
    let session = engine.session_on("model:test", CTR, &[1; 16]).expect("a good key");
    let card = card(1, 64, &[CTR]);
    let mut data = vec![0; 1_000_000];
    let expected = card.nanoseconds(&host(), Work::new(CTR, data.len()), 1).expect("served");
    let start = Instant::now();
    session.encrypt(&[2; 16], &mut data[..]).expect("good lengths");
    assert!(start.elapsed() >= Duration::from_secs_f64(expected / 1e9), "too early");

    // Threads share the card: two of them wait for two.
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| session.encrypt(&[2; 16], &mut vec![0; 1_000_000][..]));
        }
    });
    let engine_alone = Duration::from_millis(2);
    assert!(start.elapsed() >= 2 * engine_alone, "both at the same time on one engine");
}

#[test]
fn faults_are_those_that_were_asked_for() {
    let (clock, faults) = (VirtualClock::default(), Faults::default());
    faults.at(1, Fault::Fail(Error::DataLength));
    faults.at(2, Fault::Lose);
    faults.at(3, Fault::Delay(Duration::from_secs(1)));
    let model = Model::new(card(1, 64, &[CTR]), host()).with_clock(&clock).with_faults(&faults);
    let engine = Engine::new().with_driver(model).expect("a free name");
    let session = engine.session_on("model:test", CTR, &[1; 16]).expect("a good key");
    let mut right = [0; 32];
    let software = engine.raw_session(CTR, &[1; 16]).expect("a good key");
    software.encrypt(&[2; 16], &mut right[..]).expect("good lengths");

    let mut data = [[0; 32]; 5];
    let mut batch: Vec<Request<'_>> =
        data.iter_mut().map(|data| Request::encrypt(&session, &[2; 16], &mut data[..])).collect();
    assert_eq!(engine.process(&mut batch).map_err(|error| error.failed), Err(2));
    let outcomes: Vec<_> = batch.iter().map(Request::outcome).collect();
    let (good, lost) = (Some(Ok(())), Some(Err(Error::Unsupported)));
    assert_eq!(outcomes, [good, Some(Err(Error::DataLength)), lost, good, good]);
    drop(batch);
    // What failed or was lost is as it was.
    let served = data.map(|data| data == right);
    assert_eq!(served, [true, false, false, true, true]);
    assert_eq!([data[1], data[2]], [[0; 32]; 2]);
    assert!(clock.now() >= Duration::from_secs(1), "one came a second later");
    assert_eq!(faults.requests(), 5);

    let once = || session.encrypt(&[2; 16], &mut [0; 32][..]);
    assert_eq!(once(), Ok(()));
    faults.set_for_all(Fault::Fail(Error::Unsupported));
    assert_eq!([once(), once()], [Err(Error::Unsupported); 2]);
    faults.from(faults.requests() + 1, Fault::Fail(Error::DataLength));
    assert_eq!([once(), once(), once()], {
        let failed = Err(Error::DataLength);
        [Ok(()), failed, failed]
    });
    faults.heal();
    assert_eq!(once(), Ok(()));
}

/// As the contract of drivers says, a message that is said to be forged is wiped.
#[test]
fn a_message_that_is_called_forged_is_wiped() {
    let faults = Faults::default();
    let clock = VirtualClock::default();
    let model = Model::new(card(1, 64, &[GCM]), host()).with_clock(&clock).with_faults(&faults);
    let engine = Engine::new().with_driver(model).expect("a free name");
    let session = engine.session_on("model:test", GCM, &[1; 16]).expect("a good key");
    let mut packet = [7; 48];
    session.seal(&[3; 12], b"", &mut packet).expect("good lengths");
    let sealed = packet;
    faults.set_for_all(Fault::Fail(Error::Authentication));
    assert_eq!(session.open(&[3; 12], b"", &mut packet).err(), Some(Error::Authentication));
    assert_eq!(packet[..32], [0; 32]);
    packet = sealed;
    faults.set_for_all(Fault::Fail(Error::DataLength));
    assert_eq!(session.open(&[3; 12], b"", &mut packet).err(), Some(Error::DataLength));
    assert_eq!(packet, sealed);
    faults.heal();
    assert_eq!(session.open(&[3; 12], b"", &mut packet).map(|text| text.to_vec()), {
        Ok(vec![7; 32])
    });
}
