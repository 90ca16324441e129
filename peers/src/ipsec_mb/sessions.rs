//! Sessions whose messages go to the library many at a time.

use core::ffi::c_void;
use core::iter;

use super::{Algorithm, Api, BURST, Expanded, IpsecMb, Job, Manager};
use crate::{Addressed, Direction, Failed, Run, rounds};

/// Sessions of an algorithm in one direction, which share a manager.
pub(super) struct Sessions<K> {
    pub(super) manager: Manager,
    api: Api,
    pub(super) algorithm: Algorithm,
    pub(super) direction: Direction,
    pub(super) keys: Vec<K>,
    /// Of the messages of one batch, for those that set keys.
    fresh: Vec<K>,
    /// Of the messages of one batch, for those whose tags are compared.
    tags: Vec<[u8; 16]>,
    /// For bursts of one cipher, whose jobs are the caller's.
    jobs: Vec<Job>,
}

impl<K: Expanded> Sessions<K> {
    /// A session for each key; one at least.
    pub(super) fn new(
        library: &'static IpsecMb,
        api: Api,
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
        let (fresh, tags, jobs) = (Vec::new(), vec![[0; 16]], vec![job; BURST]);
        Some(Self { manager, api, algorithm, direction, keys: expanded, fresh, tags, jobs })
    }

    /// Goes through the messages in batches, by default of as many as a burst has at most. What
    /// `describe` is given is as for [`batch`](Self::batch); `compare` sees each batch with its tags
    /// when it is back. The sessions keep their keys.
    #[inline]
    pub(super) fn run<M: Addressed>(
        &mut self,
        messages: &mut [M],
        run: Run<'_>,
        describe: impl Fn(&mut M, &mut [u8; 16], [*const c_void; 2], &mut Job) -> Result<(), Failed>,
        compare: impl Fn(&[M], &[[u8; 16]]) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let batch = run.batch.unwrap_or(BURST);
        Failed::unless(batch != 0)?;
        let most = batch.min(messages.len());
        let rekeys = run.keys.is_some();
        if rekeys && self.fresh.len() < most {
            self.fresh.resize_with(most, K::empty);
        }
        if self.tags.len() < most {
            self.tags.resize(most, [0; 16]);
        }
        let mut keys = run.keys.unwrap_or(&[]).iter().cycle();
        rounds(messages.len(), run.requests, |count| {
            for batch in messages[..count].chunks_mut(batch) {
                if rekeys {
                    for place in self.fresh.iter_mut().take(batch.len()) {
                        place.set(&self.manager, keys.next().ok_or(Failed)?)?;
                    }
                }
                self.batch(batch, rekeys, &describe)?;
                compare(batch, &self.tags)?;
            }
            Ok(())
        })
    }

    /// Runs messages as one batch, under the keys of their sessions or those of the batch.
    /// `describe` is given a message, a place for its tag, its key and its job, which has the
    /// algorithm; what the job then points to is part of the message, the place or the key, and as
    /// long as the algorithm takes it. It does not panic.
    #[inline]
    pub(super) fn batch<M: Addressed>(
        &mut self,
        messages: &mut [M],
        fresh: bool,
        describe: impl Fn(&mut M, &mut [u8; 16], [*const c_void; 2], &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let Self { manager, algorithm, direction, tags, jobs, .. } = self;
        let (algorithm, direction) = (*algorithm, *direction);
        let keys = if fresh { &self.fresh } else { &self.keys };
        let describe = |(at, (message, tag)): (usize, (&mut M, _)), job: &mut Job| {
            let key = keys.get(if fresh { at } else { message.session() }).ok_or(Failed)?;
            describe(message, tag, key.pointers(), job)
        };
        let fill = |item: (usize, (&mut M, _)), job: &mut Job| {
            job.algorithm(algorithm, direction);
            describe(item, job)
        };
        let mut items = messages.iter_mut().zip(tags).enumerate();
        match self.api {
            // SAFETY: messages and tags are borrowed here, `describe` has seen to lengths, and the
            // keys stay where they are. Nothing panics.
            Api::Job => unsafe { manager.jobs(items, fill) },
            // SAFETY: as above.
            Api::Burst => unsafe { manager.bursts(items, fill) },
            Api::CipherBurst => {
                while items.len() > 0 {
                    let count = items.len().min(BURST);
                    let jobs = jobs.get_mut(..count).ok_or(Failed)?;
                    for (item, job) in items.by_ref().take(count).zip(jobs.iter_mut()) {
                        describe(item, job)?;
                    }
                    // SAFETY: as above; the algorithm is AES.
                    unsafe { manager.cipher_burst(jobs, algorithm, direction) }?;
                }
                Ok(())
            }
        }
    }
}
