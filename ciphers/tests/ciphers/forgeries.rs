//! Forged messages: everything that belongs to a message, changed in one place, is refused, and
//! what was decrypted is wiped. What does the opening is an argument, so that openers that forget
//! something show that the harness notices.

use lanecrypt_ciphers::{Algorithm, Cipher, Error, InOutBuf, Isa};
use lanecrypt_testing::aeads::{aeads, any_nonce, tag_lengths, whole};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::Numbers;

/// How many forgeries there are in all: as many as the environment says, or a hundred thousand.
fn cases() -> usize {
    lanecrypt_testing::numbers::cases(100_000)
}

#[test]
fn every_forgery_is_refused_and_wiped() {
    let (mut numbers, mut tried) = (Numbers(11), 0);
    while tried < cases() {
        for (isa, algorithm) in everywhere() {
            let message = Message::random(isa, algorithm, &mut numbers);
            let has = |name| name != PIECES || algorithm.has_pieces();
            for (name, open) in OPENERS.into_iter().filter(|&(name, _)| has(name)) {
                let verdict = attack(&message, open, &mut numbers);
                tried += verdict.unwrap_or_else(|what| panic!("{name}: {message:?}: {what}"));
            }
            tried += wrong_tag_lengths(&message);
        }
    }
}

/// A harness that cannot fail tests nothing.
#[test]
fn openers_that_forget_something_are_found() {
    let planted: [(&str, Open, &str); 5] = [
        ("always true", Open(always_true), "accepted"),
        ("half of the tag", Open(half_of_the_tag), "accepted"),
        // Accepted or not opened, as the message has associated data or not.
        ("no associated data", Open(without_aad), ""),
        ("nothing wiped", Open(nothing_wiped), "not wiped"),
        ("never true", Open(never_true), "the message itself"),
    ];
    let mut numbers = Numbers(12);
    // What they forget is found in pieces; the harness is the same for all.
    for (isa, algorithm) in everywhere().filter(|(_, algorithm)| algorithm.has_pieces()) {
        for (name, open, about) in planted {
            let found = (0..300).find_map(|_| {
                let message = Message::random(isa, algorithm, &mut numbers);
                attack(&message, open, &mut numbers).err()
            });
            let what = found.unwrap_or_else(|| panic!("{name} is not found"));
            assert!(what.contains(about), "{name}: {what}");
        }
    }
}

fn everywhere() -> impl Iterator<Item = (Isa, Algorithm)> {
    aeads().flat_map(|algorithm| levels().map(move |isa| (isa, algorithm)))
}

/// A message that was sealed, its key, and another key.
struct Message {
    cipher: Cipher,
    other: Cipher,
    plain: Vec<u8>,
    packet: Packet,
}

impl core::fmt::Debug for Message {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?} {:?}", self.cipher, self.packet)
    }
}

/// What is sent, and what the receiver knows besides the key.
#[derive(Clone, Debug, PartialEq)]
struct Packet {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
    tag: Vec<u8>,
}

impl Message {
    fn random(isa: Isa, algorithm: Algorithm, numbers: &mut Numbers) -> Self {
        let any = any_nonce(algorithm);
        let tags = tag_lengths(algorithm);
        let tag = tags[numbers.below(tags.len())];
        let nonce = match numbers.below(4) {
            0 if any => 1 + numbers.below(40),
            _ => algorithm.nonce_length(),
        };
        let short = numbers.below(2) == 0;
        let (text, aad) = (numbers.below(if short { 40 } else { 601 }), numbers.below(50));
        let mut keyed = || {
            let key = numbers.bytes(algorithm.key_lengths().longest());
            let mut cipher = Cipher::with_isa(isa, algorithm, &key).expect("a good key");
            cipher.set_tag_length(tag).expect("a good length");
            cipher
        };
        let (cipher, other) = (keyed(), keyed());
        let plain = numbers.bytes(whole(algorithm, text));
        let (nonce, aad) = (numbers.bytes(nonce), numbers.bytes(aad));
        let (mut text, mut tag) = (plain.clone(), vec![0; tag]);
        cipher.seal_detached(&nonce, &aad, &mut text[..], &mut tag).expect("short enough");
        Self { cipher, other, plain, packet: Packet { nonce, aad, text, tag } }
    }
}

/// What opens a packet into a buffer that has the length of its text, and holds something else.
#[derive(Clone, Copy)]
struct Open(fn(&Cipher, &Packet, &mut [u8]) -> Result<(), Error>);

/// The opener that some algorithms do not have.
const PIECES: &str = "in pieces";

/// All that the library has.
const OPENERS: [(&str, Open); 5] = [
    (
        "in place",
        Open(|cipher, packet, out| {
            out.copy_from_slice(&packet.text);
            cipher.open_detached(&packet.nonce, &packet.aad, out, &packet.tag)
        }),
    ),
    (
        "apart",
        Open(|cipher, packet, out| {
            let data = InOutBuf::new(&packet.text, out).expect("equal lengths");
            cipher.open_detached(&packet.nonce, &packet.aad, data, &packet.tag)
        }),
    ),
    (
        "a packet",
        Open(|cipher, packet, out| {
            let mut whole = [&packet.text[..], &packet.tag].concat();
            let verdict = cipher.open(&packet.nonce, &packet.aad, &mut whole).map(drop);
            out.copy_from_slice(&whole[..out.len()]);
            verdict
        }),
    ),
    (
        "a packet apart",
        Open(|cipher, packet, out| {
            let whole = [&packet.text[..], &packet.tag].concat();
            cipher.open_to(&packet.nonce, &packet.aad, &whole, out)
        }),
    ),
    (PIECES, Open(in_pieces)),
];

/// In pieces of 48 bytes, and as its documentation asks: what is not authentic is thrown away.
fn in_pieces(cipher: &Cipher, packet: &Packet, out: &mut [u8]) -> Result<(), Error> {
    let mut opener = cipher.opener(&packet.nonce)?;
    packet.aad.chunks(50).try_for_each(|piece| opener.associate(piece))?;
    out.copy_from_slice(&packet.text);
    out.chunks_mut(48).try_for_each(|piece| opener.decrypt_unverified(piece))?;
    opener.finish(&packet.tag).or_else(|_| refuse(out))
}

/// Tries to get a changed message past `open`, once for each kind of change, and then the message
/// itself; answers the number of forgeries, or what went wrong.
fn attack(message: &Message, open: Open, numbers: &mut Numbers) -> Result<usize, String> {
    let Message { cipher, other, plain, packet } = message;
    let forged = forgeries(packet, numbers);
    for (what, forged) in &forged {
        refused(what, cipher, forged, open)?;
    }
    refused("another key", other, packet, open)?;
    let mut out = vec![0x5a; plain.len()];
    if open.0(cipher, packet, &mut out) != Ok(()) || out != *plain {
        return Err(String::from("the message itself is not opened"));
    }
    Ok(forged.len() + 1)
}

fn refused(what: &str, cipher: &Cipher, forged: &Packet, open: Open) -> Result<(), String> {
    let before = forged.clone();
    let algorithm = cipher.algorithm();
    // A text that is not whole blocks is refused before anything is written.
    let is_uneven = forged.text.len() != whole(algorithm, forged.text.len());
    let mut out = vec![0x5a; forged.text.len()];
    match open.0(cipher, forged, &mut out) {
        Ok(()) => return Err(format!("{what}: accepted")),
        Err(Error::DataLength) if is_uneven => return Ok(()),
        Err(Error::Authentication) => {}
        Err(error) => return Err(format!("{what}: {error:?}")),
    }
    if out.iter().any(|&byte| byte != 0) {
        return Err(format!("{what}: not wiped"));
    }
    if *forged != before {
        return Err(format!("{what}: the input has changed"));
    }
    Ok(())
}

/// The packet, changed in one place, in all the ways that there are places for.
fn forgeries(packet: &Packet, numbers: &mut Numbers) -> Vec<(&'static str, Packet)> {
    let mut forged = Vec::new();
    let mut changed = |what, change: &mut dyn FnMut(&mut Packet, &mut Numbers)| {
        let mut copy = packet.clone();
        change(&mut copy, numbers);
        if copy != *packet {
            forged.push((what, copy));
        }
    };
    changed("a bit of the tag", &mut |p, numbers| flip(&mut p.tag, numbers));
    changed("a bit of the text", &mut |p, numbers| flip(&mut p.text, numbers));
    changed("a bit of the associated data", &mut |p, numbers| flip(&mut p.aad, numbers));
    changed("a bit of the nonce", &mut |p, numbers| flip(&mut p.nonce, numbers));
    changed("another tag", &mut |p, numbers| p.tag = numbers.bytes(p.tag.len()));
    changed("a tag of zeros", &mut |p, _| p.tag.fill(0));
    changed("less text", &mut |p, _| shorten(&mut p.text));
    changed("more text", &mut |p, numbers| p.text.extend(numbers.bytes(1)));
    changed("more text, zeros", &mut |p, _| p.text.resize(p.text.len() + 16, 0));
    changed("less associated data", &mut |p, _| shorten(&mut p.aad));
    changed("more associated data", &mut |p, _| p.aad.push(0));
    changed("swapped halves", &mut |p, _| {
        let half = p.text.len() / 2;
        p.text.rotate_left(half);
    });
    changed("text for associated data", &mut |p, _| core::mem::swap(&mut p.text, &mut p.aad));
    changed("an end as associated data", &mut |p, _| {
        if let Some(byte) = p.aad.pop() {
            p.text.insert(0, byte);
        }
    });
    // The packet as a whole, so that its tag begins at another place.
    let mut moved = |what, change: &mut dyn FnMut(&mut Vec<u8>)| {
        changed(what, &mut |p, _| {
            let mut whole = [&p.text[..], &p.tag].concat();
            change(&mut whole);
            if let Some(at) = whole.len().checked_sub(p.tag.len()) {
                p.tag = whole.split_off(at);
                p.text = whole;
            }
        });
    };
    moved("the last byte missing", &mut |whole| shorten(whole));
    moved("the first byte missing", &mut |whole| {
        whole.remove(0);
    });
    moved("a byte behind", &mut |whole| whole.push(0));
    moved("a byte before", &mut |whole| whole.insert(0, 0));
    forged
}

fn shorten(bytes: &mut Vec<u8>) {
    bytes.pop();
}

fn flip(bytes: &mut [u8], numbers: &mut Numbers) {
    if !bytes.is_empty() {
        let bit = numbers.below(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// A tag by itself that is too short or too long is no tag at all, and nothing is decrypted; a
/// packet that is shorter than a tag is a forgery.
fn wrong_tag_lengths(message: &Message) -> usize {
    let Message { cipher, packet: Packet { nonce, aad, text, tag }, .. } = message;
    let wrong = [tag[..tag.len() - 1].to_vec(), Vec::new(), [&tag[..], &[0]].concat()];
    for wrong in &wrong {
        let mut out = text.clone();
        let verdict = cipher.open_detached(nonce, aad, &mut out[..], wrong);
        assert_eq!(verdict, Err(Error::TagLength), "{message:?}");
        assert_eq!(out, *text, "{message:?}");
    }
    let mut short = tag[1..].to_vec();
    let verdict = cipher.open(nonce, aad, &mut short).map(drop);
    assert_eq!(verdict, Err(Error::Authentication), "{message:?}");
    let verdict = cipher.open_to(nonce, aad, &short, &mut []);
    assert_eq!(verdict, Err(Error::Authentication), "{message:?}");
    wrong.len() + 2
}

/// Decrypts whatever comes, and answers the tag that it should have.
fn decrypt(cipher: &Cipher, packet: &Packet, out: &mut [u8]) -> Result<Vec<u8>, Error> {
    let mut opener = cipher.opener(&packet.nonce)?;
    opener.associate(&packet.aad)?;
    opener.decrypt_unverified(InOutBuf::new(&packet.text, out).expect("equal lengths"))?;
    let mut sealer = cipher.sealer(&packet.nonce)?;
    sealer.associate(&packet.aad)?;
    sealer.encrypt(&mut out.to_vec()[..])?;
    let mut tag = vec![0; cipher.tag_length()];
    sealer.finish(&mut tag)?;
    Ok(tag)
}

/// Compares the first half only.
fn half_of_the_tag(cipher: &Cipher, packet: &Packet, out: &mut [u8]) -> Result<(), Error> {
    let tag = decrypt(cipher, packet, out)?;
    let half = tag.len() / 2;
    if tag[..half] == packet.tag[..half] { Ok(()) } else { refuse(out) }
}

/// Takes the associated data for empty.
fn without_aad(cipher: &Cipher, packet: &Packet, out: &mut [u8]) -> Result<(), Error> {
    let bare = Packet { aad: Vec::new(), ..packet.clone() };
    let tag = decrypt(cipher, &bare, out)?;
    if tag == packet.tag { Ok(()) } else { refuse(out) }
}

/// Refuses what it should, and leaves the text.
fn nothing_wiped(cipher: &Cipher, packet: &Packet, out: &mut [u8]) -> Result<(), Error> {
    let tag = decrypt(cipher, packet, out)?;
    if tag == packet.tag { Ok(()) } else { Err(Error::Authentication) }
}

/// A comparison that holds whatever came.
fn always_true(cipher: &Cipher, packet: &Packet, out: &mut [u8]) -> Result<(), Error> {
    decrypt(cipher, packet, out).map(drop)
}

/// One that never holds.
fn never_true(_: &Cipher, _: &Packet, out: &mut [u8]) -> Result<(), Error> {
    refuse(out)
}

fn refuse(out: &mut [u8]) -> Result<(), Error> {
    out.fill(0);
    Err(Error::Authentication)
}
