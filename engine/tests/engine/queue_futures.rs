//! The queue of futures: many tasks, dropped futures, waits for room.

use core::future::Future;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::task::Wake;
use std::thread::{self, Thread};

use lanecrypt_engine::queue::{
    AsyncQueue, Message, MessageError, QueueError, SessionHandle, Settings,
};
use lanecrypt_engine::{Algorithm, Engine, Session};
use lanecrypt_testing::batches::keys::{Key, open};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};

use crate::queues::gate::{Gate, Keeper};
use crate::queues::traffic::cases;
use crate::queues::{Buffer, Case, LENGTH, sessions};

/// Wakes a thread, and counts.
struct Waking(Thread, AtomicUsize);

impl Wake for Waking {
    fn wake(self: Arc<Self>) {
        // Relaxed: it is read by tests that know that nobody wakes any more.
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.unpark();
    }
}

fn waking() -> Arc<Waking> {
    Arc::new(Waking(thread::current(), AtomicUsize::new(0)))
}

/// Runs a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(waking());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn cbc(engine: &Engine) -> Session {
    engine.raw_session(Algorithm::AES_128_CBC, &[1; 16]).expect("a good key")
}

fn message(session: SessionHandle) -> Message<[u8; 16], Vec<u8>> {
    Message::encrypt(session, [2; 16], vec![3; LENGTH])
}

/// A queue whose worker stands before a gate, which it opens for good when the keeper goes.
fn gated<B>(depth: usize) -> (AsyncQueue<B>, Keeper, SessionHandle, SessionHandle)
where
    B: AsMut<[u8]> + Send + 'static,
{
    let (gate, keeper) = Gate::new();
    let engine = Engine::new().with_driver(gate).expect("a free name");
    let queue = AsyncQueue::new(&engine, depth).expect("threads can be made");
    let gate = engine.session_on(Gate::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let gate = queue.attach(gate).expect("room");
    let session = queue.attach(cbc(&engine)).expect("room");
    (queue, keeper, gate, session)
}

/// Threads with tasks of their own share a queue that is often full; some futures are dropped.
#[test]
fn each_task_gets_its_own_message() {
    let engine = Engine::new();
    let mut numbers = Random(111);
    let (keys, _) = sessions(&engine, &mut numbers);
    for (spin, depth) in [(0, 5), (20, 40)] {
        let settings = Settings::new(depth).spin(Duration::from_micros(spin));
        let queue = AsyncQueue::with(&engine, settings).expect("threads can be made");
        let mut attached = Vec::new();
        for session in open(&engine, &keys) {
            let mut session = Box::new(session);
            attached.push(loop {
                match queue.attach(session) {
                    Ok(number) => break number,
                    Err(refused) => session = refused.value,
                }
                thread::yield_now();
            });
        }
        thread::scope(|scope| {
            for seed in 0..3 {
                let (queue, keys, attached) = (&queue, &keys, &attached);
                scope.spawn(move || client(queue, keys, attached, seed, cases() / 6));
            }
        });
        assert_eq!(queue.in_flight(), 0, "a place is lost");
    }
}

/// Several tasks on one thread.
fn client(
    queue: &AsyncQueue<Buffer>,
    keys: &[Key],
    attached: &[SessionHandle],
    seed: u64,
    messages: usize,
) {
    let mut numbers = Random(seed);
    let cases: Vec<_> = (0..500)
        .map(|_| {
            let key = numbers.below(keys.len());
            Case::random(keys, key, 300, &mut numbers)
        })
        .collect();
    let mut done = 0;
    while done < messages {
        let company = 1 + numbers.below(8);
        let mut tasks: Vec<_> = (0..company)
            .map(|_| {
                let case = &cases[numbers.below(cases.len())];
                let user = numbers.number();
                let task = async move {
                    let message = case.message(attached[case.session], user);
                    let done = queue.serve(message).await.expect("it is open");
                    assert_eq!(done.user, user);
                    case.check(&done).expect("the right bytes");
                };
                Some(Box::pin(task))
            })
            .collect();
        // Some tasks end early, whether they wait for room or for their completion.
        let dropped = numbers.one_in(3).then(|| numbers.below(company));
        block_on(core::future::poll_fn(|context| {
            for task in &mut tasks {
                if task.as_mut().is_some_and(|task| task.as_mut().poll(context).is_ready()) {
                    *task = None;
                }
            }
            if let Some(dropped) = dropped {
                tasks[dropped] = None;
            }
            if tasks.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
        }));
        done += company;
    }
}

/// A buffer that counts its drops.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl AsMut<[u8]> for Counted {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // Relaxed: it is read after the worker has been joined, or not at all.
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

/// Futures that are dropped before, while and after the worker has their messages.
#[test]
fn dropped_futures_leave_nothing_behind() {
    let (queue, keeper, gate, session) = gated(8);
    let drops = Arc::new(AtomicUsize::new(0));
    let message = |session| {
        let buffer = Counted(vec![1; LENGTH], drops.clone());
        Message::new(session, lanecrypt_engine::Operation::Encrypt, [0; 16], buffer)
    };
    let begun = queue.submit(message(gate)).expect("room");
    assert_eq!(keeper.begun(), 1);
    let waiting = queue.submit(message(gate)).expect("room");
    let mut kept = queue.submit(message(session)).expect("room");
    assert!(poll_once(Pin::new(&mut kept)).is_pending());
    assert_eq!(queue.in_flight(), 3);
    drop(begun);
    // The worker has not taken it, and never asks the driver for it.
    drop(waiting);
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    keeper.open();
    let done = block_on(&mut kept).expect("no fork");
    assert_eq!(done.outcome, Ok(()));
    assert!(poll_once(Pin::new(&mut kept)).is_pending());
    drop((done, kept));
    let served = queue.submit(message(session)).expect("room");
    let other = queue.submit(message(session)).expect("room");
    drop(block_on(other).expect("no fork"));
    // It has been served by now.
    drop(served);
    assert_eq!(queue.in_flight(), 0);
    drop(queue);
    assert_eq!(drops.load(Ordering::Relaxed), 5);
}

#[test]
fn cancelled_messages_say_so() {
    let (queue, keeper, gate, session) = gated(8);
    let begun = queue.submit(message(gate)).expect("room");
    keeper.begun();
    let [first, second] = [(); 2].map(|()| queue.submit(message(session)).expect("room"));
    first.cancel();
    begun.cancel();
    keeper.open();
    let outcomes = [begun, first, second].map(|served| block_on(served).map(|done| done.outcome));
    assert_eq!(outcomes, [Ok(Ok(())), Ok(Err(MessageError::Cancelled)), Ok(Ok(()))]);
}

#[test]
fn tasks_wait_for_room() {
    let (queue, keeper, gate, session) = gated(2);
    let mut first = queue.submit(message(gate)).expect("room");
    keeper.begun();
    let second = queue.submit(message(session)).expect("room");
    let refused = queue.submit(message(session).with_user(9)).expect_err("it is full");
    assert_eq!((refused.reason, refused.value.user()), (QueueError::Full, 9));
    // A task that waits for room and goes away takes nobody's turn.
    let mut gone = Box::pin(queue.ready());
    assert!(poll_once(gone.as_mut()).is_pending());
    drop(gone);
    let tasks = [waking(), waking()];
    let mut waiting = [(); 2].map(|()| Box::pin(queue.ready()));
    for (task, ready) in tasks.iter().zip(&mut waiting) {
        let waker = Waker::from(task.clone());
        assert!(ready.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(ready.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    keeper.open();
    assert_eq!(block_on(&mut first).map(|done| done.outcome), Ok(Ok(())));
    for (task, ready) in tasks.iter().zip(&mut waiting) {
        assert_eq!(task.1.load(Ordering::Relaxed), 1, "woken once");
        assert_eq!(poll_once(ready.as_mut()), Poll::Ready(Ok(())));
    }
    assert_eq!(block_on(second).map(|done| done.outcome), Ok(Ok(())));
}

#[test]
fn a_closed_queue_answers_all() {
    let (queue, keeper, gate, session) = gated(3);
    let begun = queue.submit(message(gate)).expect("room");
    keeper.begun();
    let [first, second] = [(); 2].map(|()| queue.submit(message(session)).expect("room"));
    let mut serving = Box::pin(queue.serve(message(session)));
    assert!(poll_once(serving.as_mut()).is_pending());
    queue.close();
    assert_eq!(block_on(serving).err(), Some(QueueError::Closed));
    assert_eq!(block_on(queue.ready()), Err(QueueError::Closed));
    let refused = queue.submit(message(session)).expect_err("it is closed");
    assert_eq!(refused.reason, QueueError::Closed);
    let refused = queue.attach(cbc(&Engine::new())).expect_err("it is closed");
    assert_eq!(refused.reason, QueueError::Closed);
    assert_eq!(queue.detach(session), Err(QueueError::Closed));
    keeper.open();
    let outcomes = [begun, first, second].map(|served| block_on(served).map(|done| done.outcome));
    let closed = Ok(Err(MessageError::Closed));
    assert_eq!(outcomes, [Ok(Ok(())), closed, closed]);
}

#[test]
fn sessions_come_and_go() {
    let (queue, keeper, gate, session) = gated(8);
    let begun = queue.submit(message(gate)).expect("room");
    keeper.begun();
    let before = queue.submit(message(session)).expect("room");
    assert_eq!((queue.detach(session), queue.detach(session)), (Ok(true), Ok(false)));
    let behind = queue.submit(message(session)).expect("room");
    let engine = Engine::new();
    let attached = (0..1000).take_while(|_| queue.attach(cbc(&engine)).is_ok()).count();
    assert!((1..1000).contains(&attached));
    assert_eq!(queue.detach(gate), Err(QueueError::Full));
    // There is room for messages all the same.
    let more: Vec<_> = (0..5).map(|_| queue.submit(message(session)).expect("room")).collect();
    keeper.open();
    let outcomes = [begun, before, behind].map(|served| block_on(served).map(|done| done.outcome));
    let unknown = Ok(Err(MessageError::UnknownSession));
    assert_eq!(outcomes, [Ok(Ok(())), Ok(Ok(())), unknown]);
    drop(more);
}

#[test]
fn a_forked_child_is_told() {
    let (queue, keeper, gate, session) = gated(8);
    let mut begun = queue.submit(message(gate)).expect("room");
    keeper.begun();
    // SAFETY: the child only looks at the queue, drops it and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = queue.submit(message(session)).map(drop).map_err(|refused| refused.reason);
        let right = refused == Err(QueueError::Forked)
            && matches!(poll_once(Pin::new(&mut begun)), Poll::Ready(Err(QueueError::Forked)))
            && queue.detach(session) == Err(QueueError::Forked)
            && queue.in_flight() == 0;
        queue.close();
        drop(begun);
        drop(queue);
        // SAFETY: ends the process and has no preconditions.
        unsafe { libc::_exit(i32::from(!right)) }
    }
    let mut status = 0;
    // SAFETY: the pointer is to an integer of the type that the call fills in.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    keeper.open();
    assert_eq!(block_on(begun).map(|done| done.outcome), Ok(Ok(())));
}
