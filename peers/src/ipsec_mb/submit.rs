//! The ways of submitting jobs: one by one, in bursts, and in bursts of one cipher.
//!
//! Every function here leaves the manager empty, whether it fails or not, so that no job outlives
//! the borrows of its data.
//!
//! From [`Sessions::run`](super::sessions::Sessions::run) down to the library's calls, everything
//! is inlined by force. The compiler would make functions of the middle, and AES-GCM in batches of
//! one would take a tenth longer than in a program that calls the library directly.

use super::job::number;
use super::{Algorithm, Job, Manager};
use crate::{Direction, Failed};

/// `IMB_MAX_BURST_SIZE`: the most jobs in a burst.
pub(super) const BURST: usize = 128;

/// A way of submitting jobs.
pub(super) trait Api: Send + 'static {
    /// Its name in the results.
    const NAME: &'static str;
    /// Whether jobs are submitted up to [`BURST`] at a time.
    const IN_BURSTS: bool;
    /// Whether jobs belong to the caller, which has put the algorithm into them.
    const IS_PREPARED: bool = false;

    /// Runs `count` jobs. `describe` fills each in, by its position.
    ///
    /// # Errors
    ///
    /// Same as [`Manager::jobs`].
    ///
    /// # Safety
    ///
    /// Same as [`Manager::jobs`]. `jobs` are [`BURST`] jobs prepared for the algorithm and
    /// direction; for [`CipherBurst`] it must support the algorithm.
    #[inline(always)]
    unsafe fn run(
        manager: &mut Manager,
        jobs: &mut [Job],
        algorithm: Algorithm,
        direction: Direction,
        count: usize,
        describe: impl FnMut(usize, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let _ = (jobs, algorithm, direction);
        match Self::IN_BURSTS {
            // SAFETY: the caller keeps the same contract.
            true => unsafe { manager.bursts(count, describe) },
            // SAFETY: the caller keeps the same contract.
            false => unsafe { manager.jobs(count, describe) },
        }
    }
}

/// `submit_job_nocheck` for each, then `flush_job` until all are back.
pub(super) struct ByJob;

impl Api for ByJob {
    const NAME: &'static str = "job";
    const IN_BURSTS: bool = false;
}

/// `submit_burst_nocheck` for up to [`BURST`], then `flush_burst` until these are back.
pub(super) struct Burst;

impl Api for Burst {
    const NAME: &'static str = "burst";
    const IN_BURSTS: bool = true;
}

/// `submit_cipher_burst_nocheck` for up to [`BURST`]: AES in CBC and CTR.
pub(super) struct CipherBurst;

impl Api for CipherBurst {
    const NAME: &'static str = "cipher-burst";
    const IN_BURSTS: bool = true;
    const IS_PREPARED: bool = true;

    #[inline(always)]
    unsafe fn run(
        manager: &mut Manager,
        jobs: &mut [Job],
        algorithm: Algorithm,
        direction: Direction,
        count: usize,
        mut describe: impl FnMut(usize, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        for first in (0..count).step_by(BURST) {
            let jobs = jobs.get_mut(..BURST.min(count - first)).ok_or(Failed)?;
            for (at, job) in (first..).zip(jobs.iter_mut()) {
                describe(at, job)?;
            }
            // SAFETY: the caller keeps the same contract.
            unsafe { manager.cipher_burst(jobs, algorithm, direction) }?;
        }
        Ok(())
    }
}

impl Manager {
    /// Runs `count` jobs, submitted one by one; `describe` fills each in, by its position. After
    /// the first that it refuses, no more are submitted.
    ///
    /// # Errors
    ///
    /// [`Failed`] if `describe` failed, or the library did not complete a job.
    ///
    /// # Safety
    ///
    /// A described job has an algorithm, keys for it, and an IV of the given length. All its
    /// pointers are valid until this returns, and its data are whole blocks if the algorithm needs
    /// that. `describe` does not panic.
    #[inline(always)]
    pub(super) unsafe fn jobs(
        &mut self,
        count: usize,
        mut describe: impl FnMut(usize, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let (mut flying, mut result) = (0, Ok(()));
        for at in 0..count {
            // SAFETY: the manager is there.
            let place = unsafe { (self.functions.next_job.0)(self.manager) };
            // SAFETY: the place is in the manager, which keeps it free until the job is submitted.
            let job = unsafe { &mut *place };
            if describe(at, job).is_err() {
                result = Err(Failed);
                break;
            }
            // SAFETY: the job is described, and the caller guarantees its pointers.
            let done = unsafe { (self.functions.submit_job.0)(self.manager) };
            flying += 1;
            // SAFETY: a job in the manager, or null.
            if let Some(job) = unsafe { done.as_ref() } {
                flying -= 1;
                result = result.and(job.completed());
            }
        }
        while flying > 0 {
            // SAFETY: the manager is there.
            let done = unsafe { (self.functions.flush_job.0)(self.manager) };
            // SAFETY: a job in the manager, or null when it has no more.
            let Some(job) = (unsafe { done.as_ref() }) else { return Err(Failed) };
            flying -= 1;
            result = result.and(job.completed());
        }
        result
    }

    /// Same as [`Manager::jobs`], but in bursts. One burst is finished before the next begins:
    /// 1.3.0 miscounts a queue whose jobs wrap around its end, and would return jobs that it never
    /// had. An empty queue starts from its beginning, and holds two bursts.
    ///
    /// # Errors
    ///
    /// Same as [`Manager::jobs`].
    ///
    /// # Safety
    ///
    /// Same as [`Manager::jobs`].
    #[inline(always)]
    pub(super) unsafe fn bursts(
        &mut self,
        count: usize,
        mut describe: impl FnMut(usize, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        for first in (0..count).step_by(BURST) {
            let length = BURST.min(count - first);
            Failed::unless(self.next_burst(length) == length)?;
            let (mut flying, mut result) = (0, Ok(()));
            for (at, place) in (first..).zip(&self.places[..length]) {
                // SAFETY: the place is in the manager, which keeps it free until it is submitted.
                let job = unsafe { &mut **place };
                if describe(at, job).is_err() {
                    result = Err(Failed);
                    break;
                }
                flying += 1;
            }
            if flying > 0 {
                // SAFETY: the jobs are described, and the caller guarantees their pointers.
                let done = unsafe { self.submit_burst(flying) };
                result = result.and(self.completed(done, &mut flying));
            }
            while flying > 0 {
                let done = self.flush_burst();
                Failed::unless(done > 0)?;
                result = result.and(self.completed(done, &mut flying));
            }
            result?;
        }
        Ok(())
    }

    /// Stores the places of the next jobs in `places`; returns how many are free.
    #[inline]
    fn next_burst(&mut self, count: usize) -> usize {
        let (next, places) = (self.functions.next_burst.0, self.places.as_mut_ptr());
        // SAFETY: as many places as asked for.
        unsafe { next(self.manager, short(count), places) as usize }
    }

    /// Submits the first jobs of `places`, and stores the completed jobs there; returns their
    /// number.
    ///
    /// # Safety
    ///
    /// The jobs are described, and in the places that [`Manager::next_burst`] returned last.
    #[inline]
    unsafe fn submit_burst(&mut self, count: usize) -> usize {
        let (submit, places) = (self.functions.submit_burst.0, self.places.as_mut_ptr());
        // SAFETY: the caller guarantees the jobs; no more are returned than are submitted.
        unsafe { submit(self.manager, short(count), places) as usize }
    }

    /// Stores completed jobs in `places` and returns their number; zero if there are no more.
    #[inline]
    fn flush_burst(&mut self) -> usize {
        let (flush, places) = (self.functions.flush_burst.0, self.places.as_mut_ptr());
        // SAFETY: as many places as asked for.
        unsafe { flush(self.manager, short(BURST), places) as usize }
    }

    /// Whether the first `count` jobs of `places`, which were returned, are complete. `flying` is
    /// the number of submitted jobs.
    #[inline]
    fn completed(&self, count: usize, flying: &mut usize) -> Result<(), Failed> {
        debug_assert!(count <= *flying, "more jobs than were submitted");
        *flying = flying.saturating_sub(count);
        self.places.iter().take(count).try_for_each(|place| {
            // SAFETY: the place is in the manager, which has given the job back.
            let job = unsafe { &**place };
            job.completed()
        })
    }

    /// Runs the jobs, each of which has its message; at most [`BURST`] jobs of one algorithm.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the library did not complete all.
    ///
    /// # Safety
    ///
    /// Same as [`Manager::jobs`], and [`CipherBurst`] supports the algorithm.
    #[inline]
    pub(super) unsafe fn cipher_burst(
        &mut self,
        jobs: &mut [Job],
        algorithm: Algorithm,
        direction: Direction,
    ) -> Result<(), Failed> {
        Failed::unless(jobs.len() <= BURST)?;
        let burst = self.functions.cipher_burst.0;
        let (cipher, key_len) = (algorithm.cipher, algorithm.key_len.into());
        let (count, jobs_at) = (short(jobs.len()), jobs.as_mut_ptr());
        // SAFETY: there are this many jobs; the caller guarantees their pointers.
        let done =
            unsafe { burst(self.manager, jobs_at, count, cipher, number(direction), key_len) };
        Failed::unless(done == count)
    }
}

/// Up to [`BURST`] jobs, as the library takes the number.
#[inline]
fn short(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(0)
}
