//! Messages side by side are what they are one by one: Salsa20 in lanes.

use crate::places::{Place, lengths, wrong};
use lanecrypt_kernels::{Isa, Seek, StreamCore};
use lanecrypt_kernels_legacy::salsa::{Key, Lane, Salsa, xor_lanes};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// Which key, nonce, block and text a message has.
struct Message {
    key: usize,
    nonce: [u8; 8],
    block: u64,
    text: Vec<u8>,
}

impl Message {
    fn new(numbers: &mut Numbers, keys: usize, len: usize) -> Self {
        let block = match numbers.below(3) {
            // Many begin shortly before the low word of the counter wraps.
            0 => (1 << 32) - 1 - numbers.below(20) as u64,
            1 => numbers.below(1000) as u64,
            _ => numbers.number() >> 1,
        };
        let (key, nonce) = (numbers.below(keys), numbers.array());
        Self { key, nonce, block, text: numbers.bytes(len) }
    }

    /// By itself, on the portable kernel.
    fn alone<const ROUNDS: usize>(&self, key: &Key) -> Vec<u8> {
        let mut text = self.text.clone();
        let mut core = Salsa::<ROUNDS>::new(Isa::PORTABLE, key, &self.nonce);
        core.seek(self.block);
        core.xor((&mut text[..]).into());
        text
    }

    fn lane<'a>(&self, key: &'a Key, place: &'a mut Place) -> Lane<'a> {
        Lane::new(key, &self.nonce, self.block, place.data())
    }
}

fn batch<const ROUNDS: usize>(numbers: &mut Numbers) {
    let keys: Vec<Key> = (0..1 + numbers.below(40))
        .map(|_| match numbers.below(2) {
            0 => Key::from(&numbers.array::<16>()),
            _ => Key::from(&numbers.array::<32>()),
        })
        .collect();
    let messages: Vec<_> =
        lengths(numbers).into_iter().map(|len| Message::new(numbers, keys.len(), len)).collect();
    let expected: Vec<_> =
        messages.iter().map(|message| message.alone::<ROUNDS>(&keys[message.key])).collect();
    for isa in levels() {
        let mut places: Vec<_> =
            messages.iter().map(|message| Place::new(numbers, &message.text)).collect();
        let mut lanes: Vec<_> = messages
            .iter()
            .zip(&mut places)
            .map(|(message, place)| message.lane(&keys[message.key], place))
            .collect();
        xor_lanes::<ROUNDS>(isa, &mut lanes);
        drop(lanes);
        let lens: Vec<_> = messages.iter().map(|message| message.text.len()).collect();
        assert_eq!(wrong(&places, &expected), None, "{ROUNDS} rounds, {isa:?}, {lens:?}");
    }
}

#[test]
fn salsa_lanes_are_one_by_one() {
    let mut numbers = Numbers(7);
    for _ in 0..cases(40) {
        batch::<8>(&mut numbers);
        batch::<12>(&mut numbers);
        batch::<20>(&mut numbers);
    }
}

#[test]
fn no_lanes() {
    for isa in levels() {
        xor_lanes::<20>(isa, &mut []);
    }
}

/// eSTREAM's verified test vectors of Salsa20, set 1, vector 0 of both key sizes: the first 64
/// bytes of keystream, in lanes among others.
#[test]
fn published_keystream() {
    let mut numbers = Numbers(8);
    let mut long = [0; 32];
    let mut short = [0; 16];
    (long[0], short[0]) = (0x80, 0x80);
    let keys = [Key::from(&long), Key::from(&short), Key::from(&numbers.array::<32>())];
    let expected = [
        "e3be8fdd8beca2e3ea8ef9475b29a6e7003951e1097a5c38d23b7a5fad9f6844
         b22c97559e2723c7cbbd3fe4fc8d9a0744652a83e72a9c461876af4d7ef1a117",
        "4dfa5e481da23ea09a31022050859936da52fcee218005164f267cb65f5cfd7f
         2b4f97e0ff16924a52df269515110a07f9e460bc65ef95da58f740b7d1dbb0aa",
    ];
    for isa in levels() {
        let mut data = [[0; 64]; 30];
        let mut lanes: Vec<_> = (0..)
            .zip(&mut data)
            .map(|(at, data)| Lane::new(&keys[at % 3], &[0; 8], 0, (&mut data[..]).into()))
            .collect();
        xor_lanes::<20>(isa, &mut lanes);
        drop(lanes);
        for (at, data) in data.iter().enumerate() {
            if let Some(expected) = expected.get(at % 3) {
                assert_eq!(data[..], hex(expected), "{isa:?}, message {at}");
            }
        }
    }
}

/// Results in the wrong lane do not pass.
#[test]
fn swapped_lanes_are_seen() {
    let mut numbers = Numbers(9);
    let keys: Vec<Key> = (0..16).map(|_| Key::from(&numbers.array::<32>())).collect();
    let messages: Vec<_> =
        (0..16).map(|key| Message { key, ..Message::new(&mut numbers, 16, 48) }).collect();
    let expected: Vec<_> =
        messages.iter().map(|message| message.alone::<20>(&keys[message.key])).collect();
    for isa in levels() {
        let mut places: Vec<_> =
            messages.iter().map(|message| Place::new(&mut numbers, &message.text)).collect();
        let mut lanes: Vec<_> = messages
            .iter()
            .zip(&mut places)
            .map(|(message, place)| message.lane(&keys[message.key], place))
            .collect();
        xor_lanes::<20>(isa, &mut lanes);
        drop(lanes);
        assert_eq!(wrong(&places, &expected), None);
        places.swap(3, 9);
        assert_eq!(wrong(&places, &expected), Some(3));
        places.swap(3, 9);
        // A byte written next to a message.
        places[7].bytes[0] ^= 1;
        assert_eq!(wrong(&places, &expected), Some(7));
    }
}
