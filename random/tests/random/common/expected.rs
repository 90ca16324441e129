//! What a generator that rekeys must give out.

use lanecrypt_kernels::{Isa, StreamCore};
use lanecrypt_random::SeedCore;

use super::numbered::Numbered;

/// The stream of a generator over a [`Numbered`] core: `interval` bytes of each key.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) key: u32,
    /// Bytes of that key given out so far.
    pub(crate) position: u64,
    pub(crate) interval: u64,
}

impl Keys {
    /// Moves over `bytes`, if they are what comes next.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.position >= self.interval {
                self.key += 1;
                self.position = 0;
            }
            let room = usize::try_from(self.interval - self.position).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at(room.min(rest.len()));
            let wanted = stream(self.key, self.position, now.len());
            if let Some(at) = now.iter().zip(&wanted).position(|(now, wanted)| now != wanted) {
                let (key, position) = (self.key, self.position + at as u64);
                return Err(format!("byte {position} of key {key} is missing: {self:?}"));
            }
            self.position += now.len() as u64;
            rest = later;
        }
        Ok(())
    }
}

/// Bytes of one key of a [`Numbered`] core.
fn stream(key: u32, position: u64, length: usize) -> Vec<u8> {
    let mut core = Numbered::<1>::new(Isa::PORTABLE, &key, &());
    let mut bytes = vec![0; length];
    core.go_to(position);
    core.keystream(&mut bytes);
    bytes
}

/// The first `interval` bytes under each of `seeds`, one after the other.
pub(crate) fn streams<C: SeedCore>(seeds: &[Vec<u8>], interval: usize) -> Vec<Vec<u8>> {
    let stream = |seed: &Vec<u8>| {
        let seed = seed.as_slice().try_into().expect("seeds have 32 bytes");
        let mut bytes = vec![0; interval];
        C::from_seed(Isa::detect(), seed).keystream(&mut bytes);
        bytes
    };
    seeds.iter().map(stream).collect()
}
