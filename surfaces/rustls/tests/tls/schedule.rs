//! HKDF of ours and of the base: what is known beforehand, and what resembles it.

use rustls::Tls13CipherSuite;
use rustls::crypto::tls13::{HkdfExpander, OkmBlock};

use crate::parties::{Party, SUITES_13};

/// The suites of both, in pairs.
fn pairs() -> impl Iterator<Item = [&'static Tls13CipherSuite; 2]> {
    let parties = [[Party::Ring, Party::OursOverRing], [Party::AwsLc, Party::OursOverAwsLc]];
    let pairs = parties.map(|pair| SUITES_13.map(|suite| pair.map(|party| party.suite13(suite))));
    pairs.into_iter().flatten()
}

/// What the salt of the next extraction is derived with (RFC 8446, section 7.1).
fn derived(suite: &Tls13CipherSuite) -> Vec<u8> {
    let empty = suite.common.hash_provider.hash(&[]);
    let length = u8::try_from(empty.as_ref().len()).expect("a hash");
    [&[0, length, 13], &b"tls13 derived"[..], &[length], empty.as_ref()].concat()
}

/// The same of both: blocks and slices for this, in one piece and in two.
fn assert_equal([base, ours]: [&dyn HkdfExpander; 2], info: &[u8]) -> OkmBlock {
    assert_eq!(base.hash_len(), ours.hash_len());
    let (start, end) = info.split_at(info.len() / 3);
    let expected = base.expand_block(&[info]);
    for info in [&[info][..], &[start, end], &[&[], start, &[], end]] {
        assert_eq!(ours.expand_block(info).as_ref(), expected.as_ref());
        for length in [1, 12, 48, 200] {
            let mut outputs = [vec![0; length], vec![0; length]];
            let [theirs, own] = &mut outputs;
            assert!(
                base.expand_slice(info, theirs).is_ok() && ours.expand_slice(info, own).is_ok()
            );
            assert_eq!(outputs[0], outputs[1]);
        }
    }
    expected
}

#[test]
fn a_handshake_begins_as_with_the_base() {
    for pair in pairs() {
        let hkdf = pair.map(|suite| suite.hkdf_provider);
        let derived = derived(pair[0]);
        // More than once, because the first time computes what is kept.
        for _ in 0..2 {
            let first = hkdf.map(|hkdf| hkdf.extract_from_zero_ikm(None));
            let first = [&*first[0], &*first[1]];
            let salt = assert_equal(first, &derived);
            for place in [0, 1, 2, 9, 16, derived.len() - 1] {
                let mut other = derived.clone();
                other[place] ^= 1;
                assert_equal(first, &other);
            }
            assert_equal(first, &derived[..derived.len() - 1]);
            assert_equal(first, &[&derived[..], &[0]].concat());
            for changed in 0..=salt.as_ref().len() {
                let mut salt = salt.as_ref().to_vec();
                if let Some(byte) = salt.get_mut(changed) {
                    *byte ^= 0x80;
                }
                let next = hkdf.map(|hkdf| hkdf.extract_from_secret(Some(&salt), b"a secret"));
                assert_equal([&*next[0], &*next[1]], &derived);
            }
        }
    }
}

#[test]
fn other_extractions_are_those_of_the_base() {
    for pair in pairs() {
        let hkdf = pair.map(|suite| suite.hkdf_provider);
        let salt = hkdf[0].extract_from_zero_ikm(None).expand_block(&[&derived(pair[0])]);
        for salt in [&[][..], b"salt", &salt.as_ref()[1..], &[salt.as_ref(), b"0"].concat()] {
            let zeros = hkdf.map(|hkdf| hkdf.extract_from_zero_ikm(Some(salt)));
            assert_equal([&*zeros[0], &*zeros[1]], b"info");
            let secret = hkdf.map(|hkdf| hkdf.extract_from_secret(Some(salt), b"a secret"));
            assert_equal([&*secret[0], &*secret[1]], b"info");
        }
        let shared = hkdf.map(|hkdf| hkdf.extract_from_secret(None, b"a pre-shared key"));
        let key = assert_equal([&*shared[0], &*shared[1]], &derived(pair[0]));
        let signed = hkdf.map(|hkdf| hkdf.hmac_sign(&key, b"a message"));
        assert_eq!(signed[0].as_ref(), signed[1].as_ref());
        let expanders = hkdf.map(|hkdf| hkdf.expander_for_okm(&key));
        assert_equal([&*expanders[0], &*expanders[1]], &derived(pair[0]));
    }
}
