//! A message in pieces gives what it gives whole: every algorithm, at every level, both ways.

use lanecrypt_ciphers::hazmat::{Decryptor, Encryptor, Padding, RawCipher, Stream};
use lanecrypt_ciphers::{Algorithm, Error, InOutBuf, Isa, Mode};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::Numbers;

/// Everything that a [`RawCipher`] does, but for XTS, whose data units come whole.
fn algorithms() -> impl Iterator<Item = Algorithm> {
    let raw = Algorithm::ALL.iter().copied().filter(|row| !row.is_aead());
    raw.filter(|row| row.mode() != Mode::Xts && row.to_string() != "arc4")
}

fn paddings(algorithm: Algorithm) -> &'static [Padding] {
    if algorithm.is_stream() { &[Padding::None] } else { &[Padding::None, Padding::Pkcs7] }
}

fn keyed(isa: Isa, algorithm: Algorithm) -> RawCipher {
    let key: Vec<u8> = (0..32).map(|n| n * 7 + 1).collect();
    RawCipher::with_isa(isa, algorithm, &key[..algorithm.key_lengths().longest()])
        .expect("a good key")
}

fn iv(algorithm: Algorithm) -> Vec<u8> {
    // Counters wrap soon.
    [0xff; 16][..algorithm.nonce_length()].to_vec()
}

/// A message under way in either direction.
enum Running<'a> {
    Encrypt(Encryptor<'a>),
    Decrypt(Decryptor<'a>),
}

impl<'a> Running<'a> {
    fn new(cipher: &'a RawCipher, encrypt: bool, padding: Padding) -> Self {
        let iv = iv(cipher.algorithm());
        if encrypt {
            Self::Encrypt(cipher.encryptor(&iv, padding).expect("a good iv"))
        } else {
            Self::Decrypt(cipher.decryptor(&iv, padding).expect("a good iv"))
        }
    }

    fn update(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::Encrypt(running) => running.update(input, output),
            Self::Decrypt(running) => running.update(input, output),
        }
    }

    fn apply(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        match self {
            Self::Encrypt(running) => running.apply(data),
            Self::Decrypt(running) => running.apply(data),
        }
    }

    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::Encrypt(running) => running.finish(output),
            Self::Decrypt(running) => running.finish(output),
        }
    }

    /// The whole message, in pieces that end at `cuts`.
    fn take(mut self, message: &[u8], cuts: &[usize]) -> Vec<u8> {
        let mut output = vec![0xcc; message.len() + 32];
        let (mut from, mut at) = (0, 0);
        for &to in cuts.iter().chain([&message.len()]) {
            at += self.update(&message[from..to], &mut output[at..]).expect("room enough");
            from = to;
        }
        at += self.finish(&mut output[at..]).expect("a whole message");
        output.truncate(at);
        output
    }
}

/// The message and its ciphertext, by calls that take it whole.
fn pair(cipher: &RawCipher, padding: Padding, len: usize) -> (Vec<u8>, Vec<u8>) {
    let algorithm = cipher.algorithm();
    let message = Numbers(len as u64).bytes(len);
    let iv = iv(algorithm);
    let mut sealed = message.clone();
    if padding == Padding::Pkcs7 {
        sealed.resize(len + 16, 0);
        let written = cipher.encrypt_padded_in_place(&iv, &mut sealed, len).expect("room enough");
        sealed.truncate(written);
    } else {
        cipher.encrypt(&iv, &mut sealed[..]).expect("whole blocks");
    }
    (message, sealed)
}

fn check(cipher: &RawCipher, padding: Padding, message: &[u8], sealed: &[u8], cuts: &[usize]) {
    let encrypted = Running::new(cipher, true, padding).take(message, cuts);
    assert_eq!(encrypted, sealed, "{} {padding:?} {cuts:?}", cipher.algorithm());
    let scaled: Vec<_> = cuts.iter().map(|&cut| cut.min(sealed.len())).collect();
    let decrypted = Running::new(cipher, false, padding).take(sealed, &scaled);
    assert_eq!(decrypted, message, "{} {padding:?} {cuts:?}", cipher.algorithm());
}

#[test]
fn every_cut_in_two() {
    for (isa, algorithm) in levels().flat_map(|isa| algorithms().map(move |row| (isa, row))) {
        let cipher = keyed(isa, algorithm);
        for &padding in paddings(algorithm) {
            for len in [0, 1, 15, 16, 17, 32, 48, 64, 65, 130] {
                if padding == Padding::None && len % algorithm.granularity() != 0 {
                    continue;
                }
                let (message, sealed) = pair(&cipher, padding, len);
                for cut in 0..=len {
                    check(&cipher, padding, &message, &sealed, &[cut]);
                }
            }
        }
    }
}

#[test]
fn many_cuts_at_random() {
    let mut numbers = Numbers(3);
    for (isa, algorithm) in levels().flat_map(|isa| algorithms().map(move |row| (isa, row))) {
        let cipher = keyed(isa, algorithm);
        for &padding in paddings(algorithm) {
            for _ in 0..6 {
                let mut len = numbers.below(2000);
                if padding == Padding::None {
                    len -= len % algorithm.granularity();
                }
                let (message, sealed) = pair(&cipher, padding, len);
                let pieces = [3, 20, 80, 600][numbers.below(4)];
                let mut cuts = vec![numbers.below(pieces).min(len)];
                while cuts[cuts.len() - 1] < len {
                    cuts.push((cuts[cuts.len() - 1] + numbers.below(pieces)).min(len));
                }
                check(&cipher, padding, &message, &sealed, &cuts);
            }
        }
    }
}

/// Whole blocks in place, other pieces apart, in one message.
#[test]
fn both_kinds_of_calls_mix() {
    let mut numbers = Numbers(4);
    for (isa, algorithm) in levels().flat_map(|isa| algorithms().map(move |row| (isa, row))) {
        let cipher = keyed(isa, algorithm);
        let unit = algorithm.granularity();
        for encrypt in [true, false] {
            let (message, sealed) = pair(&cipher, Padding::None, 960);
            let (input, expected) = if encrypt { (&message, &sealed) } else { (&sealed, &message) };
            let mut running = Running::new(&cipher, encrypt, Padding::None);
            let mut output = vec![0; 960];
            let mut at = 0;
            while at < 960 {
                let len = (numbers.below(13) * unit).min(960 - at);
                let (piece, room) = (&input[at..at + len], &mut output[at..at + len]);
                match numbers.below(3) {
                    0 => {
                        room.copy_from_slice(piece);
                        running.apply(room.into()).expect("whole blocks");
                    }
                    1 => running
                        .apply(InOutBuf::new(piece, room).expect("equal lengths"))
                        .expect("whole blocks"),
                    _ => assert_eq!(running.update(piece, room), Ok(len)),
                }
                at += len;
            }
            assert_eq!(running.finish(&mut []), Ok(0));
            assert_eq!(output, *expected, "{algorithm} {}", isa.level());
        }
    }
}

#[test]
fn a_restart_begins_again_at_any_time() {
    for (isa, algorithm) in levels().flat_map(|isa| algorithms().map(move |row| (isa, row))) {
        let cipher = keyed(isa, algorithm);
        for &padding in paddings(algorithm) {
            let (message, sealed) = pair(&cipher, padding, 48);
            let (start, mut output) = (iv(algorithm), [0; 80]);
            let other: Vec<u8> = start.iter().map(|byte| byte ^ 0x55).collect();
            let mut encryptor = cipher.encryptor(&other, padding).expect("a good iv");
            let mut decryptor = cipher.decryptor(&other, padding).expect("a good iv");
            // Before anything, in the middle of a block, after the end.
            for before in [0, 7, 48] {
                encryptor.update(&[1; 48][..before], &mut output).expect("room enough");
                if before == 48 {
                    encryptor.finish(&mut output).expect("whole blocks");
                }
                encryptor.restart(&start).expect("a good iv");
                let mut at = encryptor.update(&message, &mut output).expect("room enough");
                at += encryptor.finish(&mut output[at..]).expect("whole blocks");
                assert_eq!(output[..at], sealed, "{algorithm} {before}");
                encryptor.restart(&other).expect("a good iv");

                decryptor.update(&[1; 48][..before], &mut output).expect("room enough");
                decryptor.restart(&start).expect("a good iv");
                let mut at = decryptor.update(&sealed, &mut output).expect("room enough");
                at += decryptor.finish(&mut output[at..]).expect("whole blocks");
                assert_eq!(output[..at], message, "{algorithm} {before}");
                decryptor.restart(&other).expect("a good iv");
            }
        }
    }
}

/// Against the stream that goes anywhere.
#[test]
fn a_message_may_begin_at_any_block() {
    let seekable = || algorithms().filter(|row| row.is_seekable());
    for (isa, algorithm) in levels().flat_map(|isa| seekable().map(move |row| (isa, row))) {
        let cipher = keyed(isa, algorithm);
        let key: Vec<u8> = (0..32).map(|n| n * 7 + 1).collect();
        let key = &key[..algorithm.key_lengths().longest()];
        for first in [0, 1, 300, u64::from(u32::MAX) - 30] {
            let mut expected = [9; 1000];
            let stream = Stream::at_block(isa, algorithm, key, &iv(algorithm), first);
            stream.expect("a stream").xor(&mut expected[..]).expect("long enough");
            let mut data = [9; 1000];
            let (front, back) = data.split_at_mut(333);
            let mut encryptor = cipher.encryptor_at_block(&iv(algorithm), first).expect("a block");
            encryptor.apply(front).expect("long enough");
            encryptor.apply(back).expect("long enough");
            assert_eq!(data, expected, "{algorithm} {first}");
            let mut decryptor = cipher.decryptor_at_block(&iv(algorithm), first).expect("a block");
            decryptor.apply(&mut data[..]).expect("long enough");
            assert_eq!(data, [9; 1000]);
        }
    }
}
