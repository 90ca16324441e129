//! Jobs: requests as drivers see them.

use core::fmt;
use core::slice;

use lanecrypt_ciphers::{Error, InOutBuf};

use super::entry::Entry;
use super::request::Request;
use super::waiting::Waiting;
use super::work::Work;
use super::{Session, SessionId};
use crate::Operation;

/// One request, as the driver that serves it sees it.
///
/// A driver may send it to another thread, which must return it before
/// [`process`](crate::Driver::process) returns.
pub struct Job<'j, 'a> {
    session: &'a Session,
    /// The identifier, if it is not that of the session.
    id: Option<SessionId>,
    nonce: &'j [u8],
    work: &'j mut Work<'a>,
}

impl<'j, 'a> Job<'j, 'a> {
    fn new<E: Entry<'a>>(entry: &'j mut E) -> Self {
        let session = entry.session();
        let (_, nonce, work) = entry.parts();
        Self { session, id: None, nonce, work }
    }

    /// Lends the request to another driver, which has this identifier for the session. It has no
    /// outcome until that driver sets one.
    pub fn lend(&mut self, id: SessionId) -> Job<'_, 'a> {
        self.work.state.outcome = None;
        Job { session: self.session, id: Some(id), nonce: self.nonce, work: &mut *self.work }
    }

    /// The session that holds its key.
    #[must_use]
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// The driver's identifier of that session.
    #[must_use]
    pub fn session_id(&self) -> SessionId {
        self.id.unwrap_or_else(|| self.session.id())
    }

    /// The operation.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.work.state.class.operation()
    }

    /// The nonce, or the initialization vector.
    #[must_use]
    pub fn nonce(&self) -> &'j [u8] {
        self.nonce
    }

    /// The data that is authenticated but not encrypted. Of a signature, the message; of a key
    /// exchange, what the other side sent.
    #[must_use]
    pub fn aad(&self) -> &'a [u8] {
        self.work.aad
    }

    /// The data, in place or from one buffer to another.
    ///
    /// # Errors
    ///
    /// The driver [settles](Self::settle) the request with the error:
    ///
    /// - [`Error::OutputLength`] if the two buffers have different lengths, or if a packet to seal
    ///   has no room for a tag;
    /// - [`Error::Authentication`] if a packet to open is shorter than a tag;
    /// - [`Error::Unsupported`] if the operation is [asymmetric](Operation::is_asymmetric): its
    ///   input is [`aad`](Self::aad).
    pub fn data(&mut self) -> Result<InOutBuf<'_, '_, u8>, Error> {
        match self.operation() {
            Operation::Encrypt | Operation::Decrypt => self.work.data.in_out(),
            Operation::Seal => self.work.parted_to_seal(self.session).map(|(data, _)| data),
            Operation::Open => self.work.parted_to_open(self.session).map(|(data, _)| data),
            Operation::Sign | Operation::Verify | Operation::Agree => Err(Error::Unsupported),
        }
    }

    /// Writes the tag of a message that was sealed.
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`] if its length differs from the room for it, [`Error::Unsupported`] if
    /// the operation was not to seal.
    pub fn put_tag(&mut self, made: &[u8]) -> Result<(), Error> {
        if self.operation() != Operation::Seal {
            return Err(Error::Unsupported);
        }
        let Work { put, data, .. } = &mut *self.work;
        let place = match put {
            Some(tag) => Some(&mut **tag),
            None => self.session.cut(data.out()).map(|(_, tag)| tag),
        };
        match place {
            Some(place) if place.len() == made.len() => {
                place.copy_from_slice(made);
                Ok(())
            }
            _ => Err(Error::TagLength),
        }
    }

    /// The length in bytes of the tag's room (to seal) or of the received tag (to open); 0 if there
    /// is none.
    #[must_use]
    pub fn tag_length(&self) -> usize {
        match (self.operation(), &self.work.put, self.work.came) {
            (Operation::Seal, Some(tag), _) => tag.len(),
            (Operation::Open, _, Some(tag)) => tag.len(),
            (Operation::Seal | Operation::Open, ..) => {
                self.work.data.len().min(self.session.tag_length())
            }
            _ => 0,
        }
    }

    /// The received tag of a message to open.
    #[must_use]
    pub fn tag(&mut self) -> Option<&[u8]> {
        match self.operation() {
            Operation::Open => self.work.parted_to_open(self.session).ok().map(|(_, tag)| tag),
            _ => None,
        }
    }

    /// Writes the signature of a message that was signed, or what was agreed on.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if its length differs from the room for it, [`Error::Unsupported`]
    /// if the operation was neither to sign nor to agree.
    pub fn put_output(&mut self, made: &[u8]) -> Result<(), Error> {
        match (self.operation(), &mut self.work.put) {
            (Operation::Sign | Operation::Agree, Some(place)) if place.len() == made.len() => {
                place.copy_from_slice(made);
                Ok(())
            }
            (Operation::Sign | Operation::Agree, _) => Err(Error::OutputLength),
            _ => Err(Error::Unsupported),
        }
    }

    /// The length in bytes of the room for a signature, or for what is agreed on; 0 if the
    /// operation is neither to sign nor to agree.
    #[must_use]
    pub fn output_length(&self) -> usize {
        match (self.operation(), &self.work.put) {
            (Operation::Sign | Operation::Agree, Some(place)) => place.len(),
            _ => 0,
        }
    }

    /// The signature to check.
    #[must_use]
    pub fn signature(&self) -> Option<&'a [u8]> {
        self.work.came.filter(|_| self.operation() == Operation::Verify)
    }

    /// The length of its data and associated data in bytes, without the tag of a packet:
    /// [`Load::bytes`](crate::Load::bytes) is the sum.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.work.bytes().saturating_add(self.work.aad.len())
    }

    /// The current content of all memory that serving it may write to: the output, and the room for
    /// a tag, a signature or a secret if that is separate.
    #[must_use]
    pub fn outputs(&mut self) -> [&mut [u8]; 2] {
        let Work { data, put, .. } = &mut *self.work;
        [data.out(), put.as_deref_mut().unwrap_or_default()]
    }

    /// Serves it by this processor's software, which has the key of every session.
    pub fn serve_by_software(self) {
        // The outcome is the request's own.
        let _set = self.work.serve(self.session, self.nonce);
    }

    /// The outcome, if it was set by the driver to which the request was [lent](Self::lend).
    #[must_use]
    pub fn outcome(&self) -> Option<Result<(), Error>> {
        self.work.state.outcome
    }

    /// Sets the outcome.
    pub fn settle(self, outcome: Result<(), Error>) {
        self.work.state.outcome = Some(outcome);
    }
}

impl<'a> Entry<'a> for Job<'_, 'a> {
    #[inline]
    fn work(&self) -> &Work<'a> {
        self.work
    }

    #[inline(always)]
    fn parts(&mut self) -> (&Session, &[u8], &mut Work<'a>) {
        (self.session, self.nonce, self.work)
    }

    #[inline]
    fn session(&self) -> &'a Session {
        self.session
    }
}

impl fmt::Debug for Job<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("session", &self.session)
            .field("operation", &self.operation())
            .finish_non_exhaustive()
    }
}

/// The requests of one call of a driver; none of them has been served.
pub struct Jobs<'j, 'a>(List<'j, 'a>);

/// The storage of the requests.
pub(crate) enum List<'j, 'a> {
    Requests(&'j mut [Request<'a>]),
    Waiting(&'j mut [Waiting<'a>]),
    /// Lent by the driver that received them.
    Lent(&'j mut [Option<Job<'j, 'a>>]),
}

/// Messages that can be passed to a driver.
pub(crate) trait AsJobs<'a>: Entry<'a> {
    /// The messages as jobs.
    fn jobs<'j>(messages: &'j mut [Self]) -> Jobs<'j, 'a>;
}

impl<'a> AsJobs<'a> for Request<'a> {
    fn jobs<'j>(requests: &'j mut [Self]) -> Jobs<'j, 'a> {
        Jobs(List::Requests(requests))
    }
}

impl<'a> AsJobs<'a> for Waiting<'a> {
    fn jobs<'j>(waiting: &'j mut [Self]) -> Jobs<'j, 'a> {
        Jobs(List::Waiting(waiting))
    }
}

impl<'j, 'a> Jobs<'j, 'a> {
    pub(crate) fn into_list(self) -> List<'j, 'a> {
        self.0
    }

    pub(crate) fn list(&self) -> &List<'j, 'a> {
        &self.0
    }

    /// The number of jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            List::Requests(requests) => requests.len(),
            List::Waiting(waiting) => waiting.len(),
            List::Lent(jobs) => jobs.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Splits off the first `count` jobs, or all if there are fewer. Useful to spread them over
    /// threads.
    #[must_use]
    pub fn split_at(self, count: usize) -> (Self, Self) {
        let at = count.min(self.len());
        match self.0 {
            List::Requests(requests) => {
                let (first, second) = requests.split_at_mut(at);
                (Self(List::Requests(first)), Self(List::Requests(second)))
            }
            List::Waiting(waiting) => {
                let (first, second) = waiting.split_at_mut(at);
                (Self(List::Waiting(first)), Self(List::Waiting(second)))
            }
            List::Lent(jobs) => {
                let (first, second) = jobs.split_at_mut(at);
                (Self(List::Lent(first)), Self(List::Lent(second)))
            }
        }
    }
}

/// Jobs that one driver [lends](Job::lend) to another. All should be `Some`.
impl<'j, 'a> From<&'j mut [Option<Job<'j, 'a>>]> for Jobs<'j, 'a> {
    fn from(jobs: &'j mut [Option<Job<'j, 'a>>]) -> Self {
        Self(List::Lent(jobs))
    }
}

impl<'j, 'a> IntoIterator for Jobs<'j, 'a> {
    type Item = Job<'j, 'a>;
    type IntoIter = EachJob<'j, 'a>;

    fn into_iter(self) -> EachJob<'j, 'a> {
        match self.0 {
            List::Requests(requests) => EachJob(Each::Requests(requests.iter_mut())),
            List::Waiting(waiting) => EachJob(Each::Waiting(waiting.iter_mut())),
            List::Lent(jobs) => EachJob(Each::Lent(jobs.iter_mut())),
        }
    }
}

impl fmt::Debug for Jobs<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Iterates over jobs.
pub struct EachJob<'j, 'a>(Each<'j, 'a>);

enum Each<'j, 'a> {
    Requests(slice::IterMut<'j, Request<'a>>),
    Waiting(slice::IterMut<'j, Waiting<'a>>),
    Lent(slice::IterMut<'j, Option<Job<'j, 'a>>>),
}

impl<'j, 'a> Iterator for EachJob<'j, 'a> {
    type Item = Job<'j, 'a>;

    #[inline]
    fn next(&mut self) -> Option<Job<'j, 'a>> {
        match &mut self.0 {
            Each::Requests(requests) => requests.next().map(Job::new),
            Each::Waiting(waiting) => waiting.next().map(Job::new),
            Each::Lent(jobs) => jobs.find_map(Option::take),
        }
    }
}

impl fmt::Debug for EachJob<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EachJob").finish_non_exhaustive()
    }
}

/// Drivers may send jobs to their own threads.
const _: () = {
    const fn sent<T: Send>() {}
    sent::<Job<'_, '_>>();
    sent::<Jobs<'_, '_>>();
    sent::<EachJob<'_, '_>>();
};
