//! A cipher with a code behind it, against the crate `hmac` over the plain cipher; and messages in
//! lanes against messages alone.

use hmac::{Hmac, KeyInit};
use lanecrypt_ciphers::lanes::{self, Lengths, Opening, Sealing};
use lanecrypt_ciphers::{Algorithm, Cipher, Error, Isa, Mac, Mode, Primitive, hazmat};
use lanecrypt_testing::aeads::{aeads, tag_lengths, whole};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::Numbers;

/// Every algorithm with a code, and the code.
fn chained() -> impl Iterator<Item = (Algorithm, Mac)> {
    aeads().filter_map(|row| Some((row, row.mac()?)))
}

/// A message, as the front door takes it.
#[derive(Clone)]
struct Message {
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    data: Vec<u8>,
    tag: Vec<u8>,
}

impl Message {
    /// A key of one of the lengths, and about so many bytes.
    fn random(algorithm: Algorithm, length: usize, tag: usize, numbers: &mut Numbers) -> Self {
        let keys: Vec<_> = algorithm.key_lengths().iter().collect();
        let key = keys[numbers.below(keys.len())];
        let aad = numbers.below(200);
        Self {
            key: numbers.bytes(key),
            nonce: numbers.bytes(algorithm.nonce_length()),
            aad: numbers.bytes(aad),
            data: numbers.bytes(whole(algorithm, length)),
            tag: vec![0; tag],
        }
    }

    fn cipher(&self, isa: Isa, algorithm: Algorithm) -> Cipher {
        let mut cipher = Cipher::with_isa(isa, algorithm, &self.key).expect("a good key");
        cipher.set_tag_length(self.tag.len()).expect("a good length");
        cipher
    }

    /// Encrypted, then authenticated, as RFC 7518, section 5.2.2.1, says it.
    fn sealed(&self, algorithm: Algorithm, mac: Mac) -> Self {
        let Self { key, nonce, aad, .. } = self;
        let mut sealed = self.clone();
        let plain = match (algorithm.primitive(), algorithm.mode()) {
            (Primitive::Aes128, Mode::Cbc) => Algorithm::AES_128_CBC,
            (Primitive::Aes192, Mode::Cbc) => Algorithm::AES_192_CBC,
            (Primitive::Aes256, Mode::Cbc) => Algorithm::AES_256_CBC,
            (Primitive::Aes128, _) => Algorithm::AES_128_CTR,
            _ => Algorithm::AES_256_CTR,
        };
        let (mac_key, key) = key.split_at(key.len() - plain.key_lengths().longest());
        let cipher = hazmat::RawCipher::new(plain, key).expect("a good key");
        let mut first = nonce.clone();
        if plain.mode() == Mode::Ctr {
            first.extend([0, 0, 0, 1]);
        }
        cipher.encrypt(&first, &mut sealed.data[..]).expect("whole blocks");
        let bits = 8 * aad.len() as u64;
        let coded = [aad, nonce, &sealed.data, &bits.to_be_bytes()[..]].concat();
        let code = match mac {
            Mac::HmacSha1 => code::<Hmac<sha1::Sha1>>(mac_key, &coded),
            Mac::HmacSha256 => code::<Hmac<sha2::Sha256>>(mac_key, &coded),
            _ => code::<Hmac<sha2::Sha384>>(mac_key, &coded),
        };
        let length = sealed.tag.len();
        sealed.tag.copy_from_slice(&code[..length]);
        sealed
    }
}

fn code<H: hmac::Mac + KeyInit>(key: &[u8], message: &[u8]) -> Vec<u8> {
    let code = <H as KeyInit>::new_from_slice(key).expect("any length will do");
    code.chain_update(message).finalize().into_bytes().to_vec()
}

#[test]
fn the_code_is_that_of_the_crates() {
    let mut numbers = Numbers(31);
    for (algorithm, mac) in chained() {
        let tags = tag_lengths(algorithm);
        for length in (0..400).chain([511, 512, 513, 1000, 1500, 4096, 20_000]) {
            let tag = tags[numbers.below(tags.len())];
            let message = Message::random(algorithm, length, tag, &mut numbers);
            let expected = message.sealed(algorithm, mac);
            let mut made = message.clone();
            let cipher = message.cipher(Isa::detect(), algorithm);
            let Message { nonce, aad, data, tag, .. } = &mut made;
            cipher.seal_detached(nonce, aad, &mut data[..], tag).expect("short enough");
            assert_eq!((&*data, &*tag), (&expected.data, &expected.tag), "{algorithm} {length}");
            cipher.open_detached(nonce, aad, &mut data[..], tag).expect("authentic");
            assert_eq!(*data, message.data, "{algorithm} {length}");
        }
    }
}

/// Neither part of the key is a key by itself, and each part matters.
#[test]
fn both_keys_are_used() {
    let mut numbers = Numbers(32);
    for (algorithm, _) in chained() {
        let tag = tag_lengths(algorithm)[0];
        let message = Message::random(algorithm, 64, tag, &mut numbers);
        let sealed = |key: &[u8]| {
            let mut packet = vec![0; message.data.len() + tag];
            let cipher = Cipher::new(algorithm, key).expect("a good key");
            cipher.seal_to(&message.nonce, b"", &message.data, &mut packet).expect("short enough");
            packet
        };
        let right = sealed(&message.key);
        for at in 0..message.key.len() {
            let mut key = message.key.clone();
            key[at] ^= 1;
            let other = sealed(&key);
            let is_of_mac = at < key.len() - algorithm.primitive().key_lengths().longest();
            assert_ne!(right[right.len() - tag..], other[other.len() - tag..], "{algorithm} {at}");
            assert_eq!(right[..64] == other[..64], is_of_mac, "{algorithm} {at}");
        }
    }
}

/// Batches in which messages of other algorithms, forged ones and some that are refused stand among
/// the good ones.
#[test]
fn in_lanes_each_gets_what_it_gets_alone() {
    let mut numbers = Numbers(33);
    let rows: Vec<_> = chained().map(|(row, _)| row).collect();
    for (isa, &algorithm) in levels().flat_map(|isa| rows.iter().map(move |row| (isa, row))) {
        for round in 0..8 {
            let count = [1, 2, 3, 7, 64, 65, 130, 16][round];
            let batch: Vec<_> = (0..count)
                .map(|_| {
                    let other = rows[numbers.below(rows.len())];
                    let algorithm = if numbers.below(8) == 0 { other } else { algorithm };
                    let tags = tag_lengths(algorithm);
                    let tag = tags[numbers.below(tags.len())];
                    let length = numbers.below([100, 700, 3000][round % 3]);
                    let message = Message::random(algorithm, length, tag, &mut numbers);
                    let cipher = message.cipher(isa, algorithm);
                    (cipher, message)
                })
                .collect();
            let (ciphers, mut plain): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
            for message in &mut plain {
                match numbers.below(27) {
                    0 => message.nonce.push(1),
                    1 => message.data.push(1),
                    2 => message.tag.push(1),
                    _ => {}
                }
            }
            let place = format!("{algorithm} {} {count}", isa.level());
            let mut sealed = both_ways(&ciphers, plain, seal_lanes, seal_alone, &place);
            for message in &mut sealed {
                let Message { nonce, aad, data, tag, .. } = message;
                let all: [&mut Vec<u8>; 4] = [nonce, aad, data, tag];
                let chosen = all.into_iter().nth(numbers.below(16));
                if let Some(bytes) = chosen.filter(|bytes| !bytes.is_empty()) {
                    let at = numbers.below(bytes.len());
                    bytes[at] ^= 0x20;
                }
            }
            both_ways(&ciphers, sealed, open_lanes, open_alone, &place);
        }
    }
}

/// What serves messages and answers how many were refused.
type Serve = fn(&[Cipher], &mut [Message], &mut [Result<(), Error>]) -> usize;

/// Asserts that both serve the messages alike, and returns what they became.
fn both_ways(
    ciphers: &[Cipher],
    messages: Vec<Message>,
    serve: Serve,
    specification: Serve,
    place: &str,
) -> Vec<Message> {
    let (mut made, mut expected) = (messages.clone(), messages);
    let mut outcomes = vec![Ok(()); made.len()];
    let mut right = outcomes.clone();
    let refused = serve(ciphers, &mut made, &mut outcomes);
    assert_eq!(refused, specification(ciphers, &mut expected, &mut right), "{place}");
    assert_eq!(outcomes, right, "{place}");
    for (made, expected) in made.iter().zip(&expected) {
        assert_eq!((&made.data, &made.tag), (&expected.data, &expected.tag), "{place}");
    }
    made
}

fn seal_lanes(
    ciphers: &[Cipher],
    messages: &mut [Message],
    outcomes: &mut [Result<(), Error>],
) -> usize {
    let algorithm = ciphers[0].algorithm();
    let each = ciphers.iter().zip(messages).zip(outcomes);
    let each = each.map(|((cipher, message), outcome)| {
        let Message { nonce, aad, data, tag, .. } = message;
        Sealing { cipher, nonce, aad, data: (&mut data[..]).into(), tag, outcome }
    });
    lanes::seal(algorithm, Lengths::ALL, each)
}

fn open_lanes(
    ciphers: &[Cipher],
    messages: &mut [Message],
    outcomes: &mut [Result<(), Error>],
) -> usize {
    let algorithm = ciphers[0].algorithm();
    let each = ciphers.iter().zip(messages).zip(outcomes);
    let each = each.map(|((cipher, message), outcome)| {
        let Message { nonce, aad, data, tag, .. } = message;
        Opening { cipher, nonce, aad, data: (&mut data[..]).into(), tag, outcome }
    });
    lanes::open(algorithm, Lengths::ALL, each)
}

fn seal_alone(
    ciphers: &[Cipher],
    messages: &mut [Message],
    outcomes: &mut [Result<(), Error>],
) -> usize {
    for ((cipher, message), outcome) in ciphers.iter().zip(messages).zip(&mut *outcomes) {
        let Message { nonce, aad, data, tag, .. } = message;
        *outcome = cipher.seal_detached(nonce, aad, &mut data[..], tag);
    }
    outcomes.iter().filter(|outcome| outcome.is_err()).count()
}

fn open_alone(
    ciphers: &[Cipher],
    messages: &mut [Message],
    outcomes: &mut [Result<(), Error>],
) -> usize {
    for ((cipher, message), outcome) in ciphers.iter().zip(messages).zip(&mut *outcomes) {
        let Message { nonce, aad, data, tag, .. } = message;
        *outcome = cipher.open_detached(nonce, aad, &mut data[..], tag);
    }
    outcomes.iter().filter(|outcome| outcome.is_err()).count()
}
