//! ChaCha: known answers, and every instruction set against the portable kernel.

use inout::InOutBuf;
use lanecrypt_kernels::chacha::{ChaCha, Counter64, Form, Ietf, Key};
use lanecrypt_kernels::{Isa, Level, Seek, StreamCore};

/// The levels of this processor.
fn levels() -> Vec<Isa> {
    let here = Isa::of_processor();
    let mut isas: Vec<_> = Level::ALL.into_iter().map(|level| here.at_most(level)).collect();
    isas.dedup();
    isas
}

/// Marsaglia's xorshift: the same cases in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).expect("31 bits") % bound
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| self.next().to_le_bytes()[7])
    }
}

/// Forms with a nonce that can be made from numbers.
trait TestForm: Form {
    /// One past the last block.
    const END: u128;
    fn nonce(numbers: &mut Numbers) -> Self::Nonce;
}

impl TestForm for Counter64 {
    const END: u128 = 1 << 64;
    fn nonce(numbers: &mut Numbers) -> [u8; 8] {
        numbers.bytes()
    }
}

impl TestForm for Ietf {
    const END: u128 = 1 << 32;
    fn nonce(numbers: &mut Numbers) -> [u8; 12] {
        numbers.bytes()
    }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).expect("hex")).collect();
    digits.chunks(2).map(|d| u8::try_from(d[0] << 4 | d[1]).expect("8 bits")).collect()
}

fn keystream<const R: usize, F: Form>(
    isa: Isa,
    key: &Key,
    nonce: &F::Nonce,
    block: u64,
    len: usize,
) -> Vec<u8> {
    let mut core = ChaCha::<R, F>::new(isa, key, nonce);
    core.seek(block);
    let mut out = vec![0xa5; len];
    core.keystream(&mut out);
    out
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
        let out = keystream::<20, Ietf>(isa, &Key::from(key), &[0; 12], 2, 64);
        assert_eq!(out, expected, "{isa:?}");
    }
}

/// The first block under zeros for each number of rounds and each key size: the test vectors of
/// draft-strombergson-chacha-test-vectors-01, TC1.
#[test]
fn zero_key_and_nonce() {
    fn check<const R: usize>(isa: Isa, short: &str, long: &str) {
        let of = |key: &Key| keystream::<R, Counter64>(isa, key, &[0; 8], 0, 32);
        assert_eq!(of(&Key::from([0; 16])), hex(short), "{R} rounds, 16-byte key, {isa:?}");
        assert_eq!(of(&Key::from([0; 32])), hex(long), "{R} rounds, 32-byte key, {isa:?}");
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

/// Each length up to a little over 1 KiB, and those around whole widths up to 5 KiB.
#[test]
fn every_length() {
    let mut numbers = Numbers(1);
    let (key, nonce) = (Key::from(numbers.bytes::<32>()), numbers.bytes());
    let expected = keystream::<12, Counter64>(Isa::PORTABLE, &key, &nonce, 7, 5200);
    let around = (1..=5).flat_map(|n| n * 1024 - 70..=n * 1024 + 70);
    for len in (0..=1100).chain(around) {
        for isa in levels() {
            let out = keystream::<12, Counter64>(isa, &key, &nonce, 7, len);
            assert_eq!(out, expected[..len], "{len} bytes, {isa:?}");
        }
    }
}

#[test]
fn random_cases_agree_with_portable() {
    let cases =
        std::env::var("LANECRYPT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2000u64);
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for case in 0..cases {
        match case % 6 {
            0 => random_case::<8, Counter64>(&mut numbers),
            1 => random_case::<12, Counter64>(&mut numbers),
            2 => random_case::<20, Counter64>(&mut numbers),
            3 => random_case::<8, Ietf>(&mut numbers),
            4 => random_case::<12, Ietf>(&mut numbers),
            _ => random_case::<20, Ietf>(&mut numbers),
        }
    }
}

/// One random key, nonce, place in the stream, offset and length, cut into requests; XOR in place
/// and from one buffer to another; nothing but the request's bytes may change.
fn random_case<const R: usize, F: TestForm>(numbers: &mut Numbers) {
    const GUARD: usize = 80;
    let key = if numbers.below(4) == 0 {
        Key::from(numbers.bytes::<16>())
    } else {
        Key::from(numbers.bytes::<32>())
    };
    let nonce = F::nonce(numbers);
    // No case runs past the last block, but many come close to the end or to a carry.
    let widest = 40;
    let near = |edge: u128, numbers: &mut Numbers| edge - 1 - numbers.below(widest) as u128;
    let start = match numbers.below(4) {
        0 => numbers.below(100) as u128,
        1 => near(1 << 32, numbers),
        2 => near(F::END, numbers),
        _ => u128::from(numbers.next()) % F::END,
    };
    let left = usize::try_from((F::END - start).min(widest as u128)).expect("at most 40");
    let len = if numbers.below(8) == 0 { 64 * left } else { numbers.below(64 * left + 1) };
    let start = u64::try_from(start).expect("before the end");

    let mut expected = vec![0; len];
    let mut core = ChaCha::<R, F>::new(Isa::PORTABLE, &key, &nonce);
    core.seek(start);
    for block in expected.chunks_mut(64) {
        core.keystream(block);
    }
    let text: Vec<u8> = (0..len).map(|_| numbers.bytes::<1>()[0]).collect();
    let cut = 64 * numbers.below(len / 64 + 1);
    let offset = numbers.below(GUARD);

    for isa in levels() {
        let place = format!("{R} rounds, {isa:?}, block {start}, {len} bytes cut at {cut}");
        let core = || {
            let mut core = ChaCha::<R, F>::new(isa, &key, &nonce);
            core.seek(start);
            core
        };
        let mut buffer = vec![0x5a; offset + len + GUARD];

        let mut writing = core();
        let (front, back) = buffer[offset..offset + len].split_at_mut(cut);
        writing.keystream(front);
        writing.keystream(back);
        assert_eq!(buffer[offset..offset + len], expected, "keystream, {place}");
        let used = len.div_ceil(64) as u128;
        let remaining = u64::try_from(F::END - u128::from(start) - used).unwrap_or(u64::MAX);
        assert_eq!(writing.remaining(), remaining, "{place}");

        let (front, back) = buffer[offset..offset + len].split_at_mut(cut);
        let mut apart = core();
        apart.xor(InOutBuf::new(&text[..cut], front).expect("equal lengths"));
        apart.xor(InOutBuf::new(&text[cut..], back).expect("equal lengths"));
        let xored = buffer[offset..].iter().zip(&text).map(|(a, b)| a ^ b);
        assert!(xored.eq(expected.iter().copied()), "XOR apart, {place}");

        core().xor((&mut buffer[offset..offset + len]).into());
        assert_eq!(buffer[offset..offset + len], text, "XOR in place, {place}");
        let outside = buffer[..offset].iter().chain(&buffer[offset + len..]);
        assert!(outside.into_iter().all(|&b| b == 0x5a), "bytes outside changed, {place}");
    }
}

/// The carry into the high word, at every place within every width.
#[test]
fn carry_in_every_lane() {
    let mut numbers = Numbers(3);
    let (key, nonce) = (Key::from(numbers.bytes::<32>()), numbers.bytes());
    for before in 0..=34 {
        let start = (9 << 32) - before;
        for blocks in [1, 2, 3, 4, 6, 8, 12, 16, 33] {
            let of = |isa| keystream::<8, Counter64>(isa, &key, &nonce, start, 64 * blocks);
            let expected = of(Isa::PORTABLE);
            for isa in levels() {
                assert_eq!(of(isa), expected, "{before} before the carry, {blocks}, {isa:?}");
            }
        }
    }
}

/// The blocks next to a carry of the 64-bit form are those that the counter's value names.
#[test]
fn wide_counter_carries() {
    let (key, nonce) = (Key::from([1; 32]), [2; 8]);
    for isa in levels() {
        let both = keystream::<20, Counter64>(isa, &key, &nonce, u64::from(u32::MAX), 128);
        let second = keystream::<20, Counter64>(isa, &key, &nonce, 1 << 32, 64);
        let first = keystream::<20, Counter64>(isa, &key, &nonce, 0, 64);
        assert_eq!(both[64..], second, "{isa:?}");
        assert_ne!(second, first, "{isa:?}");
    }
}

/// Past its end the counter of the RFC's form begins again and leaves the nonce alone.
#[test]
fn narrow_counter_never_carries_into_the_nonce() {
    let (key, nonce) = (Key::from([1; 32]), [2; 12]);
    for isa in levels() {
        for blocks in [2, 3, 5, 9, 13, 16, 40] {
            let last = u64::from(u32::MAX);
            let over = keystream::<20, Ietf>(isa, &key, &nonce, last, 64 * blocks);
            let begin = keystream::<20, Ietf>(isa, &key, &nonce, 0, 64 * (blocks - 1));
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

    let mut wide = ChaCha::<8, Counter64>::new(Isa::PORTABLE, &key, &[0; 8]);
    assert_eq!(wide.remaining(), u64::MAX);
    wide.keystream(&mut [0; 1]);
    assert_eq!(wide.remaining(), u64::MAX);
    wide.keystream(&mut [0; 1]);
    assert_eq!(wide.remaining(), u64::MAX - 1);
    wide.seek(u64::MAX);
    assert_eq!(wide.remaining(), 1);
    wide.keystream(&mut [0; 64]);
    assert_eq!(wide.remaining(), 0);
    wide.seek(1 << 32);
    assert_eq!(wide.remaining(), u64::MAX - (1 << 32) + 1);
}

#[test]
fn debug_shows_no_key() {
    let key = Key::from([0xab; 32]);
    let core = ChaCha::<20>::new(Isa::PORTABLE, &key, &[0xab; 8]);
    let shown = format!("{key:?} {core:?}").to_lowercase();
    assert!(!shown.contains("abab") && !shown.contains("171") && !shown.contains("2880154539"));
}
