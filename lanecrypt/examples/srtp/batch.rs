//! Packets of many streams at once: what a conference server does with all that one `sendmmsg` or
//! `recvmmsg` carries.

use lanecrypt::{Engine, Error, Request};

use crate::rtp::Dropped;
use crate::stream::{Place, Stream};

/// A packet of a batch.
pub(crate) struct Packet<'a> {
    /// Which of the streams it is of.
    pub(crate) stream: usize,
    /// The packet: with 16 bytes of room for the tag, or protected.
    pub(crate) bytes: &'a mut [u8],
    /// What came of it.
    pub(crate) outcome: Result<(), Dropped>,
}

impl<'a> Packet<'a> {
    pub(crate) fn new(stream: usize, bytes: &'a mut [u8]) -> Self {
        Self { stream, bytes, outcome: Ok(()) }
    }
}

/// Protects packets in place, as [`Stream::protect`] does each.
pub(crate) fn protect(engine: &Engine, streams: &mut [Stream], batch: &mut [Packet<'_>]) {
    // Each index is marked before the next packet is looked at, so that no IV is used twice within
    // the batch.
    let places = place(streams, batch, Stream::sending);
    serve(engine, streams, batch, &places, |stream, iv, header, payload| {
        Request::seal(&stream.session, iv, header, payload)
    });
}

/// Opens packets in place, as [`Stream::unprotect`] does each: a packet that is forged changes
/// nothing for its stream, nor for others.
pub(crate) fn unprotect(engine: &Engine, streams: &mut [Stream], batch: &mut [Packet<'_>]) {
    let places = place(streams, batch, |stream, bytes| stream.received(bytes));
    serve(engine, streams, batch, &places, |stream, iv, header, payload| {
        Request::open(&stream.session, iv, header, payload)
    });
    // Only now it is known which are authentic; and the batch may bring a packet twice.
    for (packet, place) in batch.iter_mut().zip(&places) {
        if let (Ok(()), Some(place)) = (packet.outcome, place) {
            packet.outcome = streams[packet.stream].window.mark(place.index);
        }
    }
}

/// Where each packet stands; those that stand nowhere get their outcome.
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

/// Serves the packets that have a place, all in one batch.
fn serve<'a>(
    engine: &Engine,
    streams: &'a [Stream],
    batch: &'a mut [Packet<'_>],
    places: &'a [Option<Place>],
    request: impl Fn(&'a Stream, &'a [u8], &'a [u8], &'a mut [u8]) -> Request<'a>,
) {
    let mut requests = Vec::with_capacity(batch.len());
    let mut outcomes = Vec::with_capacity(batch.len());
    for (packet, place) in batch.iter_mut().zip(places) {
        let Packet { stream, bytes, outcome } = packet;
        if let Some(Place { header, iv, .. }) = place {
            let (header, payload) = bytes.split_at_mut(*header);
            requests.push(request(&streams[*stream], iv, header, payload));
            outcomes.push(outcome);
        }
    }
    if engine.process(&mut requests).is_ok() {
        return;
    }
    for (request, outcome) in requests.iter().zip(outcomes) {
        let served = request.outcome().unwrap_or(Err(Error::Unsupported));
        *outcome = served.map_err(Dropped::from);
    }
}
