//! X25519 and P-256, with the module on one side and without it on the other; what else there is of
//! keys of curves works as without the module.

use core::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::evp::{Context, Curve, Jobs, Key, Padding, Step};
use crate::{everywhere_with_rsa, everywhere_with_rsa_alone};

const X25519: Curve = Curve { kind: c"X25519", group: None };
const P256: Curve = Curve { kind: c"EC", group: Some("P-256") };
const OURS: [Curve; 4] = [
    X25519,
    Curve { kind: c"X25519", group: Some("x25519") },
    P256,
    Curve { kind: c"EC", group: Some("prime256v1") },
];
/// What the module hands on.
const THEIRS: [Curve; 5] = [
    Curve { kind: c"EC", group: Some("P-384") },
    Curve { kind: c"EC", group: Some("secp521r1") },
    Curve { kind: c"EC", group: Some("secp256k1") },
    Curve { kind: c"EC", group: Some("brainpoolP256r1") },
    Curve { kind: c"X448", group: None },
];

const SIDES: [[&str; 2]; 2] = [["lanecrypt", "default"], ["default", "lanecrypt"]];

const SHA256: Padding<'_> = Padding { hash: Some("SHA256"), mode: "", salt: None, mask: None };

/// What the module has done.
fn counted(context: &Context) -> [u64; 4] {
    [c"lanecrypt-keys", c"lanecrypt-agreements", c"lanecrypt-signatures", c"lanecrypt-together"]
        .map(|name| context.counter(name))
}

fn differences(before: [u64; 4], after: [u64; 4]) -> [u64; 4] {
    core::array::from_fn(|at| after[at] - before[at])
}

/// Does something in jobs, all of which wait once.
fn in_jobs<'w>(context: &Context, works: Vec<Box<dyn FnMut() + 'w>>) {
    let mut jobs = Jobs::new(context.crypto);
    let count = works.len();
    for work in works {
        jobs.add(work);
    }
    for number in 0..count {
        assert_eq!(jobs.step(number), Step::Paused, "job {number}");
        assert!(jobs.is_woken(number));
    }
    for number in (0..count).rev() {
        assert_eq!(jobs.step(number), Step::Finished, "job {number}");
    }
}

/// Does something in two jobs, in which keys, and secrets and signatures of both, are ours.
/// Returns how often each waits.
pub(crate) fn in_two_jobs(context: &Context, work: impl Fn()) -> usize {
    let mut jobs = Jobs::new(context.crypto);
    jobs.add(&work);
    jobs.add(&work);
    let mut pauses = 0;
    loop {
        let steps = [jobs.step(0), jobs.step(1)];
        assert_eq!(steps[0], steps[1]);
        if steps[0] == Step::Finished {
            return pauses;
        }
        pauses += 1;
    }
}

#[test]
fn secrets_in_both_directions() {
    everywhere_with_rsa(|context| {
        for curve in OURS.into_iter().chain(THEIRS) {
            for [one, other] in SIDES {
                let [a, b] = [one, other].map(|from| context.new_curve_key(from, curve));
                let place = format!("{curve:?}, {one} with {other}");
                assert!(!a.equals(&b), "{place}");
                // As libssl passes them.
                let [to_a, to_b] =
                    [a.received(&b.sent()), b.received(&a.sent())].map(|key| key.expect("good"));
                let secret = a.derive(one, &to_a, 100).unwrap_or_else(|| panic!("{place}"));
                assert_eq!(b.derive(other, &to_b, 100), Some(secret.clone()), "{place}");
                // Keys of one provider with the operations of the other.
                let public = b.to(one, false);
                for provider in [one, other] {
                    assert_eq!(a.derive(provider, &public, 100), Some(secret.clone()), "{place}");
                    assert_eq!(a.derive(provider, &b, 100), Some(secret.clone()), "{place}");
                }
                assert_eq!(a.to(other, true).derive(other, &b, 100), Some(secret), "{place}");
            }
        }
    });
}

/// In jobs, keys and secrets are ours, and equal those of the default provider.
#[test]
fn secrets_in_jobs() {
    everywhere_with_rsa_alone(|context| {
        for curve in OURS {
            let before = counted(context);
            let pauses = in_two_jobs(context, || {
                let [ours, theirs] =
                    ["lanecrypt", "default"].map(|from| context.new_curve_key(from, curve));
                let public = ours.received(&theirs.sent()).expect("good");
                let secret = ours.derive("lanecrypt", &public, 32).expect("derived");
                let back = theirs.received(&ours.sent()).expect("good");
                assert_eq!(theirs.derive("default", &back, 32), Some(secret.clone()));
                // A key of the default provider.
                assert_eq!(theirs.derive("lanecrypt", &back, 32), Some(secret));
            });
            assert_eq!(pauses, 2, "{curve:?}");
            assert_eq!(differences(before, counted(context)), [2, 4, 0, 4], "{curve:?}");
        }
    });
}

/// Signs and checks a message and digests, with a provider on each side.
fn exchange(key: &Key<'_>, [signer, checker]: [&str; 2], padding: Padding<'_>, length: usize) {
    let place = format!("{signer} to {checker}: {padding:?}");
    let (public, message) = (key.to("default", false), [7; 1000]);
    let made = key.message(signer, padding, true).update(&message[..13]).update(&message[13..]);
    let copy = made.copy();
    for made in [made, copy] {
        let made = made.sign().unwrap_or_else(|| panic!("{place}"));
        let checks = |message: &[u8], made: &[u8]| {
            public.message(checker, padding, false).update(message).verify(made)
        };
        assert!(checks(&message, &made), "{place}");
        assert!(!checks(&message[1..], &made), "{place}: another message");
        assert!(!checks(&message, &made[..made.len() - 1]), "{place}: a short signature");
        for at in [0, 1, 3, 10, made.len() / 2, made.len() - 1] {
            let mut wrong = made.clone();
            wrong[at] ^= 1;
            assert!(!checks(&message, &wrong), "{place}: a wrong byte at {at}");
        }
    }
    let digest = vec![5; length];
    let made = key.sign(signer, padding, &digest).unwrap_or_else(|| panic!("{place}"));
    assert!(public.verify(checker, padding, &digest, &made), "{place}");
    assert!(!public.verify(checker, padding, &vec![6; length], &made), "{place}");
    assert!(key.sign(signer, padding, &digest[1..]).is_none(), "{place}: a short digest");
    // Without a hash function, what is given is signed, whatever its length.
    for length in [1, 20, 31, 32, 33, 64] {
        let (padding, digest) = (Padding::default(), vec![0x81; length]);
        let made = key.sign(signer, padding, &digest).unwrap_or_else(|| panic!("{place}"));
        assert!(public.verify(checker, padding, &digest, &made), "{place}: {length} bytes");
    }
}

#[test]
fn signatures_in_both_directions() {
    everywhere_with_rsa_alone(|context| {
        for curve in [P256, THEIRS[0], THEIRS[1], THEIRS[2]] {
            let key = context.new_curve_key("default", curve);
            for (hash, length) in
                [("SHA256", 32), ("SHA2-384", 48), ("sha512", 64), ("SHA1", 20), ("SHA3-256", 32)]
            {
                let padding = Padding { hash: Some(hash), ..Padding::default() };
                for sides in SIDES {
                    exchange(&key, sides, padding, length);
                    let before = counted(context);
                    let pauses = in_two_jobs(context, || exchange(&key, sides, padding, length));
                    let is_ours = sides[0] == "lanecrypt" && curve.group == Some("P-256");
                    // Two messages or none, a digest, and those without a hash function.
                    let made = match hash {
                        _ if !is_ours => 0,
                        "SHA1" | "SHA3-256" => 6,
                        _ => 9,
                    };
                    assert_eq!(pauses, made, "{curve:?} {sides:?} {hash}");
                    let [_, _, signatures, together] = differences(before, counted(context));
                    assert_eq!((signatures, together), (2 * made as u64, 2 * made as u64));
                }
            }
        }
    });
}

/// Jobs of several connections: secrets and signatures of all of them are made together.
#[test]
fn jobs_work_together() {
    everywhere_with_rsa_alone(|context| {
        let signer = context.new_curve_key("default", P256);
        for count in [1, 2, 8, 17] {
            let keys: Vec<_> = (0..2 * count)
                .map(|at| context.new_curve_key("default", OURS[at % 2 * 2]))
                .collect();
            let secrets = RefCell::new(vec![None; 2 * count]);
            let signatures = RefCell::new(vec![None; count]);
            let mut works: Vec<Box<dyn FnMut()>> = Vec::new();
            for at in 0..2 * count {
                let (keys, secrets) = (&keys, &secrets);
                works.push(Box::new(move || {
                    let peer = keys[at].received(&keys[(at + 2) % keys.len()].sent());
                    let secret = keys[at].derive("lanecrypt", &peer.expect("good"), 32);
                    secrets.borrow_mut()[at] = secret;
                }));
            }
            for at in 0..count {
                let (signer, signatures) = (&signer, &signatures);
                works.push(Box::new(move || {
                    let message = signer.message("lanecrypt", SHA256, true).update(&[7; 100][at..]);
                    signatures.borrow_mut()[at] = message.sign();
                }));
            }
            let before = counted(context);
            in_jobs(context, works);
            let done = differences(before, counted(context));
            let count64 = count as u64;
            match count {
                // The default provider does what is alone of its kind.
                1 => assert_eq!(done, [0; 4]),
                // That may happen at the end of those that are more than a batch.
                17 => assert!(done[3] >= 3 * count64 - 3 && done[3] == done[1] + done[2]),
                _ => assert_eq!(done, [0, 2 * count64, count64, 3 * count64]),
            }
            for (at, secret) in secrets.take().into_iter().enumerate() {
                let peer = &keys[(at + 2) % keys.len()];
                assert_eq!(secret, keys[at].derive("default", peer, 32), "{at} of {count}");
                assert!(secret.is_some());
            }
            for (at, signature) in signatures.take().into_iter().enumerate() {
                let message = signer.message("default", SHA256, false).update(&[7; 100][at..]);
                assert!(message.verify(&signature.expect("signed")), "{at} of {count}");
            }
        }
    });
}

/// Jobs that are never resumed take nothing from others.
#[test]
fn jobs_that_are_given_up() {
    everywhere_with_rsa_alone(|context| {
        let [one, other] = [(); 2].map(|()| context.new_curve_key("lanecrypt", X25519));
        let (secrets, before) = (RefCell::new(Vec::new()), counted(context));
        let mut jobs = Jobs::new(context.crypto);
        for _ in 0..5 {
            jobs.add(|| {
                let secret = one.derive("lanecrypt", &other, 32);
                secrets.borrow_mut().push(secret);
            });
        }
        for number in 0..5 {
            assert_eq!(jobs.step(number), Step::Paused);
        }
        jobs.abandon(1);
        jobs.abandon(3);
        for number in [0, 2, 4] {
            assert_eq!(jobs.step(number), Step::Finished);
        }
        assert_eq!(differences(before, counted(context)), [0, 3, 0, 3]);
        assert_eq!(secrets.take(), vec![one.derive("default", &other, 32); 3]);
    });
}

/// What a peer may send, which neither provider takes, or of which both make the same.
#[test]
fn hostile_peers() {
    let small_orders = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ];
    everywhere_with_rsa(|context| {
        let [ours, theirs] =
            ["lanecrypt", "default"].map(|from| context.new_curve_key(from, X25519));
        for point in small_orders {
            let peer = lanecrypt_testing::numbers::hex(point);
            for (key, from) in [(&ours, "lanecrypt"), (&theirs, "default"), (&theirs, "lanecrypt")]
            {
                let check = || {
                    let peer = key.received(&peer).expect("every string is a key");
                    assert_eq!(key.derive(from, &peer, 32), None, "{point} {from}");
                };
                check();
                in_two_jobs(context, check);
            }
        }
        // Bits and numbers that RFC 7748 says to ignore or to reduce.
        for last in [0x80, 0xff] {
            let mut peer = [0xff; 32];
            peer[31] = last;
            let secrets = [(&ours, "lanecrypt"), (&ours, "default")].map(|(key, from)| {
                key.derive(from, &key.received(&peer).expect("a key"), 32).expect("derived")
            });
            assert_eq!(secrets[0], secrets[1]);
        }
        // Too short, too long, and no room.
        let sent = theirs.sent();
        for wrong in [&sent[..31], &[&sent[..], &[0]].concat(), &[]] {
            assert!(ours.received(wrong).is_none(), "{} bytes", wrong.len());
        }
        for (key, from) in [(&ours, "lanecrypt"), (&theirs, "default")] {
            assert_eq!(key.derive(from, &key.received(&sent).expect("a key"), 31), None, "{from}");
        }

        in_two_jobs(context, || {
            let [ours, theirs] =
                ["lanecrypt", "default"].map(|from| context.new_curve_key(from, P256));
            let sent = theirs.sent();
            assert_eq!(sent.len(), 65);
            let changed = |at: usize, byte: u8| {
                let mut wrong = sent.clone();
                wrong[at] = byte;
                wrong
            };
            let odd = sent[64] & 1;
            let compressed = [&[2 + odd][..], &sent[1..33]].concat();
            let hybrid = changed(0, 6 + odd);
            let same = ours.derive("default", &theirs, 32);
            for good in [&sent, &compressed, &hybrid] {
                for from in ["lanecrypt", "default"] {
                    let peer = ours.received(good).expect("good");
                    assert_eq!(ours.derive(from, &peer, 32), same, "{from} {}", good[0]);
                }
            }
            let wrong = [
                changed(64, sent[64] ^ 1),
                changed(1, sent[1] ^ 0x80),
                changed(0, 5),
                changed(0, 7 - odd),
                vec![0],
                [&[4][..], &[0; 64]].concat(),
                [&[4][..], &[0xff; 64]].concat(),
                sent[..64].to_vec(),
                [&sent[..], &[0]].concat(),
                Vec::new(),
            ];
            for wrong in &wrong {
                for key in [&ours, &theirs] {
                    // A point at infinity is a key for OpenSSL until it is used.
                    if let Some(peer) = key.received(wrong) {
                        assert_eq!(wrong, &[0]);
                        for from in ["lanecrypt", "default"] {
                            assert_eq!(key.derive(from, &peer, 32), None, "{wrong:?} {from}");
                        }
                    }
                }
            }
            // Secrets are cut off, as OpenSSL does it.
            for room in [0, 1, 31, 33] {
                let peer = ours.received(&sent).expect("good");
                let [one, other] =
                    ["lanecrypt", "default"].map(|from| ours.derive(from, &peer, room));
                assert_eq!(one, other, "{room}");
            }
            // Another curve.
            let other = context.new_curve_key("lanecrypt", THEIRS[0]);
            for from in ["lanecrypt", "default"] {
                assert_eq!(ours.derive(from, &other, 100), None, "{from}");
                assert_eq!(other.derive(from, &ours, 100), None, "{from}");
            }
        });
    });
}

/// A key is used for several peers, and a received one is set again.
#[test]
fn keys_that_are_set_again() {
    everywhere_with_rsa(|context| {
        for curve in [X25519, P256, THEIRS[0]] {
            in_two_jobs(context, || {
                let own = context.new_curve_key("lanecrypt", curve);
                let peers = [(); 3].map(|()| context.new_curve_key("default", curve));
                let peer = own.received(&peers[0].sent()).expect("good");
                for next in &peers {
                    assert!(peer.receive(&next.sent()));
                    let secret = own.derive("lanecrypt", &peer, 100);
                    assert!(secret.is_some());
                    assert_eq!(secret, next.derive("default", &own.to("default", false), 100));
                    assert_eq!(peer.sent(), next.sent(), "{curve:?}");
                }
                // A wrong one leaves it without a secret of another.
                assert!(!peer.receive(&[9; 7]));
                let secret = own.derive("lanecrypt", &peer, 100);
                assert_eq!(secret, own.derive("default", &peer, 100));
            });
        }
    });
}

/// Settings of ECDH are the default provider's.
#[test]
fn key_derivation() {
    everywhere_with_rsa(|context| {
        for curve in [P256, THEIRS[0]] {
            in_two_jobs(context, || {
                let [ours, theirs] =
                    ["lanecrypt", "default"].map(|from| context.new_curve_key(from, curve));
                let secret = ours.derive_x963("lanecrypt", &theirs);
                assert_eq!(theirs.derive_x963("default", &ours), secret);
            });
        }
    });
}

/// Keys of a provider are those of the other: numbers, texts, comparisons, checks and copies.
#[test]
fn to_the_default_provider_and_back() {
    let numbers = [c"bits", c"security-bits", c"max-size", c"priv", c"order"];
    let texts = [c"group", c"default-digest", c"point-format", c"encoding"];
    everywhere_with_rsa(|context| {
        for curve in OURS.into_iter().chain(THEIRS) {
            let check = |key: Key<'_>, from: &str, to: &str| {
                let place = format!("{curve:?}, {from} to {to}");
                // Before it becomes one of the default provider.
                let (bits, sent, copy) = (key.number(c"bits"), key.sent(), key.duplicate());
                let (other, public) = (key.to(to, true), key.to(to, false));
                assert_eq!((bits, sent), (other.number(c"bits"), other.sent()), "{place}");
                for name in numbers {
                    assert_eq!(key.number(name), other.number(name), "{place}: {name:?}");
                }
                for name in texts {
                    assert_eq!(key.text(name), other.text(name), "{place}: {name:?}");
                }
                assert!(key.equals(&other) && public.equals(&key), "{place}");
                assert!(key.is_good(from) && other.is_good(to), "{place}");
                drop(key);
                assert!(copy.equals(&other) && copy.is_good(from), "{place}");
                assert!(copy.gives_its_private_half(), "{place}");
            };
            for [from, to] in SIDES {
                check(context.new_curve_key(from, curve), from, to);
                in_two_jobs(context, || check(context.new_curve_key(from, curve), from, to));
            }
        }
    });
}

/// Keys are made ahead, but a forked process does not have its parent's, and no key comes twice.
#[test]
fn keys_of_forked_processes() {
    everywhere_with_rsa_alone(|context| {
        let before = counted(context);
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(context.new_curve_key("lanecrypt", X25519).sent());
        }
        assert_eq!(counted(context)[0] - before[0], 3);
        let (mut pipe, mut into_pipe) = std::io::pipe().expect("there are descriptors");
        // SAFETY: the child only makes keys and writes them, and ends.
        let child = unsafe { libc::fork() };
        let next = || -> Vec<u8> {
            (0..20).flat_map(|_| context.new_curve_key("lanecrypt", X25519).sent()).collect()
        };
        if child == 0 {
            let keys = next();
            let written = into_pipe.write_all(&keys);
            // SAFETY: nothing of the parent's is run.
            unsafe { libc::_exit(i32::from(written.is_err())) };
        }
        seen.extend(next().chunks(32).map(<[u8]>::to_vec));
        let mut of_child = vec![0; 20 * 32];
        let mut status = 1;
        // SAFETY: a child, whose keys fit into the pipe, and a place for how it ended.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        pipe.read_exact(&mut of_child).expect("it wrote all");
        assert_eq!(status, 0);
        seen.extend(of_child.chunks(32).map(<[u8]>::to_vec));
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((all, seen.len()), (43, 43));
    });
}

/// What the program `openssl` prints, given this input; none if it is not here.
fn openssl(arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new("openssl");
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take().expect("piped").write_all(input).expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{arguments:?}");
    Some(output.stdout)
}

/// Keys from files, which decoders of the default provider read.
#[test]
fn keys_from_files() {
    let ec = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];
    let Some(pkcs8) = openssl(&ec, b"") else {
        println!("SKIPPED openssl-program: apt install openssl");
        return;
    };
    let made = |arguments: &[&str], input: &[u8]| openssl(arguments, input).expect("it is here");
    let sec1 = made(&["pkey", "-traditional"], &pkcs8);
    let compressed = made(&["ec", "-conv_form", "compressed"], &pkcs8);
    let explicit = made(&["ec", "-param_enc", "explicit"], &pkcs8);
    let public = made(&["pkey", "-pubout"], &pkcs8);
    let x25519 = made(&["genpkey", "-algorithm", "X25519"], b"");
    let x25519_public = made(&["pkey", "-pubout"], &x25519);
    everywhere_with_rsa(|context| {
        let public = context.read(&public, false).expect("read");
        for (form, pem) in [
            ("PKCS#8", &pkcs8),
            ("SEC 1", &sec1),
            ("compressed", &compressed),
            ("explicit", &explicit),
        ] {
            let key = context.read(pem, true).expect(form);
            let pauses = in_two_jobs(context, || {
                let made = key.message("lanecrypt", SHA256, true).update(b"message").sign();
                let checked = public.message("default", SHA256, false).update(b"message");
                assert!(checked.verify(&made.expect("signed")), "{form}");
            });
            // With explicit parameters, either may sign.
            assert!(pauses == 1 || form == "explicit", "{form}: not ours");
        }
        let key = context.read(&x25519, true).expect("read");
        let public = context.read(&x25519_public, false).expect("read");
        assert!(key.equals(&public));
        let other = context.new_curve_key("default", X25519);
        let pauses = in_two_jobs(context, || {
            let secret = other.derive("default", &public, 32);
            assert_eq!(key.derive("lanecrypt", &other, 32), secret);
        });
        assert_eq!(pauses, 1, "not ours");
    });
}

/// Many threads use one key at the same time.
#[test]
fn shared_by_threads() {
    everywhere_with_rsa(|context| {
        let [p256, x25519] = [P256, X25519].map(|curve| context.new_curve_key("lanecrypt", curve));
        let other = context.new_curve_key("default", X25519);
        let secret = other.derive("default", &x25519.to("default", false), 32);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..4 {
                        in_two_jobs(context, || {
                            assert_eq!(x25519.derive("lanecrypt", &other, 32), secret);
                            let made = p256.sign("lanecrypt", SHA256, &[1; 32]).expect("signed");
                            assert!(p256.verify("default", SHA256, &[1; 32], &made));
                        });
                    }
                    context.leave();
                });
            }
        });
    });
}
