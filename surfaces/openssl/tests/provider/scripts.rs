//! Random sequences of calls, given to a context of each provider. Every answer and every byte must
//! be the same.
//!
//! Some sequences make no sense, and programs make them nevertheless. Left out is what the default
//! provider leaves to chance: it continues under a spent nonce in some versions, or after a new key
//! in the middle of a message.

use lanecrypt_testing::numbers::{Numbers, cases};

use crate::evp::Keyed;
use crate::{AEADS, OTHERS, everywhere};

/// What a message has got so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Begun,
    Data,
    Over,
}

#[test]
fn aead() {
    everywhere(|context| {
        let mut numbers = Numbers(1);
        for _ in 0..cases(300) {
            for (name, key_length) in AEADS {
                let [ours, theirs] = context.both(name);
                script(&mut numbers, key_length, [ours.context(), theirs.context()], name);
            }
        }
    });
}

fn script(numbers: &mut Numbers, key_length: usize, mut both: [Keyed<'_>; 2], name: &str) {
    let is_gcm = name.contains("GCM");
    let mut done = Vec::new();
    let mut encrypt = true;
    let mut stage = Stage::Over;
    let mut iv_length = 12;
    let mut has_key = false;
    macro_rules! same {
        ($keyed:ident => $call:expr) => {{
            let [ours, theirs] = both.each_mut().map(|$keyed| $call);
            assert_eq!(ours, theirs, "{name}, {}", done.join(", "));
            ours
        }};
    }
    for _ in 0..numbers.below(24) + 4 {
        match numbers.below(12) {
            0..=2 => {
                encrypt = numbers.below(2) == 0;
                let key = numbers.bytes(key_length);
                let iv = numbers.bytes(iv_length);
                let with_key = !has_key || numbers.below(3) == 0;
                done.push(format!("init {encrypt} {with_key} iv {iv_length}"));
                same!(keyed => keyed.init(encrypt, with_key.then_some(&key), Some(&iv)));
                (has_key, stage) = (true, Stage::Begun);
            }
            3 if is_gcm => {
                // A vector of that length must follow.
                iv_length = 1 + numbers.below(64);
                done.push(format!("ivlen {iv_length}"));
                same!(keyed => keyed.set_iv_length(iv_length));
                stage = Stage::Over;
            }
            4 if has_key && stage != Stage::Over => {
                // The other order: the key first, then the vector.
                let (key, iv) = (numbers.bytes(key_length), numbers.bytes(iv_length));
                done.push("init key, init iv".into());
                same!(keyed => keyed.init(encrypt, Some(&key), None));
                same!(keyed => keyed.init(encrypt, None, Some(&iv)));
                stage = Stage::Begun;
            }
            5 | 6 if stage == Stage::Begun => {
                let most = [4, 20, 60, 300][numbers.below(4)];
                let length = numbers.below(most);
                let aad = numbers.bytes(length);
                done.push(format!("aad {length}"));
                same!(keyed => keyed.associate(&aad));
            }
            7..=9 if stage != Stage::Over => {
                let most = [20, 70, 300, 2000][numbers.below(4)];
                let length = numbers.below(most);
                let data = numbers.bytes(length);
                done.push(format!("data {length}"));
                if numbers.below(2) == 0 {
                    same!(keyed => keyed.update(&data));
                } else {
                    same!(keyed => {
                        let mut data = data.clone();
                        let answer = keyed.update_in_place(&mut data, length);
                        (answer, data)
                    });
                }
                if length > 0 {
                    stage = Stage::Data;
                }
            }
            10 if stage != Stage::Over => {
                done.push("copy".into());
                let copies = both.each_ref().map(|keyed| keyed.copied().expect("a copy"));
                // The originals go on a little, which the copies must not see.
                same!(keyed => keyed.update(b"only here"));
                both = copies;
            }
            11 if stage != Stage::Over => {
                let tag_length = 1 + numbers.below(16);
                if encrypt {
                    done.push(format!("end, tag of {tag_length}"));
                    same!(keyed => keyed.end());
                    same!(keyed => keyed.tag(tag_length));
                    same!(keyed => keyed.tag(16));
                    same!(keyed => keyed.number(c"taglen", 8));
                } else {
                    done.push("end with a wrong tag".into());
                    let tag = numbers.bytes(tag_length.max(3));
                    same!(keyed => keyed.set_tag(&tag));
                    assert_eq!(same!(keyed => keyed.end()), None);
                }
                stage = Stage::Over;
            }
            _ if has_key => {
                same!(keyed => keyed.number(c"ivlen", 8));
                same!(keyed => keyed.number(c"keylen", 8));
                if is_gcm && stage != Stage::Over {
                    same!(keyed => keyed.octets(c"iv", 128));
                    same!(keyed => keyed.octets(c"updated-iv", 128));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn others() {
    everywhere(|context| {
        let mut numbers = Numbers(2);
        for _ in 0..cases(300) {
            for (name, key_length) in OTHERS {
                let [ours, theirs] = context.both(name);
                other(&mut numbers, key_length, [ours.context(), theirs.context()], name);
            }
        }
    });
}

fn other(numbers: &mut Numbers, key_length: usize, mut both: [Keyed<'_>; 2], name: &str) {
    let is_xts = name.contains("XTS");
    let mut done = Vec::new();
    let mut encrypt = true;
    let mut begun = false;
    macro_rules! same {
        ($keyed:ident => $call:expr) => {{
            let [ours, theirs] = both.each_mut().map(|$keyed| $call);
            assert_eq!(ours, theirs, "{name}, {}", done.join(", "));
            ours
        }};
    }
    for _ in 0..numbers.below(24) + 4 {
        match numbers.below(10) {
            0 | 1 => {
                // The default provider cannot decrypt with a key that was set for encryption.
                let turned = encrypt;
                encrypt = numbers.below(2) == 0;
                let turned = turned != encrypt;
                let (key, iv) = (numbers.bytes(key_length), numbers.bytes(16));
                let with_key = !begun || is_xts || turned || numbers.below(3) == 0;
                let with_iv = !begun || numbers.below(3) > 0;
                done.push(format!("init {encrypt} {with_key} {with_iv}"));
                let (key, iv) = (with_key.then_some(&key[..]), with_iv.then_some(&iv[..]));
                same!(keyed => keyed.init(encrypt, key, iv));
                begun = true;
            }
            2..=5 if begun => {
                let most = [20, 70, 300, 2000][numbers.below(4)];
                let mut length = numbers.below(most);
                if is_xts && length < 16 {
                    length += 16;
                }
                let data = numbers.bytes(length);
                done.push(format!("data {length}"));
                same!(keyed => keyed.update(&data));
            }
            6 if begun && !is_xts => {
                // In place, as far as the default provider can: no block has been begun.
                let length = 16 * numbers.below(40);
                let (key, iv) = (numbers.bytes(key_length), numbers.bytes(16));
                done.push(format!("in place {length}"));
                same!(keyed => keyed.init(encrypt, Some(&key), Some(&iv)));
                let data = numbers.bytes(length);
                same!(keyed => {
                    let mut data = data.clone();
                    let answer = keyed.update_in_place(&mut data, length);
                    (answer, data)
                });
            }
            7 if begun => {
                done.push("end".into());
                same!(keyed => keyed.end());
                let iv = numbers.bytes(16);
                same!(keyed => keyed.init(encrypt, None, Some(&iv)));
            }
            8 if begun => {
                let pads = numbers.below(2) == 0;
                done.push(format!("padding {pads}"));
                same!(keyed => keyed.set_padding(pads));
                let iv = numbers.bytes(16);
                same!(keyed => keyed.init(encrypt, None, Some(&iv)));
            }
            9 if begun => {
                done.push("copy".into());
                let copies = both.each_ref().map(|keyed| keyed.copied().expect("a copy"));
                same!(keyed => keyed.update(b"sixteen and more bytes"));
                both = copies;
            }
            _ if begun => {
                for property in [c"ivlen", c"keylen", c"padding", c"num"] {
                    same!(keyed => keyed.number(property, 8));
                }
                same!(keyed => keyed.octets(c"iv", 16));
                same!(keyed => keyed.octets(c"updated-iv", 16));
            }
            _ => {}
        }
    }
}
