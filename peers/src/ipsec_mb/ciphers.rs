//! AES and DES. There is no context and no message that goes on: whoever cuts one carries the IV
//! himself, which this peer does, and every part is a batch of one.

use core::ffi::c_void;

use super::sessions::Sessions;
use super::{Aes, Algorithm, Api, Des, Expanded, IpsecMb, Job, TripleDes};
use crate::{Cipher, Direction, Failed, Message, Messages, Peer, Run, rounds};

type Found = Result<&'static IpsecMb, String>;

pub(super) fn all(found: &Found) -> Vec<Peer<dyn Cipher>> {
    let aes = [Api::CipherBurst, Api::Burst, Api::Job];
    let des = [Api::Burst, Api::Job];
    let mut peers = Vec::new();
    peers.extend(aes.map(|api| peer::<Aes>(found, api, "aes-128-cbc", Algorithm::AES_CBC)));
    peers.extend(aes.map(|api| peer::<Aes>(found, api, "aes-128-ctr", Algorithm::AES_CTR)));
    peers.extend(des.map(|api| peer::<Des>(found, api, "des-cbc", Algorithm::DES_CBC)));
    peers.extend(
        des.map(|api| peer::<TripleDes>(found, api, "3des-cbc", Algorithm::TRIPLE_DES_CBC)),
    );
    peers
}

fn peer<K: Expanded>(
    found: &Found,
    api: Api,
    name: &'static str,
    algorithm: Algorithm,
) -> Peer<dyn Cipher> {
    let names = ["ipsec-mb", api.name(), name];
    Peer::<dyn Cipher>::new(names, found, move |library, direction, keys| {
        Some(Box::new(Sessions::<K>::new(library, api, algorithm, direction, keys)?))
    })
    .in_batches()
}

/// Bytes of a message in CBC at most.
const LONGEST: usize = 65_534;

impl<K: Expanded> Messages<Message<'_>> for Sessions<K> {
    fn messages(&mut self, messages: &mut [Message<'_>], run: Run<'_>) -> Result<(), Failed> {
        let describe = describe(self.algorithm);
        self.run(messages, run, describe, |_, _| Ok(()))
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
        let (counts, block) = (self.algorithm.counts(), self.algorithm.block());
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
                self.batch(&mut batch, false, describe(self.algorithm))?;
                if counts {
                    let blocks = (data.len() / block) as u128;
                    let counter = iv.as_slice().try_into().map_err(|_| Failed)?;
                    let counter = u128::from_be_bytes(counter).wrapping_add(blocks);
                    iv.copy_from_slice(&counter.to_be_bytes());
                } else if self.direction == Direction::Decrypt {
                    iv.copy_from_slice(&last);
                } else if let Some(block) = data.rchunks_exact(block).next() {
                    iv.copy_from_slice(block);
                }
            }
        }
        Ok(())
    }

    /// There is nothing to set: an IV is part of a job.
    fn set_ivs(&mut self, _iv: &[u8], _times: usize) -> Result<(), Failed> {
        Err(Failed)
    }

    fn set_keys(&mut self, keys: &[&[u8]], times: usize) -> Result<(), Failed> {
        let place = self.keys.first_mut().ok_or(Failed)?;
        rounds(keys.len(), times, |count| {
            for key in &keys[..count] {
                place.set(&self.manager, key)?;
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

/// Describes a job of a message, unless the library would not do it right.
#[inline]
fn describe(
    algorithm: Algorithm,
) -> impl Fn(&mut Message<'_>, &mut [u8; 16], [*const c_void; 2], &mut Job) -> Result<(), Failed> {
    let (counts, block) = (algorithm.counts(), algorithm.block());
    move |message, _, key, job| {
        check(counts, block, message)?;
        let (data, len) = (message.data.as_mut_ptr(), message.data.len());
        job.message(key, message.iv, data, data, len);
        Ok(())
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
