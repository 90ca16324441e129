//! SHA-2, HMAC and HKDF: published values, and another implementation, at every instruction set.

use ::sha2::{Digest, Sha256, Sha512};
use lanecrypt_kernels::Isa;
use lanecrypt_kernels::sha2::{
    Expand, HmacKey, hkdf_expand, hkdf_extract, hmac_sha256, hmac_sha256_with, sha256, sha512,
};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// The most messages of a call: more than fill the lanes twice.
const MOST: usize = 17;

/// The fields of the lines that begin with this name.
fn vectors(name: &str) -> Vec<Vec<Vec<u8>>> {
    let lines = include_str!("sha2/vectors.txt").lines().filter_map(|line| {
        let fields = line.strip_prefix(name)?.strip_prefix(' ')?;
        Some(fields.split(' ').map(|field| hex(field.trim_matches('-'))).collect())
    });
    let lines: Vec<_> = lines.collect();
    assert!(lines.len() > 2, "{name} has vectors");
    lines
}

/// HMAC by its definition.
fn definition(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = if key.len() > 64 { Sha256::digest(key).to_vec() } else { key.to_vec() };
    block.resize(64, 0);
    let pad = |byte: u8| block.iter().map(|key| key ^ byte).collect::<Vec<_>>();
    let inner = Sha256::digest([&pad(0x36), message].concat());
    Sha256::digest([&pad(0x5c)[..], &inner].concat()).to_vec()
}

/// HKDF-Expand by its definition.
fn expanded(key: &[u8], info: &[u8], length: usize) -> Vec<u8> {
    let (mut out, mut block) = (Vec::new(), Vec::new());
    for counter in 1..=length.div_ceil(32) {
        let counter = [u8::try_from(counter).expect("at most 255")];
        block = definition(key, &[&block, info, &counter].concat());
        out.extend(&block);
    }
    out.truncate(length);
    out
}

/// Both hashes of messages in parts against the other implementation.
fn check(isa: Isa, messages: &[&[&[u8]]]) {
    let mut hashes = vec![[0; 32]; messages.len()];
    sha256(isa, messages, &mut hashes);
    let mut long_hashes = vec![[0; 64]; messages.len()];
    sha512(isa, messages, &mut long_hashes);
    for ((parts, hash), long) in messages.iter().zip(hashes).zip(long_hashes) {
        let message = parts.concat();
        let lengths = || messages.iter().map(|parts| parts.concat().len()).collect::<Vec<_>>();
        assert_eq!(hash[..], Sha256::digest(&message)[..], "{isa:?}, {:?}", lengths());
        assert_eq!(long[..], Sha512::digest(&message)[..], "{isa:?}, {:?}", lengths());
    }
}

/// Each vector alone, and all together.
#[test]
fn hashes_are_those_of_nist() {
    for isa in levels() {
        let (short, long) = (vectors("sha256"), vectors("sha512"));
        for count in [1, short.len()] {
            for lines in short.chunks(count) {
                let parts: Vec<_> = lines.iter().map(|line| [&line[0][..]]).collect();
                let messages: Vec<_> = parts.iter().map(|parts| &parts[..]).collect();
                let mut hashes = vec![[0; 32]; messages.len()];
                sha256(isa, &messages, &mut hashes);
                assert!(lines.iter().map(|line| &line[1][..]).eq(&hashes), "{isa:?}");
            }
        }
        for count in [1, long.len()] {
            for lines in long.chunks(count) {
                let parts: Vec<_> = lines.iter().map(|line| [&line[0][..]]).collect();
                let messages: Vec<_> = parts.iter().map(|parts| &parts[..]).collect();
                let mut hashes = vec![[0; 64]; messages.len()];
                sha512(isa, &messages, &mut hashes);
                assert!(lines.iter().map(|line| &line[1][..]).eq(&hashes), "{isa:?}");
            }
        }
    }
}

#[test]
fn tags_are_those_of_rfc_4231() {
    for isa in levels() {
        let lines = vectors("hmac");
        let keys: Vec<_> = lines.iter().map(|line| &line[0][..]).collect();
        let parts: Vec<_> = lines.iter().map(|line| [&line[1][..]]).collect();
        let messages: Vec<_> = parts.iter().map(|parts| &parts[..]).collect();
        let mut together = vec![[0; 32]; lines.len()];
        hmac_sha256(isa, &keys, &messages, &mut together);
        for (i, line) in lines.iter().enumerate() {
            let mut alone = [[0; 32]];
            hmac_sha256(isa, &keys[i..=i], &messages[i..=i], &mut alone);
            for tag in [together[i], alone[0]] {
                assert_eq!(tag[..line[2].len()], line[2], "{isa:?}, {i}");
            }
        }
    }
}

#[test]
fn keys_are_those_of_rfc_5869() {
    for isa in levels() {
        let lines = vectors("hkdf");
        let field = |i: usize| lines.iter().map(|line| &line[i][..]).collect::<Vec<_>>();
        let mut keys = vec![[0; 32]; lines.len()];
        hkdf_extract(isa, &field(1), &field(0), &mut keys);
        assert!(field(3).into_iter().eq(&keys), "{isa:?}");
        let keys: Vec<_> = keys.iter().map(|key| HmacKey::new(isa, key)).collect();
        let mut outs: Vec<_> = field(4).iter().map(|okm| vec![0; okm.len()]).collect();
        let jobs = keys.iter().zip(field(2)).zip(&mut outs);
        let mut jobs: Vec<_> = jobs.map(|((key, info), out)| Expand { key, info, out }).collect();
        hkdf_expand(isa, &mut jobs);
        assert_eq!(outs, field(4), "{isa:?}");
    }
}

/// Every length around two blocks, alone and beside others, whole and cut in two.
#[test]
fn every_length_has_its_padding() {
    let data = Numbers(1).bytes(300 + MOST);
    for isa in levels() {
        for length in 0..=300 {
            check(isa, &[&[&data[..length]]]);
            let parts: Vec<_> =
                (0..8).map(|i| data[i..i + length].split_at(length * i / 8)).collect();
            let parts: Vec<_> = parts.iter().map(|&(one, other)| [one, other]).collect();
            check(isa, &parts.iter().map(|parts| &parts[..]).collect::<Vec<_>>());
        }
    }
}

/// Different lengths and parts in each lane, and any number of messages.
#[test]
fn lanes_do_not_disturb_each_other() {
    let mut numbers = Numbers(2);
    let data = numbers.bytes(2000);
    for isa in levels() {
        check(isa, &[]);
        for count in 1..=MOST {
            for _ in 0..cases(20_usize) {
                let mut part = || {
                    let most = [1, 4, 70, 140, 700][numbers.below(5)];
                    let start = numbers.below(1000);
                    &data[start..start + numbers.below(most)]
                };
                let parts: Vec<Vec<_>> =
                    (0..count).map(|i| (0..i % 5).map(|_| part()).collect()).collect();
                check(isa, &parts.iter().map(|parts| &parts[..]).collect::<Vec<_>>());
            }
        }
    }
}

/// Keys of all lengths, several messages under one key, and outputs of several lengths.
#[test]
fn tags_and_keys_are_as_defined() {
    let mut numbers = Numbers(3);
    let data = numbers.bytes(1000);
    for isa in levels() {
        for count in 0..=MOST {
            let mut bytes = |most: usize| &data[numbers.below(100)..][..numbers.below(most)];
            let keys: Vec<_> = (0..count).map(|_| bytes(150)).collect();
            let parts: Vec<_> = (0..count).map(|_| [bytes(200), bytes(200)]).collect();
            let messages: Vec<_> = parts.iter().map(|parts| &parts[..]).collect();
            let made: Vec<_> = keys.iter().map(|key| HmacKey::new(isa, key)).collect();
            let mut tags = vec![[0; 32]; count];
            hmac_sha256(isa, &keys, &messages, &mut tags);
            let mut again = vec![[0; 32]; count];
            hmac_sha256_with(isa, &made.iter().collect::<Vec<_>>(), &messages, &mut again);
            assert_eq!(tags, again, "{isa:?}");
            for ((key, parts), tag) in keys.iter().zip(&parts).zip(&tags) {
                assert_eq!(tag[..], definition(key, &parts.concat()), "{isa:?}, {count}");
            }

            let mut outs: Vec<_> = (0..count).map(|_| vec![0; bytes(150).len()]).collect();
            let jobs = made.iter().zip(&parts).zip(&mut outs);
            let jobs = jobs.map(|((key, [info, _]), out)| Expand { key, info, out });
            hkdf_expand(isa, &mut jobs.collect::<Vec<_>>());
            for ((key, [info, _]), out) in keys.iter().zip(&parts).zip(&outs) {
                assert_eq!(*out, expanded(key, info, out.len()), "{isa:?}, {count}");
            }
        }
        let mut out = [0; lanecrypt_kernels::sha2::HKDF_MOST];
        let key = HmacKey::new(isa, b"key");
        hkdf_expand(isa, &mut [Expand { key: &key, info: b"info", out: &mut out }]);
        assert_eq!(out[..], expanded(b"key", b"info", out.len()), "{isa:?}");
    }
}
