//! A message that waits for others.

use lanecrypt_ciphers::Error;

use crate::Session;
use crate::entry::Entry;
use crate::job::Jobs;
use crate::work::Work;

/// Bytes of the longest nonces that there is room for.
pub(crate) const LONGEST_NONCE: usize = 24;

/// A message that waits, with its nonce by value: whoever gave it may make the next one in the same
/// place.
pub(crate) struct Waiting<'a> {
    session: &'a Session,
    /// In words, each of which is stored as a whole and never read in other pieces before.
    nonce: [[u8; 8]; LONGEST_NONCE / 8],
    nonce_length: u8,
    /// Which message of its batch it is.
    index: u32,
    work: Work<'a>,
}

impl<'a> Waiting<'a> {
    /// With the first [`LONGEST_NONCE`] bytes of the nonce.
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

    /// Which message of its batch it is.
    #[inline]
    pub(crate) fn index(&self) -> usize {
        self.index as usize
    }

    /// What came of it.
    #[inline]
    pub(crate) fn outcome(&self) -> Option<Result<(), Error>> {
        self.work.state.outcome
    }
}

/// Eight bytes from `at` on.
#[inline(always)]
fn word(nonce: &[u8], at: usize) -> [u8; 8] {
    nonce.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default()
}

/// Four bytes from `at` on, and four zeros.
#[inline(always)]
fn half_word(nonce: &[u8], at: usize) -> [u8; 8] {
    let half: [u8; 4] =
        nonce.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
    u64::from(u32::from_le_bytes(half)).to_le_bytes()
}

/// Up to eight bytes from `at` on, of a nonce whose length is none of the usual ones.
//
// Its result is a register: the words of usual nonces need not be in memory then.
#[cold]
#[inline(never)]
fn some_bytes(nonce: &[u8], at: usize) -> [u8; 8] {
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

    fn jobs<'j>(entries: &'j mut [Self]) -> Jobs<'j, 'a> {
        Jobs::waiting(entries)
    }
}

/// Memory for messages that wait, kept from one batch to the next.
//
// A list of lists, so that the outer one can be returned as the inner one is, see `returned`.
pub(crate) type Memory<'a> = Box<[Vec<Waiting<'a>>; 1]>;

/// New memory for so many.
#[cold]
pub(crate) fn memory(messages: usize) -> Memory<'static> {
    Box::new([Vec::with_capacity(messages)])
}

/// Memory of messages that have been served, for others that borrow from elsewhere.
///
/// The library collects both lists in place, so that nothing is allocated.
pub(crate) fn returned(memory: Memory<'_>) -> Memory<'static> {
    let lists: Box<[Vec<Waiting<'_>>]> = memory;
    let emptied: Vec<_> = lists.into_vec().into_iter().map(emptied).collect();
    emptied.into_boxed_slice().try_into().unwrap_or_else(|_| self::memory(0))
}

fn emptied(mut waiting: Vec<Waiting<'_>>) -> Vec<Waiting<'static>> {
    waiting.clear();
    waiting.into_iter().map_while(|_| None).collect()
}
