//! Every entry point that takes messages side by side, at every instruction set: messages of all
//! sizes to 4 KiB at odd places, in place and apart, give what they give one by one, and every
//! other byte of memory stays as it was.

use core::cell::RefCell;

use inout::InOutBuf;
use lanecrypt_kernels::aes::{Aes, AesForward};
use lanecrypt_kernels::chacha::{self, ChaCha, Counter64, Ietf};
use lanecrypt_kernels::chacha20poly1305::{
    ChaCha20Poly1305, XChaCha20Poly1305, open_lanes, seal_lanes,
};
use lanecrypt_kernels::{Aead, AeadLanes, BlockEncrypt, Isa, Seek, StreamCore};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases};

use crate::guards::{chains, difference, first, lengths, mixed, places, wrong};

#[test]
fn aes() {
    chains(1, |isa, key| Aes::<128>::new(isa, first(key)), Aes::<128>::cbc_encrypt_lanes);
    chains(2, |isa, key| Aes::<192>::new(isa, first(key)), Aes::<192>::cbc_encrypt_lanes);
    chains(3, |isa, key| Aes::<256>::new(isa, first(key)), Aes::<256>::cbc_encrypt_lanes);
    let new = |isa, key: &[u8; 32]| AesForward::<128>::new(isa, first(key));
    chains(4, new, AesForward::<128>::cbc_encrypt_lanes);
    let new = |isa, key: &[u8; 32]| AesForward::<192>::new(isa, first(key));
    chains(5, new, AesForward::<192>::cbc_encrypt_lanes);
    let new = |isa, key: &[u8; 32]| AesForward::<256>::new(isa, first(key));
    chains(6, new, AesForward::<256>::cbc_encrypt_lanes);
}

fn streams<const ROUNDS: usize>(seed: u64) {
    let numbers = &mut Numbers(seed);
    for case in 0..cases(24) {
        for isa in levels() {
            let lens = lengths(numbers, 1);
            let keys: Vec<chacha::Key> =
                lens.iter().map(|_| (&numbers.array::<32>()).into()).collect();
            let nonces: Vec<[u8; 12]> = lens.iter().map(|_| numbers.array()).collect();
            let is_ietf = |at| at % 2 == 0;
            // Some counters of 64 bits run over into their upper half.
            let blocks: Vec<_> = (0..lens.len())
                .map(|at| numbers.below(70) as u64 + if is_ietf(at) { 0 } else { (1 << 32) - 40 })
                .collect();
            let short = |at: usize| nonces[at].first_chunk::<8>().expect("12 bytes have 8");
            let wrong = difference(
                numbers,
                &lens,
                |buffers| {
                    let mut lanes = Vec::new();
                    for (at, data) in buffers.into_iter().enumerate() {
                        let (key, block) = (&keys[at], blocks[at]);
                        lanes.push(if is_ietf(at) {
                            chacha::Lane::new::<Ietf>(key, &nonces[at], block, data)
                        } else {
                            chacha::Lane::new::<Counter64>(key, short(at), block, data)
                        });
                    }
                    chacha::xor_lanes::<ROUNDS>(isa, &mut lanes);
                },
                |at, data| {
                    let (isa, key) = (Isa::PORTABLE, &keys[at]);
                    if is_ietf(at) {
                        let mut core = ChaCha::<ROUNDS, Ietf>::new(isa, key, &nonces[at]);
                        core.seek(blocks[at]);
                        core.xor(data);
                    } else {
                        let mut core = ChaCha::<ROUNDS, Counter64>::new(isa, key, short(at));
                        core.seek(blocks[at]);
                        core.xor(data);
                    }
                },
            );
            assert_eq!(wrong, None, "case {case}, {isa:?}, {lens:?}");
        }
    }
}

#[test]
fn chacha() {
    streams::<8>(10);
    streams::<12>(11);
    streams::<20>(12);
}

#[test]
fn chacha20poly1305() {
    let numbers = &mut Numbers(13);
    for case in 0..2 * cases(24) {
        let seal = case % 2 == 0;
        for isa in levels() {
            let lens = lengths(numbers, 1);
            let keys: Vec<[u8; 32]> = lens.iter().map(|_| numbers.array()).collect();
            let nonces: Vec<[u8; 24]> = lens.iter().map(|_| numbers.array()).collect();
            let short = |at: usize| nonces[at].first_chunk::<12>().expect("24 bytes have 12");
            // None, some or all have nonces of 192 bits.
            let extended: Vec<_> = match numbers.below(3) {
                0 => vec![false; lens.len()],
                1 => lens.iter().map(|_| numbers.below(2) == 0).collect(),
                _ => vec![true; lens.len()],
            };
            let longest = [14, 65, 200][numbers.below(3)];
            let aads: Vec<_> = lens
                .iter()
                .map(|_| {
                    let len = numbers.below(longest);
                    numbers.bytes(len)
                })
                .collect();
            let levels = mixed(numbers, isa, lens.len());
            let ciphers: Vec<_> = levels
                .iter()
                .zip(&keys)
                .map(|(&isa, key)| ChaCha20Poly1305::new(isa, key))
                .collect();
            let others: Vec<_> = levels
                .iter()
                .zip(&keys)
                .map(|(&isa, key)| XChaCha20Poly1305::new(isa, key))
                .collect();
            // Guards between the tags, too.
            let mut tags = vec![[[0x5a; 16]; 9]; lens.len()];
            let expected = RefCell::new(tags.clone());
            let wrong = difference(
                numbers,
                &lens,
                |buffers| {
                    let mut lanes = Vec::new();
                    for ((at, data), tags) in buffers.into_iter().enumerate().zip(&mut tags) {
                        let (aad, tag) = (&aads[at], &mut tags[4]);
                        lanes.push(if extended[at] {
                            let nonce = &nonces[at];
                            others[at].lane(nonce, aad, data, tag)
                        } else {
                            ciphers[at].lane(short(at), aad, data, tag)
                        });
                    }
                    if seal { seal_lanes(&mut lanes) } else { open_lanes(&mut lanes) }
                },
                |at, data| {
                    expected.borrow_mut()[at][4] = if extended[at] {
                        let cipher = XChaCha20Poly1305::new(Isa::PORTABLE, &keys[at]);
                        alone(&cipher, seal, &nonces[at], &aads[at], data)
                    } else {
                        let cipher = ChaCha20Poly1305::new(Isa::PORTABLE, &keys[at]);
                        alone(&cipher, seal, short(at), &aads[at], data)
                    };
                },
            );
            assert_eq!(wrong, None, "case {case}, {isa:?}, {lens:?}");
            assert_eq!(tags, expected.into_inner(), "case {case}, {isa:?}, {lens:?}");
        }
    }
}

fn alone<const NONCE: usize>(
    cipher: &impl Aead<Nonce = [u8; NONCE]>,
    seal: bool,
    nonce: &[u8; NONCE],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    if seal { cipher.seal(nonce, aad, data) } else { cipher.open(nonce, aad, data, &[0; 16]) }
}

/// The comparison itself: a message that is wrong, results in each other's place, and a bit of any
/// byte within, before or behind messages.
#[test]
fn planted_faults_are_caught() {
    let numbers = &mut Numbers(14);
    let lens = [40; 20];
    let add = |at: usize, mut data: InOutBuf<'_, '_, u8>| {
        let stream = [u8::try_from(at).expect("few messages"); 40];
        data.xor_in2out(&stream);
    };
    let run = |numbers: &mut Numbers, which: fn(usize) -> usize| {
        let all = |buffers: Vec<InOutBuf<'_, '_, u8>>| {
            buffers.into_iter().enumerate().for_each(|(at, data)| add(which(at), data));
        };
        difference(numbers, &lens, all, add)
    };
    assert_eq!(run(numbers, |at| at), None);
    assert_eq!(run(numbers, |at| if at == 13 { 12 } else { at }), Some(13));
    assert_eq!(run(numbers, |at| if at == 5 || at == 9 { 14 - at } else { at }), Some(5));
    let (places, size) = places(numbers, &lens);
    let expected = numbers.bytes(size);
    for byte in 0..size {
        let mut memory = expected.clone();
        memory[byte] ^= 1 << (byte % 8);
        assert!(wrong(&memory, &expected, &places).is_some(), "byte {byte}");
    }
}
