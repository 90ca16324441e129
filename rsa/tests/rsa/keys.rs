//! Keys: forms, refusals, primes that are found again, malformed DER.

use crypto_bigint::BoxedUint;
use lanecrypt_rsa::{
    Components, CrtComponents, Hash, KeyError, Padding, PrivateKey, PublicKey, Workspace,
};
use lanecrypt_testing::key_der::key_der;
use lanecrypt_testing::numbers::{Numbers, cases};

use crate::common::vectors;

fn sign(key: &PrivateKey) -> Vec<u8> {
    let mut signature = vec![0; key.signature_length()];
    let padding = Padding::pkcs1v15(Hash::LEGACY_SHA1);
    key.sign(padding, b"message", &mut signature, &mut Workspace::new()).expect("a good key");
    signature
}

#[test]
fn every_form_of_a_key_is_read_again() {
    for numbers in vectors().0.values() {
        let key = numbers.key().expect("a good key");
        let signature = sign(&key);
        let pkcs8 = key.to_pkcs8_der().expect("it has primes");
        let pkcs1 = key.to_pkcs1_der().expect("it has primes");
        let pem = key.to_pem().expect("it has primes");
        let again = [
            PrivateKey::legacy_from_pkcs8_der(&pkcs8),
            PrivateKey::legacy_from_pkcs1_der(&pkcs1),
            PrivateKey::legacy_from_pem(&pem),
        ];
        for again in again {
            let again = again.expect("a form of a good key");
            assert!(again.has_primes());
            assert_eq!(again.public_key(), key.public_key());
            assert_eq!(again.to_pkcs1_der().expect("it has primes"), pkcs1);
            assert_eq!(sign(&again), signature);
        }
        let public = key.public_key();
        let again = [
            PublicKey::legacy_from_spki_der(&public.to_spki_der()),
            PublicKey::legacy_from_pkcs1_der(&public.to_pkcs1_der()),
            PublicKey::legacy_from_pem(&public.to_pem()),
            PublicKey::legacy_new(&public.n(), &public.e().to_be_bytes()),
        ];
        assert!(again.iter().all(|again| again.as_ref() == Ok(public)));
        // Short keys need the constructors for legacy keys.
        let normal = [
            PrivateKey::from_pkcs8_der(&pkcs8).err(),
            PrivateKey::from_pkcs1_der(&pkcs1).err(),
            PrivateKey::from_pem(&pem).err(),
            PrivateKey::from_components(&numbers.components()).err(),
            PublicKey::from_spki_der(&public.to_spki_der()).err(),
            PublicKey::from_pkcs1_der(&public.to_pkcs1_der()).err(),
            PublicKey::from_pem(&public.to_pem()).err(),
            PublicKey::new(&public.n(), &public.e().to_be_bytes()).err(),
        ];
        let expected = (public.bits() < 2048).then_some(KeyError::Size);
        assert_eq!(normal, [expected; 8], "{}", numbers.name);
    }
}

#[test]
fn pem_of_openssl() {
    let text = include_str!("../key.pem");
    let key = PrivateKey::from_pem(text).expect("a good key");
    assert_eq!(*key.to_pem().expect("it has primes"), text);
    let encrypted = text.replace("PRIVATE", "ENCRYPTED PRIVATE");
    assert_eq!(PrivateKey::from_pem(&encrypted).err(), Some(KeyError::Encrypted));
    assert_eq!(PublicKey::from_pem(text).err(), Some(KeyError::Encoding));
    assert_eq!(PrivateKey::from_pem(&key.public_key().to_pem()).err(), Some(KeyError::Encoding));
    assert!(!format!("{key:?}").contains(&format!("{:?}", &key.public_key().n()[..4])));
}

#[test]
fn primes_are_found_again() {
    for numbers in vectors().0.values() {
        let key = numbers.key().expect("a good key");
        let without = numbers.key_without_primes().expect("a good key");
        assert!(!without.has_primes());
        assert_eq!(without.to_pkcs8_der().err(), Some(KeyError::NoPrimes));
        let found = without.recover_primes().expect("a good key has primes");
        let pkcs1 = found.to_pkcs1_der().expect("it has primes");
        assert_eq!(sign(&found), sign(&key));
        // In these keys p is the greater one, as in those that are found.
        assert_eq!(pkcs1, key.to_pkcs1_der().expect("it has primes"), "{}", numbers.name);
    }
}

#[test]
fn numbers_that_do_not_belong_together_are_refused() {
    let (keys, _) = vectors();
    for name in ["generated-512-1", "generated-1024-2", "generated-2048-1"] {
        let good = &keys[name];
        let mut random = Numbers(5);
        // d + p - 1 and the like are right, and no others.
        for _ in 0..cases(300) {
            let mut bad = good.clone();
            let fields = [
                &mut bad.n,
                &mut bad.e,
                &mut bad.d,
                &mut bad.p,
                &mut bad.q,
                &mut bad.dp,
                &mut bad.dq,
                &mut bad.qinv,
            ];
            let which = random.below(fields.len());
            let field = fields.into_iter().nth(which).expect("one of them");
            let at = random.below(8 * field.len());
            field[at / 8] ^= 1 << (at % 8);
            assert!(bad.key().is_err(), "{name}: bit {at} of number {which}");
            if which < 3 {
                assert!(bad.key_without_primes().is_err(), "{name}: bit {at} of number {which}");
            }
        }
    }
}

#[test]
fn unsuitable_numbers_are_refused() {
    let (keys, _) = vectors();
    let good = &keys["generated-2048-1"];
    let public = |n: &[u8], e: &[u8]| PublicKey::legacy_new(n, e).err();
    assert_eq!(public(&good.n, &good.e), None);
    assert_eq!(public(&[&[0; 9][..], &good.n].concat(), &[&[0; 9][..], &good.e].concat()), None);
    let exponents: [&[u8]; 5] = [&[], &[0], &[1], &[4], &[1, 0, 0, 0, 0, 0, 0, 0, 1]];
    for e in exponents {
        assert_eq!(public(&good.n, e), Some(KeyError::PublicExponent), "{e:?}");
    }
    assert_eq!(public(&good.n, &[0xff; 8]), None);
    assert_eq!(public(&[0xff; 1025], &good.e), Some(KeyError::Size));
    assert_eq!(public(&[0xff; 1024], &good.e), None);
    assert_eq!(public(&[0xff; 63], &good.e), Some(KeyError::Size));
    assert_eq!(public(&[], &good.e), Some(KeyError::Size));
    let mut even = good.n.clone();
    even[255] ^= 1;
    assert_eq!(public(&even, &good.e), Some(KeyError::Modulus));

    let private = |crt: CrtComponents<'_>| {
        let crt = Some(crt);
        PrivateKey::from_components(&Components { crt, ..good.components() }).err()
    };
    let crt = good.components().crt.expect("it has primes");
    assert_eq!(private(crt), None);
    assert_eq!(private(CrtComponents { q: crt.p, ..crt }), Some(KeyError::Primes));
    assert_eq!(private(CrtComponents { q: &[], ..crt }), Some(KeyError::Primes));
    assert_eq!(private(CrtComponents { p: &[1], q: &good.n, ..crt }), Some(KeyError::Primes));
    let long = [0xff; 4096];
    assert_eq!(private(CrtComponents { p: &long, ..crt }), Some(KeyError::Inconsistent));
    assert_eq!(private(CrtComponents { dp: &long, ..crt }), Some(KeyError::Inconsistent));
    assert_eq!(private(CrtComponents { qinv: &long, ..crt }), Some(KeyError::Inconsistent));
    assert_eq!(private(CrtComponents { qinv: &[], ..crt }), Some(KeyError::Inconsistent));
    for d in [&[][..], &[0], &[1], &[2], &good.n, &long] {
        let components = Components { d, crt: None, ..good.components() };
        let error = PrivateKey::from_components(&components).err();
        assert_eq!(error, Some(KeyError::Inconsistent), "{}", d.len());
    }
}

/// Either prime may be the greater one.
#[test]
fn primes_in_the_other_order() {
    for numbers in vectors().0.values() {
        let crt = numbers.components().crt.expect("it has primes");
        let number = |bytes| BoxedUint::from_be_slice_vartime(bytes);
        let modulus = number(crt.q).into_odd().expect("a prime");
        let rest = number(crt.p).rem(modulus.as_nz_ref());
        let pinv = rest.invert_odd_mod(&modulus).expect("another prime").to_be_bytes();
        let swapped = CrtComponents { p: crt.q, q: crt.p, dp: crt.dq, dq: crt.dp, qinv: &pinv };
        let components = Components { crt: Some(swapped), ..numbers.components() };
        let key = PrivateKey::legacy_from_components(&components).expect("a good key");
        assert_eq!(sign(&key), sign(&numbers.key().expect("a good key")), "{}", numbers.name);
    }
}

#[test]
fn malformed_der_and_pem() {
    let (keys, _) = vectors();
    for name in ["generated-512-1", "generated-1024-1", "pss-1025-1"] {
        let key = keys[name].key().expect("a good key");
        let forms = [
            key.to_pkcs8_der().expect("it has primes").to_vec(),
            key.to_pkcs1_der().expect("it has primes").to_vec(),
            key.public_key().to_spki_der(),
            key.public_key().to_pkcs1_der(),
            key.to_pem().expect("it has primes").as_bytes().to_vec(),
            key.public_key().to_pem().into_bytes(),
        ];
        let mut random = Numbers(6);
        for (i, form) in forms.iter().enumerate() {
            assert_eq!(key_der(form), usize::from(i < 4));
            for end in 0..form.len() {
                assert_eq!(key_der(&form[..end]), 0, "{end} of {} bytes", form.len());
            }
            assert_eq!(key_der(&[&form[..], &[0]].concat()), 0, "a byte too many");
            for _ in 0..cases(1000) {
                let mut form = form.clone();
                for _ in 0..=random.below(3) {
                    let at = random.below(form.len());
                    form[at] = random.number().to_le_bytes()[0];
                }
                // Public keys with other numbers are keys.
                let _ = key_der(&form);
            }
            for at in 0..form.len().min(40) {
                for byte in 0..=0xff {
                    let mut form = form.clone();
                    form[at] = byte;
                    let _ = key_der(&form);
                }
            }
        }
    }
}

#[cfg(feature = "generate")]
#[test]
fn generated() {
    for bits in [2048, 2050, 3072] {
        let key = PrivateKey::generate(bits).expect("a new key");
        assert_eq!([key.public_key().bits(), key.signature_length()], [bits, bits.div_ceil(8)]);
        assert_eq!(key.public_key().e(), 65_537);
        let pkcs8 = key.to_pkcs8_der().expect("it has primes");
        let again = PrivateKey::from_pkcs8_der(&pkcs8).expect("a good key");
        assert_eq!(sign(&again), sign(&key));
    }
    let sizes = [0, 512, 2047, 2049, 8193, usize::MAX];
    assert!(sizes.into_iter().all(|n| PrivateKey::generate(n).err() == Some(KeyError::Size)));
    let [one, other] = [0; 2].map(|_| PrivateKey::generate(2048).expect("a new key"));
    assert_ne!(one.public_key(), other.public_key());
}
