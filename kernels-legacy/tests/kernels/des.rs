//! DES and triple DES: known answers, another implementation, and every way to cut data into
//! requests, at every instruction set.

use std::path::PathBuf;

use ::des::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit,
    KeyInit, KeyIvInit, StreamCipher,
};
use inout::InOutBuf;
use lanecrypt_kernels::{BlockEncrypt, Isa};
use lanecrypt_kernels_legacy::des::{Des, TripleDes, TripleDesKey};

use crate::modes::{MODES, Mode};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// One request under a key of 8, 16 or 24 bytes.
fn run(mode: Mode, isa: Isa, key: &[u8], iv: &mut [u8; 8], data: InOutBuf<'_, '_, u8>) {
    match key.len() {
        8 => mode.run(&Des::new(isa, key.first_chunk().expect("8 bytes")), iv, data),
        16 => {
            let key = TripleDesKey::from(key.first_chunk::<16>().expect("16 bytes"));
            mode.run(&TripleDes::new(isa, &key), iv, data);
        }
        _ => {
            let key = TripleDesKey::from(key.first_chunk::<24>().expect("24 bytes"));
            mode.run(&TripleDes::new(isa, &key), iv, data);
        }
    }
}

/// The same by other implementations.
fn by_others(mode: Mode, key: &[u8], iv: &[u8; 8], data: &[u8]) -> Vec<u8> {
    match key.len() {
        8 => by_other::<::des::Des>(mode, key, iv, data),
        16 => by_other::<::des::TdesEde2>(mode, key, iv, data),
        _ => by_other::<::des::TdesEde3>(mode, key, iv, data),
    }
}

fn by_other<C>(mode: Mode, key: &[u8], iv: &[u8; 8], data: &[u8]) -> Vec<u8>
where
    C: KeyInit
        + BlockCipherEncrypt
        + BlockCipherDecrypt
        + ::des::cipher::BlockSizeUser<BlockSize = ::des::cipher::consts::U8>,
{
    let mut out = data.to_vec();
    if mode == Mode::Keystream {
        out.fill(0);
    }
    let cipher = C::new_from_slice(key).expect("a key's length");
    let iv = &(*iv).into();
    let (blocks, _) = out.as_chunks_mut::<8>();
    let each = blocks.iter_mut().map(|block| block.into());
    match mode {
        Mode::Encrypt => each.for_each(|block| cipher.encrypt_block(block)),
        Mode::Decrypt => each.for_each(|block| cipher.decrypt_block(block)),
        Mode::CbcEncrypt => {
            let mut mode = cbc::Encryptor::<C>::inner_iv_init(cipher, iv);
            each.for_each(|block| mode.encrypt_block(block));
        }
        Mode::CbcDecrypt => {
            let mut mode = cbc::Decryptor::<C>::inner_iv_init(cipher, iv);
            each.for_each(|block| mode.decrypt_block(block));
        }
        Mode::Ctr | Mode::Keystream => {
            ctr::Ctr64BE::<C>::new(key.try_into().expect("a key's length"), iv)
                .apply_keystream(&mut out);
        }
    }
    out
}

/// What the IV must be after a request.
fn iv_after(mode: Mode, iv: &[u8; 8], input: &[u8], output: &[u8]) -> [u8; 8] {
    let last = |data: &[u8]| data.last_chunk().copied().unwrap_or(*iv);
    match mode {
        Mode::Encrypt | Mode::Decrypt => *iv,
        Mode::CbcEncrypt => last(output),
        Mode::CbcDecrypt => last(input),
        Mode::Ctr | Mode::Keystream => {
            let blocks = input.len().div_ceil(8) as u64;
            u64::from_be_bytes(*iv).wrapping_add(blocks).to_be_bytes()
        }
    }
}

/// Forward and back at every level, alone and as the last of so many blocks that all kernels run.
fn check(forward: Mode, back: Mode, key: &[u8], iv: [u8; 8], plain: &[u8], cipher: &[u8]) {
    for isa in levels() {
        let mut data = plain.to_vec();
        run(forward, isa, key, &mut iv.clone(), (&mut data[..]).into());
        assert_eq!(data, cipher, "{forward:?}, {isa:?}, key {key:02x?}");
        run(back, isa, key, &mut iv.clone(), (&mut data[..]).into());
        assert_eq!(data, plain, "{back:?}, {isa:?}, key {key:02x?}");
        if forward == Mode::Encrypt {
            let mut data = [vec![0; 8 * 100], plain.to_vec()].concat();
            run(forward, isa, key, &mut iv.clone(), (&mut data[..]).into());
            assert_eq!(data[800..], *cipher, "{forward:?}, {isa:?}, key {key:02x?}");
            run(back, isa, key, &mut iv.clone(), (&mut data[..]).into());
            assert_eq!(data[800..], *plain, "{back:?}, {isa:?}, key {key:02x?}");
        }
    }
}

/// A block as a walk through the standard has it, the text of FIPS 81, and that of SP 800-67.
#[test]
fn known_answers() {
    let ecb = |key: &str, plain: &[u8], cipher: &str| {
        check(Mode::Encrypt, Mode::Decrypt, &hex(key), [0; 8], plain, &hex(cipher));
    };
    ecb("133457799bbcdff1", &hex("0123456789abcdef"), "85e813540f0ab405");
    let text = b"Now is the time for all ";
    ecb("0123456789abcdef", text, "3fa40e8a984d48156a271787ab8883f9893d51ec4b563b53");
    let cipher = hex("e5c7cdde872bf27c43e934008c389c0f683788499a7c05f6");
    let iv = *hex("1234567890abcdef").first_chunk().expect("8 bytes");
    check(Mode::CbcEncrypt, Mode::CbcDecrypt, &hex("0123456789abcdef"), iv, text, &cipher);
    ecb(
        "0123456789abcdef23456789abcdef01456789abcdef0123",
        b"The qufck brown fox jump",
        "a826fd8ce53b855fcce21c8112256fe668d5c05dd9b6b900",
    );
}

/// Keys that are their own inverse, and pairs that are each other's: keys as any other.
#[test]
fn weak_keys() {
    let weak = ["0101010101010101", "fefefefefefefefe", "e0e0e0e0f1f1f1f1", "1f1f1f1f0e0e0e0e"];
    let pairs = [
        ["011f011f010e010e", "1f011f010e010e01"],
        ["01e001e001f101f1", "e001e001f101f101"],
        ["01fe01fe01fe01fe", "fe01fe01fe01fe01"],
        ["1fe01fe00ef10ef1", "e01fe01ff10ef10e"],
        ["1ffe1ffe0efe0efe", "fe1ffe1ffe0efe0e"],
        ["e0fee0fef1fef1fe", "fee0fee0fef1fef1"],
    ];
    let text = Numbers(1).bytes(8 * 70);
    for [first, second] in weak.map(|key| [key; 2]).into_iter().chain(pairs) {
        for isa in levels() {
            let mut data = text.clone();
            for key in [first, second] {
                run(Mode::Encrypt, isa, &hex(key), &mut [0; 8], (&mut data[..]).into());
            }
            assert_eq!(data, text, "{first}, {second}, {isa:?}");
        }
    }
}

/// Parity bits do not matter; two keys are three of which the first is the third; three equal keys
/// are one.
#[test]
fn keys_of_other_forms() {
    let mut numbers = Numbers(2);
    for isa in levels() {
        let key = numbers.bytes(24);
        let text = numbers.bytes(8 * 70);
        let encrypt = |key: &[u8]| {
            let mut data = text.clone();
            run(Mode::Encrypt, isa, key, &mut [0; 8], (&mut data[..]).into());
            data
        };
        for len in [8, 16, 24] {
            let other: Vec<u8> = key[..len].iter().map(|byte| byte ^ 1).collect();
            assert_eq!(encrypt(&key[..len]), encrypt(&other), "{len} bytes, {isa:?}");
        }
        let (two, one) = (&key[..16], &key[..8]);
        assert_eq!(encrypt(two), encrypt(&[two, one].concat()), "{isa:?}");
        assert_eq!(encrypt(one), encrypt(&[one, one, one].concat()), "{isa:?}");
        assert_ne!(encrypt(one), encrypt(two), "{isa:?}");
    }
}

/// Each bit of a key but parity changes what comes out, and so does each bit of a block.
#[test]
fn every_bit_counts() {
    let mut numbers = Numbers(3);
    let (key, block) = (numbers.bytes(8), numbers.bytes(8));
    let expected = by_others(Mode::Encrypt, &key, &[0; 8], &block);
    for bit in 0..64 {
        let flip = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
            bytes
        };
        for (key, block, same) in
            [(flip(&key), block.clone(), bit % 8 == 7), (key.clone(), flip(&block), false)]
        {
            let other = by_others(Mode::Encrypt, &key, &[0; 8], &block);
            assert_eq!(other == expected, same);
            check(Mode::Encrypt, Mode::Decrypt, &key, [0; 8], &block, &other);
        }
    }
}

/// A file of the vectors that may not be copied, if they lie beside the workspace.
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
    for name in ["normalized.jsonl", "generated/block.jsonl"] {
        let Some(text) = shared(name) else { continue };
        let mut seen = 0;
        for (number, line) in text.lines().enumerate() {
            let Some((_, algorithm)) = line.split_once("\"alg\": \"") else { continue };
            let algorithm = algorithm.split_once('"').expect("a closing quote").0;
            let Some((_, mode)) = algorithm.split_once("des-") else { continue };
            let place = format!("{name}:{}", number + 1);
            let of = |name| field(line, name);
            let key = of("key").expect(&place);
            let (plain, cipher) = (of("pt").expect(&place), of("ct").expect(&place));
            let iv = of("iv").map_or([0; 8], |iv| iv.try_into().expect("8 bytes"));
            let (forward, back) = match mode {
                "ecb" => (Mode::Encrypt, Mode::Decrypt),
                "cbc" => (Mode::CbcEncrypt, Mode::CbcDecrypt),
                "ctr" => (Mode::Ctr, Mode::Ctr),
                other => panic!("{place}: unknown mode {other}"),
            };
            check(forward, back, &key, iv, &plain, &cipher);
            for (name, times) in [("iter100", 100), ("iter1000", 1000)] {
                if let Some(expected) = of(name) {
                    let mut data = plain.clone();
                    for _ in 0..times {
                        run(forward, Isa::detect(), &key, &mut [0; 8], (&mut data[..]).into());
                    }
                    assert_eq!(data, expected, "{place}, {name}");
                }
            }
            seen += 1;
        }
        assert!(seen > 50, "vectors of DES in {name}");
    }
}

/// Every number of blocks up to a little over three groups, and lengths around the edges of all
/// kernels and of the pieces that requests are cut into, in bytes.
fn lengths(mode: Mode) -> Vec<usize> {
    let edges = [256, 320, 511, 512, 576, 768, 1024, 1025, 1200, 1536];
    if !mode.takes_bytes() {
        let around = edges.into_iter().flat_map(|edge| edge - 1..=edge + 1);
        return (0..=200).chain(around).map(|n| 8 * n).collect();
    }
    let few = [2, 3, 19, 20, 64, 65, 128, 192].into_iter().chain(edges);
    let around = few.flat_map(|edge| 8 * edge - 9..=8 * edge + 9);
    (0..=80).chain(around).collect()
}

#[test]
fn every_length_at_every_level() {
    let mut numbers = Numbers(4);
    let text = numbers.bytes(8 * 1540);
    for len in [8, 24] {
        let (key, iv) = (numbers.bytes(len), numbers.array());
        for mode in MODES {
            let expected = by_others(mode, &key, &iv, &text);
            for isa in levels() {
                for len in lengths(mode) {
                    let mut next = iv;
                    let mut out = text[..len].to_vec();
                    run(mode, isa, &key, &mut next, (&mut out[..]).into());
                    assert_eq!(out, expected[..len], "{mode:?}, {len} bytes, {isa:?}");
                    let after = iv_after(mode, &iv, &text[..len], &out);
                    assert_eq!(next, after, "IV after {mode:?}, {len} bytes, {isa:?}");
                }
            }
        }
    }
}

#[test]
fn counters_wrap_at_every_block() {
    let mut numbers = Numbers(5);
    let key = numbers.bytes(8);
    for edge in [0, 1 << 32, 1 << 56] {
        for before in 0..=70u64 {
            let iv = u64::wrapping_sub(edge, before).to_be_bytes();
            let data = [0; 8 * 75 + 3];
            let expected = by_others(Mode::Keystream, &key, &iv, &data);
            for isa in levels() {
                let mut out = [0xa5; 8 * 75 + 3];
                let mut next = iv;
                run(Mode::Keystream, isa, &key, &mut next, (&mut out[..]).into());
                assert_eq!(out[..], expected, "{before} before {edge:#x}, {isa:?}");
                let after = iv_after(Mode::Ctr, &iv, &data, &out);
                assert_eq!(next, after, "{before} before {edge:#x}, {isa:?}");
            }
        }
    }
}

/// Random key, IV, offset and length, cut into two requests, in place and from one buffer to
/// another; nothing but the request's bytes may change.
#[test]
fn random_requests() {
    const GUARD: usize = 80;
    let mut numbers = Numbers(6);
    for _ in 0..cases(150) {
        let len = 8 + 8 * numbers.below(3);
        let key = numbers.bytes(len);
        let mode = MODES[numbers.below(6)];
        let most = [4, 30, 90, 600][numbers.below(4)];
        let count = numbers.below(most + 1);
        let part = if mode.takes_bytes() { numbers.below(8) } else { 0 };
        let len = 8 * count + part;
        let cut = 8 * numbers.below(count + 1);
        let (from, to) = (numbers.below(64), numbers.below(64));
        let mut iv: [u8; 8] = numbers.array();
        if numbers.below(2) == 0 {
            iv[..7].fill(0xff);
        }
        let text = numbers.bytes(from + len);
        let text = &text[from..];
        let expected = by_others(mode, &key, &iv, text);
        let after = iv_after(mode, &iv, text, &expected);

        for isa in levels() {
            let place = format!("{mode:?}, {isa:?}, {len} bytes cut at {cut}");
            let mut buffer = vec![0x5a; to + len + GUARD];
            let mut next = iv;
            let (front, back) = buffer[to..to + len].split_at_mut(cut);
            let apart = |input, output| InOutBuf::new(input, output).expect("equal lengths");
            run(mode, isa, &key, &mut next, apart(&text[..cut], front));
            run(mode, isa, &key, &mut next, apart(&text[cut..], back));
            assert_eq!(buffer[to..to + len], expected, "apart, {place}");
            assert_eq!(next, after, "apart, {place}");

            buffer[to..to + len].copy_from_slice(text);
            let mut next = iv;
            let (front, back) = buffer[to..to + len].split_at_mut(cut);
            run(mode, isa, &key, &mut next, front.into());
            run(mode, isa, &key, &mut next, back.into());
            assert_eq!(buffer[to..to + len], expected, "in place, {place}");
            assert_eq!(next, after, "in place, {place}");
            let mut outside = buffer[..to].iter().chain(&buffer[to + len..]);
            assert!(outside.all(|&byte| byte == 0x5a), "bytes outside changed, {place}");
        }
    }
}

#[test]
fn debug_shows_no_key() {
    let key = TripleDesKey::from(&[0xab; 24]);
    assert_eq!(format!("{key:?}"), "TripleDesKey { .. }");
    let isa = Isa::PORTABLE;
    let des = format!("{:?}", Des::new(isa, &[0xab; 8]));
    assert_eq!(des, "Des { isa: Isa(Portable), .. }");
    let triple = format!("{:?}", TripleDes::new(isa, &key));
    assert_eq!(triple, "TripleDes { isa: Isa(Portable), .. }");
}
