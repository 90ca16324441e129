//! Operations of handshakes, and how those of several connections are processed as one batch.

use std::sync::Arc;

use lanecrypt_pk::mlkem768::{CIPHERTEXT_LENGTH, DecapsulationKey, EncapsulationKey};
use lanecrypt_pk::{self as pk, Request, ed25519, p256};
use lanecrypt_rsa::{self as rsa, Padding, Workspace};
use zeroize::Zeroizing;

use super::curves::{Curve, P256, X25519};

/// From how many operations of a kind on they cost less together than one after the other by the
/// base. Fewer are left to the base.
pub(crate) const TOGETHER: usize = 4;

/// What one connection needs now.
#[derive(Default)]
pub(crate) struct Job {
    pub(crate) x25519: Option<Agreement<X25519>>,
    pub(crate) p256: Option<Agreement<P256>>,
    pub(crate) kem: Option<Kem>,
    pub(crate) signature: Option<Signature>,
    /// `None` before it was processed, and if it is left to the base.
    pub(crate) outcome: Option<Result<(), Failed>>,
}

/// An operation failed: by a point of small order, or by a fault.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

/// A secret key of a curve, and what to compute with it.
pub(crate) struct Agreement<C: Curve> {
    pub(crate) secret: C::Secret,
    /// Our share, if it is asked for.
    pub(crate) share: Option<C::Share>,
    /// The other side's key, if the shared secret is asked for.
    pub(crate) peer: Option<C::Public>,
    pub(crate) shared: Zeroizing<[u8; 32]>,
}

/// ML-KEM-768.
pub(crate) enum Kem {
    /// A client's new key.
    Generate(Option<DecapsulationKey>),
    /// A server's secret for a key.
    Encapsulate { key: EncapsulationKey, ciphertext: [u8; CIPHERTEXT_LENGTH], shared: Secret },
    /// The same secret, for the client.
    Decapsulate { key: DecapsulationKey, ciphertext: [u8; CIPHERTEXT_LENGTH], shared: Secret },
}

pub(crate) type Secret = Zeroizing<[u8; 32]>;

/// A signature to make.
pub(crate) enum Signature {
    P256 { key: Arc<p256::SigningKey>, message: Vec<u8>, signature: [u8; 64] },
    Ed25519 { key: Arc<ed25519::SigningKey>, message: Vec<u8>, signature: [u8; 64] },
    Rsa { key: Arc<rsa::PrivateKey>, padding: Padding, message: Vec<u8>, signature: Vec<u8> },
}

/// The kinds of operations, as a count of each.
#[derive(Default)]
struct Counts {
    x25519: usize,
    p256: usize,
    generate: usize,
    encapsulate: usize,
    decapsulate: usize,
    sign: [usize; 3],
}

impl Counts {
    /// The counts of the operations of a job.
    fn of<'a>(&'a mut self, job: &'a Job) -> impl Iterator<Item = &'a mut usize> {
        let Self { x25519, p256, generate, encapsulate, decapsulate, sign: [ecdsa, eddsa, rsa] } =
            self;
        let kem = job.kem.as_ref().map(|kem| match kem {
            Kem::Generate(_) => generate,
            Kem::Encapsulate { .. } => encapsulate,
            Kem::Decapsulate { .. } => decapsulate,
        });
        let sign = job.signature.as_ref().map(|signature| match signature {
            Signature::P256 { .. } => ecdsa,
            Signature::Ed25519 { .. } => eddsa,
            Signature::Rsa { .. } => rsa,
        });
        let agreements = [job.x25519.as_ref().map(|_| x25519), job.p256.as_ref().map(|_| p256)];
        agreements.into_iter().chain([kem, sign]).flatten()
    }
}

impl Job {
    /// The requests of a job. Those of RSA are another batch.
    fn requests<'a>(&'a mut self, pk: &mut Vec<Request<'a>>, rsa: &mut Vec<rsa::Request<'a>>) {
        if let Some(agreement) = &mut self.x25519 {
            agreement.requests(pk);
        }
        if let Some(agreement) = &mut self.p256 {
            agreement.requests(pk);
        }
        match &mut self.kem {
            None => (),
            Some(Kem::Generate(key)) => pk.push(Request::mlkem768_generate(key)),
            Some(Kem::Encapsulate { key, ciphertext, shared }) => {
                pk.push(Request::mlkem768_encapsulate(key, ciphertext, shared));
            }
            Some(Kem::Decapsulate { key, ciphertext, shared }) => {
                pk.push(Request::mlkem768_decapsulate(key, ciphertext, shared));
            }
        }
        match &mut self.signature {
            None => (),
            Some(Signature::P256 { key, message, signature }) => {
                pk.push(Request::p256_sign(key, message, signature));
            }
            Some(Signature::Ed25519 { key, message, signature }) => {
                pk.push(Request::ed25519_sign(key, message, signature));
            }
            Some(Signature::Rsa { key, padding, message, signature }) => {
                rsa.push(rsa::Request::sign(key, *padding, message, signature));
            }
        }
    }

    /// Computes a job alone, by our crates.
    pub(crate) fn compute(&mut self) -> Result<(), Failed> {
        process_all(&mut [self], &mut Workspace::new());
        self.outcome.unwrap_or(Err(Failed))
    }
}

impl<C: Curve> Agreement<C> {
    fn requests<'a>(&'a mut self, requests: &mut Vec<Request<'a>>) {
        if let Some(share) = &mut self.share {
            requests.push(C::share(&self.secret, share));
        }
        if let Some(peer) = &self.peer {
            requests.push(C::agree(&self.secret, peer, &mut self.shared));
        }
    }
}

/// Processes the jobs of which there are enough.
pub(crate) fn process(jobs: &mut [Box<Job>], workspace: &mut Workspace) {
    let mut counts = Counts::default();
    for job in &*jobs {
        counts.of(job).for_each(|count| *count += 1);
    }
    let mut enough: Vec<_> = jobs
        .iter_mut()
        .map(|job| &mut **job)
        .filter(|job| counts.of(job).all(|count| *count >= TOGETHER))
        .collect();
    if !enough.is_empty() {
        process_all(&mut enough, workspace);
    }
}

fn process_all(jobs: &mut [&mut Job], workspace: &mut Workspace) {
    let mut pk = Vec::with_capacity(2 * jobs.len());
    let mut rsa = Vec::new();
    // How many requests of both batches each job has.
    let mut ends = Vec::with_capacity(jobs.len());
    for job in &mut *jobs {
        job.requests(&mut pk, &mut rsa);
        ends.push((pk.len(), rsa.len()));
    }
    // Each request has its own outcome.
    let _ = pk::process(&mut pk);
    if !rsa.is_empty() {
        let _ = rsa::process(&mut rsa, workspace);
    }
    let pk: Vec<_> = pk.iter().map(|request| request.outcome() == Some(Ok(()))).collect();
    let rsa: Vec<_> = rsa.iter().map(|request| request.outcome() == Some(Ok(()))).collect();
    let mut start = (0, 0);
    for (job, end) in jobs.iter_mut().zip(ends) {
        let mut outcomes = pk[start.0..end.0].iter().chain(&rsa[start.1..end.1]);
        let succeeded = outcomes.all(|succeeded| *succeeded);
        job.outcome = Some(if succeeded { Ok(()) } else { Err(Failed) });
        start = end;
    }
}
