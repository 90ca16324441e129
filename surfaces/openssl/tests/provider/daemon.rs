//! RSA keys that live in a daemon, which is a thread of the test: named by files and URIs, they
//! sign, and everything else is a clear error.

use core::cell::RefCell;
use core::fmt::Write as _;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use lanecrypt_device::{Client, Handle, Key as Named, Server};
use lanecrypt_engine::Operation;
use lanecrypt_rsa::{Hash, PrivateKey};

use crate::everywhere_with_rsa_alone;
use crate::evp::{Jobs, Key, Padding, Step};

/// What the default provider is to accept: with salts as long as digests.
const PADDINGS: [(&str, &str); 6] = [
    ("SHA256", "pkcs1"),
    ("SHA384", "pkcs1"),
    ("SHA512", "pkcs1"),
    ("SHA256", "pss"),
    ("SHA384", "pss"),
    ("SHA512", "pss"),
];

const PSS: Padding<'_> = Padding { hash: Some("SHA256"), mode: "pss", salt: Some(-1), mask: None };

fn padding((hash, mode): (&'static str, &'static str)) -> Padding<'static> {
    Padding { hash: Some(hash), mode, salt: (mode == "pss").then_some(-1), mask: None }
}

/// The time in which a daemon answers, even on a busy machine.
const WITHIN: Duration = Duration::from_secs(60);

/// A daemon that runs until it is dropped.
struct Daemon {
    socket: PathBuf,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Daemon {
    fn new(key: &PrivateKey) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("lanecrypt openssl-{}-{number}", std::process::id());
        Self::at(&std::env::temp_dir().join(name), key)
    }

    fn at(socket: &Path, key: &PrivateKey) -> Self {
        use lanecrypt_rsa::Padding;

        let copy = || PrivateKey::from_pkcs8_der(&key.to_pkcs8_der().expect("it has primes"));
        let key =
            |name: &str, padding| Named::asymmetric(name, (copy().expect("it is a key"), padding));
        let hashes = [Hash::SHA256, Hash::SHA384, Hash::SHA512];
        let all = hashes.map(Padding::pkcs1v15).into_iter().chain(hashes.map(Padding::pss));
        let [first, second] = [Padding::pss(Hash::SHA256), Padding::pkcs1v15(Hash::SHA256)];
        let keys = vec![
            key("web", first).with_paddings(all),
            key("one", second),
            key("checks", second).for_operations([Operation::Verify]),
            key("another's", second).for_users([u32::MAX - 1]),
        ];
        let mut daemon =
            Server::new().keys(keys).prepare().expect("keys").bind(socket).expect("free");
        let handle = daemon.handle();
        let thread = thread::spawn(move || daemon.run().expect("it can wait"));
        Self { socket: socket.to_owned(), handle, thread: Some(thread) }
    }

    fn uri(&self, name: &str) -> String {
        let path = self.socket.to_str().expect("UTF-8").replace(' ', "%20");
        format!("lanecrypt:{name}?socket={path}")
    }

    fn signatures(&self) -> u64 {
        Client::<Vec<u8>>::statistics(&self.socket, WITHIN).expect("it listens").signatures
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.handle.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it does not panic");
        }
    }
}

/// A PEM file with this content.
fn pem(content: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::from("-----BEGIN LANECRYPT KEY-----\n");
    for line in content.chunks(48) {
        for group in line.chunks(3) {
            let mut bits = [0; 4];
            bits[1..=group.len()].copy_from_slice(group);
            let bits = u32::from_be_bytes(bits);
            let four = [18, 12, 6, 0].map(|by| char::from(DIGITS[(bits >> by & 63) as usize]));
            text.extend(&four[..=group.len()]);
            text += &"=="[..3 - group.len()];
        }
        text.push('\n');
    }
    let _ = writeln!(text, "-----END LANECRYPT KEY-----");
    text.into_bytes()
}

fn private(pem: &str) -> PrivateKey {
    PrivateKey::from_pem(pem).expect("it is a key")
}

const KEY: &str = include_str!("../../../../rsa/tests/key.pem");

/// What `OSSL_STORE_INFO_...` calls everything, public keys, keys and certificates.
const EVERYTHING: i32 = 0;
const PUBLIC: i32 = 3;
const KEYS: i32 = 4;
const CERTIFICATES: i32 = 5;

#[test]
fn keys_sign_and_stay() {
    let daemon = Daemon::new(&private(KEY));
    everywhere_with_rsa_alone(|context| {
        let here = context.read(KEY.as_bytes(), true).expect("it is a key");
        let uri = daemon.uri("web");
        let found = [
            context.read(&pem(uri.as_bytes()), true).expect("it is there"),
            context.open(&uri, KEYS).expect("it is there"),
            context.open(&uri, EVERYTHING).expect("it is there"),
        ];
        for key in found.iter().flat_map(|key| [key.duplicate(), key.duplicate().duplicate()]) {
            for name in [c"n", c"e", c"bits", c"max-size", c"security-bits"] {
                assert_eq!(key.number(name), here.number(name), "{name:?}");
            }
            for name in [c"d", c"rsa-factor1", c"rsa-exponent1"] {
                assert_eq!(key.number(name), None, "{name:?}");
            }
            assert!(key.equals(&here) && here.equals(&key), "{}", context.errors());
            assert!(key.is_good("lanecrypt"));
            assert!(!key.gives_its_private_half());
            let errors = context.errors();
            assert!(errors.contains("stays there"), "{errors}");
            assert!(
                key.equals(&key.to("default", false)) && key.to("lanecrypt", false).equals(&key)
            );
        }
        for key in &found {
            let public = key.to("default", false);
            for padding in PADDINGS.map(padding) {
                let before = (daemon.signatures(), context.counter(c"lanecrypt-signatures"));
                let made = key.message("lanecrypt", padding, true).update(b"mess").update(b"age");
                let copy = made.copy();
                for made in [made, copy] {
                    let made = made.sign().expect("it is made");
                    let begun = public.message("default", padding, false).update(b"message");
                    assert!(begun.verify(&made), "{padding:?}");
                }
                let digest: Vec<u8> = (0..64).collect();
                let digest = match padding.hash {
                    Some("SHA256") => &digest[..32],
                    Some("SHA384") => &digest[..48],
                    _ => &digest[..],
                };
                let made = key.sign("lanecrypt", padding, digest).expect("it is made");
                assert!(public.verify("default", padding, digest, &made), "{padding:?}");
                // Its public half works as that of any key.
                assert!(key.verify("lanecrypt", padding, digest, &made), "{padding:?}");
                let after = (daemon.signatures(), context.counter(c"lanecrypt-signatures"));
                assert_eq!((after.0 - before.0, after.1 - before.1), (3, 3));
            }
        }
        let copy =
            context.read(&pem(uri.as_bytes()), true).expect("it is there").to("lanecrypt", false);
        assert!(copy.sign("lanecrypt", PSS, &[1; 32]).is_none(), "a public half does not sign");
        context.errors();
        context.leave();
    });
}

#[test]
fn what_a_daemon_does_not_do() {
    let daemon = Daemon::new(&private(KEY));
    everywhere_with_rsa_alone(|context| {
        let key = context.open(&daemon.uri("web"), KEYS).expect("it is there");
        let pkcs1 = Padding { mode: "pkcs1", ..Padding::default() };
        for (padding, length, reason) in [
            (pkcs1, 32, "only signs"),
            (pkcs1, 20, "only signs"),
            (Padding { hash: Some("SHA1"), ..pkcs1 }, 20, "only signs"),
            (Padding { hash: Some("SHA3-256"), ..pkcs1 }, 32, "only signs"),
            (Padding { hash: Some("SHA256"), ..pkcs1 }, 31, ""),
            (Padding { salt: Some(7), ..PSS }, 32, "not for this hash function and padding"),
            (Padding { salt: Some(-3), ..PSS }, 32, "not for this hash function and padding"),
            (Padding { mask: Some("SHA1"), ..PSS }, 32, "only signs"),
        ] {
            assert_eq!(key.sign("lanecrypt", padding, &vec![1; length]), None, "{padding:?}");
            let errors = context.errors();
            assert!(errors.contains(reason) && !errors.is_empty(), "{padding:?}: {errors}");
        }
        let sha1 = Padding { hash: Some("SHA1"), ..pkcs1 };
        assert_eq!(key.message("lanecrypt", sha1, true).update(b"message").sign(), None);
        let errors = context.errors();
        assert!(errors.contains("only signs"), "{errors}");
        // Settings that change when the message has begun.
        let message = key.message("lanecrypt", PSS, true).update(b"message");
        let changed = message.set(Padding { salt: Some(7), ..PSS });
        assert_eq!(changed.sign(), None);
        let errors = context.errors();
        assert!(errors.contains("not for this hash function"), "{errors}");
        // Keys with fewer rights.
        let one = context.open(&daemon.uri("one"), KEYS).expect("it is there");
        assert!(one.sign("lanecrypt", padding(("SHA256", "pkcs1")), &[1; 32]).is_some());
        assert_eq!(one.sign("lanecrypt", PSS, &[1; 32]), None);
        let errors = context.errors();
        assert!(errors.contains("key one: the key is not for this hash"), "{errors}");
        let checks = context.open(&daemon.uri("checks"), KEYS).expect("it is there");
        assert_eq!(checks.sign("lanecrypt", padding(("SHA256", "pkcs1")), &[1; 32]), None);
        let errors = context.errors();
        assert!(errors.contains("may not be used for this operation"), "{errors}");
        // Nothing else is there.
        for expected in [PUBLIC, CERTIFICATES] {
            assert!(context.open(&daemon.uri("web"), expected).is_err());
        }
        assert!(context.read(&pem(daemon.uri("web").as_bytes()), false).is_err());
        context.errors();
        context.leave();
    });
}

#[test]
fn names_and_files_that_name_nothing() {
    let daemon = Daemon::new(&private(KEY));
    everywhere_with_rsa_alone(|context| {
        for (uri, reason) in [
            (daemon.uri("nobody's"), "key nobody's: no key of this name for this user"),
            (daemon.uri("another's"), "key another's: no key of this name for this user"),
            (daemon.uri("a%0Ab%7Fc"), "key a?b?c: no key of this name for this user"),
            (daemon.uri("%25s%25n%25p"), "key %s%n%p: no key of this name for this user"),
            ("lanecrypt:web?socket=/nowhere/at%20all".into(), "/nowhere/at all: no such socket"),
            ("lanecrypt:web?socket=/".into(), "/: "),
            ("lanecrypt:".into(), "malformed"),
            ("lanecrypt:web?socket=relative".into(), "malformed"),
            ("lanecrypt:web?socket=/a&other=b".into(), "malformed"),
            ("lanecrypt:w\x01b".into(), "malformed"),
            (format!("lanecrypt:{}", "n".repeat(5000)), "malformed"),
        ] {
            let errors = context.open(&uri, KEYS).err().expect("there is no such key");
            assert!(errors.contains(reason), "{uri}: {errors}");
            let errors = context.read(&pem(uri.as_bytes()), true).err().expect("there is none");
            assert!(errors.contains(reason), "{uri}: {errors}");
        }
        // Content that is not a URI of ours, and blocks that are none.
        let good = pem(daemon.uri("web").as_bytes());
        let zeros = [&good[..40], &[0; 5], &good[40..]].concat();
        let huge = [&good[..30], &[b'A'; 1 << 20], &good[30..]].concat();
        let many = [&good[..30], &b"QUFB\n".repeat(1 << 18), &good[30..]].concat();
        for bytes in [
            pem(b""),
            pem(b"file:/etc/passwd"),
            pem(&[0; 100]),
            pem(b"lanecrypt:w\0b"),
            zeros,
            huge,
            many,
            b"-----BEGIN LANECRYPT KEY-----".to_vec(),
            vec![0; 1000],
            vec![b'-'; 1 << 21],
        ] {
            assert!(context.read(&bytes, true).is_err());
            assert!(!context.errors().contains("no errors"));
        }
        for length in (0..good.len() - 1).step_by(3) {
            assert!(context.read(&good[..length], true).is_err(), "{length}");
            context.errors();
        }
        // Other keys are as before, wherever they stand.
        let other = context.read(KEY.as_bytes(), true).expect("it is a key");
        assert!(other.gives_its_private_half());
        let certificate = b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        for file in [
            [b"A comment.\n\n", &good[..]].concat(),
            [&certificate[..], &good].concat(),
            [&good[..], certificate].concat(),
            String::from_utf8(good.clone()).expect("ASCII").replace('\n', "\r\n").into_bytes(),
        ] {
            let key = context.read(&file, true).expect("it is there");
            assert!(key.equals(&other) && !key.gives_its_private_half());
            context.errors();
        }
        // The first one counts.
        let both = [KEY.as_bytes(), &good].concat();
        assert!(context.read(&both, true).expect("it is there").gives_its_private_half());
        context.leave();
    });
}

#[test]
fn a_daemon_that_goes_and_comes() {
    let other = PrivateKey::generate(2048).expect("there is entropy");
    everywhere_with_rsa_alone(|context| {
        let mut daemon = Daemon::new(&private(KEY));
        let socket = daemon.socket.clone();
        let key = context.open(&daemon.uri("web"), KEYS).expect("it is there");
        let public = key.to("default", false);
        let signs = || {
            let made = key.sign("lanecrypt", PSS, &[1; 32]);
            if let Some(made) = &made {
                assert!(public.verify("default", PSS, &[1; 32], made));
            }
            made.is_some()
        };
        assert!(signs());
        for _ in 0..2 {
            drop(daemon);
            assert!(!signs());
            let errors = context.errors();
            assert!(errors.contains("no such socket"), "{errors}");
            daemon = Daemon::at(&socket, &private(KEY));
            assert!(signs(), "{}", context.errors());
            // One that was not missed.
            drop(daemon);
            daemon = Daemon::at(&socket, &private(KEY));
            assert!(signs(), "{}", context.errors());
        }
        drop(daemon);
        daemon = Daemon::at(&socket, &other);
        for _ in 0..2 {
            assert!(!signs());
            let errors = context.errors();
            assert!(errors.contains("another key under the name"), "{errors}");
        }
        let new = context.open(&daemon.uri("web"), KEYS).expect("it is there");
        // Connections that have ended are not kept: the thread has one.
        let clients =
            || Client::<Vec<u8>>::statistics(&socket, WITHIN).expect("it listens").clients;
        // The daemon may still have to hear of the end of one.
        assert!((0..2000).any(|_| {
            thread::sleep(Duration::from_millis(5));
            clients() == 1
        }));
        assert!(!new.equals(&key) && new.sign("lanecrypt", PSS, &[1; 32]).is_some());
        assert!(!signs(), "the old one is still another");
        context.errors();
        context.leave();
    });
}

#[test]
fn threads_share_a_key() {
    let daemon = Daemon::new(&private(KEY));
    everywhere_with_rsa_alone(|context| {
        let key = context.open(&daemon.uri("web"), KEYS).expect("it is there");
        let public = key.to("default", false);
        thread::scope(|scope| {
            for thread in 0..6_u8 {
                let (key, public) = (&key, &public);
                scope.spawn(move || {
                    for i in 0..5 {
                        let digest = [thread ^ i << 4; 32];
                        let made = key.sign("lanecrypt", PSS, &digest).expect("signed");
                        assert!(public.verify("default", PSS, &digest, &made));
                    }
                    context.leave();
                });
            }
        });
    });
}

/// Jobs with keys of a daemon and with one that is here: all are signed together.
#[test]
fn jobs_sign_together() {
    let (one, other) = (Daemon::new(&private(KEY)), Daemon::new(&private(KEY)));
    everywhere_with_rsa_alone(|context| {
        let open = |daemon: &Daemon| context.open(&daemon.uri("web"), KEYS).expect("it is there");
        let keys = [open(&one), open(&other), context.shared_key(3072), open(&one)];
        let publics = keys.each_ref().map(|key| key.to("default", false));
        let made: RefCell<Vec<Option<Vec<u8>>>> = RefCell::default();
        for count in [1, 2, 9, 32, 70] {
            let before = context.counter(c"lanecrypt-signatures");
            made.replace(vec![None; count]);
            let mut jobs = Jobs::new(context.crypto);
            for number in 0..count {
                let (keys, made): (&[Key<'_>], _) = (&keys, &made);
                jobs.add(move || {
                    let signature = keys[number % 4].sign("lanecrypt", PSS, &digest(number));
                    made.borrow_mut()[number] = signature;
                });
            }
            for number in 0..count {
                assert_eq!(jobs.step(number), Step::Paused);
                assert!(jobs.is_woken(number));
            }
            for number in 0..count {
                assert_eq!(jobs.step(number), Step::Finished);
            }
            for (number, made) in made.borrow().iter().enumerate() {
                let made = made.as_ref().expect("it is made");
                let public = &publics[number % 4];
                assert!(public.verify("default", PSS, &digest(number), made), "{number}");
            }
            assert_eq!(context.counter(c"lanecrypt-signatures") - before, count as u64);
        }
        context.leave();
    });
}

fn digest(number: usize) -> [u8; 32] {
    [u8::try_from(number).expect("few jobs"); 32]
}
