//! What a stream refuses, where it ends, and how its forms agree.

use lanecrypt_ciphers::hazmat::{RawCipher, Stream, StreamCipher};
use lanecrypt_ciphers::{Algorithm, Error, Isa, Mode, Primitive};
use lanecrypt_testing::levels;

fn streams() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.is_stream())
}

fn seekable() -> impl Iterator<Item = Algorithm> {
    streams().filter(|algorithm| algorithm.is_seekable())
}

fn open(isa: Isa, algorithm: Algorithm, first: u64) -> Result<Stream, Error> {
    let key: Vec<u8> = (0..=255).collect();
    let length = algorithm.key_lengths().longest();
    let nonce: Vec<u8> = (100..116).collect();
    let nonce = &nonce[..algorithm.nonce_length()];
    Ok(Stream::at_block(isa, algorithm, &key[..length], nonce, first)?)
}

fn take<const N: usize>(stream: &mut Stream) -> Result<[u8; N], Error> {
    let mut out = [0; N];
    stream.keystream(&mut out).map(|()| out)
}

#[test]
fn wrong_lengths_are_refused() {
    for &algorithm in Algorithm::ALL {
        for length in 0..300 {
            let key_fits = algorithm.key_lengths().contains(length);
            let (key, nonce) = (vec![0; length], vec![0; algorithm.nonce_length()]);
            let stream = Stream::new(Isa::PORTABLE, algorithm, &key, &nonce).map(|_| ());
            let expected = match (algorithm.is_stream(), key_fits) {
                (false, _) => Err(Error::Unsupported),
                (true, false) => Err(Error::KeyLength),
                (true, true) => Ok(()),
            };
            assert_eq!(stream.map_err(Error::from), expected, "{algorithm} {length}");
        }
    }
    for algorithm in streams() {
        let key = vec![0; algorithm.key_lengths().shortest()];
        for length in (0..70).filter(|&length| length != algorithm.nonce_length()) {
            let refused = Stream::new(Isa::PORTABLE, algorithm, &key, &vec![0; length]);
            let refused = refused.expect_err("a wrong nonce");
            assert_eq!(refused, Error::NonceLength, "{algorithm} {length}");
        }
    }
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
    let long = |row: &Algorithm| {
        matches!(row.mode(), Mode::Djb | Mode::Stream) && row.primitive() != Primitive::Null
    };
    for (isa, algorithm) in
        levels().flat_map(|isa| seekable().filter(long).map(move |row| (isa, row)))
    {
        let mut stream = open(isa, algorithm, u64::MAX - 1).expect("near the end");
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
            if !algorithm.is_seekable() {
                stream = open(isa, algorithm, 0).expect("a stream");
            }
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
    for algorithm in seekable().filter(|algorithm| algorithm.mode() != Mode::Ietf) {
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

/// Streams without numbered blocks go forward by making what they pass, and no further than is
/// quickly done.
#[test]
fn unseekable_streams_walk_forward() {
    const REACH: u64 = 1 << 26;
    for algorithm in streams().filter(|algorithm| !algorithm.is_seekable()) {
        let start = || open(Isa::detect(), algorithm, 0).expect("a stream");
        let whole: [u8; 6000] = take(&mut start()).expect("from the start");
        let mut stream = start();
        // Positions within blocks, the same again, past a whole piece of what is dropped.
        for offset in [0, 1, 1, 63, 64, 65, 200, 1224, 1225, 2249, 5990] {
            stream.seek(offset).expect("ahead");
            assert_eq!(stream.seek(offset), Ok(()));
            let at = usize::try_from(offset).expect("a small offset");
            let mut again = start();
            again.seek(offset).expect("ahead");
            assert_eq!(
                take::<10>(&mut again),
                Ok(whole[at..][..10].try_into().expect("ten bytes"))
            );
        }
        assert_eq!(stream.seek(5989), Err(Error::OutOfReach), "{algorithm}: behind");
        for far in [5990 + REACH + 1, 1 << 60, u64::MAX] {
            assert_eq!(stream.seek(far), Err(Error::OutOfReach), "{algorithm}: {far}");
        }
        // Nothing has changed.
        assert_eq!(take::<10>(&mut stream), Ok(whole[5990..].try_into().expect("ten bytes")));

        for first in [1, u64::MAX] {
            let past = open(Isa::detect(), algorithm, first).map(|_| ());
            assert_eq!(past, Err(Error::Unsupported), "{algorithm} {first}");
        }
    }
}

/// As far as it goes, and in steps further: what is made on the way is what is skipped.
#[test]
fn unseekable_streams_go_as_far_as_they_say() {
    const REACH: u64 = 1 << 26;
    for algorithm in streams().filter(|algorithm| !algorithm.is_seekable()) {
        let mut stream = open(Isa::detect(), algorithm, 0).expect("a stream");
        stream.seek(REACH).expect("just in reach");
        let mut slow = open(Isa::detect(), algorithm, 0).expect("a stream");
        let mut piece = vec![0; 1 << 20];
        for _ in 0..REACH >> 20 {
            slow.keystream(&mut piece).expect("keystream");
        }
        assert_eq!(take::<100>(&mut stream), take::<100>(&mut slow), "{algorithm}");
        stream.seek(REACH + 200).expect("a little further");
        assert_eq!(stream.seek(REACH + 199), Err(Error::OutOfReach));
    }
}

/// Where programs that know their core go: the same rules.
#[test]
fn a_seekable_core_may_walk_too() {
    use lanecrypt_kernels::chacha::{ChaCha, Ietf};
    let new = || StreamCipher::<ChaCha<8, Ietf>>::new(Isa::detect(), &[1; 32].into(), &[2; 12]);
    let (mut walk, mut jump) = (new(), new());
    for offset in [0, 7, 64, 1500, 70_000] {
        walk.advance_to(offset).expect("ahead");
        jump.seek(offset).expect("inside");
        let (mut walked, mut jumped) = ([0; 3], [0; 3]);
        walk.keystream(&mut walked).expect("keystream");
        jump.keystream(&mut jumped).expect("keystream");
        assert_eq!(walked, jumped);
        assert_eq!(walk.advance_to(offset), Err(Error::OutOfReach));
    }
    // Near the end the end is what is met first.
    let end = 1 << 38;
    jump.seek(end - 100).expect("inside");
    assert_eq!(jump.advance_to(end + 1), Err(Error::KeystreamExhausted));
    assert_eq!(jump.advance_to(end), Ok(()));
    assert_eq!(jump.remaining(), 0);
}

/// The counter of CTR is the whole block: it carries through all of its bytes and wraps.
#[test]
fn ctr_counts_the_whole_block() {
    let ctr = || streams().filter(|algorithm| algorithm.mode() == Mode::Ctr);
    for (isa, algorithm) in levels().flat_map(|isa| ctr().map(move |row| (isa, row))) {
        let block = algorithm.primitive().block_size();
        let key = vec![5; algorithm.key_lengths().longest()];
        let name = algorithm.to_string().replace("-ctr", "-ecb");
        let ecb = RawCipher::with_isa(isa, name.parse().expect("a row"), &key).expect("a cipher");
        for ones in 1..=block {
            let mut counter = vec![0x31; block];
            counter[block - ones..].fill(0xff);
            let stream = Stream::new(isa, algorithm, &key, &counter);
            let stream: [u8; 640] = take(&mut stream.expect("a stream")).expect("keystream");
            for part in stream.chunks(block) {
                let mut expected = counter.clone();
                ecb.encrypt(&[], &mut expected[..]).expect("one block");
                assert_eq!(part, expected, "{algorithm} {} {ones}", isa.level());
                for byte in counter.iter_mut().rev() {
                    *byte = byte.wrapping_add(1);
                    if *byte != 0 {
                        break;
                    }
                }
            }
        }
    }
}

/// The end of a stream over a block cipher with blocks of 64 bits, and of one of 128 bits, whose
/// blocks are numbered with 64 bits too.
#[test]
fn counter_mode_ends_before_it_repeats() {
    for (isa, algorithm) in levels().flat_map(|isa| seekable().map(move |row| (isa, row))) {
        if algorithm.mode() != Mode::Ctr {
            continue;
        }
        let block = algorithm.primitive().block_size();
        let mut stream = open(isa, algorithm, u64::MAX - 2).expect("near the end");
        let left = usize::try_from(stream.remaining()).expect("a few blocks");
        // With larger blocks the counter continues, and there may be one more.
        assert!((2 * block..=3 * block).contains(&left) || left > 1 << 60, "{algorithm} {left}");
        if left <= 3 * block {
            let mut data = vec![7; left + 1];
            assert_eq!(stream.xor(&mut data[..]), Err(Error::KeystreamExhausted));
            assert_eq!(data, vec![7; left + 1]);
            assert_eq!(stream.xor(&mut data[..left]), Ok(()));
            assert_eq!(stream.remaining(), 0);
        }
    }
}

#[test]
fn the_null_stream_changes_nothing() {
    let mut stream = open(Isa::detect(), Algorithm::NULL, 0).expect("a stream");
    let mut data = [0x42; 100];
    stream.xor(&mut data[..]).expect("any data");
    assert_eq!(data, [0x42; 100]);
    assert_eq!(take::<7>(&mut stream), Ok([0; 7]));
    stream.seek(u64::MAX - 3).expect("a position");
    assert_eq!(take::<4>(&mut stream), Err(Error::KeystreamExhausted));
}

#[test]
fn debug_output_hides_the_key() {
    let stream = open(Isa::detect(), Algorithm::CHACHA20_DJB, 0).expect("a stream");
    assert_eq!(format!("{stream:?}"), "Stream { .. }");
}
