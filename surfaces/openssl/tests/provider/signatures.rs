//! RSA signatures: made with the module and checked without it, and the other way round.

use lanecrypt_kernels::{Isa, Level};

use crate::evp::{Context, Key, Padding};
use crate::{everywhere_with_rsa, everywhere_with_rsa_alone};

const SIDES: [[&str; 2]; 2] = [["lanecrypt", "default"], ["default", "lanecrypt"]];

/// Hash functions with the lengths of their digests.
const HASHES: [(&str, usize); 3] = [("SHA256", 32), ("SHA2-384", 48), ("sha512", 64)];

/// What the module has made and checked.
fn counted(context: &Context) -> [u64; 2] {
    [c"lanecrypt-signatures", c"lanecrypt-checks"].map(|name| context.counter(name))
}

/// Whether the module leaves signatures that are alone to the default provider, which makes them
/// faster.
fn leaves(bits: usize) -> bool {
    bits == 2048 && Isa::of_processor().has(Level::Avx512)
}

/// The paddings that the module serves.
fn paddings(hash: &str) -> Vec<Padding<'_>> {
    let pss = |salt| Padding { hash: Some(hash), mode: "pss", salt: Some(salt), mask: None };
    let mut all: Vec<_> = [-1, -3, 0, 20, 64].into_iter().map(pss).collect();
    all.push(Padding { mask: Some(hash), ..pss(-1) });
    all.push(Padding { hash: Some(hash), mode: "pkcs1", ..Padding::default() });
    all
}

/// Signs and checks a message in pieces and a digest, with a provider on each side, and with what
/// is wrong.
fn exchange(key: &Key<'_>, [signer, checker]: [&str; 2], padding: Padding<'_>, digest: &[u8]) {
    let place = format!("{signer} to {checker}: {padding:?}");
    let (public, message) = (key.to("default", false), [7; 1000]);

    let made = key.message(signer, padding, true).update(&message[..13]).update(&message[13..]);
    let made = made.sign().unwrap_or_else(|| panic!("{place}"));
    let checks = |message: &[u8], made: &[u8]| {
        public.message(checker, padding, false).update(message).verify(made)
    };
    assert!(checks(&message, &made), "{place}");
    assert!(!checks(&message[1..], &made), "{place}: another message");
    assert!(!checks(&message, &made[..made.len() - 1]), "{place}: a short signature");
    for at in [0, made.len() / 2, made.len() - 1] {
        let mut wrong = made.clone();
        wrong[at] ^= 1;
        assert!(!checks(&message, &wrong), "{place}: a wrong byte at {at}");
    }

    let made = key.sign(signer, padding, digest).unwrap_or_else(|| panic!("{place}"));
    assert!(public.verify(checker, padding, digest, &made), "{place}");
    let mut wrong = digest.to_vec();
    wrong[0] ^= 1;
    assert!(!public.verify(checker, padding, &wrong, &made), "{place}: another digest");
    assert!(key.sign(signer, padding, &digest[1..]).is_none(), "{place}: a short digest");
}

#[test]
fn both_directions() {
    everywhere_with_rsa_alone(|context| {
        for bits in [2048, 3072, 4096] {
            let key = context.shared_key(bits);
            for (hash, length) in HASHES {
                for padding in paddings(hash) {
                    for sides in SIDES {
                        let before = counted(context);
                        exchange(&key, sides, padding, &vec![5; length]);
                        let after = counted(context);
                        // Two signatures, or eight checks. One of the checks is of a length that
                        // may be refused before.
                        let here = if leaves(bits) { 0 } else { 2 };
                        let (made, checked) = (after[0] - before[0], after[1] - before[1]);
                        if sides[0] == "lanecrypt" {
                            assert_eq!((made, checked), (here, 0), "{padding:?}");
                        } else {
                            assert!(made == 0 && checked >= 7, "{padding:?}: {checked} checks");
                        }
                    }
                }
            }
        }
    });
}

/// What the module leaves to the default provider works as with that alone.
#[test]
fn what_is_handed_on() {
    everywhere_with_rsa_alone(|context| {
        let [small, key] = [1024, 2048].map(|bits| context.shared_key(bits));
        let three = context.new_key_of_primes("default", 2048, 3);
        let plain = Padding { mode: "pkcs1", ..Padding::default() };
        let others = [
            (Padding { hash: Some("SHA1"), ..plain }, 20),
            (Padding { hash: Some("SHA3-256"), ..plain }, 32),
            (Padding { hash: Some("SHA512-256"), ..plain }, 32),
            (Padding { hash: Some("SHA256"), mode: "x931", ..plain }, 32),
            (Padding { hash: Some("SHA1"), mode: "pss", salt: Some(-1), mask: None }, 20),
            (Padding { hash: Some("SHA256"), mode: "pss", salt: Some(-1), mask: Some("SHA1") }, 32),
        ];
        let before = counted(context);
        for sides in SIDES {
            for (padding, length) in others {
                exchange(&key, sides, padding, &vec![5; length]);
            }
            let [signer, checker] = sides;
            // Without a hash function the bytes are padded as they are.
            for (mode, bytes) in [("pkcs1", &[9; 36][..]), ("none", &[1; 256])] {
                let padding = Padding { mode, ..Padding::default() };
                let made = key.sign(signer, padding, bytes).expect("signed");
                assert!(key.verify(checker, padding, bytes, &made), "{sides:?} {mode}");
            }
            let combined = Padding { hash: Some("MD5-SHA1"), ..plain };
            let made = key.sign(signer, combined, &[3; 36]).expect("signed");
            assert!(key.verify(checker, combined, &[3; 36], &made), "{sides:?}");
            // Small keys, and keys with three primes.
            let padding = Padding { hash: Some("SHA256"), ..plain };
            let of_small = small.sign(signer, padding, &[4; 32]).expect("signed");
            assert!(small.verify(checker, padding, &[4; 32], &of_small), "{sides:?}");
            let made = three.sign(signer, padding, &[4; 32]).expect("signed");
            assert!(three.to("default", false).verify("default", padding, &[4; 32], &made));
        }
        assert_eq!(counted(context), before);

        // A salt of any length is found by the default provider; it is ours to make one.
        let key = context.shared_key(3072);
        let any = Padding { hash: Some("SHA256"), mode: "pss", salt: Some(-2), mask: None };
        for sides in SIDES {
            exchange(&key, sides, any, &[5; 32]);
        }
        assert_eq!(counted(context), [before[0] + 2, before[1]]);
    });
}

/// Settings that change when a message has begun, to what is ours and to what is not.
#[test]
fn settings_in_the_middle() {
    everywhere_with_rsa(|context| {
        let key = context.shared_key(3072);
        let pkcs1 = Padding { hash: Some("SHA256"), mode: "pkcs1", ..Padding::default() };
        let pss = Padding { mode: "pss", salt: Some(-1), ..pkcs1 };
        let odd = Padding { mask: Some("SHA1"), ..pss };
        for (first, then) in [(pkcs1, pss), (pss, pkcs1), (pkcs1, odd), (odd, pkcs1), (pss, odd)] {
            for [signer, checker] in SIDES {
                let begun = key.message(signer, first, true).update(b"mess");
                let made = begun.set(then).update(b"age").sign().expect("signed");
                let begun = key.message(checker, first, false).update(b"m");
                let place = format!("{signer} to {checker}: {first:?}, then {then:?}");
                assert!(begun.set(then).update(b"essage").verify(&made), "{place}");
                let plain = key.message("default", then, false).update(b"message");
                assert!(plain.verify(&made), "{place}");
            }
        }
    });
}

#[test]
fn copies_in_the_middle() {
    everywhere_with_rsa(|context| {
        let key = context.shared_key(3072);
        for mode in ["pkcs1", "pss"] {
            for hash in ["SHA256", "SHA1"] {
                let padding = Padding { hash: Some(hash), mode, ..Padding::default() };
                let begun = key.message("lanecrypt", padding, true).update(b"one ");
                let copy = begun.copy().update(b"three");
                let [two, three] = [begun.update(b"two"), copy].map(|message| message.sign());
                let checks = |message: &[u8], made: Option<Vec<u8>>| {
                    let begun = key.message("default", padding, false).update(message);
                    begun.verify(&made.expect("signed"))
                };
                assert!(checks(b"one two", two) && checks(b"one three", three), "{padding:?}");
            }
        }
    });
}

#[test]
fn identifiers_of_algorithms() {
    everywhere_with_rsa(|context| {
        let key = context.shared_key(3072);
        for hash in ["SHA256", "SHA384", "SHA512", "SHA1"] {
            for padding in paddings(hash) {
                let [ours, theirs] = ["lanecrypt", "default"]
                    .map(|provider| key.message(provider, padding, true).identifier());
                assert_eq!(ours, theirs, "{padding:?}");
                assert!(ours.len() > 10);
            }
        }
    });
}
