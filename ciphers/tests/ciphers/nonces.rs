//! Nonces: their bytes, that they do not repeat, and where they end.

use core::convert::Infallible;
use std::collections::BTreeSet;

use lanecrypt_ciphers::{
    Algorithm, Cipher, Error, Mode, Nonce, NonceSequence, Nonces, RandomNonces,
};
use rand_core::{TryCryptoRng, TryRng};

const GCM: Algorithm = Algorithm::AES_128_GCM;
const SIV: Algorithm = Algorithm::AES_SIV_256;
const XCHACHA: Algorithm = Algorithm::XCHACHA20_POLY1305;

/// The next nonce, as bytes.
fn next(nonces: &mut impl NonceSequence) -> Result<Vec<u8>, Error> {
    nonces.fresh().map(|nonce| nonce.to_vec())
}

#[test]
fn a_counter_follows_the_fixed_field() {
    for algorithm in [GCM, Algorithm::CHACHA20_POLY1305, SIV, XCHACHA] {
        let length = algorithm.nonce_length();
        for fixed in 0..=length - 4 {
            let field = vec![0xee; fixed];
            let mut nonces = Nonces::counter(algorithm, &field).expect("room for a counter");
            for i in [0_u8, 1, 2] {
                let mut expected = field.clone();
                expected.resize(length - 1, 0);
                expected.push(i);
                assert_eq!(next(&mut nonces), Ok(expected), "{algorithm} {fixed}");
            }
        }
    }
}

#[test]
fn carries_run_through_the_whole_counter() {
    let from = |fixed: &[u8], first| {
        let nonces = Nonces::counter(GCM, fixed).expect("room for a counter");
        let mut nonces = nonces.starting_at(first);
        [next(&mut nonces), next(&mut nonces)].map(|nonce| nonce.expect("not the end"))
    };
    let [before, after] = from(&[7; 4], 0xff_ffff_ffff);
    assert_eq!(before, [7, 7, 7, 7, 0, 0, 0, 255, 255, 255, 255, 255]);
    assert_eq!(after, [7, 7, 7, 7, 0, 0, 1, 0, 0, 0, 0, 0]);
    let [before, after] = from(&[7; 8], 0xff_ffff);
    assert_eq!(before, [7, 7, 7, 7, 7, 7, 7, 7, 0, 255, 255, 255]);
    assert_eq!(after, [7, 7, 7, 7, 7, 7, 7, 7, 1, 0, 0, 0]);
}

/// The last value of the counter is used, and none after it.
#[test]
fn a_counter_ends_for_good() {
    let masked = |algorithm: Algorithm| {
        Nonces::masked(algorithm, &vec![0x5c; algorithm.nonce_length()]).expect("a good length")
    };
    let counted =
        |algorithm, fixed: &[u8]| Nonces::counter(algorithm, fixed).expect("good lengths");
    let ends = [
        (counted(GCM, &[9; 8]), u64::from(u32::MAX)),
        (counted(GCM, &[9; 7]), (1 << 40) - 1),
        (counted(GCM, &[9; 4]), u64::MAX),
        (counted(GCM, &[]), u64::MAX),
        (counted(XCHACHA, &[9; 20]), u64::from(u32::MAX)),
        (counted(SIV, &[9; 12]), u64::from(u32::MAX)),
        (counted(SIV, &[9; 8]), u64::MAX),
        (masked(SIV), u64::MAX),
        (counted(XCHACHA, &[9; 16]), u64::MAX),
        (masked(GCM), u64::MAX),
        (masked(XCHACHA), u64::MAX),
    ];
    for (nonces, last) in ends {
        let place = format!("{nonces:?} {last}");
        let mut nonces = nonces.starting_at(last - 1);
        let [one, other] = [next(&mut nonces), next(&mut nonces)];
        assert!(one.is_ok() && other.is_ok() && one != other, "{place}");
        for _ in 0..3 {
            assert_eq!(next(&mut nonces), Err(Error::NoncesExhausted), "{place}");
        }
    }
    // Past the end of the counter from the beginning.
    let mut nonces = counted(GCM, &[9; 8]).starting_at(1 << 32);
    assert_eq!(next(&mut nonces), Err(Error::NoncesExhausted));
    let mut nonces = counted(GCM, &[9; 8]).starting_at(u64::MAX);
    assert_eq!(next(&mut nonces), Err(Error::NoncesExhausted));
}

/// The layout of STREAM: a fixed field, a counter of 32 bits, a flag.
#[test]
fn a_flag_follows_the_counter() {
    let flagged = |algorithm: Algorithm, fixed: &[u8], first| {
        Nonces::flagged(algorithm, fixed).expect("room for a counter").starting_at(first)
    };
    for algorithm in [GCM, SIV, XCHACHA] {
        let field = vec![0xee; algorithm.nonce_length() - 5];
        let mut nonces = flagged(algorithm, &field, 0x0102_03ff);
        for (flag, end) in [(0, [1, 2, 3, 255, 0]), (1, [1, 2, 4, 0, 1]), (255, [1, 2, 4, 1, 255])]
        {
            let nonce = match flag {
                0 => nonces.fresh(),
                flag => nonces.fresh_flagged(flag),
            };
            assert_eq!(
                nonce.as_deref(),
                Ok(&[&field[..], &end].concat()[..]),
                "{algorithm} {flag}"
            );
        }
        // The last count is used, and none after it, whatever the flag.
        let mut nonces = flagged(algorithm, &field, u64::from(u32::MAX));
        assert!(
            nonces.fresh_flagged(1).is_ok_and(|nonce| nonce.ends_with(&[255, 255, 255, 255, 1]))
        );
        assert_eq!(nonces.fresh_flagged(0), Err(Error::NoncesExhausted), "{algorithm}");
        assert_eq!(nonces.fresh(), Err(Error::NoncesExhausted), "{algorithm}");
    }
    // A long counter ends where it would leave no room for the flag.
    let mut nonces = flagged(GCM, &[], (1 << 56) - 1);
    assert_eq!(next(&mut nonces), Ok([[0; 4].as_slice(), &[255; 7], &[0]].concat()));
    assert_eq!(next(&mut nonces), Err(Error::NoncesExhausted));
    // Without room for a flag there is none, and asking for it takes no nonce.
    let mut nonces = Nonces::counter(GCM, &[]).expect("good lengths");
    assert_eq!(nonces.fresh_flagged(1), Err(Error::Unsupported));
    assert_eq!(next(&mut nonces), Ok(vec![0; 12]));
    for fixed in [8, 11, 12, 13, 100] {
        let refused = Nonces::flagged(GCM, &vec![0; fixed]);
        assert_eq!(refused.err(), Some(Error::NonceLength), "{fixed}");
    }
}

/// RFC 9001, appendix A.5: the packet with the number 654,360,564.
#[test]
fn quic_makes_the_same_nonces() {
    let iv = [0xe0, 0x45, 0x9b, 0x34, 0x74, 0xbd, 0xd0, 0xe4, 0x4a, 0x41, 0xc1, 0x44];
    let nonces = Nonces::masked(Algorithm::CHACHA20_POLY1305, &iv).expect("a good length");
    let expected = [0xe0, 0x45, 0x9b, 0x34, 0x74, 0xbd, 0xd0, 0xe4, 0x6d, 0x41, 0x7e, 0xb0];
    assert_eq!(next(&mut nonces.starting_at(654_360_564)), Ok(expected.to_vec()));
}

#[test]
fn masks_are_xored_into_the_last_bytes() {
    for algorithm in [GCM, SIV, XCHACHA] {
        let iv: Vec<u8> = (0x40..).take(algorithm.nonce_length()).collect();
        let mut nonces = Nonces::masked(algorithm, &iv).expect("a good length");
        assert_eq!(next(&mut nonces).as_ref(), Ok(&iv), "{algorithm}");
        let first = 0x0123_4567_89ab_cdef_u64;
        let mut expected = iv.clone();
        for (to, byte) in expected.iter_mut().rev().zip(first.to_le_bytes()) {
            *to ^= byte;
        }
        let nonces = Nonces::masked(algorithm, &iv).expect("a good length");
        assert_eq!(next(&mut nonces.starting_at(first)), Ok(expected), "{algorithm}");
    }
}

#[test]
fn nonces_are_all_different() {
    let mut nonces = [
        Nonces::counter(GCM, &[1; 8]).expect("good lengths"),
        Nonces::masked(GCM, &[0xab; 12]).expect("good lengths"),
        Nonces::counter(SIV, &[1; 8]).expect("good lengths"),
        Nonces::counter(XCHACHA, &[]).expect("good lengths"),
    ];
    for nonces in &mut nonces {
        let all: BTreeSet<_> = (0..70_000).map(|_| next(nonces).expect("not the end")).collect();
        assert_eq!(all.len(), 70_000);
    }
}

#[test]
fn wrong_lengths_are_refused() {
    for algorithm in [GCM, XCHACHA] {
        let length = algorithm.nonce_length();
        for fixed in [length - 3, length, length + 1, 100] {
            let refused = Nonces::counter(algorithm, &vec![0; fixed]);
            assert_eq!(refused.err(), Some(Error::NonceLength), "{algorithm} {fixed}");
        }
        for iv in [0, 8, length - 1, length + 1, 36 - length] {
            let refused = Nonces::masked(algorithm, &vec![0; iv]);
            assert_eq!(refused.err(), Some(Error::NonceLength), "{algorithm} {iv}");
        }
    }
    for &algorithm in Algorithm::ALL.iter().filter(|row| !row.is_aead()) {
        let error = Some(Error::Unsupported);
        let iv = vec![0; algorithm.nonce_length()];
        assert_eq!(Nonces::counter(algorithm, &[]).err(), error, "{algorithm}");
        assert_eq!(Nonces::masked(algorithm, &iv).err(), error, "{algorithm}");
        assert_eq!(RandomNonces::new(algorithm, Counting(0)).err(), error, "{algorithm}");
    }
    // Who knows the vector of CBC before the message can try guesses of others.
    for algorithm in Algorithm::ALL.iter().filter(|row| row.is_aead() && row.mode() == Mode::Cbc) {
        let error = Some(Error::Unsupported);
        assert!(algorithm.needs_random_nonces());
        assert_eq!(Nonces::counter(*algorithm, &[]).err(), error, "{algorithm}");
        assert_eq!(Nonces::masked(*algorithm, &[0; 16]).err(), error, "{algorithm}");
        assert!(RandomNonces::new(*algorithm, Counting(0)).is_ok(), "{algorithm}");
    }
}

/// Of an algorithm with nonces of another length; none is used up.
#[test]
fn a_cipher_refuses_nonces_of_other_algorithms() {
    for (one, other) in [(GCM, XCHACHA), (XCHACHA, GCM)] {
        let key = vec![1; one.key_lengths().longest()];
        let cipher = Cipher::new(one, &key).expect("a good key");
        let mut nonces = Nonces::counter(other, &[]).expect("room for a counter");
        let mut packet = [0xa5; 40];
        let refused = cipher.seal_next(&mut nonces, b"", &mut packet);
        assert_eq!(refused, Err(Error::NonceLength));
        assert_eq!(packet, [0xa5; 40]);
        assert_eq!(next(&mut nonces), Ok(vec![0; other.nonce_length()]));
    }
}

/// Nothing is sealed without a nonce.
#[test]
fn a_cipher_stops_with_its_nonces() {
    let cipher = Cipher::new(GCM, &[1; 16]).expect("a good key");
    let nonces = Nonces::counter(GCM, &[0; 8]).expect("room for a counter");
    let mut nonces = nonces.starting_at(u64::from(u32::MAX));
    let mut packet = [0xa5; 40];
    assert!(cipher.seal_next(&mut nonces, b"", &mut packet).is_ok());
    packet.fill(0xa5);
    for _ in 0..2 {
        let refused = cipher.seal_next(&mut nonces, b"", &mut packet);
        assert_eq!(refused, Err(Error::NoncesExhausted));
        assert_eq!(packet, [0xa5; 40]);
    }
}

/// A generator whose output shows how much was taken.
struct Counting(u8);

impl TryRng for Counting {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("nonces are made of bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("nonces are made of bytes")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for byte in out {
            self.0 = self.0.wrapping_add(1);
            *byte = self.0;
        }
        Ok(())
    }
}

impl TryCryptoRng for Counting {}

#[test]
fn random_nonces_are_what_the_generator_makes() {
    for algorithm in [GCM, XCHACHA] {
        let length = algorithm.nonce_length();
        let mut nonces = RandomNonces::new(algorithm, Counting(0)).expect("an aead");
        let expected: Vec<u8> = (1..).take(2 * length).collect();
        assert_eq!(next(&mut nonces).as_deref(), Ok(&expected[..length]), "{algorithm}");
        assert_eq!(next(&mut nonces).as_deref(), Ok(&expected[length..]), "{algorithm}");
    }
}

#[test]
fn random_nonces_end_before_they_are_likely_to_repeat() {
    let left = |algorithm, used, more: usize| {
        let mut nonces = RandomNonces::new(algorithm, Counting(0)).expect("an aead");
        nonces = nonces.already_used(used);
        (0..more).all(|_| nonces.fresh().is_ok())
            && nonces.fresh() == Err(Error::NoncesExhausted)
            && nonces.fresh() == Err(Error::NoncesExhausted)
    };
    for algorithm in [GCM, Algorithm::CHACHA20_POLY1305] {
        assert!(left(algorithm, (1 << 32) - 2, 2), "{algorithm}");
        assert!(left(algorithm, 1 << 32, 0), "{algorithm}");
        assert!(left(algorithm, u64::MAX, 0), "{algorithm}");
    }
    assert!(left(XCHACHA, u64::MAX - 2, 2));
    let chained = Algorithm::AES_128_CBC_HMAC_SHA256;
    assert!(left(chained, (1 << 48) - 2, 2));
    assert!(left(chained, 1 << 48, 0));
}

#[test]
fn debug_output_shows_nonces_and_hides_what_masks_them() {
    let mut nonces = Nonces::masked(GCM, &[0xab; 12]).expect("a good length");
    let nonce = nonces.fresh().expect("a nonce");
    assert_eq!(format!("{nonce:?}"), "Nonce(abababababababababababab)");
    assert_eq!(format!("{nonces:?}"), "Nonces { next: 1, .. }");
    let nonces = RandomNonces::new(GCM, Counting(7)).expect("an aead");
    assert_eq!(format!("{nonces:?}"), "RandomNonces { left: 4294967296, .. }");
}

#[test]
fn a_nonce_has_the_bytes_that_it_is_made_of() {
    let bytes: Vec<u8> = (0..=32).collect();
    for length in 0..=32 {
        let nonce = Nonce::new(&bytes[..length]).expect("short enough");
        assert_eq!(nonce[..], bytes[..length]);
    }
    assert_eq!(Nonce::new(&bytes), Err(Error::NonceLength));
}
