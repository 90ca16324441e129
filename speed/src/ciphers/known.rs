//! Known questions, and the portable kernels' answers to them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lanecrypt_ciphers::{Algorithm, Isa};
use lanecrypt_peers::{Cipher, Direction, Failed, Message, lengths};

use super::Sizes;
use super::checked::Checked;
use super::sessions::{self, SESSIONS};
use super::typed;

/// The whole buffer of a message that goes on from call to call, in bytes.
pub(crate) const WHOLE: usize = 64 << 10;
/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Question {
    /// The whole buffer under the first key and IV.
    Buffer,
    /// A message of so many bytes in each of so many sessions.
    Messages(Sizes, usize),
    /// The same in the usual number of sessions, all under the first key.
    SharedKey(usize),
}

/// The keys of so many sessions; none for what is not measured.
pub(crate) fn keys(algorithm: Algorithm, sessions: usize) -> Option<Vec<Vec<u8>>> {
    let length = match algorithm {
        // Nobody else has it.
        Algorithm::NULL => 0,
        _ => lengths(&algorithm.to_string())?.0,
    };
    Some(sessions::keys(sessions, length))
}

/// The IVs of so many sessions, in one `round` or another.
pub(crate) fn ivs(algorithm: Algorithm, sessions: usize, round: u64) -> Vec<Vec<u8>> {
    sessions::nonces(sessions, algorithm.nonce_length(), round)
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
    let (sessions, sizes) = match question {
        Question::Buffer => (1, Sizes::one(WHOLE)),
        Question::Messages(sizes, sessions) => (sessions, sizes),
        Question::SharedKey(size) => (SESSIONS, Sizes::one(size)),
    };
    let keys = keys(algorithm, sessions).ok_or(Failed)?;
    let ivs = ivs(algorithm, sessions, 0);
    let mut answer = Vec::with_capacity(sessions * sizes.longest());
    for (session, iv) in ivs.iter().enumerate() {
        let key = if matches!(question, Question::SharedKey(_)) { 0 } else { session };
        let mut text = sessions::data(session, sizes.of(session));
        let mut portable = portable(algorithm, direction, &keys[key]).ok_or(Failed)?;
        portable.messages(&mut [Message { session: 0, iv, data: &mut text }], 1)?;
        answer.append(&mut text);
    }
    let answer = Arc::new(answer);
    ANSWERS.lock().unwrap_or_else(PoisonError::into_inner).insert(key, answer.clone());
    Ok(answer)
}

/// A session with the portable kernel: as it is, or behind the checked layer for what is measured
/// there only.
fn portable(algorithm: Algorithm, direction: Direction, key: &[u8]) -> Option<Box<dyn Cipher>> {
    typed::open(algorithm, Isa::PORTABLE, direction, &[key])
        .or_else(|| Some(Box::new(Checked::new(algorithm, Isa::PORTABLE, direction, &[key])?)))
}
