//! Every test vector through batches, at every level of the processor: all vectors of a file at
//! once, with algorithms and directions mixed, each several times so that lanes fill. Invalid
//! messages are refused, and their neighbours remain right.

use lanecrypt_engine::{Algorithm, Engine, Error, Operation};
use lanecrypt_testing::batches::batch::{Rooms, check};
use lanecrypt_testing::batches::keys::{Key, open};
use lanecrypt_testing::batches::message::{Expected, Form, Message};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::levels;
use lanecrypt_testing::vectors::{self, Answer, tagged};

/// How often each message is in a batch.
const TIMES: usize = 3;

pub(crate) fn vectors_without_tags() {
    let (mut keys, mut messages) = (Vec::new(), Vec::new());
    for line in vectors::own() {
        let Answer::Text { plain, cipher } = line.answer else { continue };
        // Messages begin at the first byte of the first block. ARC4 has no sessions.
        let whole = (line.skip, line.counter) == (0, 0) && line.algorithm.to_string() != "arc4";
        if !whole {
            continue;
        }
        keys.push(Key::new(line.algorithm, line.key));
        for (operation, data, out) in
            [(Operation::Encrypt, &plain, &cipher), (Operation::Decrypt, &cipher, &plain)]
        {
            messages.push(Message {
                key: keys.len() - 1,
                operation,
                form: Form::InPlace,
                nonce: line.nonce.clone(),
                aad: Vec::new(),
                data: data.clone(),
                tag: Vec::new(),
                tag_length: 0,
                before: false,
                offset: 0,
                expected: Expected { outcome: Ok(()), out: out.clone(), tag: Vec::new() },
            });
        }
    }
    let raw = Algorithm::ALL.iter().filter(|row| !row.is_aead() && row.to_string() != "arc4");
    assert_covered(raw, &keys);
    assert!(messages.len() > 2 * 1500, "only {} messages", messages.len());
    run(&keys, &messages);
}

pub(crate) fn vectors_with_tags() {
    let (mut keys, mut messages) = (Vec::new(), Vec::new());
    for line in tagged::own() {
        keys.push(Key::new(line.algorithm, line.key.clone()));
        let message = |operation, data: &[u8], tag: &[u8], expected| Message {
            key: keys.len() - 1,
            operation,
            form: Form::InPlace,
            nonce: line.nonce.clone(),
            aad: line.aad.clone(),
            data: data.to_vec(),
            tag: tag.to_vec(),
            tag_length: line.algorithm.tag_length(),
            before: false,
            offset: 0,
            expected,
        };
        let (text, tag) = (&line.ciphertext, &line.tag);
        let usual = line.algorithm.tag_length();
        // Sessions have tags of the usual length. A shorter tag is refused, even if it is the
        // beginning of the right one.
        let refused = |outcome, out| Expected { outcome: Err(outcome), out, tag: tag.clone() };
        let opened = match &line.plain {
            _ if tag.len() != usual => refused(Error::TagLength, text.clone()),
            None => refused(Error::Authentication, vec![0; text.len()]),
            Some(plain) => Expected { outcome: Ok(()), out: plain.clone(), tag: tag.clone() },
        };
        messages.push(message(Operation::Open, text, tag, opened));
        if let Some(plain) = &line.plain {
            let mut sealed = message(
                Operation::Seal,
                plain,
                &vec![0; usual],
                Expected { outcome: Ok(()), out: Vec::new(), tag: Vec::new() },
            );
            sealed.expect(&keys);
            let expected = &sealed.expected;
            let common = tag.len().min(usual);
            assert!(expected.out == *text, "{}", line.place);
            assert_eq!(expected.tag[..common], tag[..common], "{}", line.place);
            messages.push(sealed);
        }
    }
    assert_covered(Algorithm::ALL.iter().filter(|row| row.is_aead()), &keys);
    assert!(messages.len() > 3000, "only {} messages", messages.len());
    run(&keys, &messages);
}

fn assert_covered<'a>(algorithms: impl Iterator<Item = &'a Algorithm>, keys: &[Key]) {
    for algorithm in algorithms {
        assert!(keys.iter().any(|key| key.algorithm == *algorithm), "{algorithm}: no vector");
    }
}

/// In the given order, which is one algorithm after the other, and in a random order.
fn run(keys: &[Key], messages: &[Message]) {
    let mut numbers = Random(41);
    let mut batch = Vec::new();
    for i in 0..TIMES * messages.len() {
        let mut message = messages[i / TIMES].clone();
        message.offset = numbers.below(64);
        if i % TIMES == 1 {
            message = apart(message);
        }
        batch.push(message);
    }
    for isa in levels() {
        let engine = Engine::with_isa(isa);
        let (sessions, mut rooms) = (open(&engine, keys), Rooms::new(&engine));
        for _ in 0..2 {
            check(&engine, &sessions, &batch, &mut rooms)
                .unwrap_or_else(|what| panic!("{}: {what}", isa.level()));
            for i in (1..batch.len()).rev() {
                batch.swap(i, numbers.below(i + 1));
            }
        }
    }
}

/// Moves the message from one buffer to another.
fn apart(mut message: Message) -> Message {
    message.form = Form::Apart;
    // A message that is refused early leaves the other buffer as it was.
    if message.expected.outcome == Err(Error::TagLength) {
        message.expected.out = message.room();
    }
    message
}
