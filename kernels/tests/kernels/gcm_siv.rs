//! AES-GCM-SIV: known answers, every instruction set against the portable kernel, and messages side
//! by side against each alone.

use inout::InOutBuf;
use lanecrypt_kernels::gcm_siv::AesGcmSiv;
use lanecrypt_kernels::{Aead, AeadLanes, Isa};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

use crate::places::{Place, lengths, wrong};

/// RFC 8452, appendix C.2 and C.3: the last two have a counter that wraps.
#[test]
fn published() {
    let zeros = "0000000000000000000000000000000000000000000000000000000000000000";
    let key = "0100000000000000000000000000000000000000000000000000000000000000";
    let nonce = "030000000000000000000000";
    let wrapped = "ffffffff000000000000000000000000";
    for (key, nonce, text, sealed, tag) in [
        (key, nonce, "", "", "07f5f4169bbf55a8400cd47ea6fd400f"),
        (key, nonce, "0100000000000000", "c2ef328e5c71c83b", "843122130f7364b761e0b97427e3df28"),
        (
            zeros,
            &zeros[..24],
            "000000000000000000000000000000004db923dc793ee6497c76dcc03a98e108",
            "f3f80f2cf0cb2dd9c5984fcda908456cc537703b5ba70324a6793a7bf218d3ea",
            wrapped,
        ),
        (
            zeros,
            &zeros[..24],
            "eb3640277c7ffd1303c7a542d02d3e4c0000000000000000",
            "18ce4f0b8cb4d0cac65fea8f79257b20888e53e72299e56d",
            wrapped,
        ),
    ] {
        for isa in levels() {
            let siv = AesGcmSiv::<256>::new(isa, &hex(key).try_into().expect("32 bytes"));
            let nonce = hex(nonce).try_into().expect("12 bytes");
            let tag = hex(tag).try_into().expect("16 bytes");
            let mut data = hex(text);
            assert_eq!(siv.seal(&nonce, &[], (&mut data[..]).into()), tag, "{isa:?}");
            assert_eq!(data, hex(sealed), "{isa:?}");
            assert_eq!(siv.open(&nonce, &[], (&mut data[..]).into(), &tag), tag, "{isa:?}");
            assert_eq!(data, hex(text), "{isa:?}");
        }
    }
}

macro_rules! key_size {
    ($bits:literal, $message:ident, $batch:ident) => {
        /// One message at every level, in place or apart; nothing but its bytes may change.
        fn $message(numbers: &mut Numbers, aad: usize, length: usize) {
            let (key, nonce) = (numbers.array(), numbers.array());
            let (aad, text) = (numbers.bytes(aad), numbers.bytes(length));
            let siv = AesGcmSiv::<$bits>::new(Isa::PORTABLE, &key);
            let mut sealed = text.clone();
            let tag = siv.seal(&nonce, &aad, (&mut sealed[..]).into());
            let other = numbers.array();
            let mut forged = sealed.clone();
            let right = siv.open(&nonce, &aad, (&mut forged[..]).into(), &other);
            for isa in levels() {
                let at = format!("{isa:?}: {length} bytes, {} associated", aad.len());
                let siv = AesGcmSiv::<$bits>::new(isa, &key);
                let mut place = Place::new(numbers, &text);
                assert_eq!(siv.seal(&nonce, &aad, place.data()), tag, "{at}");
                assert_eq!(wrong(&[place], &[sealed.clone()]), None, "{at}");
                let mut place = Place::new(numbers, &sealed);
                assert_eq!(siv.open(&nonce, &aad, place.data(), &tag), tag, "{at}");
                assert_eq!(wrong(&[place], core::slice::from_ref(&text)), None, "{at}");
                // Under another tag other data come out, which have another tag.
                let mut out = vec![0; length];
                let data = InOutBuf::new(&sealed, &mut out).expect("equal lengths");
                assert_eq!(siv.open(&nonce, &aad, data, &other), right, "{at}");
                assert_eq!(out, forged, "{at}");
            }
        }

        /// A batch at every level, both ways, with keys of several levels among them.
        fn $batch(numbers: &mut Numbers) {
            let lengths = lengths(numbers);
            let keys: Vec<[u8; $bits / 8]> = (0..5).map(|_| numbers.array()).collect();
            // Messages of one length without associated data have a way of their own.
            let is_bare = numbers.below(2) == 0;
            let messages: Vec<_> = lengths
                .into_iter()
                .map(|length| {
                    let aad = [0, 13, 16, 100, 1500][numbers.below(5) * numbers.below(2)];
                    let aad = if is_bare { 0 } else { aad };
                    let (aad, text) = (numbers.bytes(aad), numbers.bytes(length));
                    (numbers.below(5), numbers.array::<12>(), aad, text)
                })
                .collect();
            let texts: Vec<_> = messages.iter().map(|(.., text)| text.clone()).collect();
            let (sealed, tags): (Vec<_>, Vec<_>) = messages
                .iter()
                .map(|(key, nonce, aad, text)| {
                    let mut data = text.clone();
                    let siv = AesGcmSiv::<$bits>::new(Isa::PORTABLE, &keys[*key]);
                    let tag = siv.seal(nonce, aad, (&mut data[..]).into());
                    (data, tag)
                })
                .unzip();
            // Some of the tags that come are wrong: the text is then another, and so is its tag.
            let forged: Vec<[u8; 16]> = tags
                .iter()
                .map(|tag| {
                    let mut tag = *tag;
                    tag[numbers.below(16)] ^= [0, 0, 1, 0x80][numbers.below(4)];
                    tag
                })
                .collect();
            let (opened, wanted): (Vec<_>, Vec<_>) = messages
                .iter()
                .zip(&sealed)
                .zip(&forged)
                .map(|(((key, nonce, aad, _), sealed), came)| {
                    let mut data = sealed.clone();
                    let siv = AesGcmSiv::<$bits>::new(Isa::PORTABLE, &keys[*key]);
                    let tag = siv.open(nonce, aad, (&mut data[..]).into(), came);
                    (data, tag)
                })
                .unzip();
            for isa in levels() {
                let mixed = numbers.below(8) == 0;
                let level = |at: usize| if mixed && at == 3 { Isa::PORTABLE } else { isa };
                let ciphers: Vec<_> = (0..)
                    .zip(&keys)
                    .map(|(at, key)| AesGcmSiv::<$bits>::new(level(at), key))
                    .collect();
                let none = vec![[0; 16]; tags.len()];
                for (seal, from, came, to, right) in [
                    (true, &texts, &none, &sealed, &tags),
                    (false, &sealed, &tags, &texts, &tags),
                    (false, &sealed, &forged, &opened, &wanted),
                ] {
                    let mut places: Vec<_> =
                        from.iter().map(|text| Place::new(numbers, text)).collect();
                    let mut made = came.clone();
                    let mut lanes: Vec<_> = messages
                        .iter()
                        .zip(places.iter_mut().zip(&mut made))
                        .map(|((key, nonce, aad, _), (place, tag))| {
                            ciphers[*key].lane(nonce, aad, place.data(), tag)
                        })
                        .collect();
                    if seal {
                        AesGcmSiv::<$bits>::seal_lanes(&mut lanes);
                    } else {
                        AesGcmSiv::<$bits>::open_lanes(&mut lanes);
                    }
                    drop(lanes);
                    assert_eq!(wrong(&places, to), None, "{isa:?}, {seal}");
                    assert_eq!(made, *right, "{isa:?}, {seal}");
                }
            }
        }
    };
}

key_size!(128, message128, batch128);
key_size!(256, message256, batch256);

#[test]
fn every_length_gives_the_same_at_every_level() {
    let mut numbers = Numbers(1);
    for length in (0..=300).chain([383, 384, 385, 1024, 1500, 4111]) {
        message128(&mut numbers, length * 31 % 53, length);
        message256(&mut numbers, length * 17 % 43, length);
    }
    for aad in (53..=300).step_by(7).chain([1023, 1024, 1500]) {
        message128(&mut numbers, aad, aad * 5 % 70);
        message256(&mut numbers, aad, 300);
    }
}

#[test]
fn random_messages_give_the_same_at_every_level() {
    let mut numbers = Numbers(2);
    for case in 0..cases(300) {
        let (aad, length) = (numbers.below([20, 400][case % 2]), numbers.below(3000));
        message128(&mut numbers, aad, length);
        message256(&mut numbers, aad, length);
    }
}

#[test]
fn messages_side_by_side_are_what_each_is_alone() {
    let mut numbers = Numbers(3);
    for _ in 0..cases(60) {
        batch128(&mut numbers);
        batch256(&mut numbers);
    }
    AesGcmSiv::<128>::seal_lanes(&mut []);
    AesGcmSiv::<256>::open_lanes(&mut []);
}
