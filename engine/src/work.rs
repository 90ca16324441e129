//! The operation on a message, and its progress.

use lanecrypt_ciphers::lanes::{Opening, Sealing, in_parts};
use lanecrypt_ciphers::{Error, InOutBuf, hazmat};

use crate::class::Class;
use crate::session::SessionKey;
use crate::{Data, Operation, Session};

/// An operation and its buffers.
//
// The fields are the same for every operation, and most are empty. The compiler keeps plain fields
// that were just made in registers and stores each in its place. An enum would be copied: read at
// another width than it was just stored at, and so stalled on the stores.
pub(crate) struct Work<'a> {
    pub(crate) state: State,
    pub(crate) aad: &'a [u8],
    /// The data; the whole packet if its tag is in `data` and not in `put` or `came`.
    pub(crate) data: Data<'a>,
    /// The room for the tag.
    pub(crate) put: Option<&'a mut [u8]>,
    /// The received tag.
    pub(crate) came: Option<&'a [u8]>,
}

/// The progress of a request.
#[derive(Clone, Copy)]
pub(crate) struct State {
    /// The class of the request.
    pub(crate) class: Class,
    /// Its outcome, once it has been served.
    pub(crate) outcome: Option<Result<(), Error>>,
}

impl State {
    #[inline]
    pub(crate) fn new(session: &Session, operation: Operation) -> Self {
        Self { class: session.class().with(operation), outcome: None }
    }

    /// Whether it is of this class and has not been served.
    #[inline]
    pub(crate) fn awaits(self, class: Class) -> bool {
        self.class == class && self.outcome.is_none()
    }

    /// The place of an error; without an error the request counts as served.
    #[inline(always)]
    fn settled(&mut self) -> &mut Result<(), Error> {
        self.outcome.insert(Ok(()))
    }
}

impl<'a> Work<'a> {
    #[inline(always)]
    pub(crate) fn raw(session: &Session, operation: Operation, data: Data<'a>) -> Self {
        let state = State::new(session, operation);
        Self { state, aad: &[], data, put: None, came: None }
    }

    #[inline(always)]
    pub(crate) fn packet(
        session: &Session,
        operation: Operation,
        aad: &'a [u8],
        packet: &'a mut [u8],
    ) -> Self {
        let state = State::new(session, operation);
        Self { state, aad, data: packet.into(), put: None, came: None }
    }

    #[inline(always)]
    pub(crate) fn seal(
        session: &Session,
        aad: &'a [u8],
        data: Data<'a>,
        tag: &'a mut [u8],
    ) -> Self {
        let state = State::new(session, Operation::Seal);
        Self { state, aad, data, put: Some(tag), came: None }
    }

    #[inline(always)]
    pub(crate) fn open(session: &Session, aad: &'a [u8], data: Data<'a>, tag: &'a [u8]) -> Self {
        let state = State::new(session, Operation::Open);
        Self { state, aad, data, put: None, came: Some(tag) }
    }

    /// The length of the message in bytes; of a packet without the usual tag.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        let bytes = self.data.len();
        let is_packet = self.put.is_none()
            && self.came.is_none()
            && matches!(self.state.class.operation(), Operation::Seal | Operation::Open);
        if is_packet { bytes.saturating_sub(16) } else { bytes }
    }

    /// The data and the tag of a message that is to be sealed.
    #[inline(always)]
    pub(crate) fn parted_to_seal(
        &mut self,
        session: &Session,
    ) -> Result<(InOutBuf<'_, '_, u8>, &mut [u8]), Error> {
        match &mut self.put {
            Some(tag) => Ok((self.data.in_out()?, tag)),
            None => {
                let (data, tag) = session.cut(self.data.out()).ok_or(Error::OutputLength)?;
                Ok((data.into(), tag))
            }
        }
    }

    /// The data and the tag of a message that is to be opened.
    #[inline(always)]
    pub(crate) fn parted_to_open(
        &mut self,
        session: &Session,
    ) -> Result<(InOutBuf<'_, '_, u8>, &[u8]), Error> {
        match self.came {
            Some(tag) => Ok((self.data.in_out()?, tag)),
            None => {
                let (data, tag) = session.cut(self.data.out()).ok_or(Error::Authentication)?;
                Ok((data.into(), tag))
            }
        }
    }

    /// Serves it alone, by the software.
    #[inline(always)]
    pub(crate) fn serve(&mut self, session: &Session, nonce: &[u8]) -> Result<(), Error> {
        let outcome = self.served(session, nonce);
        self.state.outcome = Some(outcome);
        outcome
    }

    #[inline(always)]
    fn served(&mut self, session: &Session, nonce: &[u8]) -> Result<(), Error> {
        let aad = self.aad;
        match (&session.key, self.state.class.operation()) {
            (SessionKey::Raw(_, cipher), Operation::Encrypt) => {
                cipher.encrypt(nonce, in_parts(self.data.in_out()?))
            }
            (SessionKey::Raw(_, cipher), Operation::Decrypt) => {
                cipher.decrypt(nonce, in_parts(self.data.in_out()?))
            }
            (SessionKey::Sealed(_, cipher), Operation::Seal) => {
                let (data, tag) = self.parted_to_seal(session)?;
                cipher.seal_detached(nonce, aad, in_parts(data), tag)
            }
            (SessionKey::Sealed(_, cipher), Operation::Open) => {
                let (data, tag) = self.parted_to_open(session)?;
                cipher.open_detached(nonce, aad, in_parts(data), tag)
            }
            _ => Err(Error::Unsupported),
        }
    }

    // The class says which operation a message has; each of the following makes one message a lane.
    // A malformed message is settled with its error.

    /// A lane of a raw cipher.
    #[inline(always)]
    pub(crate) fn plain_lane<'w>(
        &'w mut self,
        session: &'w Session,
        iv: &'w [u8],
    ) -> Option<hazmat::lanes::Message<'w>> {
        let SessionKey::Raw(_, cipher) = &session.key else { return misplaced() };
        let Self { state, data, .. } = self;
        match data.in_out() {
            Ok(data) => Some(hazmat::lanes::Message { cipher, iv, data, outcome: state.settled() }),
            Err(error) => refused(state, error),
        }
    }

    /// A lane to seal.
    #[inline(always)]
    pub(crate) fn sealing_lane<'w>(
        &'w mut self,
        session: &'w Session,
        nonce: &'w [u8],
    ) -> Option<Sealing<'w>> {
        let SessionKey::Sealed(_, cipher) = &session.key else { return misplaced() };
        let Self { state, aad, data, put, .. } = self;
        let (data, tag) = match put {
            Some(tag) => match data.in_out() {
                Ok(data) => (data, &mut **tag),
                Err(error) => return refused(state, error),
            },
            None => match session.cut(data.out()) {
                Some((data, tag)) => (data.into(), tag),
                None => return refused(state, Error::OutputLength),
            },
        };
        Some(Sealing { cipher, nonce, aad, data, tag, outcome: state.settled() })
    }

    /// A lane to open.
    #[inline(always)]
    pub(crate) fn opening_lane<'w>(
        &'w mut self,
        session: &'w Session,
        nonce: &'w [u8],
    ) -> Option<Opening<'w>> {
        let SessionKey::Sealed(_, cipher) = &session.key else { return misplaced() };
        let Self { state, aad, data, came, .. } = self;
        let (data, tag) = match came {
            Some(tag) => match data.in_out() {
                Ok(data) => (data, *tag),
                Err(error) => return refused(state, error),
            },
            None => match session.cut(data.out()) {
                Some((data, tag)) => (data.into(), &*tag),
                None => return refused(state, Error::Authentication),
            },
        };
        Some(Opening { cipher, nonce, aad, data, tag, outcome: state.settled() })
    }
}

#[cold]
fn refused<T>(state: &mut State, error: Error) -> Option<T> {
    state.outcome = Some(Err(error));
    None
}

#[cold]
fn misplaced<T>() -> Option<T> {
    debug_assert!(false, "its class says what a request is");
    None
}
