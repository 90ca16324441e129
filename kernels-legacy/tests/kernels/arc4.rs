//! ARC4: known answers, a plain reference, and every way to cut a stream into requests.

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, StreamCore};
use lanecrypt_kernels_legacy::arc4::{Arc4, Key, KeyLength};

use lanecrypt_testing::numbers::{Numbers, cases, hex};

fn core(key: &[u8]) -> Arc4 {
    Arc4::new(Isa::detect(), &Key::new(key).expect("5 to 256 bytes"), &())
}

fn keystream(key: &[u8], len: usize) -> Vec<u8> {
    let mut out = vec![0xa5; len];
    core(key).keystream(&mut out);
    out
}

fn reference(key: &[u8], len: usize) -> Vec<u8> {
    let mut s: Vec<usize> = (0..256).collect();
    let (mut i, mut j) = (0, 0);
    for i in 0..256 {
        j = (j + s[i] + usize::from(key[i % key.len()])) % 256;
        s.swap(i, j);
    }
    j = 0;
    let mut byte = || {
        i = (i + 1) % 256;
        j = (j + s[i]) % 256;
        s.swap(i, j);
        u8::try_from(s[(s[i] + s[j]) % 256]).expect("a byte")
    };
    (0..len).map(|_| byte()).collect()
}

/// RFC 6229: keys of 40, 128 and 256 bits, at offsets 0 and 4096.
#[test]
fn rfc_6229() {
    let answers = [
        ("0102030405", "b2396305f03dc027ccc3524a0a1118a8", "ff25b58995996707e51fbdf08b34d875"),
        (
            "0102030405060708090a0b0c0d0e0f10",
            "9ac7cc9a609d1ef7b2932899cde41b97",
            "a36a4c301ae8ac13610ccbc12256cacc",
        ),
        (
            "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
            "eaa6bd25880bf93d3f5d1e4ca2611d91",
            "f3e4c0a2e02d1d01f7f0a74618af2b48",
        ),
    ];
    for (key, first, later) in answers {
        let out = keystream(&hex(key), 4112);
        assert_eq!(out[..16], hex(first), "{key}");
        assert_eq!(out[4096..], hex(later), "{key}");
        let mut core = core(&hex(key));
        core.discard(4096);
        let mut out = [0; 16];
        core.keystream(&mut out);
        assert_eq!(out, *hex(later), "{key}, the rest discarded");
    }
}

#[test]
fn every_key_length() {
    let mut numbers = Numbers(2);
    for len in 5..=256 {
        let key = numbers.bytes(len);
        assert_eq!(keystream(&key, 600), reference(&key, 600), "{len} bytes");
    }
    for len in [0, 1, 4, 257, 1000] {
        let key = numbers.bytes(len);
        assert!(Key::new(&key).is_none(), "{len} bytes");
        assert!(matches!(Key::try_from(&key[..]), Err(KeyLength { .. })), "{len} bytes");
    }
}

#[test]
fn keys_from_arrays() {
    let [short, long] = [[7; 16].as_slice(), [9; 32].as_slice()];
    let stream = |key: &Key| {
        let mut out = [0; 100];
        Arc4::new(Isa::PORTABLE, key, &()).keystream(&mut out);
        out
    };
    assert_eq!(stream(&Key::from(&[7; 16])), *reference(short, 100));
    assert_eq!(stream(&Key::from(&[9; 32])), *reference(long, 100));
}

#[test]
fn every_length() {
    let key = Numbers(1).array::<16>();
    let expected = reference(&key, 700);
    for len in 0..=700 {
        assert_eq!(keystream(&key, len), expected[..len], "{len} bytes");
    }
}

/// A stream long enough that every collision of the two indices happens, at every phase of a
/// kernel that makes several bytes a turn.
#[test]
fn long_streams() {
    let mut numbers = Numbers(8);
    for _ in 0..20 {
        let key = numbers.array::<16>();
        let (skip, len) = (numbers.below(9), 40_000);
        let mut core = core(&key);
        core.discard(skip);
        let mut out = vec![0; len];
        core.keystream(&mut out);
        assert!(out == reference(&key, skip + len)[skip..], "key {key:02x?}, {skip} discarded");
    }
}

/// Keystream, XOR in place and apart, and discarded bytes, one after the other at random; nothing
/// around a request changes.
#[test]
fn random_requests_continue_one_stream() {
    const GUARD: usize = 70;
    const LEN: usize = 2000;
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for case in 0..cases(500) {
        let len = 5 + numbers.below(252);
        let key = numbers.bytes(len);
        let stream = reference(&key, LEN);
        let mut core = core(&key);
        let mut at = 0;
        while at < LEN {
            let len = numbers.below(200.min(LEN - at) + 1);
            let expected = &stream[at..at + len];
            let offset = numbers.below(GUARD);
            let mut buffer = vec![0x5a; offset + len + GUARD];
            let part = &mut buffer[offset..offset + len];
            let text = numbers.bytes(len);
            let xored: Vec<u8> = text.iter().zip(expected).map(|(a, b)| a ^ b).collect();
            match numbers.below(4) {
                0 => {
                    core.keystream(part);
                    assert_eq!(part, expected, "case {case}, {len} bytes at {at}");
                }
                1 => {
                    core.xor(InOutBuf::new(&text, part).expect("equal lengths"));
                    assert_eq!(part, xored, "case {case}, {len} bytes apart at {at}");
                }
                2 => {
                    part.copy_from_slice(&text);
                    core.xor(part.into());
                    assert_eq!(part, xored, "case {case}, {len} bytes in place at {at}");
                }
                _ => {
                    core.discard(len);
                    part.fill(0x5a);
                }
            }
            let outside = buffer[..offset].iter().chain(&buffer[offset + len..]);
            assert!(outside.into_iter().all(|&b| b == 0x5a), "case {case}, {len} bytes at {at}");
            at += len;
            assert_eq!(core.remaining(), u64::MAX);
        }
    }
}

/// What a forked child sees when the kernel has wiped the page under the state.
#[test]
fn a_state_of_zeros_steps() {
    // SAFETY: every field is an integer or an array of integers.
    let mut core: Arc4 = unsafe { core::mem::zeroed() };
    let mut out = [1; 1000];
    core.keystream(&mut out);
    assert_eq!(out, [0; 1000]);
}

#[test]
fn debug_shows_no_key() {
    let key = Key::from(&[0xab; 16]);
    assert_eq!(format!("{key:?} {:?}", core(&[0xab; 16])), "Key { .. } Arc4 { .. }");
}
