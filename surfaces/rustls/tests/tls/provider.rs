//! What of a provider is ours, and what stays.

use core::ptr::{addr_eq, eq};

use rustls::crypto::CryptoProvider;
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::{
    CipherSuite, CipherSuiteCommon, ConnectionTrafficSecrets, NamedGroup, SupportedCipherSuite,
    Tls13CipherSuite,
};

use crate::parties::{Party, SUITES_13};

/// Both, in pairs: the base and ours over it.
fn providers() -> [(CryptoProvider, CryptoProvider); 2] {
    [(Party::Ring, Party::OursOverRing), (Party::AwsLc, Party::OursOverAwsLc)]
        .map(|(base, ours)| (base.provider(), ours.provider()))
}

#[test]
fn every_suite_has_our_cipher_and_the_rest_of_its_base() {
    for (base, ours) in providers() {
        assert_eq!(base.cipher_suites.len(), 9);
        assert_eq!(base.cipher_suites, ours.cipher_suites, "by name and in order");
        for (base, ours) in base.cipher_suites.iter().zip(&ours.cipher_suites) {
            match (base, ours) {
                (SupportedCipherSuite::Tls13(base), SupportedCipherSuite::Tls13(ours)) => {
                    assert!(!addr_eq(base.aead_alg, ours.aead_alg), "{ours:?}");
                    let (theirs, quic) = (base.quic.expect("QUIC"), ours.quic.expect("QUIC"));
                    assert!(!addr_eq(theirs, quic), "{ours:?}");
                    assert!(!addr_eq(base.hkdf_provider, ours.hkdf_provider), "{ours:?}");
                    assert_eq!(base.aead_alg.key_len(), ours.aead_alg.key_len());
                    assert_eq!(theirs.aead_key_len(), quic.aead_key_len());
                    same_common(&base.common, &ours.common);
                    assert!(!ours.fips() && !quic.fips() && !ours.aead_alg.fips());
                }
                (SupportedCipherSuite::Tls12(base), SupportedCipherSuite::Tls12(ours)) => {
                    assert!(!addr_eq(base.aead_alg, ours.aead_alg), "{ours:?}");
                    assert!(!addr_eq(base.prf_provider, ours.prf_provider), "{ours:?}");
                    assert_eq!((base.sign, base.kx), (ours.sign, ours.kx));
                    let [theirs, shape] =
                        [base.aead_alg, ours.aead_alg].map(|it| it.key_block_shape());
                    assert_eq!(theirs.enc_key_len, shape.enc_key_len);
                    assert_eq!(theirs.fixed_iv_len, shape.fixed_iv_len);
                    assert_eq!(theirs.explicit_nonce_len, shape.explicit_nonce_len);
                    same_common(&base.common, &ours.common);
                }
                pair => panic!("{pair:?}"),
            }
        }
        assert_eq!(base.kx_groups.len(), ours.kx_groups.len());
        for (base, group) in base.kx_groups.iter().zip(&ours.kx_groups) {
            assert_eq!(base.name(), group.name());
            let is_ours = cfg!(feature = "pk")
                && matches!(
                    base.name(),
                    NamedGroup::X25519 | NamedGroup::secp256r1 | NamedGroup::X25519MLKEM768
                );
            assert_eq!(!addr_eq(*base, *group), is_ours, "{group:?}");
        }
        assert_ne!(format!("{:?}", base.secure_random), format!("{:?}", ours.secure_random));
        let keys = format!("{:?}", base.key_provider);
        let expected = if cfg!(feature = "pk") { format!("Keys({keys})") } else { keys };
        assert_eq!(format!("{:?}", ours.key_provider), expected);
        assert!(!ours.fips());
    }
}

fn same_common(base: &CipherSuiteCommon, ours: &CipherSuiteCommon) {
    assert_eq!((base.suite, base.confidentiality_limit), (ours.suite, ours.confidentiality_limit));
    assert!(!addr_eq(base.hash_provider, ours.hash_provider));
    assert_eq!(base.hash_provider.algorithm(), ours.hash_provider.algorithm());
}

/// Suites live forever, so that a program that makes many providers must not make many suites.
#[test]
fn each_suite_is_made_once() {
    for (base, ours) in providers() {
        for again in [rustls_lanecrypt::over(base.clone()), rustls_lanecrypt::over(ours.clone())] {
            let pairs = ours.cipher_suites.iter().zip(&again.cipher_suites);
            assert!(pairs.into_iter().all(|pair| match pair {
                (SupportedCipherSuite::Tls13(a), SupportedCipherSuite::Tls13(b)) => eq(*a, *b),
                (SupportedCipherSuite::Tls12(a), SupportedCipherSuite::Tls12(b)) => eq(*a, *b),
                _ => false,
            }));
        }
    }
}

#[test]
fn what_is_not_known_or_not_there_stays_so() {
    let known = Party::Ring.suite13(CipherSuite::TLS13_AES_128_GCM_SHA256);
    let suite_with = |suite, quic| {
        let common = CipherSuiteCommon {
            suite,
            hash_provider: known.common.hash_provider,
            confidentiality_limit: 5,
        };
        let (hkdf_provider, aead_alg) = (known.hkdf_provider, known.aead_alg);
        &*Box::leak(Box::new(Tls13CipherSuite { common, hkdf_provider, aead_alg, quic }))
    };
    let unknown = suite_with(CipherSuite::TLS13_AES_128_CCM_SHA256, known.quic);
    let without_quic = suite_with(CipherSuite::TLS13_AES_128_GCM_SHA256, None);
    let base = CryptoProvider {
        cipher_suites: vec![unknown.into(), without_quic.into()],
        ..Party::Ring.provider()
    };
    let over = rustls_lanecrypt::over(base);
    let [unknown_now, without_now] = over.cipher_suites[..] else { panic!("{over:?}") };
    assert!(unknown_now.tls13().is_some_and(|it| eq(it, unknown)));
    let now = without_now.tls13().expect("a suite of TLS 1.3");
    assert!(now.quic.is_none() && !addr_eq(now.aead_alg, known.aead_alg));
    assert_eq!(now.common.confidentiality_limit, 5);
    assert!(
        rustls_lanecrypt::over(CryptoProvider { cipher_suites: vec![], ..over })
            .cipher_suites
            .is_empty()
    );
}

/// For the kernel's TLS: the same secrets as those of the base.
#[test]
fn secrets_can_be_taken_out() {
    let parts = |secrets| match secrets {
        ConnectionTrafficSecrets::Aes128Gcm { key, iv } => {
            ("a", key.as_ref().to_vec(), iv.as_ref().to_vec())
        }
        ConnectionTrafficSecrets::Aes256Gcm { key, iv } => {
            ("b", key.as_ref().to_vec(), iv.as_ref().to_vec())
        }
        ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => {
            ("c", key.as_ref().to_vec(), iv.as_ref().to_vec())
        }
        _ => panic!("others are not ours"),
    };
    let key = || AeadKey::from(core::array::from_fn(|i| i.to_le_bytes()[0]));
    for (base, ours) in providers() {
        for (base, ours) in base.cipher_suites.iter().zip(&ours.cipher_suites) {
            let (theirs, secrets) = match (base, ours) {
                (SupportedCipherSuite::Tls13(base), SupportedCipherSuite::Tls13(ours)) => {
                    let of =
                        |it: &Tls13CipherSuite| it.aead_alg.extract_keys(key(), Iv::new([3; 12]));
                    (of(base), of(ours))
                }
                (SupportedCipherSuite::Tls12(base), SupportedCipherSuite::Tls12(ours)) => {
                    let shape = ours.aead_alg.key_block_shape();
                    // Of AES-128 with a key of 16 bytes, which only rustls makes, below.
                    if shape.enc_key_len != 32 {
                        continue;
                    }
                    let iv: Vec<u8> = (1..=12).collect();
                    let (fixed, explicit) = iv.split_at(shape.fixed_iv_len);
                    let of = |it: &rustls::Tls12CipherSuite| {
                        it.aead_alg.extract_keys(key(), fixed, explicit)
                    };
                    (of(base), of(ours))
                }
                pair => panic!("{pair:?}"),
            };
            assert_eq!(parts(secrets.expect("ours")), parts(theirs.expect("theirs")), "{ours:?}");
        }
    }
}

#[test]
fn secrets_of_a_connection_fit_the_other_side() {
    for suite in [SUITES_13, crate::parties::SUITES_12].concat() {
        let mut client = crate::parties::client(Party::OursOverRing.provider_of(suite), suite);
        let mut server = crate::parties::server(Party::AwsLc.provider_of(suite), suite);
        (client.enable_secret_extraction, server.enable_secret_extraction) = (true, true);
        let (client, server) = (client.into(), server.into());
        let mut link = crate::connections::Link::before_handshake(&client, &server);
        link.shake_hands().expect("the handshake succeeds");
        let key = |secrets: &ConnectionTrafficSecrets| match secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, .. }
            | ConnectionTrafficSecrets::Aes256Gcm { key, .. }
            | ConnectionTrafficSecrets::Chacha20Poly1305 { key, .. } => key.as_ref().to_vec(),
            _ => panic!("others are not ours"),
        };
        let ours = link.client.dangerous_extract_secrets().expect("they were asked for");
        let theirs = link.server.dangerous_extract_secrets().expect("they were asked for");
        assert_eq!((ours.tx.0, key(&ours.tx.1)), (theirs.rx.0, key(&theirs.rx.1)), "{suite:?}");
        assert_eq!((ours.rx.0, key(&ours.rx.1)), (theirs.tx.0, key(&theirs.tx.1)), "{suite:?}");
    }
}

#[test]
fn random_bytes_are_lanecrypts() {
    let provider = Party::OursOverRing.provider();
    assert_eq!(format!("{:?}", provider.secure_random), "Random");
    let mut drawn = [[0; 32]; 3];
    for bytes in &mut drawn {
        provider.secure_random.fill(bytes).expect("the kernel has seeded it");
    }
    assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0] != [0; 32]);
    provider.secure_random.fill(&mut []).expect("nothing to do");
}

/// The ready providers are ours over what their names say.
#[cfg(all(feature = "ring", feature = "aws_lc_rs"))]
#[test]
fn ready_providers_are_the_same() {
    for (ready, party) in [
        (rustls_lanecrypt::ring_provider(), Party::OursOverRing),
        (rustls_lanecrypt::aws_lc_rs_provider(), Party::OursOverAwsLc),
    ] {
        let expected = party.provider();
        assert_eq!(ready.cipher_suites, expected.cipher_suites);
        assert!(addr_eq(ready.kx_groups[0], expected.kx_groups[0]));
        assert_eq!(format!("{:?}", ready.secure_random), "Random");
    }
}
