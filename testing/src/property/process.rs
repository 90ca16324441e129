//! The property of any batch. A test checks it on a fixed corpus, and the fuzz target `process`
//! searches for inputs that break it.

use lanecrypt_ciphers::Level;
use lanecrypt_engine::{Engine, Isa};

use super::Bytes;
use crate::batches::batch::{check_by, filled, processed};
use crate::batches::keys::{Key, algorithms, open};
use crate::batches::message::Message;
use crate::batches::numbers::Numbers;

/// The longest message, in bytes: several steps of the widest kernel.
const LONGEST: usize = 3000;

/// Two bytes of an input are a number.
struct Input<'a>(Bytes<'a>);

impl Numbers for Input<'_> {
    fn number(&mut self) -> u64 {
        self.0.length() as u64
    }
}

/// Takes keys and messages from the bytes of `input` and serves them as a batch, at the chosen
/// level and at the portable one. Asserts that the results are those of the portable cipher for
/// each message, that nothing else is written, and that failures are counted right.
pub fn process(input: &[u8]) {
    let mut input = Input(Bytes::new(input));
    let level = *input.choice(Level::built());
    let table = algorithms();
    let different = 1 + input.below(8);
    let keys: Vec<Key> = (0..different)
        .map(|_| {
            let algorithm = *input.choice(&table);
            Key::random(algorithm, &mut input)
        })
        .collect();
    let count = match input.0.byte() {
        short @ 0..200 => usize::from(short % 24),
        _ => input.below(300),
    };
    let messages_expected = *input.choice(&[count, count / 3, 1, 2 * count]);
    let longest = *input.choice(&[17, 40, 300, 300, LONGEST]);
    // A large batch has short messages, so that a case takes only milliseconds.
    let longest = if count > 40 { longest.min(300) } else { longest };
    let mut messages: Vec<Message> = Vec::with_capacity(count);
    for _ in 0..count {
        let (key, len) = (input.below(keys.len()), input.below(longest));
        let mut message = Message::random(&keys, key, len, &mut input);
        if input.0.byte() >= 200 {
            message.damage(&keys, &mut input);
        }
        messages.push(message);
    }
    for isa in [Isa::PORTABLE, Isa::of_processor().at_most(level)] {
        let engine = Engine::with_isa(isa);
        let sessions = open(&engine, &keys);
        let mut buffer = engine.batch_buffer(messages_expected);
        // Filled twice: the second time the buffer has the right expectations.
        for serve in [processed, filled, filled] {
            check_by(serve, &engine, &sessions, &messages, &mut buffer)
                .unwrap_or_else(|what| panic!("{}: {what}", isa.level()));
        }
    }
}
