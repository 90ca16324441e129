//! Messages side by side are what they are one by one: ChaCha and ChaCha20-Poly1305 in lanes.

use crate::places::{Place, lengths, wrong};
use lanecrypt_kernels::chacha::{ChaCha, Counter64, Ietf, Key, Lane, header_masks, xor_lanes};
use lanecrypt_kernels::chacha20poly1305::{
    ChaCha20Poly1305, XChaCha20Poly1305, open_lanes, seal_lanes,
};
use lanecrypt_kernels::{Aead, AeadLanes, Isa, Seek, StreamCore};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::{Numbers, cases, hex};

/// A message of ChaCha: which key, nonce, block, text, and whether in the form of RFC 8439.
struct Stream {
    key: usize,
    nonce: [u8; 12],
    block: u64,
    text: Vec<u8>,
    ietf: bool,
}

impl Stream {
    fn new(numbers: &mut Numbers, keys: usize, len: usize) -> Self {
        let ietf = numbers.below(2) == 0;
        // Many begin shortly before the low word of the counter wraps.
        let before = (1 << 32) - 1 - numbers.below(20) as u64;
        let block = match numbers.below(3) {
            0 if ietf => (1 << 32) - len.div_ceil(64).max(1) as u64,
            0 => before,
            1 => numbers.below(1000) as u64,
            _ if ietf => 0,
            _ => numbers.number() >> 1,
        };
        let (key, nonce) = (numbers.below(keys), numbers.array());
        Self { key, nonce, block, text: numbers.bytes(len), ietf }
    }

    /// The nonce of the original form.
    fn short_nonce(&self) -> &[u8; 8] {
        self.nonce.first_chunk().expect("12 bytes have 8")
    }

    /// By itself, on the portable kernel.
    fn alone<const ROUNDS: usize>(&self, key: &Key) -> Vec<u8> {
        let mut text = self.text.clone();
        if self.ietf {
            let mut core = ChaCha::<ROUNDS, Ietf>::new(Isa::PORTABLE, key, &self.nonce);
            core.seek(self.block);
            core.xor((&mut text[..]).into());
        } else {
            let mut core = ChaCha::<ROUNDS, Counter64>::new(Isa::PORTABLE, key, self.short_nonce());
            core.seek(self.block);
            core.xor((&mut text[..]).into());
        }
        text
    }

    fn lane<'a>(&self, key: &'a Key, place: &'a mut Place) -> Lane<'a> {
        let data = place.data();
        if self.ietf {
            Lane::new::<Ietf>(key, &self.nonce, self.block, data)
        } else {
            Lane::new::<Counter64>(key, self.short_nonce(), self.block, data)
        }
    }
}

/// The header masks of up to 16 blocks, whose keys and last rows lie at odd places.
#[test]
fn fronts_side_by_side_are_those_of_blocks() {
    let mut numbers = Numbers(7);
    for isa in levels() {
        for count in 0..=18 {
            let keys: Vec<Key> = (0..count)
                .map(|_| match numbers.below(4) {
                    0 => Key::from(&numbers.array::<16>()),
                    _ => Key::from(&numbers.array::<32>()),
                })
                .collect();
            let lasts: Vec<u8> = numbers.bytes(17 * count + 16);
            let last = |at: usize| lasts[17 * at..].first_chunk().expect("16 bytes are left");
            let blocks: Vec<(&Key, &[u8; 16])> =
                keys.iter().enumerate().map(|(at, key)| (key, last(at))).collect();
            let mut made = [[0xee; 8]; 16];
            header_masks(isa, &blocks, &mut made);
            for ((key, last), front) in blocks.into_iter().zip(made) {
                let (counter, nonce) = last.split_first_chunk().expect("16 bytes");
                let nonce = nonce.try_into().expect("12 bytes");
                let mut core = ChaCha::<20, Ietf>::new(Isa::PORTABLE, key, nonce);
                core.seek(u32::from_le_bytes(*counter).into());
                let mut expected = [0; 8];
                core.keystream(&mut expected);
                assert_eq!(front, expected, "{isa:?}, {count} blocks");
            }
        }
    }
}

fn streams<const ROUNDS: usize>(numbers: &mut Numbers) {
    let keys: Vec<Key> = (0..1 + numbers.below(40))
        .map(|_| match numbers.below(4) {
            0 => Key::from(&numbers.array::<16>()),
            _ => Key::from(&numbers.array::<32>()),
        })
        .collect();
    let streams: Vec<Stream> =
        lengths(numbers).into_iter().map(|len| Stream::new(numbers, keys.len(), len)).collect();
    let expected: Vec<_> =
        streams.iter().map(|stream| stream.alone::<ROUNDS>(&keys[stream.key])).collect();
    for isa in levels() {
        let mut places: Vec<_> =
            streams.iter().map(|stream| Place::new(numbers, &stream.text)).collect();
        let mut lanes: Vec<_> = streams
            .iter()
            .zip(&mut places)
            .map(|(stream, place)| stream.lane(&keys[stream.key], place))
            .collect();
        xor_lanes::<ROUNDS>(isa, &mut lanes);
        drop(lanes);
        let lens: Vec<_> = streams.iter().map(|stream| stream.text.len()).collect();
        assert_eq!(wrong(&places, &expected), None, "{ROUNDS} rounds, {isa:?}, {lens:?}");
    }
}

#[test]
fn chacha_lanes_are_one_by_one() {
    let mut numbers = Numbers(1);
    for _ in 0..cases(40) {
        streams::<8>(&mut numbers);
        streams::<12>(&mut numbers);
        streams::<20>(&mut numbers);
    }
}

#[test]
fn no_lanes() {
    for isa in levels() {
        xor_lanes::<20>(isa, &mut []);
    }
    seal_lanes(&mut []);
    open_lanes(&mut []);
}

/// A key in both forms of the AEAD.
struct Ciphers {
    plain: ChaCha20Poly1305,
    extended: XChaCha20Poly1305,
}

impl Ciphers {
    fn new(isa: Isa, key: &[u8; 32]) -> Self {
        let (plain, extended) = (Aead::new(isa, key), Aead::new(isa, key));
        Self { plain, extended }
    }
}

/// A message of ChaCha20-Poly1305, or of XChaCha20-Poly1305 if it is extended, and what it is
/// sealed.
struct Message {
    key: usize,
    /// Of which the other form takes the first 12 bytes.
    nonce: [u8; 24],
    extended: bool,
    aad: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
    tag: [u8; 16],
}

impl Message {
    fn new(numbers: &mut Numbers, keys: &[[u8; 32]], len: usize) -> Self {
        let aad = match numbers.below(8) {
            0 => 65 + numbers.below(300),
            1 => 0,
            _ => numbers.below(65),
        };
        let (key, nonce) = (numbers.below(keys.len()), numbers.array());
        let (aad, text) = (numbers.bytes(aad), numbers.bytes(len));
        let extended = numbers.below(2) == 0;
        let mut sealed = text.clone();
        let data = (&mut sealed[..]).into();
        let ciphers = Ciphers::new(Isa::PORTABLE, &keys[key]);
        let tag = if extended {
            ciphers.extended.seal(&nonce, &aad, data)
        } else {
            ciphers.plain.seal(front(&nonce), &aad, data)
        };
        Self { key, nonce, extended, aad, text, sealed, tag }
    }
}

/// A nonce of the form without extension.
fn front(nonce: &[u8; 24]) -> &[u8; 12] {
    nonce.first_chunk().expect("24 bytes have 12")
}

/// A batch and its keys.
fn messages(numbers: &mut Numbers) -> (Vec<[u8; 32]>, Vec<Message>) {
    let keys: Vec<[u8; 32]> = (0..1 + numbers.below(40)).map(|_| numbers.array()).collect();
    let lens = lengths(numbers);
    // Half of the batches have none that is extended.
    let (alike, mixed) = (numbers.below(2) == 0, numbers.below(70));
    let messages = lens.into_iter().enumerate().map(|(at, len)| {
        let mut message = Message::new(numbers, &keys, len);
        while message.extended && (alike || at > mixed) {
            message = Message::new(numbers, &keys, len);
        }
        message
    });
    let messages = messages.collect();
    (keys, messages)
}

/// Seals or opens a batch in lanes; gives back the first message that is wrong after `meddle`.
fn batch(
    numbers: &mut Numbers,
    ciphers: &[Ciphers],
    messages: &[Message],
    seal: bool,
    meddle: impl FnOnce(&mut [Place], &mut [[u8; 16]]),
) -> Option<usize> {
    let (from, to): (Vec<_>, Vec<_>) = messages
        .iter()
        .map(|message| (&message.text, &message.sealed))
        .map(|(text, sealed)| if seal { (text, sealed) } else { (sealed, text) })
        .map(|(from, to)| (from.clone(), to.clone()))
        .unzip();
    let mut places: Vec<_> = from.iter().map(|text| Place::new(numbers, text)).collect();
    let mut tags = vec![[0; 16]; messages.len()];
    let mut lanes: Vec<_> = messages
        .iter()
        .zip(&mut places)
        .zip(&mut tags)
        .map(|((message, place), tag)| {
            let (ciphers, data) = (&ciphers[message.key], place.data());
            let (nonce, aad) = (&message.nonce, &message.aad);
            if message.extended {
                ciphers.extended.lane(nonce, aad, data, tag)
            } else {
                ciphers.plain.lane(front(nonce), aad, data, tag)
            }
        })
        .collect();
    if seal {
        seal_lanes(&mut lanes);
    } else {
        open_lanes(&mut lanes);
    }
    drop(lanes);
    meddle(&mut places, &mut tags);
    let tag = tags.iter().zip(messages).position(|(tag, message)| *tag != message.tag);
    wrong(&places, &to).or(tag)
}

#[test]
fn aead_lanes_are_one_by_one() {
    let mut numbers = Numbers(2);
    for _ in 0..cases(60) {
        let (keys, messages) = messages(&mut numbers);
        let lens: Vec<_> = messages.iter().map(|message| message.text.len()).collect();
        for isa in levels() {
            let ciphers: Vec<_> = keys.iter().map(|key| Ciphers::new(isa, key)).collect();
            for seal in [true, false] {
                let wrong = batch(&mut numbers, &ciphers, &messages, seal, |_, _| {});
                assert_eq!(wrong, None, "{isa:?}, seal: {seal}, {lens:?}");
            }
        }
    }
}

/// RFC 8439, section 2.8.2, and draft-irtf-cfrg-xchacha-03, appendix A.3.1, in lanes among others.
#[test]
fn published_messages() {
    let mut numbers = Numbers(5);
    let own = "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f";
    let keys = [hex(own).try_into().expect("32 bytes"), numbers.array()];
    let mut messages: Vec<_> = (0..30)
        .map(|_| {
            let len = numbers.below(130);
            Message { key: 1, ..Message::new(&mut numbers, &keys[1..], len) }
        })
        .collect();
    let published = |nonce: &str, extended, sealed, tag| {
        let mut nonce = hex(nonce);
        nonce.resize(24, 0);
        Message {
            key: 0,
            nonce: nonce.try_into().expect("24 bytes"),
            extended,
            aad: hex("50515253c0c1c2c3c4c5c6c7"),
            text: b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip \
                for the future, sunscreen would be it."
                .to_vec(),
            sealed: hex(sealed),
            tag: hex(tag).try_into().expect("16 bytes"),
        }
    };
    for at in [0, 7, 8, 15, 16] {
        messages[at] = published(
            "070000004041424344454647",
            false,
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
             3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
             92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
             3ff4def08e4b7a9de576d26586cec64b6116",
            "1ae10b594f09e26a7e902ecbd0600691",
        );
        messages[29 - at] = published(
            "404142434445464748494a4b4c4d4e4f5051525354555657",
            true,
            "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb
             731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452
             2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9
             21f9664c97637da9768812f615c68b13b52e",
            "c0875924c1c7987947deafd8780acf49",
        );
    }
    for isa in levels() {
        let ciphers: Vec<_> = keys.iter().map(|key| Ciphers::new(isa, key)).collect();
        for seal in [true, false] {
            let wrong = batch(&mut numbers, &ciphers, &messages, seal, |_, _| {});
            assert_eq!(wrong, None, "{isa:?}, seal: {seal}");
        }
    }
}

/// Every length up to behind the longest that goes side by side, in batches of lengths far apart
/// and of lengths close together, of as many messages as fill groups and of fewer.
#[test]
fn messages_of_all_lengths() {
    let mut numbers = Numbers(6);
    let keys: Vec<[u8; 32]> = (0..18).map(|_| numbers.array()).collect();
    let close = (0..34).map(|batch| (0..64).map(|at| 64 * batch + at).collect::<Vec<_>>());
    let apart = (0..34).map(|batch| (0..64).map(|at| batch + 34 * at).collect());
    let few = (5..16).map(|count| (0..count).map(|at| 100 * count + 7 * at).collect());
    for mut lens in close.chain(apart).chain(few) {
        lens.reverse();
        let turned = numbers.below(lens.len());
        lens.rotate_left(turned);
        let extended = numbers.below(4) == 0;
        let messages: Vec<_> = lens
            .iter()
            .map(|&len| {
                let mut message = Message::new(&mut numbers, &keys, len);
                while message.extended && !extended {
                    message = Message::new(&mut numbers, &keys, len);
                }
                message
            })
            .collect();
        for isa in levels() {
            let ciphers: Vec<_> = keys.iter().map(|key| Ciphers::new(isa, key)).collect();
            for seal in [true, false] {
                let wrong = batch(&mut numbers, &ciphers, &messages, seal, |_, _| {});
                assert_eq!(wrong, None, "{isa:?}, seal: {seal}, {lens:?}");
            }
        }
    }
}

/// Keys of several levels in one batch.
#[test]
fn keys_of_different_levels() {
    let mut numbers = Numbers(3);
    for _ in 0..cases(10) {
        let (keys, messages) = messages(&mut numbers);
        let levels: Vec<_> = levels().collect();
        let ciphers: Vec<_> = (0..)
            .zip(&keys)
            .map(|(at, key)| Ciphers::new(levels[at % levels.len()], key))
            .collect();
        assert_eq!(batch(&mut numbers, &ciphers, &messages, true, |_, _| {}), None);
    }
}

/// Results in the wrong lane do not pass: neither data nor tags.
#[test]
fn swapped_lanes_are_seen() {
    let mut numbers = Numbers(4);
    let keys: Vec<[u8; 32]> = (0..16).map(|_| numbers.array()).collect();
    let messages: Vec<_> = (0..16).map(|_| Message::new(&mut numbers, &keys, 48)).collect();
    for isa in levels() {
        let ciphers: Vec<_> = keys.iter().map(|key| Ciphers::new(isa, key)).collect();
        let mut check = |meddle: fn(&mut [Place], &mut [[u8; 16]])| {
            batch(&mut numbers, &ciphers, &messages, true, meddle)
        };
        assert_eq!(check(|_, _| {}), None);
        assert_eq!(check(|places, _| places.swap(3, 9)), Some(3));
        assert_eq!(check(|_, tags| tags.swap(5, 12)), Some(5));
        // A byte written next to a message.
        assert_eq!(check(|places, _| places[7].bytes[0] ^= 1), Some(7));
    }
}
