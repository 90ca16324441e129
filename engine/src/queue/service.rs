//! Serves the messages of a queue.

use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use arrayvec::ArrayVec;
use lanecrypt_ciphers::Error;
use lanecrypt_ciphers::lanes::Lengths;

use super::sessions::Sessions;
use super::slot::{self, Slot};
use super::{MessageError, SessionHandle};
use crate::drivers::serve_class;
use crate::lanes::{LaneKind, Lanes};
use crate::session::job::AsJobs as _;
use crate::session::members::Members;
use crate::session::waiting::{Memory, Waiting, memory, returned};
use crate::{Operation, Request, Session, scheduler};

/// The most messages that wait: the number of the widest lanes.
const MOST: usize = 256;

/// The most requests of asymmetric keys that are served together: as many as share lanes.
pub(super) const ASYMMETRIC_AT_ONCE: usize = 32;

/// The sessions of a queue, and the memory of the messages that it serves together.
pub(super) struct Service {
    sessions: Sessions,
    lanes: Lanes,
    /// The lengths that may gain from lanes, for each kind of messages that has any.
    ever: [Lengths; LaneKind::COUNT],
    most: usize,
    /// `None` while a batch is served.
    memory: Option<Memory<'static>>,
    /// The messages of a batch that have not succeeded, by position.
    failures: Vec<Failure>,
}

/// A message that failed, or that was not served because a driver panicked.
#[derive(Clone, Copy)]
struct Failure {
    position: usize,
    error: MessageError,
}

impl Service {
    /// For a queue of this many messages.
    pub(super) fn new(lanes: Lanes, depth: usize) -> Self {
        let most = depth.clamp(1, MOST);
        Self {
            sessions: Sessions::default(),
            lanes,
            ever: [Lengths::NONE; LaneKind::COUNT],
            most,
            memory: Some(memory(most)),
            failures: Vec::with_capacity(most),
        }
    }

    /// Attaches a session. Opening it may have changed the lanes.
    pub(super) fn attach(&mut self, number: SessionHandle, session: Box<Session>) {
        self.sessions.attach(number, session);
        for (kind, ever) in self.ever.iter_mut().enumerate() {
            *ever = self.lanes.of_kind(kind, self.most);
        }
    }

    pub(super) fn detach(&mut self, session: SessionHandle) -> Option<Box<Session>> {
        self.sessions.detach(session)
    }

    /// The most messages that wait for each other.
    #[inline(always)]
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Serves the message of a slot if it does not benefit from lanes.
    #[inline(always)]
    pub(super) fn serve_slot_alone<B: AsMut<[u8]>>(&self, slot: &mut Slot<B>) {
        let (session, operation, header) = (slot.session, slot.operation, slot.header);
        slot.outcome = match slot.parts() {
            (Some(nonce), bytes) => self.process_now(session, operation, nonce, header, bytes),
            (None, _) => Some(Err(MessageError::Refused(Error::NonceLength))),
        };
    }

    /// The outcome of a message that does not benefit from lanes. `None` if it may benefit, or if
    /// another driver serves it.
    #[inline(always)]
    pub(super) fn process_now(
        &self,
        session: SessionHandle,
        operation: Operation,
        nonce: &[u8],
        header: usize,
        bytes: &mut [u8],
    ) -> Option<Result<(), MessageError>> {
        let Some(session) = self.sessions.find(session) else {
            return Some(Err(MessageError::UnknownSession));
        };
        let kind = session.kind(operation);
        if kind != Lanes::ALONE {
            let ever = self.ever.get(usize::from(kind))?;
            if ever.contains(slot::message_bytes(operation, header, bytes)) {
                return None;
            }
        }
        let outcome = slot::serve(session, operation, nonce, header, bytes);
        Some(outcome.map_err(MessageError::Refused))
    }

    /// Serves the picked ones of the messages that wait in these slots. Their number is given, at
    /// most [`most`](Self::most).
    pub(super) fn serve<B: AsMut<[u8]>>(
        &mut self,
        slots: [&mut [Slot<B>]; 2],
        picked: impl Fn(&Slot<B>) -> bool + Copy,
        waiting: usize,
    ) {
        if waiting > 1 {
            return self.serve_together(slots, picked, waiting);
        }
        let lone = slots.into_iter().flatten().find(|slot| slot.waits() && picked(slot));
        if let Some(slot) = lone {
            let served =
                catch_unwind(AssertUnwindSafe(|| match self.sessions.find(slot.session) {
                    Some(session) => slot.serve(session),
                    None => slot.outcome = Some(Err(MessageError::UnknownSession)),
                }));
            if served.is_err() {
                slot.outcome = Some(Err(MessageError::Panicked));
            }
        }
    }

    #[inline(never)]
    fn serve_together<B: AsMut<[u8]>>(
        &mut self,
        [first, second]: [&mut [Slot<B>]; 2],
        picked: impl Fn(&Slot<B>) -> bool + Copy,
        count: usize,
    ) {
        self.begin([&mut *first, &mut *second], picked, count);
        self.failures.sort_unstable_by_key(|failure| failure.position);
        let mut failures = self.failures.iter().copied().peekable();
        let waiting =
            [first, second].into_iter().flatten().filter(|slot| slot.waits() && picked(slot));
        for (position, slot) in waiting.enumerate() {
            let failure = failures.next_if(|failure| failure.position == position);
            slot.outcome = Some(failure.map_or(Ok(()), |failure| Err(failure.error)));
        }
    }

    /// Serves messages and records those that have not succeeded.
    fn begin<B: AsMut<[u8]>>(
        &mut self,
        slots: [&mut [Slot<B>]; 2],
        picked: impl Fn(&Slot<B>) -> bool + Copy,
        count: usize,
    ) {
        let Self { sessions, lanes, failures, .. } = self;
        failures.clear();
        let [first, second] = slots;
        let mut serving = false;
        let of_a_class = catch_unwind(AssertUnwindSafe(|| {
            let slots = [&mut *first, &mut *second];
            begin_class(sessions, lanes, failures, slots, picked, count, &mut serving)
        }));
        match of_a_class {
            Ok(true) => return,
            // Some may have been served, and no message must be served twice.
            Err(_) if serving => {
                let panicked = |position| Failure { position, error: MessageError::Panicked };
                failures.clear();
                return failures.extend((0..count).map(panicked));
            }
            _ => {}
        }
        let slots = [first, second];
        let mut memory = self.memory.take().unwrap_or_else(|| memory(self.most));
        let [batch] = &mut *memory;
        let mut begun = 0;
        let run = catch_unwind(AssertUnwindSafe(|| {
            let waiting = slots.into_iter().flatten().filter(|slot| slot.waits() && picked(slot));
            for (position, slot) in waiting.enumerate() {
                let Some(session) = sessions.find(slot.session) else {
                    failures.push(Failure { position, error: MessageError::UnknownSession });
                    begun = position + 1;
                    continue;
                };
                match slot.work(session) {
                    Ok((nonce, work)) => batch.push(Waiting::new(session, nonce, work, position)),
                    Err(error) => failures.push(Failure { position, error: error.into() }),
                }
                begun = position + 1;
            }
            scheduler::serve(lanes, batch)
        }));
        if !matches!(run, Ok(0)) {
            for message in &*batch {
                let error = match message.outcome() {
                    Some(Ok(())) => continue,
                    Some(Err(error)) => error.into(),
                    None => MessageError::Panicked,
                };
                failures.push(Failure { position: message.index(), error });
            }
        }
        // If the buffer's code has panicked, none of them has been begun.
        let panicked = |position| Failure { position, error: MessageError::Panicked };
        failures.extend((begun..count).map(panicked));
        self.memory = Some(returned(memory));
    }
}

/// Serves messages of one class that this processor serves, straight from their slots, and records
/// those that have not succeeded. False if they are not of one class, or one of them is malformed;
/// then nothing has changed. `serving` is set when the first of them is begun.
#[inline(never)]
fn begin_class<B: AsMut<[u8]>>(
    sessions: &Sessions,
    lanes: &Lanes,
    failures: &mut Vec<Failure>,
    slots: [&mut [Slot<B>]; 2],
    picked: impl Fn(&Slot<B>) -> bool + Copy,
    count: usize,
    serving: &mut bool,
) -> bool {
    let mut messages = ArrayVec::<Request<'_>, MOST>::new();
    let mut all = None;
    for slot in slots.into_iter().flatten().filter(|slot| slot.waits() && picked(slot)) {
        let Some(session) = sessions.find(slot.session) else { return false };
        let class = session.class().with(slot.operation);
        if *all.get_or_insert(class) != class || !class.is_here() {
            return false;
        }
        let Ok((nonce, work)) = slot.work(session) else { return false };
        if messages.try_push(Request { session, nonce, work }).is_err() {
            return false;
        }
    }
    let Some(class) = all else { return false };
    let mut lengths = lanes.lengths(class, count);
    if lengths != Lengths::NONE && lengths != Lengths::ALL {
        // Only messages that can gain from lanes count.
        let joining =
            messages.iter().filter(|message| lengths.contains(message.work.bytes())).count();
        if joining < count {
            lengths = lanes.lengths(class, joining);
        }
    }
    *serving = true;
    if serve_class(class, lengths, Members::of(Request::jobs(&mut messages), None)) > 0 {
        for (position, message) in messages.iter().enumerate() {
            let error = match message.outcome() {
                Some(Ok(())) => continue,
                Some(Err(error)) => error,
                None => Error::Unsupported,
            };
            failures.push(Failure { position, error: error.into() });
        }
    }
    true
}
