//! Packets of many connections at once, as a server gets them from one `recvmmsg` or sends them
//! with one `sendmmsg`.
//!
//! Payloads are sealed or opened in one [`Batch`](lanecrypt::Batch), and the header masks are made
//! in one call. Both steps work on groups of packets that stay in the first-level cache from one
//! step to the next. The [`Room`] is reused.

use lanecrypt::hazmat::HeaderProtectionKey;
use lanecrypt::{Error, Room};

use crate::header::{self, Dropped, Layout, MASK};
use crate::keys::PacketKeys;
use crate::single::Opened;

/// Maximum number of packets at a time.
pub(crate) const GROUP: usize = 32;

/// A packet to be sent.
pub(crate) struct Outgoing<'a> {
    pub(crate) keys: &'a PacketKeys,
    /// Its packet number, **which must not have been used before under these keys**.
    pub(crate) number: u64,
    /// The length of its header, which ends with the packet number.
    pub(crate) header: usize,
    /// Header, payload, and 16 bytes of room for the tag.
    pub(crate) packet: &'a mut [u8],
}

/// A received datagram, starting at the packet to open.
pub(crate) struct Incoming<'a> {
    pub(crate) keys: &'a PacketKeys,
    /// The length of the connection IDs that the receiver gives out.
    pub(crate) id_length: usize,
    /// The largest packet number that has been opened.
    pub(crate) largest: Option<u64>,
    pub(crate) datagram: &'a mut [u8],
    /// The outcome.
    pub(crate) outcome: Result<Opened, Dropped>,
}

impl<'a> Incoming<'a> {
    pub(crate) fn new(
        keys: &'a PacketKeys,
        id_length: usize,
        largest: Option<u64>,
        datagram: &'a mut [u8],
    ) -> Self {
        // Replaced when the packet is opened.
        let outcome = Err(Dropped::OtherKind);
        Self { keys, id_length, largest, datagram, outcome }
    }
}

/// Protects packets: seals their payloads, then masks their headers.
///
/// # Errors
///
/// As [`Layout::of_header`]; no packet has been protected then.
pub(crate) fn protect(room: &mut Room, batch: &mut [Outgoing<'_>]) -> Result<(), Error> {
    for Outgoing { header, packet, .. } in &*batch {
        Layout::of_header(packet, *header)?;
    }
    batch.chunks_mut(GROUP).try_for_each(|group| protect_group(room, group))
}

fn protect_group(room: &mut Room, group: &mut [Outgoing<'_>]) -> Result<(), Error> {
    let mut batch = room.batch();
    for Outgoing { keys, number, header, packet } in &mut *group {
        let (header, payload) = packet.split_at_mut(*header);
        batch.seal(&keys.aead, &keys.nonce(*number), header, payload);
    }
    if batch.finish().is_err() {
        return room.outcomes().flatten().collect();
    }

    let mut samples = Vec::with_capacity(GROUP);
    for Outgoing { keys, header, packet, .. } in &*group {
        samples.push((*keys, Layout::of_header(packet, *header)?.sample(packet)));
    }
    let masks = make_masks(&samples);
    for (Outgoing { header, packet, .. }, mask) in group.iter_mut().zip(masks) {
        let layout = Layout::of_header(packet, *header)?;
        header::protect(packet, layout.number_at, mask);
    }
    Ok(())
}

/// Opens the first packet of each datagram. Removes the header protection, which hides the packet
/// numbers, then opens the payloads. Each packet has its own outcome.
///
/// # Errors
///
/// No datagram can cause an error.
pub(crate) fn unprotect(room: &mut Room, batch: &mut [Incoming<'_>]) -> Result<(), Error> {
    batch.chunks_mut(GROUP).try_for_each(|group| unprotect_group(room, group))
}

/// A packet being processed by [`unprotect`].
struct Work<'w> {
    keys: &'w PacketKeys,
    packet: &'w mut [u8],
    outcome: &'w mut Result<Opened, Dropped>,
    layout: Layout,
    largest: Option<u64>,
}

fn unprotect_group(room: &mut Room, group: &mut [Incoming<'_>]) -> Result<(), Error> {
    let mut works = Vec::with_capacity(GROUP);
    for Incoming { keys, id_length, largest, datagram, outcome } in group {
        match Layout::of(datagram, *id_length) {
            Ok(layout) => works.push(Work {
                keys,
                packet: &mut datagram[..layout.end],
                outcome,
                layout,
                largest: *largest,
            }),
            Err(dropped) => *outcome = Err(dropped),
        }
    }

    let samples: Vec<_> =
        works.iter().map(|work| (work.keys, work.layout.sample(work.packet))).collect();
    let masks = make_masks(&samples);

    let mut outcomes = Vec::with_capacity(works.len());
    let mut batch = room.batch();
    for (work, mask) in works.iter_mut().zip(masks) {
        let Work { keys, packet, outcome, layout, largest } = work;
        let (number, header) = header::unprotect(packet, *layout, mask, *largest);
        let opened = Opened::new(packet, header, number);
        let (header, payload) = packet.split_at_mut(header);
        batch.open(&keys.aead, &keys.nonce(number), header, payload);
        outcomes.push((outcome, opened));
    }
    // The number of failures adds nothing to the individual outcomes.
    let _ = batch.finish();
    for (served, (outcome, opened)) in room.outcomes().zip(outcomes) {
        **outcome = match served {
            Some(Ok(())) => opened,
            Some(Err(error)) => Err(error.into()),
            None => Err(Error::Unsupported.into()),
        };
    }
    Ok(())
}

/// Makes the masks of packets, at most [`GROUP`], of their samples.
fn make_masks(samples: &[(&PacketKeys, &[u8; 16])]) -> [[u8; MASK]; GROUP] {
    let mut masks = [[0; MASK]; GROUP];
    let packets = samples.iter().zip(&mut masks);
    HeaderProtectionKey::masks(packets.map(|((keys, sample), mask)| (&keys.header, *sample, mask)));
    masks
}
