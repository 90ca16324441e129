//! ChaCha: known answers, and every instruction set against the portable kernel.

use crate::streams::{Stream, random_case};
use lanecrypt_kernels::chacha::{ChaCha, Counter64, Form, Ietf, Key};
use lanecrypt_kernels::{Isa, Seek, StreamCore};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// Forms with a nonce that can be made from numbers.
trait TestForm: Form {
    /// One past the last block.
    const END: u128;
    fn nonce(numbers: &mut Numbers) -> Self::Nonce;
}

impl TestForm for Counter64 {
    const END: u128 = 1 << 64;
    fn nonce(numbers: &mut Numbers) -> [u8; 8] {
        numbers.array()
    }
}

impl TestForm for Ietf {
    const END: u128 = 1 << 32;
    fn nonce(numbers: &mut Numbers) -> [u8; 12] {
        numbers.array()
    }
}

struct Case<const R: usize, F: Form> {
    key: Key,
    nonce: F::Nonce,
}

impl<const R: usize, F: TestForm> Stream for Case<R, F> {
    type Core = ChaCha<R, F>;
    const NAME: &str = match (R, F::END >> 64) {
        (8, 0) => "ChaCha8 of RFC 8439",
        (12, 0) => "ChaCha12 of RFC 8439",
        (20, 0) => "ChaCha20 of RFC 8439",
        (8, _) => "ChaCha8",
        (12, _) => "ChaCha12",
        _ => "ChaCha20",
    };
    const END: u128 = F::END;

    fn random(numbers: &mut Numbers) -> Self {
        let key = if numbers.below(4) == 0 {
            Key::from(numbers.array::<16>())
        } else {
            Key::from(numbers.array::<32>())
        };
        Self { key, nonce: F::nonce(numbers) }
    }

    fn core(&self, isa: Isa) -> ChaCha<R, F> {
        ChaCha::new(isa, &self.key, &self.nonce)
    }
}

/// RFC 8439, section 2.4.2.
#[test]
fn rfc_8439_encryption() {
    let key = Key::from(core::array::from_fn::<u8, 32, _>(|i| u8::try_from(i).expect("small")));
    let nonce = [0, 0, 0, 0, 0, 0, 0, 0x4a, 0, 0, 0, 0];
    let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for \
        the future, sunscreen would be it.";
    let expected = hex("6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0b
        f91b65c5524733ab8f593dabcd62b3571639d624e65152ab8f530c359f0861d8
        07ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736
        5af90bbf74a35be6b40b8eedf2785e42874d");
    for isa in levels() {
        let mut data = text.to_vec();
        let mut core = ChaCha::<20, Ietf>::new(isa, &key, &nonce);
        core.seek(1);
        core.xor(data.as_mut_slice().into());
        assert_eq!(data, expected, "{isa:?}");
    }
}

/// RFC 8439, appendix A.1, vector 4: key 00ff00…00, block 2.
#[test]
fn rfc_8439_block() {
    let mut key = [0; 32];
    key[1] = 0xff;
    let expected = hex("72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca
        13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096");
    for isa in levels() {
        let case = Case::<20, Ietf> { key: Key::from(key), nonce: [0; 12] };
        let out = case.keystream(isa, 2, 64);
        assert_eq!(out, expected, "{isa:?}");
    }
}

/// The first block under zeros for each number of rounds and each key size: the test vectors of
/// draft-strombergson-chacha-test-vectors-01, TC1.
#[test]
fn zero_key_and_nonce() {
    fn check<const R: usize>(isa: Isa, short: &str, long: &str) {
        let of = |key| Case::<R, Counter64> { key, nonce: [0; 8] }.keystream(isa, 0, 32);
        assert_eq!(of(Key::from([0; 16])), hex(short), "{R} rounds, 16-byte key, {isa:?}");
        assert_eq!(of(Key::from([0; 32])), hex(long), "{R} rounds, 32-byte key, {isa:?}");
    }
    for isa in levels() {
        check::<8>(
            isa,
            "e28a5fa4a67f8c5defed3e6fb7303486aa8427d31419a729572d777953491120",
            "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e",
        );
        check::<12>(
            isa,
            "e1047ba9476bf8ff312c01b4345a7d8ca5792b0ad467313f1dc412b5fdce3241",
            "9bf49a6a0755f953811fce125f2683d50429c3bb49e074147e0089a52eae155f",
        );
        check::<20>(
            isa,
            "89670952608364fd00b2f90936f031c8e756e15dba04b8493d00429259b20f46",
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7",
        );
    }
}

#[test]
fn every_length() {
    crate::streams::every_length::<Case<12, Counter64>>();
}

#[test]
fn random_cases_agree_with_portable() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for case in 0..cases(2000) {
        match case % 6 {
            0 => random_case::<Case<8, Counter64>>(&mut numbers),
            1 => random_case::<Case<12, Counter64>>(&mut numbers),
            2 => random_case::<Case<20, Counter64>>(&mut numbers),
            3 => random_case::<Case<8, Ietf>>(&mut numbers),
            4 => random_case::<Case<12, Ietf>>(&mut numbers),
            _ => random_case::<Case<20, Ietf>>(&mut numbers),
        }
    }
}

#[test]
fn carry_in_every_lane() {
    crate::streams::carry_in_every_lane::<Case<8, Counter64>>();
}

#[test]
fn wide_counter_carries() {
    crate::streams::wide_counter_carries::<Case<20, Counter64>>();
}

/// Past its end the counter of the RFC's form begins again and leaves the nonce alone.
#[test]
fn narrow_counter_never_carries_into_the_nonce() {
    let case = Case::<20, Ietf> { key: Key::from([1; 32]), nonce: [2; 12] };
    for isa in levels() {
        for blocks in [2, 3, 5, 9, 13, 16, 40] {
            let last = u64::from(u32::MAX);
            let over = case.keystream(isa, last, 64 * blocks);
            let begin = case.keystream(isa, 0, 64 * (blocks - 1));
            assert_eq!(over[64..], begin, "{blocks} blocks, {isa:?}");
        }
    }
}

#[test]
fn remaining_is_exact_at_the_end() {
    let key = Key::from([0; 32]);
    let mut narrow = ChaCha::<8, Ietf>::new(Isa::PORTABLE, &key, &[0; 12]);
    assert_eq!(narrow.remaining(), 1 << 32);
    narrow.seek((1 << 32) - 2);
    assert_eq!(narrow.remaining(), 2);
    narrow.keystream(&mut [0; 1]);
    assert_eq!(narrow.remaining(), 1);
    narrow.keystream(&mut []);
    assert_eq!(narrow.remaining(), 1);
    narrow.keystream(&mut [0; 64]);
    assert_eq!(narrow.remaining(), 0);
    narrow.keystream(&mut []);
    assert_eq!(narrow.remaining(), 0);
    narrow.seek(5);
    assert_eq!(narrow.remaining(), (1 << 32) - 5);
    narrow.seek(1 << 32);
    assert_eq!(narrow.remaining(), 0);

    crate::streams::remaining_of_wide_counter::<Case<8, Counter64>>();
}

#[test]
fn debug_shows_no_key() {
    let key = Key::from([0xab; 32]);
    let core = ChaCha::<20>::new(Isa::PORTABLE, &key, &[0xab; 8]);
    let shown = format!("{key:?} {core:?}").to_lowercase();
    assert!(!shown.contains("abab") && !shown.contains("171") && !shown.contains("2880154539"));
}
