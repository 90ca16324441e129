//! Messages side by side are what they are one by one: ChaCha and ChaCha20-Poly1305 in lanes.

#[path = "common/levels.rs"]
mod levels;
#[path = "common/numbers.rs"]
mod numbers;

use inout::InOutBuf;
use lanecrypt_kernels::chacha::{ChaCha, Counter64, Ietf, Key, Lane, xor_lanes};
use lanecrypt_kernels::chacha20poly1305::{self, ChaCha20Poly1305, open_lanes, seal_lanes};
use lanecrypt_kernels::{Aead, Isa, Seek, StreamCore};
use levels::levels;
use numbers::{Numbers, cases, hex};

const GUARD: usize = 64;
const PAINT: u8 = 0x5a;

/// Where a message lies between bytes that must not change, and where it comes from if that is
/// another place.
struct Place {
    bytes: Vec<u8>,
    from: usize,
    apart: Option<Vec<u8>>,
}

impl Place {
    fn new(numbers: &mut Numbers, text: &[u8]) -> Self {
        let from = GUARD + numbers.below(64);
        let mut bytes = vec![PAINT; from + text.len() + GUARD];
        let apart = (numbers.below(2) == 0).then(|| text.to_vec());
        if apart.is_none() {
            bytes[from..from + text.len()].copy_from_slice(text);
        }
        Self { bytes, from, apart }
    }

    fn data(&mut self) -> InOutBuf<'_, '_, u8> {
        let end = self.bytes.len() - GUARD;
        let out = &mut self.bytes[self.from..end];
        match &self.apart {
            Some(text) => InOutBuf::new(text, out).expect("equal lengths"),
            None => out.into(),
        }
    }

    fn holds(&self, expected: &[u8]) -> bool {
        let (front, rest) = self.bytes.split_at(self.from);
        let (inside, back) = rest.split_at(rest.len() - GUARD);
        inside == expected && front.iter().chain(back).all(|&byte| byte == PAINT)
    }
}

/// The first message that is not as it should be.
fn wrong(places: &[Place], expected: &[Vec<u8>]) -> Option<usize> {
    assert_eq!(places.len(), expected.len());
    places.iter().zip(expected).position(|(place, expected)| !place.holds(expected))
}

/// Lengths of a batch: alike, short, or anything up to 4 KiB.
fn lengths(numbers: &mut Numbers) -> Vec<usize> {
    let count = 1 + numbers.below(70);
    let widest = [17, 65, 130, 300, 700, 1100, 4097][numbers.below(7)];
    let alike = (numbers.below(3) == 0).then(|| numbers.below(widest));
    (0..count).map(|_| alike.unwrap_or_else(|| numbers.below(widest))).collect()
}

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
            _ => numbers.next() >> 1,
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

/// A message of ChaCha20-Poly1305 and what it is sealed.
struct Message {
    key: usize,
    nonce: [u8; 12],
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
        let mut sealed = text.clone();
        let cipher = ChaCha20Poly1305::new(Isa::PORTABLE, &keys[key]);
        let tag = cipher.seal(&nonce, &aad, (&mut sealed[..]).into());
        Self { key, nonce, aad, text, sealed, tag }
    }
}

/// A batch and its keys.
fn messages(numbers: &mut Numbers) -> (Vec<[u8; 32]>, Vec<Message>) {
    let keys: Vec<[u8; 32]> = (0..1 + numbers.below(40)).map(|_| numbers.array()).collect();
    let lens = lengths(numbers);
    let messages = lens.into_iter().map(|len| Message::new(numbers, &keys, len)).collect();
    (keys, messages)
}

/// Seals or opens a batch in lanes; gives back the first message that is wrong after `meddle`.
fn batch(
    numbers: &mut Numbers,
    ciphers: &[ChaCha20Poly1305],
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
            let (cipher, data) = (&ciphers[message.key], place.data());
            chacha20poly1305::Lane::new(cipher, &message.nonce, &message.aad, data, tag)
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
            let ciphers: Vec<_> = keys.iter().map(|key| ChaCha20Poly1305::new(isa, key)).collect();
            for seal in [true, false] {
                let wrong = batch(&mut numbers, &ciphers, &messages, seal, |_, _| {});
                assert_eq!(wrong, None, "{isa:?}, seal: {seal}, {lens:?}");
            }
        }
    }
}

/// RFC 8439, section 2.8.2, in lanes among others.
#[test]
fn published_message() {
    let mut numbers = Numbers(5);
    let own = "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f";
    let keys = [hex(own).try_into().expect("32 bytes"), numbers.array()];
    let mut messages: Vec<_> = (0..30)
        .map(|_| {
            let len = numbers.below(130);
            Message::new(&mut numbers, &keys[1..], len)
        })
        .collect();
    messages.iter_mut().for_each(|message| message.key = 1);
    for at in [0, 7, 8, 15, 16, 29] {
        messages[at] = Message {
            key: 0,
            nonce: hex("070000004041424344454647").try_into().expect("12 bytes"),
            aad: hex("50515253c0c1c2c3c4c5c6c7"),
            text: b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip \
                for the future, sunscreen would be it."
                .to_vec(),
            sealed: hex("d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
                3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
                92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
                3ff4def08e4b7a9de576d26586cec64b6116"),
            tag: hex("1ae10b594f09e26a7e902ecbd0600691").try_into().expect("16 bytes"),
        };
    }
    for isa in levels() {
        let ciphers: Vec<_> = keys.iter().map(|key| ChaCha20Poly1305::new(isa, key)).collect();
        for seal in [true, false] {
            let wrong = batch(&mut numbers, &ciphers, &messages, seal, |_, _| {});
            assert_eq!(wrong, None, "{isa:?}, seal: {seal}");
        }
    }
}

/// Keys of several levels in one batch.
#[test]
fn keys_of_different_levels() {
    let mut numbers = Numbers(3);
    for _ in 0..cases(10) {
        let (keys, messages) = messages(&mut numbers);
        let levels = levels();
        let ciphers: Vec<_> = (0..)
            .zip(&keys)
            .map(|(at, key)| ChaCha20Poly1305::new(levels[at % levels.len()], key))
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
        let ciphers: Vec<_> = keys.iter().map(|key| ChaCha20Poly1305::new(isa, key)).collect();
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
