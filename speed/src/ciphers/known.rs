//! Known questions, and the portable kernels' answers to them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lanecrypt_ciphers::{Algorithm, Isa};
use lanecrypt_peers::{Direction, Failed, lengths};

use super::typed;

/// The whole buffer of a message that goes on from call to call, in bytes.
pub(crate) const WHOLE: usize = 64 << 10;
/// Sessions of independent messages, each with a key, an IV and a buffer of its own.
pub(crate) const SESSIONS: usize = 64;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Question {
    /// The whole buffer under the first key and IV.
    Buffer,
    /// A message of so many bytes in each session.
    Messages(usize),
    /// The same, all under the first key.
    SharedKey(usize),
}

/// Scattered bytes, always the same for one `seed`.
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

/// The keys of all sessions; none for what is not measured.
pub(crate) fn keys(algorithm: Algorithm) -> Option<Vec<Vec<u8>>> {
    let (length, _) = lengths(&algorithm.to_string())?;
    Some((1..=SESSIONS as u64).map(|session| bytes(session << 32, length)).collect())
}

/// The IVs of all sessions, in one `round` or another.
pub(crate) fn ivs(algorithm: Algorithm, round: u64) -> Vec<Vec<u8>> {
    let length = algorithm.nonce_length();
    (1..=SESSIONS as u64).map(|session| bytes(session << 40 | round, length)).collect()
}

/// What is in a session's buffer, `length` bytes.
pub(crate) fn data(session: usize, length: usize) -> Vec<u8> {
    bytes(session as u64 + 1, length)
}

/// The right answer: the buffer, or all messages one after another. Worked out once.
pub(crate) fn answer(
    algorithm: Algorithm,
    direction: Direction,
    question: Question,
) -> Result<Arc<Vec<u8>>, Failed> {
    #[expect(clippy::type_complexity, reason = "it is used here only")]
    static ANSWERS: Mutex<BTreeMap<(Algorithm, Direction, Question), Arc<Vec<u8>>>> =
        Mutex::new(BTreeMap::new());
    let key = (algorithm, direction, question);
    if let Some(known) = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(known.clone());
    }
    let keys = keys(algorithm).ok_or(Failed)?;
    let ivs = ivs(algorithm, 0);
    let (sessions, size) = match question {
        Question::Buffer => (1, WHOLE),
        Question::Messages(size) | Question::SharedKey(size) => (SESSIONS, size),
    };
    let mut answer = Vec::with_capacity(sessions * size);
    for (session, iv) in ivs.iter().enumerate().take(sessions) {
        let key = if matches!(question, Question::SharedKey(_)) { 0 } else { session };
        let mut text = data(session, size);
        let portable = typed::open(algorithm, Isa::PORTABLE, direction, &[&keys[key]]);
        portable.ok_or(Failed)?.chunks(iv, &mut text, size, 1)?;
        answer.append(&mut text);
    }
    let answer = Arc::new(answer);
    ANSWERS.lock().unwrap_or_else(PoisonError::into_inner).insert(key, answer.clone());
    Ok(answer)
}
