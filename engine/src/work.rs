//! What is done with a message, and how far that has come.

use lanecrypt_ciphers::lanes::{Opening, Sealing, in_parts};
use lanecrypt_ciphers::{Error, hazmat};

use crate::class::Class;
use crate::session::Keyed;
use crate::{Data, Operation, Session};

/// What is done, and with what.
//
// The state stands in the same place of all variants, in what would be left empty behind the byte
// that tells them apart. A packet is parted only when it is served: the less there is to store, the
// less a request costs.
#[repr(u8)]
pub(crate) enum Work<'a> {
    Raw { state: State, data: Data<'a> },
    SealPacket { state: State, aad: &'a [u8], packet: &'a mut [u8] },
    OpenPacket { state: State, aad: &'a [u8], packet: &'a mut [u8] },
    Seal { state: State, aad: &'a [u8], data: Data<'a>, tag: &'a mut [u8] },
    Open { state: State, aad: &'a [u8], data: Data<'a>, tag: &'a [u8] },
}

/// How far a request has come.
#[derive(Clone, Copy)]
pub(crate) struct State {
    /// Which requests it can go together with.
    pub(crate) class: Class,
    /// What came of it, once it has been served.
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

    /// Where an error goes; as good as served if there is none.
    #[inline(always)]
    fn settled(&mut self) -> &mut Result<(), Error> {
        self.outcome.insert(Ok(()))
    }
}

impl<'a> Work<'a> {
    #[inline]
    pub(crate) fn state(&self) -> &State {
        match self {
            Self::Raw { state, .. }
            | Self::SealPacket { state, .. }
            | Self::OpenPacket { state, .. }
            | Self::Seal { state, .. }
            | Self::Open { state, .. } => state,
        }
    }

    #[inline]
    pub(crate) fn state_mut(&mut self) -> &mut State {
        match self {
            Self::Raw { state, .. }
            | Self::SealPacket { state, .. }
            | Self::OpenPacket { state, .. }
            | Self::Seal { state, .. }
            | Self::Open { state, .. } => state,
        }
    }

    /// Bytes of the message; of a packet without the usual tag.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Raw { data, .. } | Self::Seal { data, .. } | Self::Open { data, .. } => {
                data.len()
            }
            Self::SealPacket { packet, .. } | Self::OpenPacket { packet, .. } => {
                packet.len().saturating_sub(16)
            }
        }
    }

    /// Served by the software here, by itself.
    #[inline(always)]
    pub(crate) fn serve(&mut self, session: &Session, nonce: &[u8]) -> Result<(), Error> {
        let outcome = match (&session.keyed, &mut *self) {
            (Keyed::Raw(_, cipher), Self::Raw { state, data }) => match state.class.operation() {
                Operation::Encrypt => {
                    data.in_out().and_then(|data| cipher.encrypt(nonce, in_parts(data)))
                }
                _ => data.in_out().and_then(|data| cipher.decrypt(nonce, in_parts(data))),
            },
            (Keyed::Sealed(_, cipher), Self::SealPacket { aad, packet, .. }) => {
                cipher.seal(nonce, aad, packet)
            }
            (Keyed::Sealed(_, cipher), Self::OpenPacket { aad, packet, .. }) => {
                cipher.open(nonce, aad, packet).map(|_| ())
            }
            (Keyed::Sealed(_, cipher), Self::Seal { aad, data, tag, .. }) => {
                data.in_out().and_then(|data| cipher.seal_detached(nonce, aad, in_parts(data), tag))
            }
            (Keyed::Sealed(_, cipher), Self::Open { aad, data, tag, .. }) => {
                data.in_out().and_then(|data| cipher.open_detached(nonce, aad, in_parts(data), tag))
            }
            _ => Err(Error::Unsupported),
        };
        self.state_mut().outcome = Some(outcome);
        outcome
    }

    // A class says what its messages are; each of the following takes those that are. What cannot
    // be a message of the class at all is settled with its error.

    /// As a lane of a raw cipher.
    #[inline(always)]
    pub(crate) fn raw<'w>(
        &'w mut self,
        session: &'w Session,
        iv: &'w [u8],
    ) -> Option<hazmat::lanes::Message<'w>> {
        let (Keyed::Raw(_, cipher), Self::Raw { state, data }) = (&session.keyed, self) else {
            return misplaced();
        };
        match data.in_out() {
            Ok(data) => Some(hazmat::lanes::Message { cipher, iv, data, outcome: state.settled() }),
            Err(error) => refused(state, error),
        }
    }

    /// As a lane that is sealed.
    #[inline(always)]
    pub(crate) fn sealing<'w>(
        &'w mut self,
        session: &'w Session,
        nonce: &'w [u8],
    ) -> Option<Sealing<'w>> {
        let Keyed::Sealed(_, cipher) = &session.keyed else { return misplaced() };
        let (state, aad, data, tag) = match self {
            Self::SealPacket { state, aad, packet } => {
                let Some((data, tag)) = session.cut(packet) else {
                    return refused(state, Error::OutputLength);
                };
                (state, aad, data.into(), tag)
            }
            Self::Seal { state, aad, data, tag } => match data.in_out() {
                Ok(data) => (state, aad, data, &mut **tag),
                Err(error) => return refused(state, error),
            },
            _ => return misplaced(),
        };
        Some(Sealing { cipher, nonce, aad, data, tag, outcome: state.settled() })
    }

    /// As a lane that is opened.
    #[inline(always)]
    pub(crate) fn opening<'w>(
        &'w mut self,
        session: &'w Session,
        nonce: &'w [u8],
    ) -> Option<Opening<'w>> {
        let Keyed::Sealed(_, cipher) = &session.keyed else { return misplaced() };
        let (state, aad, data, tag) = match self {
            Self::OpenPacket { state, aad, packet } => {
                let Some((data, tag)) = session.cut(packet) else {
                    return refused(state, Error::Authentication);
                };
                (state, aad, data.into(), &*tag)
            }
            Self::Open { state, aad, data, tag } => match data.in_out() {
                Ok(data) => (state, aad, data, *tag),
                Err(error) => return refused(state, error),
            },
            _ => return misplaced(),
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
