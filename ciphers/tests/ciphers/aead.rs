//! The front door: one message in all the ways it can be sealed and opened, at every level.

use lanecrypt_ciphers::{
    Cipher, Error, InOutBuf, Isa, Nonce, NonceSequence, Nonces, Opener, RandomNonces, Sealer,
};
use lanecrypt_testing::aeads::{aeads, any_nonce, in_pieces, tag_lengths, whole};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::Numbers;

/// What is not part of any output.
const UNTOUCHED: u8 = 0xa5;

/// Every algorithm at every level, with a key.
fn ciphers(numbers: &mut Numbers) -> Vec<Cipher> {
    let mut ciphers = Vec::new();
    for algorithm in aeads() {
        let key = numbers.bytes(algorithm.key_lengths().longest());
        ciphers.extend(
            levels().map(|isa| Cipher::with_isa(isa, algorithm, &key).expect("a good key")),
        );
    }
    assert_eq!(ciphers.len(), 26 * levels().count());
    ciphers
}

/// Those that take messages in pieces.
fn with_pieces(ciphers: Vec<Cipher>) -> impl Iterator<Item = Cipher> {
    ciphers.into_iter().filter(|cipher| cipher.algorithm().has_pieces())
}

/// A message with all that belongs to it.
struct Case {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    message: Vec<u8>,
    /// The ciphertext with the longest tag.
    packet: Vec<u8>,
}

impl Case {
    /// Sealed in place and detached, which the crates of RustCrypto agree with: see `aead_traits`.
    /// The cipher has the longest tags then.
    fn new(cipher: &mut Cipher, numbers: &mut Numbers, len: usize) -> Self {
        let algorithm = cipher.algorithm();
        let longest = tag_lengths(algorithm).into_iter().max().expect("it has tags");
        cipher.set_tag_length(longest).expect("a good length");
        let nonce = numbers.bytes(algorithm.nonce_length());
        let aad_length = numbers.below(40);
        let (aad, message) = (numbers.bytes(aad_length), numbers.bytes(whole(algorithm, len)));
        let (mut packet, mut tag) = (message.clone(), vec![0; longest]);
        cipher.seal_detached(&nonce, &aad, &mut packet[..], &mut tag).expect("short enough");
        packet.extend(tag);
        Self { nonce, aad, message, packet }
    }
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..=40).chain([63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 575, 1024, 1500, 4097])
}

#[test]
fn all_ways_to_seal_and_open_agree() {
    let mut numbers = Numbers(1);
    for mut cipher in ciphers(&mut numbers) {
        let algorithm = cipher.algorithm();
        for len in lengths().filter(|&len| len == whole(algorithm, len)) {
            let case = Case::new(&mut cipher, &mut numbers, len);
            for tag in tag_lengths(algorithm) {
                if tag == 4 && len + case.aad.len() > 1024 {
                    continue;
                }
                cipher.set_tag_length(tag).expect("a good length");
                assert_eq!(cipher.tag_length(), tag);
                all_ways(&cipher, &case, len + tag);
            }
        }
    }
}

/// With a tag that makes the packet so long.
fn all_ways(cipher: &Cipher, case: &Case, whole: usize) {
    let Case { nonce, aad, message, packet } = case;
    let (packet, len) = (&packet[..whole], message.len());
    let (text, tag) = packet.split_at(len);
    let place = format!("{cipher:?}, {len} of {whole} bytes");
    let mut out = vec![UNTOUCHED; len + 1];
    let mut made = vec![UNTOUCHED; tag.len() + 1];

    let apart = InOutBuf::new(message, &mut out[..len]).expect("equal lengths");
    let answer = cipher.seal_detached(nonce, aad, apart, &mut made[..tag.len()]);
    assert_eq!(answer, Ok(()), "{place}");
    assert_eq!((&out[..len], &made[..tag.len()]), (text, tag), "{place}: apart");
    assert!(made[tag.len()..].iter().all(|&byte| byte == UNTOUCHED), "{place}");
    let apart = InOutBuf::new(text, &mut out[..len]).expect("equal lengths");
    assert_eq!(cipher.open_detached(nonce, aad, apart, tag), Ok(()), "{place}");
    assert_eq!(out[..len], *message, "{place}: apart");
    out[..len].copy_from_slice(text);
    assert_eq!(cipher.open_detached(nonce, aad, &mut out[..len], tag), Ok(()), "{place}");
    assert_eq!(out[..len], *message, "{place}: in place");
    assert_eq!(out[len], UNTOUCHED, "{place}");

    let mut buffer = message.clone();
    buffer.resize(whole, UNTOUCHED);
    assert_eq!(cipher.seal(nonce, aad, &mut buffer), Ok(()), "{place}");
    assert_eq!(buffer, packet, "{place}: a packet");
    let opened = cipher.open(nonce, aad, &mut buffer).expect(&place);
    assert_eq!(opened, message, "{place}: a packet");

    buffer.fill(UNTOUCHED);
    assert_eq!(cipher.seal_to(nonce, aad, message, &mut buffer), Ok(()), "{place}");
    assert_eq!(buffer, packet, "{place}: a packet apart");
    out.truncate(len);
    out.fill(UNTOUCHED);
    assert_eq!(cipher.open_to(nonce, aad, packet, &mut out), Ok(()), "{place}");
    assert_eq!(out, *message, "{place}: a packet apart");
}

/// The whole output, whichever bit is wrong, and nothing around it.
#[test]
fn what_is_not_authentic_is_refused_and_wiped() {
    let mut numbers = Numbers(2);
    for mut cipher in ciphers(&mut numbers) {
        for len in [0, 1, 16, 33, 64, 300, 900] {
            let case = Case::new(&mut cipher, &mut numbers, len);
            for tag in tag_lengths(cipher.algorithm()) {
                cipher.set_tag_length(tag).expect("a good length");
                forgeries(&cipher, &case, case.message.len() + tag, &mut numbers);
            }
        }
    }
}

fn forgeries(cipher: &Cipher, case: &Case, whole: usize, numbers: &mut Numbers) {
    let Case { nonce, aad, message, packet } = case;
    let len = message.len();
    let flip = |bytes: &[u8], numbers: &mut Numbers| {
        let mut bytes = bytes.to_vec();
        let bit = numbers.below(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    };
    let packet = &packet[..whole];
    for _ in 0..4 {
        refused(cipher, nonce, aad, &flip(packet, numbers), len);
    }
    for bit in [0, 8 * (whole - len) - 1] {
        let mut forged = packet.to_vec();
        forged[len + bit / 8] ^= 1 << (bit % 8);
        refused(cipher, nonce, aad, &forged, len);
    }
    refused(cipher, &flip(nonce, numbers), aad, packet, len);
    refused(cipher, nonce, &[aad, &[0][..]].concat(), packet, len);
    if !aad.is_empty() {
        refused(cipher, nonce, &flip(aad, numbers), packet, len);
        refused(cipher, nonce, &aad[1..], packet, len);
    }
    // The fewest bytes less; the tag is then another one, too.
    let less = cipher.algorithm().granularity();
    if len > 0 {
        refused(cipher, nonce, aad, &packet[..whole - less], len - less);
        refused(cipher, nonce, aad, &packet[less..], len - less);
    }
}

fn refused(cipher: &Cipher, nonce: &[u8], aad: &[u8], packet: &[u8], len: usize) {
    let place = format!("{cipher:?}: {len} of {} bytes", packet.len());
    let (text, tag) = packet.split_at(len);
    let (wiped, error) = (vec![0; len], Err(Error::Authentication));
    let mut fenced = vec![UNTOUCHED; len + 2];

    fenced[1..=len].copy_from_slice(text);
    assert_eq!(cipher.open_detached(nonce, aad, &mut fenced[1..=len], tag), error, "{place}");
    assert_eq!(fenced[1..=len], wiped, "{place}: in place");

    fenced.fill(UNTOUCHED);
    let apart = InOutBuf::new(text, &mut fenced[1..=len]).expect("equal lengths");
    assert_eq!(cipher.open_detached(nonce, aad, apart, tag), error, "{place}");
    assert_eq!(fenced[1..=len], wiped, "{place}: apart");

    fenced.fill(UNTOUCHED);
    assert_eq!(cipher.open_to(nonce, aad, packet, &mut fenced[1..=len]), error, "{place}");
    assert_eq!(fenced[1..=len], wiped, "{place}: a packet apart");
    assert_eq!([fenced[0], fenced[len + 1]], [UNTOUCHED; 2], "{place}");

    let mut buffer = packet.to_vec();
    assert_eq!(cipher.open(nonce, aad, &mut buffer).map(drop), error, "{place}");
    assert_eq!(buffer[..len], wiped, "{place}: a packet");

    if !cipher.algorithm().has_pieces() {
        assert_eq!(cipher.opener(nonce).map(drop), Err(Error::Unsupported), "{place}");
        return;
    }
    let mut opener = cipher.opener(nonce).expect("a good nonce");
    opener.associate(aad).expect("short enough");
    opener.decrypt_unverified(&mut text.to_vec()[..]).expect("short enough");
    assert_eq!(opener.finish(tag), error, "{place}: in pieces");
}

/// Short messages at every split in two, with their associated data at every split in two.
#[test]
fn streaming_equals_one_shot_at_every_split() {
    let mut numbers = Numbers(3);
    for mut cipher in with_pieces(ciphers(&mut numbers)) {
        for len in [0, 1, 15, 16, 17, 48, 64, 100, 257] {
            let case = Case::new(&mut cipher, &mut numbers, len);
            for at in 0..=case.message.len() {
                let aad_at = at.min(case.aad.len());
                cut(&cipher, &case, &[aad_at], &[at]);
            }
            for at in 0..=case.aad.len() {
                cut(&cipher, &case, &[at], &[len / 2]);
            }
        }
    }
}

/// Longer ones, in many pieces, some of which are empty.
#[test]
fn streaming_equals_one_shot_at_random_splits() {
    let mut numbers = Numbers(4);
    for mut cipher in with_pieces(ciphers(&mut numbers)) {
        for round in 0..30 {
            let len = numbers.below(if round % 2 == 0 { 700 } else { 5000 });
            let mut case = Case::new(&mut cipher, &mut numbers, len);
            if round % 5 == 0 {
                case.aad = numbers.bytes(1000);
                case.packet = case.message.clone();
                case.packet.resize(case.packet.len() + cipher.tag_length(), 0);
                cipher.seal(&case.nonce, &case.aad, &mut case.packet).expect("short enough");
            }
            let mut cuts = |len: usize| {
                let step = 1 + numbers.below(1 + len / 2);
                let mut cuts = Vec::new();
                let mut left = len;
                while left > 0 && cuts.len() < 50 {
                    let cut = numbers.below(step + 1).min(left);
                    cuts.push(cut);
                    left -= cut;
                }
                cuts
            };
            let (aad_cuts, cuts) = (cuts(case.aad.len()), cuts(case.message.len()));
            cut(&cipher, &case, &aad_cuts, &cuts);
        }
    }
}

/// In pieces of about these sizes, and a last one with the rest; in place and apart in turn.
fn cut(cipher: &Cipher, case: &Case, aad_cuts: &[usize], cuts: &[usize]) {
    let Case { nonce, aad, message, packet } = case;
    let cuts: Vec<_> = cuts.iter().map(|&cut| whole(cipher.algorithm(), cut)).collect();
    let (text, tag) = packet.split_at(message.len());
    let place = format!("{cipher:?}: {aad_cuts:?} {cuts:?} of {}", message.len());

    let mut sealer = cipher.sealer(nonce).expect("a good nonce");
    for piece in pieces(aad, aad_cuts) {
        assert_eq!(sealer.associate(piece), Ok(()), "{place}");
    }
    let mut out = Vec::new();
    for (i, piece) in pieces(message, &cuts).enumerate() {
        out.extend(through(i, piece, |data| sealer.encrypt(data)));
    }
    let mut made = vec![0; cipher.tag_length()];
    assert_eq!(sealer.finish(&mut made), Ok(()), "{place}");
    assert_eq!((&out[..], &made[..]), (text, tag), "{place}: sealed");

    let mut opener = cipher.opener(nonce).expect("a good nonce");
    for piece in pieces(aad, aad_cuts) {
        assert_eq!(opener.associate(piece), Ok(()), "{place}");
    }
    out.clear();
    for (i, piece) in pieces(text, &cuts).enumerate() {
        out.extend(through(i, piece, |data| opener.decrypt_unverified(data)));
    }
    assert_eq!(opener.finish(tag), Ok(()), "{place}");
    assert_eq!(out, *message, "{place}: opened");
}

fn pieces<'d>(mut data: &'d [u8], cuts: &[usize]) -> impl Iterator<Item = &'d [u8]> {
    let mut pieces = Vec::new();
    for &cut in cuts {
        let (piece, rest) = data.split_at(cut);
        pieces.push(piece);
        data = rest;
    }
    pieces.push(data);
    pieces.into_iter()
}

/// What `apply` makes of a piece: in place for even numbers, apart for odd ones.
fn through(
    number: usize,
    piece: &[u8],
    apply: impl FnOnce(InOutBuf<'_, '_, u8>) -> Result<(), Error>,
) -> Vec<u8> {
    let mut out = piece.to_vec();
    if number.is_multiple_of(2) {
        apply((&mut out[..]).into()).expect("short enough");
    } else {
        out.fill(UNTOUCHED);
        apply(InOutBuf::new(piece, &mut out).expect("equal lengths")).expect("short enough");
    }
    out
}

/// Streams and short tags: the first bytes of the whole one.
#[test]
fn streaming_has_short_tags_too() {
    let mut numbers = Numbers(5);
    for algorithm in in_pieces() {
        let key = numbers.bytes(algorithm.key_lengths().longest());
        let mut cipher = Cipher::new(algorithm, &key).expect("a good key");
        let case = Case::new(&mut cipher, &mut numbers, 100);
        let len = case.message.len();
        for length in tag_lengths(algorithm) {
            cipher.set_tag_length(length).expect("a good length");
            let mut sealer = cipher.sealer(&case.nonce).expect("a good nonce");
            sealer.associate(&case.aad).expect("short enough");
            sealer.encrypt(&mut case.message.clone()[..]).expect("short enough");
            let mut tag = vec![0; length];
            assert_eq!(sealer.finish(&mut tag), Ok(()));
            assert_eq!(tag, case.packet[len..][..length], "{algorithm} {length}");
            let mut opener = cipher.opener(&case.nonce).expect("a good nonce");
            opener.associate(&case.aad).expect("short enough");
            opener.decrypt_unverified(&mut case.packet[..len].to_vec()[..]).expect("short enough");
            assert_eq!(opener.finish(&tag), Ok(()), "{algorithm} {length}");
        }
    }
}

/// GCM hashes a nonce that has not 96 bits, and SIV hashes all; the ways to seal agree, the levels
/// do, and no two lengths are one nonce.
#[test]
fn gcm_and_siv_take_nonces_of_any_length() {
    let mut numbers = Numbers(6);
    for algorithm in aeads().filter(|&row| any_nonce(row)) {
        let key = numbers.bytes(algorithm.key_lengths().longest());
        let mut seen = Vec::new();
        for len in (1..40).chain([63, 64, 65, 255, 256, 1000]) {
            let (nonce, message) = (vec![0; len], numbers.bytes(50));
            let mut all = Vec::new();
            for isa in levels() {
                let cipher = Cipher::with_isa(isa, algorithm, &key).expect("a good key");
                let mut packet = message.clone();
                packet.resize(66, 0);
                cipher.seal(&nonce, b"aad", &mut packet).expect("short enough");
                let aad = b"aad".to_vec();
                let case = Case { nonce: nonce.clone(), aad, message: message.clone(), packet };
                if algorithm.has_pieces() {
                    cut(&cipher, &case, &[1], &[20]);
                }
                let mut packet = case.packet.clone();
                let opened =
                    cipher.open(&nonce, b"aad", &mut packet).map(|message| message.to_vec());
                assert_eq!(opened, Ok(message.clone()), "{algorithm} {len}");
                refused(&cipher, &vec![1; len], b"aad", &case.packet, 50);
                all.push(case.packet);
            }
            assert!(all.iter().all(|packet| *packet == all[0]), "{algorithm} {len}");
            let keystream: Vec<u8> = message.iter().zip(&all[0]).map(|(a, b)| a ^ b).collect();
            assert!(!seen.contains(&keystream), "{algorithm} {len}");
            seen.push(keystream);
        }
    }
}

/// As a cipher that was made with that key; a key of a wrong length leaves the old one.
#[test]
fn another_key_takes_the_place_of_the_first() {
    let mut numbers = Numbers(7);
    for (isa, algorithm) in levels().flat_map(|isa| aeads().map(move |row| (isa, row))) {
        let mut key = || numbers.bytes(algorithm.key_lengths().longest());
        let (first, second) = (key(), key());
        let mut cipher = Cipher::with_isa(isa, algorithm, &first).expect("a good key");
        let sealed = |cipher: &Cipher| {
            let mut packet = vec![3; 400 + cipher.tag_length()];
            let nonce = vec![4; algorithm.nonce_length()];
            cipher.seal(&nonce, b"aad", &mut packet).expect("short enough");
            packet
        };
        let fresh = Cipher::with_isa(isa, algorithm, &second).expect("a good key");
        assert_ne!(sealed(&cipher), sealed(&fresh));
        assert_eq!(cipher.set_key(&second), Ok(()));
        assert_eq!(sealed(&cipher), sealed(&fresh), "{algorithm} {isa:?}");
        let refused = cipher.set_key(&second[1..]).expect_err("too short");
        assert_eq!(refused, Error::KeyLength);
        assert_eq!(sealed(&cipher), sealed(&fresh), "{algorithm} {isa:?}: refused");
    }
}

#[test]
fn threads_share_a_cipher() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Cipher>();
    is_shared::<Sealer<'_>>();
    is_shared::<Opener<'_>>();
    is_shared::<Nonce>();
    is_shared::<Nonces>();
    for algorithm in aeads() {
        let key = vec![7; algorithm.key_lengths().longest()];
        let cipher = Cipher::new(algorithm, &key).expect("a good key");
        let message = |n: u8| {
            let mut packet = vec![n; cipher.tag_length() + 160 * usize::from(n % 7)];
            let nonce = vec![n; algorithm.nonce_length()];
            cipher.seal(&nonce, &[n], &mut packet).expect("short enough");
            packet
        };
        let alone: Vec<_> = (0..60).map(message).collect();
        std::thread::scope(|scope| {
            let run = || (0..60).map(message).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
            for thread in threads {
                assert_eq!(thread.join().expect("no panic"), alone, "{algorithm}");
            }
        });
    }
}

#[test]
fn debug_output_hides_keys_and_data() {
    for algorithm in in_pieces() {
        let key = vec![77; algorithm.key_lengths().longest()];
        let cipher = Cipher::new(algorithm, &key).expect("a good key");
        let nonce = vec![77; algorithm.nonce_length()];
        let mut sealer = cipher.sealer(&nonce).expect("a good nonce");
        sealer.encrypt(&mut [77; 16][..]).expect("short enough");
        let opener = cipher.opener(&nonce).expect("a good nonce");
        let expected = format!(
            "Cipher {{ algorithm: {algorithm}, .. }} Sealer {{ algorithm: {algorithm}, .. }} \
             Opener {{ algorithm: {algorithm}, .. }}"
        );
        assert_eq!(format!("{cipher:?} {sealer:?} {opener:?}"), expected);
    }
}

/// Each packet with the next nonce of a sequence; the sequence only moves when a packet is sealed.
#[test]
fn packets_are_sealed_under_the_next_nonce() {
    for algorithm in aeads() {
        let key = vec![7; algorithm.key_lengths().longest()];
        let cipher = Cipher::with_isa(Isa::detect(), algorithm, &key).expect("a good key");
        if !algorithm.needs_random_nonces() {
            let counted = || Nonces::counter(algorithm, &[1, 2, 3, 4]).expect("room for a counter");
            let (mut nonces, mut expected) = (counted(), counted());
            for _ in 0..5 {
                sealed_next(&cipher, &mut nonces, &expected.fresh().expect("a nonce"));
                let mut packet = vec![0; cipher.tag_length() - 1];
                let short = cipher.seal_next(&mut nonces, b"", &mut packet);
                assert_eq!(short, Err(Error::OutputLength), "{algorithm}");
            }
        }
        let mut random = RandomNonces::new(algorithm, lanecrypt_random::rng()).expect("an aead");
        let first = random_next(&cipher, &mut random);
        assert_ne!(first, random_next(&cipher, &mut random), "{algorithm}");
    }
}

fn sealed_next(cipher: &Cipher, nonces: &mut impl NonceSequence, expected: &[u8]) {
    let mut packet = vec![9; 32 + cipher.tag_length()];
    let mut same = packet.clone();
    let nonce = cipher.seal_next(nonces, b"aad", &mut packet).expect("short enough");
    assert_eq!(nonce[..], *expected);
    cipher.seal(&nonce, b"aad", &mut same).expect("short enough");
    assert_eq!(packet, same);
}

fn random_next(cipher: &Cipher, nonces: &mut impl NonceSequence) -> Nonce {
    let mut packet = vec![9; 32 + cipher.tag_length()];
    let nonce = cipher.seal_next(nonces, b"aad", &mut packet).expect("short enough");
    let opened = cipher.open(&nonce, b"aad", &mut packet).map(|message| message.to_vec());
    assert_eq!(opened, Ok(vec![9; 32]));
    nonce
}

/// A packet behind a header of any length, and what stays in the buffer.
#[test]
fn packets_within_a_buffer_move_to_its_front() {
    let mut numbers = Numbers(21);
    for mut cipher in ciphers(&mut numbers) {
        for len in [0, 1, 16, 100, 300] {
            let case = Case::new(&mut cipher, &mut numbers, len);
            for from in [0, 1, 5, 13, 99, 100, 101, 1000] {
                let mut buffer = vec![UNTOUCHED; from];
                buffer.extend(&case.packet);
                let opened = cipher.open_within(&case.nonce, &case.aad, &mut buffer, from);
                assert_eq!(opened, Ok(&mut case.message.clone()[..]));
                let len = case.message.len();
                // Of the message there is no second copy, and nothing else has changed.
                let (end, left) = (from + len, from.max(len));
                assert!(buffer[len..left].iter().all(|&byte| byte == UNTOUCHED));
                assert!(buffer[left..end].iter().all(|&byte| byte == 0));
                assert_eq!(buffer[end..], case.packet[len..]);

                let mut buffer = [&vec![UNTOUCHED; from], &case.packet[..]].concat();
                *buffer.last_mut().expect("a tag") ^= 1;
                let refused = cipher.open_within(&case.nonce, &case.aad, &mut buffer, from);
                assert_eq!(refused.err(), Some(Error::Authentication));
                assert!(buffer[..from].iter().all(|&byte| byte == UNTOUCHED));
                assert!(buffer[from..from + len].iter().all(|&byte| byte == 0));
            }
            for from in [case.packet.len() - 1, case.packet.len(), case.packet.len() + 1] {
                let mut buffer = case.packet.clone();
                let refused = cipher.open_within(&case.nonce, &case.aad, &mut buffer, from);
                assert_eq!(refused.err(), Some(Error::Authentication));
                assert_eq!(buffer, case.packet);
            }
        }
    }
}

/// With room behind the message or without.
#[test]
fn vectors_grow_by_the_tag() {
    let mut numbers = Numbers(22);
    for mut cipher in ciphers(&mut numbers) {
        for len in [0, 1, 16, 100] {
            let case = Case::new(&mut cipher, &mut numbers, len);
            for room in [0, 1, 15, 16, 200] {
                let mut packet = Vec::with_capacity(case.message.len() + room);
                packet.extend(&case.message);
                let bad = cipher.seal_vec(&[], &case.aad, &mut packet);
                assert_eq!(bad, Err(Error::NonceLength));
                assert_eq!(packet, case.message);
                assert_eq!(cipher.seal_vec(&case.nonce, &case.aad, &mut packet), Ok(()));
                assert_eq!(packet, case.packet);
                assert_eq!(cipher.open_vec(&case.nonce, &case.aad, &mut packet), Ok(()));
                assert_eq!(packet, case.message);
            }
            let mut damaged = case.packet.clone();
            *damaged.last_mut().expect("a tag") ^= 1;
            let refused = cipher.open_vec(&case.nonce, &case.aad, &mut damaged);
            assert_eq!((refused, damaged.len()), (Err(Error::Authentication), case.packet.len()));
        }
    }
}
