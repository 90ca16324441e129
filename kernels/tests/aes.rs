//! AES: published vectors at every level, and every SIMD kernel against the portable one.

use inout::InOutBuf;
use lanecrypt_kernels::aes::{Aes, AesCtr};
use lanecrypt_kernels::{Isa, Level, Seek, StreamCore};

fn levels() -> impl Iterator<Item = Isa> {
    let top = Isa::of_processor();
    Level::ALL.into_iter().filter(move |&level| top.has(level)).map(move |l| top.at_most(l))
}

fn cases() -> usize {
    match std::env::var("LANECRYPT_CASES") {
        Ok(n) => n.parse().expect("LANECRYPT_CASES is a number"),
        Err(_) => 1000,
    }
}

/// SplitMix64: reproducible, and good enough to choose cases with.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below a usize")
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| self.byte())
    }

    /// A counter block a few blocks before a carry into some part of it, or anywhere.
    fn counter(&mut self) -> [u8; 16] {
        let any = u128::from_be_bytes(self.array());
        let near = self.below(700) as u128;
        let counter = match self.below(8) {
            0 => (any >> 32 << 32).wrapping_sub(near),
            1 => (any >> 64 << 64).wrapping_sub(near),
            2 => 0_u128.wrapping_sub(near),
            3 => (any >> 8 << 8).wrapping_sub(near % 40),
            4 => any >> 8 << 8,
            _ => any,
        };
        counter.to_be_bytes()
    }
}

fn hex<const N: usize>(text: &str) -> [u8; N] {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    assert_eq!(digits.len(), 2 * N);
    core::array::from_fn(|i| {
        let pair = core::str::from_utf8(&digits[2 * i..2 * i + 2]).expect("ASCII");
        u8::from_str_radix(pair, 16).expect("hex digits")
    })
}

/// Calls the macro `$run` with each key size in bits.
macro_rules! each_size {
    ($run:ident) => {
        $run!(128);
        $run!(192);
        $run!(256);
    };
}

#[test]
fn fips_197_appendix_c() {
    let input = hex::<16>("00112233445566778899aabbccddeeff");
    macro_rules! run {
        ($bits:literal, $expected:literal) => {
            for isa in levels() {
                let mut bytes = 0..;
                let key = [0; $bits / 8].map(|_: u8| bytes.next().expect("endless"));
                let mut blocks = [input; 3];
                Aes::<$bits>::new(isa, &key).encrypt(blocks.as_mut_slice().into());
                assert_eq!(blocks, [hex($expected); 3], "AES-{} at {}", $bits, isa.level());
            }
        };
    }
    run!(128, "69c4e0d86a7b0430d8cdb78070b4c55a");
    run!(192, "dda97ca4864cdfe06eaf70a0ec0d7191");
    run!(256, "8ea2b7ca516745bfeafc49904b496089");
}

/// SP 800-38A, appendix F: the plaintext of all its examples.
const PLAINTEXT: &str = "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
    30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710";

#[test]
fn sp_800_38a_ecb_and_ctr() {
    macro_rules! run {
        ($bits:literal, $key:literal, $ecb:literal, $ctr:literal) => {
            for isa in levels() {
                let mut data = hex::<64>(PLAINTEXT);
                let (blocks, _) = data.as_chunks_mut();
                Aes::<$bits>::new(isa, &hex($key)).encrypt(blocks.into());
                assert_eq!(data, hex($ecb), "AES-{} at {}", $bits, isa.level());

                let nonce = hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
                let mut core = AesCtr::<$bits>::new(isa, &hex($key), &nonce);
                let mut data = hex::<64>(PLAINTEXT);
                core.xor(data.as_mut_slice().into());
                assert_eq!(data, hex($ctr), "AES-{}-CTR at {}", $bits, isa.level());
            }
        };
    }
    run!(
        128,
        "2b7e151628aed2a6abf7158809cf4f3c",
        "3ad77bb40d7a3660a89ecaf32466ef97 f5d3d58503b9699de785895a96fdbaaf
         43b1cd7f598ece23881b00e3ed030688 7b0c785e27e8ad3f8223207104725dd4",
        "874d6191b620e3261bef6864990db6ce 9806f66b7970fdff8617187bb9fffdff
         5ae4df3edbd5d35e5b4f09020db03eab 1e031dda2fbe03d1792170a0f3009cee"
    );
    run!(
        192,
        "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
        "bd334f1d6e45f25ff712a214571fa5cc 974104846d0ad3ad7734ecb3ecee4eef
         ef7afd2270e2e60adce0ba2face6444e 9a4b41ba738d6c72fb16691603c18e0e",
        "1abc932417521ca24f2b0459fe7e6e0b 090339ec0aa6faefd5ccc2c6f4ce8e94
         1e36b26bd1ebc670d1bd1d665620abf7 4f78a7f6d29809585a97daec58c6b050"
    );
    run!(
        256,
        "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
        "f3eed1bdb5d2a03c064b5a7e3db181f8 591ccb10d410ed26dc5ba74a31362870
         b6ed21b99ca6f4f9f153e7b1beafed1d 23304b7a39f9f3ff067d8d8f9e24ecc7",
        "601ec313775789a5b7a7f504bbf3d228 f443e3ca4d62b59aca84e990cacaf5c5
         2b0930daa23de94ce87017ba2d84988d dfc9c58db67aada613c2dd08457941a6"
    );
}

#[test]
fn key_schedules_and_blocks_equal_the_portable_ones() {
    let mut random = Random(1);
    macro_rules! run {
        ($bits:literal) => {
            for case in 0..cases() {
                // Every count of blocks up to past the widest kernel, in place and apart.
                let count = case % 75;
                let key = random.array();
                let input: Vec<[u8; 16]> = (0..count).map(|_| random.array()).collect();
                let mut expected = input.clone();
                Aes::<$bits>::new(Isa::PORTABLE, &key).encrypt(expected.as_mut_slice().into());
                for isa in levels() {
                    let aes = Aes::<$bits>::new(isa, &key);
                    let mut apart = vec![[0xa5; 16]; count + 2];
                    aes.encrypt(InOutBuf::new(&input, &mut apart[1..=count]).expect("as long"));
                    assert_eq!(apart[1..=count], expected, "{count} blocks at {}", isa.level());
                    assert_eq!((apart[0], apart[count + 1]), ([0xa5; 16], [0xa5; 16]));
                    let mut within = input.clone();
                    aes.encrypt(within.as_mut_slice().into());
                    assert_eq!(within, expected, "{count} blocks in place at {}", isa.level());
                }
            }
        };
    }
    each_size!(run);
}

/// Keystream by the definition: the portable block function on one counter block at a time.
fn by_definition(key: &[u8; 32], nonce: &[u8; 16], length: usize) -> Vec<u8> {
    let first = u128::from_be_bytes(*nonce);
    let mut blocks: Vec<[u8; 16]> =
        (0..length.div_ceil(16) as u128).map(|i| first.wrapping_add(i).to_be_bytes()).collect();
    Aes::<256>::new(Isa::PORTABLE, key).encrypt(blocks.as_mut_slice().into());
    blocks.as_flattened()[..length].to_vec()
}

/// Keystream and XOR of `length` bytes at `offset` from an aligned address, at every level.
fn check(random: &mut Random, length: usize, offset: usize) {
    const GUARD: u8 = 0x5a;
    let (key, nonce) = (random.array(), random.counter());
    let expected = by_definition(&key, &nonce, length);
    let input = random.bytes(length);
    let xored: Vec<u8> = input.iter().zip(&expected).map(|(a, b)| a ^ b).collect();
    for isa in levels() {
        let context = format!("{length} bytes at {offset}, {nonce:02x?}, {}", isa.level());
        let core = || AesCtr::<256>::new(isa, &key, &nonce);
        let mut buffer = vec![GUARD; offset + length + 70];
        let end = offset + length;
        core().keystream(&mut buffer[offset..end]);
        assert!(buffer[offset..end] == expected, "keystream of {context}");
        assert!(buffer[..offset].iter().chain(&buffer[end..]).all(|&b| b == GUARD), "{context}");

        buffer.fill(GUARD);
        core().xor(InOutBuf::new(&input, &mut buffer[offset..end]).expect("as long"));
        assert!(buffer[offset..end] == xored, "xor apart of {context}");
        assert!(buffer[..offset].iter().chain(&buffer[end..]).all(|&b| b == GUARD), "{context}");

        buffer.fill(GUARD);
        buffer[offset..end].copy_from_slice(&input);
        core().xor((&mut buffer[offset..end]).into());
        assert!(buffer[offset..end] == xored, "xor in place of {context}");
        assert!(buffer[..offset].iter().chain(&buffer[end..]).all(|&b| b == GUARD), "{context}");
    }
}

#[test]
fn every_short_length() {
    let mut random = Random(2);
    for length in 0..=1100 {
        let offset = random.below(64);
        check(&mut random, length, offset);
    }
}

#[test]
fn lengths_around_multiples_of_every_width() {
    let mut random = Random(3);
    for width in [64, 128, 256, 512, 4096] {
        for multiple in (width..=5000).step_by(width).skip_while(|&m| m < 1000) {
            for length in [multiple - 1, multiple, multiple + 1] {
                if !cfg!(debug_assertions) || random.below(8) == 0 {
                    check(&mut random, length, 1);
                }
            }
        }
    }
}

#[test]
fn long_requests() {
    let mut random = Random(4);
    let count = if cfg!(debug_assertions) { 3 } else { 20 + cases() / 50 };
    for _ in 0..count {
        // From below to well past the length where the widest kernel changes its method.
        let length = 16_000 + random.below(12_000);
        check(&mut random, length, 3);
    }
}

#[test]
fn random_splits_continue_at_the_next_whole_block() {
    let mut random = Random(5);
    macro_rules! run {
        ($bits:literal) => {
            for _ in 0..cases() / 4 {
                let (key, nonce) = (random.array(), random.counter());
                let sizes = core::array::from_fn::<_, 5, _>(|_| {
                    let most = [20, 70, 300, 1200][random.below(4)];
                    random.below(most)
                });
                let mut cores: Vec<_> =
                    levels().map(|isa| AesCtr::<$bits>::new(isa, &key, &nonce)).collect();
                let mut block = 0;
                for size in sizes {
                    let mut counter = u128::from_be_bytes(nonce).wrapping_add(block);
                    let mut blocks: Vec<[u8; 16]> = vec![[0; 16]; size.div_ceil(16)];
                    for block in &mut blocks {
                        *block = counter.to_be_bytes();
                        counter = counter.wrapping_add(1);
                    }
                    let portable = Aes::<$bits>::new(Isa::PORTABLE, &key);
                    portable.encrypt(blocks.as_mut_slice().into());
                    for core in &mut cores {
                        let mut out = vec![0; size];
                        core.keystream(&mut out);
                        assert_eq!(out, blocks.as_flattened()[..size], "{core:?} {sizes:?}");
                    }
                    block += size.div_ceil(16) as u128;
                }
            }
        };
    }
    each_size!(run);
}

#[test]
fn seeking_is_relative_to_the_nonce() {
    let mut random = Random(6);
    for _ in 0..cases() / 10 {
        let (key, nonce) = (random.array(), random.counter());
        let block = random.next() >> random.below(64);
        let sum = u128::from_be_bytes(nonce).wrapping_add(u128::from(block));
        let expected = by_definition(&key, &sum.to_be_bytes(), 100);
        for isa in levels() {
            let mut core = AesCtr::<256>::new(isa, &key, &nonce);
            core.keystream(&mut [0; 77]);
            core.seek(block);
            let mut out = [0; 100];
            core.keystream(&mut out);
            assert_eq!(out[..], expected, "block {block} at {}", isa.level());
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
    let core = AesCtr::<128>::new(Isa::detect(), &[0xa7; 16], &[0xcd; 16]);
    let text = format!("{core:?} {:?}", Aes::<128>::new(Isa::detect(), &[0xa7; 16]));
    for byte in ["167", "205", "a7", "cd"] {
        assert!(!text.contains(byte), "{text}");
    }
}
