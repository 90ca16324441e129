//! DES and triple DES in lanes: batches of all kinds give what message by message gives, at every
//! instruction set, and leave all other bytes alone.

use inout::InOutBuf;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::{BlockEncrypt, Isa};
use lanecrypt_kernels_legacy::des::{Des, TripleDes, TripleDesKey};

use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// Bytes before and after each message that nobody may touch.
const GUARD: usize = 64;

/// Des and triple DES, as one kind of thing.
trait Cipher: BlockEncrypt<8> {
    fn random(isa: Isa, numbers: &mut Numbers) -> Self;
    fn lanes(lanes: &mut [Lane<'_, Self, 8>]);
}

impl Cipher for Des {
    fn random(isa: Isa, numbers: &mut Numbers) -> Self {
        Self::new(isa, &numbers.array())
    }

    fn lanes(lanes: &mut [Lane<'_, Self, 8>]) {
        Self::cbc_encrypt_lanes(lanes);
    }
}

impl Cipher for TripleDes {
    fn random(isa: Isa, numbers: &mut Numbers) -> Self {
        Self::new(isa, &TripleDesKey::from(&numbers.array::<24>()))
    }

    fn lanes(lanes: &mut [Lane<'_, Self, 8>]) {
        Self::cbc_encrypt_lanes(lanes);
    }
}

/// A message of a batch.
#[derive(Clone)]
struct Message {
    /// The number of its key.
    key: usize,
    iv: [u8; 8],
    /// Where its input comes from, with guards.
    input: Vec<u8>,
    /// Where its output goes if that is another place, with guards.
    output: Option<Vec<u8>>,
}

impl Message {
    fn random(numbers: &mut Numbers, keys: usize, blocks: usize) -> Self {
        let offset = numbers.below(8);
        let mut bytes = || {
            let mut bytes = numbers.bytes(offset + 8 * blocks + 2 * GUARD);
            bytes.drain(..offset);
            bytes
        };
        let (input, output) = (bytes(), bytes());
        let output = Some(output).filter(|_| numbers.below(2) == 0);
        Self { key: numbers.below(keys), iv: numbers.array(), input, output }
    }

    fn lane<'a, C>(&'a mut self, keys: &'a [C]) -> Lane<'a, C, 8> {
        let end = self.input.len() - GUARD;
        let blocks = match &mut self.output {
            None => InOutBuf::from(self.input[GUARD..end].as_chunks_mut().0),
            Some(output) => {
                let (input, output) = (&self.input[GUARD..end], &mut output[GUARD..end]);
                InOutBuf::new(input.as_chunks().0, output.as_chunks_mut().0).expect("one length")
            }
        };
        Lane { key: &keys[self.key], iv: &self.iv, blocks }
    }
}

/// What is wrong with a batch after `run`, if anything: each message as by itself, guards and
/// inputs as they were.
fn wrong<C: Cipher>(
    keys: &[C],
    batch: &[Message],
    run: impl FnOnce(&mut [Lane<'_, C, 8>]),
) -> Option<usize> {
    let mut done = batch.to_vec();
    run(&mut done.iter_mut().map(|message| message.lane(keys)).collect::<Vec<_>>());
    let mut expected = batch.to_vec();
    for message in &mut expected {
        let mut iv = message.iv;
        let mut lane = message.lane(keys);
        lane.key.cbc_encrypt(&mut iv, lane.blocks.reborrow());
    }
    let same = |a: &Message, b: &Message| a.input == b.input && a.output == b.output;
    done.iter().zip(&expected).position(|(done, expected)| !same(done, expected))
}

fn batch(numbers: &mut Numbers, keys: usize, lens: impl Iterator<Item = usize>) -> Vec<Message> {
    lens.map(|blocks| Message::random(numbers, keys, blocks)).collect()
}

fn random_batches<C: Cipher>(seed: u64, usual: usize) {
    for isa in levels() {
        let mut numbers = Numbers(seed);
        for _ in 0..cases(usual) {
            let keys: Vec<_> =
                (0..=numbers.below(70)).map(|_| C::random(isa, &mut numbers)).collect();
            let longest = [4, 20, 512][numbers.below(3)];
            let lens: Vec<_> =
                (0..=numbers.below(70)).map(|_| numbers.below(longest + 1)).collect();
            let batch = batch(&mut numbers, keys.len(), lens.iter().copied());
            assert_eq!(wrong(&keys, &batch, C::lanes), None, "{isa:?}, blocks {lens:?}");
        }
    }
}

#[test]
fn random_batches_are_what_message_by_message_gives() {
    random_batches::<Des>(1, 12);
    random_batches::<TripleDes>(2, 6);
}

/// The example of FIPS 81 in every lane, and by itself.
#[test]
fn known_answer() {
    let key = hex("0123456789abcdef").try_into().expect("8 bytes");
    let iv = hex("1234567890abcdef").try_into().expect("8 bytes");
    let cipher = hex("e5c7cdde872bf27c43e934008c389c0f683788499a7c05f6");
    for isa in levels() {
        let key = Des::new(isa, &key);
        for count in [1, 2, 40, 70, 300] {
            let mut data = vec![b"Now is the time for all ".to_vec(); count];
            let blocks = data.iter_mut().map(|data| data.as_chunks_mut().0.into());
            let mut lanes: Vec<_> =
                blocks.map(|blocks| Lane { key: &key, iv: &iv, blocks }).collect();
            Des::cbc_encrypt_lanes(&mut lanes);
            assert!(data.iter().all(|data| *data == cipher), "{isa:?}, {count} lanes: {data:02x?}");
        }
    }
}

/// So many that every kernel fills its lanes, and refills some of them, one and many at a time.
#[test]
fn lanes_are_refilled() {
    for isa in levels() {
        let mut numbers = Numbers(3);
        let keys: Vec<_> = (0..300).map(|_| Des::random(isa, &mut numbers)).collect();
        let triple: Vec<_> = (0..300).map(|_| TripleDes::random(isa, &mut numbers)).collect();
        for longest in [1, 2, 9, 70] {
            let lens: Vec<_> = (0..600).map(|_| numbers.below(longest + 1)).collect();
            let mixed = batch(&mut numbers, 300, lens.into_iter());
            assert_eq!(wrong(&keys, &mixed, Des::lanes), None, "{isa:?}, 0 to {longest} blocks");
            assert_eq!(wrong(&triple, &mixed, TripleDes::lanes), None, "{isa:?}, {longest}");
            let equal = batch(&mut numbers, 300, (0..330).map(|_| longest));
            assert_eq!(wrong(&keys, &equal, Des::lanes), None, "{isa:?}, {longest} blocks each");
        }
    }
}

/// One to three lanes that get other keys while all others go on, wherever they are.
#[test]
fn few_lanes_are_refilled() {
    for isa in levels() {
        let mut numbers = Numbers(7);
        let keys: Vec<_> = (0..260).map(|_| TripleDes::random(isa, &mut numbers)).collect();
        // As many as there are lanes at `Avx512`, and elsewhere.
        for lanes in [64, 256] {
            for few in 1..=3 {
                let places: Vec<_> = (0..few).map(|_| numbers.below(lanes)).collect();
                let short = |at| if places.contains(&at) { 5 } else { 30 };
                let lens = (0..lanes).map(short).chain(core::iter::repeat_n(21, few));
                let mut batch = batch(&mut numbers, 1, lens);
                batch.iter_mut().enumerate().for_each(|(at, message)| message.key = at);
                let wrong = wrong(&keys, &batch, TripleDes::lanes);
                assert_eq!(wrong, None, "{isa:?}, {few} of {lanes} lanes, {places:?}");
            }
        }
    }
}

/// One message by itself, none at all, nothing but empty ones, and one long one among short ones.
#[test]
fn odd_batches() {
    for isa in levels() {
        let mut numbers = Numbers(4);
        let keys: Vec<_> = (0..9).map(|_| TripleDes::random(isa, &mut numbers)).collect();
        TripleDes::cbc_encrypt_lanes(&mut []);
        let batches =
            [vec![17], vec![0], vec![0; 80], vec![3; 2], [vec![1; 90], vec![300]].concat()];
        for lens in batches {
            let batch = batch(&mut numbers, 9, lens.iter().copied());
            assert_eq!(wrong(&keys, &batch, TripleDes::lanes), None, "{isa:?}, blocks {lens:?}");
        }
    }
}

#[test]
fn keys_of_different_levels_go_together() {
    let mut numbers = Numbers(5);
    let levels: Vec<_> = levels().collect();
    let keys: Vec<_> =
        (0..99).map(|i| Des::random(levels[i % levels.len()], &mut numbers)).collect();
    let batch = batch(&mut numbers, 99, (0..99).map(|i| i % 30));
    assert_eq!(wrong(&keys, &batch, Des::lanes), None);
}

/// The comparison itself: two lanes whose results, keys or vectors are swapped do not pass, nor
/// does a byte written outside.
#[test]
fn planted_faults_are_caught() {
    let isa = Isa::detect();
    let mut numbers = Numbers(6);
    let keys: Vec<_> = (0..70).map(|_| Des::random(isa, &mut numbers)).collect();
    let mut batch = batch(&mut numbers, 1, (0..70).map(|_| 5));
    for (i, message) in batch.iter_mut().enumerate() {
        message.key = i;
    }
    assert_eq!(wrong(&keys, &batch, Des::lanes), None);
    let swapped_keys = |lanes: &mut [Lane<'_, Des, 8>]| {
        (lanes[20].key, lanes[40].key) = (lanes[40].key, lanes[20].key);
        Des::cbc_encrypt_lanes(lanes);
    };
    assert_eq!(wrong(&keys, &batch, swapped_keys), Some(20));
    let swapped_vectors = |lanes: &mut [Lane<'_, Des, 8>]| {
        (lanes[63].iv, lanes[64].iv) = (lanes[64].iv, lanes[63].iv);
        Des::cbc_encrypt_lanes(lanes);
    };
    assert_eq!(wrong(&keys, &batch, swapped_vectors), Some(63));
    let swapped_results = |lanes: &mut [Lane<'_, Des, 8>]| {
        Des::cbc_encrypt_lanes(lanes);
        let (first, second) = lanes.split_at_mut(8);
        first[7].blocks.get_out().swap_with_slice(second[0].blocks.get_out());
    };
    assert_eq!(wrong(&keys, &batch, swapped_results), Some(7));
    let one_not_done = |lanes: &mut [Lane<'_, Des, 8>]| Des::cbc_encrypt_lanes(&mut lanes[..69]);
    assert_eq!(wrong(&keys, &batch, one_not_done), Some(69));
}
