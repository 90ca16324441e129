//! What a stream refuses, where it ends, and how its forms agree.

mod levels;

use lanecrypt_ciphers::hazmat::{Ecb, Stream};
use lanecrypt_ciphers::{Algorithm, Error, Isa, Mode};
use levels::levels;

fn streams() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.is_stream())
}

fn open(isa: Isa, algorithm: Algorithm, first: u64) -> Result<Stream, Error> {
    let key: Vec<u8> = (0..32).collect();
    let length = *algorithm.key_lengths().last().expect("a key length");
    let nonce: Vec<u8> = (100..116).collect();
    Stream::at_block(isa, algorithm, &key[..length], &nonce[..algorithm.nonce_length()], first)
}

fn take<const N: usize>(stream: &mut Stream) -> Result<[u8; N], Error> {
    let mut out = [0; N];
    stream.keystream(&mut out).map(|()| out)
}

#[test]
fn wrong_lengths_are_refused() {
    for &algorithm in Algorithm::ALL {
        for length in 0..70 {
            let key_fits = algorithm.key_lengths().contains(&length);
            let (key, nonce) = (vec![0; length], vec![0; algorithm.nonce_length()]);
            let stream = Stream::new(Isa::PORTABLE, algorithm, &key, &nonce).map(|_| ());
            let ecb = Ecb::new(Isa::PORTABLE, algorithm, &key).map(|_| ());
            let expected = if key_fits { Ok(()) } else { Err(Error::KeyLength) };
            if algorithm.is_stream() {
                assert_eq!(stream, expected, "{algorithm} {length}");
                assert_eq!(ecb, Err(Error::Unsupported));
            } else {
                assert_eq!(ecb, expected, "{algorithm} {length}");
                assert_eq!(stream, Err(Error::Unsupported));
            }
        }
    }
    for algorithm in streams() {
        let key = vec![0; algorithm.key_lengths()[0]];
        for length in (0..70).filter(|&length| length != algorithm.nonce_length()) {
            let stream = Stream::new(Isa::PORTABLE, algorithm, &key, &vec![0; length]);
            assert_eq!(stream.map(|_| ()), Err(Error::NonceLength), "{algorithm} {length}");
        }
    }
}

#[test]
fn part_blocks_are_refused_by_ecb() {
    let ecb = Ecb::new(Isa::detect(), Algorithm::AES_128_ECB, &[0; 16]).expect("a good key");
    for length in 0..70 {
        let mut data = vec![3; length];
        if length % 16 == 0 {
            assert_eq!(ecb.encrypt(&mut data), Ok(()));
        } else {
            assert_eq!(ecb.encrypt(&mut data), Err(Error::DataLength));
            assert_eq!(data, vec![3; length]);
        }
    }
    let mut out = [3; 32];
    assert_eq!(ecb.encrypt_to(&[0; 16], &mut out), Err(Error::DataLength));
    assert_eq!(ecb.encrypt_to(&[0; 33], &mut out), Err(Error::DataLength));
    assert_eq!(out, [3; 32]);
}

#[test]
fn the_short_counter_ends_and_a_refusal_changes_nothing() {
    let ietf = streams().filter(|algorithm| algorithm.mode() == Mode::Ietf);
    for (isa, algorithm) in ietf.flat_map(|algorithm| levels().map(move |isa| (isa, algorithm))) {
        let end = 1 << 38;
        let mut stream = open(isa, algorithm, 0).expect("a stream");
        assert_eq!(stream.remaining(), end);
        stream.seek(end - 100).expect("inside");
        let last: [u8; 100] = take(&mut stream).expect("exactly to the end");
        assert_eq!(stream.remaining(), 0);
        assert_eq!(take::<1>(&mut stream), Err(Error::KeystreamExhausted));
        assert_eq!(take::<0>(&mut stream), Ok([]));

        stream.seek(end - 100).expect("back again");
        assert_eq!(stream.seek(end + 1), Err(Error::KeystreamExhausted));
        assert_eq!(stream.seek(u64::MAX), Err(Error::KeystreamExhausted));
        let mut data = [9; 101];
        assert_eq!(stream.xor(&mut data[..]), Err(Error::KeystreamExhausted));
        assert_eq!(data, [9; 101]);
        assert_eq!(take(&mut stream), Ok(last));
        stream.seek(end).expect("the end is a position");
        assert_eq!(take::<1>(&mut stream), Err(Error::KeystreamExhausted));

        let mut stream = open(isa, algorithm, u64::from(u32::MAX)).expect("the last block");
        assert_eq!(stream.remaining(), 64);
        assert_eq!(take::<65>(&mut stream), Err(Error::KeystreamExhausted));
        assert_eq!(
            take::<64>(&mut stream).map(|block| block[..].to_vec()),
            Ok(last[36..].to_vec())
        );
        let past = open(isa, algorithm, 1 << 32).map(|_| ());
        assert_eq!(past, Err(Error::KeystreamExhausted));
    }
}

#[test]
fn the_long_counter_ends_too() {
    for isa in levels() {
        let mut stream = open(isa, Algorithm::CHACHA8_DJB, u64::MAX - 1).expect("near the end");
        assert_eq!(stream.remaining(), 64);
        assert!(take::<64>(&mut stream).is_ok());
        assert_eq!(take::<1>(&mut stream), Err(Error::KeystreamExhausted));
    }
}

/// The short counter with a nonce is the long counter whose upper half begins the nonce.
#[test]
fn both_forms_of_chacha_agree() {
    let pairs = [
        (Algorithm::CHACHA8_IETF, Algorithm::CHACHA8_DJB),
        (Algorithm::CHACHA12_IETF, Algorithm::CHACHA12_DJB),
        (Algorithm::CHACHA20_IETF, Algorithm::CHACHA20_DJB),
    ];
    let (key, nonce) = ([0x42; 32], *b"\x07\0\0\0eightlon");
    for (isa, (ietf, djb)) in levels().flat_map(|isa| pairs.map(|pair| (isa, pair))) {
        for first in [0, 1, 12_345, u64::from(u32::MAX) - 20] {
            let mut short = Stream::at_block(isa, ietf, &key, &nonce, first).expect("short");
            let long = Stream::at_block(isa, djb, &key, &nonce[4..], (7 << 32) + first);
            assert_eq!(take::<1300>(&mut short), take(&mut long.expect("long")), "{ietf} {first}");
        }
    }
}

#[test]
fn every_offset_is_where_it_should_be() {
    for (isa, algorithm) in levels().flat_map(|isa| streams().map(move |row| (isa, row))) {
        let mut stream = open(isa, algorithm, 0).expect("a stream");
        let whole: [u8; 700] = take(&mut stream).expect("from the start");
        for offset in 0..=600 {
            stream.seek(offset as u64).expect("inside");
            let part: [u8; 70] = take(&mut stream).expect("inside");
            assert_eq!(part, whole[offset..offset + 70], "{algorithm} {} {offset}", isa.level());
        }
    }
}

/// Where a kernel works in lanes, a carry into the upper half of the counter meets some lanes only.
#[test]
fn counters_carry_within_a_wide_step() {
    const EDGE: u64 = 1 << 32;
    for algorithm in streams().filter(|algorithm| algorithm.mode() != Mode::Ietf) {
        for back in 0..40 {
            let mut slow = open(Isa::PORTABLE, algorithm, EDGE - back).expect("a stream");
            let expected: [u8; 3000] = take(&mut slow).expect("portable");
            for isa in levels() {
                let mut fast = open(isa, algorithm, EDGE - back).expect("a stream");
                assert_eq!(take(&mut fast), Ok(expected), "{algorithm} {} -{back}", isa.level());
            }
        }
    }
}

/// The counter of CTR is the whole block: it carries through all 16 bytes and wraps.
#[test]
fn ctr_counts_the_whole_block() {
    for isa in levels() {
        for ones in 1..=16 {
            let mut nonce = [0x31; 16];
            nonce[16 - ones..].fill(0xff);
            let ctr = Stream::new(isa, Algorithm::AES_128_CTR, &[5; 16], &nonce);
            let stream: [u8; 640] = take(&mut ctr.expect("a stream")).expect("keystream");
            let ecb = Ecb::new(isa, Algorithm::AES_128_ECB, &[5; 16]).expect("a cipher");
            let mut counter = u128::from_be_bytes(nonce);
            for block in stream.as_chunks::<16>().0 {
                let mut expected = counter.to_be_bytes();
                ecb.encrypt(&mut expected).expect("one block");
                assert_eq!(*block, expected, "{} {ones}", isa.level());
                counter = counter.wrapping_add(1);
            }
        }
    }
}

#[test]
fn debug_output_hides_the_key() {
    let stream = open(Isa::detect(), Algorithm::CHACHA20_DJB, 0).expect("a stream");
    let ecb = Ecb::new(Isa::detect(), Algorithm::AES_128_ECB, &[77; 16]).expect("a cipher");
    assert_eq!(format!("{stream:?} {ecb:?}"), "Stream { .. } Ecb { .. }");
}
