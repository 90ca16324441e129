//! Packets of a hostile peer: nothing panics, only authentic packets are opened, and the other
//! packets of the batch are unaffected.

use lanecrypt::{Engine, Error, random};

use crate::batch::{self, Packet};
use crate::keys::{Material, Profile};
use crate::rtcp::Control;
use crate::rtp::Dropped;
use crate::stream::Stream;

const SSRC: u32 = 0x0102_0304;

fn material() -> Material {
    Material::rtp(Profile::AeadAes128Gcm, &random::bytes::<16>(), &random::bytes()).expect("keys")
}

/// An RTP packet with room for a tag.
fn packet(sequence: u16, payload: usize) -> Vec<u8> {
    let mut packet = vec![0x80, 96, 0, 0, 9, 9, 9, 9];
    packet[2..4].copy_from_slice(&sequence.to_be_bytes());
    packet.extend(SSRC.to_be_bytes());
    packet.resize(12 + payload + 16, 5);
    packet
}

/// A batch with one packet for each stream, in order.
fn one_of_each(packets: &mut [Vec<u8>]) -> Vec<Packet<'_>> {
    packets.iter_mut().enumerate().map(|(at, bytes)| Packet::new(at, bytes)).collect()
}

#[test]
fn random_packets_are_dropped() {
    let engine = Engine::new();
    let material = material();
    let mut stream = Stream::new(&engine, &material, SSRC).expect("a stream");
    let mut control = Control::new(&engine, &material, 1).expect("a stream");
    for length in (0..100).chain([1200, 1500]) {
        for kind in 0..=255_u8 {
            let mut bytes = vec![0; length];
            random::fill(&mut bytes);
            if let (Some(first), true) = (bytes.first_mut(), kind % 4 != 0) {
                *first = 0x80 | kind & 0x3f;
            }
            if let Some(ssrc) = bytes.get_mut(8..12) {
                ssrc.copy_from_slice(&SSRC.to_be_bytes());
            }
            assert!(stream.unprotect(&mut bytes.clone()).is_err());
            assert!(control.unprotect(&mut bytes.clone()).is_err());
            let mut batch = [Packet::new(0, &mut bytes)];
            batch::unprotect(
                &mut engine.batch_buffer(8),
                core::slice::from_mut(&mut stream),
                &mut batch,
            );
            assert!(batch[0].outcome.is_err());
        }
    }
    // None of this changed the stream.
    let mut good = packet(1, 10);
    Stream::new(&engine, &material, SSRC).expect("a stream").protect(&mut good).expect("protected");
    assert_eq!(stream.unprotect(&mut good), Ok(()));
}

#[test]
fn every_cut_and_every_flipped_bit_is_noticed() {
    let engine = Engine::new();
    let material = material();
    let stream = || Stream::new(&engine, &material, SSRC).expect("a stream");
    let control = || Control::new(&engine, &material, 1).expect("a stream");
    let mut rtp = packet(1, 10);
    stream().protect(&mut rtp).expect("protected");
    let mut rtcp = packet(1, 10);
    control().protect(&mut rtcp).expect("protected");

    let (mut stream, mut control) = (stream(), control());
    for length in 0..rtp.len() {
        assert!(stream.unprotect(&mut rtp[..length].to_vec()).is_err());
        assert!(control.unprotect(&mut rtcp[..length].to_vec()).is_err());
    }
    for bit in 0..8 * rtp.len() {
        let forge = |packet: &[u8]| {
            let mut forged = packet.to_vec();
            forged[bit / 8] ^= 1 << (bit % 8);
            forged
        };
        assert!(stream.unprotect(&mut forge(&rtp)).is_err(), "bit {bit}");
        assert!(control.unprotect(&mut forge(&rtcp)).is_err(), "bit {bit}");
    }
    assert_eq!(stream.unprotect(&mut rtp), Ok(()));
    assert_eq!(control.unprotect(&mut rtcp), Ok(()));
}

#[test]
fn the_others_of_a_batch_live() {
    let engine = Engine::new();
    let materials: Vec<_> = (0..30).map(|_| material()).collect();
    let streams = || -> Vec<_> {
        let stream = |material| Stream::new(&engine, material, SSRC).expect("a stream");
        materials.iter().map(stream).collect()
    };
    let mut packets: Vec<_> = (0..30).map(|at| packet(7, at * 40)).collect();
    let mut batch = one_of_each(&mut packets);
    batch::protect(&mut engine.batch_buffer(8), &mut streams(), &mut batch);
    assert!(batch.iter().all(|packet| packet.outcome == Ok(())));

    packets[3][30] ^= 1;
    packets[11].truncate(20);
    packets[12][11] ^= 1;
    // The tenth packet arrives twice.
    let again = packets[9].clone();
    packets.push(again);
    let mut batch = one_of_each(&mut packets);
    batch[30].stream = 9;
    batch[20].stream = 30;
    batch::unprotect(&mut engine.batch_buffer(8), &mut streams(), &mut batch);
    for (at, packet) in batch.iter().enumerate() {
        let expected = match at {
            3 => Err(Error::Authentication.into()),
            11 => Err(Dropped::Malformed),
            12 | 20 => Err(Dropped::OtherStream),
            30 => Err(Dropped::Replayed),
            _ => Ok(()),
        };
        assert_eq!(packet.outcome, expected, "{at}");
    }
}

#[test]
fn no_index_is_sent_twice() {
    let engine = Engine::new();
    let mut streams = [Stream::new(&engine, &material(), SSRC).expect("a stream")];
    let mut packets = [1, 2, 1, 3].map(|sequence| packet(sequence, 20));
    let mut batch = packets.each_mut().map(|bytes| Packet::new(0, bytes));
    batch::protect(&mut engine.batch_buffer(8), &mut streams, &mut batch);
    let outcomes = batch.map(|packet| packet.outcome);
    assert_eq!(outcomes, [Ok(()), Ok(()), Err(Dropped::Replayed), Ok(())]);
    assert_eq!(packets[2], packet(1, 20), "untouched");
    assert_eq!(streams[0].protect(&mut packet(2, 20)), Err(Dropped::Replayed));
}

#[test]
fn a_stream_goes_on_after_its_sequence_number_rolls_over() {
    let engine = Engine::new();
    let material = material();
    let stream = || Stream::new(&engine, &material, SSRC).expect("a stream");
    let (mut sender, mut receiver) = (stream(), stream());
    for step in 0..200_000_u32 {
        let [_, _, high, low] = (0xfff0 + step).to_be_bytes();
        let sequence = u16::from_be_bytes([high, low]);
        if step % 100 != 0 && (20..).contains(&(step % 0x1_0000)) {
            continue;
        }
        let mut packet = packet(sequence, 3);
        sender.protect(&mut packet).expect("protected");
        receiver.unprotect(&mut packet).expect("opened");
    }
}

#[test]
fn packets_without_room_are_not_protected() {
    let engine = Engine::new();
    let material = material();
    let mut stream = Stream::new(&engine, &material, SSRC).expect("a stream");
    let mut control = Control::new(&engine, &material, 1).expect("a stream");
    for length in 0..28 {
        let before = packet(1, 0)[..length].to_vec();
        let mut bytes = before.clone();
        assert_eq!(stream.protect(&mut bytes), Err(Dropped::Malformed));
        assert_eq!(control.protect(&mut bytes), Err(Dropped::Malformed));
        assert_eq!(bytes, before);
    }
    assert_eq!(control.protect(&mut [0x80; 28]), Ok(()));
    let mut last = Control::new(&engine, &material, (1 << 31) - 1).expect("a stream");
    assert_eq!(last.protect(&mut [0x80; 28]), Ok(()));
    assert_eq!(last.protect(&mut [0x80; 28]), Err(Dropped::Exhausted));
}
