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
    nonce: [u8; LONGEST_NONCE],
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
        let mut kept = [0; LONGEST_NONCE];
        // Copies of a known length are a move or two.
        match nonce.len() {
            12 => copy::<12>(&mut kept, nonce),
            8 => copy::<8>(&mut kept, nonce),
            16 => copy::<16>(&mut kept, nonce),
            24 => copy::<24>(&mut kept, nonce),
            _ => kept.iter_mut().zip(nonce).for_each(|(kept, &byte)| *kept = byte),
        }
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

#[inline(always)]
fn copy<const N: usize>(to: &mut [u8; LONGEST_NONCE], from: &[u8]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk::<N>()) {
        *to = *from;
    }
}

impl<'a> Entry<'a> for Waiting<'a> {
    #[inline]
    fn work(&self) -> &Work<'a> {
        &self.work
    }

    #[inline(always)]
    fn parts(&mut self) -> (&Session, &[u8], &mut Work<'a>) {
        let nonce = self.nonce.get(..usize::from(self.nonce_length)).unwrap_or_default();
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

/// The memory of messages that have been served, for others that borrow from elsewhere.
///
/// The library collects in place, so that nothing is allocated.
pub(crate) fn emptied(mut waiting: Vec<Waiting<'_>>) -> Vec<Waiting<'static>> {
    waiting.clear();
    waiting.into_iter().map_while(|_| None).collect()
}
