//! Sessions whose messages are passed to the library many at a time.

use core::ffi::c_void;
use core::iter;
use core::marker::PhantomData;

use super::submit::Api;
use super::{Algorithm, BURST, Expanded, IpsecMb, Job, Manager};
use crate::{Direction, Failed, Run, rounds};

/// Sessions of an algorithm in one direction, which share a manager.
pub(super) struct Sessions<K, A> {
    pub(super) runner: Runner<A>,
    pub(super) direction: Direction,
    pub(super) keys: Vec<K>,
    /// The keys of one batch, for messages that set keys.
    fresh: Vec<K>,
    /// The tags of one batch, for messages whose tags are compared.
    tags: Vec<[u8; 16]>,
}

/// Runs batches.
pub(super) struct Runner<A> {
    pub(super) manager: Manager,
    pub(super) algorithm: Algorithm,
    /// For bursts of one cipher, whose jobs are the caller's.
    jobs: Vec<Job>,
    api: PhantomData<A>,
}

/// The keys of a batch: one for each session, or one for each message.
#[derive(Clone, Copy)]
pub(super) struct Keys<'k, K> {
    keys: &'k [K],
    is_fresh: bool,
}

impl<K: Expanded> Keys<'_, K> {
    /// The keys of the sessions.
    pub(super) const fn kept(keys: &[K]) -> Keys<'_, K> {
        Keys { keys, is_fresh: false }
    }

    /// The key of the message at a position of the batch, which belongs to a session.
    #[inline]
    pub(super) fn of(&self, place: usize, session: usize) -> Result<[*const c_void; 2], Failed> {
        let key = self.keys.get(if self.is_fresh { place } else { session });
        key.map(K::pointers).ok_or(Failed)
    }
}

impl<K: Expanded, A: Api> Sessions<K, A> {
    /// A session for each key; at least one.
    pub(super) fn new(
        library: &'static IpsecMb,
        algorithm: Algorithm,
        direction: Direction,
        keys: &[&[u8]],
    ) -> Option<Self> {
        if keys.is_empty() {
            return None;
        }
        let manager = Manager::new(library)?;
        let mut expanded: Vec<K> = iter::repeat_with(K::empty).take(keys.len()).collect();
        for (&key, place) in keys.iter().zip(&mut expanded) {
            place.set(&manager, key).ok()?;
        }
        // Counter mode encrypts its counter either way.
        let direction = if algorithm.counts() { Direction::Encrypt } else { direction };
        let mut job = Job::EMPTY;
        job.algorithm(algorithm, direction);
        let runner = Runner { manager, algorithm, jobs: vec![job; BURST], api: PhantomData };
        let (fresh, tags) = (Vec::new(), Vec::new());
        Some(Self { runner, direction, keys: expanded, fresh, tags })
    }

    /// Passes the messages to `batch` in batches, each with its keys and places for its tags. By
    /// default a batch has the size of the largest burst. The sessions keep their keys.
    #[inline(always)]
    pub(super) fn run<M>(
        &mut self,
        messages: &mut [M],
        run: Run<'_>,
        batch: impl Fn(&mut Runner<A>, &mut [M], Keys<'_, K>, &mut [[u8; 16]]) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let length = run.batch.unwrap_or(BURST);
        Failed::unless(length != 0)?;
        let most = length.min(messages.len());
        let Self { runner, keys, fresh, tags, .. } = self;
        if tags.len() < most {
            tags.resize(most, [0; 16]);
        }
        let mut new = run.keys.map(|keys| keys.iter().cycle());
        if new.is_some() && fresh.len() < most {
            fresh.resize_with(most, K::empty);
        }
        rounds(messages.len(), run.requests, |count| {
            for part in messages[..count].chunks_mut(length) {
                let keys = match &mut new {
                    None => Keys::kept(keys),
                    Some(new) => {
                        for place in fresh.iter_mut().take(part.len()) {
                            place.set(&runner.manager, new.next().ok_or(Failed)?)?;
                        }
                        Keys { keys: fresh, is_fresh: true }
                    }
                };
                batch(runner, part, keys, tags)?;
            }
            Ok(())
        })
    }
}

impl<A: Api> Runner<A> {
    /// Runs `count` jobs as one batch. `describe` fills each in by its position, including the
    /// algorithm unless jobs are prepared.
    ///
    /// # Errors
    ///
    /// [`Failed`] if `describe` failed, or the library did not complete a job.
    ///
    /// # Safety
    ///
    /// All pointers of a described job are valid until this returns, for the lengths that the
    /// algorithm takes. `describe` does not panic.
    #[inline(always)]
    pub(super) unsafe fn batch(
        &mut self,
        direction: Direction,
        count: usize,
        describe: impl FnMut(usize, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let Self { manager, algorithm, jobs, .. } = self;
        // SAFETY: the caller guarantees the jobs. Only AES uses bursts of one cipher.
        unsafe { A::run(manager, jobs, *algorithm, direction, count, describe) }
    }
}
