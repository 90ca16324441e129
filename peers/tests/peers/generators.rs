//! Every peer that is found works, in one thread and in several.

use std::collections::HashSet;
use std::thread;

use crate::name;
use lanecrypt_peers::{Availability, Generator, Peer, PeerLibraries, generators};

fn found() -> Vec<Peer<dyn Generator>> {
    let peers = crate::found(generators);
    // The kernel's generators, which every Linux has, and the crates cannot be missing.
    assert!(peers.len() >= 8, "{peers:?}");
    peers
}

#[test]
fn the_list_is_whole_and_says_how_to_get_what_is_missing() {
    let peers = generators(&PeerLibraries::new());
    assert!(peers.len() >= 16, "some are lost");
    crate::is_whole(&peers);
    for peer in &peers {
        let found = matches!(peer.availability, Availability::Found(_));
        assert_eq!(peer.make().is_some(), found, "{}", name(peer));
    }
}

#[test]
fn fills_reach_every_byte_and_never_repeat() {
    for peer in found() {
        let mut generator = peer.make().expect("it was found");
        for len in [0, 1, 3, 4, 8, 31, 32, 33, 256, 257, 4096, 70_001] {
            let before = vec![0; len + 16];
            let (mut first, mut second) = (before.clone(), before.clone());
            generator.fills(&mut first[8..len + 8], 1);
            generator.fills(&mut second[8..len + 8], 2);
            for buffer in [&first, &second] {
                assert_eq!(buffer[..8], [0; 8], "{}: written before the buffer", name(&peer));
                assert_eq!(buffer[len + 8..], [0; 8], "{}: written behind it", name(&peer));
            }
            if len >= 31 {
                assert_ne!(first, second, "{}", name(&peer));
            }
            // A byte that no fill reaches stays zero; one of 31 in a row is rarely zero thrice.
            let left = (8..len + 8).filter(|&at| first[at] == 0 && second[at] == 0).count();
            assert!(left <= 2 + len / 1000, "{}: {left} bytes of {len} unwritten", name(&peer));
        }
    }
}

#[test]
fn bytes_are_spread_evenly() {
    for peer in found() {
        let mut generator = peer.make().expect("it was found");
        let mut buffer = vec![0; 256 * 256];
        generator.fills(&mut buffer, 1);
        let mut counts = [0_u32; 256];
        for byte in buffer {
            counts[usize::from(byte)] += 1;
        }
        // Chi-square with 255 degrees of freedom: mean 255, deviation 22.6; the bounds are seven
        // deviations away.
        let squares: f64 = counts.iter().map(|&count| (f64::from(count) - 256.0).powi(2)).sum();
        let chi_square = squares / 256.0;
        assert!((100.0..415.0).contains(&chi_square), "{}: {chi_square}", name(&peer));
    }
}

#[test]
fn words_differ_within_and_between_threads() {
    for peer in found() {
        let draw = || {
            let mut generator = peer.make().expect("it was found");
            (0..200).map(|_| generator.words(1)).collect::<Vec<u32>>()
        };
        let mut words = HashSet::new();
        thread::scope(|scope| {
            for thread in [scope.spawn(draw), scope.spawn(draw)] {
                words.extend(thread.join().expect("no panic"));
            }
        });
        // 400 words of 32 bits coincide with probability 2e-5 once, and practically never twice.
        assert!(words.len() >= 399, "{}: {} different words", name(&peer), words.len());
    }
}

#[test]
fn no_words_fold_to_nothing() {
    for peer in found() {
        let mut generator = peer.make().expect("it was found");
        assert_eq!(generator.words(0), 0, "{}", name(&peer));
        let folded: HashSet<u32> = (0..8).map(|_| generator.words(3)).collect();
        assert!(folded.len() >= 7, "{}", name(&peer));
    }
}
