//! Every cipher that is found gives the same results as another implementation, however a message
//! is split.

use std::collections::HashMap;
use std::thread;

use crate::{bytes, iv, key, name};
use aes::{Aes128, Aes256};
use cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit, consts::U16};
use lanecrypt_peers::{
    Availability, Cipher, Direction, Message, Peer, PeerLibraries, Run, ciphers, lengths,
};

const ALGORITHMS: [&str; 7] = [
    "3des-cbc",
    "aes-128-cbc",
    "aes-128-ctr",
    "chacha20-ietf",
    "des-cbc",
    "serpent-128-cbc",
    "serpent-128-ctr",
];

fn found() -> Vec<Peer<dyn Cipher>> {
    crate::found(ciphers)
}

/// Whether the peer takes a message of `len` bytes in pieces of `piece`: some drop the rest of a
/// partial block, and a data unit of XTS cannot be split.
fn cuts(peer: &Peer<dyn Cipher>, piece: usize, len: usize) -> bool {
    let block = match (peer.source, peer.subject) {
        ("nettle" | "aws-lc", "chacha20-ietf") => 64,
        ("nettle" | "ipsec-mb", "aes-128-ctr" | "serpent-128-ctr") => 16,
        (_, "aes-128-xts" | "aes-256-xts") => usize::MAX,
        _ => 1,
    };
    piece >= len || piece.is_multiple_of(block)
}

/// XTS as IEEE 1619 specifies it, block by block.
fn data_unit<C>(direction: Direction, key: &[u8], iv: &[u8], data: &mut [u8])
where
    C: BlockSizeUser<BlockSize = U16> + KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
{
    let (first, second) = key.split_at(key.len() / 2);
    let cipher = C::new_from_slice(first).expect("half of the key");
    let mut tweak = Array::try_from(iv).expect("16 bytes");
    C::new_from_slice(second).expect("half of the key").encrypt_block(&mut tweak);
    let double = |tweak: &mut Array<u8, U16>| {
        let number = u128::from_le_bytes((*tweak).into());
        *tweak = ((number << 1) ^ ((number >> 127) * 0x87)).to_le_bytes().into();
    };
    let apply = |block: &mut [u8], tweak: &Array<u8, U16>| {
        let mut inner: Array<u8, U16> = core::array::from_fn(|at| block[at] ^ tweak[at]).into();
        match direction {
            Direction::Encrypt => cipher.encrypt_block(&mut inner),
            Direction::Decrypt => cipher.decrypt_block(&mut inner),
        }
        block.copy_from_slice(&core::array::from_fn::<u8, 16, _>(|at| inner[at] ^ tweak[at]));
    };
    let (blocks, rest) = (data.len() / 16, data.len() % 16);
    let whole = if rest == 0 { blocks } else { blocks - 1 };
    for block in data.chunks_mut(16).take(whole) {
        apply(block, &tweak);
        double(&mut tweak);
    }
    if rest == 0 {
        return;
    }
    // The last partial block takes ciphertext from the block before, whose tweak is the last one
    // when decrypting.
    let mut tweaks = [tweak, tweak];
    double(&mut tweaks[1]);
    if direction == Direction::Decrypt {
        tweaks.swap(0, 1);
    }
    let (block, part) = data[whole * 16..].split_at_mut(16);
    apply(block, &tweaks[0]);
    block[..rest].swap_with_slice(part);
    apply(block, &tweaks[1]);
}

/// The crates' answer, which every other peer is compared with.
fn expected(algorithm: &str, direction: Direction, seed: u64, data: &[u8]) -> Vec<u8> {
    if algorithm.ends_with("xts") {
        let (key_len, iv_len) = lengths(algorithm).expect("a known algorithm");
        let (key, iv) = (bytes(seed + 1, key_len), bytes(seed + 1000, iv_len));
        let mut data = data.to_vec();
        match key_len {
            32 => data_unit::<Aes128>(direction, &key, &iv, &mut data),
            _ => data_unit::<Aes256>(direction, &key, &iv, &mut data),
        }
        return data;
    }
    let peer = crate::reference(ciphers, algorithm);
    let mut cipher = peer.open(direction, &[&key(algorithm, seed)]).expect("the right length");
    let mut data = data.to_vec();
    let whole = data.len().max(1);
    cipher.chunks(&iv(algorithm, seed), &mut data, whole, 1).expect("whole blocks");
    data
}

#[test]
fn the_list_is_whole_and_says_how_to_get_what_is_missing() {
    let peers = ciphers(&PeerLibraries::new());
    crate::is_whole(&peers);
    for peer in &peers {
        let found = matches!(peer.availability, Availability::Found(_));
        assert!(lengths(peer.subject).is_some(), "{}", name(peer));
        for direction in Direction::ALL {
            assert_eq!(
                peer.open(direction, &[&key(peer.subject, 1)]).is_some(),
                found,
                "{}",
                name(peer)
            );
            assert!(peer.open(direction, &[]).is_none(), "{}", name(peer));
        }
    }
    let crates = peers.iter().filter(|peer| peer.source == "rustcrypto");
    let mut algorithms: Vec<&str> = crates.map(|peer| peer.subject).collect();
    algorithms.sort_unstable();
    assert_eq!(algorithms, ALGORITHMS);
}

#[test]
fn answers_are_those_of_the_crates_however_a_message_is_cut() {
    for peer in found() {
        for direction in Direction::ALL {
            let input = bytes(77, 1024);
            let output = expected(peer.subject, direction, 5, &input);
            let mut cipher = peer.open(direction, &[&key(peer.subject, 5)]).expect("it was found");
            for chunk in [16, 32, 48, 64, 80, 128, 256, 512, 1008, 1024, 4096] {
                let mut data = vec![0xA5; 1024 + 32];
                data[16..1040].copy_from_slice(&input);
                let done = cipher.chunks(&iv(peer.subject, 5), &mut data[16..1040], chunk, 1);
                if !cuts(&peer, chunk, 1024) {
                    assert!(done.is_err(), "{} {chunk}", name(&peer));
                    continue;
                }
                done.expect("whole blocks");
                assert_eq!(data[16..1040], output, "{} {direction:?} {chunk}", name(&peer));
                assert_eq!([&data[..16], &data[1040..]], [[0xA5; 16]; 2], "{}", name(&peer));
            }
        }
    }
}

#[test]
fn long_messages_are_whole() {
    for peer in found() {
        let fast = !["des-cbc", "3des-cbc"].contains(&peer.subject);
        for len in if fast { vec![65_536, 300_000] } else { vec![65_536] } {
            let input = bytes(79, len);
            let output = expected(peer.subject, Direction::Encrypt, 9, &input);
            let mut cipher =
                peer.open(Direction::Encrypt, &[&key(peer.subject, 9)]).expect("it was found");
            let mut data = input.clone();
            let done = cipher.chunks(&iv(peer.subject, 9), &mut data, len, 1);
            if peer.source == "ipsec-mb" && peer.subject.ends_with("cbc") {
                assert!(done.is_err(), "it would do nothing, and take no time");
                continue;
            }
            done.expect("whole blocks");
            assert!(data == output, "{} {len}", name(&peer));
        }
    }
}

#[test]
fn counters_and_streams_take_any_length() {
    let any = |peer: &&Peer<dyn Cipher>| {
        !["cbc", "xts"].contains(&&peer.subject[peer.subject.len() - 3..])
    };
    for peer in found().iter().filter(any) {
        for len in [1, 15, 17, 63, 65, 100, 255, 1500] {
            let input = bytes(78, len);
            let output = expected(peer.subject, Direction::Encrypt, 6, &input);
            for chunk in [len, 7] {
                let mut data = input.clone();
                let mut cipher =
                    peer.open(Direction::Decrypt, &[&key(peer.subject, 6)]).expect("it was found");
                let done = cipher.chunks(&iv(peer.subject, 6), &mut data, chunk, 1);
                if !cuts(peer, chunk, len) {
                    assert!(done.is_err(), "{} {len} in {chunk}", name(peer));
                    continue;
                }
                done.expect("any length");
                assert_eq!(data, output, "{} {len} in {chunk}", name(peer));
            }
        }
    }
}

#[test]
fn data_units_steal_ciphertext_and_have_a_block_at_least() {
    let peers = found();
    let units: Vec<&Peer<dyn Cipher>> =
        peers.iter().filter(|peer| peer.subject.ends_with("xts")).collect();
    for peer in &units {
        for direction in Direction::ALL {
            let mut cipher = peer.open(direction, &[&key(peer.subject, 4)]).expect("it was found");
            for len in [16, 17, 24, 31, 32, 33, 47, 100, 512, 520, 1500] {
                let input = bytes(80, len);
                let mut data = input.clone();
                cipher.chunks(&iv(peer.subject, 4), &mut data, len, 1).expect("a data unit");
                let output = expected(peer.subject, direction, 4, &input);
                assert_eq!(data, output, "{} {direction:?} {len}", name(peer));
                assert!(
                    cipher.chunks(&iv(peer.subject, 4), &mut data, len, 2).is_err(),
                    "a second one"
                );
            }
            for len in [1, 15] {
                let mut data = vec![1; len];
                assert!(
                    cipher.chunks(&iv(peer.subject, 4), &mut data, len, 1).is_err(),
                    "{}",
                    name(peer)
                );
                assert_eq!(data, vec![1; len], "{}", name(peer));
            }
        }
    }
    // No crate replaces a missing library here.
    println!("{} peers in XTS", units.len());
}

/// IEEE 1619-2007, vectors 2 and 15. They check the reference that the peers in XTS are compared
/// with.
#[test]
fn data_units_are_as_published() {
    let mut iv = [0; 16];
    iv[..5].copy_from_slice(&[0x33; 5]);
    let key: Vec<u8> = [[0x11; 16], [0x22; 16]].concat();
    let mut data = [0x44; 32];
    data_unit::<Aes128>(Direction::Encrypt, &key, &iv, &mut data);
    assert_eq!(data[..4], [0xc4, 0x54, 0x18, 0x5e]);
    assert_eq!(data[28..], [0xd6, 0xd3, 0x94, 0xf0]);
    let key: Vec<u8> = (0xf0..=0xff).rev().chain((0xb0..=0xbf).rev()).collect();
    iv[..5].copy_from_slice(&[0x9a, 0x78, 0x56, 0x34, 0x12]);
    let plain: Vec<u8> = (0..17).collect();
    let mut data = plain.clone();
    data_unit::<Aes128>(Direction::Encrypt, &key, &iv, &mut data);
    let sealed = [
        0x6c, 0x16, 0x25, 0xdb, 0x46, 0x71, 0x52, 0x2d, 0x3d, 0x75, 0x99, 0x60, 0x1d, 0xe7, 0xca,
        0x09, 0xed,
    ];
    assert_eq!(data, sealed);
    data_unit::<Aes128>(Direction::Decrypt, &key, &iv, &mut data);
    assert_eq!(data, plain);
}

#[test]
fn the_counter_block_is_counted_as_a_whole() {
    for peer in found().iter().filter(|peer| peer.subject.ends_with("ctr")) {
        let mut cipher =
            peer.open(Direction::Encrypt, &[&key(peer.subject, 7)]).expect("it was found");
        // The second block's counter is zero; so is that of a message that begins there.
        let (mut two, mut one) = ([0; 32], [0; 16]);
        let done = cipher.chunks(&[0xff; 16], &mut two, 32, 1);
        if peer.source == "ipsec-mb" {
            assert!(done.is_err(), "it counts in 32 bits, which must not be measured");
            continue;
        }
        done.expect("whole blocks");
        cipher.chunks(&[0; 16], &mut one, 16, 1).expect("whole blocks");
        assert_eq!(two[16..], one, "{}", name(peer));
    }
}

#[test]
fn sessions_have_keys_of_their_own() {
    const SESSIONS: usize = 5;
    for peer in found() {
        for direction in Direction::ALL {
            let keys: Vec<Vec<u8>> = (0..SESSIONS as u64).map(|n| key(peer.subject, n)).collect();
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            let ivs: Vec<Vec<u8>> = (0..SESSIONS as u64).map(|n| iv(peer.subject, n)).collect();
            let inputs: Vec<Vec<u8>> = (0..SESSIONS as u64).map(|n| bytes(n + 50, 96)).collect();
            let mut data = inputs.clone();
            let mut batch: Vec<Message<'_>> = Vec::new();
            for (session, data) in data.iter_mut().enumerate() {
                batch.push(Message { session, iv: &ivs[session], data });
            }
            batch.swap(0, 3);
            let mut cipher = peer.open(direction, &keys).expect("it was found");
            cipher.messages(&mut batch, Run::of(SESSIONS)).expect("whole blocks");
            for (n, data) in (0..).zip(&data) {
                let input = &inputs[usize::try_from(n).expect("few")];
                assert_eq!(data, &expected(peer.subject, direction, n, input), "{}", name(&peer));
            }

            // More requests than messages: the first two go twice. Another session: another key.
            let mut data = [inputs[0].clone(), inputs[1].clone(), inputs[2].clone()];
            let [a, b, c] = &mut data;
            let mut batch = [(4, a), (0, b), (1, c)].map(|(session, data)| Message {
                session,
                iv: &ivs[0],
                data,
            });
            cipher.messages(&mut batch, Run::of(5)).expect("whole blocks");
            let mut twice = peer.open(direction, &[keys[4], keys[0]]).expect("it was found");
            let mut again = [inputs[0].clone(), inputs[1].clone()];
            for _ in 0..2 {
                twice.chunks(&ivs[0], &mut again[0], 96, 1).expect("whole blocks");
            }
            assert_eq!(again[0], data[0], "{}", name(&peer));
            let mut batch = [Message { session: 1, iv: &ivs[0], data: &mut again[1] }];
            twice.messages(&mut batch, Run::of(2)).expect("whole blocks");
            assert_eq!(again[1], data[1], "{}", name(&peer));

            let mut batch = [Message { session: SESSIONS, iv: &ivs[0], data: &mut data[0] }];
            assert!(cipher.messages(&mut batch, Run::of(1)).is_err(), "no such session");
            assert!(cipher.messages(&mut [], Run::of(1)).is_err(), "no message");
            assert!(cipher.messages(&mut [], Run::of(0)).is_ok(), "nothing to do");
        }
    }
}

#[test]
fn new_keys_take_effect() {
    for peer in found() {
        for direction in Direction::ALL {
            let (first, second) = (key(peer.subject, 1), key(peer.subject, 2));
            let input = bytes(60, 64);
            let mut cipher = peer.open(direction, &[&first, &first]).expect("it was found");
            cipher.set_keys(&[&first, &second], 4).expect("right lengths");
            let set = cipher.set_ivs(&iv(peer.subject, 1), 3);
            assert_eq!(
                set.is_ok(),
                peer.source != "ipsec-mb",
                "{}: its IVs are in jobs",
                name(&peer)
            );
            let mut data = input.clone();
            cipher.chunks(&iv(peer.subject, 2), &mut data, 64, 1).expect("whole blocks");
            assert_eq!(data, expected(peer.subject, direction, 2, &input), "{}", name(&peer));

            let (iv, mut data) = (iv(peer.subject, 2), input.clone());
            let mut batch = [Message { session: 1, iv: &iv, data: &mut data }];
            let fresh: [&[u8]; 1] = [&second];
            let run = Run::of(1).with_keys(Some(&fresh));
            cipher.messages(&mut batch, run).expect("right lengths");
            assert_eq!(data, expected(peer.subject, direction, 2, &input), "{}", name(&peer));
            assert!(cipher.set_keys(&[], 1).is_err(), "no key");
        }
    }
}

#[test]
fn contexts_and_look_ups_leave_the_message_alone() {
    let mut fetched = HashMap::new();
    for peer in found() {
        let input = bytes(61, 64);
        let mut cipher =
            peer.open(Direction::Encrypt, &[&key(peer.subject, 3)]).expect("it was found");
        let mut data = input.clone();
        let opened = cipher.open(&[&key(peer.subject, 4)], &iv(peer.subject, 4), 3);
        let has_contexts = !["nettle", "ipsec-mb"].contains(&peer.source)
            && name(&peer) != "aws-lc direct chacha20-ietf";
        assert_eq!(opened.is_ok(), has_contexts, "{}", name(&peer));
        *fetched.entry(peer.source).or_insert(false) |= cipher.fetch(3).is_ok();
        cipher.chunks(&iv(peer.subject, 3), &mut data, 64, 1).expect("whole blocks");
        let output = expected(peer.subject, Direction::Encrypt, 3, &input);
        assert_eq!(data, output, "{}", name(&peer));
    }
    assert_eq!(fetched.get("rustcrypto"), Some(&false), "crates have nothing to look up");
    assert_ne!(fetched.get("openssl"), Some(&false));
}

#[test]
fn wrong_lengths_are_errors() {
    for peer in found() {
        let (key_len, iv_len) = lengths(peer.subject).expect("a known algorithm");
        assert!(
            peer.open(Direction::Encrypt, &[&vec![1; key_len + 9]]).is_none(),
            "{}",
            name(&peer)
        );
        let mut cipher =
            peer.open(Direction::Encrypt, &[&key(peer.subject, 1)]).expect("it was found");
        let mut data = [0; 17];
        let iv = iv(peer.subject, 1);
        for len in [0, iv_len - 1, iv_len + 1] {
            assert!(cipher.set_ivs(&vec![1; len], 1).is_err(), "{} {len}", name(&peer));
        }
        assert!(cipher.set_keys(&[&vec![1; key_len - 1]], 1).is_err(), "{}", name(&peer));
        cipher.set_keys(&[&key(peer.subject, 1)], 1).expect("the right length");
        assert!(cipher.chunks(&iv[1..], &mut data[..16], 16, 1).is_err(), "{}", name(&peer));
        assert!(cipher.chunks(&iv, &mut data, 0, 1).is_err(), "{}", name(&peer));
        let parts = cipher.chunks(&iv, &mut data, 17, 1);
        assert_eq!(parts.is_err(), peer.subject.ends_with("cbc"), "{}", name(&peer));
    }
}

#[test]
fn several_threads_have_ciphers_of_their_own() {
    for peer in found() {
        let input = bytes(62, 256);
        let output = expected(peer.subject, Direction::Decrypt, 8, &input);
        let piece = if cuts(&peer, 64, 256) { 64 } else { 256 };
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let keys = [key(peer.subject, 8)];
                        let mut cipher =
                            peer.open(Direction::Decrypt, &[&keys[0]]).expect("it was found");
                        let mut data = input.clone();
                        cipher
                            .chunks(&iv(peer.subject, 8), &mut data, piece, 1)
                            .expect("whole blocks");
                        assert_eq!(data, output, "{}", name(&peer));
                    }
                });
            }
        });
    }
}
