//! Records of TLS in CBC against the protocol's own words, made of the crates `hmac` and `cbc`, and
//! against records of a connection of OpenSSL (`recorded.rs`).

mod recorded;

use cbc::cipher::block_padding::NoPadding;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit};
use hmac::{Hmac, KeyInit, Mac as _};
use lanecrypt_ciphers::hazmat::{TlsCbc, TlsHeader};
use lanecrypt_ciphers::{Algorithm, Error, Mac};

const HEADER: TlsHeader =
    TlsHeader { sequence: 0x0102_0304_0506_0708, content_type: 23, version: 0x0303 };

/// The keys of a direction, and the same for the specification.
struct Keys {
    tls: TlsCbc,
    cipher: Algorithm,
    key: Vec<u8>,
    code: Mac,
    mac: Vec<u8>,
    iv: Vec<u8>,
}

impl Keys {
    fn new(algorithm: Algorithm, code: Mac) -> Self {
        let key: Vec<u8> = (1..).take(algorithm.key_lengths().longest()).collect();
        let mac: Vec<u8> = (101..).take(code.output_length()).collect();
        Self {
            tls: TlsCbc::new(algorithm, &key, code, &mac).expect("good keys"),
            cipher: algorithm,
            key,
            code,
            iv: (201..).take(algorithm.nonce_length()).collect(),
            mac,
        }
    }

    fn block(&self) -> usize {
        self.cipher.granularity()
    }

    /// RFC 5246, section 6.2.3.1.
    fn code_of(&self, header: TlsHeader, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).expect("records are short");
        let covered = [
            &header.sequence.to_be_bytes()[..],
            &[header.content_type],
            &header.version.to_be_bytes(),
            &length.to_be_bytes(),
            content,
        ]
        .concat();
        macro_rules! code {
            ($hash:ty) => {{
                let mut code = Hmac::<$hash>::new_from_slice(&self.mac).expect("any length");
                code.update(&covered);
                code.finalize().into_bytes().to_vec()
            }};
        }
        match self.code {
            Mac::HmacSha1 => code!(sha1::Sha1),
            Mac::HmacSha256 => code!(sha2::Sha256),
            _ => code!(sha2::Sha384),
        }
    }

    /// The plaintext of a record with `others` bytes of padding before the last (section 6.2.3.2).
    fn plain(&self, content: &[u8], others: u8) -> Vec<u8> {
        let padding = vec![others; usize::from(others) + 1];
        [content, &self.code_of(HEADER, content), &padding].concat()
    }

    /// A record with this much content and the shortest padding.
    fn record(&self, length: usize) -> Vec<u8> {
        let content = content(length);
        let others = self.paddings(length).next().expect("some padding fits");
        self.encrypted(self.plain(&content, others))
    }

    fn encrypted(&self, mut plain: Vec<u8>) -> Vec<u8> {
        let length = plain.len();
        macro_rules! encrypt {
            ($cipher:ty) => {{
                cbc::Encryptor::<$cipher>::new_from_slices(&self.key, &self.iv)
                    .expect("good lengths")
                    .encrypt_padded::<NoPadding>(&mut plain, length)
                    .expect("whole blocks");
            }};
        }
        match self.cipher {
            Algorithm::AES_128_CBC => encrypt!(aes::Aes128),
            Algorithm::AES_256_CBC => encrypt!(aes::Aes256),
            _ => encrypt!(des::TdesEde3),
        }
        plain
    }

    /// The numbers of bytes of padding that make whole blocks.
    fn paddings(&self, content: usize) -> impl Iterator<Item = u8> {
        let (fixed, block) = (content + self.code.output_length() + 1, self.block());
        (0..=255).filter(move |&others| (fixed + usize::from(others)).is_multiple_of(block))
    }

    fn open(&self, record: &[u8]) -> Result<Vec<u8>, Error> {
        let mut record = record.to_vec();
        match self.tls.open(HEADER, &self.iv, &mut record) {
            Ok(length) => Ok(record[..length].to_vec()),
            Err(error) => {
                assert!(record.iter().all(|byte| *byte == 0), "nothing is left");
                Err(error)
            }
        }
    }
}

fn all() -> impl Iterator<Item = Keys> {
    let ciphers = [Algorithm::AES_128_CBC, Algorithm::AES_256_CBC, Algorithm::TRIPLE_DES_CBC];
    let codes = [Mac::HmacSha1, Mac::HmacSha256, Mac::HmacSha384];
    ciphers.into_iter().flat_map(move |cipher| codes.map(|code| Keys::new(cipher, code)))
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + length).to_le_bytes()[0]).collect()
}

#[test]
fn records_are_those_of_the_protocol() {
    for keys in all() {
        for length in (0..300).chain([1000, 1400, 4096, 16_383, 16_384]) {
            let content = content(length);
            let expected = keys.record(length);
            let mut record = content.clone();
            record.resize(keys.tls.sealed_length(length), 0xee);
            keys.tls.seal(HEADER, &keys.iv, &mut record, length).expect("good lengths");
            assert_eq!(record, expected, "{:?} {length}", keys.tls);
            assert_eq!(keys.open(&record), Ok(content), "{:?} {length}", keys.tls);
        }
    }
}

#[test]
fn every_padding_is_understood() {
    for keys in all() {
        for length in (0..70).chain([255, 300, 513, 16_384]) {
            let content = content(length);
            for others in keys.paddings(length) {
                let record = keys.encrypted(keys.plain(&content, others));
                assert_eq!(keys.open(&record).as_ref(), Ok(&content), "{length} {others}");
            }
        }
    }
}

/// Every byte of code and padding counts, and every error is the same.
#[test]
fn every_byte_of_code_and_padding_counts() {
    for keys in all() {
        for length in [0, 1, 13, 60, 255, 300] {
            let content = content(length);
            let paddings: Vec<u8> = keys.paddings(length).collect();
            for others in [paddings[0], paddings[paddings.len() / 2], paddings[paddings.len() - 1]]
            {
                let plain = keys.plain(&content, others);
                for at in 0..plain.len() {
                    for change in [1, 0x80, 0xff] {
                        let mut forged = plain.clone();
                        forged[at] ^= change;
                        let answer = keys.open(&keys.encrypted(forged));
                        assert_eq!(answer, Err(Error::Authentication), "{length} {others} {at}");
                    }
                }
            }
        }
    }
}

/// Padding that says more than there is, and records that are too short or too long.
#[test]
fn lengths_that_cannot_be_are_refused() {
    for keys in all() {
        let block = keys.block();
        for blocks in 0..12 {
            for last in [0, 1, 15, 100, 255] {
                let record = keys.encrypted(vec![last; blocks * block]);
                assert_eq!(keys.open(&record), Err(Error::Authentication), "{blocks} {last}");
            }
        }
        let record = keys.record(100);
        assert_eq!(keys.open(&record[1..]), Err(Error::Authentication));
        assert_eq!(keys.open(&record[block..]), Err(Error::Authentication));
        // Code and padding are right, but the content is too long.
        for length in [TlsCbc::LONGEST + 1, TlsCbc::LONGEST + 200] {
            assert_eq!(keys.open(&keys.record(length)), Err(Error::Authentication), "{length}");
        }
        let long = vec![7; (TlsCbc::LONGEST + 1024).next_multiple_of(block)];
        assert_eq!(keys.open(&long), Err(Error::Authentication));
        let mut kept = record.clone();
        let answer = keys.tls.open(HEADER, &keys.iv[1..], &mut kept);
        assert_eq!((answer, kept), (Err(Error::NonceLength), record.clone()));

        let mut kept = record.clone();
        let mut seal =
            |iv: &[u8], length, content| keys.tls.seal(HEADER, iv, &mut kept[..length], content);
        let whole = keys.tls.sealed_length(100);
        assert_eq!(seal(&keys.iv, whole, TlsCbc::LONGEST + 1), Err(Error::DataLength));
        assert_eq!(seal(&keys.iv, whole - 1, 100), Err(Error::OutputLength));
        assert_eq!(seal(&keys.iv[1..], whole, 100), Err(Error::NonceLength));
        assert_eq!(kept, record);
    }
}

#[test]
fn headers_count() {
    for keys in all() {
        let record = keys.record(50);
        let others = [
            TlsHeader { sequence: HEADER.sequence + 1, ..HEADER },
            TlsHeader { content_type: 22, ..HEADER },
            TlsHeader { version: 0x0302, ..HEADER },
        ];
        for header in others {
            let answer = keys.tls.open(header, &keys.iv, &mut record.clone());
            assert_eq!(answer, Err(Error::Authentication));
        }
    }
}

#[test]
fn keys_and_algorithms_are_checked() {
    let new = |algorithm, key, mac| {
        let made = TlsCbc::new(algorithm, &[1; 64][..key], Mac::HmacSha256, &[2; 64][..mac]);
        made.err().map(Error::from)
    };
    assert_eq!(new(Algorithm::AES_128_CBC, 16, 32), None);
    assert_eq!(new(Algorithm::AES_128_CBC, 16, 20), Some(Error::KeyLength));
    assert_eq!(new(Algorithm::AES_128_CBC, 17, 32), Some(Error::KeyLength));
    for algorithm in [Algorithm::AES_128_CTR, Algorithm::AES_128_CBC_HMAC_SHA256] {
        assert_eq!(new(algorithm, 16, 32), Some(Error::Unsupported));
    }
}
