//! What requests cost, as an estimate of their time, so that clients share time instead of numbers
//! of requests.

use core::hint::black_box;
use std::time::Instant;

use lanecrypt_engine::{Algorithm, Engine, Operation, Session};

/// The time of a request without its bytes, in nanoseconds.
const BASE: u64 = 60;
/// The time to copy 1 KiB out of the arena and back, in nanoseconds.
const COPIES: u32 = 200;
/// The length of the messages that are timed.
const TIMED: usize = 4096;

/// The time that each operation of an algorithm takes for 1 KiB, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs([u32; Operation::OF_CIPHERS.len()]);

impl Costs {
    /// Those of keys that encrypt nothing.
    pub(super) const NONE: Self = Self([COPIES; Operation::OF_CIPHERS.len()]);

    /// The time of a request for this many bytes, with the operation at this place.
    #[inline]
    pub(super) fn of(&self, place: usize, bytes: usize) -> u64 {
        time(self.0.get(place).copied().unwrap_or(COPIES), bytes)
    }

    /// Times an algorithm with a key that is nobody's: the shortest of three times, since the
    /// thread may be interrupted.
    fn measure(engine: &Engine, algorithm: Algorithm) -> Self {
        let mut key = [0; 256];
        key.iter_mut().zip(0..=u8::MAX).for_each(|(byte, number)| *byte = number);
        let key = key.get(..algorithm.key_lengths().longest()).unwrap_or_default();
        let session = match algorithm.is_aead() {
            true => engine.session(algorithm, key),
            false => engine.raw_session(algorithm, key),
        };
        let Ok(session) = session else { return Self::NONE };
        Self(Operation::OF_CIPHERS.map(|operation| {
            if session.tag_length() > 0 && !matches!(operation, Operation::Seal | Operation::Open)
                || session.tag_length() == 0
                    && matches!(operation, Operation::Seal | Operation::Open)
            {
                return COPIES;
            }
            COPIES.saturating_add(shortest(|data| work(&session, algorithm, operation, data)))
        }))
    }
}

/// The costs of the algorithms that were used so far, and of random bytes.
#[derive(Debug)]
pub(super) struct CostTable {
    known: Vec<(Algorithm, Costs)>,
    random: u32,
}

impl CostTable {
    pub(super) fn new() -> Self {
        let random = shortest(|data| {
            // If there are none, requests fail soon.
            let _ = lanecrypt_random::try_fill(data);
        });
        Self { known: Vec::new(), random: random.saturating_add(COPIES / 2) }
    }

    /// The costs of this algorithm, which is timed when it is used for the first time.
    pub(super) fn of(&mut self, engine: &Engine, algorithm: Algorithm) -> Costs {
        if let Some((_, costs)) = self.known.iter().find(|(other, _)| *other == algorithm) {
            return *costs;
        }
        let costs = Costs::measure(engine, algorithm);
        self.known.push((algorithm, costs));
        costs
    }

    /// The time that 1 KiB of random bytes takes, in nanoseconds.
    pub(super) fn random(&self) -> u32 {
        self.random
    }
}

/// The time of a request for this many bytes, if 1 KiB takes `each` nanoseconds.
#[inline]
pub(super) fn time(each: u32, bytes: usize) -> u64 {
    // An arena has less than 2^27 bytes.
    BASE + bytes as u64 * u64::from(each) / 1024
}

fn work(session: &Session, algorithm: Algorithm, operation: Operation, data: &mut [u8]) {
    let nonce = [0; 32];
    let nonce = nonce.get(..algorithm.nonce_length()).unwrap_or_default();
    // The outcome does not matter: what is not authentic takes as long.
    let _ = black_box(match operation {
        Operation::Seal => session.seal(nonce, &[], data),
        Operation::Open => session.open(nonce, &[], data).map(drop),
        Operation::Encrypt => session.encrypt(nonce, data),
        _ => session.decrypt(nonce, data),
    });
}

/// The shortest time for 1 KiB in nanoseconds.
fn shortest(mut work: impl FnMut(&mut [u8])) -> u32 {
    let mut data = vec![0; TIMED];
    let times = [(); 3].map(|()| {
        let begun = Instant::now();
        work(&mut data);
        u32::try_from(begun.elapsed().as_nanos()).unwrap_or(u32::MAX)
    });
    let blocks = u32::try_from(TIMED / 1024).unwrap_or(1);
    times.into_iter().min().unwrap_or(u32::MAX) / blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::uses::place;

    #[test]
    fn longer_and_slower_requests_cost_more() {
        let mut table = CostTable::new();
        let engine = Engine::new();
        let null = table.of(&engine, Algorithm::NULL);
        let encrypt = place(Operation::Encrypt).expect("it is of a cipher");
        assert!(null.of(encrypt, 0) > 0 && null.of(encrypt, 1 << 20) > 100_000);
        let seal = place(Operation::Seal).expect("it is of a cipher");
        let costs = table.of(&engine, Algorithm::AES_128_GCM);
        assert!(costs.of(seal, 1 << 20) > costs.of(seal, 1 << 10));
        assert!(costs.of(seal, 1 << 20) > null.of(encrypt, 1 << 20));
        assert!(time(table.random(), 1 << 24) > 100_000);
        assert_eq!(time(u32::MAX, 0), BASE);
        assert_eq!(table.known.len(), 2, "each is timed once");
    }
}
