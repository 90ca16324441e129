//! Platforms without stacks: closures run one after the other.
#![cfg(not(all(
    not(miri),
    any(all(target_arch = "x86_64", any(unix, windows)), all(target_arch = "aarch64", unix))
)))]

use core::marker::PhantomData;
use std::thread::LocalKey;

use crate::outcomes::Outcomes;

/// The closure of a pool that runs on this thread; here, none.
#[derive(Debug)]
pub struct Current<J: 'static>(PhantomData<*mut J>);

impl<J> Current<J> {
    /// No closure.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<J> Default for Current<J> {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether [`wait`] would wait now: never.
#[must_use]
pub fn is_waiting_possible<J>(_current: &'static LocalKey<Current<J>>) -> bool {
    false
}

/// Returns the job.
///
/// # Errors
///
/// The job, always.
pub fn wait<J>(_current: &'static LocalKey<Current<J>>, job: J) -> Result<J, J> {
    Err(job)
}

/// Runs closures one after the other.
#[derive(Debug)]
pub struct Pool<J: 'static>(PhantomData<fn(J)>);

impl<J> Pool<J> {
    /// The most closures that run together.
    pub const AT_ONCE: usize = 1;

    /// The bytes of a stack; here, there are none.
    pub const STACK_SIZE: usize = 0;

    /// A pool.
    #[must_use]
    pub const fn new(_current: &'static LocalKey<Current<J>>) -> Self {
        Self(PhantomData)
    }

    /// Runs the closures one after the other, and returns their results in order.
    ///
    /// # Panics
    ///
    /// With the panic of the first closure that panicked, after all others have returned.
    pub fn run<F, R>(
        &mut self,
        closures: impl IntoIterator<Item = F>,
        _process: impl FnMut(&mut [J]),
    ) -> Vec<R>
    where
        F: FnOnce() -> R,
    {
        let mut outcomes = Outcomes::new();
        closures.into_iter().for_each(|closure| outcomes.alone(closure));
        outcomes.finish()
    }
}
