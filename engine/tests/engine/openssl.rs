//! The driver `openssl` gives the results and the errors of the software.

use std::fs::File;
use std::process::Command;
use std::thread;

use lanecrypt_engine::{
    Algorithm, Driver as _, DriverNameError, Engine, Error, OpenSsl, OpenSslError, Operation,
    Request, Session,
};
use lanecrypt_testing::batches::batch::{Rooms, check, random};
use lanecrypt_testing::batches::keys::{Key, algorithms, random_keys};
use lanecrypt_testing::batches::message::{Expected, Form, Message};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};

/// An engine with the driver, or none where there is no libcrypto.
fn engine() -> Option<Engine> {
    match Engine::new().with_openssl() {
        Ok(engine) => Some(engine),
        Err(error) => {
            println!("SKIPPED openssl: {error}");
            None
        }
    }
}

/// Whether every libcrypto has it. Those of a legacy provider may be a package of their own.
fn is_offered(algorithm: Algorithm) -> bool {
    let name = algorithm.to_string();
    let of_chacha20 = ["chacha20-djb", "chacha20-ietf", "chacha20-poly1305"];
    // A cipher with a code behind it is two calls of libcrypto, and few versions of it have modes
    // with a synthetic vector: the software serves both.
    name.starts_with("aes-") && algorithm.mac().is_none() && !name.contains("siv")
        || of_chacha20.contains(&&*name)
        || ["3des-cbc", "3des-ecb"].contains(&&*name)
}

fn is_legacy(algorithm: Algorithm) -> bool {
    ["des-cbc", "des-ecb"].contains(&&*algorithm.to_string())
}

/// Sessions of the driver for those keys that it takes.
fn open(engine: &Engine, keys: Vec<Key>) -> (Vec<Key>, Vec<Session>) {
    let mut taken = (Vec::new(), Vec::new());
    for key in keys {
        match engine.session_on("openssl", key.algorithm, &key.bytes) {
            Ok(session) => {
                taken.0.push(key);
                taken.1.push(session);
            }
            Err(error) => {
                assert_eq!(error, Error::Unsupported);
                // OpenSSL has 256-bit keys of ChaCha20 only.
                let short =
                    key.bytes.len() == 16 && key.algorithm.to_string().starts_with("chacha");
                assert!(short || !is_offered(key.algorithm), "{}", key.algorithm);
            }
        }
    }
    taken
}

#[test]
fn it_serves_what_libcrypto_offers() {
    let Some(engine) = engine() else { return };
    assert_eq!(engine.drivers().last(), Some("openssl"));
    for algorithm in algorithms() {
        let length = algorithm.key_lengths().longest();
        let key: Vec<u8> = (1..).take(length).collect();
        let session = engine.session_on("openssl", algorithm, &key);
        match session {
            Ok(session) => {
                assert!(is_offered(algorithm) || is_legacy(algorithm), "{algorithm}");
                assert_eq!(session.driver(), "openssl");
            }
            Err(error) => {
                assert_eq!(error, Error::Unsupported);
                assert!(!is_offered(algorithm), "{algorithm}");
            }
        }
    }
}

/// Random batches of good and bad messages, of every algorithm that it has.
#[test]
fn results_and_errors_are_those_of_the_software() {
    let Some(engine) = engine() else { return };
    let mut numbers = Random(83);
    let (keys, sessions) = open(&engine, random_keys(4, &algorithms(), &mut numbers));
    assert!(sessions.iter().all(|session| session.driver() == "openssl"));
    let mut rooms = Rooms::new(&engine);
    for _ in 0..600 {
        let messages = random(&keys, &mut numbers);
        check(&engine, &sessions, &messages, &mut rooms).expect("as the software");
        if let Some(message) = messages.last() {
            let mut places = message.places();
            let outcome = message.call(&sessions[message.key], &mut places);
            message.check(Some(outcome), &places).expect("as the software");
        }
    }
}

/// Every length up to a few blocks, and some around what a session keeps as its buffer.
#[test]
fn every_length_is_right() {
    let Some(engine) = engine() else { return };
    let mut numbers = Random(84);
    let (keys, sessions) = open(&engine, random_keys(1, &algorithms(), &mut numbers));
    let mut rooms = Rooms::new(&engine);
    for len in (0..130).chain([65_535, 65_536, 65_553, 200_000]) {
        let one = |key| Message::random(&keys, key, len, &mut numbers);
        let messages: Vec<Message> = (0..keys.len()).map(one).collect();
        check(&engine, &sessions, &messages, &mut rooms).expect("as the software");
    }
}

/// A packet of which any bit was changed is refused, and its output wiped, in place and apart.
#[test]
fn forgeries_are_wiped() {
    let Some(engine) = engine() else { return };
    for algorithm in algorithms().into_iter().filter(|row| row.is_aead() && is_offered(*row)) {
        let key = vec![5; algorithm.key_lengths().longest()];
        let session = engine.session_on("openssl", algorithm, &key).expect("a good key");
        let nonce = vec![6; algorithm.nonce_length()];
        let mut good = [7; 32 + 16];
        session.seal(&nonce, b"aad", &mut good).expect("good lengths");
        for bit in 0..8 * good.len() {
            let mut packet = good;
            packet[bit / 8] ^= 1 << (bit % 8);
            let (from, tag) = packet.split_at(32);
            let (from, tag) = (from.to_vec(), tag.to_vec());
            let mut out = [9; 32];
            let opened = session.open_detached(&nonce, b"aad", (&from[..], &mut out[..]), &tag);
            assert_eq!((opened, out), (Err(Error::Authentication), [0; 32]), "{algorithm}");
            let opened = session.open(&nonce, b"aad", &mut packet).err();
            assert_eq!(opened, Some(Error::Authentication));
            assert_eq!(packet[..32], [0; 32], "{algorithm}, bit {bit}");
        }
        let opened = session.open(&nonce, b"aaa", &mut good.clone()).err();
        assert_eq!(opened, Some(Error::Authentication));
        assert_eq!(session.open(&nonce, b"aad", &mut good).map(|text| text.to_vec()), {
            Ok(vec![7; 32])
        });
    }
}

/// One session and sessions of their own.
#[test]
fn threads_share_sessions() {
    let Some(engine) = engine() else { return };
    let mut numbers = Random(85);
    let (keys, sessions) = open(&engine, random_keys(1, &algorithms(), &mut numbers));
    thread::scope(|scope| {
        for seed in 0..4 {
            let (engine, keys, sessions) = (&engine, &keys, &sessions);
            scope.spawn(move || {
                let (mut numbers, mut rooms) = (Random(seed), Rooms::new(engine));
                for _ in 0..100 {
                    let messages = random(keys, &mut numbers);
                    check(engine, sessions, &messages, &mut rooms).expect("as the software");
                    let key = &keys[numbers.below(keys.len())];
                    let own = engine.session_on("openssl", key.algorithm, &key.bytes);
                    drop(own.expect("a good key"));
                }
            });
        }
    });
}

/// A message stays whole between those of other sessions: each has its own IV.
#[test]
fn messages_do_not_continue_one_another() {
    let Some(engine) = engine() else { return };
    let cbc = Algorithm::AES_128_CBC;
    let key = Key::new(cbc, vec![3; 16]);
    let session = engine.session_on("openssl", cbc, &key.bytes).expect("a good key");
    let mut data = [[1; 64]; 4];
    let mut batch: Vec<Request<'_>> =
        data.iter_mut().map(|data| Request::encrypt(&session, &[2; 16], &mut data[..])).collect();
    engine.process(&mut batch).expect("good lengths");
    assert!(data.iter().all(|one| *one == data[0]) && data[0] != [1; 64]);
    let mut message = Message {
        key: 0,
        operation: Operation::Encrypt,
        form: Form::InPlace,
        nonce: vec![2; 16],
        aad: Vec::new(),
        data: vec![1; 64],
        tag: Vec::new(),
        tag_length: 0,
        before: false,
        offset: 0,
        expected: Expected { outcome: Ok(()), out: Vec::new(), tag: Vec::new() },
    };
    message.expect(&[key]);
    assert_eq!(message.expected.out, data[0]);
}

#[test]
fn sessions_are_opened_and_closed() {
    let Ok(driver) = OpenSsl::open() else { return println!("SKIPPED openssl: no libcrypto") };
    assert!(!driver.version().is_empty());
    let cbc = Algorithm::AES_128_CBC;
    let [first, second] = [1, 2].map(|byte| driver.open(cbc, &[byte; 16]).expect("a good key"));
    assert_ne!(first, second);
    driver.close(first);
    // Twice, or one that was never opened: nothing happens.
    driver.close(first);
    driver.close(lanecrypt_engine::SessionId(u64::MAX));
    // The place is used again, once.
    let [third, fourth] = [3, 4].map(|byte| driver.open(cbc, &[byte; 16]).expect("a good key"));
    assert_eq!(third, first);
    assert!(fourth != second && fourth != third);

    assert_eq!(driver.open(cbc, &[0; 17]), Err(Error::KeyLength));
    assert_eq!(driver.open(Algorithm::AES_128_XTS, &[1; 32]), Err(Error::WeakKey));
    assert_eq!(driver.open(Algorithm::CHACHA12_IETF, &[1; 32]), Err(Error::Unsupported));
    assert_eq!(driver.open(Algorithm::CHACHA20_DJB, &[1; 16]), Err(Error::Unsupported));
}

#[test]
fn an_engine_has_it_once() {
    let Some(engine) = engine() else { return };
    let error = engine.with_openssl().expect_err("it has it");
    assert_eq!(error, OpenSslError::Name(DriverNameError::Taken));
    assert_eq!(error.to_string(), "openssl: another driver has this name");
}

/// Set in the process that has no files left to open a library with.
const CHILD: &str = "LANECRYPT_TEST_NO_FILES";

#[test]
fn without_libcrypto_the_error_says_so() {
    if std::env::var_os(CHILD).is_some() {
        return without_files();
    }
    let itself = std::env::current_exe().expect("its path");
    let name = "openssl::without_libcrypto_the_error_says_so";
    let script = format!("ulimit -n 64; exec \"$0\" --exact {name} --nocapture");
    let output = Command::new("sh").args(["-c", &script]).arg(itself).env(CHILD, "1").output();
    let output = output.expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("it was refused"), "{output:?}");
}

fn without_files() {
    let files: Vec<File> = core::iter::from_fn(|| File::open("/dev/null").ok()).take(100).collect();
    assert!(files.len() < 64, "the limit does not hold");
    let error = Engine::new().with_openssl().expect_err("no library can be opened");
    drop(files);
    assert!(matches!(error, OpenSslError::NotFound(_)), "{error:?}");
    let text = error.to_string();
    assert!(
        text.starts_with("OpenSSL's libcrypto cannot be used: ") && text.contains("libcrypto.so.3")
    );
    println!("it was refused");
}
