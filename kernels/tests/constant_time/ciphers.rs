//! What `ciphers` makes of kernels and an HMAC. Whether a message is authentic is public in the
//! end: each opening may branch on that once.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use core::array;

use lanecrypt_ciphers::hazmat::{RawCipher, TlsCbc, TlsHeader};
use lanecrypt_ciphers::lanes::{self, Lengths, Opening, Sealing};
use lanecrypt_ciphers::{
    Algorithm, Cipher, DeterministicAesSiv, Error, Mac, ValueToOpen, ValueToSeal,
};
use lanecrypt_kernels::Isa;

use crate::secrets::{Secrets, unseen};

pub(crate) fn tls_sha1(isa: Isa, secrets: &mut Secrets) {
    tls(isa, secrets, Mac::HmacSha1);
}

pub(crate) fn tls_sha256(isa: Isa, secrets: &mut Secrets) {
    tls(isa, secrets, Mac::HmacSha256);
}

pub(crate) fn tls_sha384(isa: Isa, secrets: &mut Secrets) {
    tls(isa, secrets, Mac::HmacSha384);
}

const CIPHER: Algorithm = Algorithm::AES_128_CBC;
const HEADER: TlsHeader = TlsHeader { sequence: 7, content_type: 23, version: 0x0303 };
const IV: [u8; 16] = [9; 16];

/// Records that may be all padding, and longer ones. Secret are both keys, the content and its
/// length; and which byte of a forged record is wrong: of content, code or padding.
fn tls(isa: Isa, secrets: &mut Secrets, code: Mac) {
    for length in [80, 528] {
        let mut place = [0; 528];
        for is_forged in [false, false, true, true, true] {
            let (mut key, mut mac) = (secrets.known::<16>(), secrets.known::<48>());
            let choice = secrets.known::<2>();
            let record = &mut place[..length];
            unseen(|| {
                let forgery = is_forged.then_some(choice[1]);
                seal_tls(&key, code, &mac, choice[0], forgery, record);
            });
            secrets.hide(&mut key);
            secrets.hide(&mut mac);
            let keys = TlsCbc::with_isa(isa, CIPHER, &key, code, &mac[..code.output_length()]);
            let opened = keys.expect("good keys").open(HEADER, &IV, record);
            secrets.judge();
            if is_forged {
                assert_eq!(opened, Err(Error::Authentication));
                unseen(|| assert!(record.iter().all(|&byte| byte == 0), "nothing is left"));
            } else {
                assert!(opened.is_ok(), "it was authentic");
                secrets.reveal(record);
            }
        }
    }
}

/// Fills the place of a record with a sealed one, whose padding a number chooses; of a forged one,
/// another number chooses the byte that is changed.
fn seal_tls(key: &[u8], code: Mac, mac: &[u8], padding: u8, forgery: Option<u8>, place: &mut [u8]) {
    let (length, tag) = (place.len(), code.output_length());
    let longest = length - tag - 1;
    let others = usize::from(padding).min(longest * usize::from(padding) / 255);
    let content = longest - others;
    let keys = TlsCbc::new(CIPHER, key, code, &mac[..tag]).expect("good keys");
    let mut record = vec![0x5a; keys.sealed_length(content)];
    keys.seal(HEADER, &IV, &mut record, content).expect("good lengths");
    // The same with longer padding.
    let cipher = RawCipher::new(CIPHER, key).expect("a good key");
    cipher.decrypt(&IV, &mut record[..]).expect("whole blocks");
    record.truncate(content + tag);
    record.resize(length, others.to_le_bytes()[0]);
    if let Some(at) = forgery {
        record[usize::from(at) * (length - 1) / 255] ^= 0x11;
    }
    cipher.encrypt(&IV, &mut record[..]).expect("whole blocks");
    place.copy_from_slice(&record);
}

pub(crate) fn cbc_sha256(isa: Isa, secrets: &mut Secrets) {
    sealed_and_opened::<32>(isa, secrets, Algorithm::AES_128_CBC_HMAC_SHA256);
}

pub(crate) fn cbc_sha384(isa: Isa, secrets: &mut Secrets) {
    sealed_and_opened::<56>(isa, secrets, Algorithm::AES_256_CBC_HMAC_SHA384);
}

pub(crate) fn ctr_sha1(isa: Isa, secrets: &mut Secrets) {
    sealed_and_opened::<36>(isa, secrets, Algorithm::AES_128_CTR_HMAC_SHA1);
}

pub(crate) fn gcm_siv(isa: Isa, secrets: &mut Secrets) {
    sealed_and_opened::<16>(isa, secrets, Algorithm::AES_128_GCM_SIV);
    sealed_and_opened::<32>(isa, secrets, Algorithm::AES_256_GCM_SIV);
}

pub(crate) fn siv(isa: Isa, secrets: &mut Secrets) {
    sealed_and_opened::<32>(isa, secrets, Algorithm::AES_SIV_256);
    sealed_and_opened::<64>(isa, secrets, Algorithm::AES_SIV_512);
}

/// Messages sealed and opened; of the forged ones one bit of the tag is wrong, a secret one.
fn sealed_and_opened<const KEY: usize>(isa: Isa, secrets: &mut Secrets, algorithm: Algorithm) {
    let nonce = &[3; 16][..algorithm.nonce_length()];
    let key = secrets.bytes::<KEY>();
    let cipher = Cipher::with_isa(isa, algorithm, &key).expect("a good key");
    for length in [0, 16, 64, 80, 1008] {
        let mut data = unseen(|| vec![0; length]);
        secrets.fill(&mut data);
        let mut tag = unseen(|| vec![0; algorithm.tag_length()]);
        cipher.seal_detached(nonce, b"header", &mut data[..], &mut tag).expect("short enough");
        secrets.reveal(&mut data);
        secrets.reveal(&mut tag);
        let mut forged = unseen(|| data.clone());
        cipher.open_detached(nonce, b"header", &mut data[..], &tag).expect("authentic");
        secrets.judge();
        secrets.reveal(&mut data);
        let choice = secrets.known::<1>();
        unseen(|| tag[usize::from(choice[0]) % 12] ^= 1 << (choice[0] >> 5));
        let opened = cipher.open_detached(nonce, b"header", &mut forged[..], &tag);
        secrets.judge();
        assert_eq!(opened, Err(Error::Authentication));
    }
}

/// A batch, in which two codes are computed in turn.
pub(crate) fn cbc_lanes(isa: Isa, secrets: &mut Secrets) {
    in_lanes(isa, secrets, Algorithm::AES_128_CBC_HMAC_SHA256);
}

pub(crate) fn gcm_siv_lanes(isa: Isa, secrets: &mut Secrets) {
    in_lanes(isa, secrets, Algorithm::AES_256_GCM_SIV);
}

/// A batch sealed and opened; then the same with one forged message. Keys have 32 bytes.
fn in_lanes(isa: Isa, secrets: &mut Secrets, algorithm: Algorithm) {
    const COUNT: usize = 5;
    let ciphers: [Cipher; COUNT] = array::from_fn(|_| {
        Cipher::with_isa(isa, algorithm, &secrets.bytes::<32>()).expect("a good key")
    });
    let mut data: [[u8; 176]; COUNT] = array::from_fn(|_| secrets.bytes());
    let length = |at| 176 - 16 * at;
    let nonce = &[3; 16][..algorithm.nonce_length()];
    let mut tags = [[0; 16]; COUNT];
    let mut outcomes = [Ok(()); COUNT];
    let each = ciphers.iter().zip(&mut data).zip(&mut tags).zip(&mut outcomes).enumerate();
    let each = each.map(|(at, (((cipher, data), tag), outcome))| {
        let data = (&mut data[..length(at)]).into();
        Sealing { cipher, nonce, aad: b"header", data, tag, outcome }
    });
    assert_eq!(lanes::seal(algorithm, Lengths::ALL, each), 0);
    for (data, tag) in data.iter_mut().zip(&mut tags) {
        secrets.reveal(data);
        secrets.reveal(tag);
    }
    for forged in [0, 1] {
        let mut data = data;
        let choice = secrets.known::<1>();
        unseen(|| tags[2][usize::from(choice[0] & 15)] ^= forged);
        let each = ciphers.iter().zip(&mut data).zip(&tags).zip(&mut outcomes).enumerate();
        let each = each.map(|(at, (((cipher, data), tag), outcome))| {
            let data = (&mut data[..length(at)]).into();
            Opening { cipher, nonce, aad: b"header", data, tag, outcome }
        });
        assert_eq!(lanes::open(algorithm, Lengths::ALL, each), usize::from(forged));
        (0..COUNT).for_each(|_| secrets.judge());
    }
}

/// Values of a column, deterministic; then one forged packet among them.
pub(crate) fn siv_many(isa: Isa, secrets: &mut Secrets) {
    const COUNT: usize = 9;
    const LENGTH: usize = 32;
    let cipher = DeterministicAesSiv::with_isa(isa, &secrets.bytes::<32>()).expect("a good key");
    let cipher = cipher.with_context(&[b"table"]).expect("few strings");
    let values: [[u8; LENGTH]; COUNT] = array::from_fn(|_| secrets.bytes());
    let mut packets = [[0; LENGTH + 16]; COUNT];
    let mut outcomes = [Ok(()); COUNT];
    let each = values.iter().zip(&mut packets).zip(&mut outcomes);
    let each = each.map(|((value, packet), outcome)| ValueToSeal {
        string: Some(b"row"),
        value,
        packet,
        outcome,
    });
    assert_eq!(cipher.seal_many(each), 0);
    packets.iter_mut().for_each(|packet| secrets.reveal(packet));
    for forged in [0, 1] {
        let choice = secrets.known::<1>();
        unseen(|| packets[4][usize::from(choice[0] & 15)] ^= forged);
        let mut opened = [[0; LENGTH]; COUNT];
        let each = packets.iter().zip(&mut opened).zip(&mut outcomes);
        let each = each.map(|((packet, value), outcome)| ValueToOpen {
            string: Some(b"row"),
            packet,
            value,
            outcome,
        });
        assert_eq!(cipher.open_many(each), usize::from(forged));
        (0..COUNT).for_each(|_| secrets.judge());
        // What was forged has been wiped.
        let authentic = opened.iter_mut().enumerate().filter(|(at, _)| forged == 0 || *at != 4);
        authentic.for_each(|(_, value)| secrets.reveal(value));
    }
}
