//! The ways in which a manager takes jobs: one by one, in bursts, and in bursts of one cipher.
//!
//! Every function here leaves the manager empty, whether it fails or not: no job outlives the
//! borrows of what it points to.

use super::job::number;
use super::{Algorithm, Job, Manager};
use crate::{Direction, Failed};

/// `IMB_MAX_BURST_SIZE`: jobs in a burst at most.
pub(super) const BURST: usize = 128;

/// A way of handing jobs over.
pub(super) trait Api: Send + 'static {
    /// As the points of the results name it.
    const NAME: &'static str;
    /// Whether jobs are the caller's, who has put the algorithm into them.
    const IS_PREPARED: bool = false;

    /// Runs a job for each of `items`, which `describe` fills in.
    ///
    /// # Errors
    ///
    /// As for [`Manager::jobs`].
    ///
    /// # Safety
    ///
    /// As for [`Manager::jobs`]. `jobs` are [`BURST`] prepared for the algorithm and direction, and for
    /// [`CipherBurst`] these are some that it knows.
    unsafe fn run<T>(
        manager: &mut Manager,
        jobs: &mut [Job],
        algorithm: Algorithm,
        direction: Direction,
        items: impl ExactSizeIterator<Item = T>,
        describe: impl FnMut(T, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed>;
}

/// `submit_job_nocheck` for each, then `flush_job` until all are back.
pub(super) struct ByJob;

impl Api for ByJob {
    const NAME: &'static str = "job";

    #[inline]
    unsafe fn run<T>(
        manager: &mut Manager,
        _jobs: &mut [Job],
        _algorithm: Algorithm,
        _direction: Direction,
        items: impl ExactSizeIterator<Item = T>,
        describe: impl FnMut(T, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        // SAFETY: the caller vouches for it.
        unsafe { manager.jobs(items, describe) }
    }
}

/// `submit_burst_nocheck` for up to [`BURST`], then `flush_burst` until these are back.
pub(super) struct Burst;

impl Api for Burst {
    const NAME: &'static str = "burst";

    #[inline]
    unsafe fn run<T>(
        manager: &mut Manager,
        _jobs: &mut [Job],
        _algorithm: Algorithm,
        _direction: Direction,
        items: impl ExactSizeIterator<Item = T>,
        describe: impl FnMut(T, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        // SAFETY: the caller vouches for it.
        unsafe { manager.bursts(items, describe) }
    }
}

/// `submit_cipher_burst_nocheck` for up to [`BURST`]: AES in CBC and CTR.
pub(super) struct CipherBurst;

impl Api for CipherBurst {
    const NAME: &'static str = "cipher-burst";
    const IS_PREPARED: bool = true;

    #[inline]
    unsafe fn run<T>(
        manager: &mut Manager,
        jobs: &mut [Job],
        algorithm: Algorithm,
        direction: Direction,
        mut items: impl ExactSizeIterator<Item = T>,
        mut describe: impl FnMut(T, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        while items.len() > 0 {
            let jobs = jobs.get_mut(..items.len().min(BURST)).ok_or(Failed)?;
            for (item, job) in items.by_ref().take(jobs.len()).zip(jobs.iter_mut()) {
                describe(item, job)?;
            }
            // SAFETY: the caller vouches for it.
            unsafe { manager.cipher_burst(jobs, algorithm, direction) }?;
        }
        Ok(())
    }
}

impl Manager {
    /// Runs a job for each of `items`, handed over one by one; `describe` fills each in. After the
    /// first that it refuses no more are handed over.
    ///
    /// # Errors
    ///
    /// [`Failed`] when `describe` did, or the library did not complete a job.
    ///
    /// # Safety
    ///
    /// A described job has an algorithm, keys of it, and an IV as long as said; what it points to is
    /// valid until this returns, and its data are whole blocks where the algorithm takes no others.
    /// `describe` does not panic.
    #[inline]
    pub(super) unsafe fn jobs<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut describe: impl FnMut(T, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let (mut flying, mut result) = (0, Ok(()));
        for item in items {
            // SAFETY: the manager is there.
            let place = unsafe { (self.functions.next_job.0)(self.manager) };
            // SAFETY: the place is in the manager, which keeps it free until the job is submitted.
            let job = unsafe { &mut *place };
            if describe(item, job).is_err() {
                result = Err(Failed);
                break;
            }
            // SAFETY: the job is described, and the caller vouches for what it points to.
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

    /// The same, handed over in bursts. One is finished before the next begins: 1.3.0 miscounts a
    /// queue whose jobs go round its end, and would give back jobs that it never had. An empty
    /// queue begins anew, and holds two bursts.
    ///
    /// # Errors
    ///
    /// As for [`Manager::jobs`].
    ///
    /// # Safety
    ///
    /// As for [`Manager::jobs`].
    #[inline]
    pub(super) unsafe fn bursts<T>(
        &mut self,
        mut items: impl ExactSizeIterator<Item = T>,
        mut describe: impl FnMut(T, &mut Job) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        while items.len() > 0 {
            let count = items.len().min(BURST);
            Failed::unless(self.next_burst(count) == count)?;
            let (mut flying, mut result) = (0, Ok(()));
            for (item, place) in items.by_ref().take(count).zip(self.places.iter()) {
                // SAFETY: the place is in the manager, which keeps it free until it is submitted.
                let job = unsafe { &mut **place };
                if describe(item, job).is_err() {
                    result = Err(Failed);
                    break;
                }
                flying += 1;
            }
            if flying > 0 {
                // SAFETY: the jobs are described, and the caller vouches for what they point to.
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

    /// Puts the places of the next jobs into `places`; returns how many are free.
    #[inline]
    fn next_burst(&mut self, count: usize) -> usize {
        let (next, places) = (self.functions.next_burst.0, self.places.as_mut_ptr());
        // SAFETY: as many places as asked for.
        unsafe { next(self.manager, short(count), places) as usize }
    }

    /// Hands over the first jobs of `places`, and puts there those that are done, as many as are
    /// returned.
    ///
    /// # Safety
    ///
    /// The jobs are those that [`Manager::next_burst`] named last, described.
    #[inline]
    unsafe fn submit_burst(&mut self, count: usize) -> usize {
        let (submit, places) = (self.functions.submit_burst.0, self.places.as_mut_ptr());
        // SAFETY: the caller vouches for the jobs; no more of them are done than are submitted.
        unsafe { submit(self.manager, short(count), places) as usize }
    }

    /// Puts jobs into `places` that are done, and returns how many; none when there are no more.
    #[inline]
    fn flush_burst(&mut self) -> usize {
        let (flush, places) = (self.functions.flush_burst.0, self.places.as_mut_ptr());
        // SAFETY: as many places as asked for.
        unsafe { flush(self.manager, short(BURST), places) as usize }
    }

    /// Whether so many jobs of `places`, which are back of those `flying`, were completed.
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

    /// Runs the jobs, of which each has its message; up to [`BURST`] of one algorithm.
    ///
    /// # Errors
    ///
    /// [`Failed`] when the library did not complete all.
    ///
    /// # Safety
    ///
    /// As for [`Manager::jobs`], and the algorithm is one that [`CipherBurst`] knows.
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
        // SAFETY: as many jobs as said; the caller vouches for what they point to.
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
