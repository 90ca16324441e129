//! Signatures by drivers other than the software: the same signatures, the same errors.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use lanecrypt_engine::{
    Algorithm, AsymmetricKey, Driver, Engine, Error, Job, Jobs, Operation, Request, RsaKey,
    Session, SessionId,
};
use lanecrypt_rsa::{Padding, Workspace};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};

use crate::signatures::Case;
use crate::signers::{Signer, signers};

/// Random requests of sessions of a driver, among some of the software.
fn check(engine: &Engine, driver: &str, signers: &[Signer], seed: u64) {
    let mut numbers = Random(seed);
    let open = |it: &Signer| {
        let software = engine.asymmetric_session((it.key.clone(), it.padding));
        let other =
            engine.asymmetric_session_on(driver, (it.key.clone(), it.padding)).expect("it has it");
        assert_eq!((other.driver(), software.driver()), (driver, "software"));
        [other, software]
    };
    let sessions: Vec<[Session; 2]> = signers.iter().map(open).collect();
    let mut buffer = engine.batch_buffer(20);
    for count in [1, 2, 7, 40] {
        let cases: Vec<_> = (0..count).map(|_| Case::random(signers, &mut numbers)).collect();
        let wrong = cases.iter().filter(|case| case.outcome.is_err()).count();
        let on: Vec<_> = (0..count).map(|_| usize::from(numbers.one_in(4))).collect();
        let session = |at: usize| &sessions[cases[at].signer][on[at]];
        for way in 0..3 {
            let mut places: Vec<_> = cases.iter().map(|case| case.place(signers)).collect();
            let each = cases.iter().zip(&mut places).enumerate();
            let outcomes: Vec<_> = match way {
                0 => {
                    let mut requests: Vec<_> = each
                        .map(|(at, (case, place))| match case.signature {
                            None => Request::sign(session(at), &case.message, place),
                            Some(_) => Request::verify(session(at), &case.message, place),
                        })
                        .collect();
                    let served = engine.process(&mut requests);
                    assert_eq!(served.map_or_else(|error| error.failed, |()| 0), wrong);
                    requests.iter().map(Request::outcome).collect()
                }
                1 => {
                    let mut batch = buffer.batch();
                    for (at, (case, place)) in each {
                        match case.signature {
                            None => batch.sign(session(at), &case.message, place),
                            Some(_) => batch.verify(session(at), &case.message, place),
                        };
                    }
                    let served = batch.finish();
                    assert_eq!(served.map_or_else(|error| error.failed, |()| 0), wrong);
                    buffer.outcomes().collect()
                }
                _ => each
                    .map(|(at, (case, place))| {
                        Some(match case.signature {
                            None => session(at).sign(&case.message, place),
                            Some(_) => session(at).verify(&case.message, place),
                        })
                    })
                    .collect(),
            };
            for ((case, outcome), place) in cases.iter().zip(outcomes).zip(&places) {
                case.assert(signers, outcome.expect("it was served"), place);
            }
        }
    }
}

/// Counts the requests that it is given, of each operation, and serves them by the crate of RSA.
#[derive(Debug, Default)]
struct Own {
    keys: std::sync::Mutex<Vec<Option<(RsaKey, Padding)>>>,
    given: Arc<[AtomicUsize; 2]>,
}

impl Own {
    fn serve(&self, job: &mut Job<'_, '_>) -> Result<(), Error> {
        let at = usize::try_from(job.session_id().0).expect("an index");
        let (key, padding) = self.keys.lock().expect("nobody panics")[at].clone().expect("open");
        let its = job.session().asymmetric_key().and_then(AsymmetricKey::rsa).expect("it has one");
        assert_eq!(its.0.public_key(), key.public_key());
        assert_eq!((job.tag_length(), job.nonce().len()), (0, 0));
        assert!(job.tag().is_none());
        assert_eq!(job.data().err(), Some(Error::Unsupported));
        assert_eq!(job.put_tag(&[]), Err(Error::Unsupported));
        let (message, mut workspace) = (job.aad(), Workspace::new());
        if job.operation() == Operation::Verify {
            // Relaxed: it is read when all is done.
            self.given[1].fetch_add(1, Ordering::Relaxed);
            assert_eq!(job.put_output(&[]), Err(Error::Unsupported));
            let signature = job.signature().expect("it is there");
            assert_eq!(job.output_length(), 0);
            let checked = key.public_key().verify(padding, message, signature, &mut workspace);
            return checked.map_err(|_| Error::Authentication);
        }
        self.given[0].fetch_add(1, Ordering::Relaxed);
        assert_eq!((job.operation(), job.signature()), (Operation::Sign, None));
        assert_eq!(job.output_length(), key.signature_length());
        let mut signature = vec![0; key.signature_length()];
        let private = key.private_key().ok_or(Error::Unsupported)?;
        private.sign(padding, message, &mut signature, &mut workspace).expect("it signs");
        assert_eq!(job.put_output(&signature[1..]), Err(Error::OutputLength));
        job.put_output(&signature)
    }
}

impl Driver for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn open(&self, _: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        Err(Error::Unsupported)
    }

    fn open_asymmetric(&self, key: &AsymmetricKey) -> Result<SessionId, Error> {
        let (key, padding) = key.rsa().ok_or(Error::Unsupported)?;
        let mut keys = self.keys.lock().expect("nobody panics");
        keys.push(Some((key.clone(), padding)));
        Ok(SessionId(keys.len() as u64 - 1))
    }

    fn close(&self, session: SessionId) {
        let at = usize::try_from(session.0).expect("an index");
        let key = self.keys.lock().expect("nobody panics")[at].take();
        assert!(key.is_some(), "once");
    }

    fn process(&self, jobs: Jobs<'_, '_>) {
        for mut job in jobs {
            let outcome = self.serve(&mut job);
            job.settle(outcome);
        }
    }
}

#[test]
fn a_driver_of_the_users_is_given_signatures() {
    let own = Own::default();
    let given = own.given.clone();
    let engine = Engine::new().with_driver(own).expect("a free name");
    let signers = &signers()[..4];
    check(&engine, "own", signers, 81);
    let counts = || [0, 1].map(|at| given[at].load(Ordering::Relaxed));
    let before = counts();
    assert!(before.iter().all(|&count| count > 20), "{before:?}");
    // It gets nothing that its sessions do not have, by any door.
    let signer = &signers[0];
    let session = engine.asymmetric_session_on("own", (signer.public(), signer.padding));
    let session = session.expect("it has it");
    let refused = Err(Error::Unsupported);
    let mut place = vec![0; 64];
    assert_eq!(session.sign(b"message", &mut place), refused);
    assert_eq!(session.seal(&[0; 12], b"", &mut place), refused);
    assert_eq!(session.encrypt(&[], &mut place[..]), refused);
    let (mut other, mut third) = (place.clone(), place.clone());
    let mut requests = [
        Request::sign(&session, b"message", &mut place),
        Request::encrypt(&session, &[], &mut other[..]),
        Request::open(&session, &[], b"", &mut third),
    ];
    assert_eq!(engine.process(&mut requests).map_err(|error| error.failed), Err(3));
    assert!(requests.iter().all(|request| request.outcome() == Some(refused)));
    assert_eq!(counts(), before);
    drop(session);
    assert_eq!(Arc::strong_count(&signer.key), 1, "the driver has closed its sessions");
}

#[cfg(feature = "openssl")]
#[test]
fn openssl_gives_the_same_signatures() {
    use lanecrypt_engine::OpenSslError;

    let engine = match Engine::new().with_openssl() {
        Ok(engine) => engine,
        Err(OpenSslError::NotFound(what)) => return println!("SKIPPED openssl: {what}"),
        Err(error) => panic!("{error}"),
    };
    let mut signers = signers();
    let takes =
        |it: &Signer| engine.asymmetric_session_on("openssl", (it.key.clone(), it.padding)).is_ok();
    // Before 3.0 a key needs its primes.
    if !takes(&signers[1]) {
        signers.retain(|it| it.key.has_primes());
    }
    assert!(signers.iter().all(takes));
    check(&engine, "openssl", &signers, 82);
    // Errors are those of the software.
    let signer = &signers[0];
    for driver in ["software", "openssl"] {
        let open = |key: RsaKey, padding| engine.asymmetric_session_on(driver, (key, padding));
        let session = open(signer.key.clone().into(), signer.padding).expect("it has it");
        let public = open(signer.public(), signer.padding).expect("it has it");
        let own = signer.sign(b"message");
        assert_eq!(public.verify(b"message", &own), Ok(()));
        assert_eq!(public.verify(b"messagf", &own), Err(Error::Authentication));
        assert_eq!(public.sign(b"message", &mut own.clone()), Err(Error::Unsupported));
        for wrong in [0, own.len() - 1, own.len() + 1] {
            let mut place = vec![0; wrong];
            assert_eq!(session.sign(b"message", &mut place), Err(Error::OutputLength));
            assert_eq!(session.verify(b"message", &place), Err(Error::Authentication));
        }
        let pss = Padding::pss(lanecrypt_rsa::Hash::SHA512);
        let short = open(signer.key.clone().into(), pss).expect("it has it");
        assert_eq!(short.sign(b"message", &mut own.clone()), Err(Error::KeyLength), "{driver}");
        assert_eq!(short.verify(b"message", &own), Err(Error::KeyLength), "{driver}");
    }
}

#[cfg(feature = "aws-lc")]
#[test]
fn aws_lc_gives_the_same_signatures_and_takes_nothing_else() {
    use lanecrypt_engine::AwsLc;
    use lanecrypt_rsa::Hash;

    let engine = Engine::new().with_driver(AwsLc::new()).expect("a free name");
    let open =
        |key: RsaKey, padding| engine.asymmetric_session_on("aws-lc", (key, padding)).map(|_| ());
    let all = signers();
    let (large, small): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|it| it.key.public_key().bits() >= 2048);
    for it in &small {
        assert_eq!(open(it.key.clone().into(), it.padding), Err(Error::Unsupported));
        assert_eq!(open(it.public(), it.padding), Err(Error::Unsupported));
    }
    let pss = Padding::pss(Hash::SHA384);
    let salt = Padding::pss_with_salt_length(Hash::SHA384, 20);
    let mut taken = Vec::new();
    for it in large {
        let key = || RsaKey::from(it.key.clone());
        let with_primes = it.key.has_primes();
        assert_eq!(open(key(), it.padding).is_ok(), with_primes);
        assert_eq!(open(it.public(), it.padding), Ok(()));
        assert_eq!(open(it.public(), salt), Err(Error::Unsupported));
        assert_eq!(open(key(), salt), Err(Error::Unsupported));
        if with_primes {
            taken.push(Signer { padding: pss, ..it.clone() });
            taken.push(it);
        }
    }
    assert_eq!(taken.len(), 2);
    check(&engine, "aws-lc", &taken, 84);
    let ciphers = engine.session_on("aws-lc", Algorithm::AES_128_GCM, &[1; 16]);
    assert_eq!(ciphers.err(), Some(Error::Unsupported));
}
