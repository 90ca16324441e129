//! Threads that check RSA keys, which takes as long as a signature, and that generate them, which
//! takes up to minutes.
//!
//! A client waits for its key: one that sends another request by the socket meanwhile is
//! disconnected. A daemon that stops does not wait for keys.

use core::fmt;
use std::sync::Arc;

use lanecrypt_engine::RsaKey;
use lanecrypt_rsa::{Components, Hash, KeyError, Padding, PrivateKey};
use zeroize::Zeroizing;

use super::worker::{CompletionNotifier, Work, Worker};
use crate::RejectReason;
use crate::protocol::{RsaSent, Scheme};

/// Two threads, so that validation does not wait for generation.
#[derive(Debug)]
pub(super) struct RsaKeyWorkers {
    checks: Worker<Job<Sent>, Made>,
    generates: Worker<Job<u32>, Made>,
}

/// A key for a client, with its padding.
pub(super) type Made = Result<(RsaKey, Padding), RejectReason>;

#[derive(Debug)]
struct Job<K> {
    key: K,
    padding: Padding,
}

/// A key that was sent.
enum Sent {
    Der(Zeroizing<Vec<u8>>),
    Numbers { n: Vec<u8>, e: Vec<u8>, d: Zeroizing<Vec<u8>> },
}

impl RsaKeyWorkers {
    pub(super) fn new(notifier: &Arc<CompletionNotifier>) -> Self {
        let (checks, generates) =
            (Worker::new("lanecrypt-key", notifier), Worker::new("lanecrypt-generate", notifier));
        Self { checks, generates }
    }

    /// Begins to check a key.
    pub(super) fn check(
        &mut self,
        client: u64,
        scheme: &Scheme<'_>,
        key: &RsaSent<'_>,
    ) -> Result<(), RejectReason> {
        let padding = padding(scheme)?;
        let key = match *key {
            RsaSent::Der(der) => Sent::Der(Zeroizing::new(der.to_vec())),
            RsaSent::Numbers { n, e, d } => {
                let (n, e, d) = (n.to_vec(), e.to_vec(), Zeroizing::new(d.to_vec()));
                Sent::Numbers { n, e, d }
            }
        };
        self.checks.begin(|| Checker).map_err(|_| RejectReason::Memory)?;
        self.checks.give(client, CHECK, Job { key, padding });
        Ok(())
    }

    /// Begins to generate a key of this many bits.
    pub(super) fn generate(
        &mut self,
        client: u64,
        scheme: &Scheme<'_>,
        bits: u32,
    ) -> Result<(), RejectReason> {
        let padding = padding(scheme)?;
        self.generates.begin(|| Generator).map_err(|_| RejectReason::Memory)?;
        self.generates.give(client, CHECK, Job { key: bits, padding });
        Ok(())
    }

    /// The finished keys, with their clients.
    pub(super) fn made(&self) -> impl Iterator<Item = (u64, Made)> {
        self.checks.done().into_iter().chain(self.generates.done())
    }

    /// Drops jobs of a disconnected client that are not begun.
    pub(super) fn forget(&self, client: u64) {
        self.checks.forget(client);
        self.generates.forget(client);
    }
}

/// About how many nanoseconds it takes to check a key. The threads take clients in turn.
const CHECK: u64 = 1_000_000;

struct Checker;

impl Work<Job<Sent>, Made> for Checker {
    const TOGETHER: usize = 1;

    fn work(&mut self, jobs: &mut Vec<(u64, Job<Sent>)>, done: &mut Vec<(u64, Made)>) {
        for (client, job) in jobs {
            let key = job.key.read().map_err(refusal);
            done.push((*client, key.map(|key| (key, job.padding))));
        }
    }

    fn failed(_job: Job<Sent>) -> Made {
        Err(RejectReason::Key)
    }
}

struct Generator;

impl Work<Job<u32>, Made> for Generator {
    const TOGETHER: usize = 1;

    fn work(&mut self, jobs: &mut Vec<(u64, Job<u32>)>, done: &mut Vec<(u64, Made)>) {
        for (client, job) in jobs {
            let bits = usize::try_from(job.key).unwrap_or(usize::MAX);
            let key = PrivateKey::generate(bits).map_err(refusal);
            done.push((*client, key.map(|key| (key.into(), job.padding))));
        }
    }

    fn failed(_job: Job<u32>) -> Made {
        Err(RejectReason::Key)
    }
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sent").finish_non_exhaustive()
    }
}

impl Sent {
    fn read(&self) -> Result<RsaKey, KeyError> {
        match self {
            Self::Numbers { n, e, d } => {
                let numbers = Components { n, e, d, crt: None };
                PrivateKey::from_components(&numbers).map(RsaKey::from)
            }
            Self::Der(der) => RsaKey::from_pem_or_der(der),
        }
    }
}

fn refusal(error: KeyError) -> RejectReason {
    match error {
        KeyError::Size => RejectReason::KeyLength,
        KeyError::Entropy => RejectReason::Entropy,
        KeyError::Algorithm => RejectReason::Algorithm,
        _ => RejectReason::Key,
    }
}

/// The padding of a scheme.
pub(super) fn padding(scheme: &Scheme<'_>) -> Result<Padding, RejectReason> {
    let hash = Hash::ALL.iter().find(|hash| hash.name() == scheme.hash);
    let hash = *hash.ok_or(RejectReason::Algorithm)?;
    Ok(match scheme.salt {
        None => Padding::pkcs1v15(hash),
        Some(salt) => Padding::pss_with_salt_length(hash, salt as usize),
    })
}
