//! Cards sign with RSA.

use core::time::Duration;

use lanecrypt_accelerators::model::{Card, Fault, Faults, Host, Model, VirtualClock, Work};
use lanecrypt_accelerators::{Balanced, Member};
use lanecrypt_engine::{Engine, Error, Request};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};

use crate::flaky::{self, software};
use crate::signers::{Signer, signers};

fn host() -> Host {
    Host::built_in("host-2003").expect("it is built in")
}

fn card() -> Card {
    Card::built_in("broadcom-5820").expect("it is built in")
}

fn engine(clock: &VirtualClock, faults: &Faults) -> Engine {
    let model = Model::new(card(), host()).with_clock(clock).with_faults(faults);
    Engine::new().with_driver(model).expect("a free name")
}

/// The keys that the card has figures for.
fn keys() -> Vec<Signer> {
    let has =
        |it: &Signer| card().rsa_bits().any(|bits| bits as usize == it.key.public_key().bits());
    signers().into_iter().filter(has).collect()
}

const NAME: &str = "model:broadcom-5820";

#[test]
fn signatures_are_right_and_take_the_time_of_the_card() {
    let (clock, keys) = (VirtualClock::default(), keys());
    assert!(!keys.is_empty());
    let engine = engine(&clock, &Faults::default());
    let mut numbers = Random(83);
    for signer in &keys {
        let session = engine.asymmetric_session_on(NAME, (signer.key.clone(), signer.padding));
        let session = session.expect("it has it");
        let bits = u32::try_from(signer.key.public_key().bits()).expect("few");
        let crt = signer.key.has_primes().then_some(Work::rsa_crt(bits));
        let time = |depth| {
            let each = |work| card().nanoseconds(&host(), work, depth);
            crt.and_then(each).or_else(|| each(Work::rsa(bits))).expect("it has a figure")
        };
        for count in [1, 8] {
            // The card is idle when the next batch comes.
            let (before, message) = (clock.now(), numbers.bytes(50));
            let mut places = vec![vec![0; signer.length()]; count];
            let mut batch: Vec<_> =
                places.iter_mut().map(|place| Request::sign(&session, &message, place)).collect();
            assert_eq!(engine.process(&mut batch), Ok(()));
            drop(batch);
            places.iter().for_each(|place| signer.assert_signed(&message, place));
            let (took, expected) = (clock.now() - before, time(count) * count as f64);
            let difference = took.as_nanos() as f64 - expected;
            assert!(difference.abs() <= expected / 20.0 + 2.0, "{took:?} {expected}");
        }
    }
    assert!(clock.now() > Duration::from_millis(1));
}

#[test]
fn the_card_signs_and_does_not_verify() {
    let (clock, signer) = (VirtualClock::default(), &keys()[0]);
    let engine = engine(&clock, &Faults::default());
    let public = engine.asymmetric_session_on(NAME, (signer.public(), signer.padding));
    assert_eq!(public.err(), Some(Error::Unsupported));
    let session = engine.asymmetric_session_on(NAME, (signer.key.clone(), signer.padding));
    let session = session.expect("it has it");
    let signature = signer.sign(b"message");
    assert_eq!(session.verify(b"message", &signature), Err(Error::Unsupported));
    assert_eq!(clock.now(), Duration::ZERO);
    let other = signers().into_iter().find(|it| it.key.public_key().bits() == 768).expect("one");
    let opened = engine.asymmetric_session_on(NAME, (other.key, other.padding));
    assert_eq!(opened.err(), Some(Error::Unsupported));
}

#[test]
fn faults_concern_one_request() {
    let (clock, faults, signer) = (VirtualClock::default(), Faults::default(), &keys()[0]);
    let engine = engine(&clock, &faults);
    let session = engine.asymmetric_session_on(NAME, (signer.key.clone(), signer.padding));
    let session = session.expect("it has it");
    faults.at(1, Fault::Fail(Error::Fault));
    faults.at(2, Fault::Lose);
    let mut places = vec![vec![0; signer.length()]; 4];
    let mut batch: Vec<_> =
        places.iter_mut().map(|place| Request::sign(&session, b"message", place)).collect();
    assert_eq!(engine.process(&mut batch).map_err(|error| error.failed), Err(2));
    let outcomes: Vec<_> = batch.iter().filter_map(Request::outcome).collect();
    assert_eq!(outcomes, [Ok(()), Err(Error::Fault), Err(Error::Unsupported), Ok(())]);
    drop(batch);
    [0, 3].iter().for_each(|&at| signer.assert_signed(b"message", &places[at]));
    assert!(places[1..3].iter().flatten().all(|&byte| byte == 0));
}

/// Sessions with keys are not shared by several drivers, nor moved.
#[test]
fn sessions_of_keys_are_not_shared() {
    let (model, signer) = (Model::new(card(), host()), &keys()[0]);
    let balanced = Balanced::with_migration([software(), Member::new(model)]);
    let engine = flaky::engine(&balanced.expect("good names"), &[NAME]);
    for name in ["balanced", NAME] {
        let session = engine.asymmetric_session_on(name, (signer.key.clone(), signer.padding));
        assert_eq!(session.err(), Some(Error::Unsupported), "{name}");
    }
}
