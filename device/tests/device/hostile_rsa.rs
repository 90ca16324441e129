//! Clients of signatures that keep to nothing: the daemon keeps running and serves the others as
//! before.

use lanecrypt_device::{Client, Limits, Server};
use lanecrypt_engine::Engine;
use lanecrypt_rsa::{Hash, Padding, PrivateKey};
use lanecrypt_testing::device::{ARENA, Raw};
use lanecrypt_testing::numbers::{Numbers, cases};

use crate::daemon::{Running, until};

const PADDING: Padding = Padding::pkcs1v15(Hash::SHA256);

/// A key of 2048 bits.
fn key() -> PrivateKey {
    PrivateKey::from_pem(include_str!("../../../rsa/tests/key.pem")).expect("it is a key")
}

/// What a packet calls `OpenRsa`, `GenerateRsa` and `NamedRsa`, and the padding in it.
const OPEN: u32 = 6;
const GENERATE: u32 = 7;
const NAMED: u32 = 9;
const SCHEME: (&str, Option<u32>) = ("sha256", None);

/// A request to sign (64), to verify (65) or to sign a digest (66).
fn request(operation: u64, offset: u64, message: u64, signature: u64) -> [u64; 8] {
    [7, operation << 32, 0, 0, 0, offset | message << 32, signature, 0]
}

#[test]
fn hostile_clients_get_what_they_may() {
    let limits = Limits { signatures: 4, ..Limits::default() };
    let daemon = Running::new(Server::new().limits(limits));
    let mut good: Client = Client::connect(daemon.path()).expect("it listens");
    let session = good.rsa_session(key(), PADDING).expect("it is a key");
    let mut expected = [0; 256];
    let of_the_engine = Engine::new().asymmetric_session((key(), PADDING));
    of_the_engine.sign(b"message", &mut expected).expect("it is made");
    let mut check = || {
        let mut found = [0; 256];
        good.sign(session, b"message", &mut found).expect("it is served");
        assert_eq!(found, expected);
    };
    let mut raw = Raw::new(&daemon.path());
    let der = key().to_pkcs8_der().expect("it has primes");
    raw.ask((OPEN, SCHEME, (0_u32, &der[..])));
    raw.hear();
    let (arena, most) = (u64::from(ARENA), u64::from(u32::MAX));
    const FULL: u64 = 68;
    const MALFORMED: u64 = 66;
    for operation in [64, 65, 66] {
        for (offset, message, signature) in
            [(1, arena - 256, 256), (0, most, 256), (most, 0, 256), (0, 0, most), (arena, 0, 1)]
        {
            let words = request(operation, offset, message, signature);
            assert_eq!(raw.submit_all(&[words]), [MALFORMED], "{offset} {message} {signature}");
        }
        // All of the arena, and nothing.
        let whole = raw.submit_all(&[request(operation, 0, arena - 256, 256)]);
        assert!(whole == [0] || operation != 64);
        assert_ne!(raw.submit_all(&[request(operation, arena, 0, 0)]), [0]);
        // More at a time than it may have: all are found in one turn.
        let mut statuses = raw.submit_all(&[request(operation, 0, 100, 256); 10]);
        statuses.retain(|&status| status == FULL);
        assert_eq!(statuses.len(), 6);
        // More bytes than the arena has.
        let mut statuses = raw.submit_all(&[request(operation, 0, arena - 256, 256); 3]);
        statuses.retain(|&status| status == FULL);
        assert_eq!(statuses.len(), 2);
        check();
    }
    // Random ones, many at a time.
    let mut numbers = Numbers(41);
    for _ in 0..cases(100).min(10_000) {
        let mut small = |bound: usize| numbers.below(bound) as u64;
        let requests: Vec<_> = (0..small(17))
            .map(|_| match small(4) {
                0 => request(64 + small(4), small(9000), small(9000), small(600)),
                1 => request(64 + small(3), small(1000), 1 << small(33), 1 << small(33)),
                _ => request(64 + small(3), small(1000), small(3000), 256),
            })
            .collect();
        raw.submit_all(&requests);
        check();
    }
    drop(raw);
    // Who asks again before a key is made has not kept to the protocol.
    let raw = Raw::new(&daemon.path());
    raw.ask((GENERATE, SCHEME, 8192_u32));
    raw.ask(1_u32);
    raw.until_out();
    drop(raw);
    // A padding that nobody has.
    for hash in ["md5", ""] {
        let raw = Raw::new(&daemon.path());
        raw.ask((GENERATE, (hash, None::<u32>), 2048_u32));
        raw.hear();
        raw.ask((NAMED, "name", (hash, None::<u32>)));
        raw.hear();
    }
    // Names that nobody has, and salts that no modulus has room for.
    let long = "n".repeat(10_000);
    for (name, salt) in [("", None), ("name", Some(u32::MAX)), (&long, None)] {
        let raw = Raw::new(&daemon.path());
        raw.ask((NAMED, name, ("sha256", salt)));
        raw.hear();
    }
    until(|| crate::daemon::statistics(&daemon.path()).clients == 1);
    check();
}
