//! The stream core `AesCtr`.

use lanecrypt_kernels::aes::{Aes, AesCtr, AesForward};
use lanecrypt_kernels::{BlockEncrypt, Isa, Seek, StreamCore};

use super::counter;
use super::reference::{Operation, expected};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases};

/// Each request of a stream core begins with a whole block.
#[test]
fn requests_continue_at_the_next_whole_block() {
    let mut numbers = Numbers(1);
    macro_rules! run {
        ($bits:literal) => {
            for _ in 0..cases(300) {
                let (key, nonce) = (numbers.array(), counter(&mut numbers));
                let sizes = core::array::from_fn::<_, 5, _>(|_| {
                    let most = [20, 70, 300, 1200][numbers.below(4)];
                    numbers.below(most)
                });
                let mut cores: Vec<_> = levels()
                    .into_iter()
                    .map(|isa| AesCtr::<$bits>::new(isa, &key, &nonce))
                    .collect();
                let mut block = 0;
                for (i, size) in sizes.into_iter().enumerate() {
                    let first = u128::from_be_bytes(nonce).wrapping_add(block).to_be_bytes();
                    let stream = expected(Operation::Keystream, &key, &first, &vec![0; size]);
                    for core in &mut cores {
                        let mut out = vec![0; size];
                        if i % 2 == 0 {
                            core.keystream(&mut out);
                        } else {
                            core.xor(out.as_mut_slice().into());
                        }
                        assert_eq!(out, stream, "{core:?} {sizes:?}");
                    }
                    block += size.div_ceil(16) as u128;
                }
            }
        };
    }
    run!(128);
    run!(192);
    run!(256);
}

#[test]
fn seeking_is_relative_to_the_nonce() {
    let mut numbers = Numbers(2);
    for _ in 0..cases(100) {
        let (key, nonce) = (numbers.array(), counter(&mut numbers));
        let block = numbers.number() >> numbers.below(64);
        let first = u128::from_be_bytes(nonce).wrapping_add(u128::from(block)).to_be_bytes();
        let stream = expected(Operation::Keystream, &key, &first, &[0; 100]);
        for isa in levels() {
            let mut core = AesCtr::<256>::new(isa, &key, &nonce);
            core.keystream(&mut [0; 77]);
            core.seek(block);
            let mut out = [0; 100];
            core.keystream(&mut out);
            assert_eq!(out[..], stream, "block {block} at {}", isa.level());
        }
    }
}

#[test]
fn remaining_saturates() {
    let mut core = AesCtr::<128>::new(Isa::PORTABLE, &[1; 16], &[0xff; 16]);
    assert_eq!(core.remaining(), u64::MAX);
    core.seek(u64::MAX);
    assert_eq!(core.remaining(), u64::MAX);
}

#[test]
fn debug_hides_keys() {
    let isa = Isa::detect();
    let core = AesCtr::<128>::new(isa, &[0xa7; 16], &[0xcd; 16]);
    let forward = AesForward::<128>::new(isa, &[0xa7; 16]);
    let text = format!("{core:?} {forward:?} {:?}", Aes::<128>::new(isa, &[0xa7; 16]));
    for byte in ["167", "205", "a7", "cd"] {
        assert!(!text.contains(byte), "{text}");
    }
}
