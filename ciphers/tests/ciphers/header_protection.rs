//! Masks of headers, one at a time and as messages that name their first block.

use lanecrypt_ciphers::hazmat::lanes::{self, Lengths, Message};
use lanecrypt_ciphers::hazmat::{HeaderProtectionKey, Padding, RawCipher};
use lanecrypt_ciphers::{Algorithm, Error};
use lanecrypt_testing::levels;

fn hex<const N: usize>(text: &str) -> [u8; N] {
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hexadecimal");
    core::array::from_fn(byte)
}

/// RFC 9001, appendix A.2, A.3 and A.5.
#[test]
fn published_masks() {
    for (algorithm, key, sample, mask) in [
        (
            Algorithm::AES_128_GCM,
            "9f50449e04a0e810283a1e9933adedd2",
            "d1b1c98dd7689fb8ec11d242b123dc9b",
            "437b9aec36",
        ),
        (
            Algorithm::AES_128_GCM,
            "c206b8d9b9f0f37644430b490eeaa314",
            "2cd0991cd25b0aac406a5816b6394100",
            "2ec0d8356a",
        ),
        (
            Algorithm::CHACHA20_POLY1305,
            "25a282b9e82f06f21f488917a4fc8f1b73573685608597d0efcb076b0ab7a7a4",
            "5e5cd55c41f69080575d7999c25a5bfb",
            "aefefe7d03",
        ),
    ] {
        let key = &hex::<32>(&format!("{key:0<64}"))[..key.len() / 2];
        for isa in levels() {
            let protection = HeaderProtectionKey::new(isa, algorithm, key).expect("a good key");
            assert_eq!(protection.mask(&hex(sample)), hex(mask), "{algorithm} {isa:?}");
        }
    }
}

/// With AES the mask is a block of ECB.
#[test]
fn masks_of_aes_256() {
    let (key, sample) = (*b"a key of exactly thirty-two byte", [0xd6; 16]);
    for isa in levels() {
        let mut block = sample;
        let ecb = RawCipher::with_isa(isa, Algorithm::AES_256_ECB, &key).expect("a good key");
        ecb.encrypt(&[], &mut block[..]).expect("a block");
        let protection = HeaderProtectionKey::new(isa, Algorithm::AES_256_GCM, &key);
        assert_eq!(protection.expect("a good key").mask(&sample), block[..5], "{isa:?}");
    }
}

/// Any number of masks, of keys of one algorithm or of all, in any order, of one level or of more.
#[test]
fn many_masks_are_those_made_one_by_one() {
    const ALGORITHMS: [Algorithm; 3] =
        [Algorithm::CHACHA20_POLY1305, Algorithm::AES_128_GCM, Algorithm::AES_256_GCM];
    let mut number = 1_u64;
    let mut next = || {
        number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        number.to_be_bytes()[0]
    };
    let keys: [[u8; 32]; 40] = core::array::from_fn(|_| core::array::from_fn(|_| next()));
    let samples: [[u8; 16]; 40] = core::array::from_fn(|_| core::array::from_fn(|_| next()));
    let lowest = levels().next().expect("there is a lowest level");
    for isa in levels() {
        for (kinds, mixed_levels) in [(1, false), (1, true), (3, false)] {
            let made: Vec<_> = (keys.iter().enumerate())
                .map(|(at, key)| {
                    let algorithm = ALGORITHMS[usize::from(next()) % kinds];
                    let length = if algorithm == Algorithm::AES_128_GCM { 16 } else { 32 };
                    let isa = if mixed_levels && at % 3 == 2 { lowest } else { isa };
                    HeaderProtectionKey::new(isa, algorithm, &key[..length]).expect("a good key")
                })
                .collect();
            let expected: Vec<_> =
                made.iter().zip(&samples).map(|(key, sample)| key.mask(sample)).collect();
            for count in 0..=40 {
                let mut masks = [[0xee; 5]; 40];
                let packets = made.iter().zip(&samples).zip(&mut masks).take(count);
                HeaderProtectionKey::masks(
                    packets.map(|((key, sample), mask)| (key, sample, mask)),
                );
                assert_eq!(masks[..count], expected[..count], "{isa:?} {kinds} {count}");
                assert!(masks[count..].iter().all(|mask| *mask == [0xee; 5]), "{isa:?} {count}");
            }
        }
    }
}

#[test]
fn refusals() {
    for isa in levels() {
        for &algorithm in Algorithm::ALL {
            let right = match algorithm {
                Algorithm::AES_128_GCM => 16,
                Algorithm::AES_256_GCM | Algorithm::CHACHA20_POLY1305 => 32,
                _ => 0,
            };
            for length in 1..70 {
                let made = HeaderProtectionKey::new(isa, algorithm, &vec![1; length]).map(drop);
                let expected = match right {
                    0 => Err(Error::Unsupported),
                    _ if length == right => Ok(()),
                    _ => Err(Error::KeyLength),
                };
                assert_eq!(made.map_err(Error::from), expected, "{algorithm} {length}");
            }
        }
    }
}

const STREAMS: [Algorithm; 9] = [
    Algorithm::CHACHA8_DJB,
    Algorithm::CHACHA12_DJB,
    Algorithm::CHACHA20_DJB,
    Algorithm::CHACHA8_IETF,
    Algorithm::CHACHA12_IETF,
    Algorithm::CHACHA20_IETF,
    Algorithm::SALSA20_8,
    Algorithm::SALSA20_12,
    Algorithm::SALSA20_20,
];

/// The first blocks of a stream in either form, the last of RFC 8439 and those near 2^32 and 2^64.
const BLOCKS: [u64; 8] = [0, 1, 5, 1 << 31, (1 << 32) - 8, 1 << 32, (1 << 40) - 1, u64::MAX - 8];

/// Block and nonce as 16 bytes.
fn named(algorithm: Algorithm, block: u64) -> [u8; 16] {
    let mut iv = *b"0123456789abcdef";
    let counter = 16 - algorithm.nonce_length();
    iv[..counter].copy_from_slice(&block.to_le_bytes()[..counter]);
    iv
}

/// A message that names its first block is what `encryptor_at_block` makes of it: alone, in pieces,
/// and beside others, in both directions.
#[test]
fn messages_name_their_first_block() {
    for isa in levels() {
        for algorithm in STREAMS {
            let cipher = RawCipher::with_isa(isa, algorithm, &[7; 32]).expect("a good key");
            let narrow = algorithm.nonce_length() == 12;
            let blocks: Vec<u64> =
                BLOCKS.into_iter().filter(|&block| !narrow || block >> 32 == 0).collect();
            for length in [5, 16, 64, 200, 512] {
                let ivs: Vec<_> = blocks.iter().map(|&block| named(algorithm, block)).collect();
                let expected: Vec<_> = (blocks.iter().zip(&ivs))
                    .map(|(&block, iv)| {
                        let nonce = &iv[16 - algorithm.nonce_length()..];
                        let mut data = vec![0; length];
                        let mut stream = cipher.encryptor_at_block(nonce, block).expect("there");
                        stream.apply(&mut data[..]).expect("before the end");
                        data
                    })
                    .collect();
                let what = format!("{algorithm} {isa:?} {length}");
                for (iv, expected) in ivs.iter().zip(&expected) {
                    let mut data = vec![0; length];
                    cipher.encrypt(iv, &mut data[..]).expect("before the end");
                    assert_eq!(data, *expected, "{what}");
                    cipher.decrypt(iv, &mut data[..]).expect("before the end");
                    let mut stream = cipher.encryptor(iv, Padding::None).expect("there");
                    stream.apply(&mut data[..]).expect("before the end");
                    assert_eq!(data, *expected, "in pieces, {what}");
                }
                for decrypts in [false, true] {
                    let mut data = vec![vec![0; length]; ivs.len()];
                    let mut outcomes = vec![Ok(()); ivs.len()];
                    let ivs = ivs.iter().map(|iv| &iv[..]);
                    let messages = messages(&cipher, ivs, &mut data, &mut outcomes);
                    let refused = match decrypts {
                        false => lanes::encrypt(algorithm, Lengths::ALL, messages),
                        true => lanes::decrypt(algorithm, Lengths::ALL, messages),
                    };
                    assert_eq!(refused, 0, "{what}");
                    assert_eq!(data, expected, "side by side, {what}");
                }
            }
        }
    }
}

fn messages<'a>(
    cipher: &'a RawCipher,
    ivs: impl Iterator<Item = &'a [u8]>,
    data: &'a mut [Vec<u8>],
    outcomes: &'a mut [Result<(), Error>],
) -> impl Iterator<Item = Message<'a>> {
    ivs.zip(data).zip(outcomes).map(move |((iv, data), outcome)| Message {
        cipher,
        iv,
        data: (&mut data[..]).into(),
        outcome,
    })
}

/// What would go past the counter's end is refused as a whole, wherever it is asked for.
#[test]
fn nothing_goes_past_the_end() {
    for isa in levels() {
        for algorithm in STREAMS {
            let cipher = RawCipher::with_isa(isa, algorithm, &[7; 32]).expect("a good key");
            let last = if algorithm.nonce_length() == 12 { u64::from(u32::MAX) } else { u64::MAX };
            let iv = named(algorithm, last);
            let mut data = [9; 65];
            let refused = Err(Error::KeystreamExhausted);
            assert_eq!(cipher.encrypt(&iv, &mut data[..]), refused, "{algorithm}");
            assert_eq!(cipher.decrypt(&iv, &mut data[..]), refused, "{algorithm}");
            let mut outcomes = vec![Ok(()); 4];
            let mut others = vec![vec![9; 65]; 4];
            let ivs = core::iter::repeat(&iv[..]);
            let messages = messages(&cipher, ivs, &mut others, &mut outcomes);
            assert_eq!(lanes::encrypt(algorithm, Lengths::ALL, messages), 4);
            assert_eq!(outcomes, vec![refused; 4], "{algorithm}");
            assert!(data.iter().chain(others.iter().flatten()).all(|&byte| byte == 9));
            cipher.encrypt(&iv, &mut data[..64]).expect("the last block");
            assert!(cipher.encryptor_at_block(&iv, 1).is_err(), "{algorithm}");
        }
    }
}
