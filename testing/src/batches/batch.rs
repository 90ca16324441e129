//! Random batches, and the check of a batch.

use lanecrypt_engine::{BatchBuffer, BatchError, Engine, Error, Request, Session};

use super::keys::Key;
use super::message::{Message, Places};
use super::numbers::Numbers;

/// A batch to serve, and its sessions and buffers.
pub struct Case<'c> {
    pub engine: &'c Engine,
    pub sessions: &'c [Session],
    pub messages: &'c [Message],
    pub places: &'c mut [Places],
    pub buffer: &'c mut BatchBuffer,
}

/// The results of a batch.
pub struct Served {
    pub failed: usize,
    /// The answer of each call that added a message.
    pub at_once: Vec<Option<Result<(), Error>>>,
    pub outcomes: Vec<Option<Result<(), Error>>>,
}

/// Served by the engine, as a slice of requests.
pub fn processed(case: &mut Case<'_>) -> Served {
    in_slice(case, |engine, batch| engine.process(batch))
}

/// Has a slice of requests processed.
pub fn in_slice(
    case: &mut Case<'_>,
    process: fn(&Engine, &mut [Request<'_>]) -> Result<(), BatchError>,
) -> Served {
    let each = case.messages.iter().zip(&mut *case.places);
    let mut batch: Vec<Request<'_>> = each
        .map(|(message, places)| message.request(&case.sessions[message.key], places))
        .collect();
    for (message, request) in case.messages.iter().zip(&mut batch) {
        assert_eq!((request.outcome(), request.operation()), (None, message.operation));
        if message.before {
            let failed = failed(case.engine.process(core::slice::from_mut(request)));
            assert_eq!(failed, usize::from(message.expected.outcome.is_err()));
        }
    }
    let failed = failed(process(case.engine, &mut batch));
    let outcomes = batch.iter().map(Request::outcome).collect();
    Served { failed, at_once: vec![None; batch.len()], outcomes }
}

/// Served by the engine, as a batch that is served while it is filled.
pub fn filled(case: &mut Case<'_>) -> Served {
    let mut batch = case.buffer.batch();
    assert!(batch.is_empty());
    let mut at_once = Vec::with_capacity(case.messages.len());
    for (message, places) in case.messages.iter().zip(&mut *case.places) {
        at_once.push(message.give(&case.sessions[message.key], places, &mut batch));
        assert_eq!(batch.len(), at_once.len());
    }
    let failed = failed(batch.finish());
    let outcomes: Vec<_> = case.buffer.outcomes().collect();
    for (at, outcome) in outcomes.iter().chain([&None]).enumerate() {
        assert_eq!(case.buffer.outcome(at), *outcome, "{at}");
    }
    Served { failed, at_once, outcomes }
}

/// The number of failures.
pub fn failed(answer: Result<(), BatchError>) -> usize {
    answer.map_or_else(
        |error| {
            assert_ne!(error.failed, 0, "an error without a failure");
            error.failed
        },
        |()| 0,
    )
}

/// Rooms of several sizes, used in turn by batches, so that the expectations of a buffer are mostly
/// wrong.
pub struct Rooms {
    rooms: Vec<BatchBuffer>,
    next: usize,
}

impl Rooms {
    pub fn new(engine: &Engine) -> Self {
        let rooms = [64, 1, 300, 5, 16].map(|messages| engine.batch_buffer(messages));
        Self { rooms: rooms.into(), next: 0 }
    }

    pub fn another(&mut self) -> &mut BatchBuffer {
        self.next = (self.next + 1) % self.rooms.len();
        &mut self.rooms[self.next]
    }
}

/// Serves the messages as one batch, in each way; the error describes the first difference.
pub fn check(
    engine: &Engine,
    sessions: &[Session],
    messages: &[Message],
    rooms: &mut Rooms,
) -> Result<(), String> {
    let buffer = rooms.another();
    check_by(processed, engine, sessions, messages, buffer)
        .map_err(|what| format!("processed: {what}"))?;
    check_by(filled, engine, sessions, messages, buffer).map_err(|what| format!("filled: {what}"))
}

/// The same in one way, in which a fault may be planted.
pub fn check_by(
    serve: impl FnOnce(&mut Case<'_>) -> Served,
    engine: &Engine,
    sessions: &[Session],
    messages: &[Message],
    buffer: &mut BatchBuffer,
) -> Result<(), String> {
    let mut places: Vec<Places> = messages.iter().map(Message::places).collect();
    let Served { failed, at_once, outcomes } =
        serve(&mut Case { engine, sessions, messages, places: &mut places, buffer });
    if outcomes.len() != messages.len() {
        return Err(format!("{} outcomes of {} messages", outcomes.len(), messages.len()));
    }
    for (i, message) in messages.iter().enumerate() {
        let (said, outcome) = (at_once[i], outcomes[i]);
        let checked = match said {
            Some(_) if said != outcome => Err("another outcome than was said at once"),
            _ => message.check(outcome, &places[i]),
        };
        checked.map_err(|what| {
            let algorithm = sessions[message.key].algorithm().expect("a cipher");
            format!(
                "{what}: message {i} of {}, {algorithm}: {message:?}: {outcome:?}",
                places.len()
            )
        })?;
    }
    let expected = messages.iter().filter(|message| message.expected.outcome.is_err()).count();
    match failed == expected {
        true => Ok(()),
        false => Err(format!("another count: {failed}, where {expected} failed")),
    }
}

/// The messages of a random batch.
pub fn random(keys: &[Key], numbers: &mut impl Numbers) -> Vec<Message> {
    let count = match numbers.below(32) {
        0 => numbers.below(600),
        1..8 => numbers.below(80),
        _ => numbers.below(20),
    };
    // Large messages are slow to check, and a few find as much as many.
    let most = match numbers.below(64) {
        0 => 500_000,
        1..16 => 20_000,
        _ => 4_000,
    };
    let lengths = Lengths::random(most / count.max(1), numbers);
    // One key, one algorithm, a few keys, or any.
    let few: Vec<usize> = (0..1 + numbers.below(6)).map(|_| numbers.below(keys.len())).collect();
    let one = keys[few[0]].algorithm;
    let of_one: Vec<usize> = (0..keys.len()).filter(|&key| keys[key].algorithm == one).collect();
    let mix = numbers.below(8);
    let bad = *numbers.choice(&[0, 0, 0, 1, 4, 30]);
    let mut messages: Vec<Message> = (0..count)
        .map(|_| {
            let key = match mix {
                0 => few[0],
                1..4 => *numbers.choice(&of_one),
                4..6 => *numbers.choice(&few),
                _ => numbers.below(keys.len()),
            };
            let len = lengths.one(numbers);
            let mut message = Message::random(keys, key, len, numbers);
            if bad > 1 && numbers.one_in(bad) {
                message.damage(keys, numbers);
            }
            message
        })
        .collect();
    // One bad message among good ones.
    if bad == 1 && count > 0 {
        let at = numbers.below(count);
        messages[at].damage(keys, numbers);
    }
    messages
}

/// The lengths of the messages of a batch.
enum Lengths {
    Alike(usize),
    /// Below a limit.
    Any(usize),
    /// Near the ends of blocks and of the pieces that kernels take at once.
    Edges(usize),
}

const EDGES: [usize; 14] = [0, 8, 16, 32, 48, 64, 128, 192, 256, 512, 576, 1024, 2048, 4096];

impl Lengths {
    fn random(mean: usize, numbers: &mut impl Numbers) -> Self {
        let mean = mean.clamp(4, 2048);
        match numbers.below(3) {
            0 => Self::Alike(numbers.below(2 * mean + 1)),
            1 => Self::Any(2 * mean + 1),
            _ => Self::Edges(2 * mean),
        }
    }

    fn one(&self, numbers: &mut impl Numbers) -> usize {
        match *self {
            Self::Alike(len) => len,
            Self::Any(limit) => numbers.below(limit),
            Self::Edges(most) => {
                let edges = EDGES.iter().filter(|&&edge| edge <= most).count();
                let edge = EDGES[numbers.below(edges)];
                (edge + numbers.below(3)).saturating_sub(1).min(4096)
            }
        }
    }
}
