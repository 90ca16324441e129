//! The repeated work of a row, and the checks of its answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lanecrypt_peers::{Direction, Failed, Run, Signature, Signer};
use lanecrypt_rsa::{Backend, Hash, Isa, Padding, Workspace};
use sha2::{Digest as _, Sha256};

use super::keys::{self, Signed};
use super::ours;
use crate::row::{Arena, Workload};
use crate::verify::Defect;

/// The fewest messages that take turns.
const LEAST: usize = 16;
/// The signatures that are checked.
const POOL: usize = 64;

/// Signatures under the keys of one size, in turn.
pub(super) struct Signatures {
    pub(super) signer: Box<dyn Signer>,
    pub(super) direction: Direction,
    pub(super) bits: usize,
    /// The number of signatures that are handed over together.
    pub(super) batch: usize,
    /// Each is under the key of its position modulo the number of keys.
    slots: Vec<Signed>,
    /// The slots that the last run has used.
    used: usize,
    /// The number of batches so far; each has its own messages.
    round: u64,
}

impl Signatures {
    pub(super) fn new(
        signer: Box<dyn Signer>,
        direction: Direction,
        bits: usize,
        batch: usize,
    ) -> Self {
        Self { signer, direction, bits, batch, slots: Vec::new(), used: 0, round: 0 }
    }

    /// A multiple of a batch, so that every batch is whole.
    fn slots(&self) -> usize {
        LEAST.next_multiple_of(self.batch)
    }

    /// Serves this many requests.
    fn serve(&mut self, requests: usize) -> Result<(), Failed> {
        let keys = keys::of(self.bits).len();
        let signatures = self.slots.iter_mut().enumerate().map(|(at, slot)| {
            let Signed { message, digest, signature } = slot;
            Signature { session: at % keys, message, digest, signature }
        });
        let mut signatures: Vec<Signature<'_>> = signatures.collect();
        self.used = requests.min(signatures.len());
        self.signer.messages(&mut signatures, Run::of(requests).in_batches(self.batch))
    }

    /// Sets the messages whose signatures are known; signatures to make are zero.
    fn ask(&mut self) -> Vec<Signed> {
        let keys = keys::of(self.bits);
        let known = |at: usize| {
            let known = &keys[at % keys.len()].known;
            known[at / keys.len() % known.len()].clone()
        };
        let known: Vec<Signed> = (0..self.slots()).map(known).collect();
        self.slots.clone_from(&known);
        if self.direction == Direction::Encrypt {
            self.slots.iter_mut().for_each(|slot| slot.signature.fill(0));
        }
        known
    }

    /// Known signatures are made, or accepted, and wrong ones refused.
    fn checked(&mut self) -> Result<(), Defect> {
        let known = self.ask();
        let all = self.slots.len();
        if self.direction == Direction::Encrypt {
            self.serve(all)?;
            let is_right = self.slots.iter().zip(&known).all(|(a, b)| a.signature == b.signature);
            return if is_right { Ok(()) } else { Err(Defect::Answer) };
        }
        // One wrong signature among others, or a signature of another message.
        for at in [0, all / 2, all - 1] {
            let bit = 1 << (at % 8);
            let length = self.slots[at].signature.len();
            for place in [0, length / 3, length - 1] {
                self.slots[at].signature[place] ^= bit;
                let forged = self.serve(all);
                self.slots[at].signature[place] ^= bit;
                if forged.is_ok() {
                    return Err(Defect::Forgery);
                }
            }
            let genuine = self.slots[at].clone();
            self.slots[at] = Signed::new(b"another message".into(), genuine.signature.clone());
            let forged = self.serve(all);
            self.slots[at] = genuine;
            if forged.is_ok() {
                return Err(Defect::Forgery);
            }
        }
        self.serve(all).or(Err(Defect::RejectReason))
    }

    /// The signatures of the last run, by the portable kernel.
    fn made_are_right(&self) -> Option<bool> {
        let keys = keys::of(self.bits).iter().map(|key| key.public());
        let keys = keys.collect::<Option<Vec<_>>>()?;
        let padding = Padding::pkcs1v15(Hash::SHA256);
        let mut workspace = Workspace::with_backend(Backend::Own);
        Some(self.slots[..self.used].iter().enumerate().all(|(at, slot)| {
            let key = keys[at % keys.len()].with_isa(Isa::PORTABLE);
            key.verify_digest(padding, &slot.digest, &slot.signature, &mut workspace).is_ok()
        }))
    }
}

impl Workload for Signatures {
    fn begin(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.round += 1;
        let round = self.round;
        if self.direction == Direction::Encrypt {
            let length = keys::of(self.bits).first().map_or(0, keys::Key::length);
            let slot = |at| Signed::new(message(round, at), vec![0; length]);
            self.slots = (0..self.slots()).map(slot).collect();
        } else {
            let pool = pool(self.bits).ok_or(Defect::Failed)?;
            // By whole keys, so that each signature stays with its key.
            let first = usize::try_from(round % POOL as u64).unwrap_or_default()
                * keys::of(self.bits).len();
            let slot = |at: usize| pool[(first + at) % POOL].clone();
            self.slots = (0..self.slots()).map(slot).collect();
        }
        Ok(())
    }

    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        if self.serve(requests).is_err() {
            panic!("rsa-{} failed in the middle of a measurement", self.bits);
        }
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        let words = self.slots[..self.used].iter().flat_map(|slot| slot.signature.as_chunks().0);
        // A product, so that signatures in another order give another number.
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        words.fold(0, |folded: u64, &word| (folded ^ u64::from_ne_bytes(word)).wrapping_mul(ODD))
    }

    fn check(&mut self, _arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        // Nothing is random here, so nothing has to differ between threads.
        self.checked().map(|()| Vec::new())
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        if self.direction == Direction::Encrypt && self.made_are_right() != Some(true) {
            return Err(Defect::Answer);
        }
        self.checked()
    }
}

/// The message of a place in a round.
fn message(round: u64, at: usize) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(round.to_le_bytes());
    hash.update((at as u64).to_le_bytes());
    hash.finalize().to_vec()
}

/// Signed messages under all keys of a size, in turn. They are made once.
fn pool(bits: usize) -> Option<Arc<Vec<Signed>>> {
    static POOLS: Mutex<BTreeMap<usize, Arc<Vec<Signed>>>> = Mutex::new(BTreeMap::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&bits) {
        return Some(pool.clone());
    }
    let keys = keys::of(bits);
    let mut signatures = Signatures::new(
        ours::batches(Direction::Encrypt, keys, true)?,
        Direction::Encrypt,
        bits,
        POOL,
    );
    let slot = |at| Signed::new(message(u64::MAX, at), vec![0; bits / 8]);
    signatures.slots = (0..POOL).map(slot).collect();
    signatures.serve(POOL).ok()?;
    let pool = Arc::new(signatures.slots);
    pools.insert(bits, pool.clone());
    Some(pool)
}
