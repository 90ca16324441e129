//! Our operations, behind the interface of the peers.

use arrayvec::ArrayVec;
use lanecrypt_peers::{Failed, Job, Key, Operation, PublicKey, Run, rounds};
use lanecrypt_pk::mlkem768::{DecapsulationKey, EncapsulationKey};
use lanecrypt_pk::{Backend, Options, Request, ed25519, p256, x25519};

use super::work::Keys;

/// An API of ours: a slice of requests.
pub(super) const PROCESS: &str = "process";
/// An API of ours: the same without AWS-LC.
const OWN: &str = "own";

/// The names of our APIs, the first one compared with the peers.
pub(super) const APIS: &[&str] =
    if cfg!(feature = "aws-lc") { &[PROCESS, OWN] } else { &[PROCESS] };

/// The most operations that are handed over together.
const MOST: usize = 64;
/// The requests of a server's part: a public key, a shared secret, an encapsulation, a signature.
const REQUESTS: usize = 4 * MOST;

/// The sessions of an operation.
pub(super) fn open(api: &str, operation: Operation, keys: &Keys) -> Option<Box<dyn PublicKey>> {
    let backend = if api == OWN { Backend::Own } else { Backend::Measured };
    let options = Options::new().with_backend(backend);
    let keys = keys.keys().map(|key| Session::new(operation, key)).collect::<Result<_, _>>();
    Some(Box::new(Batches { options, operation, keys: keys.ok()?, last: None, made: Vec::new() }))
}

/// The key of a session.
enum Session {
    None,
    X25519(x25519::SecretKey),
    Ed25519(ed25519::SigningKey),
    P256Secret(p256::SecretKey),
    P256(p256::SigningKey),
    MlKem(Box<DecapsulationKey>),
}

impl Session {
    fn new(operation: Operation, key: Option<&Key>) -> Result<Self, Failed> {
        let Some(seed) = key.map(Key::seed) else { return Ok(Self::None) };
        if operation == Operation::MlKemDecapsulate {
            return Ok(Self::MlKem(Box::new(DecapsulationKey::from_seed(array(seed)?))));
        }
        let seed = array(seed)?;
        Ok(match operation {
            Operation::X25519Derive => Self::X25519(x25519::SecretKey::from_bytes(seed)),
            Operation::Ed25519Sign | Operation::Ed25519Verify => {
                Self::Ed25519(ed25519::SigningKey::from_bytes(seed))
            }
            Operation::P256Derive => {
                Self::P256Secret(p256::SecretKey::from_bytes(seed).or(Err(Failed))?)
            }
            _ => Self::P256(p256::SigningKey::from_bytes(seed).or(Err(Failed))?),
        })
    }
}

/// A private key that was generated.
enum Generated {
    X25519(x25519::SecretKey),
    P256(p256::SecretKey),
}

struct Batches {
    options: Options,
    operation: Operation,
    keys: Vec<Session>,
    /// The private key of the last job.
    last: Option<Generated>,
    /// Those of the last batch, if they are of ML-KEM.
    made: Vec<Option<DecapsulationKey>>,
}

/// What requests of a batch borrow: keys that come as bytes, and those that are generated.
#[derive(Default)]
struct Borrowed {
    x25519: ArrayVec<x25519::SecretKey, MOST>,
    x25519_public: ArrayVec<x25519::PublicKey, MOST>,
    p256: ArrayVec<p256::SecretKey, MOST>,
    p256_public: ArrayVec<p256::PublicKey, MOST>,
    encapsulation: ArrayVec<EncapsulationKey, MOST>,
}

impl Borrowed {
    /// Parses what has come, and draws what is generated. In place, as all is long.
    fn fill(&mut self, operation: Operation, jobs: &[Job<'_>]) -> Result<(), Failed> {
        for job in jobs {
            let input = job.input;
            if matches!(operation, Operation::X25519Generate) || is_server(operation) {
                self.x25519.push(x25519::SecretKey::generate().or(Err(Failed))?);
            }
            match operation {
                Operation::P256Generate => {
                    self.p256.push(p256::SecretKey::generate().or(Err(Failed))?);
                }
                Operation::P256Derive => {
                    self.p256_public.push(p256::PublicKey::from_sec1_bytes(input).or(Err(Failed))?);
                }
                Operation::MlKemEncapsulate => self.push_encapsulation(input)?,
                Operation::X25519Derive | Operation::Server | Operation::ServerHybrid => {
                    let (share, rest) = input.split_at_checked(32).ok_or(Failed)?;
                    self.x25519_public.push(x25519::PublicKey::from_bytes(array(share)?));
                    if operation == Operation::ServerHybrid {
                        self.push_encapsulation(rest)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn push_encapsulation(&mut self, bytes: &[u8]) -> Result<(), Failed> {
        let key = EncapsulationKey::from_bytes(array(bytes)?).or(Err(Failed))?;
        self.encapsulation.push(key);
        Ok(())
    }
}

const fn is_server(operation: Operation) -> bool {
    matches!(operation, Operation::Server | Operation::ServerHybrid)
}

impl Batches {
    /// Up to [`MOST`] operations.
    fn batch(&mut self, jobs: &mut [Job<'_>]) -> Result<(), Failed> {
        let Self { options, operation, keys, last, made } = self;
        let operation = *operation;
        if operation == Operation::MlKemGenerate {
            made.clear();
            made.resize_with(jobs.len(), || None);
            let mut requests: ArrayVec<Request<'_>, MOST> =
                made.iter_mut().map(Request::mlkem768_generate).collect();
            options.process(&mut requests).or(Err(Failed))?;
            drop(requests);
            for (job, key) in jobs.iter_mut().zip(made) {
                let key = key.as_ref().ok_or(Failed)?;
                job.output.copy_from_slice(key.encapsulation_key().as_bytes());
            }
            return Ok(());
        }
        let mut borrowed = Borrowed::default();
        borrowed.fill(operation, jobs)?;
        let mut requests: ArrayVec<Request<'_>, REQUESTS> = ArrayVec::new();
        for (at, job) in jobs.iter_mut().enumerate() {
            let key = keys.get(job.session).ok_or(Failed)?;
            requests_of(operation, key, &borrowed, at, job, &mut requests)?;
        }
        options.process(&mut requests).or(Err(Failed))?;
        drop(requests);
        match operation {
            Operation::X25519Generate => *last = borrowed.x25519.pop().map(Generated::X25519),
            Operation::P256Generate => *last = borrowed.p256.pop().map(Generated::P256),
            _ => {}
        }
        Ok(())
    }
}

/// Adds the requests of a job.
fn requests_of<'a>(
    operation: Operation,
    key: &'a Session,
    borrowed: &'a Borrowed,
    at: usize,
    job: &'a mut Job<'_>,
    requests: &mut ArrayVec<Request<'a>, REQUESTS>,
) -> Result<(), Failed> {
    let Job { input, message, digest, output, .. } = job;
    let request = match (operation, key) {
        (Operation::X25519Generate, _) => {
            Request::x25519_public_key(&borrowed.x25519[at], array_mut(output)?)
        }
        (Operation::X25519Derive, Session::X25519(key)) => {
            let public = &borrowed.x25519_public[at];
            Request::x25519_shared_secret(key, public, array_mut(output)?)
        }
        (Operation::Ed25519Sign, Session::Ed25519(key)) => {
            Request::ed25519_sign(key, message, array_mut(output)?)
        }
        (Operation::Ed25519Verify, Session::Ed25519(key)) => {
            Request::ed25519_verify(key.verifying_key(), message, array(output)?)
        }
        (Operation::P256Generate, _) => {
            Request::p256_public_key(&borrowed.p256[at], array_mut(output)?)
        }
        (Operation::P256Derive, Session::P256Secret(key)) => {
            Request::p256_shared_secret(key, &borrowed.p256_public[at], array_mut(output)?)
        }
        (Operation::P256Sign, Session::P256(key)) => {
            Request::p256_sign_digest(key, digest, array_mut(output)?)
        }
        (Operation::P256Verify, Session::P256(key)) => {
            Request::p256_verify_digest(key.public_key(), digest, array(output)?)
        }
        (Operation::MlKemEncapsulate, _) => encapsulation(&borrowed.encapsulation[at], output)?,
        (Operation::MlKemDecapsulate, Session::MlKem(key)) => {
            Request::mlkem768_decapsulate(key, array(input)?, array_mut(output)?)
        }
        (Operation::Server | Operation::ServerHybrid, Session::P256(key)) => {
            let (share, rest) = output.split_at_mut_checked(32).ok_or(Failed)?;
            let end = rest.len().checked_sub(64).ok_or(Failed)?;
            let (rest, signature) = rest.split_at_mut(end);
            let end = rest.len().checked_sub(32).ok_or(Failed)?;
            let (encapsulated, secret) = rest.split_at_mut(end);
            let own = &borrowed.x25519[at];
            requests.push(Request::x25519_public_key(own, array_mut(share)?));
            let public = &borrowed.x25519_public[at];
            requests.push(Request::x25519_shared_secret(own, public, array_mut(secret)?));
            if let Some(key) = borrowed.encapsulation.get(at) {
                requests.push(encapsulation(key, encapsulated)?);
            }
            Request::p256_sign_digest(key, digest, array_mut(signature)?)
        }
        _ => return Err(Failed),
    };
    requests.push(request);
    Ok(())
}

/// A ciphertext, and its secret behind it.
fn encapsulation<'a>(
    key: &'a EncapsulationKey,
    output: &'a mut [u8],
) -> Result<Request<'a>, Failed> {
    let end = output.len().checked_sub(32).ok_or(Failed)?;
    let (ciphertext, secret) = output.split_at_mut(end);
    Ok(Request::mlkem768_encapsulate(key, array_mut(ciphertext)?, array_mut(secret)?))
}

fn array<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Failed> {
    bytes.try_into().or(Err(Failed))
}

fn array_mut<const N: usize>(bytes: &mut [u8]) -> Result<&mut [u8; N], Failed> {
    bytes.try_into().or(Err(Failed))
}

impl PublicKey for Batches {
    fn jobs(&mut self, jobs: &mut [Job<'_>], run: Run<'_>) -> Result<(), Failed> {
        let batch = run.batch.unwrap_or(MOST);
        if batch == 0 || batch > MOST || run.keys.is_some() {
            return Err(Failed);
        }
        rounds(jobs.len(), run.requests, |count| {
            jobs[..count].chunks_mut(batch).try_for_each(|jobs| self.batch(jobs))
        })
    }

    fn shared(&mut self, input: &[u8], secret: &mut [u8]) -> Result<(), Failed> {
        let shared = match &self.last {
            Some(Generated::X25519(key)) => {
                key.diffie_hellman(&x25519::PublicKey::from_bytes(array(input)?))
            }
            Some(Generated::P256(key)) => {
                key.diffie_hellman(&p256::PublicKey::from_sec1_bytes(input).or(Err(Failed))?)
            }
            None => {
                let key = self.made.last().and_then(Option::as_ref).ok_or(Failed)?;
                key.decapsulate(array(input)?)
            }
        };
        secret.copy_from_slice(shared.or(Err(Failed))?.as_bytes());
        Ok(())
    }
}
