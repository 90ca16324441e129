//! Packets of many streams at once, as a conference server gets them from one `recvmmsg` or sends
//! them with one `sendmmsg`.

use lanecrypt::{Batch, BatchBuffer, Error};

use crate::rtp::Dropped;
use crate::stream::{Place, Stream};

/// A packet of a batch.
pub(crate) struct Packet<'a> {
    /// The index of its stream.
    pub(crate) stream: usize,
    /// An RTP packet with 16 bytes of room for the tag, or a protected packet.
    pub(crate) bytes: &'a mut [u8],
    /// The outcome.
    pub(crate) outcome: Result<(), Dropped>,
}

impl<'a> Packet<'a> {
    pub(crate) fn new(stream: usize, bytes: &'a mut [u8]) -> Self {
        Self { stream, bytes, outcome: Ok(()) }
    }
}

/// Protects each packet in place, as [`Stream::protect`] does.
pub(crate) fn protect(buffer: &mut BatchBuffer, streams: &mut [Stream], batch: &mut [Packet<'_>]) {
    // Each index is marked before the next packet is examined, so that no IV is used twice within
    // the batch.
    let places = place(streams, batch, Stream::sending);
    serve(buffer, streams, batch, &places, |batch, stream, iv, header, payload| {
        batch.seal(&stream.session, iv, header, payload);
    });
}

/// Opens each packet in place, as [`Stream::unprotect`] does. A forged packet changes nothing for
/// its stream or for other packets.
pub(crate) fn unprotect(
    buffer: &mut BatchBuffer,
    streams: &mut [Stream],
    batch: &mut [Packet<'_>],
) {
    let places = place(streams, batch, |stream, bytes| stream.received(bytes));
    serve(buffer, streams, batch, &places, |batch, stream, iv, header, payload| {
        batch.open(&stream.session, iv, header, payload);
    });
    // The packets are authenticated only now, and a batch may contain a packet twice.
    for (packet, place) in batch.iter_mut().zip(&places) {
        if let (Ok(()), Some(place)) = (packet.outcome, place) {
            packet.outcome = streams[packet.stream].window.mark(place.index);
        }
    }
}

/// The place of each packet in its stream. A packet without a place gets its outcome.
fn place(
    streams: &mut [Stream],
    batch: &mut [Packet<'_>],
    find: impl Fn(&mut Stream, &[u8]) -> Result<Place, Dropped>,
) -> Vec<Option<Place>> {
    let mut places = Vec::with_capacity(batch.len());
    for packet in batch {
        let stream = streams.get_mut(packet.stream).ok_or(Dropped::OtherStream);
        let place = stream.and_then(|stream| find(stream, packet.bytes));
        packet.outcome = place.map(|_| ());
        places.push(place.ok());
    }
    places
}

/// Processes all packets that have a place, in one batch.
fn serve<'a>(
    buffer: &mut BatchBuffer,
    streams: &'a [Stream],
    packets: &'a mut [Packet<'_>],
    places: &[Option<Place>],
    give: impl Fn(&mut Batch<'_, 'a>, &'a Stream, &[u8; 12], &'a [u8], &'a mut [u8]),
) {
    let mut outcomes = Vec::with_capacity(packets.len());
    let mut batch = buffer.batch();
    for (packet, place) in packets.iter_mut().zip(places) {
        let Packet { stream, bytes, outcome } = packet;
        if let Some(Place { header, iv, .. }) = place {
            let (header, payload) = bytes.split_at_mut(*header);
            give(&mut batch, &streams[*stream], iv, header, payload);
            outcomes.push(outcome);
        }
    }
    if batch.finish().is_ok() {
        return;
    }
    for (served, outcome) in buffer.outcomes().zip(outcomes) {
        *outcome = served.unwrap_or(Err(Error::Unsupported)).map_err(Dropped::from);
    }
}
