//! Ciphers with authentication: every level gives what the portable kernels give, for any length of
//! message, associated data, nonce and tag; and messages in pieces give what one call gives, cut
//! anywhere.

use std::thread;

use lanecrypt_ciphers::{Algorithm, Cipher, Error, InOutBuf, Isa, Level};
use lanecrypt_testing::aeads::{aeads, any_nonce, in_pieces, tag_lengths, whole};
use lanecrypt_testing::levels;
use lanecrypt_testing::numbers::Numbers;

/// How many random cases there are for each level, of all algorithms together: as many as the
/// environment says, or a thousand.
fn cases() -> usize {
    lanecrypt_testing::numbers::cases(1000)
}

/// A test at each level side by side.
fn at_every_level(test: impl Fn(Isa) + Sync) {
    thread::scope(|scope| {
        for isa in levels().filter(|isa| isa.level() != Level::Portable) {
            let test = &test;
            scope.spawn(move || test(isa));
        }
    });
}

/// A message, and what the portable kernels make of it.
struct Case {
    algorithm: Algorithm,
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    text: Vec<u8>,
    tag: Vec<u8>,
}

impl Case {
    fn new(algorithm: Algorithm, text: usize, aad: usize, numbers: &mut Numbers) -> Self {
        let any = any_nonce(algorithm);
        let other = |bytes: usize| any && bytes.is_multiple_of(7);
        let nonce = if other(text) { 1 + numbers.below(70) } else { algorithm.nonce_length() };
        // Tags of 4 bytes are for short messages only.
        let mut tags = tag_lengths(algorithm);
        tags.retain(|&tag| tag > 4);
        let tag = if aad.is_multiple_of(7) { tags[numbers.below(tags.len())] } else { tags[0] };
        let key = numbers.bytes(algorithm.key_lengths().longest());
        let (nonce, aad) = (numbers.bytes(nonce), numbers.bytes(aad));
        let plain = numbers.bytes(whole(algorithm, text));
        let (text, tag) = (plain.clone(), vec![0; tag]);
        let mut case = Self { algorithm, key, nonce, aad, plain, text, tag };
        let cipher = case.cipher(Isa::PORTABLE);
        let answer =
            cipher.seal_detached(&case.nonce, &case.aad, &mut case.text[..], &mut case.tag);
        answer.expect("short enough");
        case
    }

    fn cipher(&self, isa: Isa) -> Cipher {
        let mut cipher = Cipher::with_isa(isa, self.algorithm, &self.key).expect("a good key");
        cipher.set_tag_length(self.tag.len()).expect("a good length");
        cipher
    }

    fn place(&self, isa: Isa) -> String {
        let (text, aad, nonce) = (self.text.len(), self.aad.len(), self.nonce.len());
        format!("{} {}: {text}, {aad}, {nonce}", self.algorithm, isa.level())
    }

    /// In one call, both ways; `apart` or in place.
    fn whole(&self, isa: Isa, apart: bool) {
        let Self { nonce, aad, plain, text, tag, .. } = self;
        let (cipher, place) = (self.cipher(isa), self.place(isa));
        let mut made = vec![0; tag.len()];
        let mut out = if apart { vec![0x5a; text.len()] } else { plain.clone() };
        let answer = if apart {
            let data = InOutBuf::new(plain, &mut out).expect("equal lengths");
            cipher.seal_detached(nonce, aad, data, &mut made)
        } else {
            cipher.seal_detached(nonce, aad, &mut out[..], &mut made)
        };
        assert_eq!((answer, &out, &made), (Ok(()), text, tag), "{place}");
        if apart {
            out.fill(0x5a);
        }
        let answer = if apart {
            let data = InOutBuf::new(text, &mut out).expect("equal lengths");
            cipher.open_detached(nonce, aad, data, tag)
        } else {
            cipher.open_detached(nonce, aad, &mut out[..], tag)
        };
        assert_eq!((answer, &out), (Ok(()), plain), "{place}");
        let last = made.len() - 1;
        made[last] ^= 0x80;
        out.copy_from_slice(text);
        let answer = cipher.open_detached(nonce, aad, &mut out[..], &made);
        assert_eq!(answer, Err(Error::Authentication), "{place}");
        assert!(out.iter().all(|&byte| byte == 0), "{place}");
    }

    /// In pieces, both ways.
    fn pieces(&self, cipher: &Cipher, cuts: &[usize]) {
        let Self { nonce, aad, plain, text, tag, .. } = self;
        let at = cuts[0].min(aad.len());
        let cuts: Vec<_> = cuts.iter().map(|&cut| whole(self.algorithm, cut)).collect();
        let mut out = plain.clone();
        let mut made = vec![0; tag.len()];
        let mut sealer = cipher.sealer(nonce).expect("a good nonce");
        for piece in [&aad[..at], &aad[at..]] {
            sealer.associate(piece).expect("short enough");
        }
        each(&mut out, &cuts, |piece| sealer.encrypt(piece));
        sealer.finish(&mut made).expect("a good length");
        assert_eq!((&out, &made), (text, tag), "{cipher:?} {cuts:?} of {}", text.len());

        let mut opener = cipher.opener(nonce).expect("a good nonce");
        for piece in [&aad[..at], &aad[at..]] {
            opener.associate(piece).expect("short enough");
        }
        each(&mut out, &cuts, |piece| opener.decrypt_unverified(piece));
        let verdict = opener.finish(tag);
        assert_eq!((&out, verdict), (plain, Ok(())), "{cipher:?} {cuts:?} of {}", text.len());
    }
}

/// Passes the data on in pieces of these sizes, and a last one with the rest.
fn each(mut data: &mut [u8], cuts: &[usize], mut call: impl FnMut(&mut [u8]) -> Result<(), Error>) {
    for &cut in cuts {
        let (piece, rest) = data.split_at_mut(cut.min(data.len()));
        call(piece).expect("short enough");
        data = rest;
    }
    call(data).expect("short enough");
}

#[test]
fn every_length_gives_the_same_at_every_level() {
    let mut numbers = Numbers(21);
    for algorithm in aeads() {
        for text in (0..=1100).filter(|&text| text == whole(algorithm, text)) {
            let aad = text * 31 % 61;
            let case = Case::new(algorithm, text, aad, &mut numbers);
            levels().for_each(|isa| case.whole(isa, text % 2 == 0));
        }
        // Associated data have kernels of their own for long parts.
        for aad in (61..=600).step_by(13).chain([1023, 1024, 1500, 4096]) {
            let case = Case::new(algorithm, aad % 90, aad, &mut numbers);
            levels().for_each(|isa| case.whole(isa, false));
        }
    }
}

#[test]
fn random_messages_give_the_same_at_every_level() {
    at_every_level(|isa| {
        let mut numbers = Numbers(22 + isa.level() as u64);
        for i in 0..cases().div_ceil(aeads().count()) {
            for algorithm in aeads() {
                let longest = [20, 300, 2000, 9000][i % 4];
                let (text, aad) = (numbers.below(longest), numbers.below([40, 300][i % 2]));
                let case = Case::new(algorithm, text, aad, &mut numbers);
                case.whole(isa, i % 3 == 0);
            }
        }
    });
}

#[test]
fn short_messages_cut_anywhere_give_what_one_call_gives() {
    thread::scope(|scope| {
        for isa in levels() {
            scope.spawn(move || {
                let mut numbers = Numbers(23);
                for (algorithm, text) in
                    in_pieces().flat_map(|row| (0..=200).map(move |n| (row, n)))
                {
                    let case = Case::new(algorithm, text, text % 40, &mut numbers);
                    let cipher = case.cipher(isa);
                    (0..=text).for_each(|at| case.pieces(&cipher, &[at]));
                }
            });
        }
    });
}

#[test]
fn long_messages_cut_anyhow_give_what_one_call_gives() {
    at_every_level(|isa| {
        let mut numbers = Numbers(24);
        for i in 0..cases().div_ceil(20) {
            for algorithm in in_pieces() {
                let (text, aad) = (numbers.below(6000), numbers.below(600));
                let case = Case::new(algorithm, text, aad, &mut numbers);
                let step = [3, 70, 700, 3000][i % 4];
                let cuts: Vec<_> = (0..=numbers.below(30)).map(|_| numbers.below(step)).collect();
                case.pieces(&case.cipher(isa), &cuts);
            }
        }
    });
}
