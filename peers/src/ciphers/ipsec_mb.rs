//! Peer: AES and DES of Intel's IPsec-MB, without checks, by jobs (`job`), by bursts of jobs
//! (`burst`) and by bursts of one cipher (`cipher-burst`), the fastest, which are AES only.
//!
//! A job is a message with its own key and IV; lanes work on several at once, so that all that a
//! caller has at hand go out before the first is back. There is no context and no message that
//! goes on: whoever cuts one carries the IV himself, which this peer does, and every part is a
//! batch of one.

use core::ffi::c_void;
use core::iter;

use crate::crypt::rounds;
use crate::ipsec_mb::{
    self, Aes, Algorithm, Api, BURST, Des, Expanded, IpsecMb, Job, Manager, TripleDes,
};
use crate::{Cipher, CipherPeer, Direction, Failed, Message, PeerLibraries};

pub(crate) fn ciphers(libraries: &PeerLibraries) -> Vec<CipherPeer> {
    let library = ipsec_mb::library(libraries);
    let aes = [Api::CipherBurst, Api::Burst, Api::Job];
    let des = [Api::Burst, Api::Job];
    let mut peers = Vec::new();
    peers.extend(aes.map(|api| peer::<Aes>(&library, api, "aes-128-cbc", Algorithm::AES_CBC)));
    peers.extend(aes.map(|api| peer::<Aes>(&library, api, "aes-128-ctr", Algorithm::AES_CTR)));
    peers.extend(des.map(|api| peer::<Des>(&library, api, "des-cbc", Algorithm::DES_CBC)));
    peers.extend(
        des.map(|api| peer::<TripleDes>(&library, api, "3des-cbc", Algorithm::TRIPLE_DES_CBC)),
    );
    peers
}

fn peer<K: Expanded>(
    library: &Result<&'static IpsecMb, String>,
    api: Api,
    name: &'static str,
    algorithm: Algorithm,
) -> CipherPeer {
    let names = ["ipsec-mb", api.name(), name];
    match *library {
        Ok(library) => CipherPeer::made(names, library.version.clone(), move |direction, keys| {
            Some(Box::new(Sessions::<K>::new(library, api, algorithm, direction, keys)?))
        }),
        Err(ref hint) => CipherPeer::missing(names, hint),
    }
    .in_batches()
}

/// Bytes of a message in CBC at most.
const LONGEST: usize = 65_534;

/// Sessions that share a manager.
struct Sessions<K> {
    run: Run,
    /// Of the sessions.
    keys: Vec<K>,
    /// Of the messages of one batch, for those that set keys.
    fresh: Vec<K>,
}

impl<K: Expanded> Sessions<K> {
    fn new(
        library: &'static IpsecMb,
        api: Api,
        algorithm: Algorithm,
        direction: Direction,
        keys: &[&[u8]],
    ) -> Option<Self> {
        if keys.is_empty() {
            return None;
        }
        let run = Run::new(Manager::new(library)?, api, algorithm, direction);
        let mut expanded: Vec<K> = iter::repeat_with(K::empty).take(keys.len()).collect();
        for (&key, place) in keys.iter().zip(&mut expanded) {
            place.set(&run.manager, key).ok()?;
        }
        Some(Self { run, keys: expanded, fresh: Vec::new() })
    }
}

impl<K: Expanded> Cipher for Sessions<K> {
    fn chunks(
        &mut self,
        iv: &[u8],
        data: &mut [u8],
        chunk: usize,
        times: usize,
    ) -> Result<(), Failed> {
        let Self { run, keys, .. } = self;
        let key = keys.first().ok_or(Failed)?.pointers();
        Failed::unless(chunk != 0 && iv.len() == run.block)?;
        let mut iv = iv.to_vec();
        let mut last = iv.clone();
        let mut ended = false;
        for _ in 0..times {
            for data in data.chunks_mut(chunk) {
                Failed::unless(!ended)?;
                ended = !data.len().is_multiple_of(run.block);
                if let Some(block) = data.rchunks_exact(run.block).next() {
                    last.copy_from_slice(block);
                }
                let mut batch = [Message { session: 0, iv: &iv, data: &mut *data }];
                run.batch(&mut batch, |_, _| Some(key))?;
                if run.counts() {
                    let blocks = (data.len() / run.block) as u128;
                    let counter = iv.as_slice().try_into().map_err(|_| Failed)?;
                    let counter = u128::from_be_bytes(counter).wrapping_add(blocks);
                    iv.copy_from_slice(&counter.to_be_bytes());
                } else if run.direction == Direction::Decrypt {
                    iv.copy_from_slice(&last);
                } else if let Some(block) = data.rchunks_exact(run.block).next() {
                    iv.copy_from_slice(block);
                }
            }
        }
        Ok(())
    }

    /// In batches of 128, as many as a burst has at most.
    fn messages(&mut self, batch: &mut [Message<'_>], requests: usize) -> Result<(), Failed> {
        self.batches(batch, BURST, requests)
    }

    /// In batches of 128. The sessions keep their keys.
    fn messages_rekeyed(
        &mut self,
        batch: &mut [Message<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        self.batches_rekeyed(batch, keys, BURST, requests)
    }

    fn batches(
        &mut self,
        messages: &mut [Message<'_>],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        Failed::unless(batch != 0)?;
        let Self { run, keys, .. } = self;
        rounds(messages.len(), requests, |count| {
            for batch in messages[..count].chunks_mut(batch) {
                run.batch(batch, |_, session| keys.get(session).map(K::pointers))?;
            }
            Ok(())
        })
    }

    fn batches_rekeyed(
        &mut self,
        messages: &mut [Message<'_>],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        Failed::unless(batch != 0)?;
        let Self { run, fresh, .. } = self;
        if fresh.len() < batch.min(messages.len()) {
            fresh.resize_with(batch.min(messages.len()), K::empty);
        }
        let mut keys = keys.iter().cycle();
        rounds(messages.len(), requests, |count| {
            for batch in messages[..count].chunks_mut(batch) {
                for place in fresh.iter_mut().take(batch.len()) {
                    place.set(&run.manager, keys.next().ok_or(Failed)?)?;
                }
                run.batch(batch, |at, _| fresh.get(at).map(K::pointers))?;
            }
            Ok(())
        })
    }

    /// There is nothing to set: an IV is part of a job.
    fn set_ivs(&mut self, _iv: &[u8], _times: usize) -> Result<(), Failed> {
        Err(Failed)
    }

    fn set_keys(&mut self, keys: &[&[u8]], times: usize) -> Result<(), Failed> {
        let place = self.keys.first_mut().ok_or(Failed)?;
        rounds(keys.len(), times, |count| {
            for key in &keys[..count] {
                place.set(&self.run.manager, key)?;
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

/// What runs batches.
struct Run {
    manager: Manager,
    api: Api,
    algorithm: Algorithm,
    direction: Direction,
    /// In bytes; also the IV's size.
    block: usize,
    /// For bursts of one cipher, whose jobs are the caller's.
    jobs: Vec<Job>,
}

impl Run {
    fn new(manager: Manager, api: Api, algorithm: Algorithm, direction: Direction) -> Self {
        let block = algorithm.iv_len.into();
        let mut made = Self { manager, api, algorithm, direction, block, jobs: Vec::new() };
        if made.counts() {
            // Counter mode encrypts its counter either way.
            made.direction = Direction::Encrypt;
        }
        let mut job = Job::EMPTY;
        job.algorithm(algorithm, made.direction);
        made.jobs.resize(BURST, job);
        made
    }

    /// Whether this is counter mode.
    #[inline]
    const fn counts(&self) -> bool {
        self.algorithm.cipher == Algorithm::AES_CTR.cipher
    }

    /// Runs messages as one batch. `key` tells the expanded key of each, by its place in the batch
    /// and its session; it stays where it is until the batch has run.
    #[inline]
    fn batch(
        &mut self,
        messages: &mut [Message<'_>],
        key: impl Fn(usize, usize) -> Option<[*const c_void; 2]>,
    ) -> Result<(), Failed> {
        let (algorithm, direction) = (self.algorithm, self.direction);
        let (counts, block) = (self.counts(), self.block);
        let describe = |(at, message): (usize, &mut Message<'_>), job: &mut Job| {
            check(counts, block, message)?;
            let key = key(at, message.session).ok_or(Failed)?;
            let (data, len) = (message.data.as_mut_ptr(), message.data.len());
            job.message(key, message.iv, data, data, len);
            Ok(())
        };
        let fill = |item: (usize, &mut Message<'_>), job: &mut Job| {
            job.algorithm(algorithm, direction);
            describe(item, job)
        };
        let messages = messages.iter_mut().enumerate();
        match self.api {
            // SAFETY: the messages are borrowed here, `check` has seen their lengths, and the
            // callers keep the keys. Nothing panics.
            Api::Job => unsafe { self.manager.jobs(messages, fill) },
            // SAFETY: as above.
            Api::Burst => unsafe { self.manager.bursts(messages, fill) },
            Api::CipherBurst => {
                let mut messages = messages;
                while messages.len() > 0 {
                    let count = messages.len().min(BURST);
                    let jobs = self.jobs.get_mut(..count).ok_or(Failed)?;
                    for (item, job) in messages.by_ref().take(count).zip(jobs.iter_mut()) {
                        describe(item, job)?;
                    }
                    // SAFETY: as above; the algorithm is AES.
                    unsafe { self.manager.cipher_burst(jobs, algorithm, direction) }?;
                }
                Ok(())
            }
        }
    }
}

/// Whether the library, which does not look, may be given the message. Its lanes of CBC know lengths
/// of 16 bits; its counters have 32; nothing to do is an error of the calls that look.
#[inline]
fn check(counts: bool, block: usize, message: &Message<'_>) -> Result<(), Failed> {
    let len = message.data.len();
    Failed::unless(message.iv.len() == block && len != 0)?;
    if !counts {
        return Failed::unless(len & (block - 1) == 0 && len <= LONGEST);
    }
    let counter = u32::from_be_bytes(*message.iv.last_chunk().ok_or(Failed)?);
    let blocks = u32::try_from(len / 16).map_err(|_| Failed)?;
    Failed::unless(counter.checked_add(blocks).is_some())
}
