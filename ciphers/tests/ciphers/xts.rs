//! XTS: sectors, and what is refused.

use lanecrypt_ciphers::hazmat::{Padding, RawCipher};
use lanecrypt_ciphers::{Algorithm, Error, InOutBuf};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::Numbers;

const BOTH: [Algorithm; 2] = [Algorithm::AES_128_XTS, Algorithm::AES_256_XTS];

fn key(algorithm: Algorithm) -> Vec<u8> {
    Numbers(9).bytes(algorithm.key_lengths().longest())
}

/// Data units one by one, and the vectors show that these are right.
#[test]
fn sectors_are_data_units_with_counted_tweaks() {
    let mut numbers = Numbers(1);
    for (isa, algorithm) in levels().flat_map(|isa| BOTH.map(|algorithm| (isa, algorithm))) {
        let cipher = RawCipher::with_isa(isa, algorithm, &key(algorithm)).expect("a good key");
        for (first, size, count) in [
            (0, 512, 9),
            (u128::from(u64::MAX), 4096, 3),
            (u128::MAX - 3, 20, 70),
            (5, 16, 33),
            (1 << 77, 528, 2),
            (6, 512, 0),
        ] {
            let number = numbers.below(4) as u128;
            let (first, text) = (first ^ number, numbers.bytes(size * count));
            let mut expected = text.clone();
            let mut number = first;
            for sector in expected.chunks_mut(size) {
                cipher.encrypt(&number.to_le_bytes(), sector).expect("a data unit");
                number = number.wrapping_add(1);
            }
            let mut data = text.clone();
            cipher.encrypt_sectors(first, size, &mut data[..]).expect("whole sectors");
            assert_eq!(data, expected, "{algorithm} {isa:?} {size}");
            cipher.decrypt_sectors(first, size, &mut data[..]).expect("whole sectors");
            assert_eq!(data, text, "{algorithm} {isa:?} {size}");
            let apart = InOutBuf::new(&expected, &mut data).expect("equal lengths");
            cipher.decrypt_sectors(first, size, apart).expect("whole sectors");
            assert_eq!(data, text, "{algorithm} {isa:?} {size} apart");
        }
    }
}

/// The longest data unit at the highest level and the next one, which differ in all but the result.
#[test]
fn the_longest_data_unit() {
    let algorithm = Algorithm::AES_128_XTS;
    let text = vec![0x5c; 1 << 24];
    let mut levels: Vec<_> = levels().collect();
    levels.retain(|isa| isa.has(lanecrypt_ciphers::Level::AesNi));
    let mut all = levels.into_iter().map(|isa| {
        let cipher = RawCipher::with_isa(isa, algorithm, &key(algorithm)).expect("a good key");
        let mut data = text.clone();
        cipher.encrypt(&[3; 16], &mut data[..]).expect("the longest");
        let sealed = data.clone();
        cipher.decrypt(&[3; 16], &mut data[..]).expect("the longest");
        assert!(data == text, "{isa:?}");
        sealed
    });
    let Some(first) = all.next() else { return };
    assert!(all.all(|other| other == first));
    let mut longer = vec![0; (1 << 24) + 1];
    let cipher = RawCipher::new(algorithm, &key(algorithm)).expect("a good key");
    assert_eq!(cipher.encrypt(&[3; 16], &mut longer[..]), Err(Error::DataLength));
    assert_eq!(cipher.decrypt(&[3; 16], &mut longer[..]), Err(Error::DataLength));
    assert_eq!(cipher.encrypt_sectors(0, longer.len(), &mut longer[..]), Err(Error::DataLength));
    assert!(longer.iter().all(|&byte| byte == 0));
}

#[test]
fn equal_halves_are_weak_and_differ_by_one_bit_are_not() {
    for algorithm in BOTH {
        let length = algorithm.key_lengths().longest();
        let good = key(algorithm);
        let mut weak = good[..length / 2].repeat(2);
        let refused = RawCipher::new(algorithm, &weak).expect_err("a weak key");
        assert_eq!(refused, Error::WeakKey);

        let mut cipher = RawCipher::new(algorithm, &good).expect("a good key");
        let sealed = |cipher: &RawCipher| {
            let mut data = [7; 40];
            cipher.encrypt(&[1; 16], &mut data[..]).expect("a data unit");
            data
        };
        let before = sealed(&cipher);
        assert_eq!(cipher.set_key(&weak), Err(refused));
        assert_eq!(sealed(&cipher), before, "a refused key has changed something");
        for bit in 0..8 * length {
            weak[bit / 8] ^= 1 << (bit % 8);
            assert!(RawCipher::new(algorithm, &weak).is_ok(), "bit {bit}");
            assert_eq!(cipher.set_key(&weak), Ok(()), "bit {bit}");
            weak[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn what_is_refused() {
    for algorithm in BOTH {
        let cipher = RawCipher::new(algorithm, &key(algorithm)).expect("a good key");
        let iv = [2; 16];
        let mut data = [0xa5; 100];
        for length in 0..16 {
            let data = &mut data[..length];
            assert_eq!(cipher.encrypt(&iv, &mut *data), Err(Error::DataLength));
            assert_eq!(cipher.decrypt(&iv, &mut *data), Err(Error::DataLength));
        }
        for length in (0..40).filter(|&length| length != 16) {
            let iv = &[2; 40][..length];
            assert_eq!(cipher.encrypt(iv, &mut data[..]), Err(Error::NonceLength));
            assert_eq!(cipher.decrypt(iv, &mut data[..]), Err(Error::NonceLength));
        }
        for size in [0, 1, 15, 16, 30, 99, (1 << 24) + 1, usize::MAX] {
            let refused = Err(Error::DataLength);
            assert_eq!(cipher.encrypt_sectors(0, size, &mut data[..]), refused, "{size}");
            assert_eq!(cipher.decrypt_sectors(0, size, &mut data[..]), refused, "{size}");
        }
        let refused = Error::Unsupported;
        for padding in [Padding::None, Padding::Pkcs7] {
            assert_eq!(cipher.encryptor(&iv, padding).map(drop), Err(refused));
            assert_eq!(cipher.decryptor(&iv, padding).map(drop), Err(refused));
        }
        assert_eq!(cipher.encryptor_at_block(&iv, 0).map(drop), Err(refused));
        assert_eq!(cipher.decryptor_at_block(&iv, 1).map(drop), Err(refused));
        assert_eq!(cipher.encrypt_padded(&iv, &[1; 20], &mut data), Err(refused));
        assert_eq!(cipher.encrypt_padded_in_place(&iv, &mut data, 20), Err(refused));
        assert_eq!(cipher.decrypt_padded(&iv, &[1; 32], &mut data), Err(refused));
        assert_eq!(cipher.decrypt_padded_in_place(&iv, &mut data), Err(refused));
        assert_eq!(data, [0xa5; 100]);
    }
    for algorithm in [Algorithm::AES_256_CBC, Algorithm::AES_128_CTR, Algorithm::NULL] {
        let key = key(algorithm);
        let cipher = RawCipher::new(algorithm, &key).expect("a good key");
        let mut data = [0xa5; 64];
        assert_eq!(cipher.encrypt_sectors(0, 32, &mut data[..]), Err(Error::Unsupported));
        assert_eq!(cipher.decrypt_sectors(0, 32, &mut data[..]), Err(Error::Unsupported));
        assert_eq!(data, [0xa5; 64]);
    }
}

/// The masks of two places differ, and so does one block at both.
#[test]
fn equal_blocks_do_not_show() {
    let cipher = RawCipher::new(BOTH[0], &key(BOTH[0])).expect("a good key");
    let mut data = vec![0; 1 << 16];
    cipher.encrypt_sectors(0, 4096, &mut data[..]).expect("whole sectors");
    let (blocks, _) = data.as_chunks::<16>();
    let distinct: std::collections::BTreeSet<_> = blocks.iter().collect();
    assert_eq!(distinct.len(), blocks.len());
}
