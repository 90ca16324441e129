//! The threads that measure: one leads, and helpers join it in rows of more than one thread.
//!
//! All threads of a row wait for a common start. The leader's clock runs from that start until the
//! last thread has finished, so that clocks of two processors are never compared. On a busy machine
//! each thread first yields, so that a batch begins with a fresh time slice, and the start is given
//! only when helpers are seen to be running. Each thread first makes one untimed request, so that
//! the batch measures neither the cache contents of other rows nor a sleeping core. The loops of
//! known cost follow that request, and the batch.
//!
//! Rows of more threads than processors spread them evenly; a waiting thread yields its processor.
//! Such threads wait for each other anyway, so a disturbance shows only if all of them together had
//! less than the processors' time.

use core::hint::spin_loop;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, yield_now};

use crate::clock::{self, as_f64};
use crate::processors::{Pinned, WaitingTime, processor_time};
use crate::reference::Reference;
use crate::row::{Arena, Row, Workload};
use crate::verify::{self, Defect};

/// One timed batch.
pub(crate) struct Batch {
    /// From the common start to the last thread's end.
    pub(crate) wall: u64,
    /// Whether the threads lost their processors to other work meanwhile.
    pub(crate) preempted: bool,
    /// What the loops of known cost took before and after it, on the leader's processor.
    pub(crate) reference: Reference,
    /// Folded from all threads' answers.
    pub(crate) digest: u64,
}

/// A thread that can do the work of every row.
struct Member<'rows> {
    rows: &'rows [Row],
    works: Vec<Option<Box<dyn Workload>>>,
    arena: Arena,
    waiting: WaitingTime,
    _pinned: Pinned,
}

impl<'rows> Member<'rows> {
    fn new(rows: &'rows [Row], cpu: usize) -> Self {
        let pinned = Pinned::to(cpu);
        let works = rows.iter().map(|_| None).collect();
        let waiting = WaitingTime::of_this_thread();
        Self { rows, works, arena: Arena::new(), waiting, _pinned: pinned }
    }

    fn prepare(&mut self, row: usize) -> Result<Vec<u8>, Defect> {
        let (rows, arena) = (self.rows, &mut self.arena);
        let prepared = guarded(|| {
            let mut work = (rows[row].make)().ok_or(Defect::Failed)?;
            let checked = work.check(arena);
            Ok((work, checked))
        });
        let (work, checked) = prepared.unwrap_or(Err(Defect::Failed))?;
        if checked != Err(Defect::Failed) {
            self.works[row] = Some(work);
        }
        checked
    }

    /// Gets ready for a batch, and makes the request before it, or as many as are handed over
    /// together.
    fn begin(&mut self, row: usize) -> Result<(), Defect> {
        let work = self.works[row].as_mut().ok_or(Defect::Failed)?;
        let begun = guarded(|| {
            work.begin(&mut self.arena)?;
            work.run(&mut self.arena, self.rows[row].batches.multiple);
            Ok(())
        });
        begun.unwrap_or(Err(Defect::Failed))
    }

    fn run(&mut self, row: usize, requests: usize) -> Result<(), Defect> {
        let work = self.works[row].as_mut().ok_or(Defect::Failed)?;
        guarded(|| work.run(&mut self.arena, requests)).ok_or(Defect::Failed)
    }

    fn check_again(&mut self, row: usize) -> Result<(), Defect> {
        let Some(work) = self.works[row].as_mut() else { return Ok(()) };
        guarded(|| work.check_again(&mut self.arena)).unwrap_or(Err(Defect::Failed))
    }

    fn digest(&mut self, row: usize) -> u64 {
        let arena = &mut self.arena;
        self.works[row].as_mut().map_or(0, |work| work.digest(arena))
    }
}

/// Confines a failing peer to its own row: the panic's message is on standard error, and the rest
/// of the table continues.
fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

enum Order {
    Prepare { row: usize },
    Run { row: usize, requests: usize, epoch: usize, random: u64 },
}

/// A helper's report on its part of a batch.
struct Part {
    preempted: bool,
    /// Nanoseconds that it had a processor.
    ran: u64,
    digest: u64,
}

enum Reply {
    Prepared(Result<Vec<u8>, Defect>),
    Ran(Result<Part, Defect>),
}

/// The shared state of a team's threads; it outlives them.
#[derive(Default)]
pub(crate) struct Meeting {
    /// Counts up while a helper waits for the start. The leader reads it twice to see that the
    /// helper is on its processor at this moment; it orders nothing.
    beats: AtomicUsize,
    /// The batch that may run. The leader's store pairs with the helpers' loads.
    epoch: AtomicUsize,
    /// Helpers that have finished. Their additions pair with the leader's loads.
    done: AtomicUsize,
}

/// The least share of the processors' time that the threads of a good batch get if they share
/// processors.
const UNDISTURBED: f64 = 0.9;

/// Turns of the waiting loops before the thread yields its processor.
const PATIENCE: usize = 2000;

impl Meeting {
    /// Waits for the start of a batch; returns the waiting time of this thread until then.
    fn await_start(&self, epoch: usize, waiting: &WaitingTime) -> u64 {
        loop {
            yield_now();
            let waited = waiting.read();
            for _ in 0..PATIENCE {
                if self.epoch.load(Ordering::Acquire) == epoch {
                    return waited;
                }
                self.beats.fetch_add(1, Ordering::Relaxed);
                spin_loop();
            }
        }
    }

    /// Waits until this many helpers have finished.
    fn await_end(&self, joining: usize) {
        loop {
            for _ in 0..PATIENCE {
                if self.done.load(Ordering::Acquire) >= joining {
                    return;
                }
                spin_loop();
            }
            yield_now();
        }
    }

    /// Whether a helper is seen waiting on its processor right now.
    ///
    /// With several helpers this proves it of one of them.
    fn is_attended(&self) -> bool {
        let before = self.beats.load(Ordering::Relaxed);
        (0..PATIENCE).any(|_| {
            spin_loop();
            self.beats.load(Ordering::Relaxed) != before
        })
    }
}

/// The calling thread and its helpers.
pub(crate) struct ThreadTeam<'rows> {
    leader: Member<'rows>,
    helpers: Vec<(Sender<Order>, Receiver<Reply>)>,
    meeting: &'rows Meeting,
    epoch: usize,
    /// The number of different processors of the threads.
    processors: usize,
}

impl<'rows> ThreadTeam<'rows> {
    /// Pins the calling thread to the first of `cpus` and a helper to each of the others; the same
    /// processor may stand there several times.
    ///
    /// The helpers end when the team is dropped.
    pub(crate) fn assemble<'scope>(
        scope: &'scope Scope<'scope, '_>,
        rows: &'rows [Row],
        cpus: &[usize],
        meeting: &'rows Meeting,
    ) -> Self
    where
        'rows: 'scope,
    {
        let helpers = cpus.iter().skip(1).map(|&cpu| {
            let (order, orders) = channel();
            let (reply, replies) = channel();
            scope.spawn(move || help(Member::new(rows, cpu), &orders, &reply, meeting));
            (order, replies)
        });
        let helpers = helpers.collect();
        let leader = Member::new(rows, cpus.first().copied().unwrap_or(0));
        let processors = cpus.iter().collect::<BTreeSet<_>>().len();
        Self { leader, helpers, meeting, epoch: 0, processors }
    }

    /// The number of threads.
    pub(crate) fn size(&self) -> usize {
        1 + self.helpers.len()
    }

    /// Makes a row's work on every thread that it needs, and checks the answers.
    ///
    /// A row whose answers are wrong can be timed nevertheless; one that failed cannot.
    pub(crate) fn prepare(&mut self, row: usize) -> Result<(), Defect> {
        let mut prepared = vec![self.leader.prepare(row)];
        for (order, replies) in self.joining(row) {
            order.send(Order::Prepare { row }).map_err(|_| Defect::Failed)?;
            match replies.recv() {
                Ok(Reply::Prepared(sample)) => prepared.push(sample),
                _ => return Err(Defect::Failed),
            }
        }
        // A failure outranks a wrong answer: such a row cannot even be timed.
        if prepared.contains(&Err(Defect::Failed)) {
            return Err(Defect::Failed);
        }
        let samples = prepared.into_iter().collect::<Result<Vec<_>, _>>()?;
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        if samples.len() > 1 && verify::repeats(&samples) {
            return Err(Defect::Repeats);
        }
        Ok(())
    }

    /// Checks a row's answers again, on the calling thread only, because all threads do the same.
    pub(crate) fn check_again(&mut self, row: usize) -> Result<(), Defect> {
        self.leader.check_again(row)
    }

    /// Times `requests` requests on each thread of the row, at offsets that `random` picks.
    pub(crate) fn run(
        &mut self,
        row: usize,
        requests: usize,
        random: u64,
    ) -> Result<Batch, Defect> {
        self.epoch += 1;
        let (epoch, meeting) = (self.epoch, self.meeting);
        let joining = self.joining(row).len();
        // The orders that follow through the channels make this store visible first.
        meeting.done.store(0, Ordering::Relaxed);
        for (order, _) in self.joining(row) {
            let random = random.rotate_left(32);
            let sent = order.send(Order::Run { row, requests, epoch, random });
            sent.map_err(|_| Defect::Failed)?;
        }
        self.leader.arena.shift(random);
        let begun = self.leader.begin(row);
        yield_now();
        while joining > 0 && !meeting.is_attended() {
            yield_now();
        }
        let reference = Reference::measure();
        let waited = self.leader.waiting.read();
        let before = processor_time();
        let start = clock::now();
        meeting.epoch.store(epoch, Ordering::Release);
        let ran = begun.and_then(|()| self.leader.run(row, requests));
        let mut had = processor_time() - before;
        meeting.await_end(joining);
        let wall = clock::now() - start;
        let mut preempted = self.leader.waiting.read() != waited;
        let reference = Reference::around(reference, Reference::measure());
        let mut digest = self.leader.digest(row);
        for (_, replies) in self.joining(row) {
            let Ok(Reply::Ran(theirs)) = replies.recv() else { return Err(Defect::Failed) };
            let theirs = theirs?;
            preempted |= theirs.preempted;
            had += theirs.ran;
            digest ^= theirs.digest.rotate_left(1);
        }
        if joining >= self.processors {
            let whole = as_f64(wall) / clock::ghz() * as_f64(self.processors as u64);
            preempted = as_f64(had) < UNDISTURBED * whole;
        }
        ran.map(|()| Batch { wall, preempted, reference, digest })
    }

    /// The helpers that a row needs.
    fn joining(&self, row: usize) -> &[(Sender<Order>, Receiver<Reply>)] {
        let wanted = self.leader.rows[row].threads() - 1;
        &self.helpers[..wanted.min(self.helpers.len())]
    }
}

/// Runs a helper: one order after the other until the team is dropped.
fn help(
    mut member: Member<'_>,
    orders: &Receiver<Order>,
    replies: &Sender<Reply>,
    meeting: &Meeting,
) {
    while let Ok(order) = orders.recv() {
        let reply = match order {
            Order::Prepare { row } => Reply::Prepared(member.prepare(row)),
            Order::Run { row, requests, epoch, random } => {
                member.arena.shift(random);
                let begun = member.begin(row);
                let waited = meeting.await_start(epoch, &member.waiting);
                let before = processor_time();
                let ran = begun.and_then(|()| member.run(row, requests));
                meeting.done.fetch_add(1, Ordering::Release);
                let had = processor_time() - before;
                let preempted = member.waiting.read() != waited;
                let digest = member.digest(row);
                Reply::Ran(ran.map(|()| Part { preempted, ran: had, digest }))
            }
        };
        if replies.send(reply).is_err() {
            return;
        }
    }
}
