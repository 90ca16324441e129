//! Load that several drivers share: it lands on each, and the answers are those of one.

use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::panic::catch_unwind;

use lanecrypt_engine::queue::{LocalQueue, Message};
use lanecrypt_engine::{Algorithm, DriverNameError, Engine, Error, Request, Session};
use lanecrypt_testing::batches::batch::{Rooms, check, random};
use lanecrypt_testing::batches::keys::{algorithms, random_keys};
use lanecrypt_testing::batches::numbers::Random;

use crate::balancing::Flaky;

fn with(drivers: &[Flaky]) -> Engine {
    drivers
        .iter()
        .try_fold(Engine::new(), |engine, driver| engine.with_driver(driver.clone()))
        .expect("good names")
}

fn shares(engine: &Engine) -> Vec<u64> {
    engine.shares().map(|(_, given)| given).collect()
}

fn cards() -> [Flaky; 2] {
    // As fast as the software is, more or less.
    let beside = |name, nanoseconds| Flaky::new(name, 0).beside(Duration::from_nanos(nanoseconds));
    [beside("card", 200), beside("second", 900)]
}

/// Drivers on the calling thread and beside it, of every algorithm.
#[test]
fn load_lands_on_each_driver_and_answers_are_equal() {
    let [card, second] = cards();
    let steady = Flaky::new("steady", 0);
    let engine = with(&[card.clone(), second.clone(), steady.clone()]);
    let engine = match engine.with_balancing(&["software", "card", "steady", "second"]) {
        Ok(engine) => engine,
        Err(error) => panic!("{error}"),
    };
    assert!(engine.drivers().any(|name| name == "balanced"));
    let mut numbers = Random(311);
    let keys = random_keys(3, &algorithms(), &mut numbers);
    let open = |key: &lanecrypt_testing::batches::keys::Key| {
        engine.session_on("balanced", key.algorithm, &key.bytes).expect("they have all")
    };
    let sessions: Vec<Session> = keys.iter().map(open).collect();
    assert!(sessions.iter().all(|session| session.driver() == "balanced"));
    let mut rooms = Rooms::new(&engine);
    let mut requests = 0;
    for _ in 0..400 {
        let messages = random(&keys, &mut numbers);
        check(&engine, &sessions, &messages, &mut rooms).expect("as one by one");
        let before = messages.iter().filter(|message| message.before).count();
        requests += 2 * messages.len() - before;
        if let Some(message) = messages.last() {
            let mut places = message.places();
            let outcome = message.call(&sessions[message.key], &mut places);
            message.check(Some(outcome), &places).expect("as one by one");
            requests += 1;
        }
    }
    let given = shares(&engine);
    assert!(given.iter().all(|&given| given > 100), "{given:?}");
    let total: u64 = given.iter().sum();
    assert!(total >= requests as u64, "{given:?} of {requests}");
    let answered = [&card, &steady, &second].map(|driver| driver.answered() as u64);
    assert_eq!(given[1..], answered);
    drop(sessions);
    assert!([card, second, steady].iter().all(|driver| driver.sessions() == 0), "all are closed");
}

/// With OpenSSL beside the software, on one thread.
#[cfg(feature = "openssl")]
#[test]
fn openssl_shares_load() {
    let engine = match Engine::new().with_openssl() {
        Ok(engine) => engine,
        Err(error) => return println!("SKIPPED openssl: {error}"),
    };
    let engine = engine.with_balancing(&["software", "openssl"]).expect("they are there");
    let mut numbers = Random(312);
    let keys = random_keys(2, &algorithms(), &mut numbers);
    let open = |key: &lanecrypt_testing::batches::keys::Key| {
        engine.session_on("balanced", key.algorithm, &key.bytes).expect("the software has all")
    };
    let sessions: Vec<Session> = keys.iter().map(open).collect();
    let mut rooms = Rooms::new(&engine);
    for _ in 0..400 {
        let messages = random(&keys, &mut numbers);
        check(&engine, &sessions, &messages, &mut rooms).expect("as one by one");
    }
    assert!(shares(&engine).iter().all(|&given| given > 100), "{:?}", shares(&engine));
}

/// Costs that drivers say decide: nothing is measured.
#[test]
fn shares_are_in_proportion_to_costs() {
    let beside = |name, cost| Flaky::new(name, 0).beside(Duration::from_micros(cost));
    let engine = with(&[beside("one", 1), beside("two", 2), beside("four", 4)]);
    let engine = engine.with_balancing(&["four", "one", "two"]).expect("they are there");
    let session = engine.session_on("balanced", Algorithm::NULL, &[]).expect("they have it");
    let run = |count: usize| {
        let mut data = vec![[1; 16]; count];
        let mut batch: Vec<Request<'_>> =
            data.iter_mut().map(|data| Request::encrypt(&session, &[], data)).collect();
        engine.process(&mut batch).expect("they serve it");
    };
    run(70);
    assert_eq!(shares(&engine), [10, 40, 20]);
    run(1);
    assert_eq!(shares(&engine), [10, 41, 20], "alone, by the fastest");
    run(2 * 256 + 3);
    let given = shares(&engine);
    assert_eq!(given.iter().sum::<u64>(), 70 + 1 + 515);
    assert!(given[1] > given[2] && given[2] > given[0], "{given:?}");

    // The same through a queue.
    let mut queue = LocalQueue::new(&engine, 70);
    let session = engine.session_on("balanced", Algorithm::NULL, &[]).expect("they have it");
    let session = queue.attach(session).expect("room");
    for user in 0..70 {
        let message = Message::encrypt(session, [0_u8; 0], vec![1; 16]).with_user(user);
        queue.submit(message).expect("room");
    }
    for user in 0..70 {
        let done = queue.poll().expect("one for each");
        assert_eq!((done.user, done.outcome), (user, Ok(())));
    }
    let later = shares(&engine);
    let more: Vec<u64> = later.iter().zip(&given).map(|(later, given)| later - given).collect();
    assert_eq!(more, [10, 40, 20]);
}

/// More algorithms in a batch than are planned at once.
#[test]
fn any_number_of_algorithms_may_be_in_a_batch() {
    let steady = Flaky::new("steady", 0);
    let engine = with(core::slice::from_ref(&steady))
        .with_balancing(&["steady", "software"])
        .expect("names");
    let all = algorithms();
    assert!(2 * all.len() > 3 * 16);
    let sessions: Vec<Session> = all
        .iter()
        .map(|&algorithm| {
            let key: Vec<u8> = (0..).take(algorithm.key_lengths().longest()).collect();
            engine.session_on("balanced", algorithm, &key).expect("they have all")
        })
        .collect();
    let nonces: Vec<Vec<u8>> = all.iter().map(|row| vec![3; row.nonce_length()]).collect();
    // Whole blocks, and room for the tag.
    let lengths = all.iter().map(|row| 240 + row.tag_length()).cycle();
    let mut data: Vec<Vec<u8>> = lengths.map(|len| vec![7; len]).take(3 * all.len()).collect();
    let mut batch: Vec<Request<'_>> = data
        .iter_mut()
        .enumerate()
        .map(|(at, data)| {
            let (session, nonce) = (&sessions[at % all.len()], &nonces[at % all.len()]);
            match session.algorithm().expect("a cipher").is_aead() {
                true => Request::seal(session, nonce, &[], &mut data[..]),
                false => Request::encrypt(session, nonce, &mut data[..]),
            }
        })
        .collect();
    engine.process(&mut batch).expect("each is right");
    drop(batch);
    let (first, others) = data.split_at(all.len());
    assert!(others.chunks(all.len()).all(|chunk| chunk == first));
    assert_eq!(shares(&engine).iter().sum::<u64>(), 3 * all.len() as u64);
}

/// Without migration a panic goes to the caller, after the others have served their share.
#[test]
fn without_migration_a_panic_propagates() {
    let failing = Flaky::new("failing", 1).beside(Duration::from_micros(1));
    let steady = Flaky::new("steady", 0).beside(Duration::from_micros(1));
    let engine = with(&[failing.clone(), steady.clone()]);
    let engine = engine.with_balancing(&["failing", "steady"]).expect("names");
    let session = engine.session_on("balanced", Algorithm::NULL, &[]).expect("they have it");
    let (mut panicked, mut said) = (0, 0);
    for turn in 1..=40 {
        let mut data = [[1; 16]; 2];
        let mut batch: Vec<Request<'_>> =
            data.iter_mut().map(|data| Request::encrypt(&session, &[], data)).collect();
        let served = catch_unwind(AssertUnwindSafe(|| engine.process(&mut batch)));
        match served {
            Err(_) => panicked += 1,
            Ok(answer) => {
                said += 1;
                assert!(answer.is_err());
            }
        }
        let well = batch.iter().filter(|request| request.outcome() == Some(Ok(()))).count();
        assert_eq!((well, steady.answered()), (1, turn));
    }
    assert!(panicked > 5 && said > 5, "{panicked} {said}");
    assert_eq!(engine.failed_drivers().count(), 0);
    assert!(!engine.readmit("failing"));
    // A panic over the end of a session does not keep it open elsewhere.
    let mut sessions = vec![session];
    failing.repair();
    let open = || engine.session_on("balanced", Algorithm::NULL, &[]).expect("they have it");
    sessions.extend((0..20).map(|_| open()));
    failing.fail_one_in(1);
    assert!(sessions[0].encrypt(&[], &mut [1; 16]).is_err());
    let close = |session: Session| catch_unwind(AssertUnwindSafe(|| drop(session))).is_err();
    let panics = sessions.drain(..).map(close).filter(|panicked| *panicked).count();
    assert!((1..=20).contains(&panics), "{panics}");
    assert_eq!(steady.sessions(), 0, "all are closed");
}

#[test]
fn errors_are_exact() {
    let engine = || with(&cards());
    let refused = |names: &[&str]| engine().with_balancing(names).err();
    assert_eq!(refused(&["software", "cart"]), Some(DriverNameError::Unknown));
    assert_eq!(refused(&["software", ""]), Some(DriverNameError::Unknown));
    assert_eq!(refused(&["balanced"]), Some(DriverNameError::Unknown));
    assert_eq!(refused(&["card", "software", "card"]), Some(DriverNameError::Taken));
    assert_eq!(refused(&["card"; Engine::MOST_BALANCED + 1]), Some(DriverNameError::TooMany));
    let twice = engine().with_balancing(&["card"]).expect("a name").with_balancing(&["card"]);
    assert_eq!(twice.err(), Some(DriverNameError::Taken));
    assert_eq!(DriverNameError::Unknown.to_string(), "no driver has this name");
    assert_eq!(DriverNameError::TooMany.to_string(), "too many drivers");

    let key = [1; 16];
    let open = |engine: &Engine, algorithm, key: &[u8]| {
        engine.session_on("balanced", algorithm, key).err()
    };
    // Nothing is balanced, or by nobody who has the algorithm.
    assert_eq!(open(&engine(), Algorithm::AES_128_GCM, &key), Some(Error::Unsupported));
    let none = engine().with_balancing(&[]).expect("no names");
    assert_eq!(open(&none, Algorithm::AES_128_GCM, &key), Some(Error::Unsupported));
    let null = engine().with_balancing(&["null"]).expect("a name");
    assert_eq!(open(&null, Algorithm::AES_128_GCM, &key), Some(Error::Unsupported));
    assert_eq!(open(&null, Algorithm::NULL, &[]), None);
    assert_eq!(open(&null, Algorithm::NULL, &[1]), Some(Error::KeyLength));
    let some = engine().with_balancing(&["null", "card"]).expect("names");
    assert_eq!(open(&some, Algorithm::AES_128_GCM, &key[1..]), Some(Error::KeyLength));
    assert_eq!(open(&some, Algorithm::AES_128_XTS, &[1; 32]), Some(Error::WeakKey));
    assert_eq!(open(&some, Algorithm::AES_128_GCM, &key), None);

    let moving = null.with_migration().expect("names");
    assert_eq!(open(&moving, Algorithm::AES_128_GCM, &key), Some(Error::Unsupported));
    let on_null = moving.session_on("null", Algorithm::AES_128_GCM, &key).err();
    assert_eq!(on_null, Some(Error::Unsupported));
    let unknown = moving.session_on("cart", Algorithm::NULL, &[]).err();
    assert_eq!(unknown, Some(Error::Unsupported));
    assert!(!moving.readmit("null") && !moving.readmit("cart"));

    // Without names, all drivers.
    let all = engine().with_migration().expect("few drivers");
    let names: Vec<&str> = all.shares().map(|(name, _)| name).collect();
    assert_eq!(names, ["software", "null", "card", "second"]);
}
