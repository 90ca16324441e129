//! Closures on stacks of their own.
#![cfg(all(
    not(miri),
    any(all(target_arch = "x86_64", any(unix, windows)), all(target_arch = "aarch64", unix))
))]

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::thread::{self, LocalKey, panicking};

use corosensei::stack::{DefaultStack, Stack as _};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::outcomes::Outcomes;

/// The closure of a pool that runs on this thread, as a thread-local variable of the crate whose
/// jobs are collected.
///
/// The value was stored by code on the stack that it names, while the closure ran there.
pub struct Current<J: 'static>(Cell<Option<Running<J>>>);

impl<J> Current<J> {
    /// No closure.
    #[must_use]
    pub const fn new() -> Self {
        Self(Cell::new(None))
    }

    /// The closure on whose stack the caller is.
    fn get(&self) -> Option<Running<J>> {
        self.0.get().filter(Running::is_here)
    }
}

impl<J> Default for Current<J> {
    fn default() -> Self {
        Self::new()
    }
}

impl<J> fmt::Debug for Current<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Current").field("is_running", &self.get().is_some()).finish()
    }
}

struct Running<J: 'static> {
    yielder: *const Yielder<Option<J>, J>,
    /// The addresses of its stack.
    lowest: usize,
    end: usize,
}

impl<J> Clone for Running<J> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<J> Copy for Running<J> {}

impl<J> Running<J> {
    /// Whether the caller is on its stack.
    ///
    /// It is not if a closure switched to another stack by other means, or if the stack that
    /// called the pool was left in the middle of a closure.
    #[inline]
    fn is_here(&self) -> bool {
        let here = 0_u8;
        let address = core::hint::black_box(&raw const here).addr();
        (self.lowest..self.end).contains(&address)
    }
}

/// Whether [`wait`] would wait now: the caller is in a pool.
#[must_use]
pub fn is_waiting_possible<J>(current: &'static LocalKey<Current<J>>) -> bool {
    here(current).is_some()
}

fn here<J>(current: &'static LocalKey<Current<J>>) -> Option<Running<J>> {
    let running = current.try_with(Current::get).ok().flatten();
    // Other closures would run in the middle of a panic.
    running.filter(|_| !panicking())
}

/// Waits until the job was processed together with those of the other closures of the pool, and
/// returns it with its result in it.
///
/// # Errors
///
/// The job as it is, if the caller runs outside of a pool, alone in one, or while a panic unwinds.
pub fn wait<J>(current: &'static LocalKey<Current<J>>, job: J) -> Result<J, J> {
    let Some(running) = here(current) else { return Err(job) };
    // SAFETY: the value was stored by code on this stack, by the last closure that began here,
    // whose coroutine owns the yielder. As we are on this stack, it has not ended.
    let yielder = unsafe { &*running.yielder };
    let job = yielder.suspend(job);
    // The pool has changed it in the meantime.
    current.with(|current| current.0.set(Some(running)));
    let Some(job) = job else { unreachable!("only the beginning has no job") };
    Ok(job)
}

/// Runs closures together.
pub struct Pool<J: 'static> {
    current: &'static LocalKey<Current<J>>,
    stacks: Vec<DefaultStack>,
    /// What the closures wait for, in their order.
    jobs: Vec<J>,
    /// Memory for the jobs while the closures continue.
    processed: Vec<J>,
}

impl<J> fmt::Debug for Pool<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("stacks", &self.stacks.len()).finish_non_exhaustive()
    }
}

impl<J> Pool<J> {
    /// The most closures that run together. More of them run one group after the other.
    pub const AT_ONCE: usize = 64;

    /// The bytes of a stack.
    pub const STACK_SIZE: usize = 256 << 10;

    /// A pool, without stacks so far.
    #[must_use]
    pub const fn new(current: &'static LocalKey<Current<J>>) -> Self {
        Self { current, stacks: Vec::new(), jobs: Vec::new(), processed: Vec::new() }
    }

    /// Runs the closures, and returns their results in order.
    ///
    /// `process` gets the jobs for which closures wait, in the order of the closures, and puts the
    /// results into them.
    ///
    /// A closure may use another pool, or this thread's code outside of pools. All closures run on
    /// this thread, so that they need not be `Send`.
    ///
    /// # Panics
    ///
    /// With the panic of the first closure that panicked, after all others have returned. If
    /// `process` panics, the closures that wait are unwound, their values dropped.
    pub fn run<F, R>(
        &mut self,
        closures: impl IntoIterator<Item = F>,
        mut process: impl FnMut(&mut [J]),
    ) -> Vec<R>
    where
        F: FnOnce() -> R,
    {
        let mut closures = closures.into_iter();
        let mut outcomes = Outcomes::new();
        let mut group = Vec::with_capacity(closures.size_hint().0.min(Self::AT_ONCE));
        loop {
            group.extend(closures.by_ref().take(Self::AT_ONCE));
            match group.len() {
                0 => break,
                1 => outcomes.alone(group.remove(0)),
                _ => self.run_group(&mut group, &mut process, &mut outcomes),
            }
        }
        outcomes.finish()
    }

    fn run_group<F, R>(
        &mut self,
        closures: &mut Vec<F>,
        process: &mut impl FnMut(&mut [J]),
        outcomes: &mut Outcomes<R>,
    ) where
        F: FnOnce() -> R,
    {
        while self.stacks.len() < closures.len() {
            match DefaultStack::new(Self::STACK_SIZE) {
                Ok(stack) => self.stacks.push(stack),
                // The system is short of memory.
                Err(_) => break,
            }
        }
        let context = Context { current: self.current, outer: self.current.with(Current::get) };
        let mut fibers = Vec::with_capacity(closures.len());
        self.jobs.clear();
        let mut closures = closures.drain(..);
        for (stack, closure) in self.stacks.iter_mut().zip(closures.by_ref()) {
            let index = outcomes.results.len();
            outcomes.results.push(None);
            let mut fiber = Fiber::new(stack, context.current, closure);
            if let Some(job) = put(outcomes, index, context.resume(&mut fiber, None)) {
                self.jobs.push(job);
                fibers.push((index, fiber));
            }
        }
        while !fibers.is_empty() {
            process(&mut self.jobs);
            core::mem::swap(&mut self.jobs, &mut self.processed);
            self.jobs.clear();
            let mut processed = self.processed.drain(..);
            fibers.retain_mut(|(index, fiber)| {
                match put(outcomes, *index, context.resume(fiber, processed.next())) {
                    Some(job) => {
                        self.jobs.push(job);
                        true
                    }
                    None => false,
                }
            });
        }
        // Those for which there was no stack.
        closures.for_each(|closure| outcomes.alone(closure));
    }
}

/// A closure on a stack. The closure's own data live as long as `F`.
struct Fiber<'s, F, J, R> {
    coroutine: Coroutine<Option<J>, J, R, &'s mut DefaultStack>,
    closure: PhantomData<F>,
}

impl<'s, F: FnOnce() -> R, J, R> Fiber<'s, F, J, R> {
    fn new(
        stack: &'s mut DefaultStack,
        current: &'static LocalKey<Current<J>>,
        closure: F,
    ) -> Self {
        let (lowest, end) = (stack.limit().get(), stack.base().get());
        let body = move |yielder: &Yielder<Option<J>, J>, _: Option<J>| {
            let running = Running { yielder, lowest, end };
            current.with(|current| current.0.set(Some(running)));
            closure()
        };
        // SAFETY: the type has the lifetimes of the closure, and nothing here forgets a fiber.
        let coroutine = unsafe { Coroutine::with_stack_unchecked(stack, body) };
        Self { coroutine, closure: PhantomData }
    }
}

/// The pool's caller.
struct Context<J: 'static> {
    current: &'static LocalKey<Current<J>>,
    /// The closure of another pool on whose stack this pool runs.
    outer: Option<Running<J>>,
}

impl<J> Context<J> {
    /// Continues a closure, with the job for which it waited.
    fn resume<F, R>(&self, fiber: &mut Fiber<'_, F, J, R>, job: Option<J>) -> Resumed<J, R> {
        // No closure continues after its panic, and the pool has no invariants to break.
        let resumed = catch_unwind(AssertUnwindSafe(|| fiber.coroutine.resume(job)));
        self.current.with(|current| current.0.set(self.outer));
        resumed
    }
}

type Resumed<J, R> = thread::Result<CoroutineResult<J, R>>;

/// Stores the result of a closure that has returned, or returns the job for which it waits.
fn put<J, R>(outcomes: &mut Outcomes<R>, index: usize, resumed: Resumed<J, R>) -> Option<J> {
    match resumed {
        Ok(CoroutineResult::Yield(job)) => return Some(job),
        Ok(CoroutineResult::Return(result)) => outcomes.results[index] = Some(result),
        Err(panic) => outcomes.panicked(panic),
    }
    None
}
