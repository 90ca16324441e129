//! AES-GCM: known answers, and every instruction set against the definition.

#[path = "common/levels.rs"]
mod levels;
#[path = "common/numbers.rs"]
mod numbers;

use inout::InOutBuf;
use lanecrypt_kernels::aes::AesForward;
use lanecrypt_kernels::gcm::AesGcm;
use lanecrypt_kernels::{BlockEncrypt, Isa, ghash};
use levels::levels;
use numbers::{Numbers, cases, hex};

/// D. McGrew and J. Viega, "The Galois/Counter Mode of Operation", appendix B, test cases 1, 2
/// and 4.
#[test]
fn published() {
    let key = "feffe9928665731c6d6a8f9467308308";
    let nonce = "cafebabefacedbaddecaf888";
    let text = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
        1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
    let sealed = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
        21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091";
    let aad = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
    let zeros = "00000000000000000000000000000000";
    let cases = [
        (zeros, &zeros[..24], "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"),
        (
            zeros,
            &zeros[..24],
            "",
            zeros,
            "0388dace60b6a392f328c2b971b2fe78",
            "ab6e47d42cec13bdf53a67b21257bddf",
        ),
        (key, nonce, aad, text, sealed, "5bc94fbc3221a5db94fae95ae7121a47"),
    ];
    for (key, nonce, aad, text, sealed, tag) in cases {
        for isa in levels() {
            let gcm = AesGcm::<128>::new(isa, &hex(key).try_into().expect("16 bytes"));
            let nonce = hex(nonce).try_into().expect("12 bytes");
            let mut data = hex(text);
            assert_eq!(
                gcm.seal(&nonce, &hex(aad), (&mut data[..]).into())[..],
                hex(tag),
                "{isa:?}"
            );
            assert_eq!(data, hex(sealed), "{isa:?}");
            assert_eq!(
                gcm.open(&nonce, &hex(aad), (&mut data[..]).into())[..],
                hex(tag),
                "{isa:?}"
            );
            assert_eq!(data, hex(text), "{isa:?}");
        }
    }
}

/// Section 7.1, by the portable block cipher and hash: ciphertext and tag.
fn defined<C: BlockEncrypt<16>>(
    cipher: &C,
    nonce: &[u8; 12],
    aad: &[u8],
    text: &[u8],
) -> (Vec<u8>, [u8; 16]) {
    let block = |counter: u32| {
        let mut block = [[0; 16]];
        block[0][..12].copy_from_slice(nonce);
        block[0][12..].copy_from_slice(&counter.to_be_bytes());
        cipher.encrypt((&mut block[..]).into());
        block[0]
    };
    let mut sealed = text.to_vec();
    for (part, counter) in sealed.chunks_mut(16).zip(2..) {
        part.iter_mut().zip(block(counter)).for_each(|(byte, mask)| *byte ^= mask);
    }
    let mut h = [[0; 16]];
    cipher.encrypt((&mut h[..]).into());
    let hash = ghash::Key::new(Isa::PORTABLE, &h[0]);
    let mut sum = [0; 16];
    for part in aad.chunks(16).chain(sealed.chunks(16)) {
        let mut padded = [0; 16];
        padded[..part.len()].copy_from_slice(part);
        hash.absorb(&mut sum, &[padded]);
    }
    let bits = |bytes: &[u8]| 8 * bytes.len() as u128;
    hash.absorb(&mut sum, &[(bits(aad) << 64 | bits(&sealed)).to_be_bytes()]);
    sum.iter_mut().zip(block(1)).for_each(|(byte, mask)| *byte ^= mask);
    (sealed, sum)
}

macro_rules! key_size {
    ($check:ident, $bits:literal) => {
        /// Seals and opens one message at every level, apart and in place; nothing but its bytes
        /// may change.
        fn $check(numbers: &mut Numbers, aad: usize, length: usize) {
            const GUARD: usize = 70;
            let key = numbers.array::<{ $bits / 8 }>();
            let nonce = numbers.array();
            let (aad, text) = (numbers.bytes(aad), numbers.bytes(length));
            let cipher = AesForward::<$bits>::new(Isa::PORTABLE, &key);
            let (sealed, tag) = defined(&cipher, &nonce, &aad, &text);
            let offset = numbers.below(GUARD);
            for isa in levels() {
                let place = format!("{} bits, {} and {length} bytes, {isa:?}", $bits, aad.len());
                let gcm = AesGcm::<$bits>::new(isa, &key);
                let mut buffer = vec![0x5a; offset + length + GUARD];
                let data = &mut buffer[offset..offset + length];
                let apart = InOutBuf::new(&text, data).expect("equal lengths");
                assert_eq!(gcm.seal(&nonce, &aad, apart), tag, "{place}");
                assert_eq!(*data, sealed, "{place}");
                assert_eq!(gcm.open(&nonce, &aad, data.into()), tag, "{place}");
                assert_eq!(buffer[offset..offset + length], text, "{place}");
                let data = &mut buffer[offset..offset + length];
                assert_eq!(gcm.seal(&nonce, &aad, data.into()), tag, "{place}");
                assert_eq!(*data, sealed, "{place}");
                let apart = InOutBuf::new(&sealed, data).expect("equal lengths");
                assert_eq!(gcm.open(&nonce, &aad, apart), tag, "{place}");
                assert_eq!(*data, text, "{place}");
                let outside = buffer[..offset].iter().chain(&buffer[offset + length..]);
                assert!(outside.into_iter().all(|&b| b == 0x5a), "bytes outside changed, {place}");
            }
        }
    };
}

key_size!(check128, 128);
key_size!(check192, 192);
key_size!(check256, 256);

#[test]
fn every_length() {
    let mut numbers = Numbers(1);
    for length in 0..=1000 {
        check128(&mut numbers, 8, length);
    }
    for aad in 0..=400 {
        check256(&mut numbers, aad, 20);
    }
}

#[test]
fn random() {
    let mut numbers = Numbers(2);
    for _ in 0..cases(200) {
        let longest = if numbers.below(8) == 0 { 9000 } else { 600 };
        let (aad, length) = (numbers.below(100), numbers.below(longest));
        match numbers.below(3) {
            0 => check128(&mut numbers, aad, length),
            1 => check192(&mut numbers, aad, length),
            _ => check256(&mut numbers, aad, length),
        }
    }
}

#[test]
fn debug_tells_no_secret() {
    let shown = format!("{:?}", AesGcm::<128>::new(Isa::PORTABLE, &[0xab; 16]));
    assert_eq!(shown, "AesGcm { bits: 128, isa: Isa(Portable), .. }");
}
