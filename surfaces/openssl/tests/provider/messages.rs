//! Whole messages: what one provider seals the other opens, and only that.

use lanecrypt_testing::numbers::{Numbers, cases};

use crate::evp::{Cipher, IV_GEN, Keyed, SET_IV_FIXED};
use crate::{AEADS, OTHERS, everywhere};

/// A message and its answer by the default provider.
struct Case {
    key: Vec<u8>,
    iv: Vec<u8>,
    aad: Vec<u8>,
    text: Vec<u8>,
    sealed: Vec<u8>,
    tag: Vec<u8>,
}

impl Case {
    fn new(numbers: &mut Numbers, theirs: &Cipher<'_>, [key, iv, aad, text]: [usize; 4]) -> Self {
        let [key, iv, aad, text] = [key, iv, aad, text].map(|length| numbers.bytes(length));
        let mut context = theirs.context();
        begin(&mut context, true, &key, &iv);
        assert!(context.associate(&aad).is_some());
        let sealed = context.update(&text).expect("a message");
        assert_eq!(context.end(), Some(Vec::new()));
        let tag = context.tag(16).expect("a tag");
        Self { key, iv, aad, text, sealed, tag }
    }

    /// In pieces that end at these places, in both directions.
    fn check(&self, ours: &Cipher<'_>, aad_cut: usize, cuts: &[usize]) {
        for encrypt in [true, false] {
            let (from, to) =
                if encrypt { (&self.text, &self.sealed) } else { (&self.sealed, &self.text) };
            let mut context = ours.context();
            begin(&mut context, encrypt, &self.key, &self.iv);
            let (front, back) = self.aad.split_at(aad_cut.min(self.aad.len()));
            assert!(context.associate(front).is_some() && context.associate(back).is_some());
            let (mut out, mut at) = (Vec::new(), 0);
            for cut in cuts.iter().copied().chain([from.len()]) {
                out.extend(context.update(&from[at..cut]).expect("data"));
                at = cut;
            }
            assert_eq!(out, *to, "{} bytes, {cuts:?}, {encrypt}", from.len());
            if encrypt {
                assert_eq!(context.end(), Some(Vec::new()));
                assert_eq!(context.tag(16).as_ref(), Some(&self.tag), "{cuts:?}");
            } else {
                assert!(context.set_tag(&self.tag));
                assert_eq!(context.end(), Some(Vec::new()), "{} bytes, {cuts:?}", from.len());
            }
        }
    }
}

fn begin(context: &mut Keyed<'_>, encrypt: bool, key: &[u8], iv: &[u8]) {
    if iv.len() == 12 {
        return assert!(context.init(encrypt, Some(key), Some(iv)));
    }
    assert!(context.init(encrypt, None, None));
    assert!(context.set_iv_length(iv.len()));
    assert!(context.init(encrypt, Some(key), Some(iv)));
}

#[test]
fn split_at_every_byte() {
    everywhere(|context| {
        let mut numbers = Numbers(1);
        for (name, key) in AEADS {
            let [ours, theirs] = context.both(name);
            for length in [1, 16, 31, 64, 100, 300] {
                let case = Case::new(&mut numbers, &theirs, [key, 12, 21, length]);
                for cut in 0..=length {
                    case.check(&ours, cut, &[cut]);
                    case.check(&ours, 5, &[cut / 2, cut]);
                }
            }
            // Associated data that do not fit into the context.
            for aad in [127, 128, 129, 1000] {
                let case = Case::new(&mut numbers, &theirs, [key, 12, aad, 50]);
                for cut in [0, 1, 16, 100, 128, aad] {
                    case.check(&ours, cut, &[20]);
                }
            }
            Case::new(&mut numbers, &theirs, [key, 12, 13, 40_000]).check(&ours, 0, &[777, 20_000]);
        }
    });
}

#[test]
fn vectors_of_every_length() {
    everywhere(|context| {
        let mut numbers = Numbers(2);
        for (name, key) in AEADS.into_iter().filter(|(name, _)| name.contains("GCM")) {
            let [ours, theirs] = context.both(name);
            for iv in (1..=64).chain([96, 128]) {
                for length in [0, 20, 100] {
                    let case = Case::new(&mut numbers, &theirs, [key, iv, 7, length]);
                    case.check(&ours, 7, &[length / 3]);
                }
            }
        }
        for iv in 0..=64 {
            for cipher in context.both("ChaCha20-Poly1305") {
                let mut keyed = cipher.context();
                assert!(keyed.init(true, None, None));
                assert_eq!(keyed.set_iv_length(iv), iv == 12, "{iv}");
            }
        }
    });
}

/// Every bit of a tag counts, and every byte of what it covers; shorter tags are their fronts.
#[test]
fn forgeries_are_refused() {
    everywhere(|context| {
        let mut numbers = Numbers(3);
        for (name, key) in AEADS {
            let [ours, theirs] = context.both(name);
            let case = Case::new(&mut numbers, &theirs, [key, 12, 13, 40]);
            let mut keyed = ours.context();
            assert!(keyed.init(false, Some(&case.key), Some(&case.iv)));
            let mut open = |aad: &[u8], sealed: &[u8], tag: &[u8]| {
                assert!(keyed.init(false, None, Some(&case.iv)) && keyed.set_tag(tag));
                assert!(keyed.associate(aad).is_some());
                assert!(keyed.update(sealed).is_some());
                keyed.end().is_some()
            };
            assert!(open(&case.aad, &case.sealed, &case.tag));
            for length in 1..=16 {
                assert!(open(&case.aad, &case.sealed, &case.tag[..length]), "{length}");
                for bit in 0..8 * length {
                    let mut tag = case.tag[..length].to_vec();
                    tag[bit / 8] ^= 1 << (bit % 8);
                    assert!(!open(&case.aad, &case.sealed, &tag), "{length} {bit}");
                }
            }
            for at in 0..case.sealed.len() {
                let mut sealed = case.sealed.clone();
                sealed[at] ^= 0x10;
                assert!(!open(&case.aad, &sealed, &case.tag), "{at}");
            }
            for at in 0..case.aad.len() {
                let mut aad = case.aad.clone();
                aad[at] ^= 1;
                assert!(!open(&aad, &case.sealed, &case.tag), "{at}");
            }
            assert!(open(&case.aad, &case.sealed, &case.tag));
        }
    });
}

/// No second message under a vector, no data before a key, no associated data behind data.
#[test]
fn misuse_is_refused() {
    everywhere(|context| {
        for (name, key) in AEADS {
            let [ours, _] = context.both(name);
            let mut keyed = ours.context();
            assert!(keyed.init(true, None, None));
            assert!(keyed.update(b"data").is_none(), "{name}: without a key");
            assert!(keyed.init(true, Some(&[1; 32][..key]), Some(&[2; 12])));
            assert!(!keyed.set_tag(&[0; 16]), "{name}: a tag when sealing");
            assert!(keyed.update(b"data").is_some());
            assert!(keyed.associate(b"late").is_none(), "{name}");
            assert!(keyed.tag(16).is_none(), "{name}: the tag before the end");
            assert!(keyed.end().is_some() && keyed.tag(16).is_some());
            assert!(keyed.tag(17).is_none());
            assert!(keyed.update(b"more").is_none(), "{name}: the vector is spent");
            assert!(keyed.end().is_none());
            assert!(keyed.init(true, Some(&[3; 32][..key]), None));
            assert!(keyed.update(b"more").is_none(), "{name}: still spent");
            assert!(!keyed.set_iv_length(0) && !keyed.set_iv_length(129));
            assert!(keyed.init(false, Some(&[1; 32][..key]), Some(&[2; 12])));
            assert!(keyed.update(b"data").is_some());
            assert!(!keyed.set_tag(&[0; 17]), "{name}");
        }
        let [ours, _] = context.both("ChaCha20-Poly1305");
        let mut keyed = ours.context();
        assert!(keyed.init(true, Some(&[1; 32]), None));
        assert!(keyed.update(b"data").is_none(), "without a vector");
        let [ours, _] = context.both("AES-128-XTS");
        let mut keyed = ours.context();
        assert!(!keyed.init(true, Some(&[1; 32]), Some(&[2; 16])), "equal halves");
        let mut keyed = ours.context();
        assert!(keyed.init(false, Some(&[1; 32]), Some(&[2; 16])), "which others have used");
        assert!(keyed.update(&[0; 15]).is_none(), "a data unit has a block at least");
        assert!(keyed.update(&vec![0; (16 << 20) + 1]).is_none(), "and 2^20 at most");
    });
}

/// GCM makes a vector itself if there is none, and tells it.
#[test]
fn a_vector_is_made() {
    everywhere(|context| {
        let [ours, theirs] = context.both("AES-256-GCM");
        let mut vectors = Vec::new();
        for _ in 0..3 {
            let mut keyed = ours.context();
            assert!(keyed.init(true, Some(&[1; 32]), None));
            let sealed = keyed.update(b"message").expect("a vector is made");
            assert!(keyed.end().is_some());
            let (iv, tag) = (keyed.octets(c"iv", 12), keyed.tag(16));
            let (iv, tag) = (iv.expect("a vector"), tag.expect("a tag"));
            let mut other = theirs.context();
            assert!(other.init(false, Some(&[1; 32]), Some(&iv)) && other.set_tag(&tag));
            assert_eq!(other.update(&sealed).as_deref(), Some(&b"message"[..]));
            assert!(other.end().is_some());
            assert!(!vectors.contains(&iv));
            vectors.push(iv);
        }
        let mut keyed = ours.context();
        assert!(keyed.init(false, Some(&[1; 32]), None));
        assert!(keyed.update(b"message").is_none(), "when opening there is none to make");
    });
}

/// Buffers that overlap are taken as if they did not.
#[test]
fn buffers_may_overlap() {
    everywhere(|context| {
        let mut numbers = Numbers(4);
        for (name, key) in AEADS.into_iter().chain(OTHERS) {
            let [ours, theirs] = context.both(name);
            let iv = if AEADS.contains(&(name, key)) { 12 } else { 16 };
            for by in [-100, -17, -16, -1, 1, 16, 17, 100] {
                let (key, iv) = (numbers.bytes(key), numbers.bytes(iv));
                let text = numbers.bytes(320);
                let mut keyed = theirs.context();
                assert!(keyed.init(true, Some(&key), Some(&iv)));
                let expected = keyed.update(&text);
                let mut keyed = ours.context();
                assert!(keyed.init(true, Some(&key), Some(&iv)));
                assert_eq!(keyed.update_overlapping(&text, by), expected, "{name} {by}");
            }
        }
        // CBC with a block begun, in place, which shifts the output against the input.
        let [ours, theirs] = context.both("AES-128-CBC");
        let text = numbers.bytes(200);
        let (mut keyed, mut other) = (ours.context(), theirs.context());
        assert!(keyed.init(true, Some(&[1; 16]), Some(&[2; 16])));
        assert!(other.init(true, Some(&[1; 16]), Some(&[2; 16])));
        assert_eq!(keyed.update(b"begun"), other.update(b"begun"));
        let expected = other.update(&text).expect("blocks");
        let mut place = text.clone();
        assert_eq!(keyed.update_in_place(&mut place, 200), Some(expected.len()));
        assert_eq!(place[..expected.len()], expected);
    });
}

/// As OpenSSH does it: the whole vector once, then the next one for each packet, and `EVP_Cipher`.
#[test]
fn as_openssh_does() {
    everywhere(|context| {
        let mut numbers = Numbers(5);
        for (name, key) in AEADS.into_iter().filter(|(name, _)| name.contains("GCM")) {
            let [ours, theirs] = context.both(name);
            let (key, mut iv) = (numbers.bytes(key), numbers.bytes(12));
            // The count runs over within eight bytes.
            iv[4..].copy_from_slice(&(u64::MAX - 3).to_be_bytes());
            for encrypt in [true, false] {
                let mut both = [ours.context(), theirs.context()];
                for keyed in &mut both {
                    assert!(keyed.init(encrypt, Some(&key), None));
                    assert_eq!(keyed.control(SET_IV_FIXED, -1, &mut iv.clone()), 1);
                }
                for packet in 0..8 {
                    let data = numbers.bytes(16 * (packet + 1));
                    let answers = both.each_mut().map(|keyed| {
                        let mut last = [0; 1];
                        assert_eq!(keyed.control(IV_GEN, 1, &mut last), 1);
                        let mut answers = Vec::new();
                        if !encrypt {
                            assert!(keyed.set_tag(&[7; 16]));
                        }
                        answers.push(keyed.cipher(Some(b"size"), false));
                        answers.push(keyed.cipher(Some(&data), true));
                        answers.push(keyed.cipher(None, false));
                        (last, answers, keyed.tag(16), keyed.octets(c"iv", 12))
                    });
                    assert_eq!(answers[0], answers[1], "{name} {encrypt} {packet}");
                }
            }
        }
    });
}

/// Other ciphers, one way by each provider, in pieces.
#[test]
fn others_both_ways() {
    everywhere(|context| {
        let mut numbers = Numbers(6);
        for (name, key) in OTHERS {
            let both = context.both(name);
            for _ in 0..cases(30) {
                let (key, iv) = (numbers.bytes(key), numbers.bytes(16));
                let length = 16 + numbers.below(500);
                let text = numbers.bytes(length);
                for (sealing, opening) in [(0, 1), (1, 0)] {
                    let run = |at: usize, encrypt, data: &[u8], cut: usize| {
                        let mut keyed = both[at].context();
                        assert!(keyed.init(encrypt, Some(&key), Some(&iv)));
                        let cut = if name.contains("XTS") { data.len() } else { cut };
                        let mut out = keyed.update(&data[..cut]).expect("data");
                        if cut < data.len() {
                            out.extend(keyed.update(&data[cut..]).expect("data"));
                        }
                        out.extend(keyed.end().expect("the end"));
                        out
                    };
                    let sealed = run(sealing, true, &text, numbers.below(length));
                    let cut = numbers.below(sealed.len());
                    assert_eq!(run(opening, false, &sealed, cut), text, "{name} {length}");
                }
            }
        }
    });
}
