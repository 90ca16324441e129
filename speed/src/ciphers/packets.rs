//! Packets to a cipher with authentication, as a row repeats them.
//!
//! Before and after a row is timed, forged packets must be refused, and known ones are sealed or
//! opened by the same calls; the whole answer is compared with the portable kernel's. The timed
//! packets change from batch to batch: they have other nonces, and the sessions another order.
//! Packets to seal contain the result of earlier batches. Packets to open are sealed before each
//! batch, outside of its time.

use core::mem::swap;
use core::ops::Range;
use std::sync::Arc;

use lanecrypt_ciphers::{Algorithm, Isa};
use lanecrypt_peers::{Aead, Direction, Failed, Packet, Run};

use super::known::{self, Answer, Question};
use super::sessions::{self, LINE, Turns, in_order, shuffle, stride};
use super::{CipherUnderTest, Shape, Sizes};
use crate::row::{Arena, Workload};
use crate::verify::Defect;

/// Bytes of a tag.
const TAG: usize = 16;
/// Sessions whose packets are forged for a test; the first of them have a changed byte of the tag
/// each.
const FORGED: Range<usize> = 1..40;
/// The distance between the written and the read buffers. At the same offset of a page, the
/// processor would take loads for dependent on stores, and wait.
const GAP: usize = 33 * LINE;

/// Messages of one size or of mixed sizes, repeated.
pub(crate) struct Packets {
    aead: Box<dyn Aead>,
    /// Sessions for forged packets, where `aead` only seals.
    opener: Option<Box<dyn Aead>>,
    algorithm: Algorithm,
    direction: Direction,
    shape: Shape,
    turns: Turns,
    aads: Vec<Vec<u8>>,
    tags: Vec<[u8; TAG]>,
}

impl Packets {
    pub(crate) fn new(
        candidate: &CipherUnderTest<dyn Aead>,
        direction: Direction,
        shape: Shape,
    ) -> Option<Self> {
        let algorithm = candidate.algorithm();
        let count = shape.sessions();
        let turns = Turns::new(algorithm, count)?;
        let first = turns.first_keys(shape.is_fresh);
        let aead = candidate.open(direction, &first)?;
        let opener = match direction {
            Direction::Encrypt => Some(candidate.open(Direction::Decrypt, &first)?),
            Direction::Decrypt => None,
        };
        let (aads, tags) = (known::aads(count), vec![[0; TAG]; count]);
        Some(Self { aead, opener, algorithm, direction, shape, turns, aads, tags })
    }

    /// The memory for the buffers of one kind, in bytes.
    fn extent(&self) -> usize {
        self.shape.sessions() * stride(self.shape.sizes)
    }

    /// The buffers that are written, and the buffers with sealed messages that are read.
    fn memory<'a>(&self, arena: &'a mut Arena) -> (&'a mut [u8], &'a mut [u8]) {
        let extent = self.extent();
        let (data, rest) = arena.slice(2 * extent + GAP).split_at_mut(extent);
        (data, &mut rest[GAP..])
    }

    /// Makes this many requests.
    fn requests(&mut self, arena: &mut Arena, requests: usize) -> Result<(), Failed> {
        let (data, sealed) = self.memory(arena);
        let Self { aead, turns, aads, tags, .. } = self;
        let Shape { sizes, batch, is_fresh } = self.shape;
        let all = packets(data, sealed, sizes, &turns.nonces, aads, tags);
        let mut all = in_order(all, &turns.order);
        let keys = turns.keys();
        let run = Run::of(requests).in_batches(batch);
        aead.messages(&mut all, run.with_keys(is_fresh.then_some(&keys)))
    }

    /// Sets all inputs to those of a known question.
    fn ask(&mut self) -> Result<Arc<Answer>, Failed> {
        self.turns.ask();
        shuffle(&mut self.turns.order, 1);
        let question = Question::Messages(self.shape.sizes, self.shape.sessions());
        known::answer(self.algorithm, Direction::Encrypt, question)
    }

    /// Whether known questions get the portable kernel's answers.
    fn answers(&mut self, arena: &mut Arena) -> Result<bool, Failed> {
        let known = self.ask()?;
        let Shape { sizes, .. } = self.shape;
        let count = self.shape.sessions();
        let plain: Vec<u8> = (0..count).flat_map(|s| sessions::data(s, sizes.of(s))).collect();
        let (data, sealed) = self.memory(arena);
        let right = match self.direction {
            Direction::Encrypt => {
                put(&plain, data, sizes);
                self.tags.fill([0; TAG]);
                &known.messages
            }
            Direction::Decrypt => {
                data.fill(0);
                put(&known.messages, sealed, sizes);
                self.tags.clone_from(&known.tags);
                &plain
            }
        };
        self.requests(arena, count)?;
        let (data, _) = self.memory(arena);
        let same = sessions::buffers(data, sizes).eq(sizes.parts(right));
        Ok(same && self.tags == known.tags)
    }

    /// Whether it opens genuine packets and refuses packets with any bit changed: one in each byte
    /// of the tag, and some in the message, the associated data and the nonce. Both kinds are in
    /// one batch, in any order.
    fn refuses(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        let known = self.ask()?;
        let (data, sealed) = self.memory(arena);
        data.fill(0);
        put(&known.messages, sealed, self.shape.sizes);
        self.tags.clone_from(&known.tags);
        self.forge(sealed);
        let Self { turns, aads, tags, shape, .. } = self;
        let Turns { keys, nonces, order, .. } = turns;
        let Shape { sizes, batch, is_fresh } = *shape;
        let aead = self.opener.as_mut().unwrap_or(&mut self.aead);
        let mut all = in_order(packets(data, sealed, sizes, nonces, aads, tags), order);
        let ordered = in_order(keys.iter().map(Vec::as_slice), order);
        let opened = aead.opened(&mut all, is_fresh.then_some(&ordered), batch)?;
        if opened.len() != order.len() {
            return Err(Defect::Failed);
        }
        for (&session, opened) in order.iter().zip(opened) {
            match (opened, FORGED.contains(&session)) {
                (true, true) => return Err(Defect::Forgery),
                (false, false) => return Err(Defect::RejectReason),
                _ => {}
            }
        }
        for (session, opened) in sessions::buffers(data, sizes).enumerate() {
            if !FORGED.contains(&session) && opened != sessions::data(session, sizes.of(session)) {
                return Err(Defect::Answer);
            }
        }
        if batch > 1 {
            let packets = packets(data, sealed, sizes, nonces, aads, tags);
            let packets = packets.zip(keys.iter().map(Vec::as_slice));
            one_among_many(aead.as_mut(), packets, *shape)?;
        }
        *aads = known::aads(order.len());
        Ok(())
    }

    /// Changes a bit of the packet of each session of [`FORGED`].
    fn forge(&mut self, sealed: &mut [u8]) {
        let sizes = self.shape.sizes;
        for session in FORGED {
            let bit = 1 << (session % 8);
            match session {
                ..=TAG => self.tags[session][session - 1] ^= bit,
                17..24 => self.turns.nonces[session][session % 12] ^= bit,
                24..32 => self.aads[session][session % 8] ^= bit,
                _ => {
                    let at = (session - 32) * sizes.of(session) / 8;
                    sealed[session * stride(sizes) + at] ^= bit;
                }
            }
        }
    }

    /// Seals the packets to open.
    fn seal(&mut self, arena: &mut Arena) -> Result<(), Failed> {
        let (_, sealed) = self.memory(arena);
        let isa = Isa::detect();
        for (session, data) in sessions::buffers(sealed, self.shape.sizes).enumerate() {
            // The opened data are in the digest, so they must change.
            let end = data.len().min(8);
            sessions::fill((session as u64) << 40 | self.turns.round, &mut data[..end]);
            let Turns { keys, nonces, .. } = &self.turns;
            let [key, nonce, aad] = [keys, nonces, &self.aads].map(|all| &all[session]);
            self.tags[session] = known::seal(self.algorithm, isa, key, nonce, aad, data)?;
        }
        Ok(())
    }

    fn checked(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        self.refuses(arena)?;
        match self.answers(arena) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Defect::Answer),
            Err(Failed) => Err(Defect::Failed),
        }
    }
}

impl Workload for Packets {
    fn begin(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        self.turns.next();
        if self.direction == Direction::Decrypt {
            self.seal(arena)?;
        }
        // Every session once, so that the batch does not measure the cache contents of other rows.
        Ok(self.requests(arena, self.shape.sessions())?)
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

    fn check_again(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        self.checked(arena)
    }
}

/// Whether one forged packet among genuine ones makes a batch fail, whichever it is and at any
/// position; and whether a batch of genuine ones is opened.
fn one_among_many<'a>(
    aead: &mut dyn Aead,
    packets: impl Iterator<Item = (Packet<'a>, &'a [u8])>,
    shape: Shape,
) -> Result<(), Defect> {
    let (mut packets, mut keys): (Vec<Packet<'_>>, Vec<&[u8]>) = packets.unzip();
    // The forged packets first.
    packets.rotate_left(FORGED.start);
    keys.rotate_left(FORGED.start);
    let (forged, genuine) = packets.split_at_mut(FORGED.len());
    let (forged_keys, genuine_keys) = keys.split_at_mut(FORGED.len());
    let length = shape.batch.min(genuine.len());
    let run = Run::of(length).in_batches(length);
    let mut open = |genuine: &mut [Packet<'_>], keys: &[&[u8]]| {
        aead.messages(&mut genuine[..length], run.with_keys(shape.is_fresh.then_some(keys)))
    };
    for (at, (forged, key)) in forged.iter_mut().zip(forged_keys).enumerate() {
        let place = at % length;
        swap(forged, &mut genuine[place]);
        swap(key, &mut genuine_keys[place]);
        if open(genuine, genuine_keys).is_ok() {
            return Err(Defect::Forgery);
        }
        swap(forged, &mut genuine[place]);
        swap(key, &mut genuine_keys[place]);
    }
    open(genuine, genuine_keys).or(Err(Defect::RejectReason))
}

/// A packet of each session.
fn packets<'a>(
    data: &'a mut [u8],
    sealed: &'a [u8],
    sizes: Sizes,
    nonces: &'a [Vec<u8>],
    aads: &'a [Vec<u8>],
    tags: &'a mut [[u8; TAG]],
) -> impl Iterator<Item = Packet<'a>> {
    let buffers = sessions::buffers(data, sizes).zip(sealed.chunks_exact(stride(sizes)));
    let rest = nonces.iter().zip(aads).zip(tags);
    buffers.zip(rest).enumerate().map(move |(session, ((data, sealed), ((nonce, aad), tag)))| {
        Packet { session, nonce, aad, data, sealed: &sealed[..sizes.of(session)], tag }
    })
}

/// Divides `messages` among the sessions' buffers.
fn put(messages: &[u8], memory: &mut [u8], sizes: Sizes) {
    for (buffer, message) in sessions::buffers(memory, sizes).zip(sizes.parts(messages)) {
        buffer.copy_from_slice(message);
    }
}
