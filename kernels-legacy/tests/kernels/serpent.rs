//! Serpent: known answers, two other ways to compute it, and every way to cut data into requests,
//! at every instruction set.

use std::path::PathBuf;

use cbc::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use inout::InOutBuf;
use lanecrypt_kernels::{BlockCipher, BlockEncrypt, Isa};
use lanecrypt_kernels_legacy::serpent::{Key, Serpent};

use crate::modes::{MODES, Mode};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

fn key(bytes: &[u8]) -> Key {
    match bytes.len() {
        16 => Key::from(bytes.first_chunk::<16>().expect("16 bytes")),
        24 => Key::from(bytes.first_chunk::<24>().expect("24 bytes")),
        32 => Key::from(bytes.first_chunk::<32>().expect("32 bytes")),
        len => panic!("no key has {len} bytes"),
    }
}

fn random_key(numbers: &mut Numbers) -> Vec<u8> {
    let len = 16 + 8 * numbers.below(3);
    numbers.bytes(len)
}

fn blocks(bytes: &[u8]) -> Vec<[u8; 16]> {
    let (blocks, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    blocks.to_vec()
}

/// The same from single blocks of the portable kernel: the definitions of the modes.
fn define(mode: Mode, key: &Key, iv: &mut [u8; 16], data: &[u8]) -> Vec<u8> {
    let serpent = Serpent::new(Isa::PORTABLE, key);
    let forward = |mut block: [u8; 16]| {
        serpent.encrypt(core::slice::from_mut(&mut block).into());
        block
    };
    let backward = |mut block: [u8; 16]| {
        serpent.decrypt(core::slice::from_mut(&mut block).into());
        block
    };
    let mut out = Vec::with_capacity(data.len());
    for part in data.chunks(16) {
        let whole = || *part.first_chunk().expect("a whole block");
        let result: Vec<u8> = match mode {
            Mode::Encrypt => forward(whole()).to_vec(),
            Mode::Decrypt => backward(whole()).to_vec(),
            Mode::CbcEncrypt => {
                *iv = forward(xor(whole(), *iv));
                iv.to_vec()
            }
            Mode::CbcDecrypt => {
                let plain = xor(backward(whole()), *iv);
                *iv = whole();
                plain.to_vec()
            }
            Mode::Ctr | Mode::Keystream => {
                let stream = forward(*iv);
                *iv = u128::from_be_bytes(*iv).wrapping_add(1).to_be_bytes();
                let text = |i: usize| if mode == Mode::Ctr { part[i] } else { 0 };
                (0..part.len()).map(|i| stream[i] ^ text(i)).collect()
            }
        };
        out.extend(result);
    }
    out
}

fn xor(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
    core::array::from_fn(|i| a[i] ^ b[i])
}

/// Steps of the paper taken word for word: S-boxes looked up for each of 32 columns.
mod reference {
    const SBOXES: [[u32; 16]; 8] = [
        [3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12],
        [15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4],
        [8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2],
        [0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14],
        [1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13],
        [15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1],
        [7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0],
        [1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6],
    ];

    fn substitute(round: usize, x: [u32; 4]) -> [u32; 4] {
        let mut out = [0; 4];
        for column in 0..32 {
            let input: u32 = (0..4).map(|i| (x[i] >> column & 1) << i).sum();
            let output = SBOXES[round % 8][input as usize];
            for (i, word) in out.iter_mut().enumerate() {
                *word |= (output >> i & 1) << column;
            }
        }
        out
    }

    pub(crate) fn encrypt(key: &[u8], block: &[u8; 16]) -> [u8; 16] {
        let mut padded = [0; 32];
        padded[..key.len()].copy_from_slice(key);
        if let Some(next) = padded.get_mut(key.len()) {
            *next = 1;
        }
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect()
        };
        let mut w = words(&padded);
        for (number, i) in (0..132).zip(8..) {
            let sum = w[i - 8] ^ w[i - 5] ^ w[i - 3] ^ w[i - 1] ^ 0x9e37_79b9 ^ number;
            w.push(sum.rotate_left(11));
        }
        let keys: Vec<_> = (w[8..].as_chunks::<4>().0.iter().enumerate())
            .map(|(i, words)| substitute(35 - i, *words))
            .collect();

        let mut x: [u32; 4] = words(block).try_into().expect("four words");
        for (round, key) in keys[..32].iter().enumerate() {
            for (x, key) in x.iter_mut().zip(key) {
                *x ^= key;
            }
            x = substitute(round, x);
            if round < 31 {
                x[0] = x[0].rotate_left(13);
                x[2] = x[2].rotate_left(3);
                x[1] ^= x[0] ^ x[2];
                x[3] ^= x[2] ^ (x[0] << 3);
                x[1] = x[1].rotate_left(1);
                x[3] = x[3].rotate_left(7);
                x[0] ^= x[1] ^ x[3];
                x[2] ^= x[3] ^ (x[1] << 7);
                x[0] = x[0].rotate_left(5);
                x[2] = x[2].rotate_left(22);
            }
        }
        let mut out = [0; 16];
        for (i, bytes) in out.as_chunks_mut().0.iter_mut().enumerate() {
            *bytes = (x[i] ^ keys[32][i]).to_le_bytes();
        }
        out
    }
}

/// A key, a block and its encryption, in the order of the NESSIE vectors; random keys, answers by
/// other implementations.
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
fn known_answers() {
    for [bytes, plain, cipher] in ANSWERS {
        for isa in levels() {
            let serpent = Serpent::new(isa, &key(&hex(bytes)));
            let mut data = blocks(&hex(plain));
            serpent.encrypt((&mut data[..]).into());
            assert_eq!(data.as_flattened(), hex(cipher), "{isa:?}");
            serpent.decrypt((&mut data[..]).into());
            assert_eq!(data.as_flattened(), hex(plain), "{isa:?}");
        }
    }
}

#[test]
fn agrees_with_the_paper() {
    let mut numbers = Numbers(1);
    for _ in 0..cases(60) {
        let bytes = random_key(&mut numbers);
        let block = numbers.array();
        let mut data = [block];
        Serpent::new(Isa::detect(), &key(&bytes)).encrypt((&mut data[..]).into());
        assert_eq!(data[0], reference::encrypt(&bytes, &block), "key {bytes:02x?}");
    }
}

/// The lines of the vectors that may not be copied, if they lie beside the workspace.
fn shared(name: &str) -> Option<String> {
    let folder = match std::env::var_os("LANECRYPT_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
    };
    std::fs::read_to_string(folder.join("vectors").join(name)).ok()
}

/// The bytes of a field of a line of JSON whose values are hexadecimal.
fn field(line: &str, name: &str) -> Option<Vec<u8>> {
    let (_, rest) = line.split_once(&format!("\"{name}\": \""))?;
    Some(hex(rest.split_once('"').expect("a closing quote").0))
}

#[test]
fn shared_vectors() {
    let mut seen = 0;
    for name in ["normalized.jsonl", "generated/block.jsonl"] {
        let Some(text) = shared(name) else { continue };
        for (number, line) in text.lines().enumerate() {
            let Some((_, algorithm)) = line.split_once("\"alg\": \"serpent-") else { continue };
            let algorithm = algorithm.split_once('"').expect("a closing quote").0;
            let of = |name| field(line, name);
            let place = format!("{name}:{}", number + 1);
            let key = key(&of("key").expect(&place));
            let (plain, cipher) = (of("pt").expect(&place), of("ct").expect(&place));
            let iv = of("iv").map_or([0; 16], |iv| iv.try_into().expect("16 bytes"));
            let (forward, back) = match &algorithm[4..] {
                "ecb" => (Mode::Encrypt, Mode::Decrypt),
                "cbc" => (Mode::CbcEncrypt, Mode::CbcDecrypt),
                "ctr" => (Mode::Ctr, Mode::Ctr),
                other => panic!("{place}: unknown mode {other}"),
            };
            for isa in levels() {
                let serpent = Serpent::new(isa, &key);
                let mut data = plain.clone();
                forward.run(&serpent, &mut iv.clone(), (&mut data[..]).into());
                assert_eq!(data, cipher, "{place}, {isa:?}");
                back.run(&serpent, &mut iv.clone(), (&mut data[..]).into());
                assert_eq!(data, plain, "{place}, {isa:?}");
            }
            let serpent = Serpent::new(Isa::detect(), &key);
            for (name, times) in [("iter100", 100), ("iter1000", 1000)] {
                if let Some(expected) = of(name) {
                    let mut data = blocks(&plain);
                    for _ in 0..times {
                        serpent.encrypt((&mut data[..]).into());
                    }
                    assert_eq!(data.as_flattened(), expected, "{place}, {name}");
                }
            }
            seen += 1;
        }
        assert!(seen > 100, "vectors of Serpent in {name}");
    }
}

/// Lengths around the edges of all kernels, in bytes, up to 4 KiB.
fn lengths(mode: Mode) -> Vec<usize> {
    if !mode.takes_bytes() {
        return (0..=100)
            .chain([127, 128, 129, 160, 191, 192, 193, 255, 256])
            .map(|n| 16 * n)
            .collect();
    }
    let edges = [128, 192, 256, 320, 512, 768, 1024, 1536, 2048, 4096];
    let around = edges.into_iter().flat_map(|edge| edge - 17..=edge + 17);
    (0..=80).chain(around).filter(|&len| len <= 4096).collect()
}

#[test]
fn every_length_at_every_level() {
    let mut numbers = Numbers(2);
    let key = key(&random_key(&mut numbers));
    let first = numbers.array();
    let text = numbers.bytes(4096);
    for mode in MODES {
        let defined = define(mode, &key, &mut first.clone(), &text);
        for isa in levels() {
            let serpent = Serpent::new(isa, &key);
            for len in lengths(mode) {
                let mut after = first;
                mode.define_iv(&mut after, &text[..len], &defined[..len]);
                let mut iv = first;
                let mut out = text[..len].to_vec();
                mode.run(&serpent, &mut iv, (&mut out[..]).into());
                assert_eq!(out, defined[..len], "{mode:?}, {len} bytes, {isa:?}");
                assert_eq!(iv, after, "IV after {mode:?}, {len} bytes, {isa:?}");
            }
        }
    }
}

impl Mode {
    /// What the IV must be after a request.
    fn define_iv(self, iv: &mut [u8; 16], input: &[u8], output: &[u8]) {
        let last = |data: &[u8]| data.last_chunk().copied();
        match self {
            Self::Encrypt | Self::Decrypt => {}
            Self::CbcEncrypt => *iv = last(output).unwrap_or(*iv),
            Self::CbcDecrypt => *iv = last(input).unwrap_or(*iv),
            Self::Ctr | Self::Keystream => {
                let blocks = input.len().div_ceil(16) as u128;
                *iv = u128::from_be_bytes(*iv).wrapping_add(blocks).to_be_bytes();
            }
        }
    }
}

#[test]
fn counters_carry_and_wrap_at_every_block() {
    let mut numbers = Numbers(3);
    let key = key(&random_key(&mut numbers));
    let mode = Mode::Keystream;
    for edge in [0, 1 << 32, 1 << 64, 1 << 96, (7 << 64) | (3 << 32)] {
        for before in 0..=33u128 {
            let first = u128::wrapping_sub(edge, before).to_be_bytes();
            let mut after = first;
            let expected = define(mode, &key, &mut after, &[0; 16 * 40 + 5]);
            for isa in levels() {
                let mut iv = first;
                let mut out = vec![0xa5; expected.len()];
                mode.run(&Serpent::new(isa, &key), &mut iv, (&mut out[..]).into());
                assert_eq!(out, expected, "{before} before {edge:#x}, {isa:?}");
                assert_eq!(iv, after, "{before} before {edge:#x}, {isa:?}");
            }
        }
    }
}

/// Random key, IV, offset and length, cut into two requests, in place and from one buffer to
/// another; nothing but the request's bytes may change.
#[test]
fn random_requests() {
    const GUARD: usize = 80;
    let mut numbers = Numbers(4);
    for _ in 0..cases(400) {
        let key = key(&random_key(&mut numbers));
        let mode = MODES[numbers.below(6)];
        let most = if numbers.below(4) == 0 { 256 } else { 70 };
        let count = numbers.below(most + 1);
        let part = if mode.takes_bytes() { numbers.below(16) } else { 0 };
        let len = 16 * count + part;
        let cut = 16 * numbers.below(count + 1);
        let (from, to) = (numbers.below(64), numbers.below(64));
        let mut first: [u8; 16] = numbers.array();
        if numbers.below(2) == 0 {
            first[4..15].fill(0xff);
        }
        let text = numbers.bytes(from + len);
        let text = &text[from..];
        let mut after = first;
        let expected = define(mode, &key, &mut after, text);

        for isa in levels() {
            let place = format!("{mode:?}, {isa:?}, {len} bytes cut at {cut}");
            let serpent = Serpent::new(isa, &key);
            let mut buffer = vec![0x5a; to + len + GUARD];
            let mut iv = first;
            let (front, back) = buffer[to..to + len].split_at_mut(cut);
            let apart = |input, output| InOutBuf::new(input, output).expect("equal lengths");
            mode.run(&serpent, &mut iv, apart(&text[..cut], front));
            mode.run(&serpent, &mut iv, apart(&text[cut..], back));
            assert_eq!(buffer[to..to + len], expected, "apart, {place}");
            assert_eq!(iv, after, "apart, {place}");

            buffer[to..to + len].copy_from_slice(text);
            let mut iv = first;
            let (front, back) = buffer[to..to + len].split_at_mut(cut);
            mode.run(&serpent, &mut iv, front.into());
            mode.run(&serpent, &mut iv, back.into());
            assert_eq!(buffer[to..to + len], expected, "in place, {place}");
            assert_eq!(iv, after, "in place, {place}");
            let mut outside = buffer[..to].iter().chain(&buffer[to + len..]);
            assert!(outside.all(|&byte| byte == 0x5a), "bytes outside changed, {place}");
        }
    }
}

#[test]
fn agrees_with_another_implementation() {
    use cbc::cipher::{BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, StreamCipher};

    let mut numbers = Numbers(5);
    for _ in 0..cases(60) {
        let bytes = random_key(&mut numbers);
        let other = || serpent::Serpent::new_from_slice(&bytes).expect("a length of keys");
        let serpent = Serpent::new(Isa::detect(), &key(&bytes));
        let count = numbers.below(100);
        let text = blocks(&numbers.bytes(16 * count));
        let first: [u8; 16] = numbers.array();

        let mut ours = text.clone();
        serpent.encrypt((&mut ours[..]).into());
        for (ours, text) in ours.iter().zip(&text) {
            let mut block = (*text).into();
            other().encrypt_block(&mut block);
            assert_eq!(ours[..], block[..]);
            other().decrypt_block(&mut block);
            assert_eq!(text[..], block[..]);
        }

        let mut ours = text.clone();
        serpent.cbc_encrypt(&mut first.clone(), (&mut ours[..]).into());
        let mut encryptor = cbc::Encryptor::inner_iv_init(other(), &first.into());
        let mut decryptor = cbc::Decryptor::inner_iv_init(other(), &first.into());
        for (ours, text) in ours.iter().zip(&text) {
            let mut block = (*text).into();
            encryptor.encrypt_block(&mut block);
            assert_eq!(ours[..], block[..]);
            decryptor.decrypt_block(&mut block);
            assert_eq!(text[..], block[..]);
        }
        serpent.cbc_decrypt(&mut first.clone(), (&mut ours[..]).into());
        assert_eq!(ours, text);

        let mut ours = text.as_flattened().to_vec();
        let mut theirs = ours.clone();
        serpent.ctr(&mut first.clone(), (&mut ours[..]).into());
        let core = ctr::CtrCore::inner_iv_init(other(), &first.into());
        ctr::Ctr128BE::from_core(core).apply_keystream(&mut theirs);
        assert_eq!(ours, theirs);
    }
}

#[test]
fn debug_shows_no_key() {
    let key = Key::from(&[0xd7; 16]);
    let serpent = Serpent::new(Isa::detect(), &key);
    for text in [format!("{key:?}"), format!("{serpent:?}")] {
        assert!(!text.contains("215") && !text.contains("d7"), "{text}");
        assert!(text.contains(".."), "{text}");
    }
}
