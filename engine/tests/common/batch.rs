//! Batches: how random ones are made, and how one is checked.

use lanecrypt_engine::{BatchError, Engine, Request, Session};

use super::keys::Key;
use super::message::{Message, Places};
use super::numbers::Numbers;

/// What serves a batch, which is the engine unless a fault is planted.
#[derive(Clone, Copy)]
pub(crate) struct Server {
    pub(crate) process: fn(&Engine, &mut [Request<'_>]) -> Result<(), BatchError>,
    /// What happens to the memory of the messages besides.
    pub(crate) besides: fn(&mut [Places]),
}

/// The engine.
pub(crate) const ENGINE: Server =
    Server { process: |engine, batch| engine.process(batch), besides: |_| {} };

/// Has the messages served as one batch; answers what is wrong, if anything is.
pub(crate) fn check(
    engine: &Engine,
    sessions: &[Session],
    messages: &[Message],
    server: Server,
) -> Result<(), String> {
    let mut places: Vec<Places> = messages.iter().map(Message::places).collect();
    let each = messages.iter().zip(&mut places);
    let mut batch: Vec<Request<'_>> =
        each.map(|(message, places)| message.request(&sessions[message.key], places)).collect();
    let answer = (server.process)(engine, &mut batch);
    let outcomes: Vec<_> = batch.iter().map(Request::outcome).collect();
    drop(batch);
    (server.besides)(&mut places);
    for (i, message) in messages.iter().enumerate() {
        message.check(outcomes[i], &places[i]).map_err(|what| {
            let algorithm = sessions[message.key].algorithm();
            let outcome = outcomes[i];
            format!(
                "{what}: message {i} of {}, {algorithm}: {message:?}: {outcome:?}",
                places.len()
            )
        })?;
    }
    let failed = messages.iter().filter(|message| message.expected.outcome.is_err()).count();
    match answer {
        Ok(()) if failed == 0 => Ok(()),
        Err(BatchError { failed: counted, .. }) if counted == failed && failed > 0 => Ok(()),
        answer => Err(format!("another count: {answer:?}, where {failed} failed")),
    }
}

/// The messages of a random batch.
pub(crate) fn random(keys: &[Key], numbers: &mut impl Numbers) -> Vec<Message> {
    let count = match numbers.below(32) {
        0 => numbers.below(600),
        1..8 => numbers.below(80),
        _ => numbers.below(20),
    };
    // Large messages in many are slow to check, and find what a few find.
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

/// How long the messages of a batch are.
enum Lengths {
    Alike(usize),
    /// Below a limit.
    Any(usize),
    /// About the ends of blocks and of what kernels take at once.
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
