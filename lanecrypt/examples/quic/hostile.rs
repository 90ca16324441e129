//! Packets of a hostile peer: nothing panics, and only authentic packets are opened.

use lanecrypt::{Engine, Error, random};

use crate::batch::{self, Incoming, Outgoing};
use crate::header::{Dropped, Layout};
use crate::keys::{Material, PacketKeys, Secret, Suite};

const SUITES: [Suite; 2] = [Suite::Aes128Gcm, Suite::ChaCha20Poly1305];

fn keys(engine: &Engine, suite: Suite) -> PacketKeys {
    let secret = Secret::new(random::bytes());
    PacketKeys::new(engine, &Material::new(suite, &secret)).expect("keys")
}

/// A protected packet with a short header, a connection ID of 8 bytes, and a payload of this
/// length.
fn packet(keys: &PacketKeys, first: u8, payload: usize) -> Vec<u8> {
    let header = 9 + usize::from(first & 3) + 1;
    let mut packet = vec![7; header + payload + 16];
    packet[0] = first;
    packet[9..header].fill(0);
    keys.protect(0, header, &mut packet).expect("protected");
    packet
}

#[test]
fn random_datagrams_are_dropped() {
    let engine = Engine::new();
    let keys = SUITES.map(|suite| keys(&engine, suite));
    for length in (0..64).chain([100, 1200, 1500]) {
        // All kinds of headers, including version 1, with plausible and implausible lengths.
        let mut datagrams: Vec<Vec<u8>> = (0..200_u8)
            .map(|kind| {
                let mut datagram = vec![0; length];
                random::fill(&mut datagram);
                let version_1 = [kind << 4 | 0x40 | kind >> 4, 0, 0, 0, 1, kind % 24];
                let forced = [0, 6, 5, 1][usize::from(kind % 4)].min(length);
                datagram[..forced].copy_from_slice(&version_1[..forced]);
                datagram
            })
            .collect();
        for keys in &keys {
            for datagram in &datagrams {
                let mut datagram = datagram.clone();
                assert!(keys.unprotect(8, Some(3), &mut datagram).is_err());
            }
            let mut batch: Vec<_> = datagrams
                .iter_mut()
                .map(|datagram| Incoming::new(keys, 8, Some(3), datagram))
                .collect();
            batch::unprotect(&mut engine.batch_buffer(8), &mut batch).expect("served");
            assert!(batch.iter().all(|incoming| incoming.outcome.is_err()));
        }
    }
}

#[test]
fn every_cut_and_every_flipped_bit_is_noticed() {
    let engine = Engine::new();
    for suite in SUITES {
        let keys = keys(&engine, suite);
        let good = packet(&keys, 0x40, 3);
        for length in 0..good.len() {
            let mut cut = good[..length].to_vec();
            assert!(keys.unprotect(8, None, &mut cut).is_err());
        }
        for bit in 0..8 * good.len() {
            let mut forged = good.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            assert!(keys.unprotect(8, None, &mut forged).is_err(), "bit {bit}");
        }
        let opened = keys.unprotect(8, None, &mut good.clone()).expect("opened");
        assert_eq!((opened.number, opened.payload), (0, 10..13));
    }
}

#[test]
fn the_others_of_a_batch_live() {
    let engine = Engine::new();
    let connections: Vec<_> = (0..100).map(|at| keys(&engine, SUITES[at % 2])).collect();
    let mut packets: Vec<_> =
        connections.iter().enumerate().map(|(at, keys)| packet(keys, 0x41, at * 13 + 2)).collect();
    for (at, packet) in packets.iter_mut().enumerate() {
        match at % 10 {
            3 => packet.truncate(20),
            6 => *packet.last_mut().expect("a tag") ^= 0x80,
            _ => {}
        }
    }
    let mut batch: Vec<_> = connections
        .iter()
        .zip(&mut packets)
        .map(|(keys, packet)| Incoming::new(keys, 8, None, packet))
        .collect();
    batch::unprotect(&mut engine.batch_buffer(8), &mut batch).expect("served");
    for (at, Incoming { outcome, datagram, .. }) in batch.into_iter().enumerate() {
        match at % 10 {
            3 => assert_eq!(outcome, Err(Dropped::TooShort)),
            6 => assert_eq!(outcome, Err(Error::Authentication.into())),
            _ => {
                let payload = &datagram[outcome.expect("opened").payload];
                assert!(payload.len() == at * 13 + 2 && payload.iter().all(|&byte| byte == 7));
            }
        }
    }
}

#[test]
fn coalesced_packets_follow_one_another() {
    let engine = Engine::new();
    let keys = keys(&engine, Suite::Aes128Gcm);
    // A Handshake packet without connection IDs, with 1 + 4 + 16 bytes after the length.
    let mut datagram = vec![0xe0, 0, 0, 0, 1, 0, 0, 21, 5];
    datagram.resize(8 + 21, 0);
    keys.protect(5, 9, &mut datagram).expect("protected");
    let end = datagram.len();
    datagram.extend(packet(&keys, 0x43, 9));

    let layout = Layout::of(&datagram, 8).expect("a packet");
    assert_eq!((layout.number_at, layout.end), (8, end));
    let opened = keys.unprotect(8, Some(4), &mut datagram).expect("opened");
    assert_eq!((opened.number, opened.payload), (5, 9..13));
    let opened = keys.unprotect(8, None, &mut datagram[layout.end..]).expect("opened");
    assert_eq!((opened.number, opened.payload), (0, 13..22));
}

#[test]
fn other_kinds_of_packets() {
    let long = |first: u8, rest: &[u8]| {
        let mut datagram = [&[first], rest].concat();
        datagram.resize(100, 0);
        Layout::of(&datagram, 8)
    };
    assert_eq!(long(0xc0, &[0, 0, 0, 2]), Err(Dropped::OtherKind), "version 2");
    assert_eq!(long(0xc0, &[0, 0, 0, 0]), Err(Dropped::OtherKind), "Version Negotiation");
    assert_eq!(long(0xf0, &[0, 0, 0, 1]), Err(Dropped::OtherKind), "Retry");
    assert_eq!(long(0x00, &[]), Err(Dropped::OtherKind), "no fixed bit");
    assert_eq!(long(0xe0, &[0, 0, 0, 1, 21]), Err(Dropped::OtherKind), "long connection ID");
    let length = [0, 0, 0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(long(0xe0, &length), Err(Dropped::TooShort), "length beyond the end");
    assert_eq!(long(0xc0, &length), Err(Dropped::TooShort), "token beyond the end");
    assert_eq!(long(0xe0, &[0, 0, 0, 1, 0, 0, 19]), Err(Dropped::TooShort), "no sample");
    assert!(long(0xe0, &[0, 0, 0, 1, 0, 0, 20]).is_ok());
}

#[test]
fn reserved_bits_are_refused_in_authentic_packets() {
    let engine = Engine::new();
    let keys = keys(&engine, Suite::Aes128Gcm);
    for first in [0x48, 0x50, 0x58] {
        let mut packet = packet(&keys, first, 30);
        assert_eq!(keys.unprotect(8, None, &mut packet), Err(Dropped::ReservedBits));
    }
}

#[test]
fn packets_without_room_are_not_protected() {
    let engine = Engine::new();
    let keys = keys(&engine, Suite::Aes128Gcm);
    // A packet number of one byte needs a payload of three.
    for (header, length, first) in
        [(0, 0, 0x40), (0, 40, 0x40), (1, 40, 0x40), (10, 28, 0x40), (13, 28, 0x43), (50, 40, 0x40)]
    {
        let mut packet = vec![0; length];
        if let Some(byte) = packet.first_mut() {
            *byte = first;
        }
        let before = packet.clone();
        assert_eq!(keys.protect(0, header, &mut packet), Err(Error::DataLength));
        let mut good = vec![0x40; 40];
        let mut batch = [(10, &mut good), (header, &mut packet)].map(|(header, packet)| Outgoing {
            keys: &keys,
            number: 0,
            header,
            packet,
        });
        assert_eq!(batch::protect(&mut engine.batch_buffer(8), &mut batch), Err(Error::DataLength));
        assert_eq!((packet, good), (before, vec![0x40; 40]));
    }
}
