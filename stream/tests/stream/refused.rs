//! Streams that somebody has changed: each is refused at the chunk, and before it all is given.

use std::io::{Read as _, Write as _};

use lanecrypt_ciphers::Algorithm;
use lanecrypt_stream::{Decryptor, Encryptor, Error};

use crate::support::{
    AAD, ALGORITHMS, data, decryptor, encryptor, of_stream, open, prefix, seal, stream,
};

/// Plaintext and sealed bytes of one chunk, and how many chunks there are; the last one is shorter.
const CHUNK: usize = 50;
const SEALED: usize = CHUNK + 16;
const COUNT: usize = 6;

fn sealed(algorithm: Algorithm) -> (Vec<u8>, Vec<u8>) {
    let data = data(COUNT * CHUNK - 20);
    let sealed = seal(algorithm, CHUNK, &data);
    (data, sealed)
}

/// Reads by calls of every manner; all must give what is before the chunk, and then the error.
#[track_caller]
fn refused_at(algorithm: Algorithm, sealed: &[u8], data: &[u8], error: Error) {
    let (Error::Authentication { chunk, .. } | Error::Extended { chunk, .. }) = error else {
        panic!("this is about chunks")
    };
    ends_with(algorithm, sealed, &data[..chunk as usize * CHUNK], error);
}

#[track_caller]
fn ends_with(algorithm: Algorithm, sealed: &[u8], before: &[u8], error: Error) {
    assert_eq!(open(algorithm, CHUNK, sealed), (before.to_vec(), Some(error)));
    for (piece, copies) in
        [(1, true), (CHUNK, true), (10 * CHUNK, true), (1, false), (10 * CHUNK, false)]
    {
        let decryptor = decryptor(algorithm, CHUNK, sealed);
        let mut decryptor = if copies { decryptor } else { decryptor.without_copy() };
        let (mut out, mut part) = (Vec::new(), vec![0xee; piece]);
        let refused = loop {
            part.fill(0xee);
            match decryptor.read(&mut part) {
                Ok(bytes) => out.extend_from_slice(&part[..bytes]),
                Err(refused) => break refused,
            }
            assert!(out.len() <= before.len(), "nothing of the chunk is given");
        };
        assert!(out == before && of_stream(&refused) == error, "{refused}");
        assert!(part.iter().all(|byte| matches!(byte, 0 | 0xee)), "nothing of it is left");
        let again = decryptor.read(&mut part).expect_err("the error stays");
        assert_eq!((of_stream(&again), again.kind()), (error, refused.kind()));
    }
}

fn number(chunk: usize) -> u32 {
    chunk.try_into().expect("there are few chunks")
}

fn forged(chunk: usize) -> Error {
    Error::Authentication { chunk: number(chunk), offset: (chunk * SEALED) as u64 }
}

#[test]
fn a_bit_that_was_flipped() {
    for algorithm in ALGORITHMS {
        let (data, sealed) = sealed(algorithm);
        // Every bit of two bytes of each chunk, and one bit of each byte.
        for at in 0..sealed.len() {
            let bits = if matches!(at % SEALED, 7 | 60) { 0..8 } else { at % 8..at % 8 + 1 };
            for bit in bits {
                let mut changed = sealed.clone();
                changed[at] ^= 1 << bit;
                let error = Some(forged(at / SEALED));
                let given = data[..at / SEALED * CHUNK].to_vec();
                assert_eq!(open(algorithm, CHUNK, &changed), (given, error), "{algorithm} {at}");
            }
        }
    }
}

#[test]
fn chunks_that_were_swapped_repeated_or_left_out() {
    for algorithm in ALGORITHMS {
        let (data, sealed) = sealed(algorithm);
        let chunks: Vec<&[u8]> = sealed.chunks(SEALED).collect();
        assert_eq!(chunks.len(), COUNT);
        for i in 0..COUNT {
            for j in i + 1..COUNT {
                let mut swapped = chunks.clone();
                swapped.swap(i, j);
                refused_at(algorithm, &swapped.concat(), &data, forged(i));
            }
            let mut twice = chunks.clone();
            twice.insert(i, chunks[i]);
            // A last chunk that is not full is not at its place, and of the wrong length.
            refused_at(
                algorithm,
                &twice.concat(),
                &data,
                forged(if i + 1 < COUNT { i + 1 } else { i }),
            );
            if i + 1 < COUNT {
                let mut without = chunks.clone();
                without.remove(i);
                refused_at(algorithm, &without.concat(), &data, forged(i));
            }
        }
    }
}

/// At the end of a chunk this shows for what it is.
#[test]
fn a_stream_that_was_cut() {
    for algorithm in ALGORITHMS {
        let (data, sealed) = sealed(algorithm);
        for end in 0..sealed.len() {
            let (whole, rest) = (end / SEALED, end % SEALED);
            let missing = |chunk: usize| Error::Truncated {
                chunk: number(chunk),
                offset: (chunk * SEALED) as u64,
            };
            let (given, error) = match rest {
                // The chunk before does not say that it is the last one.
                0 if whole > 0 => (whole - 1, missing(whole)),
                // Less than a tag is not a chunk.
                ..16 => (whole, missing(whole)),
                _ => (whole, forged(whole)),
            };
            ends_with(algorithm, &sealed[..end], &data[..given * CHUNK], error);
        }
    }
}

#[test]
fn a_stream_that_was_extended() {
    for algorithm in ALGORITHMS {
        let (data, sealed) = sealed(algorithm);
        for more in [1, 16, SEALED, 3 * SEALED] {
            let longer = [&sealed[..], &vec![0; more]].concat();
            refused_at(algorithm, &longer, &data, forged(COUNT - 1));
        }
        // A last chunk that is full.
        let full = seal(algorithm, CHUNK, &data[..3 * CHUNK]);
        for more in [1, 16, SEALED, 3 * SEALED] {
            let longer = [&full[..], &vec![0; more]].concat();
            let error = Error::Extended { chunk: 2, offset: 2 * SEALED as u64 };
            refused_at(algorithm, &longer, &data, error);
        }
        // By itself.
        let error = Error::Extended { chunk: 2, offset: 2 * SEALED as u64 };
        refused_at(algorithm, &[&full[..], &full].concat(), &data, error);
    }
}

#[test]
fn another_key_prefix_size_or_associated_data() {
    let algorithm = Algorithm::XCHACHA20_POLY1305;
    let (data, sealed) = sealed(algorithm);
    let other_key = lanecrypt_ciphers::Cipher::boxed(algorithm, &[1; 32]).expect("a key");
    let mut other_prefix = prefix(algorithm);
    other_prefix[18] ^= 1;
    let same = || lanecrypt_ciphers::Cipher::boxed(algorithm, &crate::support::KEY).expect("a key");
    let new = |cipher, prefix: &[u8]| lanecrypt_stream::Stream::new(cipher, prefix).expect("valid");
    for (stream, chunk, aad) in [
        (new(other_key, &prefix(algorithm)), CHUNK, AAD),
        (new(same(), &other_prefix), CHUNK, AAD),
        (stream(algorithm), CHUNK + 1, AAD),
        (stream(algorithm), CHUNK - 1, AAD),
        (stream(algorithm), CHUNK, b""),
        (stream(algorithm), CHUNK, b"of every chunK"),
    ] {
        let mut decryptor =
            Decryptor::with_chunk_size(stream, chunk, aad, &sealed[..]).expect("a size");
        let mut out = vec![0x77; data.len()];
        let refused = decryptor.read(&mut out).expect_err("it is not authentic");
        assert_eq!(of_stream(&refused), Error::Authentication { chunk: 0, offset: 0 });
        assert_eq!(refused.kind(), std::io::ErrorKind::InvalidData);
        // What was decrypted in the caller's slice is wiped, and the rest was not touched.
        assert_eq!(out[..chunk], vec![0; chunk]);
        assert!(out[chunk..].iter().all(|byte| *byte == 0x77));
    }
}

#[test]
fn an_encryptor_that_was_dropped_leaves_a_truncated_stream() {
    for bytes in [0, 1, CHUNK, 3 * CHUNK, 2000 * CHUNK] {
        let mut file = Vec::new();
        let mut dropped: Encryptor<_, _> = encryptor(Algorithm::AES_256_GCM, CHUNK, &mut file);
        dropped.write_all(&data(bytes)).expect("memory");
        dropped.flush().expect("memory");
        drop(dropped);
        let (out, error) = open(Algorithm::AES_256_GCM, CHUNK, &file);
        assert!(data(bytes).starts_with(&out));
        assert!(matches!(error, Some(Error::Truncated { .. })), "{error:?}");
    }
}
