//! Requests to a cipher, as a row repeats them.
//!
//! Before and after a row is timed, it answers a known question by the same calls, and the whole
//! answer is compared with the portable kernel's. The timed inputs change from batch to batch:
//! other IVs, the sessions in another order, and data that earlier batches have encrypted.

use core::slice;

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::{Cipher, Direction, Failed, Message, Run, rounds};

use super::known::{self, Question, WHOLE};
use super::sessions::{self, LINE, SESSIONS, Turns, in_order, shuffle, stride};
use super::{Shape, Sizes, Wipe};
use crate::row::{Arena, Workload};
use crate::verify::Defect;

/// The number of keys or contexts that are made before the answers are compared.
const FEW: usize = 3;

/// A request to a cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// This many bytes that continue a message of 64 KiB.
    Continue(usize),
    /// A message of this many bytes, in its own session, with its own IV.
    Message(usize),
    /// The same with a new key before each message.
    FreshKey(usize),
    /// The same as [`Task::Message`], in a call of its own after which the caller clears the stack.
    Wiped(usize, Wipe),
    /// Messages that are handed over together, each in its own session, with its own IV.
    Batch(Shape),
    /// A new key.
    SetKey,
    /// A new IV.
    SetIv,
    /// A context with a key and an IV, made and freed.
    Open,
    /// The algorithm, looked up by name.
    Fetch,
}

impl Task {
    /// The name in the results.
    pub(crate) const fn op(self, direction: Direction) -> &'static str {
        match self {
            Self::Continue(_)
            | Self::Message(_)
            | Self::FreshKey(_)
            | Self::Wiped(..)
            | Self::Batch(_) => direction.name(),
            Self::SetKey => "set-key",
            Self::SetIv => "set-iv",
            Self::Open => "open",
            Self::Fetch => "fetch",
        }
    }

    pub(crate) fn size(self) -> Option<usize> {
        match self {
            Self::Continue(size)
            | Self::Message(size)
            | Self::FreshKey(size)
            | Self::Wiped(size, _) => Some(size),
            Self::Batch(shape) => shape.sizes.single(),
            Self::SetKey | Self::SetIv | Self::Open | Self::Fetch => None,
        }
    }

    pub(crate) const fn is_chained(self) -> Option<bool> {
        match self {
            Self::Continue(_) => Some(true),
            Self::Message(_) | Self::FreshKey(_) | Self::Wiped(..) | Self::Batch(_) => Some(false),
            Self::SetKey | Self::SetIv | Self::Open | Self::Fetch => None,
        }
    }

    pub(crate) const fn key(self) -> Option<&'static str> {
        match self {
            Self::Continue(_) | Self::Message(_) | Self::Wiped(..) => Some("kept"),
            Self::FreshKey(_) => Some("fresh"),
            Self::Batch(shape) => Some(shape.key()),
            Self::SetKey | Self::SetIv | Self::Open | Self::Fetch => None,
        }
    }

    /// The end of a point's id.
    pub(crate) fn suffix(self) -> String {
        match self {
            Self::Continue(size) => format!("/{size}"),
            Self::Message(size) => format!("/{size}/independent"),
            Self::FreshKey(size) => format!("/{size}/independent/fresh"),
            Self::Wiped(size, wipe) => format!("/{size}/independent/wiped/{}", wipe.name()),
            Self::Batch(shape) => shape.suffix(),
            Self::SetKey | Self::SetIv | Self::Open | Self::Fetch => String::new(),
        }
    }

    /// Bytes of stack that the caller clears after each request, if that is compared.
    pub(crate) fn wiped(self) -> Option<u64> {
        match self {
            Self::Wiped(_, wipe) => Some(wipe.bytes() as u64),
            _ => None,
        }
    }

    /// The shape of its messages, if they are independent.
    const fn shape(self) -> Option<Shape> {
        match self {
            Self::Message(size) | Self::Wiped(size, _) => Some(Shape::single(size)),
            Self::FreshKey(size) => Some(Shape { is_fresh: true, ..Shape::single(size) }),
            Self::Batch(shape) => Some(shape),
            _ => None,
        }
    }

    /// The number of keys and IVs that it needs.
    fn sessions(self) -> usize {
        self.shape().map_or(SESSIONS, Shape::sessions)
    }
}

/// One task, repeated.
pub(crate) struct Requests {
    cipher: Box<dyn Cipher>,
    algorithm: Algorithm,
    direction: Direction,
    task: Task,
    /// Whether all messages have the first key.
    shared: bool,
    turns: Turns,
}

impl Requests {
    pub(crate) fn new(
        algorithm: Algorithm,
        direction: Direction,
        task: Task,
        shared: bool,
        open: impl Fn(&[&[u8]]) -> Option<Box<dyn Cipher>>,
    ) -> Option<Self> {
        let count = task.sessions();
        let turns = Turns::new(algorithm, count)?;
        let sessions = if task.shape().is_some() && !shared { count } else { 1 };
        let brings_keys = task == Task::SetKey || task.shape().is_some_and(|shape| shape.is_fresh);
        let cipher = open(&turns.first_keys(brings_keys)[..sessions])?;
        Some(Self { cipher, algorithm, direction, task, shared, turns })
    }

    /// Makes a request, and a second one if requests continue a message, to see whether that works.
    pub(crate) fn try_once(&mut self) -> Result<(), Failed> {
        match self.task {
            Task::Continue(size) => {
                let calls = if size == WHOLE { 1 } else { 2 };
                self.cipher.chunks(&self.turns.nonces[0], &mut vec![0; calls * size], size, 1)
            }
            Task::Message(_) | Task::FreshKey(_) | Task::Wiped(..) | Task::Batch(_) => Ok(()),
            _ => self.requests(&mut [], 1),
        }
    }

    /// Makes this many requests.
    fn requests(&mut self, memory: &mut [u8], requests: usize) -> Result<(), Failed> {
        let Self { cipher, turns, .. } = self;
        let iv = turns.nonces.first().ok_or(Failed)?;
        if let Some(shape) = self.task.shape() {
            let mut messages = messages(memory, shape.sizes, turns, self.shared);
            if let Task::Wiped(_, wipe) = self.task {
                return rounds(messages.len(), requests, |count| {
                    messages[..count].iter_mut().try_for_each(|message| {
                        cipher.messages(slice::from_mut(message), Run::of(1))?;
                        wipe.run();
                        Ok(())
                    })
                });
            }
            let (mut run, keys) = (Run::of(requests), turns.keys());
            if let Task::Batch(shape) = self.task {
                run = run.in_batches(shape.batch);
            }
            return cipher.messages(&mut messages, run.with_keys(shape.is_fresh.then_some(&keys)));
        }
        match self.task {
            Task::Continue(size) => {
                let calls = WHOLE / size;
                if requests >= calls {
                    cipher.chunks(iv, memory, size, requests / calls)?;
                }
                match requests % calls {
                    0 => Ok(()),
                    rest => cipher.chunks(iv, &mut memory[..rest * size], size, 1),
                }
            }
            Task::SetKey => cipher.set_keys(&turns.keys(), requests),
            Task::SetIv => cipher.set_ivs(iv, requests),
            Task::Open => cipher.open(&turns.keys(), iv, requests),
            Task::Fetch => cipher.fetch(requests),
            // These have a shape and are handled above.
            Task::Message(_) | Task::FreshKey(_) | Task::Wiped(..) | Task::Batch(_) => Ok(()),
        }
    }

    /// The memory that the task uses, in bytes.
    fn extent(&self) -> usize {
        self.task.shape().map_or(WHOLE, |shape| shape.sessions() * stride(shape.sizes))
    }

    /// Whether known questions get the portable kernel's answers.
    fn compare(&mut self, arena: &mut Arena) -> Result<bool, Failed> {
        self.turns.ask();
        let memory = arena.slice(self.extent());
        let count = self.turns.keys.len();
        let question = match (self.task, self.task.shape()) {
            (Task::Message(size), _) if self.shared => Question::SharedKey(size),
            (_, Some(shape)) => Question::Messages(shape.sizes, count),
            (_, None) => Question::Buffer,
        };
        let answer = known::answer(self.algorithm, self.direction, question)?;
        if let Some(Shape { sizes, .. }) = self.task.shape() {
            shuffle(&mut self.turns.order, 1);
            for (session, buffer) in sessions::buffers(memory, sizes).enumerate() {
                buffer.copy_from_slice(&sessions::data(session, sizes.of(session)));
            }
            self.requests(memory, count)?;
            return Ok(sessions::buffers(memory, sizes).eq(sizes.parts(&answer.messages)));
        }
        memory.copy_from_slice(&sessions::data(0, WHOLE));
        if let Task::Continue(size) = self.task {
            self.requests(memory, WHOLE / size)?;
        } else {
            // The keys end with the first one, for which the answer is known.
            self.turns.order.truncate(FEW);
            self.turns.order.reverse();
            let made = self.requests(memory, FEW);
            self.turns.order = (0..count).collect();
            made?;
            self.cipher.chunks(&self.turns.nonces[0], memory, WHOLE / 2, 1)?;
        }
        Ok(*memory == answer.messages[..])
    }

    fn checked(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        match self.compare(arena) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Defect::Answer),
            Err(Failed) => Err(Defect::Failed),
        }
    }
}

impl Workload for Requests {
    fn begin(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        let memory = arena.slice(self.extent());
        let first = match self.task {
            Task::Batch(shape) => {
                if self.algorithm == Algorithm::NULL {
                    // The digest must change even if the task writes no data.
                    sessions::fill(self.turns.round, &mut memory[..LINE]);
                }
                // Every session once, so that the batch does not measure the cache contents of
                // other rows.
                shape.sessions()
            }
            task => usize::from(task.is_chained().is_some()),
        };
        // These have other nonces than the batch: a keystream that comes an even number of times
        // leaves the data, and the digest, as they were.
        self.requests(memory, first).or(Err(Defect::Failed))?;
        self.turns.next();
        Ok(())
    }

    fn run(&mut self, arena: &mut Arena, requests: usize) {
        let extent = self.extent();
        if self.requests(arena.slice(extent), requests).is_err() {
            panic!("{} failed in the middle of a measurement", self.algorithm);
        }
    }

    fn digest(&mut self, arena: &mut Arena) -> u64 {
        let memory = arena.slice(self.extent());
        if self.task.is_chained().is_none() {
            // The key and IV that were set show in the data that they produce.
            if self.cipher.chunks(&self.turns.nonces[0], &mut memory[..LINE], LINE, 1).is_err() {
                return 0;
            }
        }
        sessions::digest(memory)
    }

    fn check_again(&mut self, arena: &mut Arena) -> Result<(), Defect> {
        self.checked(arena)
    }
}

/// A message of each session, in the order of the turns.
fn messages<'a>(
    memory: &'a mut [u8],
    sizes: Sizes,
    turns: &'a Turns,
    shared: bool,
) -> Vec<Message<'a>> {
    let buffers = sessions::buffers(memory, sizes).zip(&turns.nonces).enumerate();
    let messages = buffers.map(|(session, (data, iv))| Message {
        session: if shared { 0 } else { session },
        iv,
        data,
    });
    in_order(messages, &turns.order)
}

#[cfg(test)]
mod tests {
    use lanecrypt_ciphers::Isa;

    use super::super::checked::Checked;
    use super::*;

    /// A batch of a keystream that comes an even number of times changes nothing by itself.
    #[test]
    fn every_batch_changes_the_digest() {
        let (algorithm, direction) = (Algorithm::CHACHA20_IETF, Direction::Encrypt);
        let (mixed, small) = (Sizes::mixed(60, 200), Sizes::one(16));
        for (sizes, batch) in [(mixed, 2), (mixed, 512), (small, SESSIONS), (small, 1)] {
            let task = Task::Batch(Shape { sizes, batch, is_fresh: false });
            let open = |keys: &[&[u8]]| -> Option<Box<dyn Cipher>> {
                Some(Box::new(Checked::new(algorithm, Isa::detect(), direction, keys)?))
            };
            let mut requests = Requests::new(algorithm, direction, task, false, open)
                .expect("the cipher is there");
            let (mut arena, sessions) = (Arena::new(), task.sessions());
            requests.check(&mut arena).expect("it answers");
            let mut digests = vec![requests.digest(&mut arena)];
            for laps in [1, 2, 2, 4, 3, 1, 1] {
                requests.begin(&mut arena).expect("it begins");
                requests.run(&mut arena, sessions);
                requests.run(&mut arena, laps * sessions);
                let digest = requests.digest(&mut arena);
                assert!(!digests.contains(&digest), "{sizes} in batches of {batch}, {laps} laps");
                digests.push(digest);
            }
        }
    }
}
