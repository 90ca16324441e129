//! Datagrams that anyone could send.

use core::net::SocketAddrV4;

use lanecrypt::{Cipher, random};
use ring::aead::LessSafeKey;

use crate::keys::{Filled, Keys, Loop, Suite};
use crate::relay::{Relay, Slot};
use crate::traffic::{HOSTILE, Traffic};
use crate::wire::{AT_ONCE, Dropped, HEADER};

const PEERS: u32 = 5;

fn slot(bytes: &[u8]) -> Slot {
    let mut slot = Slot::new();
    slot.bytes[..bytes.len()].copy_from_slice(bytes);
    slot.length = bytes.len();
    slot.from = SocketAddrV4::new([127, 0, 0, 1].into(), 7);
    slot
}

/// Returns what a relay sends in answer, in turns of this many datagrams.
fn relayed<K: Keys>(relay: &mut Relay<K>, datagrams: &[Vec<u8>], at_once: usize) -> Vec<Vec<u8>> {
    let mut sent = Vec::new();
    for datagrams in datagrams.chunks(at_once) {
        let mut slots: Vec<Slot> = datagrams.iter().map(|datagram| slot(datagram)).collect();
        relay.turn(&mut slots);
        let answers = slots.iter().filter(|slot| slot.to.is_some());
        sent.extend(answers.map(|slot| slot.bytes[..slot.length].to_vec()));
    }
    sent
}

/// The number of dropped datagrams for each reason.
fn counts<K: Keys>(relay: &Relay<K>) -> [u64; 5] {
    Dropped::ALL.map(|why| relay.dropped(why))
}

fn each_way(suite: Suite, traffic: &Traffic, at_once: usize) -> [(Vec<Vec<u8>>, [u64; 5]); 3] {
    fn one<K: Keys>(suite: Suite, traffic: &Traffic, at_once: usize) -> (Vec<Vec<u8>>, [u64; 5]) {
        let mut relay = Relay::<K>::new(suite, traffic.secrets()).expect("keys");
        let sent = relayed(&mut relay, traffic.datagrams(), at_once);
        (sent, counts(&relay))
    }
    [
        one::<Filled>(suite, traffic, at_once),
        one::<Loop<Cipher>>(suite, traffic, at_once),
        one::<Loop<LessSafeKey>>(suite, traffic, at_once),
    ]
}

#[test]
fn all_ways_pass_the_same_and_drop_what_is_hostile() {
    for suite in Suite::ALL {
        for at_once in [1, 3, AT_ONCE] {
            let traffic = Traffic::new(suite, PEERS, 200).expect("keys");
            let [(mut filled, dropped), looped, ring] = each_way(suite, &traffic, at_once);
            assert!(filled == looped.0 && filled == ring.0, "{suite:?} {at_once}");
            // One datagram of each kind: short, unknown, replayed, forged.
            assert_eq!(dropped, [1, 1, 1, 1, 0], "{suite:?} {at_once}");
            assert!(dropped == looped.1 && dropped == ring.1);
            assert_eq!(traffic.check(&mut filled).expect("genuine"), 200);
            assert_eq!(traffic.datagrams().len(), 200 + HOSTILE);
        }
    }
}

#[test]
fn a_datagram_is_taken_once_within_a_turn_and_after() {
    for suite in Suite::ALL {
        let traffic = Traffic::new(suite, PEERS, 20).expect("keys");
        let mut relay = Relay::<Filled>::new(suite, traffic.secrets()).expect("keys");
        let first = traffic.datagrams()[0].clone();
        let sent = relayed(&mut relay, &[first.clone(), first.clone(), first.clone()], AT_ONCE);
        assert_eq!((sent.len(), counts(&relay)), (1, [0, 0, 2, 0, 0]));
        assert!(relayed(&mut relay, &[first], AT_ONCE).is_empty());
        assert_eq!(counts(&relay), [0, 0, 3, 0, 0]);
    }
}

#[test]
fn any_changed_byte_is_a_forgery_that_changes_nothing_for_its_peer() {
    for suite in Suite::ALL {
        let traffic = Traffic::new(suite, PEERS, 20).expect("keys");
        let mut relay = Relay::<Filled>::new(suite, traffic.secrets()).expect("keys");
        let genuine = traffic.datagrams()[1].clone();
        let forged = (HEADER..genuine.len()).map(|at| {
            let mut forged = genuine.clone();
            forged[at] ^= 1;
            forged
        });
        let forged: Vec<Vec<u8>> = forged.collect();
        assert!(relayed(&mut relay, &forged, AT_ONCE).is_empty());
        assert_eq!(counts(&relay), [0, 0, 0, forged.len() as u64, 0]);
        assert_eq!(relayed(&mut relay, &[genuine], 1).len(), 1);
    }
}

#[test]
fn who_has_not_been_heard_of_receives_nothing() {
    let suite = Suite::ChaCha20Poly1305;
    let traffic = Traffic::new(suite, PEERS, 200).expect("keys");
    let mut relay = Relay::<Filled>::new(suite, traffic.secrets()).expect("keys");
    // Without the messages that announce the addresses of the peers.
    let later = &traffic.datagrams()[PEERS as usize + HOSTILE..][..1];
    let is_to_itself = relayed(&mut relay, later, 1).len();
    assert_eq!(counts(&relay)[4], 1 - is_to_itself as u64);
}

#[test]
fn no_bytes_whatever_do_harm() {
    let traffic = Traffic::new(Suite::Aes128Gcm, PEERS, 20).expect("keys");
    let mut relay = Relay::<Filled>::new(Suite::Aes128Gcm, traffic.secrets()).expect("keys");
    let genuine = &traffic.datagrams()[0];
    let mut any: Vec<Vec<u8>> = (0..genuine.len()).map(|end| genuine[..end].to_vec()).collect();
    any.extend((0..500).map(|_| {
        let mut bytes = vec![0; random::range(0..2049_usize)];
        random::fill(&mut bytes);
        if let Some(front) = bytes.first_chunk_mut() {
            *front = random::range(0..PEERS + 1).to_be_bytes();
        }
        bytes
    }));
    for at_once in [1, AT_ONCE] {
        assert!(relayed(&mut relay, &any, at_once).is_empty());
    }
    assert_eq!(counts(&relay).iter().sum::<u64>(), 2 * any.len() as u64);
    assert_eq!(relayed(&mut relay, core::slice::from_ref(genuine), 1).len(), 1, "and it continues");
}

#[test]
fn packets_pass_through_sockets() {
    for suite in Suite::ALL {
        for run in
            [crate::run::<Filled>, crate::run::<Loop<Cipher>>, crate::run::<Loop<LessSafeKey>>]
        {
            let run = run(suite, 300).expect("passed");
            assert!(run.rate > 0.0 && run.protecting > 0.0, "{run:?}");
        }
    }
}
