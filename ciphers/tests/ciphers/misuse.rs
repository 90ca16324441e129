//! What the checked ciphers refuse: the exact error, nothing written, and the message continues.
//!
//! Buffers that overlap cannot be written down: see the examples of `RawCipher` that do not
//! compile.

use lanecrypt_ciphers::hazmat::{Decryptor, Encryptor, Padding, RawCipher, Stream};
use lanecrypt_ciphers::{Algorithm, Error, InOutBuf, Isa};

use crate::refusals::Refusals;

/// What no refused call may write over.
const UNTOUCHED: u8 = 0xa5;

#[test]
fn every_misuse_is_refused_exactly() {
    let mut refusals = Refusals::default();
    wrong_keys(&mut refusals);
    wrong_ivs(&mut refusals);
    part_blocks(&mut refusals);
    short_outputs(&mut refusals);
    calls_after_the_end(&mut refusals);
    keystream_exhausted(&mut refusals);
    unsupported(&mut refusals);
    held_back(&mut refusals);
    bad_padding(&mut refusals);
    xts(&mut refusals);
    legacy(&mut refusals);
    let (count, calls) = refusals.counts();
    println!("{count} distinct misuses in {calls} calls");
    assert!(count >= 60, "{count} misuses only");
}

fn keyed(algorithm: Algorithm) -> RawCipher {
    let key: Vec<u8> = (3..).take(algorithm.key_lengths().longest()).collect();
    RawCipher::new(algorithm, &key).expect("a good key")
}

fn iv(algorithm: Algorithm) -> Vec<u8> {
    vec![0x3c; algorithm.nonce_length()]
}

fn message(len: usize) -> Vec<u8> {
    (0..=255).cycle().take(len).collect()
}

/// Asserts that a call that works on data was refused and has left them alone.
fn untouched<T>(
    refusals: &mut Refusals,
    what: &str,
    error: Error,
    len: usize,
    call: impl FnOnce(&mut [u8]) -> Result<T, Error>,
) {
    let mut data = vec![UNTOUCHED; len];
    let answer = call(&mut data);
    refusals.note(what, answer, error);
    assert!(data.iter().all(|&byte| byte == UNTOUCHED), "{what}: written");
}

fn wrong_keys(refusals: &mut Refusals) {
    let families = [
        ("aes-128", "aes-128-cbc", &[0, 1, 15, 17, 24, 32][..]),
        ("aes-192", "aes-192-ctr", &[0, 16, 23, 25, 32]),
        ("aes-256", "aes-256-ecb", &[0, 16, 24, 31, 33]),
        ("serpent-128", "serpent-128-cbc", &[0, 15, 17, 24, 32]),
        ("serpent-192", "serpent-192-ctr", &[0, 16, 23, 25]),
        ("serpent-256", "serpent-256-ecb", &[0, 16, 31, 33]),
        ("chacha20 of RFC 8439", "chacha20-ietf", &[0, 16, 31, 33]),
        ("chacha12", "chacha12-djb", &[0, 15, 17, 24, 31, 33, 64]),
        ("salsa20", "salsa20/20", &[0, 15, 24, 33]),
        ("null", "null", &[1, 16]),
    ];
    for (family, name, lengths) in families {
        let algorithm: Algorithm = name.parse().expect("a row");
        for &length in lengths {
            let cipher = RawCipher::new(algorithm, &vec![1; length]);
            refusals.note(&format!("key of a wrong length: {family}"), cipher, Error::KeyLength);
        }
    }
}

fn wrong_ivs(refusals: &mut Refusals) {
    let families = [
        ("ecb", "aes-128-ecb", &[1, 16][..]),
        ("cbc", "aes-256-cbc", &[0, 8, 15, 17, 32]),
        ("ctr", "serpent-128-ctr", &[0, 8, 12, 15, 17]),
        ("rfc 8439", "chacha20-ietf", &[0, 8, 11, 13, 15, 17]),
        ("djb", "chacha8-djb", &[0, 7, 9, 12, 24]),
        ("salsa", "salsa20/12", &[0, 7, 12, 15, 17]),
        ("null", "null", &[1, 16]),
    ];
    for (family, name, lengths) in families {
        let algorithm: Algorithm = name.parse().expect("a row");
        let (cipher, good) = (keyed(algorithm), iv(algorithm));
        let mut encryptor = cipher.encryptor(&good, Padding::None).expect("a good iv");
        let mut decryptor = cipher.decryptor(&good, Padding::None).expect("a good iv");
        let plain = message(64);
        let mut sealed = plain.clone();
        cipher.encrypt(&good, &mut sealed[..]).expect("whole blocks");
        let (mut out, mut back) = (plain.clone(), sealed.clone());
        encryptor.apply(&mut out[..32]).expect("whole blocks");
        decryptor.apply(&mut back[..32]).expect("whole blocks");
        for &length in lengths {
            let (bad, error) = (vec![0; length], Error::NonceLength);
            let what = |call: &str| format!("iv of a wrong length, {family}: {call}");
            untouched(refusals, &what("encrypt"), error, 32, |data| cipher.encrypt(&bad, data));
            untouched(refusals, &what("decrypt"), error, 32, |data| cipher.decrypt(&bad, data));
            let encryptor_again = cipher.encryptor(&bad, Padding::None);
            refusals.note(&what("encryptor"), encryptor_again, error);
            let decryptor_again = cipher.decryptor(&bad, Padding::None);
            refusals.note(&what("decryptor"), decryptor_again, error);
            refusals.note(&what("restart"), encryptor.restart(&bad), error);
            refusals.note(&what("restart"), decryptor.restart(&bad), error);
            if algorithm.is_stream() {
                let begun = cipher.encryptor_at_block(&bad, 1);
                refusals.note(&what("at a block"), begun, error);
                continue;
            }
            untouched(refusals, &what("padded"), error, 48, |data| {
                cipher.encrypt_padded(&bad, &[1; 20], data)
            });
            untouched(refusals, &what("padded"), error, 48, |data| {
                cipher.encrypt_padded_in_place(&bad, data, 20)
            });
            untouched(refusals, &what("unpadded"), error, 48, |data| {
                cipher.decrypt_padded(&bad, &[1; 32], data)
            });
            untouched(refusals, &what("unpadded"), error, 48, |data| {
                cipher.decrypt_padded_in_place(&bad, data)
            });
        }
        // A restart that was refused is none.
        encryptor.apply(&mut out[32..]).expect("whole blocks");
        decryptor.apply(&mut back[32..]).expect("whole blocks");
        assert_eq!((out, back), (sealed, plain), "{family}");
    }
}

fn part_blocks(refusals: &mut Refusals) {
    let error = Error::DataLength;
    for name in ["aes-128-ecb", "aes-192-cbc", "serpent-256-ecb", "serpent-128-cbc"] {
        let algorithm: Algorithm = name.parse().expect("a row");
        let (cipher, iv) = (keyed(algorithm), iv(algorithm));
        let what = |call: &str| format!("part of a block, {name}: {call}");
        for length in [1, 8, 15, 17, 31, 33, 100, 1023] {
            untouched(refusals, &what("encrypt"), error, length, |data| cipher.encrypt(&iv, data));
            untouched(refusals, &what("decrypt"), error, length, |data| cipher.decrypt(&iv, data));
            untouched(refusals, &what("encrypt apart"), error, length, |data| {
                cipher.encrypt(&iv, InOutBuf::new(&message(length), data).expect("equal lengths"))
            });
            goes_on(refusals, &what("apply"), error, &cipher, Padding::None, 32, |encryptor| {
                encryptor.apply(&mut message(length)[..]).map(|()| 0)
            });
            goes_back(refusals, &what("apply"), error, &cipher, Padding::None, 32, |decryptor| {
                decryptor.apply(&mut message(length)[..]).map(|()| 0)
            });
            untouched(refusals, &what("decrypt padded"), error, 2000, |data| {
                cipher.decrypt_padded(&iv, &message(length), data)
            });
            untouched(refusals, &what("decrypt padded in place"), error, length, |data| {
                cipher.decrypt_padded_in_place(&iv, data)
            });
        }
        let empty = "nothing where there must be padding";
        untouched(refusals, empty, error, 32, |data| cipher.decrypt_padded(&iv, &[], data));
        untouched(refusals, empty, error, 0, |data| cipher.decrypt_padded_in_place(&iv, data));
        let finish = |data: &mut [u8]| {
            cipher.decryptor(&iv, Padding::Pkcs7).expect("a good iv").finish(data)
        };
        untouched(refusals, empty, error, 32, finish);
        for held in [1, 15, 17, 31] {
            goes_on(refusals, &what("finish"), error, &cipher, Padding::None, held, |encryptor| {
                finish_untouched(|out| encryptor.finish(out))
            });
            goes_back(refusals, &what("finish"), error, &cipher, Padding::None, held, |running| {
                finish_untouched(|out| running.finish(out))
            });
            let unpad = what("finish padded");
            goes_back(refusals, &unpad, error, &cipher, Padding::Pkcs7, held, |running| {
                finish_untouched(|out| running.finish(out))
            });
        }
    }
}

fn short_outputs(refusals: &mut Refusals) {
    let error = Error::OutputLength;
    for name in ["aes-256-cbc", "serpent-192-ecb"] {
        let algorithm: Algorithm = name.parse().expect("a row");
        let (cipher, iv) = (keyed(algorithm), iv(algorithm));
        let what = |call: &str| format!("output too short, {name}: {call}");
        for (length, short) in [(0, 15), (1, 0), (15, 15), (16, 31), (16, 16), (40, 47)] {
            untouched(refusals, &what("encrypt padded"), error, short, |data| {
                cipher.encrypt_padded(&iv, &message(length), data)
            });
            if length <= short {
                let call = what("encrypt padded in place");
                untouched(refusals, &call, error, short, |data| {
                    cipher.encrypt_padded_in_place(&iv, data, length)
                });
            }
        }
        for beyond in [49, 1000, usize::MAX - 15, usize::MAX] {
            untouched(refusals, &what("message behind the buffer"), error, 48, |data| {
                cipher.encrypt_padded_in_place(&iv, data, beyond)
            });
        }
        let mut sealed = [0; 48];
        cipher.encrypt_padded(&iv, &message(40), &mut sealed).expect("room enough");
        for short in [0, 40, 47] {
            untouched(refusals, &what("decrypt padded"), error, short, |data| {
                cipher.decrypt_padded(&iv, &sealed, data)
            });
        }
        for padding in [Padding::None, Padding::Pkcs7] {
            for (held, length, short) in [(0, 16, 15), (0, 100, 95), (9, 7, 15), (17, 40, 31)] {
                let call = what("update");
                goes_on(refusals, &call, error, &cipher, padding, held, |encryptor| {
                    update_untouched(short, |out| encryptor.update(&message(length), out))
                });
                // With padding one more block may be held back.
                let length = length + 16;
                goes_back(refusals, &call, error, &cipher, padding, held, |decryptor| {
                    update_untouched(short, |out| decryptor.update(&message(length), out))
                });
            }
        }
        for short in [0, 1, 15] {
            let call = what("finish");
            goes_on(refusals, &call, error, &cipher, Padding::Pkcs7, 5, |encryptor| {
                update_untouched(short, |out| encryptor.finish(out))
            });
            goes_back(refusals, &call, error, &cipher, Padding::Pkcs7, 32, |decryptor| {
                update_untouched(short, |out| decryptor.finish(out))
            });
        }
    }
    for name in ["aes-128-ctr", "chacha20-ietf", "salsa20/20", "null"] {
        let cipher = keyed(name.parse().expect("a row"));
        let what = format!("output too short, {name}: update");
        for (length, short) in [(1, 0), (16, 15), (100, 99), (64, 0)] {
            goes_on(refusals, &what, error, &cipher, Padding::None, 37, |encryptor| {
                update_untouched(short, |out| encryptor.update(&message(length), out))
            });
            goes_back(refusals, &what, error, &cipher, Padding::None, 37, |decryptor| {
                update_untouched(short, |out| decryptor.update(&message(length), out))
            });
        }
    }
}

fn calls_after_the_end(refusals: &mut Refusals) {
    let error = Error::Finished;
    let cases = [
        ("aes-128-ecb", Padding::None),
        ("aes-256-cbc", Padding::Pkcs7),
        ("serpent-128-ctr", Padding::None),
        ("chacha20-ietf", Padding::None),
        ("null", Padding::None),
    ];
    for (name, padding) in cases {
        let algorithm: Algorithm = name.parse().expect("a row");
        let (cipher, iv) = (keyed(algorithm), iv(algorithm));
        let mut encryptor = cipher.encryptor(&iv, padding).expect("a good iv");
        let mut sealed = vec![0; 64];
        let mut len = encryptor.update(&message(32), &mut sealed).expect("room enough");
        len += encryptor.finish(&mut sealed[len..]).expect("whole blocks");
        sealed.truncate(len);
        let mut decryptor = cipher.decryptor(&iv, padding).expect("a good iv");
        let mut plain = vec![0; 64];
        let len = decryptor.update(&sealed, &mut plain).expect("room enough");
        decryptor.finish(&mut plain[len..]).expect("a whole message");

        let what = |call: &str| format!("after the end, {name}: {call}");
        for length in [0, 1, 16, 40] {
            untouched(refusals, &what("apply"), error, length, |data| encryptor.apply(data));
            untouched(refusals, &what("apply"), error, length, |data| decryptor.apply(data));
            untouched(refusals, &what("update"), error, 64, |data| {
                encryptor.update(&message(length), data)
            });
            untouched(refusals, &what("update"), error, 64, |data| {
                decryptor.update(&message(length), data)
            });
            untouched(refusals, &what("finish"), error, length, |data| encryptor.finish(data));
            untouched(refusals, &what("finish"), error, length, |data| decryptor.finish(data));
        }
        encryptor.restart(&iv).expect("a good iv");
        let mut again = vec![0; 64];
        let mut len = encryptor.update(&message(32), &mut again).expect("room enough");
        len += encryptor.finish(&mut again[len..]).expect("whole blocks");
        assert_eq!(again[..len], sealed, "{name}");
    }
}

fn keystream_exhausted(refusals: &mut Refusals) {
    let error = Error::KeystreamExhausted;
    let cases = [
        ("chacha8-ietf", u64::from(u32::MAX), 64),
        ("chacha20-ietf", u64::from(u32::MAX), 64),
        ("chacha20-djb", u64::MAX - 1, 64),
        ("salsa20/8", u64::MAX - 1, 64),
        ("aes-128-ctr", u64::MAX - 4, 64),
        ("serpent-256-ctr", u64::MAX - 4, 64),
    ];
    for (name, last, left) in cases {
        let algorithm: Algorithm = name.parse().expect("a row");
        let (cipher, iv) = (keyed(algorithm), iv(algorithm));
        let what = |call: &str| format!("past the end, {name}: {call}");
        let mut whole = message(left);
        let mut encryptor = cipher.encryptor_at_block(&iv, last).expect("near the end");
        encryptor.apply(&mut whole[..]).expect("exactly to the end");
        untouched(refusals, &what("apply at the end"), error, 1, |data| encryptor.apply(data));
        encryptor.apply(&mut [][..]).expect("nothing more");

        // Refused in the middle, the rest still comes right.
        let mut encryptor = cipher.encryptor_at_block(&iv, last).expect("near the end");
        let mut data = message(left);
        encryptor.apply(&mut data[..20]).expect("in front of the end");
        for more in [left - 19, left, 1000] {
            untouched(refusals, &what("apply"), error, more, |data| encryptor.apply(data));
            untouched(refusals, &what("update"), error, more, |data| {
                encryptor.update(&message(more), data)
            });
        }
        encryptor.apply(&mut data[20..]).expect("to the end");
        assert_eq!(data, whole, "{name}");

        let mut decryptor = cipher.decryptor_at_block(&iv, last).expect("near the end");
        let decrypt = what("decrypt");
        untouched(refusals, &decrypt, error, left + 1, |data| decryptor.apply(data));
        decryptor.apply(&mut data[..]).expect("to the end");
        assert_eq!(data, message(left), "{name}");

        let past = if name.ends_with("ietf") { 1 << 32 } else { u64::MAX };
        let begin = what("begin");
        refusals.note(&begin, cipher.encryptor_at_block(&iv, past), error);
        refusals.note(&begin, cipher.decryptor_at_block(&iv, past), error);
    }
}

fn unsupported(refusals: &mut Refusals) {
    let error = Error::Unsupported;
    for name in ["aes-128-ctr", "chacha20-ietf", "salsa20/20", "null"] {
        let algorithm: Algorithm = name.parse().expect("a row");
        let (cipher, iv) = (keyed(algorithm), iv(algorithm));
        let what = format!("a padded stream, {name}");
        refusals.note(&what, cipher.encryptor(&iv, Padding::Pkcs7), error);
        refusals.note(&what, cipher.decryptor(&iv, Padding::Pkcs7), error);
        untouched(refusals, &what, error, 64, |data| cipher.encrypt_padded(&iv, &[1; 20], data));
        untouched(refusals, &what, error, 64, |data| cipher.decrypt_padded(&iv, &[1; 32], data));
        untouched(refusals, &what, error, 64, |data| cipher.encrypt_padded_in_place(&iv, data, 9));
        untouched(refusals, &what, error, 64, |data| cipher.decrypt_padded_in_place(&iv, data));
    }
    for name in ["aes-128-ecb", "aes-128-cbc", "serpent-192-cbc"] {
        let algorithm: Algorithm = name.parse().expect("a row");
        let (cipher, iv) = (keyed(algorithm), iv(algorithm));
        let what = format!("a block's number, {name}");
        refusals.note(&what, cipher.encryptor_at_block(&iv, 1), error);
        refusals.note(&what, cipher.decryptor_at_block(&iv, u64::MAX), error);
        let key = vec![1; algorithm.key_lengths().longest()];
        let stream = Stream::new(Isa::detect(), algorithm, &key, &iv);
        refusals.note(&format!("a stream of {name}"), stream, error);
    }
}

/// Data units, which come whole and are neither too short nor under a weak key.
fn xts(refusals: &mut Refusals) {
    for name in ["aes-128-xts", "aes-256-xts"] {
        let algorithm: Algorithm = name.parse().expect("a row");
        let (mut cipher, iv) = (keyed(algorithm), iv(algorithm));
        let weak = vec![7; algorithm.key_lengths().longest()];
        let what = format!("equal halves of a key, {name}");
        refusals.note(&what, RawCipher::new(algorithm, &weak), Error::WeakKey);
        refusals.note(&what, cipher.set_key(&weak), Error::WeakKey);
        for length in [0, 16, 24, 31, 33, 63, 65] {
            let cipher = RawCipher::new(algorithm, &vec![1; length]);
            refusals.note(&format!("key of a wrong length: {name}"), cipher, Error::KeyLength);
        }
        let what = format!("no data unit, {name}");
        for length in [0, 1, 15] {
            let error = Error::DataLength;
            untouched(refusals, &what, error, length, |data| cipher.encrypt(&iv, data));
            untouched(refusals, &what, error, length, |data| cipher.decrypt(&iv, data));
        }
        let what = format!("a data unit in pieces, {name}");
        refusals.note(&what, cipher.encryptor(&iv, Padding::None), Error::Unsupported);
        refusals.note(&what, cipher.decryptor(&iv, Padding::Pkcs7), Error::Unsupported);
        let what = format!("part of a sector, {name}");
        for (size, length) in [(512, 100), (32, 48), (15, 30), (0, 32)] {
            let error = Error::DataLength;
            untouched(refusals, &what, error, length, |data| cipher.encrypt_sectors(0, size, data));
            untouched(refusals, &what, error, length, |data| cipher.decrypt_sectors(0, size, data));
        }
    }
    let cipher = keyed(Algorithm::AES_128_CBC);
    untouched(refusals, "sectors of cbc", Error::Unsupported, 64, |data| {
        cipher.encrypt_sectors(0, 32, data)
    });
}

/// Whole blocks in place, while part of one has been held back.
fn held_back(refusals: &mut Refusals) {
    let error = Error::DataLength;
    for (name, padding) in [("aes-128-ecb", Padding::None), ("aes-256-cbc", Padding::Pkcs7)] {
        let cipher = keyed(name.parse().expect("a row"));
        let what = format!("apply with part of a block held back, {name}");
        for held in [1, 15, 31] {
            goes_on(refusals, &what, error, &cipher, padding, held, |encryptor| {
                update_untouched(32, |data| encryptor.apply(data).map(|()| 0))
            });
            goes_back(refusals, &what, error, &cipher, padding, held, |decryptor| {
                update_untouched(32, |data| decryptor.apply(data).map(|()| 0))
            });
        }
    }
    let cipher = keyed(Algorithm::AES_128_CBC);
    let what = "apply with the last block held back";
    goes_back(refusals, what, error, &cipher, Padding::Pkcs7, 16, |decryptor| {
        update_untouched(16, |data| decryptor.apply(data).map(|()| 0))
    });
}

fn bad_padding(refusals: &mut Refusals) {
    for name in ["aes-128-cbc", "serpent-128-ecb"] {
        refuse_bad_padding(refusals, name);
    }
}

/// Every last block that differs from a good one in one byte and is not good itself.
fn refuse_bad_padding(refusals: &mut Refusals, name: &str) {
    let algorithm: Algorithm = name.parse().expect("a row");
    let (cipher, iv) = (keyed(algorithm), iv(algorithm));
    let block = algorithm.granularity();
    let what = |kind: &str, call: &str| format!("bad padding, {name}: {kind}, {call}");
    for good in 1..=u8::try_from(block).expect("a byte") {
        let len = 2 * block - usize::from(good);
        let mut plain = vec![0xee; len];
        plain.resize(2 * block, good);
        for (at, byte) in (block..2 * block).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
            let mut sealed = plain.clone();
            sealed[at] = byte;
            let last = usize::from(sealed[2 * block - 1]);
            let fits = (1..=block).contains(&last);
            if fits && sealed[2 * block - last..].iter().all(|&pad| usize::from(pad) == last) {
                continue;
            }
            let kind = match last {
                0 => "none",
                _ if !fits => "longer than a block",
                _ => "of unequal bytes",
            };
            cipher.encrypt(&iv, &mut sealed[..]).expect("whole blocks");
            let apart = what(kind, "apart");
            untouched(refusals, &apart, Error::Padding, 2 * block, |data| {
                cipher.decrypt_padded(&iv, &sealed, data)
            });
            let mut data = sealed.clone();
            let answer = cipher.decrypt_padded_in_place(&iv, &mut data);
            refusals.note(&what(kind, "in place"), answer, Error::Padding);
            assert_eq!(data, sealed, "{name}: written");
            let mut decryptor = cipher.decryptor(&iv, Padding::Pkcs7).expect("a good iv");
            assert_eq!(decryptor.update(&sealed, &mut data), Ok(block));
            let streaming = what(kind, "in pieces");
            untouched(refusals, &streaming, Error::Padding, block, |data| decryptor.finish(data));
            // The message may be longer, and is what it was.
            untouched(refusals, &streaming, Error::Padding, block, |data| decryptor.finish(data));
        }
    }
}

/// Asserts that an encryptor that has taken `before` bytes refuses a call, and that the message
/// then continues as if that call had not been made.
fn goes_on(
    refusals: &mut Refusals,
    what: &str,
    error: Error,
    cipher: &RawCipher,
    padding: Padding,
    before: usize,
    call: impl FnOnce(&mut Encryptor<'_>) -> Result<usize, Error>,
) {
    let (iv, plain) = (iv(cipher.algorithm()), message(96));
    let mut expected = [0; 112];
    let mut encryptor = cipher.encryptor(&iv, padding).expect("a good iv");
    let mut len = encryptor.update(&plain, &mut expected).expect("room enough");
    len += encryptor.finish(&mut expected[len..]).expect("whole blocks");

    let mut out = [0; 112];
    let mut encryptor = cipher.encryptor(&iv, padding).expect("a good iv");
    let mut at = encryptor.update(&plain[..before], &mut out).expect("room enough");
    refusals.note(what, call(&mut encryptor), error);
    at += encryptor.update(&plain[before..], &mut out[at..]).expect("room enough");
    at += encryptor.finish(&mut out[at..]).expect("whole blocks");
    assert_eq!(out[..at], expected[..len], "{what}: the message did not go on");
}

/// The same of a decryptor.
fn goes_back(
    refusals: &mut Refusals,
    what: &str,
    error: Error,
    cipher: &RawCipher,
    padding: Padding,
    before: usize,
    call: impl FnOnce(&mut Decryptor<'_>) -> Result<usize, Error>,
) {
    let (iv, plain) = (iv(cipher.algorithm()), message(96));
    let mut sealed = [0; 112];
    let mut encryptor = cipher.encryptor(&iv, padding).expect("a good iv");
    let mut len = encryptor.update(&plain, &mut sealed).expect("room enough");
    len += encryptor.finish(&mut sealed[len..]).expect("whole blocks");

    let mut out = [0; 112];
    let mut decryptor = cipher.decryptor(&iv, padding).expect("a good iv");
    let mut at = decryptor.update(&sealed[..before], &mut out).expect("room enough");
    refusals.note(what, call(&mut decryptor), error);
    at += decryptor.update(&sealed[before..len], &mut out[at..]).expect("room enough");
    at += decryptor.finish(&mut out[at..]).expect("a whole message");
    assert_eq!(out[..at], plain, "{what}: the message did not go on");
}

/// Calls with an output of `len` bytes, and asserts that none is written.
fn update_untouched(
    len: usize,
    call: impl FnOnce(&mut [u8]) -> Result<usize, Error>,
) -> Result<usize, Error> {
    let mut out = vec![UNTOUCHED; len];
    let answer = call(&mut out);
    assert!(out.iter().all(|&byte| byte == UNTOUCHED), "written");
    answer
}

/// The same with room for any last block.
fn finish_untouched(call: impl FnOnce(&mut [u8]) -> Result<usize, Error>) -> Result<usize, Error> {
    update_untouched(32, call)
}

fn legacy(refusals: &mut Refusals) {
    for (name, lengths) in [
        ("des-cbc", &[0, 7, 9, 16, 24][..]),
        ("3des-cbc", &[0, 8, 15, 20, 23, 32]),
        ("hc128", &[0, 15, 32]),
    ] {
        let algorithm: Algorithm = name.parse().expect("a row");
        for &length in lengths {
            let cipher = RawCipher::new(algorithm, &vec![1; length]);
            let what = format!("key of a wrong length: {name}");
            refusals.note(&what, cipher, Error::KeyLength);
        }
        let (cipher, good) = (keyed(algorithm), iv(algorithm));
        for length in (0..20).filter(|&length| length != good.len()) {
            let (what, bad) = (format!("iv of a wrong length, {name}"), vec![0; length]);
            let error = Error::NonceLength;
            untouched(refusals, &what, error, 32, |data| cipher.encrypt(&bad, data));
            untouched(refusals, &what, error, 32, |data| cipher.decrypt(&bad, data));
        }
    }
    for name in ["des-ecb", "3des-cbc"] {
        let algorithm: Algorithm = name.parse().expect("a row");
        let (cipher, iv) = (keyed(algorithm), iv(algorithm));
        let what = format!("part of a block, {name}");
        for length in [1, 4, 7, 9, 15, 20] {
            let error = Error::DataLength;
            untouched(refusals, &what, error, length, |data| cipher.encrypt(&iv, data));
            untouched(refusals, &what, error, length, |data| cipher.decrypt(&iv, data));
        }
        refuse_bad_padding(refusals, name);
    }
    for name in ["des-ctr", "3des-ctr"] {
        let algorithm: Algorithm = name.parse().expect("a row");
        let (cipher, iv) = (keyed(algorithm), iv(algorithm));
        let what = format!("past the end, {name}");
        let mut encryptor = cipher.encryptor_at_block(&iv, u64::MAX - 2).expect("near the end");
        let error = Error::KeystreamExhausted;
        untouched(refusals, &what, error, 17, |data| encryptor.apply(data));
        encryptor.apply(&mut [1; 16][..]).expect("exactly to the end");
        untouched(refusals, &what, error, 1, |data| encryptor.apply(data));
    }
    let arc4 = RawCipher::new(Algorithm::ARC4, &[1; 16]);
    refusals.note("many messages under one key of arc4", arc4, Error::Unsupported);
    for length in [0, 4, 257] {
        let stream = Stream::new(Isa::detect(), Algorithm::ARC4, &vec![1; length], &[]);
        refusals.note("key of a wrong length: arc4", stream, Error::KeyLength);
        let cipher = RawCipher::new(Algorithm::ARC4, &vec![1; length]);
        refusals.note("key of a wrong length: arc4", cipher, Error::KeyLength);
    }
    let cipher = keyed(Algorithm::HC128);
    let begun = cipher.encryptor_at_block(&[0; 16], 1);
    refusals.note("a block's number, hc128", begun, Error::Unsupported);
}
