//! Batches of any operations in any order, with requests among them that fail.

use lanecrypt_pk::mlkem768::DecapsulationKey;
use lanecrypt_pk::{
    Backend, Error, Operation, Options, Request, ed25519, hazmat, p256, process, x25519,
};
use lanecrypt_testing::numbers::{Numbers, cases};

use crate::common::all_options;

/// Keys, and inputs that they fail on.
struct Keys {
    x25519: [x25519::SecretKey; 2],
    low: x25519::PublicKey,
    ed25519: ed25519::SigningKey,
    secret: p256::SecretKey,
    p256: p256::SigningKey,
    mlkem: DecapsulationKey,
    digest: [u8; 32],
    message: [u8; 32],
    entropy: [u8; 32],
    /// Right and wrong signatures of `message` and of `digest`.
    ed25519_signatures: [[u8; 64]; 2],
    p256_signatures: [[u8; 64]; 2],
    /// Right and wrong ciphertexts.
    ciphertexts: [[u8; 1088]; 2],
    x25519_public: x25519::PublicKey,
    p256_public: p256::PublicKey,
}

impl Keys {
    fn new(numbers: &mut Numbers) -> Self {
        let x25519 = [(); 2].map(|()| x25519::SecretKey::from_bytes(&numbers.array()));
        let ed25519 = ed25519::SigningKey::from_bytes(&numbers.array());
        let secret = p256::SecretKey::from_bytes(&numbers.array()).expect("in range");
        let p256 = p256::SigningKey::from_bytes(&numbers.array()).expect("in range");
        let mlkem = DecapsulationKey::from_seed(&numbers.array());
        let (digest, message, entropy) = (numbers.array(), numbers.array(), numbers.array());
        let spoil = |good: [u8; 64], numbers: &mut Numbers| {
            let mut bad = good;
            bad[numbers.below(64)] ^= 1 << numbers.below(8);
            [good, bad]
        };
        let ed25519_signatures = spoil(ed25519.sign(&message).expect("signed"), numbers);
        let p256_signatures = spoil(p256.sign_digest(&digest).expect("signed"), numbers);
        let (ciphertext, _) = mlkem.encapsulation_key().encapsulate().expect("encapsulated");
        let mut wrong = ciphertext;
        wrong[numbers.below(1088)] ^= 1;
        Self {
            low: x25519::PublicKey::from_bytes(&[0; 32]),
            x25519_public: x25519[1].public_key(),
            p256_public: p256.public_key().clone(),
            ciphertexts: [ciphertext, wrong],
            x25519,
            ed25519,
            secret,
            p256,
            mlkem,
            digest,
            message,
            entropy,
            ed25519_signatures,
            p256_signatures,
        }
    }
}

/// What requests write.
#[derive(Default)]
struct Out {
    bytes: Vec<u8>,
    shared: [u8; 32],
    key: Option<DecapsulationKey>,
}

/// The number of kinds of requests: operations, and those that fail or that take other inputs.
const KINDS: usize = 16;

/// A request of a kind, and its outcome.
fn request<'a>(kind: usize, keys: &'a Keys, out: &'a mut Out) -> (Request<'a>, Result<(), Error>) {
    let Out { bytes, shared, key } = out;
    let refused = |request, error| (request, Err(error));
    let served = |request| (request, Ok(()));
    let [right, wrong] = &keys.ed25519_signatures;
    let ecdsa = &keys.p256_signatures;
    let (message, public) = (&keys.message, keys.ed25519.verifying_key());
    match kind {
        0 => served(Request::x25519_public_key(&keys.x25519[0], array(bytes))),
        1 => served(Request::x25519_shared_secret(&keys.x25519[0], &keys.x25519_public, shared)),
        2 => refused(
            Request::x25519_shared_secret(&keys.x25519[0], &keys.low, shared),
            Error::SmallOrder,
        ),
        3 => served(Request::ed25519_sign(&keys.ed25519, message, array(bytes))),
        4 => served(Request::ed25519_verify(public, message, right)),
        5 => refused(Request::ed25519_verify(public, message, wrong), Error::Signature),
        6 => served(Request::p256_public_key(&keys.secret, array(bytes))),
        7 => served(Request::p256_shared_secret(&keys.secret, &keys.p256_public, shared)),
        8 => served(Request::p256_sign_digest(&keys.p256, &keys.digest, array(bytes))),
        9 => served(hazmat::p256_sign_digest(
            &keys.p256,
            &keys.digest,
            Some(&keys.entropy),
            array(bytes),
        )),
        10 => served(Request::p256_verify_digest(&keys.p256_public, &keys.digest, &ecdsa[0])),
        11 => refused(
            Request::p256_verify_digest(&keys.p256_public, &keys.digest, &ecdsa[1]),
            Error::Signature,
        ),
        12 => served(Request::mlkem768_generate(key)),
        13 => served(Request::mlkem768_encapsulate(
            keys.mlkem.encapsulation_key(),
            array(bytes),
            shared,
        )),
        14 => served(Request::mlkem768_decapsulate(&keys.mlkem, &keys.ciphertexts[0], shared)),
        _ => served(Request::mlkem768_decapsulate(&keys.mlkem, &keys.ciphertexts[1], shared)),
    }
}

/// So many bytes.
fn array<const N: usize>(bytes: &mut Vec<u8>) -> &mut [u8; N] {
    bytes.resize(N, 0);
    bytes[..].as_mut().try_into().expect("so many bytes")
}

/// Checks what a request wrote against the same request by the crates in Rust alone, or, if it is
/// random, by using it.
fn check(kind: usize, keys: &Keys, out: &Out, context: &str) {
    let Out { bytes, shared, key } = out;
    match kind {
        8 => {
            let signature = bytes[..].try_into().expect("64 bytes");
            let verified = keys.p256_public.verify_digest(&keys.digest, signature);
            assert_eq!(verified, Ok(()), "{context}");
        }
        12 => {
            let key = key.as_ref().expect("a key");
            let (ciphertext, sent) = key.encapsulation_key().encapsulate().expect("entropy");
            let received = key.decapsulate(&ciphertext).expect("no fault");
            assert_eq!(sent.as_bytes(), received.as_bytes(), "{context}");
        }
        13 => {
            let ciphertext = bytes[..].try_into().expect("1088 bytes");
            let received = keys.mlkem.decapsulate(ciphertext).expect("no fault");
            assert_eq!(shared, received.as_bytes(), "{context}");
        }
        _ => {
            let mut again = Out::default();
            let (request, _) = request(kind, keys, &mut again);
            let _ = Options::new().with_backend(Backend::Own).process(&mut [request]);
            assert_eq!((bytes, shared), (&again.bytes, &again.shared), "{context}");
        }
    }
}

#[test]
fn any_mix_in_any_order() {
    let mut numbers = Numbers(1);
    for _ in 0..cases(3) {
        let keys = Keys::new(&mut numbers);
        for options in all_options() {
            let options = options.with_signature_checks(numbers.below(2) == 0);
            let count = numbers.below(90);
            let kinds: Vec<_> = (0..count).map(|_| numbers.below(KINDS)).collect();
            batch(&options, &keys, &kinds);
        }
    }
}

/// So many requests of one kind: lanes are full, or nearly.
#[test]
fn every_number_of_one_kind() {
    let keys = Keys::new(&mut Numbers(2));
    for options in all_options() {
        for kind in 0..KINDS {
            for count in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17] {
                batch(&options, &keys, &vec![kind; count]);
            }
        }
    }
}

fn batch(options: &Options, keys: &Keys, kinds: &[usize]) {
    let mut outs: Vec<_> = kinds.iter().map(|_| Out::default()).collect();
    let (mut requests, outcomes): (Vec<_>, Vec<_>) =
        kinds.iter().zip(&mut outs).map(|(&kind, out)| request(kind, keys, out)).unzip();
    let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    let error = options.process(&mut requests).err();
    assert_eq!(error.map_or(0, |error| error.failed), failed, "{options:?} {kinds:?}");
    for (i, (request, outcome)) in requests.iter().zip(&outcomes).enumerate() {
        assert_eq!(request.outcome(), Some(*outcome), "{options:?}: {i} of {kinds:?}");
    }
    drop(requests);
    for (i, (&kind, out)) in kinds.iter().zip(&outs).enumerate() {
        check(kind, keys, out, &format!("{options:?}: {i} of {kinds:?}"));
    }
}

#[test]
fn requests_are_served_once() {
    let keys = Keys::new(&mut Numbers(3));
    let mut signature = [0; 64];
    let mut requests = [Request::p256_sign(&keys.p256, b"message", &mut signature)];
    assert_eq!(requests[0].outcome(), None);
    assert_eq!(requests[0].operation(), Operation::P256Sign);
    process(&mut requests).expect("it is good");
    let text = format!("{:?}", requests[0]);
    assert_eq!(text, "Request { operation: P256Sign, outcome: Some(Ok(())), .. }");
    process(&mut requests).expect("it has been served");
    let first = signature;
    process(&mut [Request::p256_sign(&keys.p256, b"message", &mut signature)]).expect("good");
    assert_ne!(first, signature, "nonces are new");
    process(&mut []).expect("nothing fails");
}

/// Requests go to another thread and come back.
#[test]
fn requests_are_sent() {
    let keys = Keys::new(&mut Numbers(4));
    let mut shared = [0; 32];
    let mut requests =
        [Request::x25519_shared_secret(&keys.x25519[0], &keys.x25519_public, &mut shared)];
    std::thread::scope(|scope| {
        scope.spawn(|| process(&mut requests).expect("it is good"));
    });
    assert_eq!(requests[0].outcome(), Some(Ok(())));
}
