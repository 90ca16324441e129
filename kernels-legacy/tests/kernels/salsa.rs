//! Salsa20: known answers, and every instruction set against the portable kernel.

use crate::streams::{Stream, random_case};
use lanecrypt_kernels::{Isa, StreamCore};
use lanecrypt_kernels_legacy::salsa::{Key, Salsa};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

struct Case<const R: usize> {
    key: Key,
    nonce: [u8; 8],
}

impl<const R: usize> Stream for Case<R> {
    type Core = Salsa<R>;
    const NAME: &str = match R {
        8 => "Salsa20/8",
        12 => "Salsa20/12",
        _ => "Salsa20/20",
    };
    const END: u128 = 1 << 64;

    fn random(numbers: &mut Numbers) -> Self {
        let key = if numbers.below(4) == 0 {
            Key::from(numbers.array::<16>())
        } else {
            Key::from(numbers.array::<32>())
        };
        Self { key, nonce: numbers.array() }
    }

    fn core(&self, isa: Isa) -> Salsa<R> {
        Salsa::new(isa, &self.key, &self.nonce)
    }
}

/// A block of keystream.
struct Vector {
    rounds: usize,
    block: u64,
    key: &'static str,
    nonce: &'static str,
    keystream: &'static str,
}

/// Under random keys, from independent implementations (PyCryptodome, libgcrypt, Crypto++).
const VECTORS: [Vector; 9] = [
    Vector {
        rounds: 8,
        block: 0,
        key: "dfc0697998e11d08e509279894fc8a20",
        nonce: "1bb46be2bae3de08",
        keystream: "68a51cd18c6e71d3d5674fc8532eaca534a13ed80b0b465ff20eed50a7060397 \
            fad63d215518255fb7989510adddd998b15ea1e0f99545bf9b8eadec710f0e9e",
    },
    Vector {
        rounds: 8,
        block: 0,
        key: "34307beeadac3d745acf6ab6630e6e1e5de6c48bb873427296d71885feb8c032",
        nonce: "b65ca7d246d18282",
        keystream: "11b34de098543d06594689757b684905957d1fd00fd2a84fdb3485ffd20486e9 \
            b083fb436d6229faa6323291ec4b9b9362417fbc87072d3d4f214d2684691826",
    },
    Vector {
        rounds: 8,
        block: 1 << 32,
        key: "ef72ef235e07eaf2fbadf764470a756c50d6c88fcc569d3017f05def92824846",
        nonce: "2fea3d47a4dd5aee",
        keystream: "355ec8eaf73dc69a27d327d919a6f3cbeb7fb40c9b7bbb5bec2744eb3cfd8831 \
            da1070045fb951b4c1019750b5ad818bd3f35b04bc67964ea992bfd017b3a8f8",
    },
    Vector {
        rounds: 12,
        block: 0,
        key: "602cc15f7bb0eacc7cf47c831c5abdd2",
        nonce: "31d5f36056a4c0c6",
        keystream: "7d5208f755e5b2a4c9994f638a2df635d96084990f0ed719d2bf1cc3805099bd \
            56e8c586f5adc31f2346095ec182c3496eb5f6c59053b48dcd7f2d150b69a1a0",
    },
    Vector {
        rounds: 12,
        block: 0,
        key: "13e0581518e16eb6d2835e832bd1c7ab11544558db8e592bfb58e9e6f6fd948c",
        nonce: "44e48878a331708b",
        keystream: "dc1e4b61ebe360c0224f0c8ebfb6187eb883b9fb521c446b2e099a8bf6805e4f \
            717b1a23b542463c2a48c11641298929f3e01117e0f31ea2d47d2dd9be63fe0f",
    },
    Vector {
        rounds: 12,
        block: 1 << 32,
        key: "d89ab6f1ca720e4c1664abec11d4727e3f0c24087ac827f968bd032a4bd79f65",
        nonce: "39d828dc5afd1f53",
        keystream: "26204b30f44b4e6a3b847365a9a5201168e4a46fafee2ca5d79ecb51c0fcbd3e \
            e6f7cd70f2d598d07dc4c9c50c0108a414dd2640862b692e9eb24d90aed0b6f5",
    },
    Vector {
        rounds: 20,
        block: 0,
        key: "9a19c9a980276c4c80a41983cd5593cb",
        nonce: "f1b877951a7c8772",
        keystream: "b262a982492b4c209c00225923a6e44a9a84816f15bfbcec434527fd09b06c70 \
            0d781c5c50efdc52583c3b9258674d206c5d3830026265d598619728a9ec7614",
    },
    Vector {
        rounds: 20,
        block: 0,
        key: "c9e6dd79904dbeb5e75e0dc698c3fc6d55d1762dd121deb125a7a5309704a472",
        nonce: "26b51013b9f8cd74",
        keystream: "defe5bb530a890a8d1faf3f3677af1d09b17db5c7c0ebb98ae483f6431ad389e \
            7818228cbda247de1282ffe76ada0edaa39ed61328be065335d2769f7081b423",
    },
    Vector {
        rounds: 20,
        block: 1 << 32,
        key: "46c596bfebed699f0da4aa9268ef7ea03c076077869a4f9c05df17a635f4c4a2",
        nonce: "9e694f7bec605539",
        keystream: "88bad5972df8e671b76ce6288590f3a42f0778708bbb4131976e55861051ee8c \
            a67f1e14f768d50d6737301687a7580cc7b28bc22e9f5f71935c87dd6527b060",
    },
];

#[test]
fn known_answers() {
    fn check<const R: usize>(vector: &Vector, isa: Isa) {
        let key = hex(vector.key);
        let key = if let Ok(long) = <[u8; 32]>::try_from(&key[..]) {
            Key::from(long)
        } else {
            Key::from(<[u8; 16]>::try_from(&key[..]).expect("16 bytes"))
        };
        let nonce = hex(vector.nonce).try_into().expect("8 bytes");
        let keystream = Case::<R> { key, nonce }.keystream(isa, vector.block, 64);
        assert_eq!(keystream, hex(vector.keystream), "{R} rounds, {}, {isa:?}", vector.key);
    }
    for vector in &VECTORS {
        for isa in levels() {
            match vector.rounds {
                8 => check::<8>(vector, isa),
                12 => check::<12>(vector, isa),
                _ => check::<20>(vector, isa),
            }
        }
    }
}

#[test]
fn every_length() {
    crate::streams::every_length::<Case<12>>();
}

#[test]
fn random_cases_agree_with_portable() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for case in 0..cases(2000) {
        match case % 3 {
            0 => random_case::<Case<8>>(&mut numbers),
            1 => random_case::<Case<12>>(&mut numbers),
            _ => random_case::<Case<20>>(&mut numbers),
        }
    }
}

#[test]
fn carry_in_every_lane() {
    crate::streams::carry_in_every_lane::<Case<8>>();
}

#[test]
fn wide_counter_carries() {
    crate::streams::wide_counter_carries::<Case<20>>();
}

#[test]
fn remaining_is_exact_at_the_end() {
    crate::streams::remaining_of_wide_counter::<Case<8>>();
}

#[test]
fn debug_shows_no_key() {
    let key = Key::from([0xab; 32]);
    let core = Salsa::<20>::new(Isa::PORTABLE, &key, &[0xab; 8]);
    let shown = format!("{key:?} {core:?}").to_lowercase();
    assert!(!shown.contains("abab") && !shown.contains("171") && !shown.contains("2880154539"));
}
