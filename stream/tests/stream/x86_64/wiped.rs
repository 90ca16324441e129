//! What encryptors and decryptors leave in memory that they free: no plaintext.

use std::io::{Read as _, Write, sink};

use lanecrypt_stream::{Algorithm, Cipher, Decryptor, Encryptor, Stream};
use lanecrypt_testing::keeper::Keeper;
use lanecrypt_testing::residue::{Residue, Secrets, leaks};

#[global_allocator]
static ALLOCATOR: Keeper = Keeper;

/// Two files; no byte of the one is that of the other in the same place.
const FILES: [&[u8]; 2] = [
    b"eighty bytes of a file that nobody else may read, more than one chunk, less than",
    b"ANOTHER*FILE*OF*THE*SAME*LENGTH*THAT*NOBODY*IS*TO*READ*BY*NONE*HERE*IT*ENDS*TOO*",
];
const CHUNK: usize = 64;

/// Whether words of the plaintext are left in freed memory.
fn is_left(call: impl Fn(&[u8])) -> bool {
    let mut secrets = Secrets::default();
    secrets.add(FILES, <[u8]>::to_vec);
    let leaks = leaks(&secrets, FILES, |file| Residue::of(|| call(file)));
    leaks.iter().any(|leak| (leak.0, leak.1) == ("words", "freed memory"))
}

fn stream() -> Stream<Cipher> {
    let cipher = Cipher::new(Algorithm::AES_256_GCM, &[1; 32]).expect("a key");
    Stream::new(cipher, &[2; 7]).expect("a prefix")
}

fn encryptor<W: Write>(inner: W) -> Encryptor<W> {
    Encryptor::with_chunk_size(stream(), CHUNK, b"", inner).expect("a size")
}

fn sealed(file: &[u8]) -> Vec<u8> {
    let mut encryptor = encryptor(Vec::new());
    encryptor.write_all(file).expect("memory");
    encryptor.finish().expect("memory")
}

#[test]
fn what_is_held_back_is_wiped() {
    assert!(!is_left(|file| {
        for end in [10, CHUNK, file.len()] {
            // Not to a vector: where it has not written yet lies what was freed before.
            let mut encryptors = [encryptor(sink()), encryptor(sink())];
            for piece in file[..end].chunks(7) {
                encryptors.iter_mut().for_each(|one| one.write_all(piece).expect("it takes all"));
            }
            let [finished, _dropped] = encryptors;
            finished.finish().expect("it takes all");
        }
    }));
}

#[test]
fn what_is_not_given_out_yet_is_wiped() {
    let sealed = FILES.map(sealed);
    assert!(!is_left(|file| {
        let which = usize::from(file == FILES[1]);
        for bytes in [1, CHUNK, CHUNK + 1] {
            let mut decryptor =
                Decryptor::with_chunk_size(stream(), CHUNK, b"", &sealed[which][..])
                    .expect("valid");
            let mut out = [0; 1];
            for expected in &file[..bytes] {
                decryptor.read_exact(&mut out).expect("it is authentic");
                assert_eq!(out[0], *expected);
            }
        }
    }));
}

/// What the tests above must not find is found where it is left on purpose.
#[test]
fn what_is_left_is_found() {
    assert!(is_left(|file| drop(core::hint::black_box(file.to_vec()))));
}
