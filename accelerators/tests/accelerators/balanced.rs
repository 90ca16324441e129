//! Load that several drivers share: it lands on each, and the answers are those of one.

use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::panic::catch_unwind;

use lanecrypt_accelerators::{Balanced, Member, MembersError};
use lanecrypt_engine::queue::{LocalQueue, Message};
use lanecrypt_engine::{Algorithm, DriverNameError, Error, Null, OpenSsl, Request, Session};
use lanecrypt_testing::batches::batch::{Rooms, check, random};
use lanecrypt_testing::batches::keys::{algorithms, random_keys};
use lanecrypt_testing::batches::numbers::Random;

use crate::flaky::{self, Flaky, software};

fn share(members: impl IntoIterator<Item = Member>) -> Balanced {
    Balanced::new(members).expect("good names")
}

fn shares(balanced: &Balanced) -> Vec<u64> {
    balanced.shares().map(|(_, given)| given).collect()
}

fn cards() -> [Flaky; 2] {
    // As fast as the software is, more or less.
    let of = |name, cost| Flaky::new(name, 0).asynchronous(Duration::from_nanos(cost));
    [of("card", 200), of("second", 900)]
}

/// Drivers on the calling thread and asynchronous ones, of every algorithm.
#[test]
fn load_lands_on_each_driver_and_answers_are_equal() {
    let [card, second] = cards();
    let steady = Flaky::new("steady", 0);
    let balanced = share([software(), card.member(), steady.member(), second.member()]);
    let engine = flaky::engine(&balanced, &[]);
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
    let given = shares(&balanced);
    assert!(given.iter().all(|&given| given > 100), "{given:?}");
    let total: u64 = given.iter().sum();
    assert!(total >= requests as u64, "{given:?} of {requests}");
    let answered = [&card, &steady, &second].map(|driver| driver.answered() as u64);
    assert_eq!(given[1..], answered);
    drop(sessions);
    assert!([card, second, steady].iter().all(|driver| driver.sessions() == 0), "all are closed");
}

/// OpenSSL and the software, on one thread.
#[test]
fn openssl_shares_load() {
    let openssl = match OpenSsl::open() {
        Ok(openssl) => openssl,
        Err(error) => return println!("SKIPPED openssl: {error}"),
    };
    let balanced = share([software(), Member::new(openssl)]);
    let engine = flaky::engine(&balanced, &[]);
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
    assert!(shares(&balanced).iter().all(|&given| given > 100), "{:?}", shares(&balanced));
}

/// Costs that drivers say decide: nothing is measured.
#[test]
fn shares_are_in_proportion_to_costs() {
    let of = |name, cost| Flaky::new(name, 0).asynchronous(Duration::from_micros(cost)).member();
    let balanced = share([of("four", 4), of("one", 1), of("two", 2)]);
    let engine = flaky::engine(&balanced, &[]);
    let session = engine.session_on("balanced", Algorithm::NULL, &[]).expect("they have it");
    let run = |count: usize| {
        let mut data = vec![[1; 16]; count];
        let mut batch: Vec<Request<'_>> =
            data.iter_mut().map(|data| Request::encrypt(&session, &[], data)).collect();
        engine.process(&mut batch).expect("they serve it");
    };
    run(70);
    assert_eq!(shares(&balanced), [10, 40, 20]);
    run(1);
    assert_eq!(shares(&balanced), [10, 41, 20], "alone, by the fastest");
    run(2 * 256 + 3);
    let given = shares(&balanced);
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
    let later = shares(&balanced);
    let more: Vec<u64> = later.iter().zip(&given).map(|(later, given)| later - given).collect();
    assert_eq!(more, [10, 40, 20]);
}

/// More algorithms in a batch than are planned at once.
#[test]
fn any_number_of_algorithms_may_be_in_a_batch() {
    let steady = Flaky::new("steady", 0);
    let balanced = share([steady.member(), software()]);
    let engine = flaky::engine(&balanced, &[]);
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
    assert_eq!(shares(&balanced).iter().sum::<u64>(), 3 * all.len() as u64);
}

/// Without migration a panic goes to the caller, after the others have served their share.
#[test]
fn without_migration_a_panic_propagates() {
    let failing = Flaky::new("failing", 1).asynchronous(Duration::from_micros(1));
    let steady = Flaky::new("steady", 0).asynchronous(Duration::from_micros(1));
    let balanced = share([failing.member(), steady.member()]);
    let engine = flaky::engine(&balanced, &[]);
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
    assert_eq!(balanced.failed().count(), 0);
    assert!(!balanced.readmit("failing"));
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

/// Sessions of one member of several, without migration.
#[test]
fn a_member_serves_sessions_of_its_own() {
    let [card, second] = cards();
    let balanced = share([software(), card.member(), second.member()]);
    let engine = flaky::engine(&balanced, &["card"]);
    let session = engine.session_on("card", Algorithm::NULL, &[]).expect("it has it");
    assert_eq!((session.driver(), card.sessions(), second.sessions()), ("card", 1, 0));
    for _ in 0..10 {
        session.encrypt(&[], &mut [1; 16]).expect("it serves it");
    }
    assert_eq!(shares(&balanced), [0, 10, 0]);
    card.fail_one_in(1);
    let served = catch_unwind(AssertUnwindSafe(|| session.encrypt(&[], &mut [1; 16])));
    assert!(served.is_err() || served.is_ok_and(|outcome| outcome.is_err()));
    assert_eq!((shares(&balanced), balanced.failed().count()), (vec![0, 11, 0], 0));
    drop(session);
    assert_eq!(card.sessions(), 0);
    assert!(balanced.with_preference("cart").is_none());
}

/// A driver that is made of several may itself be one of several.
#[test]
fn one_of_several_may_be_several() {
    let [card, second] = cards();
    let inner = share([card.member(), second.member()]);
    let balanced = Balanced::with_migration([Member::new(inner.clone())]).expect("a good name");
    let engine = flaky::engine(&balanced, &[]);
    let mut numbers = Random(313);
    let keys = random_keys(1, &algorithms(), &mut numbers);
    let open = |key: &lanecrypt_testing::batches::keys::Key| {
        engine.session_on("balanced", key.algorithm, &key.bytes).expect("they have all")
    };
    let sessions: Vec<Session> = keys.iter().map(open).collect();
    let mut rooms = Rooms::new(&engine);
    for _ in 0..50 {
        let messages = random(&keys, &mut numbers);
        check(&engine, &sessions, &messages, &mut rooms).expect("as one by one");
    }
    assert_eq!(shares(&balanced), [shares(&inner).iter().sum::<u64>()]);
    drop(sessions);
    assert_eq!((card.sessions(), second.sessions()), (0, 0), "all are closed");
}

#[test]
fn errors_are_exact() {
    let card = || Flaky::new("card", 0).member();
    let null = || Member::new(Null::default());
    let refused = |members: Vec<Member>| Balanced::new(members).err();
    assert_eq!(refused(vec![card(), software(), card()]), Some(MembersError::Taken));
    let many = |count| (0..count).map(|_| card()).collect();
    assert_eq!(refused(many(Balanced::MAX_MEMBERS + 1)), Some(MembersError::TooMany));
    assert_eq!(refused(many(Balanced::MAX_MEMBERS)), Some(MembersError::Taken));
    assert_eq!(MembersError::Taken.to_string(), "two drivers have the same name");
    assert_eq!(MembersError::TooMany.to_string(), "more than 16 drivers");
    let twice = flaky::engine(&share([card()]), &[]).with_driver(share([card()]));
    assert_eq!(twice.err(), Some(DriverNameError::Taken));

    let key = [1; 16];
    let open = |balanced: &Balanced, algorithm, key: &[u8]| {
        flaky::engine(balanced, &[]).session_on("balanced", algorithm, key).err()
    };
    // Nobody has the algorithm.
    assert_eq!(open(&share([]), Algorithm::AES_128_GCM, &key), Some(Error::Unsupported));
    let only = share([null()]);
    assert_eq!(open(&only, Algorithm::AES_128_GCM, &key), Some(Error::Unsupported));
    assert_eq!(open(&only, Algorithm::NULL, &[]), None);
    assert_eq!(open(&only, Algorithm::NULL, &[1]), Some(Error::KeyLength));
    let some = share([null(), card()]);
    assert_eq!(open(&some, Algorithm::AES_128_GCM, &key[1..]), Some(Error::KeyLength));
    assert_eq!(open(&some, Algorithm::AES_128_XTS, &[1; 32]), Some(Error::WeakKey));
    assert_eq!(open(&some, Algorithm::AES_128_GCM, &key), None);

    let moving = Balanced::with_migration([null()]).expect("a good name");
    assert_eq!(open(&moving, Algorithm::AES_128_GCM, &key), Some(Error::Unsupported));
    let engine = flaky::engine(&moving, &[]);
    let engine = engine.with_driver(moving.with_preference("null").expect("it is there"));
    assert_eq!(engine.err(), Some(DriverNameError::Taken), "every engine has it");
    assert!(!moving.readmit("null") && !moving.readmit("cart"));
    let names = ["software", "null", "card"];
    assert!(share([software(), null(), card()]).shares().map(|(name, _)| name).eq(names));
}
