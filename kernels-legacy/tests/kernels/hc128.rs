//! HC-128: known answers, a reference written from the paper, another implementation, and every
//! way to cut a stream into requests.

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, StreamCore};
use lanecrypt_kernels_legacy::hc128::Hc128;
use rand_core::{Rng, SeedableRng};
use rand_hc::Hc128Rng;

use lanecrypt_testing::numbers::{Numbers, cases, hex};

fn array(text: &str) -> [u8; 16] {
    hex(text).try_into().expect("16 bytes")
}

fn core(key: &[u8; 16], nonce: &[u8; 16]) -> Hc128 {
    Hc128::new(Isa::detect(), key, nonce)
}

fn keystream(key: &[u8; 16], nonce: &[u8; 16], len: usize) -> Vec<u8> {
    let mut out = vec![0xa5; len];
    core(key, nonce).keystream(&mut out);
    out
}

/// Sections 2.1 to 2.3 of the paper, word for word.
struct Reference {
    p: [u32; 512],
    q: [u32; 512],
    i: usize,
}

impl Reference {
    fn new(key: &[u8; 16], nonce: &[u8; 16]) -> Self {
        let word = |bytes: &[u8; 16], i: usize| {
            let at = i % 4 * 4;
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
        };
        let mut w = [0u32; 1280];
        for i in 0..1280 {
            w[i] = match i {
                0..8 => word(key, i),
                8..16 => word(nonce, i),
                _ => {
                    let (x, y) = (w[i - 2], w[i - 15]);
                    let f2 = x.rotate_right(17) ^ x.rotate_right(19) ^ (x >> 10);
                    let f1 = y.rotate_right(7) ^ y.rotate_right(18) ^ (y >> 3);
                    let number = u32::try_from(i).expect("small");
                    let sum = f2.wrapping_add(w[i - 7]).wrapping_add(f1).wrapping_add(w[i - 16]);
                    sum.wrapping_add(number)
                }
            };
        }
        let mut this = Self {
            p: core::array::from_fn(|i| w[256 + i]),
            q: core::array::from_fn(|i| w[768 + i]),
            i: 0,
        };
        for j in 0..512 {
            this.p[j] = this.next();
        }
        for j in 0..512 {
            this.q[j] = this.next();
        }
        this.i = 0;
        this
    }

    fn next(&mut self) -> u32 {
        let at = |j: usize, back: usize| (j + 512 - back) % 512;
        let draw = |table: &[u32; 512], x: u32| {
            let bytes = x.to_le_bytes().map(usize::from);
            table[bytes[0]].wrapping_add(table[256 + bytes[2]])
        };
        let j = self.i % 512;
        let (p, q) = (&mut self.p, &mut self.q);
        let s = if self.i % 1024 < 512 {
            let (x, y, z) = (p[at(j, 3)], p[at(j, 10)], p[at(j, 511)]);
            let g1 = (x.rotate_right(10) ^ z.rotate_right(23)).wrapping_add(y.rotate_right(8));
            p[j] = p[j].wrapping_add(g1);
            draw(q, p[at(j, 12)]) ^ p[j]
        } else {
            let (x, y, z) = (q[at(j, 3)], q[at(j, 10)], q[at(j, 511)]);
            let g2 = (x.rotate_left(10) ^ z.rotate_left(23)).wrapping_add(y.rotate_left(8));
            q[j] = q[j].wrapping_add(g2);
            draw(p, q[at(j, 12)]) ^ q[j]
        };
        self.i += 1;
        s
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let words = len.div_ceil(4);
        let mut out: Vec<u8> = (0..words).flat_map(|_| self.next().to_le_bytes()).collect();
        out.truncate(len);
        out
    }
}

/// Answers of two other implementations under random keys; the second from byte 4096 on.
#[test]
fn known_answers() {
    let out = keystream(
        &array("03f5eb4f4765d465778221591e58717c"),
        &array("fe4e4340a615d4d7cb31b7af7593a779"),
        64,
    );
    let expected = "d32ecdab1b9de94a452b7a8416133ae9ddf6eab11ba7b257aedc64b1f1e42847
        063bbc5c18d27494ec345a0f97ddcc43a6185b43776660fccacd3f47339cf29c";
    assert_eq!(out, hex(expected));

    let out = keystream(
        &array("b95af0ba0cc02972c289b1623b363907"),
        &array("3ae95135ce5f2469c44ae0d1b99b1b45"),
        4096 + 65,
    );
    let expected = "be148d8ecf159bc521697c556def52634629298e4e2e58683a757fb76bb1bce0
        2d1ccc912e33db5128fa774ac4491553a53ad4fd04a19e80b141a5ed4ef365ce86";
    assert_eq!(out[4096..], hex(expected));
}

#[test]
fn long_streams_agree_with_another_implementation() {
    let mut numbers = Numbers(5);
    for blocks in [1, 31, 32, 33, 63, 64, 65, 4000, 10_000] {
        let (key, nonce) = (numbers.array(), numbers.array());
        let seed: [u8; 32] = [key, nonce].concat().try_into().expect("32 bytes");
        let mut expected = vec![0; 64 * blocks];
        Hc128Rng::from_seed(seed).fill_bytes(&mut expected);
        let out = keystream(&key, &nonce, 64 * blocks);
        assert!(out == expected, "{blocks} blocks");
    }
}

#[test]
fn every_length() {
    let mut numbers = Numbers(1);
    let (key, nonce) = (numbers.array(), numbers.array());
    let expected = Reference::new(&key, &nonce).bytes(5000);
    let around = [2048, 4096].into_iter().flat_map(|n| n - 70..=n + 70);
    for len in (0..=300).chain(around) {
        assert_eq!(keystream(&key, &nonce, len), expected[..len], "{len} bytes");
    }
}

/// Random keys; words, keystream and XOR, in place and apart, one after the other at random; what
/// is left of a block that a request ends in is dropped, nothing around a request changes.
#[test]
fn random_requests_continue_one_stream() {
    const GUARD: usize = 70;
    const LEN: usize = 3 * 4096;
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for case in 0..cases(200) {
        let (key, nonce) = (numbers.array(), numbers.array());
        let stream = Reference::new(&key, &nonce).bytes(LEN);
        let mut core = core(&key, &nonce);
        let mut at = 0;
        while at + 64 <= LEN {
            assert_eq!(core.remaining(), (1 << 55) - at.div_ceil(64) as u64, "case {case}, {at}");
            if numbers.below(3) == 0 {
                for _ in 0..numbers.below(40).min((LEN - at) / 4) {
                    let word = core.next_word().to_le_bytes();
                    assert_eq!(word, stream[at..at + 4], "case {case}, word at {at}");
                    at += 4;
                }
                continue;
            }
            let most = if numbers.below(4) == 0 { 3000 } else { 150 };
            let len = numbers.below(most.min(LEN - at) + 1);
            let len = if numbers.below(2) == 0 { len / 64 * 64 } else { len };
            let expected = &stream[at..at + len];
            let offset = numbers.below(GUARD);
            let mut buffer = vec![0x5a; offset + len + GUARD];
            let part = &mut buffer[offset..offset + len];
            let text = numbers.bytes(len);
            let xored: Vec<u8> = text.iter().zip(expected).map(|(a, b)| a ^ b).collect();
            match numbers.below(3) {
                0 => {
                    core.keystream(part);
                    assert_eq!(part, expected, "case {case}, {len} bytes at {at}");
                }
                1 => {
                    core.xor(InOutBuf::new(&text, part).expect("equal lengths"));
                    assert_eq!(part, xored, "case {case}, {len} bytes apart at {at}");
                }
                _ => {
                    part.copy_from_slice(&text);
                    core.xor(part.into());
                    assert_eq!(part, xored, "case {case}, {len} bytes in place at {at}");
                }
            }
            let outside = buffer[..offset].iter().chain(&buffer[offset + len..]);
            assert!(outside.into_iter().all(|&b| b == 0x5a), "case {case}, {len} bytes at {at}");
            if len > 0 {
                at = (at + len).next_multiple_of(64);
            }
        }
    }
}

/// Every place in both tables at which single steps may hand over to whole blocks.
#[test]
fn blocks_after_any_number_of_words() {
    let (key, nonce) = ([1; 16], [2; 16]);
    let stream = Reference::new(&key, &nonce).bytes(4 * 2048);
    for words in 0..1100 {
        let mut core = core(&key, &nonce);
        for _ in 0..words {
            core.next_word();
        }
        let mut out = [0; 200];
        core.keystream(&mut out);
        assert_eq!(out, stream[4 * words..][..200], "after {words} words");
        let next = (4 * words + 200).next_multiple_of(64);
        assert_eq!(core.next_word().to_le_bytes(), stream[next..next + 4], "after {words} words");
    }
}

/// What a forked child sees when the kernel has wiped the page under the state.
#[test]
fn a_state_of_zeros_steps() {
    // SAFETY: every field is an integer or an array of integers.
    let mut core: Hc128 = unsafe { core::mem::zeroed() };
    for _ in 0..2100 {
        assert_eq!(core.next_word(), 0);
    }
    let mut out = [1; 5000];
    core.keystream(&mut out);
    assert_eq!(out, [0; 5000]);
}

#[test]
fn size_and_alignment() {
    assert!(size_of::<Hc128>() <= 4300);
    assert_eq!(align_of::<Hc128>(), 64);
}

#[test]
fn debug_shows_no_key() {
    assert_eq!(format!("{:?}", core(&[0xab; 16], &[0xab; 16])), "Hc128 { .. }");
}
