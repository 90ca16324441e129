//! Clients of key exchange that keep to nothing: the daemon keeps running and serves the others as
//! before.

use lanecrypt_device::{Client, Key, Limits, Server};
use lanecrypt_pk::{mlkem768, p256, x25519};
use lanecrypt_testing::device::{ARENA, Raw};
use lanecrypt_testing::numbers::{Numbers, cases};

use crate::daemon::Running;

/// What a packet calls `Named`.
const NAMED: u32 = 4;

/// A request to agree (67), or another operation.
fn request(session: u64, operation: u64, offset: u64, input: u64, output: u64) -> [u64; 8] {
    [7, session | operation << 32, 0, 0, 0, offset | input << 32, output, 0]
}

#[test]
fn hostile_clients_get_what_they_may() {
    let decapsulates = mlkem768::DecapsulationKey::from_seed(&[3; 64]);
    let encapsulates = decapsulates.encapsulation_key().clone();
    let keys = vec![
        Key::asymmetric("one", x25519::SecretKey::from_bytes(&[1; 32])),
        Key::asymmetric("two", p256::SecretKey::from_bytes(&[2; 32]).expect("it is in range")),
        Key::asymmetric("three", decapsulates),
        Key::asymmetric("four", encapsulates),
    ];
    let limits = Limits { signatures: 4, ..Limits::default() };
    let daemon = Running::new(Server::new().keys(keys).limits(limits));
    let mut good: Client = Client::connect(daemon.path()).expect("it listens");
    let session = good.named_session("one").expect("it is for this user");
    let public = x25519::SecretKey::from_bytes(&[9; 32]).public_key();
    let secret = x25519::SecretKey::from_bytes(&[1; 32]).diffie_hellman(&public);
    let secret = secret.expect("a good point");
    let mut check = || {
        let mut found = [0; 32];
        good.agree(session, public.as_bytes(), &mut found).expect("it is served");
        assert_eq!(found, *secret.as_bytes());
    };
    let mut raw = Raw::new(&daemon.path());
    for name in ["one", "two", "three", "four"] {
        raw.ask((NAMED, name));
        raw.hear();
    }
    let (arena, most) = (u64::from(ARENA), u64::from(u32::MAX));
    const FULL: u64 = 68;
    const MALFORMED: u64 = 66;
    const DATA_LENGTH: u64 = 3;
    const OUTPUT_LENGTH: u64 = 15;
    for session in 0..4 {
        for (offset, input, output) in
            [(1, arena - 32, 32), (0, most, 32), (most, 0, 32), (0, 0, most), (arena, 0, 1)]
        {
            let words = request(session, 67, offset, input, output);
            assert_eq!(raw.submit_all(&[words]), [MALFORMED], "{offset} {input} {output}");
        }
        // All of the arena, and nothing.
        for output in [0, 32, 1120] {
            let whole = request(session, 67, 0, arena - output, output);
            let has_length = output == if session == 3 { 1120 } else { 32 };
            let expected = if has_length { DATA_LENGTH } else { OUTPUT_LENGTH };
            assert_eq!(raw.submit_all(&[whole]), [expected]);
        }
        assert_ne!(raw.submit_all(&[request(session, 67, arena, 0, 0)]), [0]);
        // More at a time than it may have: all are found in one turn.
        let mut statuses = raw.submit_all(&[request(session, 67, 0, 100, 32); 10]);
        statuses.retain(|&status| status == FULL);
        assert_eq!(statuses.len(), 6);
        // Operations of other keys.
        for operation in [1, 2, 3, 4, 6, 64, 65, 66] {
            assert_ne!(raw.submit_all(&[request(session, operation, 0, 32, 64)]), [0]);
        }
        check();
    }
    // With what is in the arena: X25519 takes almost any bytes, and so does decapsulation.
    let served = raw.submit_all(&[request(2, 67, 0, 1088, 32), request(3, 67, 0, 0, 1120)]);
    assert_eq!(served, [0, 0]);
    let mut numbers = Numbers(43);
    let mut served = 0;
    for _ in 0..cases(100).min(10_000) {
        let mut small = |bound: usize| numbers.below(bound) as u64;
        let requests: Vec<_> = (0..small(17))
            .map(|_| {
                let session = small(5);
                match small(4) {
                    0 => request(session, 64 + small(5), small(9000), small(9000), small(1200)),
                    1 => request(session, 67, small(1000), 1 << small(33), 1 << small(33)),
                    _ => {
                        let lengths = [(32, 32), (65, 32), (33, 32), (1088, 32), (0, 1120)];
                        let (input, output) = lengths[usize::try_from(small(5)).expect("an index")];
                        request(session, 67, 64 * 30, input, output)
                    }
                }
            })
            .collect();
        served += raw.submit_all(&requests).iter().filter(|&&status| status == 0).count();
        check();
    }
    assert!(served > 0, "some lengths are right");
}
