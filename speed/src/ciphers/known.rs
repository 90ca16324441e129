//! Known questions, and the portable kernels' answers to them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lanecrypt_ciphers::{Algorithm, Cipher as Sealing, InOutBuf, Isa};
use lanecrypt_kernels::chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use lanecrypt_kernels::gcm::AesGcm;
use lanecrypt_kernels::{Aead, Bytes};
use lanecrypt_peers::{Cipher, Direction, Failed, Message, Run};

use super::Sizes;
use super::checked::Checked;
use super::sessions::{self, SESSIONS, bytes};
use super::typed;

/// The length of the buffer of one message that spans many calls, in bytes.
pub(crate) const WHOLE: usize = 64 << 10;
/// Bytes of associated data of each message with authentication, as for a short header.
pub(crate) const AAD: usize = 8;

/// A question with a known answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Question {
    /// The whole buffer under the first key and IV.
    Buffer,
    /// A message of these sizes in each of this many sessions.
    Messages(Sizes, usize),
    /// The same in the usual number of sessions, all under the first key.
    SharedKey(usize),
}

/// The messages of all sessions, one after another, and the tags of those with authentication.
pub(crate) struct Answer {
    pub(crate) messages: Vec<u8>,
    pub(crate) tags: Vec<[u8; 16]>,
}

/// The associated data of this many sessions.
pub(crate) fn aads(sessions: usize) -> Vec<Vec<u8>> {
    (1..=sessions as u64).map(|session| bytes(1 << 62 | session << 32, AAD)).collect()
}

/// The right answer, with the nonces of round zero. Computed once.
pub(crate) fn answer(
    algorithm: Algorithm,
    direction: Direction,
    question: Question,
) -> Result<Arc<Answer>, Failed> {
    static ANSWERS: Mutex<BTreeMap<(Algorithm, Direction, Question), Arc<Answer>>> =
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
    let keys = sessions::keys(algorithm, sessions).ok_or(Failed)?;
    let nonces = sessions::nonces(algorithm, sessions, 0);
    let messages = Vec::with_capacity(sessions * sizes.longest());
    let mut answer = Answer { messages, tags: Vec::new() };
    for (session, (iv, aad)) in nonces.iter().zip(aads(sessions)).enumerate() {
        let key = &keys[if matches!(question, Question::SharedKey(_)) { 0 } else { session }];
        let mut data = sessions::data(session, sizes.of(session));
        if algorithm.is_aead() {
            answer.tags.push(seal(algorithm, Isa::PORTABLE, key, iv, &aad, &mut data)?);
        } else {
            let mut portable = portable(algorithm, direction, key).ok_or(Failed)?;
            let message = Message { session: 0, iv, data: &mut data };
            portable.messages(&mut [message], Run::of(1))?;
        }
        answer.messages.append(&mut data);
    }
    let answer = Arc::new(answer);
    ANSWERS.lock().unwrap_or_else(PoisonError::into_inner).insert(key, answer.clone());
    Ok(answer)
}

/// A session with the portable kernel: the kernel itself, or the checked layer if only that is
/// measured.
fn portable(algorithm: Algorithm, direction: Direction, key: &[u8]) -> Option<Box<dyn Cipher>> {
    typed::open(algorithm, Isa::PORTABLE, direction, &[key])
        .or_else(|| Some(Box::new(Checked::new(algorithm, Isa::PORTABLE, direction, &[key])?)))
}

/// Seals a message with the kernel of `isa`, without the layer above it.
pub(crate) fn seal(
    algorithm: Algorithm,
    isa: Isa,
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    data: &mut [u8],
) -> Result<[u8; 16], Failed> {
    let data = InOutBuf::from(data);
    match algorithm {
        Algorithm::AES_128_GCM => typed::<AesGcm<128>>(isa, key, nonce, aad, data),
        Algorithm::AES_256_GCM => typed::<AesGcm<256>>(isa, key, nonce, aad, data),
        Algorithm::CHACHA20_POLY1305 => typed::<ChaCha20Poly1305>(isa, key, nonce, aad, data),
        Algorithm::XCHACHA20_POLY1305 => typed::<XChaCha20Poly1305>(isa, key, nonce, aad, data),
        _ => {
            // Without a kernel of its own: the checked layer.
            let cipher = Sealing::with_isa(isa, algorithm, key).or(Err(Failed))?;
            let mut tag = [0; 16];
            cipher.seal_detached(nonce, aad, data, &mut tag).or(Err(Failed))?;
            Ok(tag)
        }
    }
}

fn typed<A: Aead>(
    isa: Isa,
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> Result<[u8; 16], Failed> {
    let key = A::Key::from_slice(key).ok_or(Failed)?;
    let nonce = A::Nonce::from_slice(nonce).ok_or(Failed)?;
    Ok(A::new(isa, key).seal(nonce, aad, data))
}
