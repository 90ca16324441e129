//! The repeated work of a row, and the checks of its answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lanecrypt_peers::{Asked, Failed, Job, Key, KeyPair, Operation, PublicKey, Run};
use sha2::{Digest as _, Sha256};

use crate::row::{Arena, Workload};
use crate::verify::Defect;

/// The operations that take turns, each with a key and an input of its own.
const SLOTS: usize = 64;

/// The keys of an operation's sessions; one that means nothing if they have none.
pub(super) struct Keys(Vec<Option<Key>>);

impl Keys {
    /// As peers take them.
    pub(super) fn pairs(&self) -> Vec<KeyPair<'_>> {
        let none = KeyPair { private: &[], public: &[] };
        self.0.iter().map(|key| key.as_ref().map_or(none, Key::pair)).collect()
    }

    /// The keys themselves.
    pub(super) fn keys(&self) -> impl Iterator<Item = Option<&Key>> {
        self.0.iter().map(Option::as_ref)
    }
}

/// What an operation is asked, made once: keys, and a question under each.
struct Pool {
    keys: Keys,
    slots: Vec<Slot>,
}

/// A question to a session.
#[derive(Clone)]
struct Slot {
    session: usize,
    asked: Asked,
}

impl Pool {
    fn of(operation: Operation) -> Result<Arc<Self>, Failed> {
        static POOLS: Mutex<BTreeMap<[&str; 2], Arc<Pool>>> = Mutex::new(BTreeMap::new());
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(&operation.names()) {
            return Ok(pool.clone());
        }
        let keys: Vec<Option<Key>> = match operation.key() {
            Some(kind) => (0..SLOTS).map(|_| Some(Key::generate(kind))).collect(),
            None => vec![None],
        };
        let slot = |at: usize| {
            let session = at % keys.len();
            Ok(Slot { session, asked: Asked::new(operation, keys[session].as_ref())? })
        };
        let slots = (0..SLOTS).map(slot).collect::<Result<_, Failed>>()?;
        let pool = Arc::new(Self { keys: Keys(keys), slots });
        pools.insert(operation.names(), pool.clone());
        Ok(pool)
    }

    fn key(&self, slot: &Slot) -> Option<&Key> {
        self.keys.0.get(slot.session)?.as_ref()
    }
}

/// Operations in turn.
pub(super) struct Operations {
    by: Box<dyn PublicKey>,
    operation: Operation,
    /// The number of operations that are handed over together.
    batch: usize,
    pool: Arc<Pool>,
    /// The questions in another order in each batch.
    slots: Vec<Slot>,
    /// The operations of the last run.
    requests: usize,
    /// The number of batches so far; each has its own messages.
    round: u64,
}

impl Operations {
    pub(super) fn new(
        operation: Operation,
        batch: usize,
        open: impl Fn(&Keys) -> Option<Box<dyn PublicKey>>,
    ) -> Option<Self> {
        let pool = Pool::of(operation).ok()?;
        let by = open(&pool.keys)?;
        let slots = pool.slots.clone();
        Some(Self { by, operation, batch, pool, slots, requests: 0, round: 0 })
    }

    /// Serves this many requests.
    fn serve(&mut self, requests: usize) -> Result<(), Failed> {
        let jobs = self.slots.iter_mut().map(|Slot { session, asked }| asked.job(*session));
        let mut jobs: Vec<Job<'_>> = jobs.collect();
        self.requests = requests;
        self.by.jobs(&mut jobs, Run::of(requests).in_batches(self.batch))
    }

    /// The slots that the last run has used.
    fn used(&self) -> &[Slot] {
        &self.slots[..self.requests.min(self.slots.len())]
    }

    /// The answers of the last run.
    fn are_right(&mut self) -> Result<(), Defect> {
        let is_right = |slot: &Slot| slot.asked.is_answered(self.pool.key(slot));
        if !self.used().iter().all(is_right) {
            return Err(Defect::Answer);
        }
        if self.operation.generated().is_some() && self.requests > 0 {
            let last = (self.requests - 1) % self.slots.len();
            if !self.slots[last].asked.has_generated(&mut *self.by) {
                return Err(Defect::Answer);
            }
        }
        Ok(())
    }

    /// Every number of operations is answered, and wrong signatures are refused.
    fn checked(&mut self) -> Result<(), Defect> {
        let all = self.slots.len();
        for requests in (1..=self.batch.min(8)).chain([all]) {
            self.forget();
            self.serve(requests).or(Err(Defect::RejectReason))?;
            self.are_right()?;
        }
        if self.operation.is_check() {
            for at in [0, all / 2, all - 1] {
                for place in [0, 21, 63] {
                    self.slots[at].asked.output_mut()[place] ^= 1 << (at % 8);
                    let forged = self.serve(all);
                    self.slots[at].asked.output_mut()[place] ^= 1 << (at % 8);
                    if forged.is_ok() {
                        return Err(Defect::Forgery);
                    }
                }
                let genuine = self.slots[at].clone();
                self.slots[at].asked.set_message(b"another message");
                let forged = self.serve(all);
                self.slots[at] = genuine;
                if forged.is_ok() {
                    return Err(Defect::Forgery);
                }
            }
            self.serve(all).or(Err(Defect::RejectReason))?;
        }
        Ok(())
    }

    /// Clears the answers; signatures to check stay.
    fn forget(&mut self) {
        if !self.operation.is_check() {
            self.slots.iter_mut().for_each(|slot| slot.asked.output_mut().fill(0));
        }
    }
}

impl Workload for Operations {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.round += 1;
        let mut random = Sha256::digest(self.round.to_le_bytes());
        for at in (0..self.slots.len()).rev() {
            random = Sha256::digest(random);
            let word = u32::from_le_bytes([random[0], random[1], random[2], random[3]]);
            self.slots.swap(at, word as usize % (at + 1));
            if !self.operation.is_check() {
                self.slots[at].asked.set_message(&random);
            }
        }
        self.forget();
        Ok(())
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        if self.serve(requests).is_err() {
            panic!("{:?} failed in the middle of a measurement", self.operation);
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        // A product, so that answers in another order give another number.
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let bytes = self.used().iter().flat_map(|slot| slot.asked.output());
        bytes.fold(0, |folded, &byte| (folded ^ u64::from(byte)).wrapping_mul(ODD))
    }

    fn check(&mut self, _arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        self.checked()?;
        // Where answers are random, they must differ between threads.
        Ok(Vec::new())
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.are_right()?;
        self.checked()
    }
}
