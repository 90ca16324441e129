//! A message that waits for others.

use alloc::boxed::Box;
use alloc::vec::Vec;

use lanecrypt_ciphers::Error;

use super::Session;
use super::entry::Entry;
use super::work::Work;

/// The longest nonce that a waiting message can have, in bytes.
pub(crate) const LONGEST_NONCE: usize = 24;

/// A message that waits. It holds its nonce by value, because the caller may reuse the nonce's
/// buffer for the next message.
pub(crate) struct Waiting<'a> {
    session: &'a Session,
    /// In words, which are stored and loaded at the same width.
    nonce: [[u8; 8]; LONGEST_NONCE / 8],
    nonce_length: u8,
    /// The index of the message in its batch.
    index: u32,
    work: Work<'a>,
}

impl<'a> Waiting<'a> {
    /// Keeps the first [`LONGEST_NONCE`] bytes of the nonce.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "no batch has 2^32 messages")]
    pub(crate) fn new(session: &'a Session, nonce: &[u8], work: Work<'a>, index: usize) -> Self {
        let kept = match nonce.len() {
            12 => [word(nonce, 0), half_word(nonce, 8), [0; 8]],
            8 => [word(nonce, 0), [0; 8], [0; 8]],
            16 => [word(nonce, 0), word(nonce, 8), [0; 8]],
            24 => [word(nonce, 0), word(nonce, 8), word(nonce, 16)],
            _ => [some_bytes(nonce, 0), some_bytes(nonce, 8), some_bytes(nonce, 16)],
        };
        let nonce_length = nonce.len().min(LONGEST_NONCE) as u8;
        Self { session, nonce: kept, nonce_length, index: index as u32, work }
    }

    /// The index of the message in its batch.
    #[inline]
    pub(crate) fn index(&self) -> usize {
        self.index as usize
    }

    /// Its outcome.
    #[inline]
    pub(crate) fn outcome(&self) -> Option<Result<(), Error>> {
        self.work.state.outcome
    }
}

/// The eight bytes from `at` on.
#[inline(always)]
pub(crate) fn word(nonce: &[u8], at: usize) -> [u8; 8] {
    nonce.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default()
}

/// The four bytes from `at` on, and four zeros.
#[inline(always)]
pub(crate) fn half_word(nonce: &[u8], at: usize) -> [u8; 8] {
    let half: [u8; 4] =
        nonce.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
    u64::from(u32::from_le_bytes(half)).to_le_bytes()
}

/// Up to eight bytes from `at` on, for a nonce of an unusual length.
//
// It returns a register, so that the words of common nonces need not be in memory.
#[cold]
#[inline(never)]
pub(crate) fn some_bytes(nonce: &[u8], at: usize) -> [u8; 8] {
    let mut word = [0; 8];
    word.iter_mut().zip(nonce.iter().skip(at)).for_each(|(kept, &byte)| *kept = byte);
    word
}

impl<'a> Entry<'a> for Waiting<'a> {
    #[inline]
    fn work(&self) -> &Work<'a> {
        &self.work
    }

    #[inline(always)]
    fn parts(&mut self) -> (&Session, &[u8], &mut Work<'a>) {
        let nonce =
            self.nonce.as_flattened().get(..usize::from(self.nonce_length)).unwrap_or_default();
        (self.session, nonce, &mut self.work)
    }

    #[inline]
    fn session(&self) -> &'a Session {
        self.session
    }
}

/// Memory for waiting messages, reused from one batch to the next.
//
// A list of lists, so that the outer list can be reused in the same way as the inner one; see
// `returned`.
pub(crate) type Memory<'a> = Box<[Vec<Waiting<'a>>; 1]>;

/// New memory for this many messages.
#[cold]
pub(crate) fn memory(messages: usize) -> Memory<'static> {
    Box::new([Vec::with_capacity(messages)])
}

/// Turns the memory of messages that have been served into memory for messages of another lifetime.
///
/// The standard library collects both lists in place, so that nothing is allocated.
pub(crate) fn returned(memory: Memory<'_>) -> Memory<'static> {
    let lists: Box<[Vec<Waiting<'_>>]> = memory;
    let emptied: Vec<_> = lists.into_vec().into_iter().map(emptied).collect();
    emptied.into_boxed_slice().try_into().unwrap_or_else(|_| self::memory(0))
}

fn emptied(mut waiting: Vec<Waiting<'_>>) -> Vec<Waiting<'static>> {
    waiting.clear();
    waiting.into_iter().map_while(|_| None).collect()
}
