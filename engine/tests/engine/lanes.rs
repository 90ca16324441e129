//! Messages in lanes wherever lanes exist, whether they pay or not: the engine decides by its
//! figures, and these tests force lanes at every level and length.

use lanecrypt_ciphers::hazmat;
use lanecrypt_ciphers::lanes::{self, Lengths, Opening, Sealing};
use lanecrypt_engine::{Algorithm, Error, InOutBuf, Operation};
use lanecrypt_testing::batches::batch::random;
use lanecrypt_testing::batches::keys::{Key, Keyed, algorithms, random_keys};
use lanecrypt_testing::batches::message::{Form, Message, Places};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::levels;

/// The number of batches in all: `LANECRYPT_CASES`, or a few thousand.
fn cases() -> usize {
    lanecrypt_testing::numbers::cases(12_000)
}

/// The lengths of messages that run in lanes.
const LENGTHS: [Lengths; 5] = [
    Lengths::ALL,
    Lengths::ALL,
    Lengths::NONE,
    Lengths { shortest: 17, longest: 300 },
    Lengths { shortest: 0, longest: 64 },
];

#[test]
fn side_by_side_is_one_by_one() {
    let keys = random_keys(20, &algorithms(), &mut Random(61));
    let by_level: Vec<Vec<Keyed>> =
        levels().map(|isa| keys.iter().map(|key| key.at(isa)).collect()).collect();
    let mut numbers = Random(62);
    // Ciphers of all levels together too: none may get the kernel of another level.
    let isas: Vec<_> = levels().collect();
    let mixed: Vec<Keyed> = keys.iter().map(|key| key.at(*numbers.choice(&isas))).collect();
    for _ in 0..cases() / (by_level.len() + 1) {
        let messages = batch(&keys, &mut numbers);
        let lengths = *numbers.choice(&LENGTHS);
        for (at, ciphers) in by_level.iter().chain([&mixed]).enumerate() {
            let level = isas.get(at).map_or("mixed", |isa| isa.level().name());
            check(&keys, ciphers, &messages, lengths)
                .unwrap_or_else(|what| panic!("{level}: {lengths:?}: {what}"));
        }
    }
}

/// Two messages exchange their results, or the last is not served: both faults must be found.
#[test]
fn planted_swaps_are_found() {
    let keys = random_keys(20, &[Algorithm::AES_128_CBC], &mut Random(63));
    let isa = levels().last().expect("one level at least");
    let ciphers: Vec<Keyed> = keys.iter().map(|key| key.at(isa)).collect();
    let mut numbers = Random(64);
    let mut found = 0;
    for _ in 0..50 {
        let mut messages = batch(&keys, &mut numbers);
        check(&keys, &ciphers, &messages, Lengths::ALL).expect("nothing is planted");
        let good = |message: &Message| message.expected.outcome.is_ok() && message.data.len() > 15;
        let mut pair = messages.iter_mut().filter(|message| good(message));
        if let (Some(one), Some(other)) = (pair.next(), pair.next()) {
            // As if each lane used the other's key.
            core::mem::swap(&mut one.key, &mut other.key);
            if one.key != other.key {
                found += 1;
                check(&keys, &ciphers, &messages, Lengths::ALL).expect_err("keys are swapped");
            }
        }
    }
    assert!(found > 10, "{found}");
}

/// Messages that reach ciphers; it has no messages that requests refuse earlier.
fn batch(keys: &[Key], numbers: &mut Random) -> Vec<Message> {
    let mut messages = random(keys, numbers);
    messages.retain(|message| {
        let key = &keys[message.key];
        let sealed = matches!(message.operation, Operation::Seal | Operation::Open);
        let uneven = message.form == Form::Uneven;
        sealed == key.algorithm.is_aead() && !message.is_short() && !uneven
    });
    messages
}

fn check(
    keys: &[Key],
    ciphers: &[Keyed],
    messages: &[Message],
    lengths: Lengths,
) -> Result<(), String> {
    let mut places: Vec<Places> = messages.iter().map(Message::places).collect();
    let mut outcomes = vec![Ok(()); messages.len()];
    let mut refused = 0;
    for &algorithm in Algorithm::ALL {
        for operation in Operation::OF_CIPHERS {
            let of_it = messages
                .iter()
                .zip(&mut places)
                .zip(&mut outcomes)
                .map(|((message, places), outcome)| Lane { message, places, outcome })
                .filter(|lane| lane.message.operation == operation)
                .filter(|lane| keys[lane.message.key].algorithm == algorithm);
            refused += match operation {
                Operation::Encrypt => hazmat::lanes::encrypt(
                    algorithm,
                    lengths,
                    of_it.filter_map(|lane| lane.raw(ciphers)),
                ),
                Operation::Decrypt => hazmat::lanes::decrypt(
                    algorithm,
                    lengths,
                    of_it.filter_map(|lane| lane.raw(ciphers)),
                ),
                Operation::Seal => {
                    lanes::seal(algorithm, lengths, of_it.filter_map(|lane| lane.sealing(ciphers)))
                }
                _ => {
                    lanes::open(algorithm, lengths, of_it.filter_map(|lane| lane.opening(ciphers)))
                }
            };
        }
    }
    for ((message, places), &outcome) in messages.iter().zip(&places).zip(&outcomes) {
        message.check(Some(outcome), places).map_err(|what| {
            let algorithm = keys[message.key].algorithm;
            format!("{what}: {algorithm}: {message:?}: {outcome:?} of {}", messages.len())
        })?;
    }
    let expected = messages.iter().filter(|message| message.expected.outcome.is_err()).count();
    if refused == expected { Ok(()) } else { Err(format!("{refused} refused, not {expected}")) }
}

/// A message with its memory.
struct Lane<'a> {
    message: &'a Message,
    places: &'a mut Places,
    outcome: &'a mut Result<(), Error>,
}

impl<'a> Lane<'a> {
    fn raw(self, ciphers: &'a [Keyed]) -> Option<hazmat::lanes::Message<'a>> {
        let Keyed::Raw(cipher) = &ciphers[self.message.key] else { return None };
        let (data, _) = parts(self.message, self.places);
        Some(hazmat::lanes::Message {
            cipher,
            iv: &self.message.nonce,
            data,
            outcome: self.outcome,
        })
    }

    fn sealing(self, ciphers: &'a [Keyed]) -> Option<Sealing<'a>> {
        let Keyed::Sealed(cipher) = &ciphers[self.message.key] else { return None };
        let (data, tag) = parts(self.message, self.places);
        let Message { nonce, aad, .. } = self.message;
        Some(Sealing { cipher, nonce, aad, data, tag, outcome: self.outcome })
    }

    fn opening(self, ciphers: &'a [Keyed]) -> Option<Opening<'a>> {
        let Keyed::Sealed(cipher) = &ciphers[self.message.key] else { return None };
        let (data, tag) = parts(self.message, self.places);
        let Message { nonce, aad, .. } = self.message;
        Some(Opening { cipher, nonce, aad, data, tag, outcome: self.outcome })
    }
}

/// Data and tag.
fn parts<'a>(message: &Message, places: &'a mut Places) -> (InOutBuf<'a, 'a, u8>, &'a mut [u8]) {
    let Places { input, out, tag } = places;
    let out = out.bytes_mut();
    match (message.form, input) {
        (Form::Packet, _) => {
            let at = out.len() - message.tag_length;
            let (data, tag) = out.split_at_mut(at);
            (data.into(), tag)
        }
        (_, Some(input)) => {
            (InOutBuf::new(input.bytes(), out).expect("equal lengths"), tag.bytes_mut())
        }
        (_, None) => (out.into(), tag.bytes_mut()),
    }
}
