//! Packets to a cipher with authentication, as a row repeats them.
//!
//! Before a row is timed, and after, forged packets have to be refused, and known ones are sealed
//! or opened by the same calls; all of the answer is compared with the portable kernel's. What it
//! is timed with changes from batch to batch: other nonces, the sessions in another order. What is
//! sealed was sealed before; what is opened is sealed for each batch, outside of its time.

use std::sync::Arc;

use lanecrypt_ciphers::{Algorithm, Isa};
use lanecrypt_peers::{Aead, Direction, Failed, Packet};

use super::known;
use crate::ciphers::Contender;
use crate::ciphers::sessions::{self, LINE, SESSIONS, in_order, shuffle, stride};
use crate::row::{Arena, Work};
use crate::verify::Defect;

/// Bytes of a tag.
const TAG: usize = 16;
/// Between the buffers that are written and those that are read: were both at the same offset of a
/// page, the processor would take loads for dependent on stores, and wait.
const GAP: usize = 33 * LINE;

/// Messages of one size, again and again.
pub(crate) struct Packets {
    aead: Box<dyn Aead>,
    /// Sessions for forged packets, where `aead` only seals.
    opener: Option<Box<dyn Aead>>,
    algorithm: Algorithm,
    direction: Direction,
    size: usize,
    /// Whether each message brings its key.
    is_fresh: bool,
    keys: Vec<Vec<u8>>,
    nonces: Vec<Vec<u8>>,
    aads: Vec<Vec<u8>>,
    tags: Vec<[u8; TAG]>,
    /// The sessions, shuffled.
    order: Vec<usize>,
    /// Batches so far; each has its own nonces and order.
    round: u64,
}

impl Packets {
    pub(crate) fn new(
        contender: &Contender<dyn Aead>,
        direction: Direction,
        size: usize,
        is_fresh: bool,
    ) -> Option<Self> {
        let algorithm = contender.algorithm();
        let keys = known::keys(algorithm)?;
        let mut first: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        if is_fresh {
            // Who keeps the key that is there shows.
            first.rotate_left(1);
        }
        let aead = contender.open(direction, &first)?;
        let opener = match direction {
            Direction::Encrypt => Some(contender.open(Direction::Decrypt, &first)?),
            Direction::Decrypt => None,
        };
        Some(Self {
            aead,
            opener,
            algorithm,
            direction,
            size,
            is_fresh,
            nonces: known::nonces(algorithm, 0),
            aads: known::aads(),
            tags: vec![[0; TAG]; SESSIONS],
            order: (0..SESSIONS).collect(),
            round: 0,
            keys,
        })
    }

    /// How much memory the buffers of one kind take.
    const fn extent(&self) -> usize {
        SESSIONS * stride(self.size)
    }

    /// The buffers that are written, and those that sealed messages are read from.
    fn memory<'a>(&self, arena: &'a mut Arena) -> (&'a mut [u8], &'a mut [u8]) {
        let extent = self.extent();
        let (data, rest) = arena.slice(2 * extent + GAP).split_at_mut(extent);
        (data, &mut rest[GAP..])
    }

    /// Makes so many requests.
    fn requests(&mut self, arena: &mut Arena, requests: usize) -> Result<(), Failed> {
        let (data, sealed) = self.memory(arena);
        let Self { nonces, aads, tags, size, .. } = self;
        let mut batch = in_order(packets(data, sealed, *size, nonces, aads, tags), &self.order);
        let keys = in_order(self.keys.iter().map(Vec::as_slice), &self.order);
        match (self.direction, self.is_fresh) {
            (Direction::Encrypt, false) => self.aead.seal(&mut batch, requests),
            (Direction::Encrypt, true) => self.aead.seal_rekeyed(&mut batch, &keys, requests),
            (Direction::Decrypt, false) => self.aead.open(&mut batch, requests),
            (Direction::Decrypt, true) => self.aead.open_rekeyed(&mut batch, &keys, requests),
        }
    }

    /// Makes everything as it is in a known question.
    fn ask(&mut self) -> Result<Arc<known::Sealed>, Failed> {
        self.order = (0..SESSIONS).collect();
        shuffle(&mut self.order, 1);
        self.nonces = known::nonces(self.algorithm, 0);
        known::answer(self.algorithm, self.size)
    }

    /// Whether known questions get the portable kernel's answers.
    fn answers(&mut self, arena: &mut Arena) -> Result<bool, Failed> {
        let known = self.ask()?;
        let plain: Vec<u8> = (0..SESSIONS).flat_map(|s| sessions::data(s, self.size)).collect();
        let (data, sealed) = self.memory(arena);
        let right = match self.direction {
            Direction::Encrypt => {
                put(&plain, data, self.size);
                self.tags.fill([0; TAG]);
                &known.messages
            }
            Direction::Decrypt => {
                data.fill(0);
                put(&known.messages, sealed, self.size);
                self.tags.clone_from(&known.tags);
                &plain
            }
        };
        self.requests(arena, SESSIONS)?;
        let (data, _) = self.memory(arena);
        let same = sessions::buffers(data, self.size).eq(right.chunks_exact(self.size));
        Ok(same && self.tags == known.tags)
    }

    /// Whether it opens a packet, but refuses it with any bit changed: one in each byte of the tag,
    /// and some in the message, the associated data and the nonce.
    fn refuses(&mut self, arena: &mut Arena) -> Result<bool, Failed> {
        let known = self.ask()?;
        let (data, sealed) = self.memory(arena);
        put(&known.messages, sealed, self.size);
        self.tags.clone_from(&known.tags);
        let forge = |nonces: &mut [Vec<u8>], aads: &mut [Vec<u8>], tags: &mut [[u8; TAG]]| {
            for session in 1..SESSIONS {
                let bit = 1 << (session % 8);
                match session {
                    ..=TAG => tags[session][session - 1] ^= bit,
                    17..24 => nonces[session][session % 12] ^= bit,
                    24..32 => aads[session][session % 8] ^= bit,
                    _ => {}
                }
            }
        };
        forge(&mut self.nonces, &mut self.aads, &mut self.tags);
        for session in 32..40 {
            let at = session * stride(self.size) + (session - 32) * self.size / 8;
            sealed[at] ^= 1 << (session % 8);
        }
        let Self { nonces, aads, tags, size, keys, .. } = self;
        let aead = self.opener.as_mut().unwrap_or(&mut self.aead);
        let packets = packets(data, sealed, *size, nonces, aads, tags);
        let opened: Vec<bool> = packets
            .zip(keys.iter())
            .take(40)
            .map(|(packet, key)| match self.is_fresh {
                true => aead.open_rekeyed(&mut [packet], &[key], 1).is_ok(),
                false => aead.open(&mut [packet], 1).is_ok(),
            })
            .collect();
        // The first is genuine: who refuses everything has not shown anything.
        forge(&mut self.nonces, &mut self.aads, &mut self.tags);
        match opened.split_first() {
            Some((true, forged)) => Ok(!forged.contains(&true)),
            _ => Err(Failed),
        }
    }

    fn checked(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        match self.refuses(arena) {
            Ok(true) => {}
            Ok(false) => return Err(Defect::Forgery),
            Err(Failed) => return Err(Defect::Failed),
        }
        match self.answers(arena) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Defect::Answer),
            Err(Failed) => Err(Defect::Failed),
        }
    }
}

impl Work for Packets {
    fn begin(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        self.round += 1;
        shuffle(&mut self.order, self.round);
        sessions::renew(&mut self.nonces, self.round);
        if self.direction == Direction::Encrypt {
            return Ok(());
        }
        let (_, sealed) = self.memory(arena);
        let isa = Isa::detect();
        for (session, data) in sessions::buffers(sealed, self.size).enumerate() {
            // What is opened shows in the digest, so it cannot stay the same.
            let end = data.len().min(8);
            sessions::fill((session as u64) << 40 | self.round, &mut data[..end]);
            let [key, nonce, aad] = [&self.keys, &self.nonces, &self.aads].map(|all| &all[session]);
            let tag = known::seal(self.algorithm, isa, key, nonce, aad, data);
            self.tags[session] = tag.or(Err(Defect::Failed))?;
        }
        Ok(())
    }

    fn run(&mut self, arena: &mut Arena, requests: usize) {
        if self.requests(arena, requests).is_err() {
            panic!("{} failed in the middle of a measurement", self.algorithm);
        }
    }

    fn digest(&mut self, arena: &mut Arena) -> u64 {
        let (data, _) = self.memory(arena);
        sessions::digest(data) ^ sessions::digest(self.tags.as_flattened())
    }

    fn check(&mut self, arena: &mut Arena) -> Result<Vec<u8>, Defect> {
        // Nothing is random here, so nothing has to differ between threads.
        self.checked(arena).map(|()| Vec::new())
    }

    fn check_again(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        self.checked(arena)
    }
}

/// A packet of each session.
fn packets<'a>(
    data: &'a mut [u8],
    sealed: &'a [u8],
    size: usize,
    nonces: &'a [Vec<u8>],
    aads: &'a [Vec<u8>],
    tags: &'a mut [[u8; TAG]],
) -> impl Iterator<Item = Packet<'a>> {
    let buffers = sessions::buffers(data, size).zip(sealed.chunks_exact(stride(size)));
    let rest = nonces.iter().zip(aads).zip(tags);
    buffers.zip(rest).enumerate().map(move |(session, ((data, sealed), ((nonce, aad), tag)))| {
        Packet { session, nonce, aad, data, sealed: &sealed[..size], tag }
    })
}

/// Divides `messages` of `size` bytes among the sessions' buffers.
fn put(messages: &[u8], memory: &mut [u8], size: usize) {
    for (buffer, message) in sessions::buffers(memory, size).zip(messages.chunks_exact(size)) {
        buffer.copy_from_slice(message);
    }
}
