//! The loop over a queue, written once for both kinds.

use core::hint::spin_loop;

use lanecrypt_engine::queue::{Completion, LocalQueue, Message, SessionHandle, WorkerQueue};
use lanecrypt_engine::{Engine, Operation, Session};
use lanecrypt_peers::{Direction, Failed};

use super::Plan;
use crate::clock;

/// A message of a session that takes its turn.
pub(super) struct Turn<'a> {
    pub(super) session: SessionHandle,
    pub(super) nonce: &'a [u8],
    /// `None` while the message is in flight.
    pub(super) buffer: Option<Box<[u8]>>,
}

/// Makes requests and takes their completions.
pub(super) trait Carrier {
    /// The number of a session in the queue.
    fn session(&self, at: usize) -> Option<SessionHandle>;

    /// Makes this many requests in turn, of which up to `depth` are in flight, and takes all
    /// completions.
    fn carry(
        &mut self,
        turns: &mut [Turn<'_>],
        requests: usize,
        depth: usize,
    ) -> Result<(), Failed>;

    /// The same, with the time of each.
    fn carry_watched(
        &mut self,
        turns: &mut [Turn<'_>],
        requests: usize,
        depth: usize,
        watch: &mut Watch<'_>,
    ) -> Result<(), Failed>;
}

/// A queue with sessions attached.
pub(super) struct Carried<Q> {
    queue: Q,
    sessions: Vec<SessionHandle>,
    operation: Operation,
    /// Bytes of associated data before each message.
    header: usize,
}

impl Carried<LocalQueue<Box<[u8]>>> {
    pub(super) fn local(engine: &Engine, sessions: Vec<Session>, plan: Plan) -> Option<Self> {
        Self::new(LocalQueue::new(engine, plan.depth), sessions, plan)
    }
}

impl Carried<WorkerQueue<Box<[u8]>>> {
    pub(super) fn worker(engine: &Engine, sessions: Vec<Session>, plan: Plan) -> Option<Self> {
        Self::new(WorkerQueue::new(engine, plan.depth).ok()?, sessions, plan)
    }
}

impl<Q: Queue> Carried<Q> {
    fn new(mut queue: Q, sessions: Vec<Session>, plan: Plan) -> Option<Self> {
        let attached = sessions.into_iter().map(|session| queue.attach(session));
        let sessions = attached.collect::<Option<_>>()?;
        let operation = match (plan.direction, plan.algorithm.is_aead()) {
            (Direction::Encrypt, false) => Operation::Encrypt,
            (Direction::Decrypt, false) => Operation::Decrypt,
            (Direction::Encrypt, true) => Operation::Seal,
            (Direction::Decrypt, true) => Operation::Open,
        };
        Some(Self { queue, sessions, operation, header: plan.header() })
    }

    #[inline(always)]
    fn flow(
        &mut self,
        turns: &mut [Turn<'_>],
        requests: usize,
        depth: usize,
        watch: &mut impl Watching,
    ) -> Result<(), Failed> {
        let Self { queue, operation, header, .. } = self;
        let (mut next, mut given, mut done) = (0, 0, 0);
        while done < requests {
            let room = (depth - (given - done)).min(requests - given);
            if room > 0 {
                let mut messages = (0..room).map_while(|_| {
                    let turn = turns.get_mut(next)?;
                    let buffer = turn.buffer.take()?;
                    watch.given(next);
                    let message = Message::new(turn.session, *operation, turn.nonce, buffer);
                    let message = message.with_header(*header).with_user(next as u64);
                    next = if next + 1 < turns.len() { next + 1 } else { 0 };
                    Some(message)
                });
                given += queue.give(&mut messages)?;
            }
            let before = done;
            while let Some(Completion { buffer, user, outcome, .. }) = queue.poll() {
                let at = usize::try_from(user).or(Err(Failed))?;
                watch.done(at);
                outcome.or(Err(Failed))?;
                turns.get_mut(at).ok_or(Failed)?.buffer = Some(buffer);
                done += 1;
            }
            if done == before {
                spin_loop();
            }
        }
        Ok(())
    }
}

impl<Q: Queue> Carrier for Carried<Q> {
    fn session(&self, at: usize) -> Option<SessionHandle> {
        self.sessions.get(at).copied()
    }

    fn carry(
        &mut self,
        turns: &mut [Turn<'_>],
        requests: usize,
        depth: usize,
    ) -> Result<(), Failed> {
        self.flow(turns, requests, depth, &mut ())
    }

    fn carry_watched(
        &mut self,
        turns: &mut [Turn<'_>],
        requests: usize,
        depth: usize,
        watch: &mut Watch<'_>,
    ) -> Result<(), Failed> {
        self.flow(turns, requests, depth, watch)
    }
}

/// What both kinds of queues have.
pub(super) trait Queue {
    fn attach(&mut self, session: Session) -> Option<SessionHandle>;

    /// Submits messages, as many as there is room for.
    fn give<'n>(
        &mut self,
        messages: &mut impl Iterator<Item = Message<&'n [u8], Box<[u8]>>>,
    ) -> Result<usize, Failed>;

    fn poll(&mut self) -> Option<Completion<Box<[u8]>>>;
}

impl Queue for LocalQueue<Box<[u8]>> {
    fn attach(&mut self, session: Session) -> Option<SessionHandle> {
        self.attach(session).ok()
    }

    #[inline(always)]
    fn give<'n>(
        &mut self,
        messages: &mut impl Iterator<Item = Message<&'n [u8], Box<[u8]>>>,
    ) -> Result<usize, Failed> {
        Ok(self.submit_many(messages))
    }

    #[inline(always)]
    fn poll(&mut self) -> Option<Completion<Box<[u8]>>> {
        self.poll()
    }
}

impl Queue for WorkerQueue<Box<[u8]>> {
    fn attach(&mut self, session: Session) -> Option<SessionHandle> {
        let mut given = Box::new(session);
        loop {
            // The worker has to look at those that came before.
            match self.attach(given) {
                Ok(attached) => return Some(attached),
                Err(refused) if refused.reason == lanecrypt_engine::queue::QueueError::Full => {
                    given = refused.value;
                    std::thread::yield_now();
                }
                Err(_) => return None,
            }
        }
    }

    #[inline(always)]
    fn give<'n>(
        &mut self,
        messages: &mut impl Iterator<Item = Message<&'n [u8], Box<[u8]>>>,
    ) -> Result<usize, Failed> {
        self.submit_many(messages).or(Err(Failed))
    }

    #[inline(always)]
    fn poll(&mut self) -> Option<Completion<Box<[u8]>>> {
        self.poll()
    }
}

/// Sees messages come and go.
pub(crate) trait Watching {
    fn given(&mut self, at: usize);
    fn done(&mut self, at: usize);
}

impl Watching for () {
    #[inline(always)]
    fn given(&mut self, _at: usize) {}

    #[inline(always)]
    fn done(&mut self, _at: usize) {}
}

/// Takes the time of each message.
pub(crate) struct Watch<'t> {
    /// When the message of each turn was handed over.
    since: Vec<u64>,
    taken: &'t mut Vec<u64>,
}

impl<'t> Watch<'t> {
    /// For this many turns; adds cycles to `taken`.
    pub(crate) fn new(turns: usize, taken: &'t mut Vec<u64>) -> Self {
        Self { since: vec![0; turns], taken }
    }
}

impl Watching for Watch<'_> {
    #[inline(always)]
    fn given(&mut self, at: usize) {
        if let Some(since) = self.since.get_mut(at) {
            *since = clock::now();
        }
    }

    #[inline(always)]
    fn done(&mut self, at: usize) {
        let since = self.since.get(at).copied().unwrap_or_default();
        self.taken.push(clock::now().saturating_sub(since));
    }
}
