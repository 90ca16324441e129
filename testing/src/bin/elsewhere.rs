//! Checks ciphers, batches and random numbers on the system and processor that this program is
//! compiled for: `cargo xtask elsewhere` runs it under emulators. It ends at the first wrong
//! answer.

use lanecrypt_ciphers::hazmat::{RawCipher, Stream};
use lanecrypt_ciphers::{Algorithm, Cipher, Error, Isa};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::property::{nonce_sequence, process, seal_open, streaming_splits};
use lanecrypt_testing::vectors::{self, Answer, Vector, tagged};

/// The random inputs of each property. An emulator takes 20 times as long as a processor.
const CASES: usize = 300;

fn main() {
    let raw: usize = vectors::own().iter().map(check_raw).sum();
    let sealed = tagged::own().iter().map(check_sealed).count();
    assert!(raw > 1000 && sealed > 100, "only {raw} and {sealed} vectors");
    check_properties();
    check_random();
    let bits = usize::BITS;
    let order = if cfg!(target_endian = "big") { "big" } else { "little" };
    println!(
        "elsewhere: {}, {bits} bits, {order}-endian, {}: {} vectors, {} random cases",
        std::env::consts::ARCH,
        Isa::detect().level(),
        raw + sealed,
        4 * CASES,
    );
}

/// Returns the number of ciphertexts that were compared.
fn check_raw(line: &Vector) -> usize {
    let Vector { place, algorithm, key, nonce, skip, counter, .. } = line;
    let Answer::Text { plain, cipher } = &line.answer else { return 0 };
    let mut data = plain.clone();
    if algorithm.is_stream() {
        let stream = Stream::at_block(Isa::detect(), *algorithm, key, nonce, *counter);
        let mut stream = stream.expect(place);
        stream.seek(*skip).expect(place);
        stream.xor(&mut data[..]).expect(place);
    } else {
        let keyed = RawCipher::new(*algorithm, key).expect(place);
        keyed.encrypt(nonce, &mut data[..]).expect(place);
        assert_eq!(data, *cipher, "{place}");
        keyed.decrypt(nonce, &mut data[..]).expect(place);
        assert_eq!(data, *plain, "{place}: back");
        keyed.encrypt(nonce, &mut data[..]).expect(place);
    }
    assert_eq!(data, *cipher, "{place}");
    1
}

fn check_sealed(line: &tagged::Vector) {
    let tagged::Vector { place, algorithm, key, nonce, aad, ciphertext, tag, plain, .. } = line;
    let mut cipher = Cipher::new(*algorithm, key).expect(place);
    cipher.set_tag_length(tag.len()).expect(place);
    let mut data = ciphertext.clone();
    let opened = cipher.open_detached(nonce, aad, &mut data[..], tag);
    let Some(plain) = plain else {
        assert_eq!(opened, Err(Error::Authentication), "{place}");
        return;
    };
    assert_eq!((opened, &data), (Ok(()), plain), "{place}");
    let mut own = vec![0; tag.len()];
    cipher.seal_detached(nonce, aad, &mut data[..], &mut own).expect(place);
    assert_eq!((&data, &own), (ciphertext, tag), "{place}");
}

fn check_properties() {
    let mut numbers = Random(0x656c_7365_7768_6572);
    let mut input = Vec::new();
    for _ in 0..CASES {
        input.clear();
        let length = 40 + numbers.below(600);
        input.resize_with(length, || numbers.number().to_le_bytes()[0]);
        streaming_splits(&input);
        seal_open(&input);
        nonce_sequence(&input);
        process(&input);
    }
}

/// The system's bytes, or the buffered ones, come in full and are not the same twice.
fn check_random() {
    let mut seen = std::collections::HashSet::new();
    for length in [16, 17, 300, 5000] {
        let mut bytes = vec![0; length];
        lanecrypt_random::try_fill(&mut bytes).expect("the system has random bytes");
        for block in bytes.chunks_exact(16) {
            assert!(seen.insert(block.to_vec()), "16 random bytes came twice");
        }
    }
    let key: [u8; 32] = lanecrypt_random::bytes();
    assert!(Cipher::new(Algorithm::AES_256_GCM, &key).is_ok());
    assert!((10..20).contains(&lanecrypt_random::range(10..20)));
}
