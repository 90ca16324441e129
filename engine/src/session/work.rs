//! The operation on a message, and its progress.

use lanecrypt_ciphers::lanes::{Opening, Sealing, in_parts};
use lanecrypt_ciphers::{Error, InOutBuf, hazmat};

use super::{Session, SessionKey};
#[cfg(feature = "_asymmetric")]
use crate::AsymmetricKey;
#[cfg(feature = "_asymmetric")]
use crate::asymmetric::library::Library;
#[cfg(feature = "_asymmetric")]
use crate::asymmetric::single;
use crate::class::Class;
use crate::{Data, Operation};

/// An operation and its buffers.
//
// The fields are the same for every operation, and most are empty. The compiler keeps new plain
// fields in registers and stores each in its place. An enum would be copied with loads of another
// width than the preceding stores, and stall on them.
pub(crate) struct Work<'a> {
    pub(crate) state: State,
    /// Authenticated, not encrypted: the associated data, or the message of a signature. Of a key
    /// exchange, what the other side sent.
    pub(crate) aad: &'a [u8],
    /// The data; the whole packet if its tag is in `data` and not in `put` or `came`.
    pub(crate) data: Data<'a>,
    /// The room for the tag, for the signature, or for what is agreed on.
    pub(crate) put: Option<&'a mut [u8]>,
    /// The received tag, or the signature to check.
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

    fn of_asymmetric(session: &Session, operation: Operation) -> Self {
        let refused = !session.has_asymmetric(operation);
        Self {
            class: session.class().with(operation),
            outcome: refused.then_some(Err(Error::Unsupported)),
        }
    }

    /// Whether it is of this class and has not been served.
    #[inline]
    pub(crate) fn awaits(self, class: Class) -> bool {
        self.class == class && self.outcome.is_none()
    }

    /// Where to store an error; without an error the request counts as served.
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

    // Only a session with an asymmetric key has these operations. For any other they are refused
    // here.

    #[inline]
    pub(crate) fn sign(session: &Session, message: &'a [u8], signature: &'a mut [u8]) -> Self {
        let state = State::of_asymmetric(session, Operation::Sign);
        Self {
            state,
            aad: message,
            data: Data::of_parts(None, &mut []),
            put: Some(signature),
            came: None,
        }
    }

    #[inline]
    pub(crate) fn verify(session: &Session, message: &'a [u8], signature: &'a [u8]) -> Self {
        let state = State::of_asymmetric(session, Operation::Verify);
        Self {
            state,
            aad: message,
            data: Data::of_parts(None, &mut []),
            put: None,
            came: Some(signature),
        }
    }

    #[inline]
    pub(crate) fn agree(session: &Session, received: &'a [u8], output: &'a mut [u8]) -> Self {
        let state = State::of_asymmetric(session, Operation::Agree);
        Self {
            state,
            aad: received,
            data: Data::of_parts(None, &mut []),
            put: Some(output),
            came: None,
        }
    }

    /// The length of the message in bytes; of a packet without the usual tag.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        let bytes = self.data.len();
        // A signature or secret has its own place, or is in `came`.
        let is_packet = self.put.is_none()
            && self.came.is_none()
            && matches!(self.state.class.operation_of_cipher(), Operation::Seal | Operation::Open);
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

    /// Serves it by the software, without lanes.
    #[inline(always)]
    pub(crate) fn serve(&mut self, session: &Session, nonce: &[u8]) -> Result<(), Error> {
        let outcome = self.served(session, nonce);
        self.state.outcome = Some(outcome);
        outcome
    }

    #[inline(always)]
    fn served(&mut self, session: &Session, nonce: &[u8]) -> Result<(), Error> {
        let aad = self.aad;
        let state = self.state;
        debug_assert!(!state.class.is_asymmetric() || session.is_asymmetric(), "it was refused");
        match (&session.key, state.class.operation_of_cipher()) {
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
            #[cfg(feature = "_asymmetric")]
            (SessionKey::Asymmetric(_, key), _) => self.serve_asymmetric(key),
            _ => Err(Error::Unsupported),
        }
    }

    /// Makes or checks a signature, or agrees on a secret.
    #[cfg(feature = "_asymmetric")]
    #[cold]
    #[inline(never)]
    fn serve_asymmetric(&mut self, key: &AsymmetricKey) -> Result<(), Error> {
        match (self.state.class.operation(), &mut self.put, self.came) {
            (Operation::Sign, Some(signature), _) => single::sign(key, self.aad, signature),
            (Operation::Verify, _, Some(signature)) => single::verify(key, self.aad, signature),
            (Operation::Agree, Some(output), _) => single::agree(key, self.aad, output),
            _ => Err(Error::Unsupported),
        }
    }

    /// What the other side of a key exchange sent, parsed.
    #[cfg(feature = "_asymmetric")]
    pub(crate) fn input<L: Library>(&self, session: &Session) -> Result<L::Input, Error> {
        match (self.state.class.operation(), session.asymmetric_key(), &self.put) {
            (Operation::Agree, Some(key), Some(output)) => L::input(key, self.aad, output.len()),
            _ => Ok(L::Input::default()),
        }
    }

    /// The request of an asymmetric key with its [`input`](Self::input), and the place of its
    /// outcome. An error if the session has no such operation, or if a length is wrong.
    #[cfg(feature = "_asymmetric")]
    pub(crate) fn asymmetric<'w, L: Library>(
        &'w mut self,
        session: &'w Session,
        input: &'w Result<L::Input, Error>,
    ) -> (Result<L::Request<'w>, Error>, &'w mut State) {
        let Self { state, aad, put, came, .. } = self;
        let request = match (session.asymmetric_key(), state.class.operation(), put, came) {
            (Some(key), Operation::Sign, Some(signature), _) => L::signing(key, aad, signature),
            (Some(key), Operation::Verify, _, Some(signature)) => L::verifying(key, aad, signature),
            (Some(key), Operation::Agree, Some(output), _) => match input {
                Ok(input) => L::agreeing(key, aad, input, output),
                Err(error) => Err(*error),
            },
            _ => Err(Error::Unsupported),
        };
        (request, state)
    }

    // The class determines the operation of a message; each of the following turns one message into
    // a lane. A malformed message is settled with its error.

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
