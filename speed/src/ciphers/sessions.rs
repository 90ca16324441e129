//! Many sessions, each with its own key, nonce and buffer, that take turns in shuffled order. All
//! rows of independent messages share this.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::lengths;

use super::Sizes;

/// Sessions of independent messages; more if a batch has more messages.
pub(crate) const SESSIONS: usize = 64;
/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// The keys and nonces of sessions, and the order in which they take turns.
pub(crate) struct Turns {
    algorithm: Algorithm,
    pub(crate) keys: Vec<Vec<u8>>,
    /// Nonces or IVs.
    pub(crate) nonces: Vec<Vec<u8>>,
    /// The sessions, shuffled.
    pub(crate) order: Vec<usize>,
    /// The number of batches so far; each has its own nonces and order.
    pub(crate) round: u64,
}

impl Turns {
    /// This many sessions; none if the algorithm is not measured.
    pub(crate) fn new(algorithm: Algorithm, count: usize) -> Option<Self> {
        let (keys, nonces) = (keys(algorithm, count)?, nonces(algorithm, count, 0));
        Some(Self { algorithm, keys, nonces, order: (0..count).collect(), round: 0 })
    }

    /// The initial keys. If requests bring keys these are different ones, so that a cipher that
    /// keeps its first key is found.
    pub(crate) fn first_keys(&self, is_fresh: bool) -> Vec<&[u8]> {
        let mut keys: Vec<&[u8]> = self.keys.iter().map(Vec::as_slice).collect();
        if is_fresh {
            keys.rotate_left(1);
        }
        keys
    }

    /// The keys in the order of the turns.
    pub(crate) fn keys(&self) -> Vec<&[u8]> {
        in_order(self.keys.iter().map(Vec::as_slice), &self.order)
    }

    /// The next batch.
    pub(crate) fn next(&mut self) {
        self.round += 1;
        shuffle(&mut self.order, self.round);
        renew(&mut self.nonces, self.round);
    }

    /// Sets the inputs of a known question, in its order.
    pub(crate) fn ask(&mut self) {
        self.order = (0..self.keys.len()).collect();
        self.nonces = nonces(self.algorithm, self.keys.len(), 0);
    }
}

/// Scattered bytes, always the same for a `seed`.
pub(crate) fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    fill(seed, &mut out);
    out
}

/// The same, into `out`.
pub(crate) fn fill(seed: u64, out: &mut [u8]) {
    let mut state = seed.wrapping_mul(0xD134_2543_DE82_EF95);
    for part in out.chunks_mut(8) {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        part.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..part.len()]);
    }
}

/// The keys of this many sessions; none if the algorithm is not measured.
pub(crate) fn keys(algorithm: Algorithm, sessions: usize) -> Option<Vec<Vec<u8>>> {
    let length = match algorithm {
        // No peer has it.
        Algorithm::NULL => 0,
        _ => lengths(&algorithm.to_string())?.0,
    };
    Some((1..=sessions as u64).map(|session| bytes(1 << 63 | session << 32, length)).collect())
}

/// The IVs or nonces of this many sessions in a `round`.
pub(crate) fn nonces(algorithm: Algorithm, sessions: usize, round: u64) -> Vec<Vec<u8>> {
    let mut nonces = vec![vec![0; algorithm.nonce_length()]; sessions];
    renew(&mut nonces, round);
    nonces
}

/// Replaces nonces with those of another `round`.
pub(crate) fn renew(nonces: &mut [Vec<u8>], round: u64) {
    for (session, nonce) in (1..).zip(nonces) {
        fill(session << 40 | round, nonce);
    }
}

/// The initial content of a session's buffer, `length` bytes.
pub(crate) fn data(session: usize, length: usize) -> Vec<u8> {
    bytes(session as u64 + 1, length)
}

/// The sessions in another order for each `round`.
pub(crate) fn shuffle(order: &mut [usize], round: u64) {
    let numbers = bytes(round, 8 * order.len());
    for (i, number) in numbers.as_chunks().0.iter().enumerate().skip(1) {
        let j = u64::from_le_bytes(*number) % (i as u64 + 1);
        order.swap(i, usize::try_from(j).unwrap_or(i));
    }
}

/// Bytes from one session's buffer to the next: an odd number of cache lines, so that buffers have
/// all offsets within a page.
pub(crate) const fn stride(sizes: Sizes) -> usize {
    (sizes.longest().div_ceil(LINE) | 1) * LINE
}

/// The buffers of all sessions, as long as their messages.
pub(crate) fn buffers(memory: &mut [u8], sizes: Sizes) -> impl Iterator<Item = &mut [u8]> {
    let buffers = memory.chunks_exact_mut(stride(sizes)).enumerate();
    buffers.map(move |(session, buffer)| &mut buffer[..sizes.of(session)])
}

/// One thing for each session, put into this order.
pub(crate) fn in_order<T>(things: impl IntoIterator<Item = T>, order: &[usize]) -> Vec<T> {
    let mut things: Vec<Option<T>> = things.into_iter().map(Some).collect();
    // Allocated once, so that each batch finds the heap as the one before did.
    let mut ordered = Vec::with_capacity(order.len());
    ordered.extend(order.iter().filter_map(|&session| things.get_mut(session)?.take()));
    ordered
}

/// A value that depends on every word of `memory`.
pub(crate) fn digest(memory: &[u8]) -> u64 {
    let words = memory.as_chunks().0.iter();
    words.fold(0, |folded: u64, word| folded.rotate_left(1) ^ u64::from_ne_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GCM: Algorithm = Algorithm::AES_128_GCM;

    #[test]
    fn every_session_has_its_own_and_its_turn() {
        let mut order: Vec<usize> = (0..SESSIONS).collect();
        shuffle(&mut order, 3);
        assert!(!order.is_sorted());
        let size = Sizes::one(100);
        let mut memory = vec![0; SESSIONS * stride(size)];
        let turns = in_order(buffers(&mut memory, size).zip(nonces(GCM, SESSIONS, 7)), &order);
        assert_eq!(turns.len(), SESSIONS);
        for ((buffer, nonce), &session) in turns.into_iter().zip(&order) {
            assert_eq!(nonce, nonces(GCM, SESSIONS, 7)[session]);
            assert!(buffer.len() == 100 && buffer.iter().all(|&byte| byte == 0));
            buffer.fill(1);
        }
        assert_eq!(memory.iter().filter(|&&byte| byte == 1).count(), 100 * SESSIONS);
        let mixed = Sizes::mixed(10, 100);
        assert!(
            buffers(&mut memory, mixed).map(|b| b.len()).eq((0..SESSIONS).map(|s| mixed.of(s)))
        );
        let stride = |size| stride(Sizes::one(size));
        assert!(stride(1).is_multiple_of(LINE) && !stride(64).is_multiple_of(2 * LINE));
        order.sort_unstable();
        assert!(order.into_iter().eq(0..SESSIONS));
    }

    #[test]
    fn rounds_keys_and_data_differ() {
        let nonces = [0, 1].map(|round| nonces(GCM, SESSIONS, round)).concat();
        let keys = keys(GCM, 512).expect("it is measured");
        let all = [keys, nonces, vec![data(0, 12), data(1, 12)]].concat();
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
        assert_ne!(digest(&all[0]), digest(&all[1]));
    }
}
