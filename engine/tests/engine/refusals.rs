//! Keys, operations, lengths and packets that are refused, with their exact errors, and those that
//! are accepted.

use lanecrypt_engine::queue::{LocalQueue, Message, MessageError};
use lanecrypt_engine::{Algorithm, BatchError, Engine, Error, Operation, Request, Session};

/// Distinct bytes, unlike the output of a cipher.
fn key(length: usize) -> Vec<u8> {
    (1..).map(|i: usize| i.to_le_bytes()[0]).take(length).collect()
}

fn open(engine: &Engine, algorithm: Algorithm) -> Session {
    let key = key(algorithm.key_lengths().longest());
    engine.session_on("software", algorithm, &key).expect("a good key")
}

/// ARC4 has no sessions: all messages of one would have the same keystream.
fn algorithms() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.to_string() != "arc4")
}

fn failed(answer: Result<(), BatchError>) -> usize {
    answer.map_or_else(|error| error.failed, |()| 0)
}

#[test]
fn keys_of_other_lengths_are_refused() {
    let engine = Engine::new();
    for algorithm in algorithms() {
        for length in (0..80).chain([256, 257, 1000]) {
            let good = algorithm.key_lengths().contains(length);
            let key = key(length);
            let door = if algorithm.is_aead() { Engine::session } else { Engine::raw_session };
            let answers =
                [door(&engine, algorithm, &key), engine.session_on("software", algorithm, &key)];
            for answer in answers {
                let expected = if good { None } else { Some(Error::KeyLength) };
                assert_eq!(answer.err(), expected, "{algorithm}: {length}");
            }
        }
    }
}

#[test]
fn every_algorithm_has_its_door() {
    let engine = Engine::new();
    for &algorithm in Algorithm::ALL {
        let key = key(algorithm.key_lengths().longest());
        let door = engine.session(algorithm, &key);
        let hazmat = engine.raw_session(algorithm, &key);
        let (opened, other) = if algorithm.is_aead() { (door, hazmat) } else { (hazmat, door) };
        assert_eq!(other.err(), Some(Error::Unsupported), "{algorithm}");
        if algorithm.to_string() == "arc4" {
            assert_eq!(opened.err(), Some(Error::Unsupported));
            continue;
        }
        let session = opened.expect("a good key");
        assert_eq!(session.algorithm().expect("a cipher"), algorithm);
        assert_eq!(session.tag_length(), algorithm.tag_length());
        assert_eq!(session.driver(), "software", "{algorithm}");
    }
}

#[test]
fn keys_of_xts_with_equal_halves_are_refused() {
    let engine = Engine::new();
    for (algorithm, length) in [(Algorithm::AES_128_XTS, 32), (Algorithm::AES_256_XTS, 64)] {
        let weak = vec![7; length];
        assert_eq!(engine.raw_session(algorithm, &weak).err(), Some(Error::WeakKey));
        assert_eq!(engine.session_on("software", algorithm, &weak).err(), Some(Error::WeakKey));
    }
}

#[test]
fn drivers_are_found_by_name() {
    let engine = Engine::default();
    assert_eq!(engine.drivers().collect::<Vec<_>>(), ["software", "null"]);
    for name in ["", "Software", "softwar", "card", "null "] {
        let answer = engine.session_on(name, Algorithm::NULL, &[]);
        assert_eq!(answer.err(), Some(Error::Unsupported), "{name}");
    }
    for name in ["software", "null"] {
        let session = engine.session_on(name, Algorithm::NULL, &[]).expect("it serves this");
        assert_eq!(session.driver(), name);
        let answer = engine.session_on(name, Algorithm::NULL, &[1]);
        assert_eq!(answer.err(), Some(Error::KeyLength), "{name}");
    }
    for algorithm in algorithms().filter(|&algorithm| algorithm != Algorithm::NULL) {
        let key = key(algorithm.key_lengths().longest());
        let answer = engine.session_on("null", algorithm, &key);
        assert_eq!(answer.err(), Some(Error::Unsupported), "{algorithm}");
    }
}

#[test]
fn an_empty_batch_is_served() {
    let engine = Engine::new();
    assert_eq!(engine.process(&mut []), Ok(()));
    let mut buffer = engine.batch_buffer(0);
    assert_eq!(buffer.batch().finish(), Ok(()));
    assert_eq!((buffer.outcomes().len(), buffer.outcome(0)), (0, None));
}

/// No cipher signs or agrees: every door refuses, and no driver sees the request.
#[test]
fn sessions_of_ciphers_have_no_asymmetric_operations() {
    let engine = Engine::new();
    let null = engine.session_on("null", Algorithm::NULL, &[]).expect("it has no key");
    let mut buffer = engine.batch_buffer(8);
    let refused = Err(Error::Unsupported);
    for session in algorithms().map(|algorithm| open(&engine, algorithm)).chain([null]) {
        let mut signature = [9; 64];
        assert_eq!((session.signature_length(), session.agreement_length()), (0, 0));
        assert_eq!(session.sign(b"message", &mut signature), refused);
        assert_eq!(session.verify(b"message", &signature), refused);
        assert_eq!(session.agree(&[9; 32], &mut signature), refused);
        let mut secret = [9; 32];
        let mut requests = [
            Request::sign(&session, b"message", &mut signature),
            Request::verify(&session, b"message", &[]),
            Request::agree(&session, &[9; 32], &mut secret),
        ];
        assert_eq!(requests.each_ref().map(Request::operation), Operation::ALL[4..]);
        for batch in requests.chunks_mut(1) {
            assert_eq!(failed(engine.process(batch)), 1);
        }
        assert_eq!(failed(engine.process(&mut requests)), 3);
        assert!(requests.iter().all(|request| request.outcome() == Some(refused)));

        let mut batch = buffer.batch();
        assert_eq!(batch.sign(&session, b"message", &mut signature), Some(refused));
        assert_eq!(batch.verify(&session, b"message", &[]), Some(refused));
        assert_eq!(batch.agree(&session, &[9; 32], &mut secret), Some(refused));
        assert_eq!(failed(batch.finish()), 3);
        assert_eq!((signature, secret), ([9; 64], [9; 32]));

        let mut queue = LocalQueue::new(&engine, 4);
        let attached = queue.attach(session).expect("buffer");
        queue.submit(Message::sign(attached, vec![9; 64])).expect("buffer");
        queue.submit(Message::verify(attached, vec![9; 64])).expect("buffer");
        queue.submit(Message::agree(attached, vec![9; 64])).expect("buffer");
        queue
            .submit(Message::new(attached, Operation::Sign, [1; 12], vec![9; 64]))
            .expect("buffer");
        for _ in 0..4 {
            let done = queue.poll().expect("a message");
            assert_eq!(done.outcome, Err(MessageError::Refused(Error::Unsupported)));
            assert_eq!(done.buffer, [9; 64]);
        }
    }
}

/// The same for the null driver.
#[test]
fn operations_that_a_session_has_not_are_refused() {
    let engine = Engine::new();
    let null = engine.session_on("null", Algorithm::NULL, &[]).expect("it has no key");
    let mut buffer = engine.batch_buffer(8);
    for session in algorithms().map(|algorithm| open(&engine, algorithm)).chain([null]) {
        let algorithm = session.algorithm().expect("a cipher");
        let nonce = key(algorithm.nonce_length());
        let before: Vec<u8> = key(64);
        for operation in Operation::OF_CIPHERS {
            let sealed = matches!(operation, Operation::Seal | Operation::Open);
            if sealed == algorithm.is_aead() {
                continue;
            }
            let (mut data, mut tag) = (before.clone(), [9; 16]);
            let request = |data, tag| match operation {
                Operation::Encrypt => Request::encrypt(&session, &nonce, data),
                Operation::Decrypt => Request::decrypt(&session, &nonce, data),
                Operation::Seal => Request::seal_detached(&session, &nonce, b"", data, tag),
                _ => Request::open_detached(&session, &nonce, b"", data, tag),
            };
            let mut batch = [request(&mut data[..], &mut tag[..])];
            assert_eq!(batch[0].operation(), operation);
            assert_eq!(batch[0].outcome(), None);
            assert_eq!(failed(engine.process(&mut batch)), 1, "{algorithm}");
            assert_eq!(batch[0].outcome(), Some(Err(Error::Unsupported)), "{algorithm}");
            assert_eq!((&data[..], tag), (&before[..], [9; 16]), "{algorithm}");

            let mut batch = buffer.batch();
            let (one, other) = (&mut data[..], &mut tag[..]);
            let at_once = match operation {
                Operation::Encrypt => batch.encrypt(&session, &nonce, one),
                Operation::Decrypt => batch.decrypt(&session, &nonce, one),
                Operation::Seal => batch.seal_detached(&session, &nonce, b"", one, other),
                _ => batch.open_detached(&session, &nonce, b"", one, other),
            };
            assert_eq!(failed(batch.finish()), 1, "{algorithm}");
            assert!(at_once.is_none_or(|outcome| outcome == Err(Error::Unsupported)));
            assert_eq!(buffer.outcome(0), Some(Err(Error::Unsupported)), "{algorithm}");
            assert_eq!((&data[..], tag), (&before[..], [9; 16]), "{algorithm}");

            let data = &mut data[..];
            let answer = match operation {
                Operation::Encrypt => session.encrypt(&nonce, data),
                Operation::Decrypt => session.decrypt(&nonce, data),
                Operation::Seal => session.seal_detached(&nonce, b"", data, &mut tag),
                _ => session.open_detached(&nonce, b"", data, &tag),
            };
            assert_eq!(answer, Err(Error::Unsupported), "{algorithm}");
        }
        if !algorithm.is_aead() {
            let mut packet = before.clone();
            assert_eq!(session.seal(&nonce, b"", &mut packet), Err(Error::Unsupported));
            assert_eq!(session.open(&nonce, b"", &mut packet), Err(Error::Unsupported));
            let (mut one, mut other) = (before.clone(), before.clone());
            let mut batch = [
                Request::seal(&session, &nonce, b"", &mut one),
                Request::open(&session, &nonce, b"", &mut other),
            ];
            assert_eq!(failed(engine.process(&mut batch)), 2, "{algorithm}");
            assert!(batch.iter().all(|r| r.outcome() == Some(Err(Error::Unsupported))));
            let mut batch = buffer.batch();
            batch.seal(&session, &nonce, b"", &mut one);
            batch.open(&session, &nonce, b"", &mut other);
            assert_eq!(failed(batch.finish()), 2, "{algorithm}");
            assert!(buffer.outcomes().eq([Some(Err(Error::Unsupported)); 2]));
            assert_eq!((&one, &other, &packet), (&before, &before, &before), "{algorithm}");
        }
    }
}

/// Only XTS has no message shorter than a block.
#[test]
fn messages_of_no_length_are_served() {
    let engine = Engine::new();
    for algorithm in algorithms() {
        let session = open(&engine, algorithm);
        let nonce = key(algorithm.nonce_length());
        if algorithm.is_aead() {
            let length = session.tag_length();
            let (mut packet, mut tag) = (vec![0; length], vec![0; length]);
            let mut batch = [
                Request::seal(&session, &nonce, b"aad", &mut packet),
                Request::seal_detached(&session, &nonce, b"aad", &mut [][..], &mut tag),
            ];
            assert_eq!(engine.process(&mut batch), Ok(()), "{algorithm}");
            assert_eq!(packet, tag, "{algorithm}");
            assert_ne!(tag, vec![0; length], "{algorithm}");
            let (mut forged, mut whole) = (tag.clone(), tag.clone());
            forged[length - 1] ^= 1;
            let mut batch = [
                Request::open(&session, &nonce, b"aad", &mut whole),
                Request::open(&session, &nonce, b"aad", &mut forged),
                Request::open_detached(&session, &nonce, b"aad", &mut [][..], &tag),
            ];
            assert_eq!(failed(engine.process(&mut batch)), 1, "{algorithm}");
            let outcomes = batch.each_ref().map(|request| request.outcome().map(|o| o.is_ok()));
            assert_eq!(outcomes, [Some(true), Some(false), Some(true)], "{algorithm}");
        } else {
            let mut batch = [
                Request::encrypt(&session, &nonce, &mut [][..]),
                Request::decrypt(&session, &nonce, &mut [][..]),
            ];
            let xts = algorithm.to_string().ends_with("-xts");
            let expected = if xts { Err(Error::DataLength) } else { Ok(()) };
            assert_eq!(failed(engine.process(&mut batch)), if xts { 2 } else { 0 });
            assert!(batch.iter().all(|r| r.outcome() == Some(expected)), "{algorithm}");
        }
    }
}

/// Both ways of making requests report the operation that was asked for.
#[test]
fn packets_that_are_shorter_than_a_tag_are_refused() {
    let engine = Engine::new();
    let mut buffer = engine.batch_buffer(8);
    for algorithm in algorithms().filter(|algorithm| algorithm.is_aead()) {
        let session = open(&engine, algorithm);
        let nonce = key(algorithm.nonce_length());
        let tag = session.tag_length();
        for length in 0..tag {
            let before = key(length);
            let (mut one, mut other, mut whole) = (before.clone(), before.clone(), key(16 + tag));
            let outcomes = [Err(Error::OutputLength), Ok(()), Err(Error::Authentication)].map(Some);
            let mut requests = [
                Request::seal(&session, &nonce, b"", &mut one),
                Request::seal(&session, &nonce, b"", &mut whole),
                Request::open(&session, &nonce, b"", &mut other),
            ];
            let operations = [Operation::Seal, Operation::Seal, Operation::Open];
            assert_eq!(requests.each_ref().map(Request::operation), operations);
            assert_eq!(requests.each_ref().map(Request::outcome), [None; 3]);
            assert_eq!(failed(engine.process(&mut requests)), 2);
            assert_eq!(requests.each_ref().map(Request::outcome), outcomes, "{algorithm}");
            assert_eq!(requests.each_ref().map(Request::operation), operations);
            assert_eq!((&one, &other), (&before, &before));
            assert!(session.open(&nonce, b"", &mut whole).is_ok(), "{algorithm}");

            let mut batch = buffer.batch();
            batch.seal(&session, &nonce, b"", &mut one);
            batch.seal(&session, &nonce, b"", &mut whole);
            batch.open(&session, &nonce, b"", &mut other);
            assert_eq!(failed(batch.finish()), 2);
            assert!(buffer.outcomes().eq(outcomes), "{algorithm}");
            assert_eq!((&one, &other), (&before, &before));
            assert!(session.open(&nonce, b"", &mut whole).is_ok(), "{algorithm}");
        }
    }
}

/// Nothing is written if input and output have different lengths.
#[test]
fn data_of_two_lengths_are_refused() {
    let engine = Engine::new();
    let mut buffer = engine.batch_buffer(8);
    let null = engine.session_on("null", Algorithm::NULL, &[]).expect("it has no key");
    for session in algorithms().map(|algorithm| open(&engine, algorithm)).chain([null]) {
        let algorithm = session.algorithm().expect("a cipher");
        let nonce = key(algorithm.nonce_length());
        for (from, to) in [(0, 16), (16, 0), (64, 48), (64, 65), (600, 64)] {
            let (from, before) = (key(from), vec![9; to]);
            let (mut one, mut other) = (before.clone(), before.clone());
            let (mut tag, came) = ([9; 16], [9; 16]);
            let refused = Some(Err(Error::OutputLength));
            let (first, second) = ((&from[..], &mut one[..]), (&from[..], &mut other[..]));
            let mut requests = match algorithm.is_aead() {
                true => [
                    Request::seal_detached(&session, &nonce, b"", first, &mut tag),
                    Request::open_detached(&session, &nonce, b"", second, &came),
                ],
                false => [
                    Request::encrypt(&session, &nonce, first),
                    Request::decrypt(&session, &nonce, second),
                ],
            };
            assert_eq!(failed(engine.process(&mut requests)), 2);
            assert_eq!(requests.map(|request| request.outcome()), [refused; 2], "{algorithm}");
            assert_eq!((&one, &other, &tag), (&before, &before, &[9; 16]), "{algorithm}");

            let (first, second) = ((&from[..], &mut one[..]), (&from[..], &mut other[..]));
            let mut batch = buffer.batch();
            match algorithm.is_aead() {
                true => {
                    batch.seal_detached(&session, &nonce, b"", first, &mut tag);
                    batch.open_detached(&session, &nonce, b"", second, &came);
                }
                false => {
                    batch.encrypt(&session, &nonce, first);
                    batch.decrypt(&session, &nonce, second);
                }
            }
            assert_eq!(failed(batch.finish()), 2);
            assert!(buffer.outcomes().eq([refused; 2]), "{algorithm}");
            assert_eq!((&one, &other, &tag), (&before, &before, &[9; 16]), "{algorithm}");

            let data = (&from[..], &mut one[..]);
            let answers = match algorithm.is_aead() {
                true => session.seal_detached(&nonce, b"", data, &mut tag),
                false => session.encrypt(&nonce, data),
            };
            assert_eq!(answers, Err(Error::OutputLength), "{algorithm}");
            assert_eq!((&one, &tag), (&before, &[9; 16]), "{algorithm}");
        }
    }
}

#[test]
fn what_has_been_served_is_not_served_again() {
    let engine = Engine::new();
    for algorithm in algorithms() {
        let session = open(&engine, algorithm);
        let nonce = key(algorithm.nonce_length());
        let length = 64 + session.tag_length();
        let (mut data, mut expected) = (key(length), key(length));
        let mut batch = [match algorithm.is_aead() {
            true => Request::seal(&session, &nonce, b"", &mut data),
            false => Request::encrypt(&session, &nonce, &mut data[..]),
        }];
        for _ in 0..3 {
            assert_eq!(engine.process(&mut batch), Ok(()), "{algorithm}");
            assert_eq!(batch[0].outcome(), Some(Ok(())), "{algorithm}");
        }
        match algorithm.is_aead() {
            true => session.seal(&nonce, b"", &mut expected),
            false => session.encrypt(&nonce, &mut expected[..]),
        }
        .expect("as before");
        assert_eq!(data, expected, "{algorithm}");
    }
}

/// One bad request in a batch of several hundred, at every position.
#[test]
fn one_bad_request_leaves_the_others_right() {
    let engine = Engine::new();
    let session = open(&engine, Algorithm::AES_128_GCM);
    let mut buffer = engine.batch_buffer(64);
    let nonces: Vec<[u8; 12]> = (0..300_u32)
        .map(|i| [i.to_le_bytes(), [0; 4], [1; 4]].concat().try_into().expect("12 bytes"))
        .collect();
    let mut sealed: Vec<[u8; 40]> = vec![[3; 40]; nonces.len()];
    for (nonce, packet) in nonces.iter().zip(&mut sealed) {
        session.seal(nonce, b"", packet).expect("good lengths");
    }
    for bad in 0..nonces.len() {
        let mut packets = sealed.clone();
        packets[bad][39] ^= 0x40;
        let mut batch: Vec<Request<'_>> = nonces
            .iter()
            .zip(&mut packets)
            .map(|(nonce, packet)| Request::open(&session, nonce, b"", packet))
            .collect();
        assert_eq!(failed(engine.process(&mut batch)), 1);
        for (i, request) in batch.iter().enumerate() {
            let expected = if i == bad { Err(Error::Authentication) } else { Ok(()) };
            assert_eq!(request.outcome(), Some(expected), "{i} of {bad}");
        }
        drop(batch);
        let mut again = sealed.clone();
        again[bad][39] ^= 0x40;
        let mut batch = buffer.batch();
        for (i, (nonce, packet)) in nonces.iter().zip(&mut again).enumerate() {
            let answer = batch.open(&session, nonce, b"", packet);
            assert_eq!(answer, Some(if i == bad { Err(Error::Authentication) } else { Ok(()) }));
        }
        assert_eq!(failed(batch.finish()), 1);
        for (i, outcome) in buffer.outcomes().enumerate() {
            assert_eq!(outcome.map(|o| o.is_err()), Some(i == bad), "{i} of {bad}");
        }
        for (i, packet) in packets.iter().enumerate() {
            assert_eq!(packet[..24], [if i == bad { 0 } else { 3 }; 24], "{i} of {bad}");
        }
        assert!(packets == again, "{bad}");
    }
}

#[test]
fn errors_are_said_in_words() {
    let engine = Engine::new();
    let session = open(&engine, Algorithm::AES_128_CBC);
    let (mut one, mut other) = ([0; 15], [0; 17]);
    let mut batch = [
        Request::encrypt(&session, &[0; 16], &mut one[..]),
        Request::encrypt(&session, &[0; 16], &mut other[..]),
    ];
    let error = engine.process(&mut batch).expect_err("no whole blocks");
    assert_eq!(error.to_string(), "2 requests of the batch failed");
    let error = engine.process(&mut batch[..1]).expect_err("it stays refused");
    assert_eq!(error.to_string(), "1 request of the batch failed");
    let names = ["encrypt", "decrypt", "seal", "open", "sign", "verify", "agree"];
    assert_eq!(Operation::ALL.map(Operation::name), names);
    assert_eq!(Operation::ALL[..4], Operation::OF_CIPHERS);
}
