//! Peer: AES of Intel's IPsec-MB, by bursts of ciphers without checks, the fastest of its calls.
//!
//! A burst is up to 128 messages, each with its own key and IV; its lanes work on several at once.
//! There is no context and no message that goes on: whoever cuts one carries the IV himself, which
//! this peer does, and every part is a burst of one.

use core::ffi::c_int;

use crate::crypt::rounds;
use crate::ipsec_mb::{self, BURST, CBC, CTR, DECRYPT, ENCRYPT, IpsecMb, Job, Manager, Schedule};
use crate::{Cipher, CipherPeer, Direction, Failed, Message, PeerLibraries};

pub(crate) fn ciphers(libraries: &PeerLibraries) -> [CipherPeer; 2] {
    let library = ipsec_mb::library(libraries);
    [("aes-128-cbc", CBC), ("aes-128-ctr", CTR)].map(|(algorithm, mode)| {
        let names = ["ipsec-mb", "cipher-burst", algorithm];
        match &library {
            Ok(library) => {
                let library = *library;
                CipherPeer::made(names, library.version.clone(), move |direction, keys| {
                    let bursts = Bursts::new(library, mode, direction, keys)?;
                    Some(Box::new(bursts))
                })
            }
            Err(hint) => CipherPeer::missing(names, hint),
        }
    })
}

/// Bytes of a message in CBC at most.
const LONGEST: usize = 65_534;

/// Sessions that share a manager.
struct Bursts {
    run: Run,
    /// Of the sessions.
    schedules: Vec<[Schedule; 2]>,
    /// Of the messages of one burst, for those that set keys.
    fresh: Vec<[Schedule; 2]>,
}

impl Bursts {
    fn new(
        library: &'static IpsecMb,
        mode: c_int,
        direction: Direction,
        keys: &[&[u8]],
    ) -> Option<Self> {
        let direction = match direction {
            // Counter mode encrypts its counter either way.
            Direction::Decrypt if mode == CBC => DECRYPT,
            _ => ENCRYPT,
        };
        if keys.is_empty() {
            return None;
        }
        let manager = Manager::new(library)?;
        let mut schedules = vec![Schedule::EMPTY; keys.len()];
        for (key, schedule) in keys.iter().zip(&mut schedules) {
            manager.expand((*key).try_into().ok()?, schedule);
        }
        let run = Run { manager, mode, direction, jobs: vec![Job::EMPTY; BURST] };
        Some(Self { run, schedules, fresh: vec![Schedule::EMPTY; BURST] })
    }

    fn first(&mut self) -> Result<&mut [Schedule; 2], Failed> {
        self.schedules.first_mut().ok_or(Failed)
    }
}

impl Cipher for Bursts {
    fn chunks(
        &mut self,
        iv: &[u8],
        data: &mut [u8],
        chunk: usize,
        times: usize,
    ) -> Result<(), Failed> {
        let schedule = pointers(self.first()?);
        let mut iv: [u8; 16] = iv.try_into().map_err(|_| Failed)?;
        if chunk == 0 {
            return Err(Failed);
        }
        let mut ended = false;
        for _ in 0..times {
            for data in data.chunks_mut(chunk) {
                Failed::unless(!ended)?;
                ended = !data.len().is_multiple_of(16);
                let last = data.last_chunk().copied();
                let mut burst = [Message { session: 0, iv: &iv, data: &mut *data }];
                self.run.burst(&mut burst, |_, _| Ok(schedule))?;
                iv = match (self.run.mode, self.run.direction) {
                    (CTR, _) => {
                        let blocks = (data.len() / 16) as u128;
                        u128::from_be_bytes(iv).wrapping_add(blocks).to_be_bytes()
                    }
                    (_, ENCRYPT) => data.last_chunk().copied().unwrap_or(iv),
                    _ => last.unwrap_or(iv),
                };
            }
        }
        Ok(())
    }

    fn messages(&mut self, batch: &mut [Message<'_>], requests: usize) -> Result<(), Failed> {
        let Self { run, schedules, .. } = self;
        rounds(batch.len(), requests, |count| {
            for burst in batch[..count].chunks_mut(BURST) {
                run.burst(burst, |_, session| schedules.get(session).map(pointers).ok_or(Failed))?;
            }
            Ok(())
        })
    }

    fn messages_rekeyed(
        &mut self,
        batch: &mut [Message<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        let Self { run, fresh, .. } = self;
        let mut keys = keys.iter().cycle();
        rounds(batch.len(), requests, |count| {
            for burst in batch[..count].chunks_mut(BURST) {
                for schedule in fresh.iter_mut().take(burst.len()) {
                    let key = keys.next().ok_or(Failed)?;
                    run.manager.expand((*key).try_into().map_err(|_| Failed)?, schedule);
                }
                run.burst(burst, |at, _| fresh.get(at).map(pointers).ok_or(Failed))?;
            }
            Ok(())
        })
    }

    /// There is nothing to set: an IV is part of a job.
    fn set_ivs(&mut self, _iv: &[u8], _times: usize) -> Result<(), Failed> {
        Err(Failed)
    }

    fn set_keys(&mut self, keys: &[&[u8]], times: usize) -> Result<(), Failed> {
        let Self { run, schedules, .. } = self;
        let schedule = schedules.first_mut().ok_or(Failed)?;
        rounds(keys.len(), times, |count| {
            for key in &keys[..count] {
                run.manager.expand((*key).try_into().map_err(|_| Failed)?, schedule);
            }
            Ok(())
        })
    }

    /// There are no contexts; a manager is made once a thread.
    fn open(&mut self, _keys: &[&[u8]], _iv: &[u8], _times: usize) -> Result<(), Failed> {
        Err(Failed)
    }

    fn fetch(&mut self, _times: usize) -> Result<(), Failed> {
        Err(Failed)
    }
}

/// What runs bursts.
struct Run {
    manager: Manager,
    mode: c_int,
    direction: c_int,
    jobs: Vec<Job>,
}

impl Run {
    /// Runs messages, up to [`BURST`]. `schedule` tells the expanded key of each, by its place in
    /// the burst and its session; it stays where it is until the burst has run.
    #[inline]
    fn burst(
        &mut self,
        messages: &mut [Message<'_>],
        schedule: impl Fn(usize, usize) -> Result<[*const Schedule; 2], Failed>,
    ) -> Result<(), Failed> {
        let jobs = self.jobs.get_mut(..messages.len()).ok_or(Failed)?;
        for (at, (job, message)) in jobs.iter_mut().zip(messages.iter_mut()).enumerate() {
            check(self.mode, message)?;
            [job.encrypt_key, job.decrypt_key] = schedule(at, message.session)?;
            job.dst = message.data.as_mut_ptr();
            job.src = job.dst;
            job.len = message.data.len() as u64;
            job.iv = message.iv.as_ptr();
        }
        // SAFETY: the messages are borrowed here, `check` has seen their lengths, and the callers
        // keep the keys.
        Failed::unless(unsafe { self.manager.burst(jobs, self.mode, self.direction) })
    }
}

// SAFETY: the pointers in the jobs are used inside calls only, which set them first.
unsafe impl Send for Run {}

/// Where both directions of an expanded key are.
#[inline]
const fn pointers([encrypt, decrypt]: &[Schedule; 2]) -> [*const Schedule; 2] {
    [encrypt, decrypt]
}

/// Whether the library, which does not look, may be given the message. Its lanes of CBC know lengths
/// of 16 bits; its counters have 32.
#[inline]
fn check(mode: c_int, message: &Message<'_>) -> Result<(), Failed> {
    let [.., a, b, c, d] = *<&[u8; 16]>::try_from(message.iv).map_err(|_| Failed)?;
    let (blocks, rest) = (message.data.len() / 16, message.data.len() % 16);
    let counter = u32::from_be_bytes([a, b, c, d]);
    Failed::unless(if mode == CBC {
        rest == 0 && message.data.len() <= LONGEST
    } else {
        u32::try_from(blocks).is_ok_and(|blocks| counter.checked_add(blocks).is_some())
    })
}
