//! Operations of handshakes, and how those of several connections are processed as one batch.

use std::sync::Arc;

use lanecrypt_pk::mlkem768::{CIPHERTEXT_LENGTH, DecapsulationKey, EncapsulationKey};
use lanecrypt_pk::{self as pk, Isa, Level, Request, ed25519, p256};
use lanecrypt_rsa::{self as rsa, Padding, Workspace};
use zeroize::Zeroizing;

use super::curves::{Curve, P256, X25519};

/// How many operations of a kind run side by side; 0 if the processor has no lanes for them.
pub(crate) fn lanes() -> usize {
    let isa = Isa::detect();
    let has = |level: Level| level.is_built() && isa.has(level);
    if has(Level::Avx512) {
        8
    } else if has(Level::Avx2) {
        4
    } else {
        0
    }
}

/// How many of `count` operations of a kind cost less in lanes than one after the other by the
/// base: those that fill lanes, and the rest if there are at least so many.
fn gaining(count: usize, lanes: usize, fewest: usize) -> usize {
    let rest = count.checked_rem(lanes).unwrap_or(count);
    if lanes == 0 || rest < fewest { count - rest } else { count }
}

/// What one connection needs now.
#[derive(Default)]
pub(crate) struct Job {
    pub(crate) x25519: Option<Agreement<X25519>>,
    pub(crate) p256: Option<Agreement<P256>>,
    pub(crate) kem: Option<Box<Kem>>,
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
#[expect(clippy::large_enum_variant, reason = "it is behind a pointer")]
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

/// The kinds of operations.
#[derive(Clone, Copy)]
enum Kind {
    X25519,
    P256,
    Generate,
    Encapsulate,
    Decapsulate,
    SignP256,
    SignEd25519,
    SignRsa,
}

impl Job {
    /// The kinds of its operations.
    fn kinds(&self) -> impl Iterator<Item = usize> + use<> {
        let kem = self.kem.as_ref().map(|kem| match **kem {
            Kem::Generate(_) => Kind::Generate,
            Kem::Encapsulate { .. } => Kind::Encapsulate,
            Kem::Decapsulate { .. } => Kind::Decapsulate,
        });
        let signature = self.signature.as_ref().map(|signature| match signature {
            Signature::P256 { .. } => Kind::SignP256,
            Signature::Ed25519 { .. } => Kind::SignEd25519,
            Signature::Rsa { .. } => Kind::SignRsa,
        });
        let x25519 = self.x25519.as_ref().map(|_| Kind::X25519);
        let p256 = self.p256.as_ref().map(|_| Kind::P256);
        [x25519, p256, kem, signature].into_iter().flatten().map(|kind| kind as usize)
    }

    /// The requests of a job. Those of RSA are another batch.
    fn requests<'a>(&'a mut self, pk: &mut Vec<Request<'a>>, rsa: &mut Vec<rsa::Request<'a>>) {
        if let Some(agreement) = &mut self.x25519 {
            agreement.requests(pk);
        }
        if let Some(agreement) = &mut self.p256 {
            agreement.requests(pk);
        }
        match self.kem.as_deref_mut() {
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

/// Processes the jobs that gain by lanes. The others are left to the base.
pub(crate) fn process(jobs: &mut [Box<Job>], workspace: &mut Workspace) {
    let mut counts = [0; Kind::SignRsa as usize + 1];
    for job in &*jobs {
        job.kinds().for_each(|kind| counts[kind] += 1);
    }
    let lanes = lanes();
    // Eight lanes cost less than two operations by the base, four as much as three or four.
    // Where this is not so, `pk` computes them one by one, too.
    let fewest = if lanes == 8 { 2 } else { lanes };
    let mut left = counts.map(|count| gaining(count, lanes, fewest));
    // A signature of RSA has two lanes, and gains by eight of them only.
    let rsa = Kind::SignRsa as usize;
    left[rsa] = gaining(counts[rsa], if lanes == 8 { 4 } else { 0 }, 4);
    let mut gaining = Vec::with_capacity(jobs.len());
    for job in jobs {
        if job.kinds().all(|kind| left[kind] > 0) {
            job.kinds().for_each(|kind| left[kind] -= 1);
            gaining.push(&mut **job);
        }
    }
    if !gaining.is_empty() {
        process_all(&mut gaining, workspace);
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
