//! Queues over drivers that share load and fail, while messages are cancelled and queues closed:
//! each message completes once, with the right bytes.

use lanecrypt_accelerators::model::{Card, Fault, Faults, Host, Model, VirtualClock};
use lanecrypt_accelerators::{Balanced, Member};
use lanecrypt_engine::queue::{LocalQueue, MessageError, SessionHandle, Settings, WorkerQueue};
use lanecrypt_engine::{Algorithm, Engine, Error};
use lanecrypt_testing::batches::keys::{Key, random_keys};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};

use crate::flaky::{self, Flaky, cases, software};
use crate::queues::{Buffer, Case, Queue};

const CARD: &str = "model:intel-qat-gen4";

/// A card that exists as a model, a driver that destroys what it fails over, and the software.
struct Stage {
    engine: Engine,
    balanced: Balanced,
    faults: Faults,
    flaky: Flaky,
    keys: Vec<Key>,
    cases: Vec<Case>,
    numbers: Random,
    failures: usize,
    served: usize,
    cancelled: usize,
    closed: usize,
}

impl Stage {
    fn new(seed: u64) -> Self {
        let (faults, flaky) = (Faults::default(), Flaky::new("flaky", 80));
        let card = Card::built_in("intel-qat-gen4").expect("it is built in");
        let of: Vec<Algorithm> = card
            .algorithms()
            .filter(|algorithm| algorithm.to_string().starts_with("aes-"))
            .collect();
        let host = Host::built_in("host-2026").expect("it is built in");
        let model = Model::new(card, host).with_clock(&VirtualClock::default());
        let model = Member::new(model.with_faults(&faults));
        let balanced = Balanced::with_migration([software(), flaky.member(), model]);
        let balanced = balanced.expect("good names");
        let engine = flaky::engine(&balanced, &["flaky", CARD]);
        let mut numbers = Random(seed);
        let keys = random_keys(3, &of, &mut numbers);
        let cases = (0..2000)
            .map(|_| {
                let (key, len) = (numbers.below(keys.len()), *numbers.choice(&[64, 300, 1500]));
                Case::random(&keys, key, len, &mut numbers)
            })
            .collect();
        let (failures, served, cancelled, closed) = (0, 0, 0, 0);
        Self {
            engine,
            balanced,
            faults,
            flaky,
            keys,
            cases,
            numbers,
            failures,
            served,
            cancelled,
            closed,
        }
    }

    fn attach(&self, queue: &mut impl Queue) -> Vec<SessionHandle> {
        let names = ["balanced", CARD, "flaky"];
        let each = self.keys.iter().zip(names.iter().cycle());
        each.map(|(key, name)| {
            let session = self.engine.session_on(name, key.algorithm, &key.bytes);
            queue.attach(session.expect("they have it"))
        })
        .collect()
    }

    fn mend(&mut self) {
        let failed: Vec<String> = self.balanced.failed().map(str::to_owned).collect();
        self.flaky.repair();
        for name in failed {
            self.failures += 1;
            self.balanced.readmit(&name);
        }
    }

    /// Sends this many messages, closes the queue, and takes what is still to come.
    fn run<Q: Queue>(&mut self, mut queue: Q, messages: usize, close: impl FnOnce(&mut Q)) {
        self.mend();
        let attached = self.attach(&mut queue);
        let (mut open, mut tickets) = (Vec::<Option<usize>>::new(), Vec::new());
        let mut close = Some(close);
        loop {
            for _ in 0..self.numbers.below(60) {
                let pick = self.numbers.below(self.cases.len());
                let case = &self.cases[pick];
                let message = case.message(attached[case.session], open.len() as u64);
                if open.len() < messages
                    && let Ok(ticket) = queue.submit(message)
                {
                    open.push(Some(pick));
                    tickets.push(ticket);
                }
            }
            while self.numbers.one_in(2) {
                if let Some(&ticket) = tickets.get(self.numbers.below(tickets.len() + 1)) {
                    queue.cancel(ticket);
                }
            }
            tickets.drain(..tickets.len().saturating_sub(50));
            let fault = match self.numbers.one_in(2) {
                true => Fault::Lose,
                false => Fault::Fail(Error::DriverFailed),
            };
            let later = self.numbers.below(200) as u64;
            self.faults.at(self.faults.requests() + later, fault);
            if open.len() == messages
                && let Some(close) = close.take()
            {
                close(&mut queue);
            }
            for _ in 0..self.numbers.below(60) {
                let Some(done) = queue.poll() else { break };
                let at = usize::try_from(done.user).expect("an index");
                let pick = open[at].take().expect("a message that has not completed before");
                self.cases[pick].check(&done).unwrap_or_else(|what| panic!("{at}: {what}"));
                *match done.outcome {
                    Err(MessageError::Cancelled) => &mut self.cancelled,
                    Err(MessageError::Closed) => &mut self.closed,
                    Ok(()) | Err(MessageError::Refused(_)) => &mut self.served,
                    other => panic!("{at}: {other:?}"),
                } += 1;
            }
            if self.numbers.one_in(8) {
                self.mend();
            }
            if open.len() == messages && queue.in_flight() == 0 {
                break;
            }
        }
        assert!(open.iter().all(Option::is_none), "messages without a completion");
    }

    fn check(&self, messages: usize) {
        assert!(self.failures > messages / 1000, "{} failures", self.failures);
        assert!(self.cancelled > 0 && self.served > messages / 2, "{}", self.cancelled);
        let given: Vec<_> = self.balanced.shares().collect();
        assert!(given.iter().all(|&(_, given)| given > 100), "{given:?}");
    }
}

#[test]
fn a_local_queue_answers_each_once() {
    let mut stage = Stage::new(311);
    for depth in [1, 30, 400] {
        let queue = LocalQueue::<Buffer>::new(&stage.engine, depth);
        stage.run(queue, cases() / 3, |_| {});
    }
    stage.check(cases());
}

#[test]
fn a_worker_queue_answers_each_once() {
    let mut stage = Stage::new(312);
    for _ in 0..5 {
        for settings in [Settings::new(30), Settings::new(300), Settings::new(300).in_order()] {
            let queue = WorkerQueue::<Buffer>::with(&stage.engine, settings).expect("a thread");
            stage.run(queue, cases() / 15, WorkerQueue::close);
        }
    }
    stage.check(cases());
    assert!(stage.closed > 0, "queues are closed with messages in flight");
}
