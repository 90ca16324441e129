//! AES-XTS: every instruction set against a plain definition on top of an independent AES.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use inout::InOutBuf;
use lanecrypt_kernels::Isa;
use lanecrypt_kernels::xts::AesXts;
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// Bytes around the data that must not change.
const GUARD: usize = 70;

/// Times x, bit by bit: bit `i` of byte `j` is the coefficient of x^(8 j + i).
fn doubled(mask: [u8; 16]) -> [u8; 16] {
    let bit = |mask: [u8; 16], n: usize| mask[n / 8] >> (n % 8) & 1;
    let mut next = [0; 16];
    for n in 1..128 {
        next[n / 8] |= bit(mask, n - 1) << (n % 8);
    }
    if bit(mask, 127) == 1 {
        [0, 1, 2, 7].into_iter().for_each(|n| next[n / 8] ^= 1 << (n % 8));
    }
    next
}

/// IEEE 1619-2018, section 5.3.2: encryption, a block at a time.
fn defined<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt>(
    key: &[u8],
    tweak: [u8; 16],
    text: &[u8],
) -> Vec<u8> {
    let (data_key, tweak_key) = key.split_at(key.len() / 2);
    let cipher = C::new_from_slice(data_key).expect("a length of the cipher");
    let block = |cipher: &C, mask: [u8; 16], block: &[u8]| -> [u8; 16] {
        let masked = |block: &[u8]| -> Vec<u8> {
            block.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect()
        };
        let mut state = aes::cipher::Block::<C>::try_from(&masked(block)[..]).expect("a block");
        cipher.encrypt_block(&mut state);
        masked(&state).try_into().expect("a block")
    };
    let mut mask = {
        let cipher = C::new_from_slice(tweak_key).expect("a length of the cipher");
        block(&cipher, [0; 16], &tweak)
    };
    let mut out = Vec::new();
    let (blocks, rest) = text.as_chunks::<16>();
    for text in blocks {
        out.extend(block(&cipher, mask, text));
        mask = doubled(mask);
    }
    if !rest.is_empty() {
        let before: [u8; 16] = out.split_off(out.len() - 16).try_into().expect("a block");
        let (front, stolen) = before.split_at(rest.len());
        out.extend(block(&cipher, mask, &[rest, stolen].concat()));
        out.extend(front);
    }
    out
}

/// Calls `crypt` in place and apart, at some offset; nothing but its bytes may change.
fn both_ways(
    offset: usize,
    input: &[u8],
    output: &[u8],
    place: &str,
    crypt: impl Fn(InOutBuf<'_, '_, u8>),
) {
    let range = offset..offset + input.len();
    let mut buffer = vec![0x5a; offset + input.len() + GUARD];
    let apart = InOutBuf::new(input, &mut buffer[range.clone()]).expect("equal lengths");
    crypt(apart);
    assert_eq!(buffer[range.clone()], *output, "apart, {place}");
    buffer[range.clone()].copy_from_slice(input);
    crypt((&mut buffer[range.clone()]).into());
    assert_eq!(buffer[range.clone()], *output, "in place, {place}");
    let outside = buffer[..range.start].iter().chain(&buffer[range.end..]);
    assert!(outside.into_iter().all(|&b| b == 0x5a), "bytes outside changed, {place}");
}

macro_rules! key_size {
    ($unit:ident, $sectors:ident, $cipher:ty, $bits:literal) => {
        /// One data unit at every level.
        fn $unit(numbers: &mut Numbers, length: usize) {
            let (key, tweak) = (numbers.array::<{ $bits / 4 }>(), numbers.array());
            let text = numbers.bytes(length);
            let sealed = defined::<$cipher>(&key, tweak, &text);
            let offset = numbers.below(GUARD);
            for isa in levels() {
                let place = format!("{} bits, {length} bytes, {isa:?}", $bits);
                let xts = AesXts::<$bits>::new(isa, &key);
                both_ways(offset, &text, &sealed, &place, |data| xts.encrypt(&tweak, data));
                both_ways(offset, &sealed, &text, &place, |data| xts.decrypt(&tweak, data));
            }
        }

        /// Consecutive sectors at every level, by a cipher that had another key before.
        fn $sectors(numbers: &mut Numbers, first: u128, size: usize, count: usize) {
            let (key, old) = (numbers.array::<{ $bits / 4 }>(), numbers.array());
            let text = numbers.bytes(size * count);
            let mut sealed = Vec::new();
            let mut number = first;
            for sector in text.chunks(size) {
                sealed.extend(defined::<$cipher>(&key, number.to_le_bytes(), sector));
                number = number.wrapping_add(1);
            }
            let offset = numbers.below(GUARD);
            for isa in levels() {
                let place = format!("{} bits, {count} times {size} bytes, {isa:?}", $bits);
                let mut xts = AesXts::<$bits>::new(isa, &old);
                xts.set_key(&key);
                both_ways(offset, &text, &sealed, &place, |data| {
                    xts.encrypt_sectors(first, size, data);
                });
                both_ways(offset, &sealed, &text, &place, |data| {
                    xts.decrypt_sectors(first, size, data);
                });
            }
        }
    };
}

key_size!(unit128, sectors128, aes::Aes128, 128);
key_size!(unit256, sectors256, aes::Aes256, 256);

/// IEEE 1619-2018, annex B, vectors 1, 2 and 15 to 18.
#[test]
fn published() {
    let steal = "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0";
    let counted = "000102030405060708090a0b0c0d0e0f10111213";
    let cases = [
        (
            "00".repeat(32),
            "00",
            "00".repeat(32),
            "917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e",
        ),
        (
            ["11".repeat(16), "22".repeat(16)].concat(),
            "3333333333",
            "44".repeat(32),
            "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
        ),
        (steal.into(), "9a78563412", counted[..34].into(), "6c1625db4671522d3d7599601de7ca09ed"),
        (steal.into(), "9a78563412", counted[..36].into(), "d069444b7a7e0cab09e24447d24deb1fedbf"),
        (
            steal.into(),
            "9a78563412",
            counted[..38].into(),
            "e5df1351c0544ba1350b3363cd8ef4beedbf9d",
        ),
        (steal.into(), "9a78563412", counted.into(), "9d84c813f719aa2c7be3f66171c7c5c2edbf9dac"),
    ];
    for (key, tweak, text, sealed) in cases {
        let mut number = hex(tweak);
        number.resize(16, 0);
        let tweak = number.try_into().expect("16 bytes");
        for isa in levels() {
            let xts = AesXts::<128>::new(isa, &hex(&key).try_into().expect("32 bytes"));
            let (text, sealed) = (hex(&text), hex(sealed));
            both_ways(3, &text, &sealed, "published", |data| xts.encrypt(&tweak, data));
            both_ways(3, &sealed, &text, "published", |data| xts.decrypt(&tweak, data));
        }
    }
}

#[test]
fn every_length() {
    let mut numbers = Numbers(1);
    for length in 16..=700 {
        unit128(&mut numbers, length);
    }
    for length in (16..=160).chain(505..=530).chain(4080..=4130) {
        unit256(&mut numbers, length);
    }
}

#[test]
fn sectors() {
    let mut numbers = Numbers(2);
    let wrapping = u128::MAX - 5;
    for (first, size, count) in [
        (0, 512, 40),
        (wrapping, 512, 9),
        (u128::from(u64::MAX), 4096, 3),
        (7, 16, 67),
        (wrapping, 16, 33),
        (1, 17, 5),
        (1 << 40, 528, 32),
        (3, 48, 0),
        (3, 4096, 1),
    ] {
        sectors128(&mut numbers, first, size, count);
        sectors256(&mut numbers, first, size, count);
    }
}

#[test]
fn random() {
    let mut numbers = Numbers(3);
    for _ in 0..cases(150) {
        let longest = if numbers.below(8) == 0 { 9000 } else { 1200 };
        let length = 16 + numbers.below(longest);
        match numbers.below(4) {
            0 => unit128(&mut numbers, length),
            1 => unit256(&mut numbers, length),
            way => {
                let (size, count) = (16 + numbers.below(600), numbers.below(5));
                let first = u128::from(numbers.number());
                if way == 2 {
                    sectors128(&mut numbers, first, size, count);
                } else {
                    sectors256(&mut numbers, first, size, count);
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "a data unit has a block at least")]
fn a_unit_has_a_block() {
    AesXts::<128>::new(Isa::PORTABLE, &[1; 32]).encrypt(&[0; 16], (&mut [0; 15][..]).into());
}

#[test]
#[should_panic(expected = "sectors are whole")]
fn sectors_are_whole() {
    let xts = AesXts::<128>::new(Isa::PORTABLE, &[1; 32]);
    xts.decrypt_sectors(0, 32, (&mut [0; 48][..]).into());
}

#[test]
fn debug_tells_no_secret() {
    let shown = format!("{:?}", AesXts::<256>::new(Isa::PORTABLE, &[0xab; 64]));
    assert_eq!(shown, "AesXts { bits: 256, isa: Isa(Portable), .. }");
}
