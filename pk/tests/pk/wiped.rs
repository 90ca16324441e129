//! Keys that are dropped leave nothing in memory.

use core::mem::MaybeUninit;
use core::ptr;

use lanecrypt_pk::mlkem768::DecapsulationKey;
use lanecrypt_pk::{ed25519, p256, x25519};

/// The bytes of a value in place, before and after it is dropped there.
fn bytes_around_drop<T>(value: T) -> [Vec<u8>; 2] {
    let mut place = Box::new(MaybeUninit::<T>::zeroed());
    let pointer = place.as_mut_ptr();
    // SAFETY: the place is aligned, large enough and uninitialised.
    unsafe { pointer.write(value) };
    let bytes = || {
        let first = pointer.cast::<u8>().cast_const();
        // Volatile, because the compiler may assume that dropped values are not read.
        // SAFETY: the address is within the box, whose bytes were all zeroed or written.
        let byte = |i| unsafe { ptr::read_volatile(first.wrapping_add(i)) };
        (0..size_of::<T>()).map(byte).collect::<Vec<u8>>()
    };
    let before = bytes();
    // SAFETY: the place holds a value, which is not used again.
    unsafe { ptr::drop_in_place(pointer) };
    [before, bytes()]
}

/// Whether `bytes` has a run of the secret that is too long to be an accident.
fn holds(bytes: &[u8], secret: &[u8]) -> bool {
    secret.windows(8).any(|part| bytes.windows(8).any(|window| window == part))
}

fn check<T>(value: T, secret: &[u8]) {
    let [before, after] = bytes_around_drop(value);
    assert!(holds(&before, secret) && !holds(&after, secret));
}

const SECRET: [u8; 64] = *b"thirty-two bytes of a secret key, and as many bytes of the other";

#[test]
fn keys() {
    let secret: [u8; 32] = *SECRET.first_chunk().expect("32 bytes");
    check(x25519::SecretKey::from_bytes(&secret), &secret);
    check(p256::SecretKey::from_bytes(&secret).expect("in range"), &secret);
    check(p256::SigningKey::from_bytes(&secret).expect("in range"), &secret);
    check(ed25519::SigningKey::from_bytes(&secret), &secret);
    check(DecapsulationKey::from_seed(&SECRET), &SECRET);
}

#[test]
fn shared_secrets() {
    let key = x25519::SecretKey::from_bytes(&[1; 32]);
    let shared = key.diffie_hellman(&key.public_key()).expect("a good key");
    let bytes = *shared.as_bytes();
    check(shared, &bytes);
}

/// What is expanded of a key, which differs wherever keys differ.
#[test]
fn expanded_keys() {
    let [one, other] =
        [1, 2].map(|byte| bytes_around_drop(ed25519::SigningKey::from_bytes(&[byte; 32])));
    assert!(differences(&one[0], &other[0]) > 100);
    // The public keys stay.
    assert!(differences(&one[1], &other[1]) < differences(&one[0], &other[0]) - 80);
    let [one, other] = [1, 2].map(|byte| {
        // One d, so that all that differs is secret.
        let mut seed = [7; 64];
        seed[32..].fill(byte);
        bytes_around_drop(DecapsulationKey::from_seed(&seed))
    });
    assert!(differences(&one[0], &other[0]) >= 32);
    assert_eq!(differences(&one[1], &other[1]), 0);
}

/// The number of positions at which the bytes differ.
fn differences(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).filter(|(one, other)| one != other).count()
}
