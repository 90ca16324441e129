//! The same bytes as the crate `aead-stream` makes, and it opens ours.

use aead_stream::aead::Payload;
use aead_stream::{DecryptorBE32, EncryptorBE32};
use aes_gcm::{Aes128Gcm, Aes256Gcm, KeySizeUser as _};
use chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use lanecrypt_ciphers::Algorithm;
use lanecrypt_stream::{ChunkOpener, ChunkSealer};

use crate::support::{AAD, ALGORITHMS, CHUNKS, KEY, data, lengths, open, prefix, seal, stream};

/// The other implementation, with chunks of these sizes.
macro_rules! of_cipher {
    ($cipher:ty, $prefix:expr, $chunks:expr, $kind:ident, $next:ident, $last:ident) => {{
        let key = KEY[..<$cipher>::key_size()].try_into().expect("a key");
        let prefix = $prefix[..].try_into().expect("a prefix");
        let mut other = $kind::<$cipher>::new(&key, &prefix);
        let (last, before) = $chunks.split_last().expect("at least one");
        let mut out = Vec::new();
        for chunk in before {
            out.push(other.$next(Payload { msg: chunk, aad: AAD }).expect("it is right"));
        }
        out.push(other.$last(Payload { msg: last, aad: AAD }).expect("it is right"));
        out
    }};
}

macro_rules! of_any {
    ($algorithm:expr, $chunks:expr, $kind:ident, $next:ident, $last:ident) => {{
        let prefix = prefix($algorithm);
        match $algorithm {
            Algorithm::AES_128_GCM => of_cipher!(Aes128Gcm, prefix, $chunks, $kind, $next, $last),
            Algorithm::AES_256_GCM => of_cipher!(Aes256Gcm, prefix, $chunks, $kind, $next, $last),
            Algorithm::CHACHA20_POLY1305 => {
                of_cipher!(ChaCha20Poly1305, prefix, $chunks, $kind, $next, $last)
            }
            _ => of_cipher!(XChaCha20Poly1305, prefix, $chunks, $kind, $next, $last),
        }
    }};
}

fn theirs(algorithm: Algorithm, chunks: &[&[u8]]) -> Vec<Vec<u8>> {
    of_any!(algorithm, chunks, EncryptorBE32, encrypt_next, encrypt_last)
}

fn opened_by_them(algorithm: Algorithm, chunks: &[&[u8]]) -> Vec<Vec<u8>> {
    of_any!(algorithm, chunks, DecryptorBE32, decrypt_next, decrypt_last)
}

#[test]
fn both_ways_at_every_edge() {
    for algorithm in ALGORITHMS {
        for chunk in CHUNKS {
            for bytes in lengths(chunk) {
                let data = data(bytes);
                let mut chunks: Vec<&[u8]> = data.chunks(chunk).collect();
                if chunks.is_empty() {
                    chunks.push(b"");
                }
                let theirs = theirs(algorithm, &chunks).concat();
                let ours = seal(algorithm, chunk, &data);
                assert!(ours == theirs, "{algorithm} {chunk} {bytes}");
                let sealed: Vec<&[u8]> = ours.chunks(chunk + 16).collect();
                assert!(opened_by_them(algorithm, &sealed).concat() == data, "{algorithm} {chunk}");
            }
        }
    }
}

/// Programs that read until less than a chunk comes end with an empty one.
#[test]
fn an_empty_chunk_may_end_a_stream() {
    for algorithm in ALGORITHMS {
        let data = data(300);
        let theirs = theirs(algorithm, &[&data[..150], &data[150..], b""]).concat();
        assert_eq!(open(algorithm, 150, &theirs), (data, None));
    }
}

#[test]
fn chunks_of_any_lengths_by_hand() {
    for algorithm in ALGORITHMS {
        let data = data(1000);
        let chunks = [&data[..1], &data[1..1], &data[1..700], &data[700..]];
        let theirs = theirs(algorithm, &chunks);
        let (mut sealer, mut opener) =
            (ChunkSealer::new(stream(algorithm)), ChunkOpener::new(stream(algorithm)));
        let by_number = stream(algorithm);
        for (i, (chunk, theirs)) in (0..).zip(chunks[..3].iter().zip(&theirs)) {
            let (mut ours, mut tag) = (chunk.to_vec(), [0; 16]);
            sealer.next(AAD, &mut ours[..], &mut tag).expect("it is sealed");
            assert_eq!([&ours[..], &tag].concat(), *theirs);
            let mut again = ours.clone();
            opener.next(AAD, &mut ours[..], &tag).expect("it is authentic");
            assert_eq!(ours, *chunk);
            by_number.open_chunk(i, false, AAD, &mut again[..], &tag).expect("it is authentic");
            assert_eq!((again, opener.number()), (chunk.to_vec(), sealer.number()));
        }
        let (mut ours, mut tag) = (chunks[3].to_vec(), [0; 16]);
        sealer.last(AAD, &mut ours[..], &mut tag).expect("it is sealed");
        assert_eq!([&ours[..], &tag].concat(), theirs[3]);
        // Not as one that others follow.
        let mut copy = ours.clone();
        let refused = opener.next(AAD, &mut copy[..], &tag);
        let error = lanecrypt_stream::Error::Authentication { chunk: 3, offset: 700 + 48 };
        assert_eq!(refused, Err(error));
        opener.last(AAD, &mut ours[..], &tag).expect("it is authentic");
        assert_eq!(ours, chunks[3]);
    }
}

/// Made once by `aead-stream` 0.6.0 with `aes-gcm` and `chacha20poly1305`: chunks of 4 bytes of
/// `b"lanecrypt!"`, under the key, prefix and associated data of these tests.
#[test]
fn known_streams() {
    for (algorithm, known) in [
        (
            Algorithm::AES_128_GCM,
            "e8c0fae7db588f60860477a99e6153b4185569fd386abdc18e7469e6746839a256fa82587d7e7d7d24d4\
             fed078ab7a4f0358b96107e99fc7bf19",
        ),
        (
            Algorithm::AES_256_GCM,
            "a704afcb0b649c77163e0eda90275adb394caceb865938562a859243ad63138524ba9e022b5811d485e5\
             946062e1f870ad17f947e8b99ffe809d",
        ),
        (
            Algorithm::CHACHA20_POLY1305,
            "c0bcff9293ea2f2dda629fd8f7c58d53c500c15b896d9c48e708f180e80c4c7e5464d60ca11d068f6ab6\
             227b5203fe1f1199f4fc62b0ca0ce596",
        ),
        (
            Algorithm::XCHACHA20_POLY1305,
            "026ea12cbe3584433f3bccf1da2a510d783171a359813e8dbc6d9ea80c20299f3b1f18a172993331cff0b\
             c5abb3cfeb2309ed86acf6dde282dfc",
        ),
    ] {
        let sealed = seal(algorithm, 4, b"lanecrypt!");
        let hex: String = sealed.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, known, "{algorithm}");
        assert_eq!(open(algorithm, 4, &sealed), (b"lanecrypt!".to_vec(), None));
    }
}
