//! Records of TLS 1.2, by the controls that OpenSSL's library for TLS uses.

use lanecrypt_testing::numbers::{Numbers, cases};

use crate::evp::{Keyed, SET_IV_FIXED, TLS_AAD};
use crate::{AEADS, everywhere};

/// The associated data of a record: number, type, version, length.
fn header(number: u64, length: usize) -> [u8; 13] {
    let mut aad = [0; 13];
    aad[..8].copy_from_slice(&number.to_be_bytes());
    aad[8..11].copy_from_slice(&[23, 3, 3]);
    aad[11..].copy_from_slice(&u16::try_from(length).expect("short").to_be_bytes());
    aad
}

/// Announces a record and takes it in place: what was written, and the record.
fn record(keyed: &mut Keyed<'_>, aad: &[u8; 13], data: &[u8]) -> (i32, Option<usize>, Vec<u8>) {
    let padding = keyed.control(TLS_AAD, 13, &mut aad.to_vec());
    let mut data = data.to_vec();
    let length = data.len();
    let written = keyed.update_in_place(&mut data, length);
    (padding, written, data)
}

/// Records in both directions. Each provider seals, both open.
#[test]
fn aead() {
    everywhere(|context| {
        let mut numbers = Numbers(1);
        for (name, key_length) in AEADS {
            let providers = context.both(name);
            let explicit = if name.contains("GCM") { 8 } else { 0 };
            let (key, iv) = (numbers.bytes(key_length), numbers.bytes(12));
            let start = |keyed: &mut Keyed<'_>, encrypt| {
                if explicit > 0 {
                    assert!(keyed.init(encrypt, Some(&key), None));
                    assert_eq!(keyed.control(SET_IV_FIXED, 4, &mut iv[..4].to_vec()), 1);
                } else {
                    // The fixed vector comes with the key.
                    assert!(keyed.init(encrypt, Some(&key), Some(&iv)));
                }
            };
            for sealing in 0..2 {
                let mut sealer = providers[sealing].context();
                start(&mut sealer, true);
                let mut openers = providers.each_ref().map(|cipher| cipher.context());
                openers.iter_mut().for_each(|keyed| start(keyed, false));
                for number in 0..cases(40) {
                    let length = numbers.below(if number % 8 == 0 { 16_384 } else { 200 });
                    let text = numbers.bytes(length);
                    let mut data = vec![0; explicit];
                    data.extend(&text);
                    data.resize(explicit + length + 16, 0);
                    let aad = header(number, explicit + length);
                    let (padding, written, sealed) = record(&mut sealer, &aad, &data);
                    assert_eq!((padding, written), (16, Some(data.len())), "{name}");
                    let aad = header(number, sealed.len());
                    for opener in &mut openers {
                        let (padding, written, opened) = record(opener, &aad, &sealed);
                        assert_eq!((padding, written), (16, Some(length)), "{name} {sealing}");
                        assert_eq!(opened[explicit..explicit + length], text, "{name}");
                    }
                    // One bit wrong: refused by both, and nothing is left of the text.
                    let mut wrong = sealed.clone();
                    let at = explicit + numbers.below(wrong.len() - explicit);
                    wrong[at] ^= 1;
                    for opener in &mut openers {
                        let (_, written, opened) = record(opener, &aad, &wrong);
                        assert_eq!(written, None, "{name} {at}");
                        let text = &opened[explicit..explicit + length];
                        assert!(text.iter().all(|&byte| byte == 0), "{name}: plaintext is left");
                    }
                }
                // Too short for what belongs to a record.
                for (length, size) in [(explicit, 0), (7, 7), (explicit + 15, explicit + 15)] {
                    let aad = header(0, length);
                    let answers = openers.each_mut().map(|keyed| {
                        let (padding, written, _) = record(keyed, &aad, &vec![0; size.max(1)]);
                        (padding > 0, written)
                    });
                    assert_eq!(answers[0].0, answers[1].0, "{name} {length}");
                }
            }
        }
    });
}

/// ChaCha20-Poly1305 with its fixed vector by the control.
#[test]
fn chacha_with_a_fixed_vector() {
    everywhere(|context| {
        let answers = context.both("ChaCha20-Poly1305").each_ref().map(|cipher| {
            let mut keyed = cipher.context();
            assert!(keyed.init(true, Some(&[1; 32]), None));
            assert_eq!(keyed.control(SET_IV_FIXED, 12, &mut [9; 12]), 1);
            record(&mut keyed, &header(77, 100), &[5; 116])
        });
        assert_eq!(answers[0], answers[1]);
    });
}

/// CBC: content and code of any length go in; content comes out, and the code apart.
#[test]
fn cbc() {
    const VERSIONS: [u64; 5] = [0x300, 0x301, 0x302, 0x303, 0xfefd];
    everywhere(|context| {
        let mut numbers = Numbers(2);
        for (name, key) in [("AES-128-CBC", 16), ("AES-192-CBC", 24), ("AES-256-CBC", 32)] {
            for version in VERSIONS {
                for code in [0, 20, 32, 48] {
                    for _ in 0..cases(10) {
                        one_cbc(&mut numbers, &context.both(name), key, version, code);
                    }
                }
            }
        }
    });
}

fn one_cbc(
    numbers: &mut Numbers,
    both: &[crate::evp::Cipher<'_>; 2],
    key: usize,
    version: u64,
    code: usize,
) {
    let (key, iv) = (numbers.bytes(key), numbers.bytes(16));
    let vector = if version > 0x301 { 16 } else { 0 };
    let length = numbers.below(600);
    let text = numbers.bytes(vector + length + code);
    let settings =
        || [(c"tls-version", version), (c"tls-mac-size", u64::try_from(code).expect("short"))];
    let sealed = both.each_ref().map(|cipher| {
        let mut keyed = cipher.context();
        assert!(keyed.init(true, Some(&key), Some(&iv)));
        assert!(keyed.set_numbers(&mut settings()));
        let mut data = text.clone();
        data.resize(text.len() + 256, 0);
        let written = keyed.update_in_place(&mut data, text.len()).expect("a record");
        data.truncate(written);
        data
    });
    assert_eq!(sealed[0], sealed[1], "{version:x} {code} {length}");
    let open = |data: &[u8]| {
        both.each_ref().map(|cipher| {
            let mut keyed = cipher.context();
            assert!(keyed.init(false, Some(&key), Some(&iv)));
            assert!(keyed.set_numbers(&mut settings()));
            let mut data = data.to_vec();
            let size = data.len();
            let written = keyed.update_in_place(&mut data, size);
            data.truncate(vector + written.unwrap_or_default());
            (written, data, keyed.pointed(c"tls-mac"))
        })
    };
    let opened = open(&sealed[0]);
    assert_eq!(opened[0], opened[1], "{version:x} {code} {length}");
    assert_eq!(opened[0].0, Some(length));
    if code > 0 {
        assert_eq!(opened[0].2, Some(Some(text[vector + length..].to_vec())));
    }
    // Wrong padding: the same length, and a code that nobody knows.
    let mut wrong = sealed[0].clone();
    let at = wrong.len().saturating_sub(17 + numbers.below(16));
    wrong[at] ^= 0x55;
    let opened = open(&wrong);
    assert_eq!(opened[0].0, opened[1].0, "{version:x} {code} {length}");
    assert_eq!(opened[0].1, opened[1].1, "{version:x} {code} {length}");
}
