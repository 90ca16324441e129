//! Ciphers that lie about batches.

use lanecrypt_peers::{Cipher, Message, rounds};

use super::*;

/// The ways in which a cipher lies about a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BatchLie {
    /// It swaps the answers of the first two messages of each batch.
    Swaps,
    /// It forgets the last message of each batch.
    Forgets,
    /// It takes the first key for all messages.
    OneKey,
    /// It reports a batch with a forged packet as entirely forged.
    RefusesAll,
    /// It reports a batch with a genuine packet as entirely genuine.
    BelievesAll,
    /// It reports the result of the first packet for the whole batch.
    LooksAtFirst,
    /// It does not lie.
    Honest,
}

/// The lies that are possible with authentication, each with its expected remark.
const SEALED: [(BatchLie, &str); 5] = [
    (BatchLie::Swaps, "differs"),
    (BatchLie::RefusesAll, "refuses genuine"),
    (BatchLie::BelievesAll, "forged"),
    (BatchLie::LooksAtFirst, "forged"),
    (BatchLie::Honest, ""),
];

/// Of one length, and of mixed lengths.
const SHAPES: [Shape; 2] = [
    Shape { batch: 8, ..Shape::single(48) },
    Shape { sizes: Sizes::mixed(33, 210), batch: 8, is_fresh: false },
];

/// Ours, which is right.
struct Liar<T: ?Sized> {
    ours: Box<T>,
    lie: BatchLie,
}

/// Swaps the first bytes of two buffers, up to the shorter length.
fn swap(first: &mut [u8], second: &mut [u8]) {
    let both = first.len().min(second.len());
    first[..both].swap_with_slice(&mut second[..both]);
}

/// Makes the requests, a batch at a time.
fn each_batch<M>(
    messages: &mut [M],
    run: Run<'_>,
    mut call: impl FnMut(&mut [M], Run<'_>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let batch = run.batch.unwrap_or(1);
    rounds(messages.len(), run.requests, |count| {
        messages[..count]
            .chunks_mut(batch)
            .try_for_each(|part| call(part, Run::of(part.len()).in_batches(batch)))
    })
}

impl Messages<Message<'_>> for Liar<dyn Cipher> {
    fn messages(&mut self, messages: &mut [Message<'_>], run: Run<'_>) -> Result<(), Failed> {
        let Self { ours, lie } = self;
        each_batch(messages, run, |part, run| {
            let length = part.len();
            match lie {
                BatchLie::Forgets if length > 1 => {
                    let run = Run::of(length - 1).in_batches(length);
                    return ours.messages(&mut part[..length - 1], run);
                }
                BatchLie::OneKey => part.iter_mut().for_each(|message| message.session = 0),
                _ => {}
            }
            ours.messages(part, run)?;
            if let (BatchLie::Swaps, [first, second, ..]) = (&lie, part) {
                swap(first.data, second.data);
            }
            Ok(())
        })
    }
}

impl Cipher for Liar<dyn Cipher> {}

/// Ours with authentication, which is right.
struct PacketLiar {
    inner: Liar<dyn Aead>,
    direction: Direction,
}

impl Messages<Packet<'_>> for PacketLiar {
    fn messages(&mut self, packets: &mut [Packet<'_>], run: Run<'_>) -> Result<(), Failed> {
        let Liar { ours, lie } = &mut self.inner;
        each_batch(packets, run, |part, run| {
            if (self.direction, *lie) == (Direction::Decrypt, BatchLie::LooksAtFirst) {
                let mut alone =
                    |packet| ours.messages(core::slice::from_mut(packet), Run::of(1).in_batches(1));
                let (first, rest) = part.split_first_mut().ok_or(Failed)?;
                let opened = alone(first);
                let _unseen = rest.iter_mut().try_for_each(alone);
                return opened;
            }
            ours.messages(part, run)?;
            if let (BatchLie::Swaps, [first, second, ..]) = (&lie, part) {
                match self.direction {
                    Direction::Encrypt => core::mem::swap(first.tag, second.tag),
                    Direction::Decrypt => swap(first.data, second.data),
                }
            }
            Ok(())
        })
    }
}

impl Aead for PacketLiar {
    fn opened(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: Option<&[&[u8]]>,
        batch: usize,
    ) -> Result<Vec<bool>, Failed> {
        let mut opened = self.inner.ours.opened(packets, keys, batch)?;
        for part in opened.chunks_mut(batch) {
            match self.inner.lie {
                BatchLie::RefusesAll if part.contains(&false) => part.fill(false),
                BatchLie::BelievesAll if part.contains(&true) => part.fill(true),
                _ => {}
            }
        }
        Ok(opened)
    }
}

/// The verified rows, and the remarks on the others.
fn verified(rows: &[Row]) -> (Vec<String>, Vec<String>) {
    let sampled = sample(rows);
    assert_eq!(sampled.points.len(), rows.len(), "{:?}", sampled.remarks);
    let verified = sampled.points.iter().filter(|p| p.verified).map(|p| p.api.clone());
    (verified.collect(), sampled.remarks)
}

#[test]
fn who_lies_about_a_batch_of_messages_is_not_verified() {
    let algorithm = Algorithm::AES_128_CBC;
    let liar = |lie: BatchLie| {
        let ours = CipherUnderTest::<dyn Cipher>::all_our_batches(algorithm).remove(0);
        CipherUnderTest::<dyn Cipher>::new(
            "liar",
            &format!("{lie:?}"),
            algorithm,
            move |direction, keys| Some(Box::new(Liar { ours: ours.open(direction, keys)?, lie })),
        )
    };
    let lies = [BatchLie::Swaps, BatchLie::Forgets, BatchLie::OneKey, BatchLie::Honest];
    let all = Direction::ALL.into_iter().flat_map(|way| SHAPES.map(|shape| (way, shape)));
    for (direction, shape) in all {
        let rows = lies.map(|lie| liar(lie).messages(NAME, direction, shape));
        let (honest, remarks) = verified(&rows);
        assert_eq!(honest, ["Honest"], "{direction:?}");
        assert!(remarks.iter().all(|remark| remark.contains("differs")), "{remarks:?}");
    }
}

#[test]
fn who_lies_about_a_batch_of_packets_is_not_verified() {
    let liar = |lie: BatchLie| {
        let ours = CipherUnderTest::<dyn Aead>::all_our_batches(ALGORITHM).remove(0);
        CipherUnderTest::<dyn Aead>::new(
            "liar",
            &format!("{lie:?}"),
            ALGORITHM,
            move |direction, keys| {
                let inner = Liar { ours: ours.open(direction, keys)?, lie };
                Some(Box::new(PacketLiar { inner, direction }))
            },
        )
    };
    let all = Direction::ALL.into_iter().flat_map(|way| SHAPES.map(|shape| (way, shape)));
    for (direction, shape) in all {
        let rows = SEALED.map(|(lie, _)| liar(lie).messages(NAME, direction, shape));
        let (honest, remarks) = verified(&rows);
        assert_eq!(honest, ["Honest"], "{direction:?}: {remarks:?}");
        for (lie, about) in SEALED.into_iter().filter(|(_, about)| !about.is_empty()) {
            let said = |r: &String| r.contains(&format!("/{lie:?}/")) && r.contains(about);
            assert!(remarks.iter().any(said), "{lie:?}: {remarks:?}");
        }
    }
}
