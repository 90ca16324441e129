//! Random traffic through a queue, in which each message must complete once.

use lanecrypt_engine::queue::{Completion, MessageError, QueueError, SessionHandle, Ticket};
use lanecrypt_engine::{Algorithm, Engine, Error, Operation, Session};

use super::faulty::{FORGETS, Faulty, PANICS, REFUSES};
use super::{Buffer, Case, Queue, sessions};
use lanecrypt_testing::batches::adding::add;
use lanecrypt_testing::batches::keys::{self, Key};
use lanecrypt_testing::batches::numbers::{Numbers, Random};

/// The number of messages: `LANECRYPT_CASES`, or a hundred thousand.
pub(crate) fn cases() -> usize {
    lanecrypt_testing::numbers::cases(100_000)
}

/// Sessions, and messages for them.
pub(crate) struct Traffic {
    engine: Engine,
    keys: Vec<Key>,
    /// Messages of the sessions of `keys`; behind these, of the driver that fails.
    cases: Vec<Case>,
    pub(crate) numbers: Random,
}

/// The messages in flight and what came of the others.
#[derive(Default)]
pub(crate) struct Seen {
    /// The case of each message, by its number, until it has completed.
    open: Vec<Option<usize>>,
    pub(crate) served: usize,
    pub(crate) refused: usize,
    pub(crate) unknown: usize,
    pub(crate) cancelled: usize,
    pub(crate) closed: usize,
    pub(crate) panicked: usize,
    pub(crate) full: usize,
}

impl Seen {
    /// How often each outcome but success has been seen, closed queues excepted.
    pub(crate) fn rare(&self) -> [usize; 5] {
        [self.refused, self.unknown, self.cancelled, self.panicked, self.full]
    }
}

impl Traffic {
    pub(crate) fn new(seed: u64) -> Self {
        let engine = Engine::new().with_driver(Faulty::new()).expect("a free name");
        let mut numbers = Random(seed);
        let (keys, _) = sessions(&engine, &mut numbers);
        let mut cases = Vec::new();
        for _ in 0..3000 {
            let key = numbers.below(keys.len());
            let len = *numbers.choice(&[64, 64, 300, 1500]);
            cases.push(Case::random(&keys, key, len, &mut numbers));
        }
        cases.extend((0..300).map(|_| faulty(keys.len(), &mut numbers)));
        Self { engine, keys, cases, numbers }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    fn session(&self, index: usize) -> Session {
        match self.keys.get(index) {
            Some(key) => keys::open(&self.engine, core::slice::from_ref(key)).remove(0),
            None => {
                let session = self.engine.session_on(Faulty::NAME, Algorithm::NULL, &[]);
                session.expect("it serves it")
            }
        }
    }

    /// Attaches all sessions.
    pub(crate) fn attach(&self, queue: &mut impl Queue) -> Vec<SessionHandle> {
        (0..=self.keys.len()).map(|at| queue.attach(self.session(at))).collect()
    }

    /// Sends messages, takes completions, detaches, attaches and cancels, all at random, until
    /// this many messages have been taken.
    pub(crate) fn run(&mut self, queue: &mut impl Queue, messages: usize, seen: &mut Seen) {
        let mut attached = self.attach(queue);
        let mut tickets = Vec::new();
        let end = seen.open.len() + messages;
        while seen.open.len() < end {
            for _ in 0..1 + self.numbers.below(40) {
                self.submit(queue, &attached, seen, &mut tickets);
            }
            if self.numbers.one_in(20) {
                let at = self.numbers.below(attached.len());
                let session = attached[at];
                assert!(queue.detach(session));
                assert!(!queue.detach(session));
                self.submit_to(at, queue, session, seen);
                attached[at] = queue.attach(self.session(at));
                assert_ne!(attached[at], session);
            }
            while self.numbers.one_in(2) {
                if let Some(&ticket) = tickets.get(self.numbers.below(tickets.len() + 1)) {
                    queue.cancel(ticket);
                }
            }
            for _ in 0..self.numbers.below(80) {
                if let Some(done) = queue.poll() {
                    self.complete(&done, seen);
                }
            }
            tickets.drain(..tickets.len().saturating_sub(50));
        }
    }

    /// Takes the completions that are still to come.
    pub(crate) fn finish(&self, queue: &mut impl Queue, seen: &mut Seen) {
        while queue.in_flight() > 0 {
            match queue.poll() {
                Some(done) => self.complete(&done, seen),
                None => std::thread::yield_now(),
            }
        }
        assert!(queue.poll().is_none());
        let open = seen.open.iter().filter(|open| open.is_some()).count();
        assert_eq!(open, 0, "messages without a completion");
    }

    fn submit(
        &mut self,
        queue: &mut impl Queue,
        attached: &[SessionHandle],
        seen: &mut Seen,
        tickets: &mut Vec<Ticket>,
    ) {
        if self.numbers.one_in(3) {
            let picks: Vec<usize> =
                (0..self.numbers.below(20)).map(|_| self.numbers.below(self.cases.len())).collect();
            let next = seen.open.len() as u64;
            let each = picks.iter().zip(next..);
            let mut messages = each.map(|(&pick, user)| {
                let case = &self.cases[pick];
                case.message(attached[case.session], user)
            });
            let taken = queue.submit_many(&mut messages);
            let left = messages.count();
            assert_eq!(taken + left, picks.len(), "one was taken and lost");
            seen.full += left;
            seen.open.extend(picks[..taken].iter().map(|&pick| Some(pick)));
            return;
        }
        let pick = self.numbers.below(self.cases.len());
        let case = &self.cases[pick];
        let user = seen.open.len() as u64;
        match queue.submit(case.message(attached[case.session], user)) {
            Ok(ticket) => {
                seen.open.push(Some(pick));
                tickets.push(ticket);
            }
            Err(refused) => {
                assert_eq!(refused.reason, QueueError::Full);
                assert_eq!(refused.value.user(), user);
                assert_eq!(refused.value.into_buffer(), case.before);
                seen.full += 1;
            }
        }
    }

    /// Submits a message for a session that has been detached.
    fn submit_to(
        &self,
        index: usize,
        queue: &mut impl Queue,
        session: SessionHandle,
        seen: &mut Seen,
    ) {
        let user = seen.open.len() as u64;
        let pick = self.cases.iter().position(|case| case.session == index);
        let pick = pick.expect("each session has messages");
        if queue.submit(self.cases[pick].message(session, user)).is_ok() {
            seen.open.push(Some(pick));
        }
    }

    /// Checks a completion.
    pub(crate) fn complete(&self, done: &Completion<Buffer>, seen: &mut Seen) {
        let at = usize::try_from(done.user).expect("an index");
        let pick = seen.open[at].take().expect("a message that has not completed before");
        self.cases[pick].check(done).unwrap_or_else(|what| panic!("{at}: {what}"));
        *match done.outcome {
            Ok(()) => &mut seen.served,
            Err(MessageError::Refused(_)) => &mut seen.refused,
            Err(MessageError::UnknownSession) => &mut seen.unknown,
            Err(MessageError::Cancelled) => &mut seen.cancelled,
            Err(MessageError::Closed) => &mut seen.closed,
            _ => &mut seen.panicked,
        } += 1;
    }
}

/// A message for the driver that fails.
fn faulty(session: usize, numbers: &mut impl Numbers) -> Case {
    let mut nonce = numbers.bytes(8);
    nonce[0] = *numbers.choice(&[0, 0, 0, 0, 0, 0, 0, 0, REFUSES, FORGETS, PANICS]);
    let length = numbers.below(100);
    let before = numbers.bytes(length).into_boxed_slice();
    let mut after = before.clone();
    let outcome = match nonce[0] {
        REFUSES => Err(Error::KeystreamExhausted),
        FORGETS => Err(Error::Unsupported),
        PANICS => Err(Error::Unsupported),
        _ => {
            add(&nonce, &mut after);
            Ok(())
        }
    };
    let outcome = outcome.map_err(MessageError::Refused);
    Case { session, operation: Operation::Encrypt, nonce, header: 0, before, after, outcome }
}
