//! Threads for slow operations, so that the daemon continues meanwhile.
//!
//! A thread starts with its first job, and may run on all processors of the process. Jobs wait in a
//! queue for each client, and clients share the time of the thread: it takes the job that would end
//! first if it worked on those of all clients at once (fair queueing, Demers, Keshav and Shenker,
//! 1989). So a short job does not wait for the long ones of others. A job owns its session and its
//! memory, so it outlives client and session. The thread then sets a flag, which the daemon checks
//! in every pass, and writes to an eventfd, which wakes a daemon that sleeps; it always does both,
//! so no handshake is needed.

use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::catch_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use lanecrypt_kernels::wipe;
use rustix::event::{EventfdFlags, eventfd};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The stack of a thread in bytes. Batches take up to 64 KiB of it.
const STACK: usize = 1 << 19;
/// The bytes of stack in which serving leaves traces: those of the kernels, and of the functions
/// above them.
pub(super) const TRACES: usize = wipe::DEPTH + (8 << 10);

/// Notifies the daemon of finished jobs, and of commands.
#[derive(Debug)]
pub(super) struct CompletionNotifier {
    is_there: AtomicBool,
    /// Becomes readable when a job is finished, and so wakes the daemon.
    descriptor: OwnedFd,
}

impl CompletionNotifier {
    pub(super) fn new() -> io::Result<Self> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { is_there: AtomicBool::new(false), descriptor })
    }

    /// Whether there is a notification that was not taken.
    #[inline]
    pub(super) fn is_there(&self) -> bool {
        // Relaxed: as in `tell`.
        self.is_there.load(Ordering::Relaxed)
    }

    /// Whether there was a notification. The caller must then check all workers.
    #[inline]
    pub(super) fn take(&self) -> bool {
        // Relaxed: as in `tell`.
        self.is_there() && self.is_there.swap(false, Ordering::Relaxed)
    }

    pub(super) fn tell(&self) {
        // Relaxed: what is finished is behind a lock. Either the daemon takes the lock later, and
        // finds it; or it took the lock before, and then this follows its `take`, and stays.
        self.is_there.store(true, Ordering::Relaxed);
        // It is always written, so no handshake is needed; it costs less than a thousandth of a
        // signature. It fails only if the descriptor is full, and then the daemon wakes anyway.
        let _ = rustix::io::write(&self.descriptor, &1_u64.to_ne_bytes());
    }
}

impl AsFd for CompletionNotifier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The work of a worker on jobs `J`, one or several at a time. Each results in a `D`.
pub(super) trait Work<J, D>: Send + 'static {
    /// The most jobs that are processed together.
    const TOGETHER: usize;

    /// Processes all of these jobs, each for the client of this number. Those that it leaves in
    /// `jobs` are dropped.
    fn work(&mut self, jobs: &mut Vec<(u64, J)>, done: &mut Vec<(u64, D)>);

    /// Frees memory, because there are no more jobs at the moment.
    fn rest(&mut self) {}

    /// The result of a job if [`work`](Self::work) panics.
    fn failed(job: J) -> D;
}

/// A thread that processes jobs of clients, which share its time. It starts with the first job, and
/// may use all processors of the process, regardless of the daemon's placement.
#[derive(Debug)]
pub(super) struct Worker<J, D> {
    shared: Arc<Shared<J, D>>,
    thread: Option<JoinHandle<()>>,
    name: &'static str,
    notifier: Arc<CompletionNotifier>,
    processors: Option<CpuSet>,
}

#[derive(Debug)]
struct Shared<J, D> {
    desk: Mutex<Backlog<J, D>>,
    /// Notified when there are jobs, or no more will come.
    has_jobs: Condvar,
    /// Notified when something was done.
    has_results: Condvar,
}

/// The jobs of one client.
#[derive(Debug)]
struct Line<J> {
    client: u64,
    jobs: VecDeque<Waiting<J>>,
}

/// A job that waits.
#[derive(Debug)]
struct Waiting<J> {
    /// Its estimated time, in nanoseconds.
    cost: u64,
    /// When it would end, if all clients were served at once, in the time of [`Backlog::now`].
    end: u64,
    job: J,
}

/// The jobs and results between the daemon and a worker.
#[derive(Debug)]
struct Backlog<J, D> {
    /// The jobs of each client that has some.
    waiting: Vec<Line<J>>,
    /// The time that each client that had jobs all along would have got, in nanoseconds.
    now: u64,
    /// How many jobs are being done.
    begun: usize,
    done: Vec<(u64, D)>,
    is_closed: bool,
}

impl<J, D> Shared<J, D> {
    fn lock(&self) -> MutexGuard<'_, Backlog<J, D>> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J, D> Backlog<J, D> {
    fn new() -> Self {
        Self { waiting: Vec::new(), now: 0, begun: 0, done: Vec::new(), is_closed: false }
    }

    /// Adds a job of a client.
    fn add(&mut self, client: u64, cost: u64, job: J) {
        let at = self.waiting.iter().position(|line| line.client == client);
        let last = at.and_then(|at| self.waiting.get(at)?.jobs.back());
        let begin = last.map_or(self.now, |last| last.end.max(self.now));
        let job = Waiting { cost, end: begin.saturating_add(cost), job };
        match at.and_then(|at| self.waiting.get_mut(at)) {
            Some(line) => line.jobs.push_back(job),
            None => self.waiting.push(Line { client, jobs: VecDeque::from([job]) }),
        }
    }

    /// Takes up to `most` jobs: those that would end first.
    fn take(&mut self, most: usize, jobs: &mut Vec<(u64, J)>) {
        let end = |line: &Line<J>| line.jobs.front().map_or(u64::MAX, |job| job.end);
        while jobs.len() < most {
            let sharing = self.waiting.len() as u64;
            let first = self.waiting.iter().enumerate().min_by_key(|(_, line)| end(line));
            let Some(at) = first.map(|(at, _)| at) else { break };
            let Some(line) = self.waiting.get_mut(at) else { break };
            if let Some(Waiting { cost, job, .. }) = line.jobs.pop_front() {
                self.now = self.now.saturating_add(cost / sharing);
                jobs.push((line.client, job));
            }
            if line.jobs.is_empty() {
                self.waiting.remove(at);
            }
        }
        self.begun = jobs.len();
    }
}

impl<J: Send + 'static, D: Send + 'static> Worker<J, D> {
    pub(super) fn new(name: &'static str, notifier: &Arc<CompletionNotifier>) -> Self {
        let shared = Shared {
            desk: Mutex::new(Backlog::new()),
            has_jobs: Condvar::new(),
            has_results: Condvar::new(),
        };
        // Those that the process has before the daemon's thread is moved.
        let processors = sched_getaffinity(None).ok();
        Self {
            shared: Arc::new(shared),
            thread: None,
            name,
            notifier: notifier.clone(),
            processors,
        }
    }

    /// Starts the thread, unless it is running.
    ///
    /// # Errors
    ///
    /// The system could not create a thread.
    pub(super) fn begin<W: Work<J, D>>(&mut self, work: impl FnOnce() -> W) -> io::Result<()> {
        if self.thread.is_some() {
            return Ok(());
        }
        let (shared, notifier, processors) =
            (self.shared.clone(), self.notifier.clone(), self.processors);
        let mut work = work();
        let thread = thread::Builder::new().name(self.name.into()).stack_size(STACK);
        self.thread = Some(thread.spawn(move || {
            if let Some(processors) = processors {
                // If that fails, it stays on the processors of the daemon's thread.
                let _ = sched_setaffinity(None, &processors);
            }
            run(&shared, &notifier, &mut work);
        })?);
        Ok(())
    }
}

impl<J, D> Worker<J, D> {
    /// Adds a job for the client of this number, which takes about `cost` nanoseconds.
    pub(super) fn give(&self, client: u64, cost: u64, job: J) {
        self.shared.lock().add(client, cost, job);
        self.shared.has_jobs.notify_one();
    }

    /// Drops jobs of a disconnected client that are not begun.
    pub(super) fn forget(&self, client: u64) {
        let mut desk = self.shared.lock();
        let at = desk.waiting.iter().position(|line| line.client == client);
        let line = at.map(|at| desk.waiting.remove(at));
        // Keys are wiped without the lock.
        drop(desk);
        drop(line);
    }

    /// The jobs finished since the last call.
    pub(super) fn done(&self) -> Vec<(u64, D)> {
        core::mem::take(&mut self.shared.lock().done)
    }

    /// Takes back the jobs that are not begun.
    pub(super) fn cancel(&self) -> impl Iterator<Item = (u64, J)> + use<J, D> {
        let waiting = core::mem::take(&mut self.shared.lock().waiting);
        waiting.into_iter().flat_map(|line| {
            let client = line.client;
            line.jobs.into_iter().map(move |waiting| (client, waiting.job))
        })
    }

    /// Waits until the jobs that are begun are finished, but not longer than until this time.
    pub(super) fn wait_for_begun(&self, until: Instant) {
        let mut desk = self.shared.lock();
        while desk.begun > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.shared.has_results.wait_timeout(desk, left);
            (desk, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<J, D> Drop for Worker<J, D> {
    fn drop(&mut self) {
        let mut desk = self.shared.lock();
        desk.is_closed = true;
        let waiting = core::mem::take(&mut desk.waiting);
        let is_idle = desk.begun == 0;
        drop(desk);
        drop(waiting);
        self.shared.has_jobs.notify_one();
        if let Some(thread) = self.thread.take().filter(|_| is_idle) {
            // It does not panic. A busy one is left alone, and ends with its jobs: a key of 8192
            // bits takes minutes.
            let _ = thread.join();
        }
    }
}

/// Works until no more jobs will come.
fn run<J, D, W: Work<J, D>>(shared: &Shared<J, D>, notifier: &CompletionNotifier, work: &mut W) {
    let (mut jobs, mut done) = (Vec::new(), Vec::new());
    loop {
        let mut desk = shared.lock();
        if desk.waiting.is_empty() {
            drop(desk);
            work.rest();
            // Round keys, messages.
            wipe::stack::<TRACES>();
            wipe::registers();
            desk = shared.lock();
        }
        while desk.waiting.is_empty() && !desk.is_closed {
            desk = shared.has_jobs.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
        if desk.is_closed {
            return;
        }
        desk.take(W::TOGETHER, &mut jobs);
        drop(desk);
        let worked = catch_unwind(AssertUnwindSafe(|| work.work(&mut jobs, &mut done)));
        if worked.is_err() {
            done.clear();
            done.extend(jobs.drain(..).map(|(client, job)| (client, W::failed(job))));
        }
        // Its content is wiped.
        jobs.clear();
        let mut desk = shared.lock();
        desk.begun = 0;
        desk.done.append(&mut done);
        drop(desk);
        notifier.tell();
        shared.has_results.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost of a job that takes a round.
    const EACH: u64 = 1 << 20;

    /// Notes which jobs were done together.
    struct Noted {
        begun: std::sync::mpsc::Sender<Vec<(u64, u32)>>,
        goes_on: std::sync::mpsc::Receiver<()>,
    }

    impl Work<u32, u32> for Noted {
        const TOGETHER: usize = 4;

        fn work(&mut self, jobs: &mut Vec<(u64, u32)>, done: &mut Vec<(u64, u32)>) {
            self.begun.send(jobs.clone()).expect("somebody looks");
            self.goes_on.recv().expect("somebody lets it go on");
            done.extend(jobs.iter().map(|(client, job)| (*client, job * 10)));
            assert!(!jobs.iter().any(|(_, job)| *job == 13), "the job that fails");
        }

        fn failed(job: u32) -> u32 {
            job + 1000
        }
    }

    #[test]
    fn clients_are_served_in_turn_and_none_is_lost() {
        let notifier = Arc::new(CompletionNotifier::new().expect("there are descriptors"));
        let (begun, begins) = std::sync::mpsc::channel();
        let (go_on, goes_on) = std::sync::mpsc::channel();
        let mut worker: Worker<u32, u32> = Worker::new("worker", &notifier);
        worker.begin(|| Noted { begun, goes_on }).expect("there are threads");
        let late = || Instant::now() + core::time::Duration::from_secs(60);
        worker.wait_for_begun(late());
        assert!(!notifier.is_there());
        worker.give(1, EACH, 0);
        assert_eq!(begins.recv().expect("it works"), [(1, 0)]);
        // The first client has many, and the others do not wait for all of them.
        (1..=6).for_each(|job| worker.give(1, EACH, job));
        worker.give(2, EACH, 7);
        worker.give(3, EACH, 8);
        worker.give(3, EACH, 9);
        worker.give(4, EACH, 11);
        worker.forget(4);
        go_on.send(()).expect("it works");
        while !notifier.take() {
            thread::yield_now();
        }
        assert!(!notifier.is_there());
        assert_eq!(worker.done(), [(1, 0)]);
        assert_eq!(begins.recv().expect("it works"), [(1, 1), (2, 7), (3, 8), (1, 2)]);
        go_on.send(()).expect("it works");
        assert_eq!(begins.recv().expect("it works"), [(3, 9), (1, 3), (1, 4), (1, 5)]);
        // A client that leaves while its job is being processed.
        worker.forget(3);
        go_on.send(()).expect("it works");
        assert_eq!(begins.recv().expect("it works"), [(1, 6)]);
        worker.give(5, EACH, 13);
        go_on.send(()).expect("it works");
        assert_eq!(begins.recv().expect("it works"), [(5, 13)]);
        worker.give(6, EACH, 14);
        assert!(worker.cancel().eq([(6, 14)]));
        go_on.send(()).expect("it works");
        worker.wait_for_begun(late());
        let done = worker.done();
        let sum: u32 = done.iter().map(|(_, job)| job).sum();
        assert_eq!((done.len(), sum), (10, 10 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9) + 1013));
        while !notifier.take() {
            thread::yield_now();
        }
    }

    #[test]
    fn clients_share_time_and_not_numbers_of_jobs() {
        let mut desk: Backlog<u64, ()> = Backlog::new();
        // The jobs of one take ten times as long.
        for (client, cost) in [(1, 10 * EACH), (2, EACH)] {
            (0..1000).for_each(|_| desk.add(client, cost, cost));
        }
        let mut jobs = Vec::new();
        desk.take(550, &mut jobs);
        let of = |client| jobs.iter().filter(|(other, _)| *other == client).count();
        assert_eq!((of(1), of(2)), (50, 500));
    }

    #[test]
    fn a_short_job_does_not_wait_for_the_long_ones_of_new_clients() {
        let mut desk: Backlog<u64, ()> = Backlog::new();
        for (client, cost) in [(1, 16 * EACH), (2, 16 * EACH), (3, 2 * EACH)] {
            desk.add(client, cost, client);
        }
        let mut jobs = Vec::new();
        desk.take(3, &mut jobs);
        assert_eq!(jobs.iter().map(|(client, _)| *client).collect::<Vec<_>>(), [3, 1, 2]);
    }

    #[test]
    fn a_long_job_does_not_wait_for_ever_for_short_ones_of_new_clients() {
        let mut desk: Backlog<u64, ()> = Backlog::new();
        desk.add(0, 16 * EACH, 0);
        let mut jobs = Vec::new();
        for client in 1..100 {
            desk.add(client, EACH, client);
            desk.take(1, &mut jobs);
            if jobs.pop() == Some((0, 0)) {
                assert_eq!(client, 31, "each of two has half of the time");
                return;
            }
        }
        panic!("it is never served");
    }
}
