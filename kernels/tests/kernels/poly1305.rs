//! Poly1305: known answers, its definition in long arithmetic, and every way to cut a message into
//! requests, at every instruction set.

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::poly1305::Poly1305;

use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// A number of 192 bits, lowest word first.
#[derive(Clone, Copy, PartialEq)]
struct Long([u64; 3]);

impl Long {
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut all = [0; 24];
        all[..bytes.len()].copy_from_slice(bytes);
        Self(core::array::from_fn(|i| {
            u64::from_le_bytes(all[8 * i..8 * i + 8].try_into().expect("8 bytes"))
        }))
    }

    fn bit(self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn plus(self, other: Self) -> Self {
        let mut carry = 0;
        Self(core::array::from_fn(|i| {
            let sum = u128::from(self.0[i]) + u128::from(other.0[i]) + carry;
            carry = sum >> 64;
            u64::try_from(sum & u128::from(u64::MAX)).expect("64 bits")
        }))
    }

    /// The number itself, if it is less than the prime 2^130 - 5, or else less the prime.
    fn reduced_once(self) -> Self {
        let over = self.plus(Self([5, 0, 0]));
        if over.0[2] < 4 {
            return self;
        }
        Self([over.0[0], over.0[1], over.0[2] - 4])
    }

    /// The product modulo the prime, of two numbers that are less.
    fn times(self, other: Self) -> Self {
        let mut product = Self([0; 3]);
        for at in (0..130).rev() {
            product = product.plus(product).reduced_once();
            if other.bit(at) {
                product = product.plus(self).reduced_once();
            }
        }
        product
    }
}

/// RFC 8439, section 2.5.1, word for word.
fn definition(key: &[u8; 32], message: &[u8]) -> [u8; 16] {
    let mut r = key[..16].to_vec();
    for i in [3, 7, 11, 15] {
        r[i] &= 15;
    }
    for i in [4, 8, 12] {
        r[i] &= 252;
    }
    let r = Long::from_bytes(&r);
    let mut sum = Long([0; 3]);
    for block in message.chunks(16) {
        let mut block = block.to_vec();
        block.push(1);
        sum = sum.plus(Long::from_bytes(&block)).reduced_once().times(r);
    }
    let sum = sum.plus(Long::from_bytes(&key[16..]));
    let bytes = [sum.0[0].to_le_bytes(), sum.0[1].to_le_bytes()];
    bytes.as_flattened().try_into().expect("16 bytes")
}

fn tag(isa: Isa, key: &[u8; 32], message: &[u8]) -> [u8; 16] {
    let mut poly = Poly1305::new(isa, key);
    poly.absorb_last(message);
    poly.tag()
}

fn check(key: &[u8; 32], message: &[u8]) {
    let expected = definition(key, message);
    for isa in levels() {
        assert_eq!(tag(isa, key, message), expected, "{} bytes, {isa:?}", message.len());
    }
}

const SUBMISSION: &[u8] =
    b"Any submission to the IETF intended by the Contributor for publication \
    as all or part of an IETF Internet-Draft or RFC and any statement made within the context of \
    an IETF activity is considered an \"IETF Contribution\". Such statements include oral \
    statements in IETF sessions, as well as written and electronic communications made at any \
    time or place, which are addressed to";

/// RFC 8439, section 2.5.2 and appendix A.3.
#[test]
fn rfc_8439() {
    let numbers: [(&str, &[u8], &str); 5] = [
        (
            "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b",
            b"Cryptographic Forum Research Group",
            "a8061dc1305136c6c22b8baf0c0127a9",
        ),
        (&"0".repeat(64), &[0; 64], &"0".repeat(32)),
        (
            "0000000000000000000000000000000036e5f6b5c5e06070f0efca96227a863e",
            SUBMISSION,
            "36e5f6b5c5e06070f0efca96227a863e",
        ),
        (
            "36e5f6b5c5e06070f0efca96227a863e00000000000000000000000000000000",
            SUBMISSION,
            "f3477e7cd95417af89a6b8794c310cf0",
        ),
        (
            "1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0",
            b"'Twas brillig, and the slithy toves\nDid gyre and gimble in the wabe:\n\
            All mimsy were the borogoves,\nAnd the mome raths outgrabe.",
            "4541669a7eaaee61e708dc7cbcc5eb62",
        ),
    ];
    for (key, message, expected) in numbers {
        let key = hex(key).try_into().expect("32 bytes");
        for isa in levels() {
            assert_eq!(tag(isa, &key, message)[..], hex(expected), "{isa:?}");
        }
    }
}

/// RFC 8439, appendix A.3, vectors 7 to 11 and two more: sums next to the prime and to 2^128.
#[test]
fn rfc_8439_edges() {
    let zeros = "00000000000000000000000000000000";
    let ones = "ffffffffffffffffffffffffffffffff";
    let two = "02000000000000000000000000000000";
    let one = "01000000000000000000000000000000";
    let sparse = "01000000000000000400000000000000";
    let start = "e33594d7505e43b900000000000000003394d7505e4379cd01000000000000000000000000000000\
        00000000000000000000";
    let edges = [
        (two, zeros, ones, "03000000000000000000000000000000"),
        (two, ones, two, "03000000000000000000000000000000"),
        (
            one,
            zeros,
            "fffffffffffffffffffffffffffffffff0ffffffffffffffffffffffffffffff\
            11000000000000000000000000000000",
            "05000000000000000000000000000000",
        ),
        (
            one,
            zeros,
            "fffffffffffffffffffffffffffffffffbfefefefefefefefefefefefefefefe\
            01010101010101010101010101010101",
            zeros,
        ),
        (two, zeros, "fdffffffffffffffffffffffffffffff", "faffffffffffffffffffffffffffffff"),
        (sparse, zeros, &(start[..96].to_owned() + one), "14000000000000005500000000000000"),
        (sparse, zeros, &start[..96], "13000000000000000000000000000000"),
    ];
    for (r, pad, message, expected) in edges {
        let key = hex(&format!("{r}{pad}")).try_into().expect("32 bytes");
        for isa in levels() {
            let tag = tag(isa, &key, &hex(message));
            assert_eq!(tag[..], hex(expected), "{message}, {isa:?}");
        }
    }
}

#[test]
fn every_length() {
    let mut numbers = Numbers(1);
    let long = [1023, 1024, 1500, 2047, 4096, 8191, 8192, 10_239, 10_240];
    for len in (0..=600).chain(long) {
        check(&numbers.array(), &numbers.bytes(len));
    }
}

/// The largest limbs that there are: points, sums and blocks of ones, for each number of blocks.
#[test]
fn carries() {
    let half = |value: u8| [value; 16];
    let one = 1u128.to_le_bytes();
    for r in [half(0xff), half(0), half(1), half(0x80), one] {
        for pad in [half(0xff), half(0)] {
            let key = [r, pad].as_flattened().try_into().expect("32 bytes");
            for value in [0xff, 0xfe, 0, 0x80] {
                for blocks in (1..=70).chain([127, 128, 200]) {
                    check(&key, &vec![value; 16 * blocks]);
                }
            }
        }
    }
}

/// Bytes of zeros and ones in any order, absorbed in parts of any number of blocks.
#[test]
fn random_cuts() {
    let mut numbers = Numbers(2);
    for case in 0..cases(600) {
        let mut bytes = |len| -> Vec<u8> {
            let mut bytes = numbers.bytes(len);
            if case % 2 == 0 {
                bytes.iter_mut().for_each(|b| *b = 0u8.wrapping_sub(*b & 1));
            }
            bytes
        };
        let key: [u8; 32] = bytes(32).try_into().expect("32 bytes");
        let message = bytes(2000);
        let message = &message[numbers.below(80)..];
        let message = &message[..numbers.below(message.len())];
        let first = 16 * numbers.below(message.len() / 16 + 1);
        let second = 16 * numbers.below((message.len() - first) / 16 + 1);
        let expected = definition(&key, message);
        for isa in levels() {
            let mut poly = Poly1305::new(isa, &key);
            let (front, rest) = message.split_at(first);
            let (middle, last) = rest.split_at(second);
            poly.absorb(front.as_chunks().0);
            poly.absorb(middle.as_chunks().0);
            poly.absorb_last(last);
            assert_eq!(poly.tag(), expected, "{first}, {second}, {}, {isa:?}", last.len());
        }
    }
}

/// The parts of an AEAD's message are those of the same message with the zeros written out.
#[test]
fn padding() {
    let mut numbers = Numbers(3);
    for len in (0..=40).chain(240..=300) {
        let (key, data) = (numbers.array(), numbers.bytes(len));
        let mut written = vec![7; 16];
        written.extend(&data);
        written.resize(16 + len.next_multiple_of(16), 0);
        written.extend([9; 16]);
        let expected = definition(&key, &written);
        for isa in levels() {
            let mut poly = Poly1305::new(isa, &key);
            poly.absorb(&[[7; 16]]);
            poly.absorb_padded(&data);
            poly.absorb(&[[9; 16]]);
            assert_eq!(poly.tag(), expected, "{len} bytes, {isa:?}");
        }
    }
}

#[test]
fn debug_shows_no_key() {
    let mut poly = Poly1305::new(Isa::PORTABLE, &[0xab; 32]);
    poly.absorb(&[[0xab; 16]]);
    let shown = format!("{poly:?}");
    let name = shown.replace("Poly1305", "");
    assert!(
        shown.starts_with("Poly1305") && !name.contains(|c: char| c.is_ascii_digit()),
        "{shown}"
    );
}
