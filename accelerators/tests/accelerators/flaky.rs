//! A driver that serves all algorithms, counts what it answers, and fails as configured.

use core::time::Duration;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use lanecrypt_accelerators::{Balanced, Member};
use lanecrypt_engine::{Algorithm, Driver, Engine, Error, Isa, Job, Jobs, Load, SessionId};
use lanecrypt_testing::batches::kept::Kept;
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};

/// The software of this processor as one of those that share load.
pub(crate) fn software() -> Member {
    Member::software(Engine::new().lanes())
}

/// An engine with drivers that share load; those of `names` also serve sessions of their own.
pub(crate) fn engine(balanced: &Balanced, names: &[&str]) -> Engine {
    let engine = Engine::new().with_driver(balanced.clone());
    let with = |engine: Engine, name: &&str| {
        engine.with_driver(balanced.with_preference(name).expect("it is a member"))
    };
    engine.and_then(|engine| names.iter().try_fold(engine, with)).expect("free names")
}

/// The number of requests: `LANECRYPT_CASES`, or a hundred thousand.
pub(crate) fn cases() -> usize {
    lanecrypt_testing::numbers::cases(100_000)
}

/// How a driver fails over a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// Before it has done anything.
    SaysBefore,
    PanicsBefore,
    /// When the data are half destroyed, and the tag too.
    SaysMidway,
    PanicsMidway,
    /// When the work is done.
    SaysAfter,
    PanicsAfter,
    ForgetsAfter,
}

const FAILURES: [Failure; 7] = [
    Failure::SaysBefore,
    Failure::PanicsBefore,
    Failure::SaysMidway,
    Failure::PanicsMidway,
    Failure::SaysAfter,
    Failure::PanicsAfter,
    Failure::ForgetsAfter,
];

/// A driver; copies are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Flaky {
    name: &'static str,
    /// What a message costs, for a driver that works on a thread of its own.
    cost: Option<Duration>,
    inside: Arc<Mutex<Inside>>,
}

#[derive(Debug)]
struct Inside {
    sessions: BTreeMap<u64, Kept>,
    next: u64,
    seed: u64,
    /// One job in so many fails; 0 for none.
    one_in: usize,
    /// It has failed, and has lost its sessions.
    broken: bool,
    answered: usize,
    failures: [usize; FAILURES.len()],
}

/// What it panics with; not reported.
const PLANNED: &str = "planned";

impl Flaky {
    pub(crate) fn new(name: &'static str, one_in: usize) -> Self {
        static QUIET: Once = Once::new();
        QUIET.call_once(|| {
            let report = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if panic.payload().downcast_ref() != Some(&PLANNED) {
                    report(panic);
                }
            }));
        });
        let inside = Inside {
            sessions: BTreeMap::new(),
            next: 0,
            seed: one_in as u64,
            one_in,
            broken: false,
            answered: 0,
            failures: [0; FAILURES.len()],
        };
        Self { name, cost: None, inside: Arc::new(Mutex::new(inside)) }
    }

    /// Has it be asynchronous, at this cost for each message.
    pub(crate) fn asynchronous(self, cost: Duration) -> Self {
        Self { cost: Some(cost), ..self }
    }

    /// It as one of those that share load.
    pub(crate) fn member(&self) -> Member {
        Member::new(self.clone())
    }

    fn look(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn answered(&self) -> usize {
        self.look().answered
    }

    /// How many sessions are open.
    pub(crate) fn sessions(&self) -> usize {
        self.look().sessions.len()
    }

    /// The fewest failures of a kind.
    pub(crate) fn rarest(&self) -> usize {
        self.look().failures.into_iter().min().unwrap_or_default()
    }

    /// How often it has failed.
    pub(crate) fn failed(&self) -> usize {
        self.look().failures.into_iter().sum()
    }

    pub(crate) fn fail_one_in(&self, jobs: usize) {
        self.look().one_in = jobs;
    }

    pub(crate) fn repair(&self) {
        self.look().broken = false;
    }
}

impl Inside {
    fn number_below(&mut self, limit: usize) -> usize {
        self.seed += 1;
        Random(self.seed).below(limit)
    }

    /// The failure of the next job.
    fn failure(&mut self) -> Option<Failure> {
        if self.broken {
            let which = self.number_below(2);
            return Some(FAILURES[which]);
        }
        if self.one_in == 0 || self.number_below(self.one_in) != 0 {
            return None;
        }
        let which = self.number_below(FAILURES.len());
        self.failures[which] += 1;
        self.broken = true;
        self.sessions.clear();
        Some(FAILURES[which])
    }

    fn take(&mut self, mut job: Job<'_, '_>) {
        let kept = self.sessions.remove(&job.session_id().0);
        // Without the session it has failed and was repaired within this batch.
        let failure = self.failure().or_else(|| kept.is_none().then_some(Failure::SaysBefore));
        match failure {
            Some(Failure::SaysBefore) => return job.settle(Err(Error::DriverFailed)),
            Some(Failure::PanicsBefore) => std::panic::panic_any(PLANNED),
            Some(Failure::SaysMidway | Failure::PanicsMidway) => {
                destroy(&mut job);
                match failure {
                    Some(Failure::SaysMidway) => job.settle(Err(Error::DriverFailed)),
                    _ => std::panic::panic_any(PLANNED),
                }
                return;
            }
            _ => {}
        }
        let kept = kept.expect("only a session that is open gets jobs");
        let outcome = kept.serve(&mut job);
        match failure {
            Some(Failure::SaysAfter) => job.settle(Err(Error::DriverFailed)),
            Some(Failure::PanicsAfter) => std::panic::panic_any(PLANNED),
            Some(_) => {}
            None => {
                self.sessions.insert(job.session_id().0, kept);
                self.answered += 1;
                job.settle(outcome);
            }
        }
    }
}

fn destroy(job: &mut Job<'_, '_>) {
    if let Ok(mut data) = job.data() {
        let half = data.len() / 2;
        data.get_out()[half..].iter_mut().for_each(|byte| *byte ^= 0x55);
    }
    let length = job.tag_length();
    let _ = job.put_tag(&vec![0x55; length]);
}

impl Driver for Flaky {
    fn name(&self) -> &str {
        self.name
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        let kept = Kept::new(Isa::detect(), algorithm, key)?;
        let mut inside = self.look();
        if inside.broken {
            match inside.number_below(2) == 0 {
                true => return Err(Error::DriverFailed),
                false => std::panic::panic_any(PLANNED),
            }
        }
        inside.next += 1;
        let id = inside.next;
        inside.sessions.insert(id, kept);
        Ok(SessionId(id))
    }

    fn close(&self, session: SessionId) {
        let mut inside = self.look();
        inside.sessions.remove(&session.0);
        if inside.broken && inside.number_below(2) == 0 {
            std::panic::panic_any(PLANNED);
        }
    }

    fn process(&self, jobs: Jobs<'_, '_>) {
        let mut inside = self.look();
        for job in jobs {
            inside.take(job);
        }
    }

    fn cost(&self, load: Load) -> Option<Duration> {
        let messages = u32::try_from(load.messages).unwrap_or(u32::MAX);
        self.cost.map(|each| each * messages)
    }

    fn is_asynchronous(&self) -> bool {
        self.cost.is_some()
    }

    fn process_async(&self, jobs: Jobs<'_, '_>, meanwhile: &mut dyn FnMut()) {
        thread::scope(|scope| {
            let worker = scope.spawn(|| self.process(jobs));
            meanwhile();
            if let Err(panic) = worker.join() {
                resume_unwind(panic);
            }
        });
    }
}
