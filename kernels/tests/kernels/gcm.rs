//! AES-GCM: known answers, and every instruction set against the definition and another
//! implementation.

use aes_gcm::aead::{Aead as _, KeyInit, Payload};
use inout::InOutBuf;
use lanecrypt_kernels::aes::AesForward;
use lanecrypt_kernels::gcm::AesGcm;
use lanecrypt_kernels::{Aead, BlockEncrypt, Incremental, Isa, ghash};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// D. McGrew and J. Viega, "The Galois/Counter Mode of Operation", appendix B, test cases 1, 2
/// and 4 to 6.
#[test]
fn published() {
    let key = "feffe9928665731c6d6a8f9467308308";
    let text = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
        1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
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
        (
            key,
            "cafebabefacedbaddecaf888",
            aad,
            text,
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
                21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
            "5bc94fbc3221a5db94fae95ae7121a47",
        ),
        (
            key,
            "cafebabefacedbad",
            aad,
            text,
            "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c7423
                73806900e49f24b22b097544d4896b424989b5e1ebac0f07c23f4598",
            "3612d2e79e3b0785561be14aaca2fccb",
        ),
        (
            key,
            "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728
                c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b",
            aad,
            text,
            "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca7
                01e4a9a4fba43c90ccdcb281d48c7c6fd62875d2aca417034c34aee5",
            "619cc5aefffe0bfa462af43c1699d050",
        ),
    ];
    for (key, nonce, aad, text, sealed, tag) in cases {
        for isa in levels() {
            let gcm = AesGcm::<128>::new(isa, &hex(key).try_into().expect("16 bytes"));
            let (first, aad) = (gcm.counter_block(&hex(nonce)), hex(aad));
            let mut data = hex(text);
            assert_eq!(
                gcm.seal_from(&first, &aad, (&mut data[..]).into())[..],
                hex(tag),
                "{isa:?}"
            );
            assert_eq!(data, hex(sealed), "{isa:?}");
            assert_eq!(
                gcm.open_from(&first, &aad, (&mut data[..]).into())[..],
                hex(tag),
                "{isa:?}"
            );
            assert_eq!(data, hex(text), "{isa:?}");
        }
    }
}

/// Section 7.1 from the first counter block on, by the portable block cipher and hash: ciphertext
/// and tag.
fn defined<C: BlockEncrypt<16>>(
    cipher: &C,
    first: &[u8; 16],
    aad: &[u8],
    text: &[u8],
) -> (Vec<u8>, [u8; 16]) {
    let (fixed, counter) = first.split_at(12);
    let counter = u32::from_be_bytes(counter.try_into().expect("4 bytes"));
    let block = |i: u32| {
        let counter = counter.wrapping_add(i).to_be_bytes();
        let mut block = [[fixed, &counter].concat().try_into().expect("16 bytes")];
        cipher.encrypt((&mut block[..]).into());
        block[0]
    };
    let mut sealed = text.to_vec();
    for (part, i) in sealed.chunks_mut(16).zip(1..) {
        part.iter_mut().zip(block(i)).for_each(|(byte, mask)| *byte ^= mask);
    }
    let mut sum = hashed(cipher, &[aad, &sealed], [aad.len(), text.len()]);
    sum.iter_mut().zip(block(0)).for_each(|(byte, mask)| *byte ^= mask);
    (sealed, sum)
}

/// The hash of strings, each filled up to whole blocks, and of two lengths.
fn hashed<C: BlockEncrypt<16>>(cipher: &C, strings: &[&[u8]], lengths: [usize; 2]) -> [u8; 16] {
    let mut h = [[0; 16]];
    cipher.encrypt((&mut h[..]).into());
    let hash = ghash::Key::new(Isa::PORTABLE, &h[0]);
    let mut sum = [0; 16];
    for part in strings.iter().flat_map(|string| string.chunks(16)) {
        let mut padded = [0; 16];
        padded[..part.len()].copy_from_slice(part);
        hash.absorb(&mut sum, &[padded]);
    }
    let [high, low] = lengths.map(|length| 8 * length as u128);
    hash.absorb(&mut sum, &[(high << 64 | low).to_be_bytes()]);
    sum
}

/// Nonces, or first counter blocks.
#[derive(Clone, Copy)]
enum Start {
    Nonce,
    /// The counter is zero again after so many blocks, that of the tag being the first.
    Wrap(u32),
}

macro_rules! key_size {
    ($bits:literal, $check:ident, $pieces:ident) => {
        /// Seals and opens one message at every level, apart and in place; nothing but its bytes
        /// may change.
        fn $check(numbers: &mut Numbers, start: Start, aad: usize, length: usize) {
            const GUARD: usize = 70;
            let key = numbers.array::<{ $bits / 8 }>();
            let (mut first, aad, text) =
                (numbers.array(), numbers.bytes(aad), numbers.bytes(length));
            match start {
                Start::Nonce => first[12..].copy_from_slice(&1_u32.to_be_bytes()),
                Start::Wrap(after) => {
                    first[12..].copy_from_slice(&after.wrapping_neg().to_be_bytes())
                }
            }
            let nonce = first[..12].try_into().expect("12 bytes");
            let cipher = AesForward::<$bits>::new(Isa::PORTABLE, &key);
            let (sealed, tag) = defined(&cipher, &first, &aad, &text);
            let offset = numbers.below(GUARD);
            for isa in levels() {
                let place = format!("{} bits, {} and {length} bytes, {isa:?}", $bits, aad.len());
                let gcm = AesGcm::<$bits>::new(isa, &key);
                let seal = |data: InOutBuf<'_, '_, u8>| match start {
                    Start::Nonce => gcm.seal(nonce, &aad, data),
                    Start::Wrap(_) => gcm.seal_from(&first, &aad, data),
                };
                let open = |data: InOutBuf<'_, '_, u8>| match start {
                    Start::Nonce => gcm.open(nonce, &aad, data, &[0; 16]),
                    Start::Wrap(_) => gcm.open_from(&first, &aad, data),
                };
                let mut buffer = vec![0x5a; offset + length + GUARD];
                let data = &mut buffer[offset..offset + length];
                let apart = InOutBuf::new(&text, data).expect("equal lengths");
                assert_eq!(seal(apart), tag, "{place}");
                assert_eq!(*data, sealed, "{place}");
                assert_eq!(open((&mut *data).into()), tag, "{place}");
                assert_eq!(*data, text, "{place}");
                assert_eq!(seal((&mut *data).into()), tag, "{place}");
                assert_eq!(*data, sealed, "{place}");
                let apart = InOutBuf::new(&sealed, data).expect("equal lengths");
                assert_eq!(open(apart), tag, "{place}");
                assert_eq!(*data, text, "{place}");
                let outside = buffer[..offset].iter().chain(&buffer[offset + length..]);
                assert!(outside.into_iter().all(|&b| b == 0x5a), "bytes outside changed, {place}");
            }
        }

        /// Seals and opens one message in pieces at every level: `cuts` are the ends of all pieces
        /// but the last, of the associated data and of the data.
        fn $pieces(key: u8, first: &[u8; 16], [aad, text]: [&[u8]; 2], cuts: [&[usize]; 2]) {
            let key = [key; $bits / 8];
            let cipher = AesForward::<$bits>::new(Isa::PORTABLE, &key);
            let (sealed, tag) = defined(&cipher, first, aad, text);
            for isa in levels() {
                let place = format!(
                    "{} bits, {} and {} bytes, {cuts:?}, {isa:?}",
                    $bits,
                    aad.len(),
                    text.len()
                );
                let gcm = AesGcm::<$bits>::new(isa, &key);
                let mut data = text.to_vec();
                let mut message = gcm.begin_from(first);
                pieces(cuts[0], aad.len()).for_each(|i| message.associate(&gcm, &aad[i]));
                for i in pieces(cuts[1], text.len()) {
                    message.encrypt(&gcm, (&mut data[i]).into());
                }
                assert_eq!(message.tag(&gcm), tag, "{place}");
                assert_eq!(data, sealed, "{place}");
                let mut message = gcm.begin_from(first);
                pieces(cuts[0], aad.len()).for_each(|i| message.associate(&gcm, &aad[i]));
                data.fill(0x5a);
                for i in pieces(cuts[1], text.len()) {
                    let apart = InOutBuf::new(&sealed[i.clone()], &mut data[i]);
                    message.decrypt(&gcm, apart.expect("equal lengths"));
                }
                assert_eq!(message.tag(&gcm), tag, "{place}");
                assert_eq!(data, text, "{place}");
            }
        }
    };
}

key_size!(128, check128, pieces128);
key_size!(192, check192, pieces192);
key_size!(256, check256, pieces256);

fn pieces(cuts: &[usize], length: usize) -> impl Iterator<Item = core::ops::Range<usize>> {
    let begins = [0].into_iter().chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([length]);
    begins.zip(ends).map(|(begin, end)| begin..end)
}

#[test]
fn every_length() {
    let mut numbers = Numbers(1);
    for length in 0..=700 {
        check128(&mut numbers, Start::Nonce, 8, length);
        check192(&mut numbers, Start::Nonce, length % 23, length);
        check256(&mut numbers, Start::Nonce, 13, length);
    }
    for length in (701..2000).step_by(7).chain([4095, 4096, 4097, 8192, 9000, 16_400]) {
        check128(&mut numbers, Start::Nonce, 5, length);
        check256(&mut numbers, Start::Nonce, 0, length);
    }
    for aad in 0..=400 {
        check256(&mut numbers, Start::Nonce, aad, 20);
        check128(&mut numbers, Start::Nonce, aad, 300);
    }
    for aad in 0..=70 {
        for length in [0, 1, 16, 48, 49, 64, 113, 225] {
            check192(&mut numbers, Start::Nonce, aad, length);
        }
    }
}

/// The counter's 32 bits run over at every block of messages of several lengths, and just behind
/// them; what stands before them does not change.
#[test]
fn the_counter_wraps() {
    let mut numbers = Numbers(3);
    for after in 0..=70 {
        let whole = 16 * after as usize;
        for length in [whole.saturating_sub(17), whole.saturating_sub(16), whole, whole + 1, 600] {
            check128(&mut numbers, Start::Wrap(after), 3, length);
            check256(&mut numbers, Start::Wrap(after), 17, length);
        }
    }
    check192(&mut numbers, Start::Wrap(300), 0, 9000);
}

/// The first counter block for nonces of every length (section 7.1), by the definition; and that
/// `seal` takes the one for 96 bits.
#[test]
fn nonces_of_every_length() {
    let mut numbers = Numbers(4);
    for length in (0..=70).chain([128, 1000]) {
        let (key, nonce) = (numbers.array(), numbers.bytes(length));
        let cipher = AesForward::<256>::new(Isa::PORTABLE, &key);
        let first = match length {
            12 => [&nonce[..], &[0, 0, 0, 1]].concat().try_into().expect("16 bytes"),
            _ => hashed(&cipher, &[&nonce], [0, length]),
        };
        for isa in levels() {
            let gcm = AesGcm::<256>::new(isa, &key);
            assert_eq!(gcm.counter_block(&nonce), first, "{length} bytes, {isa:?}");
            if let Ok(nonce) = nonce[..].try_into() {
                let tag = gcm.seal_from(&first, &[], InOutBuf::from(&mut [][..]));
                assert_eq!(gcm.seal(nonce, &[], InOutBuf::from(&mut [][..])), tag, "{isa:?}");
            }
        }
    }
}

/// Another implementation, which shares nothing with this one.
#[test]
fn as_another_implementation_does() {
    macro_rules! key_size {
        ($bits:literal, $aes:ident, $numbers:ident) => {{
            let (key, nonce) = ($numbers.array::<{ $bits / 8 }>(), $numbers.array::<12>());
            let (aad, length) = ($numbers.below(60), $numbers.below(900));
            let (aad, text) = ($numbers.bytes(aad), $numbers.bytes(length));
            let other = aes_gcm::AesGcm::<aes::$aes, aes_gcm::aead::consts::U12>::new(&key.into());
            let payload = Payload { msg: &text, aad: &aad };
            let sealed = other.encrypt(&nonce.into(), payload).expect("a short message");
            for isa in levels() {
                let gcm = AesGcm::<$bits>::new(isa, &key);
                let mut data = text.clone();
                let tag = gcm.seal(&nonce, &aad, (&mut data[..]).into());
                assert_eq!([&data, &tag[..]].concat(), sealed, "{length} bytes, {isa:?}");
            }
        }};
    }
    let mut numbers = Numbers(5);
    for _ in 0..cases(100) {
        key_size!(128, Aes128, numbers);
        key_size!(192, Aes192, numbers);
        key_size!(256, Aes256, numbers);
    }
}

#[test]
fn every_cut() {
    let mut numbers = Numbers(6);
    let (first, bytes) = (numbers.array(), numbers.bytes(200));
    for length in [0, 1, 15, 16, 17, 32, 47, 64, 75] {
        for cut in 0..=length {
            let (short, long) = (&bytes[..length], &bytes[100..]);
            pieces128(1, &first, [&[], short], [&[], &[cut]]);
            pieces192(2, &first, [short, &bytes[..33]], [&[cut], &[]]);
            pieces256(3, &first, [long, short], [&[cut, cut], &[cut, cut]]);
        }
    }
    // One byte at a time.
    let every: Vec<_> = (0..100).collect();
    pieces128(4, &first, [&bytes[..100], &bytes[100..]], [&every, &every]);
    // Many blocks after a cut within one, past a part of the kernels, and a counter that wraps.
    let bytes = numbers.bytes(9000);
    let mut wrapping = first;
    wrapping[12..].copy_from_slice(&(u32::MAX - 100).to_be_bytes());
    for cuts in [&[5, 4101][..], &[4096], &[4097, 4098, 8200], &[16, 1600, 1617]] {
        pieces128(5, &first, [&bytes[..5000], &bytes], [cuts, cuts].map(|cuts| &cuts[..1]));
        pieces256(6, &wrapping, [&[], &bytes], [&[], cuts]);
    }
}

#[test]
fn random() {
    let mut numbers = Numbers(2);
    for _ in 0..cases(200) {
        let longest = if numbers.below(8) == 0 { 9000 } else { 600 };
        let (aad, length) = (numbers.below(100), numbers.below(longest));
        match numbers.below(3) {
            0 => check128(&mut numbers, Start::Nonce, aad, length),
            1 => check192(&mut numbers, Start::Nonce, aad, length),
            _ => check256(&mut numbers, Start::Nonce, aad, length),
        }
    }
}

#[test]
fn a_key_takes_the_place_of_another() {
    for isa in levels() {
        macro_rules! check {
            ($bits:literal) => {
                let mut gcm = AesGcm::<$bits>::new(isa, &[1; $bits / 8]);
                gcm.set_key(&[2; $bits / 8]);
                let other = AesGcm::<$bits>::new(isa, &[2; $bits / 8]);
                let (mut data, mut expected) = ([3; 500], [3; 500]);
                let tag = gcm.seal(&[4; 12], &[5; 40], (&mut data[..]).into());
                assert_eq!(tag, other.seal(&[4; 12], &[5; 40], (&mut expected[..]).into()));
                assert_eq!(data, expected, "{isa:?}");
            };
        }
        check!(128);
        check!(192);
        check!(256);
    }
}

#[test]
fn debug_tells_no_secret() {
    let gcm = AesGcm::<128>::new(Isa::PORTABLE, &[0xab; 16]);
    assert_eq!(format!("{gcm:?}"), "AesGcm { bits: 128, isa: Isa(Portable), .. }");
    let mut message = gcm.begin(&[0xab; 12]).expect("a nonce");
    message.encrypt(&gcm, (&mut [0xab; 20][..]).into());
    assert_eq!(format!("{message:?}"), "Message { aad: 0, data: 20, .. }");
}
