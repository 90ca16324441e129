//! Packets of many connections at once, as a server gets them from one `recvmmsg` or sends them
//! with one `sendmmsg`.
//!
//! Payloads are sealed or opened in one [`Batch`](lanecrypt::Batch), and the header masks are made
//! in one call. Both steps work on groups of packets that stay in the first-level cache from one
//! step to the next. The [`BatchBuffer`] is reused.

use lanecrypt::hazmat::HeaderProtectionKey;
use lanecrypt::{BatchBuffer, Error};

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
pub(crate) fn protect(buffer: &mut BatchBuffer, batch: &mut [Outgoing<'_>]) -> Result<(), Error> {
    for Outgoing { header, packet, .. } in &*batch {
        Layout::of_header(packet, *header)?;
    }
    batch.chunks_mut(GROUP).try_for_each(|group| protect_group(buffer, group))
}

fn protect_group(buffer: &mut BatchBuffer, group: &mut [Outgoing<'_>]) -> Result<(), Error> {
    let mut batch = buffer.batch();
    for Outgoing { keys, number, header, packet } in &mut *group {
        let (header, payload) = packet.split_at_mut(*header);
        batch.seal(&keys.aead, &keys.nonce(*number), header, payload);
    }
    if batch.finish().is_err() {
        return buffer.outcomes().flatten().collect();
    }

    let mut masks = [[0; MASK]; GROUP];
    HeaderProtectionKey::masks(group.iter().zip(&mut masks).filter_map(|(outgoing, mask)| {
        let Outgoing { keys, header, packet, .. } = outgoing;
        let layout = Layout::of_header(packet, *header).ok()?;
        Some((&keys.header, layout.sample(packet), mask))
    }));
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
pub(crate) fn unprotect(buffer: &mut BatchBuffer, batch: &mut [Incoming<'_>]) -> Result<(), Error> {
    batch.chunks_mut(GROUP).try_for_each(|group| unprotect_group(buffer, group))
}

/// A packet being processed by [`unprotect`].
struct Work<'w> {
    keys: &'w PacketKeys,
    packet: &'w mut [u8],
    outcome: &'w mut Result<Opened, Dropped>,
    layout: Layout,
    largest: Option<u64>,
}

fn unprotect_group(buffer: &mut BatchBuffer, group: &mut [Incoming<'_>]) -> Result<(), Error> {
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

    let mut masks = [[0; MASK]; GROUP];
    HeaderProtectionKey::masks(
        works
            .iter()
            .zip(&mut masks)
            .map(|(work, mask)| (&work.keys.header, work.layout.sample(work.packet), mask)),
    );

    let mut batch = buffer.batch();
    for (work, mask) in works.iter_mut().zip(masks) {
        let Work { keys, packet, outcome, layout, largest } = work;
        let (number, header) = header::unprotect(packet, *layout, mask, *largest);
        **outcome = Opened::new(packet, header, number);
        let (header, payload) = packet.split_at_mut(header);
        batch.open(&keys.aead, &keys.nonce(number), header, payload);
    }
    if batch.finish().is_err() {
        for (served, work) in buffer.outcomes().zip(works) {
            match served {
                Some(Ok(())) => {}
                Some(Err(error)) => *work.outcome = Err(error.into()),
                None => *work.outcome = Err(Error::Unsupported.into()),
            }
        }
    }
    Ok(())
}
