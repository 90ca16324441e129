//! Messages that go on after a call that took them as whole ones, at every instruction set, against
//! the same messages in one call.

use inout::InOutBuf;
use lanecrypt_kernels::chacha20poly1305::ChaCha20Poly1305;
use lanecrypt_kernels::gcm::{self, AesGcm};
use lanecrypt_kernels::{Aead, Resume};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases};

/// A message and its answer, in one call.
struct Case<const KEY: usize> {
    key: [u8; KEY],
    nonce: [u8; 12],
    aad: Vec<u8>,
    text: Vec<u8>,
}

impl<const KEY: usize> Case<KEY> {
    fn new(numbers: &mut Numbers, aad: usize, length: usize) -> Self {
        let (key, nonce) = (numbers.array(), numbers.array());
        Self { key, nonce, aad: numbers.bytes(aad), text: numbers.bytes(length) }
    }

    /// In pieces that end at the cuts, the first of them in the call for whole messages. If there
    /// are cuts of the associated data, the message begins with nothing.
    fn check<C: Resume<Key = [u8; KEY], Nonce = [u8; 12]>>(
        &self,
        aad_cuts: &[usize],
        cuts: &[usize],
    ) {
        for isa in levels() {
            let cipher = C::new(isa, &self.key);
            let mut sealed = self.text.clone();
            let tag = cipher.seal(&self.nonce, &self.aad, (&mut sealed[..]).into());
            let place = format!(
                "{} and {} bytes, {aad_cuts:?}, {cuts:?}, {isa:?}",
                self.aad.len(),
                self.text.len()
            );
            for seal in [true, false] {
                let (from, to) = if seal { (&self.text, &sealed) } else { (&sealed, &self.text) };
                let mut partial = cipher.empty_state(&self.nonce);
                let mut out = vec![0x5a; from.len()];
                let mut data = InOutBuf::new(from, &mut out[..]).expect("equal lengths");
                let mut cuts = cuts.iter().map(|&cut| cut.min(from.len()));
                let mut at = 0;
                if aad_cuts.is_empty() {
                    let cut = cuts.next().unwrap_or(from.len());
                    let (piece, rest) = data.split_at(cut);
                    (data, at) = (rest, cut);
                    let first = if seal {
                        cipher.seal_resumable(&mut partial, &self.nonce, &self.aad, piece)
                    } else {
                        cipher.open_resumable(&mut partial, &self.nonce, &self.aad, piece)
                    };
                    assert_eq!(cipher.tag_of(&partial), first, "{place}");
                }
                let mut gone = 0;
                for &cut in aad_cuts {
                    let cut = cut.min(self.aad.len());
                    cipher.associate_more(&mut partial, &self.aad[gone..cut]);
                    gone = cut;
                }
                if !aad_cuts.is_empty() {
                    cipher.associate_more(&mut partial, &self.aad[gone..]);
                }
                // A copy continues independently.
                let mut copy = partial.clone();
                cipher.seal_more(&mut copy, (&mut [1; 40][..]).into());
                for cut in cuts.chain([from.len()]) {
                    let (piece, rest) = data.split_at(cut - at);
                    (data, at) = (rest, cut);
                    if seal {
                        cipher.seal_more(&mut partial, piece);
                    } else {
                        cipher.open_more(&mut partial, piece);
                    }
                }
                assert!(out == *to, "data, sealing {seal}, {place}");
                assert_eq!(cipher.tag_of(&partial), tag, "tag, sealing {seal}, {place}");
            }
        }
    }
}

fn every_cut<C: Resume<Key = [u8; KEY], Nonce = [u8; 12]>, const KEY: usize>() {
    let mut numbers = Numbers(1);
    for length in [0, 1, 15, 16, 17, 32, 47, 64, 65, 75, 128, 150] {
        for cut in 0..=length {
            let case = Case::<KEY>::new(&mut numbers, 13, length);
            case.check::<C>(&[], &[cut]);
            case.check::<C>(&[cut], &[cut, cut]);
            Case::<KEY>::new(&mut numbers, length, 20).check::<C>(&[cut], &[7]);
        }
    }
    // One byte at a time.
    let every: Vec<_> = (0..140).collect();
    Case::<KEY>::new(&mut numbers, 100, 140).check::<C>(&every[..100], &every);
    // Many pieces of the same size.
    for piece in [13, 16, 64, 100, 512, 520, 1499, 1500] {
        let every: Vec<_> = (piece..7000).step_by(piece).collect();
        Case::<KEY>::new(&mut numbers, 7, 7000).check::<C>(&[], &every);
    }
    // Rests of every number of blocks that a kernel takes in a way of its own.
    for length in (1..700).step_by(13).chain([1500, 4096, 8200, 9000, 16_384]) {
        for cut in [1, 16, 17, 64, 100, 256, 640, 1499, 4097] {
            Case::<KEY>::new(&mut numbers, 5, cut + length).check::<C>(&[], &[cut]);
        }
    }
}

fn random<C: Resume<Key = [u8; KEY], Nonce = [u8; 12]>, const KEY: usize>() {
    let mut numbers = Numbers(2);
    for _ in 0..cases(100) {
        let longest = if numbers.below(8) == 0 { 9000 } else { 900 };
        let (aad, length) = (numbers.below(100), numbers.below(longest));
        let case = Case::<KEY>::new(&mut numbers, aad, length);
        let cuts = |numbers: &mut Numbers, length: usize| {
            let count = numbers.below(10);
            let mut cuts: Vec<_> = (0..count).map(|_| numbers.below(length + 1)).collect();
            cuts.sort_unstable();
            cuts
        };
        let (aad_cuts, cuts) = (cuts(&mut numbers, aad), cuts(&mut numbers, length));
        case.check::<C>(&aad_cuts, &cuts);
    }
}

macro_rules! ciphers {
    ($($module:ident: $cipher:ty, $key:literal;)+) => {
        $(mod $module {
            use super::*;

            #[test]
            fn every_cut() {
                super::every_cut::<$cipher, $key>();
            }

            #[test]
            fn random() {
                super::random::<$cipher, $key>();
            }
        })+
    };
}

ciphers! {
    aes_128_gcm: AesGcm<128>, 16;
    aes_192_gcm: AesGcm<192>, 24;
    aes_256_gcm: AesGcm<256>, 32;
    chacha20_poly1305: ChaCha20Poly1305, 32;
}

/// The counter's 32 bits run over in the first piece, at its end, and in the second.
#[test]
fn the_counter_wraps() {
    let mut numbers = Numbers(3);
    for after in 0..=45_u32 {
        let (key, mut first) = (numbers.array(), numbers.array::<16>());
        let (aad, text) = (numbers.bytes(20), numbers.bytes(700));
        first[12..].copy_from_slice(&after.wrapping_neg().to_be_bytes());
        for isa in levels() {
            let gcm = AesGcm::<128>::new(isa, &key);
            let mut sealed = text.clone();
            let tag = gcm.seal_from(&first, &aad, (&mut sealed[..]).into());
            for cut in [1, 16, 100, 256, 400] {
                let mut data = text.clone();
                let (front, back) = data.split_at_mut(cut);
                let partial_tag = gcm.seal_from(&first, &aad, front.into());
                let mut partial = gcm::PartialState::after(&first, &partial_tag, 20, cut as u64);
                gcm.seal_more(&mut partial, back.into());
                assert!(data == sealed, "{after}, {cut}, {isa:?}");
                assert_eq!(gcm.tag_of(&partial), tag, "{after}, {cut}, {isa:?}");
            }
        }
    }
}

#[test]
fn debug_tells_no_secret() {
    for isa in levels() {
        let gcm = AesGcm::<128>::new(isa, &[0xab; 16]);
        assert_eq!(
            format!("{:?}", gcm.empty_state(&[0xab; 12])),
            "PartialState { aad: 0, data: 0, .. }"
        );
        let chacha = ChaCha20Poly1305::new(isa, &[0xab; 32]);
        assert_eq!(
            format!("{:?}", chacha.empty_state(&[0xab; 12])),
            "PartialState { sizes: [0, 0], .. }"
        );
    }
}
