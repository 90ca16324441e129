//! Packets of many connections at once: what a server does with all that one `sendmmsg` or
//! `recvmmsg` carries.
//!
//! Payloads are sealed or opened in one [`Batch`](lanecrypt::Batch), and the headers' masks made in
//! one call; both for as many packets as stay in the nearest cache between the two. The [`Room`] for
//! batches is kept.

use lanecrypt::hazmat::HeaderProtectionKey;
use lanecrypt::{Error, Room};

use crate::header::{self, Dropped, Layout, MASK};
use crate::keys::PacketKeys;
use crate::single::Opened;

/// Packets at a time, at most.
pub(crate) const GROUP: usize = 32;

/// A packet to be sent.
pub(crate) struct Outgoing<'a> {
    pub(crate) keys: &'a PacketKeys,
    /// Its packet number, **which must not have been used before under these keys**.
    pub(crate) number: u64,
    /// Bytes of its header, which ends with the packet number.
    pub(crate) header: usize,
    /// Header, payload, and 16 bytes of room for the tag.
    pub(crate) packet: &'a mut [u8],
}

/// A datagram that has come, from the packet on that is to be opened.
pub(crate) struct Incoming<'a> {
    pub(crate) keys: &'a PacketKeys,
    /// Bytes of the connection IDs that the receiver gives out.
    pub(crate) id_length: usize,
    /// The largest packet number that has been opened.
    pub(crate) largest: Option<u64>,
    pub(crate) datagram: &'a mut [u8],
    /// What came of it.
    pub(crate) outcome: Result<Opened, Dropped>,
}

impl<'a> Incoming<'a> {
    pub(crate) fn new(
        keys: &'a PacketKeys,
        id_length: usize,
        largest: Option<u64>,
        datagram: &'a mut [u8],
    ) -> Self {
        // Until it is opened.
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

/// Opens the first packet of each datagram: removes the protection of the headers, which hides the
/// packet numbers, then opens the payloads. Each has its own outcome, whatever the others are.
///
/// # Errors
///
/// None that a datagram could cause.
pub(crate) fn unprotect(room: &mut Room, batch: &mut [Incoming<'_>]) -> Result<(), Error> {
    batch.chunks_mut(GROUP).try_for_each(|group| unprotect_group(room, group))
}

/// A packet on its way through [`unprotect`].
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
    // How many have failed says nothing that their own outcomes do not.
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
