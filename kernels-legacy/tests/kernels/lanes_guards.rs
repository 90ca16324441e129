//! Every entry point that takes messages side by side, at every instruction set: messages of all
//! sizes to 4 KiB at odd places, in place and apart, give what they give one by one, and every
//! other byte of memory stays as it was.

use lanecrypt_kernels::{BlockEncrypt, Isa, Seek, StreamCore};
use lanecrypt_kernels_legacy::des::{Des, TripleDes, TripleDesKey};
use lanecrypt_kernels_legacy::salsa::{self, Salsa};
use lanecrypt_kernels_legacy::serpent::{self, Serpent};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases};

use crate::guards::{chains, difference, first, lengths};

#[test]
fn serpent() {
    let new = |isa, key: &[u8; 32]| Serpent::new(isa, &serpent::Key::from(key));
    chains(7, new, Serpent::cbc_encrypt_lanes);
}

#[test]
fn des() {
    chains(8, |isa, key| Des::new(isa, first(key)), Des::cbc_encrypt_lanes);
}

#[test]
fn triple_des() {
    let new = |isa, key: &[u8; 32]| TripleDes::new(isa, &TripleDesKey::from(first::<24>(key)));
    chains(9, new, TripleDes::cbc_encrypt_lanes);
}

fn salsa_streams<const ROUNDS: usize>(seed: u64) {
    let numbers = &mut Numbers(seed);
    for case in 0..cases(24) {
        for isa in levels() {
            let lens = lengths(numbers, 1);
            let keys: Vec<salsa::Key> =
                lens.iter().map(|_| (&numbers.array::<32>()).into()).collect();
            let nonces: Vec<[u8; 8]> = lens.iter().map(|_| numbers.array()).collect();
            let blocks: Vec<_> = lens
                .iter()
                .map(|_| [0, (1 << 32) - 40][numbers.below(2)] + numbers.below(70) as u64)
                .collect();
            let wrong = difference(
                numbers,
                &lens,
                |buffers| {
                    let mut lanes = Vec::new();
                    for (at, data) in buffers.into_iter().enumerate() {
                        lanes.push(salsa::Lane::new(&keys[at], &nonces[at], blocks[at], data));
                    }
                    salsa::xor_lanes::<ROUNDS>(isa, &mut lanes);
                },
                |at, data| {
                    let mut core = Salsa::<ROUNDS>::new(Isa::PORTABLE, &keys[at], &nonces[at]);
                    core.seek(blocks[at]);
                    core.xor(data);
                },
            );
            assert_eq!(wrong, None, "case {case}, {isa:?}, {lens:?}");
        }
    }
}

#[test]
fn salsa() {
    salsa_streams::<8>(15);
    salsa_streams::<12>(16);
    salsa_streams::<20>(17);
}
