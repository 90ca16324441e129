//! AES and DES. There is no context, and no call continues a message: a caller that splits one
//! keeps the IV itself. This peer does that, and each part is a batch of one.

use core::ffi::c_void;

use super::sessions::{Keys, Runner, Sessions};
use super::submit::{Api, Burst, ByJob, CipherBurst};
use super::{Aes, Algorithm, Des, Expanded, IpsecMb, Job, TripleDes};
use crate::{Cipher, Direction, Failed, Message, Messages, Peer, Run, rounds};

pub(super) fn all(found: &Result<&'static IpsecMb, String>) -> Vec<Peer<dyn Cipher>> {
    let mut peers = Vec::new();
    for (name, algorithm) in
        [("aes-128-cbc", Algorithm::AES_CBC), ("aes-128-ctr", Algorithm::AES_CTR)]
    {
        peers.push(peer::<Aes, CipherBurst>(found, name, algorithm));
        peers.push(peer::<Aes, Burst>(found, name, algorithm));
        peers.push(peer::<Aes, ByJob>(found, name, algorithm));
    }
    peers.push(peer::<Des, Burst>(found, "des-cbc", Algorithm::DES_CBC));
    peers.push(peer::<Des, ByJob>(found, "des-cbc", Algorithm::DES_CBC));
    peers.push(peer::<TripleDes, Burst>(found, "3des-cbc", Algorithm::TRIPLE_DES_CBC));
    peers.push(peer::<TripleDes, ByJob>(found, "3des-cbc", Algorithm::TRIPLE_DES_CBC));
    peers
}

fn peer<K: Expanded, A: Api>(
    found: &Result<&'static IpsecMb, String>,
    name: &'static str,
    algorithm: Algorithm,
) -> Peer<dyn Cipher> {
    let names = ["ipsec-mb", A::NAME, name];
    Peer::<dyn Cipher>::new(names, found, move |library, direction, keys| {
        Some(Box::new(Sessions::<K, A>::new(library, algorithm, direction, keys)?))
    })
    .in_batches()
}

/// The longest message in CBC, in bytes.
const LONGEST: usize = 65_534;

impl<K: Expanded, A: Api> Messages<Message<'_>> for Sessions<K, A> {
    fn messages(&mut self, messages: &mut [Message<'_>], run: Run<'_>) -> Result<(), Failed> {
        let direction = self.direction;
        self.run(messages, run, |runner, part, keys, _| {
            together(runner, direction, part, |place, session| keys.of(place, session))
        })
    }
}

impl<K: Expanded, A: Api> Cipher for Sessions<K, A> {
    fn chunks(
        &mut self,
        iv: &[u8],
        data: &mut [u8],
        chunk: usize,
        times: usize,
    ) -> Result<(), Failed> {
        let Self { runner, direction, keys, .. } = self;
        let (counts, block) = (runner.algorithm.counts(), runner.algorithm.block());
        let key = Keys::kept(keys).of(0, 0)?;
        Failed::unless(chunk != 0 && iv.len() == block)?;
        let mut iv = iv.to_vec();
        let mut last = iv.clone();
        let mut ended = false;
        for _ in 0..times {
            for data in data.chunks_mut(chunk) {
                Failed::unless(!ended)?;
                ended = !data.len().is_multiple_of(block);
                if let Some(block) = data.rchunks_exact(block).next() {
                    last.copy_from_slice(block);
                }
                let mut batch = [Message { session: 0, iv: &iv, data: &mut *data }];
                together(runner, *direction, &mut batch, |_, _| Ok(key))?;
                if counts {
                    let blocks = (data.len() / block) as u128;
                    let counter = iv.as_slice().try_into().map_err(|_| Failed)?;
                    let counter = u128::from_be_bytes(counter).wrapping_add(blocks);
                    iv.copy_from_slice(&counter.to_be_bytes());
                } else if *direction == Direction::Decrypt {
                    iv.copy_from_slice(&last);
                } else if let Some(block) = data.rchunks_exact(block).next() {
                    iv.copy_from_slice(block);
                }
            }
        }
        Ok(())
    }

    // An IV is part of a job, there are no contexts, and a manager is made once for each thread.

    fn set_keys(&mut self, keys: &[&[u8]], times: usize) -> Result<(), Failed> {
        let place = self.keys.first_mut().ok_or(Failed)?;
        rounds(keys.len(), times, |count| {
            for key in &keys[..count] {
                place.set(&self.runner.manager, key)?;
            }
            Ok(())
        })
    }
}

/// Runs messages as one batch. `key` returns the key of each, by its position and its session. The
/// key must stay in place until the batch has run.
#[inline(always)]
fn together<A: Api>(
    runner: &mut Runner<A>,
    direction: Direction,
    messages: &mut [Message<'_>],
    key: impl Fn(usize, usize) -> Result<[*const c_void; 2], Failed>,
) -> Result<(), Failed> {
    let algorithm = runner.algorithm;
    let (counts, block) = (algorithm.counts(), algorithm.block());
    let count = messages.len();
    let describe = |place: usize, job: &mut Job| {
        let message = messages.get_mut(place).ok_or(Failed)?;
        check(counts, block, message)?;
        let (data, len) = (message.data.as_mut_ptr(), message.data.len());
        let key = key(place, message.session)?;
        if !A::IS_PREPARED {
            job.algorithm(algorithm, direction);
        }
        job.message(key, message.iv, data, data, len);
        Ok(())
    };
    // SAFETY: the messages are borrowed here, `check` has checked their lengths, and the keys stay
    // in place.
    unsafe { runner.batch(direction, count, describe) }
}

/// Whether the library, which does not check, may get the message. Its lanes of CBC have lengths of
/// 16 bits, and its counters have 32 bits. An empty message is an error of the calls that check.
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
