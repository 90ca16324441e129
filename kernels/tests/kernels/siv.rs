//! AES-SIV: known answers, and every instruction set against the definition. Other implementations
//! are in the tests of `ciphers` and `peers`.

use inout::InOutBuf;
use lanecrypt_kernels::aes::AesForward;
use lanecrypt_kernels::siv::{AesSiv, Lane};
use lanecrypt_kernels::{Aead, BlockEncrypt, Isa};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// RFC 5297, appendices A.1 and A.2: key, strings, plaintext, V and ciphertext.
#[test]
fn published() {
    let cases = [
        (
            "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
            &["101112131415161718191a1b1c1d1e1f2021222324252627"][..],
            "112233445566778899aabbccddee",
            "85632d07c6e8f37f950acd320a2ecc93",
            "40c02b9690c4dc04daef7f6afe5c",
        ),
        (
            "7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f",
            &[
                "00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100",
                "102030405060708090a0",
                "09f911029d74e35bd84156c5635688c0",
            ],
            "7468697320697320736f6d6520706c61696e7465787420746f20656e6372797074207573696e672053
             49562d414553",
            "7bdb6e3b432667eb06f4d14bff2fbd0f",
            "cb900f2fddbe404326601965c889bf17dba77ceb094fa663b7a3f748ba8af829ea64ad544a272e9c48
             5b62a3fd5c0d",
        ),
    ];
    for (key, strings, text, v, sealed) in cases {
        for isa in levels() {
            let siv = AesSiv::<128>::new(isa, &hex(key).try_into().expect("32 bytes"));
            let strings: Vec<_> = strings.iter().map(|string| hex(string)).collect();
            let strings: Vec<_> = strings.iter().map(|string| &string[..]).collect();
            let mut data = hex(text);
            let start = siv.strings().clone();
            assert_eq!(
                siv.seal_after(&start, &strings, (&mut data[..]).into())[..],
                hex(v),
                "{isa:?}"
            );
            assert_eq!(data, hex(sealed), "{isa:?}");
            let v = hex(v).try_into().expect("16 bytes");
            assert_eq!(siv.open_after(&start, &strings, &v, (&mut data[..]).into()), v, "{isa:?}");
            assert_eq!(data, hex(text), "{isa:?}");
        }
    }
}

/// CMAC (SP 800-38B, section 6.2), byte by byte.
fn cmac<C: BlockEncrypt<16>>(cipher: &C, string: &[u8]) -> [u8; 16] {
    let encrypted = |block: [u8; 16]| {
        let mut blocks = [block];
        cipher.encrypt((&mut blocks[..]).into());
        blocks[0]
    };
    let whole = doubled(encrypted([0; 16]));
    let mut blocks: Vec<Vec<u8>> = string.chunks(16).map(<[u8]>::to_vec).collect();
    if blocks.is_empty() {
        blocks.push(Vec::new());
    }
    let last = blocks.last_mut().expect("one at least");
    let subkey = if last.len() == 16 {
        whole
    } else {
        last.push(0x80);
        last.resize(16, 0);
        doubled(whole)
    };
    last.iter_mut().zip(subkey).for_each(|(byte, key)| *byte ^= key);
    blocks.iter().fold([0; 16], |mut sum, block| {
        sum.iter_mut().zip(block).for_each(|(sum, byte)| *sum ^= byte);
        encrypted(sum)
    })
}

fn doubled(block: [u8; 16]) -> [u8; 16] {
    let mut out = [0; 16];
    for at in 0..16 {
        let next = block.get(at + 1).map_or(0, |byte| byte >> 7);
        out[at] = block[at] << 1 | next;
    }
    if block[0] >> 7 == 1 {
        out[15] ^= 0x87;
    }
    out
}

/// Sections 2.4 and 2.6: V and ciphertext.
fn defined<C: BlockEncrypt<16>>(
    mac: &C,
    cipher: &C,
    strings: &[&[u8]],
    text: &[u8],
) -> ([u8; 16], Vec<u8>) {
    let mut sum = cmac(mac, &[0; 16]);
    for string in strings {
        sum = doubled(sum);
        sum.iter_mut().zip(cmac(mac, string)).for_each(|(sum, byte)| *sum ^= byte);
    }
    let mut last = text.to_vec();
    if text.len() >= 16 {
        let end = text.len() - 16;
        last[end..].iter_mut().zip(sum).for_each(|(byte, sum)| *byte ^= sum);
    } else {
        last.push(0x80);
        last.resize(16, 0);
        last.iter_mut().zip(doubled(sum)).for_each(|(byte, sum)| *byte ^= sum);
    }
    let v = cmac(mac, &last);
    let mut first = v;
    first[8] &= 0x7f;
    first[12] &= 0x7f;
    let mut counter = u128::from_be_bytes(first);
    let mut sealed = text.to_vec();
    for part in sealed.chunks_mut(16) {
        let mut block = [counter.to_be_bytes()];
        cipher.encrypt((&mut block[..]).into());
        part.iter_mut().zip(block[0]).for_each(|(byte, key)| *byte ^= key);
        counter = counter.wrapping_add(1);
    }
    (v, sealed)
}

/// A message of a batch, and what becomes of it.
struct Message {
    /// How many of them are hashed before.
    kept: usize,
    strings: Vec<Vec<u8>>,
    text: Vec<u8>,
    sealed: Vec<u8>,
    v: [u8; 16],
}

const GUARD: usize = 70;

macro_rules! key_size {
    ($bits:literal, $check:ident, $batch:ident) => {
        /// Seals and opens one message at every level, apart and in place; nothing but its bytes
        /// may change.
        fn $check(numbers: &mut Numbers, strings: &[usize], length: usize) {
            let key = numbers.array::<{ $bits / 4 }>();
            let strings: Vec<_> = strings.iter().map(|&length| numbers.bytes(length)).collect();
            let strings: Vec<_> = strings.iter().map(|string| &string[..]).collect();
            let text = numbers.bytes(length);
            let [mac, cipher] = [&key[..$bits / 8], &key[$bits / 8..]].map(|key| {
                AesForward::<$bits>::new(Isa::PORTABLE, key.try_into().expect("half of a key"))
            });
            let (v, sealed) = defined(&mac, &cipher, &strings, &text);
            let offset = numbers.below(GUARD);
            for isa in levels() {
                let place =
                    format!("{} bits, {} strings, {length} bytes, {isa:?}", $bits, strings.len());
                let siv = AesSiv::<$bits>::new(isa, &key);
                for kept in 0..=strings.len() {
                    let mut start = siv.strings().clone();
                    siv.associate(&mut start, &strings[..kept]);
                    let more = &strings[kept..];
                    let mut buffer = vec![0x5a; offset + length + GUARD];
                    let data = &mut buffer[offset..offset + length];
                    let apart = InOutBuf::new(&text, data).expect("equal lengths");
                    assert_eq!(siv.seal_after(&start, more, apart), v, "{place}");
                    assert_eq!(*data, sealed, "{place}");
                    assert_eq!(siv.open_after(&start, more, &v, (&mut *data).into()), v, "{place}");
                    assert_eq!(*data, text, "{place}");
                    assert_eq!(siv.seal_after(&start, more, (&mut *data).into()), v, "{place}");
                    assert_eq!(*data, sealed, "{place}");
                    let apart = InOutBuf::new(&sealed, data).expect("equal lengths");
                    assert_eq!(siv.open_after(&start, more, &v, apart), v, "{place}");
                    assert_eq!(*data, text, "{place}");
                    let mut other = v;
                    other[length % 16] ^= 0x10;
                    let _wrong = siv.open_after(&start, more, &other, (&mut *data).into());
                    let outside = buffer[..offset].iter().chain(&buffer[offset + length..]);
                    assert!(
                        outside.into_iter().all(|&b| b == 0x5a),
                        "bytes outside changed, {place}"
                    );
                }
            }
        }

        /// Messages of these lengths side by side, with any strings.
        fn $batch(numbers: &mut Numbers, lengths: &[usize]) {
            let key = numbers.array::<{ $bits / 4 }>();
            let [mac, cipher] = [&key[..$bits / 8], &key[$bits / 8..]].map(|key| {
                AesForward::<$bits>::new(Isa::detect(), key.try_into().expect("half of a key"))
            });
            let mut messages = Vec::new();
            for &length in lengths {
                let count = numbers.below(4);
                let kept = count.saturating_sub(2);
                let strings: Vec<_> = (0..count)
                    .map(|_| {
                        let n = numbers.below(50);
                        numbers.bytes(n)
                    })
                    .collect();
                let text = numbers.bytes(length);
                let all: Vec<_> = strings.iter().map(|string| &string[..]).collect();
                let (v, sealed) = defined(&mac, &cipher, &all, &text);
                messages.push(Message { kept, strings, text, sealed, v });
            }
            for isa in levels() {
                let siv = AesSiv::<$bits>::new(isa, &key);
                let starts: Vec<_> = messages
                    .iter()
                    .map(|message| {
                        let mut start = siv.strings().clone();
                        for string in &message.strings[..message.kept] {
                            siv.associate(&mut start, &[string]);
                        }
                        start
                    })
                    .collect();
                let mut places: Vec<_> =
                    lengths.iter().map(|&length| vec![0x5a; length + 2 * GUARD]).collect();
                let mut tags = vec![[0; 16]; messages.len()];
                for (seal, apart) in [(true, true), (false, false), (true, false), (false, true)] {
                    if seal {
                        // To open, they are what was made last.
                        tags.fill([0x5a; 16]);
                    }
                    let mut lanes = Vec::new();
                    let things = places.iter_mut().zip(&mut tags).zip(&messages).zip(&starts);
                    for (((place, v), message), start) in things {
                        let data = &mut place[GUARD..][..message.text.len()];
                        let from = if seal { &message.text } else { &message.sealed };
                        let data = match apart {
                            true => InOutBuf::new(from, data).expect("equal lengths"),
                            false => data.into(),
                        };
                        let more = &message.strings[message.kept..];
                        let mut more = [more.first(), more.get(1)].map(|s| s.map(|s| &s[..]));
                        if more[1].is_none() && message.text.len() % 2 == 1 {
                            more.swap(0, 1);
                        }
                        lanes.push(Lane::new(start, more, data, v));
                    }
                    if seal {
                        siv.seal_lanes(&mut lanes)
                    } else {
                        siv.open_lanes(&mut lanes)
                    }
                    drop(lanes);
                    for ((place, v), message) in places.iter().zip(&tags).zip(&messages) {
                        let length = message.text.len();
                        let place_of =
                            format!("{length} bytes of {lengths:?}, {isa:?}, seal {seal}");
                        assert_eq!(*v, message.v, "{place_of}");
                        let right = if seal { &message.sealed } else { &message.text };
                        assert_eq!(&place[GUARD..][..length], right, "{place_of}");
                        let outside = place[..GUARD].iter().chain(&place[GUARD + length..]);
                        assert!(outside.into_iter().all(|&b| b == 0x5a), "{place_of}");
                    }
                }
                // Some of the V that come are wrong. What comes out is what each message gives
                // alone.
                let mut came: Vec<_> = messages.iter().map(|message| message.v).collect();
                for v in &mut came {
                    v[numbers.below(16)] ^= [0, 0, 1, 0x80][numbers.below(4)];
                }
                let mut made = came.clone();
                let mut texts: Vec<_> =
                    messages.iter().map(|message| message.sealed.clone()).collect();
                let mut lanes = Vec::new();
                for (((text, v), message), start) in
                    texts.iter_mut().zip(&mut made).zip(&messages).zip(&starts)
                {
                    let more = &message.strings[message.kept..];
                    let more = [more.first(), more.get(1)].map(|s| s.map(|s| &s[..]));
                    lanes.push(Lane::new(start, more, (&mut text[..]).into(), v));
                }
                siv.open_lanes(&mut lanes);
                drop(lanes);
                let portable = AesSiv::<$bits>::new(Isa::PORTABLE, &key);
                for (((text, v), message), came) in
                    texts.iter().zip(&made).zip(&messages).zip(&came)
                {
                    let mut alone = message.sealed.clone();
                    let all: Vec<_> = message.strings.iter().map(|string| &string[..]).collect();
                    let right = portable.open_after(
                        portable.strings(),
                        &all,
                        came,
                        (&mut alone[..]).into(),
                    );
                    let place_of = format!("{} bytes of {lengths:?}, {isa:?}", message.text.len());
                    assert_eq!((text, *v), (&alone, right), "under a wrong V, {place_of}");
                }
            }
        }
    };
}

key_size!(128, check128, batch128);
key_size!(192, check192, batch192);
key_size!(256, check256, batch256);

#[test]
fn every_length() {
    let mut numbers = Numbers(1);
    for length in (0..=200).chain([255, 256, 257, 512, 600, 1023, 1025, 4097, 9000]) {
        check128(&mut numbers, &[length % 23], length);
        check192(&mut numbers, &[], length);
        check256(&mut numbers, &[0, 16], length);
    }
    for string in 0..=100 {
        check256(&mut numbers, &[string], 20);
        check128(&mut numbers, &[5, string, 32], 7);
    }
}

#[test]
fn side_by_side() {
    let mut numbers = Numbers(2);
    for length in (0..=200).chain([256, 300]) {
        batch128(&mut numbers, &[length; 33]);
    }
    for count in 0..=70 {
        let lengths: Vec<_> = (0..count).map(|at| at * 7 % 97).collect();
        batch256(&mut numbers, &lengths);
        batch192(&mut numbers, &vec![32; count]);
    }
}

#[test]
fn random() {
    let mut numbers = Numbers(3);
    for _ in 0..cases(60) {
        let longest = if numbers.below(8) == 0 { 5000 } else { 400 };
        let length = numbers.below(longest);
        let strings: Vec<_> = (0..numbers.below(4)).map(|_| numbers.below(60)).collect();
        let count = numbers.below(80);
        let longest = [90, 400][numbers.below(2)];
        let lengths: Vec<_> = (0..count).map(|_| numbers.below(longest)).collect();
        match numbers.below(3) {
            0 => check128(&mut numbers, &strings, length),
            1 => check192(&mut numbers, &strings, length),
            _ => check256(&mut numbers, &strings, length),
        }
        match numbers.below(3) {
            0 => batch128(&mut numbers, &lengths),
            1 => batch192(&mut numbers, &lengths),
            _ => batch256(&mut numbers, &lengths),
        }
    }
}

#[test]
fn a_key_takes_the_place_of_another() {
    for isa in levels() {
        let mut siv = AesSiv::<256>::new(isa, &[1; 64]);
        siv.set_key(&[2; 64]);
        let other = AesSiv::<256>::new(isa, &[2; 64]);
        let (mut data, mut expected) = ([3; 50], [3; 50]);
        let v = siv.seal_after(siv.strings(), &[&[4]], (&mut data[..]).into());
        assert_eq!(v, other.seal_after(other.strings(), &[&[4]], (&mut expected[..]).into()));
        assert_eq!(data, expected, "{isa:?}");
    }
}

#[test]
fn debug_tells_no_secret() {
    let siv = AesSiv::<128>::new(Isa::PORTABLE, &[0xab; 32]);
    assert_eq!(format!("{siv:?}"), "AesSiv { bits: 128, isa: Isa(Portable), .. }");
    assert_eq!(format!("{:?}", siv.strings()), "Strings { .. }");
}
