//! Serpent in lanes: batches of messages give what the messages give one by one, at every
//! instruction set, and nothing around them changes.

use inout::InOutBuf;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::{BlockEncrypt, Isa};
use lanecrypt_kernels_legacy::serpent::{Key, Serpent};

use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// Blocks before and behind each buffer that must stay as they are: 64 bytes.
const GUARD: usize = 4;

/// One message of a batch and where it lies.
struct Message {
    key: usize,
    iv: [u8; 16],
    /// What is encrypted, with a guard on both sides.
    text: Vec<[u8; 16]>,
    /// Where to, with guards; none if in place.
    apart: Option<Vec<[u8; 16]>>,
}

impl Message {
    fn random(numbers: &mut Numbers, key: usize, len: usize) -> Self {
        let mut blocks = || (0..len + 2 * GUARD).map(|_| numbers.array()).collect::<Vec<_>>();
        let (text, other) = (blocks(), blocks());
        let apart = (numbers.below(2) == 0).then_some(other);
        Self { key, iv: numbers.array(), text, apart }
    }

    fn len(&self) -> usize {
        self.text.len() - 2 * GUARD
    }

    fn lane<'a>(&'a mut self, keys: &'a [Serpent]) -> Lane<'a, Serpent, 16> {
        let within = GUARD..self.text.len() - GUARD;
        let blocks = match &mut self.apart {
            None => (&mut self.text[within]).into(),
            Some(out) => {
                InOutBuf::new(&self.text[within.clone()], &mut out[within]).expect("equal lengths")
            }
        };
        Lane { key: &keys[self.key], iv: &self.iv, blocks }
    }

    /// All memory of the message after the portable kernel has encrypted it by itself.
    fn expected(&self, keys: &[Serpent]) -> [Vec<[u8; 16]>; 2] {
        let within = GUARD..self.text.len() - GUARD;
        let mut chain = self.iv;
        let mut result = self.text[within.clone()].to_vec();
        keys[self.key].cbc_encrypt(&mut chain, (&mut result[..]).into());
        let mut memory = self.memory();
        let out = &mut memory[usize::from(self.apart.is_some())];
        out[within].copy_from_slice(&result);
        memory
    }

    fn memory(&self) -> [Vec<[u8; 16]>; 2] {
        [self.text.clone(), self.apart.clone().unwrap_or_default()]
    }
}

/// Encrypts the batch by `encrypt` and compares all memory with what the portable kernel makes of
/// the messages one by one. The first message that differs is the error.
fn check(
    batch: &mut [Message],
    keys: &[Serpent],
    portable: &[Serpent],
    encrypt: impl FnOnce(&mut [Lane<'_, Serpent, 16>]),
) -> Result<(), usize> {
    let expected: Vec<_> = batch.iter().map(|message| message.expected(portable)).collect();
    let ivs: Vec<_> = batch.iter().map(|message| message.iv).collect();
    let mut lanes: Vec<_> = batch.iter_mut().map(|message| message.lane(keys)).collect();
    encrypt(&mut lanes);
    drop(lanes);
    let same = |n: usize| batch[n].memory() == expected[n] && batch[n].iv == ivs[n];
    (0..batch.len()).find(|&n| !same(n)).map_or(Ok(()), Err)
}

fn random_key(numbers: &mut Numbers) -> Key {
    match numbers.below(3) {
        0 => Key::from(&numbers.array::<16>()),
        1 => Key::from(&numbers.array::<24>()),
        _ => Key::from(&numbers.array::<32>()),
    }
}

/// The same keys for the kernels of `isa` and for the portable one.
fn expand(isa: Isa, keys: &[Key]) -> (Vec<Serpent>, Vec<Serpent>) {
    let all = |isa| keys.iter().map(|key| Serpent::new(isa, key)).collect();
    (all(isa), all(Isa::PORTABLE))
}

/// Messages of the lengths, in blocks, each with its own key.
fn batch_of(numbers: &mut Numbers, lens: &[usize]) -> (Vec<Key>, Vec<Message>) {
    let keys = lens.iter().map(|_| random_key(numbers)).collect();
    let message = |(key, &len)| Message::random(numbers, key, len);
    (keys, lens.iter().enumerate().map(message).collect())
}

fn assert_same(isa: Isa, lens: &[usize]) {
    let numbers = &mut Numbers(lens.len() as u64 + 1);
    let (keys, mut batch) = batch_of(numbers, lens);
    let (keys, portable) = expand(isa, &keys);
    let result = check(&mut batch, &keys, &portable, Serpent::cbc_encrypt_lanes);
    assert_eq!(result, Ok(()), "{isa:?}, lengths {lens:?}");
}

/// A key, a block and its encryption; random keys, answers by other implementations.
const ANSWERS: [[&str; 3]; 3] = [
    [
        "3f5a1e056c6d550e3e631b3f23fcc349",
        "96edda558bae64f161ec96739051cb86",
        "31e76831a5ba0710eb14614ba7d79c75",
    ],
    [
        "f59d8a19bdc3040e2cce9b7ecd9a0534fea970c5092f881a",
        "842f352553b8a9bea1618670ad9a6b9b",
        "943eaafd97aeeeff983ae4a2e4c9ff79",
    ],
    [
        "35a6eb37f02ef7f993e154e36ec14eda3fc37bcd551a5be0d1d058f3945f45ab",
        "1bd61d8ce014d0410144c192b33d5362",
        "ee96c6c16c263c55d163168e8365035e",
    ],
];

#[test]
fn known_answers_in_every_lane() {
    fn key(hex_bytes: &str) -> Key {
        let bytes = hex(hex_bytes);
        match bytes.len() {
            16 => Key::from(bytes.first_chunk::<16>().expect("16 bytes")),
            24 => Key::from(bytes.first_chunk::<24>().expect("24 bytes")),
            _ => Key::from(bytes.first_chunk::<32>().expect("32 bytes")),
        }
    }
    let block = |text| -> [u8; 16] { hex(text).try_into().expect("a block") };
    let ivs = ANSWERS.map(|[_, plain, _]| block(plain));
    for isa in levels() {
        let keys = ANSWERS.map(|[bytes, ..]| Serpent::new(isa, &key(bytes)));
        // A block of zeros, so that the cipher's input is the IV.
        let mut data = [[[0; 16]; 1]; 50];
        let mut lanes = Vec::new();
        for (n, data) in data.iter_mut().enumerate() {
            let blocks = (&mut data[..]).into();
            lanes.push(Lane { key: &keys[n % 3], iv: &ivs[n % 3], blocks });
        }
        Serpent::cbc_encrypt_lanes(&mut lanes);
        drop(lanes);
        for (n, result) in data.iter().enumerate() {
            assert_eq!(result[0], block(ANSWERS[n % 3][2]), "{isa:?}, lane {n}");
        }
    }
}

#[test]
fn random_batches_are_the_messages_one_by_one() {
    for isa in levels() {
        let numbers = &mut Numbers(11);
        for case in 0..cases(60) {
            let count = 1 + numbers.below(70);
            // Lengths up to 4 KiB: any, or a few short ones, or many that are equal.
            let longest = [257, 257, 20, 5][numbers.below(4)];
            let equal = numbers.below(3) == 0;
            let usual = numbers.below(longest);
            let keys: Vec<_> = (0..1 + numbers.below(count)).map(|_| random_key(numbers)).collect();
            let (expanded, portable) = expand(isa, &keys);
            let mut batch: Vec<_> = (0..count)
                .map(|n| {
                    let odd = !equal || numbers.below(8) == 0;
                    let len = if odd { numbers.below(longest) } else { usual };
                    Message::random(numbers, n % keys.len(), len)
                })
                .collect();
            let result = check(&mut batch, &expanded, &portable, Serpent::cbc_encrypt_lanes);
            let lens: Vec<_> = batch.iter().map(Message::len).collect();
            assert_eq!(result, Ok(()), "{isa:?}, case {case}, lengths {lens:?}");
        }
    }
}

#[test]
fn every_number_of_lanes_and_the_way_down_to_one() {
    for isa in levels() {
        for count in 1..=40 {
            assert_same(isa, &vec![3; count]);
            // Each ends at another block: every narrower form gets its turn, from every lane.
            assert_same(isa, &Vec::from_iter((0..count).map(|n| 7 * n % count * 5)));
        }
    }
}

#[test]
fn one_long_message_among_short_ones() {
    for isa in levels() {
        for place in [0, 1, 7, 31, 39] {
            let mut lens = vec![1; 40];
            lens[place] = 200;
            assert_same(isa, &lens);
        }
    }
}

#[test]
fn nothing_to_do() {
    Serpent::cbc_encrypt_lanes(&mut []);
    for isa in levels() {
        assert_same(isa, &[0]);
        assert_same(isa, &[0; 40]);
        assert_same(isa, &[0, 0, 2, 0]);
    }
}

#[test]
fn keys_of_different_instruction_sets() {
    let numbers = &mut Numbers(5);
    let (keys, mut batch) = batch_of(numbers, &[9; 20]);
    let (_, portable) = expand(Isa::PORTABLE, &keys);
    let levels: Vec<_> = levels().collect();
    let mixed: Vec<_> = keys
        .iter()
        .enumerate()
        .map(|(n, key)| Serpent::new(levels[n % levels.len()], key))
        .collect();
    assert_eq!(check(&mut batch, &mixed, &portable, Serpent::cbc_encrypt_lanes), Ok(()));
}

/// What the comparison is worth: results in the wrong lanes, of the wrong key or IV, or one byte
/// too many must not pass it.
#[test]
fn planted_mistakes_are_caught() {
    let numbers = &mut Numbers(6);
    let planted = |numbers: &mut Numbers, mistake: fn(&mut [Lane<'_, Serpent, 16>])| {
        let (keys, mut batch) = batch_of(numbers, &[6; 40]);
        let (keys, portable) = expand(Isa::detect(), &keys);
        check(&mut batch, &keys, &portable, mistake)
    };
    assert_eq!(planted(numbers, Serpent::cbc_encrypt_lanes), Ok(()));
    let swapped = planted(numbers, |lanes| {
        Serpent::cbc_encrypt_lanes(lanes);
        let (front, back) = lanes.split_at_mut(20);
        front[17].blocks.get_out().swap_with_slice(back[3].blocks.get_out());
    });
    assert_eq!(swapped, Err(17));
    let other_key = planted(numbers, |lanes| {
        lanes[31].key = lanes[30].key;
        Serpent::cbc_encrypt_lanes(lanes);
    });
    assert_eq!(other_key, Err(31));
    let other_iv = planted(numbers, |lanes| {
        lanes[5].iv = lanes[6].iv;
        Serpent::cbc_encrypt_lanes(lanes);
    });
    assert_eq!(other_iv, Err(5));
    let numbers = &mut Numbers(7);
    let (keys, mut batch) = batch_of(numbers, &[6; 40]);
    let (keys, portable) = expand(Isa::detect(), &keys);
    let expected: Vec<_> = batch.iter().map(|message| message.expected(&portable)).collect();
    let mut lanes: Vec<_> = batch.iter_mut().map(|message| message.lane(&keys)).collect();
    Serpent::cbc_encrypt_lanes(&mut lanes);
    drop(lanes);
    batch[8].text[GUARD - 1][15] ^= 1;
    assert!((0..40).all(|n| (batch[n].memory() == expected[n]) == (n != 8)));
}
