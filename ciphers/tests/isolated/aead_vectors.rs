//! Every test vector of ciphers with authentication at every level of the processor: sealed and
//! opened, or refused, with the tag attached and detached, in place and apart, whole and in pieces,
//! at many alignments.

use std::thread;

use lanecrypt_ciphers::{Algorithm, Cipher, Error, InOutBuf, Isa};
use lanecrypt_testing::levels;
use lanecrypt_testing::vectors::tagged::{self, Vector};

use crate::fenced::{Fenced, each, splits};
use crate::matrix::{self, Matrix};

pub(crate) fn every_vector_at_every_level() {
    let mut lines = tagged::own();
    let own = lines.len();
    assert_whole(&lines, OWN);
    assert_eq!(own, OWN.iter().map(|(.., good, bad)| good + bad).sum::<usize>());
    match tagged::shared() {
        Some(shared) => {
            assert_whole(&shared, SHARED);
            assert_eq!(
                shared.len(),
                SHARED.iter().map(|(.., good, bad)| good + bad).sum::<usize>()
            );
            lines.extend(shared);
        }
        None => {
            let how = String::from("shared-vectors: set LANECRYPT_SHARED to their folder");
            matrix::say("SKIPPED", &[how]);
        }
    }
    thread::scope(|scope| {
        for isa in levels() {
            let lines = &lines;
            scope.spawn(move || {
                for (i, line) in lines.iter().enumerate() {
                    Case::new(isa, line, i).run();
                }
            });
        }
    });
    let mut matrix = Matrix::new();
    for (isa, line) in levels().flat_map(|isa| lines.iter().map(move |line| (isa, line))) {
        matrix.tested(line.algorithm, isa.level());
    }
    let mut table = matrix.lines();
    for &algorithm in Algorithm::ALL.iter().filter(|row| row.is_aead()) {
        let count = |lines: &[Vector]| lines.iter().filter(|v| v.algorithm == algorithm).count();
        let (own, shared) = (count(&lines[..own]), count(&lines[own..]));
        assert_ne!(own, 0, "{algorithm}: no vector");
        let name = algorithm.to_string();
        table.push(format!("{name:<24}vectors a level:{own:>5} own,{shared:>6} shared"));
    }
    matrix::say("MATRIX", &table);
}

/// Algorithm, source, and how many vectors there are that are good, and that must be refused. Of
/// `vectors/`: the first case of most sections of NIST's files, RFC 8439, RFC 8452, RFC 7518 and
/// the draft of XChaCha20, and generated ones of up to 8 KiB.
const OWN: &[(&str, &str, usize, usize)] = &[
    ("aes-128-gcm", "nist/gcmEncryptExtIV128", 325, 0),
    ("aes-128-gcm", "nist/gcmDecrypt128", 0, 327),
    ("aes-128-gcm", "generated/aead_mac", 18, 18),
    ("aes-128-gcm", "generated/long", 70, 0),
    ("aes-192-gcm", "nist/gcmEncryptExtIV192", 325, 0),
    ("aes-192-gcm", "nist/gcmDecrypt192", 0, 156),
    ("aes-192-gcm", "generated/aead_mac", 18, 18),
    ("aes-192-gcm", "generated/long", 54, 0),
    ("aes-256-gcm", "nist/gcmEncryptExtIV256", 325, 0),
    ("aes-256-gcm", "nist/gcmDecrypt256", 0, 171),
    ("aes-256-gcm", "generated/aead_mac", 18, 18),
    ("aes-256-gcm", "generated/long", 54, 0),
    ("aes-128-gcm-siv", "rfc/rfc-8452-c", 3, 0),
    ("aes-128-gcm-siv", "generated/siv", 90, 30),
    ("aes-256-gcm-siv", "rfc/rfc-8452-c", 4, 0),
    ("aes-256-gcm-siv", "generated/siv", 90, 30),
    ("aes-siv-256", "generated/siv", 45, 15),
    ("aes-siv-512", "generated/siv", 45, 15),
    ("chacha20-poly1305", "rfc/rfc-8439-2.8 and others", 66, 0),
    ("chacha20-poly1305", "rfc/rfc-8439-a.5 and others", 4, 1),
    ("chacha20-poly1305", "generated/aead_mac", 18, 18),
    ("chacha20-poly1305", "generated/long", 54, 0),
    ("xchacha20-poly1305", "draft-irtf-cfrg-xchacha A.3.1", 1, 0),
    ("xchacha20-poly1305", "generated/long", 54, 12),
    ("aegis-128l", "rfc/draft-irtf-cfrg-aegis-aead-a", 5, 4),
    ("aegis-128l", "generated/libaegis", 20, 0),
    ("aegis-256", "rfc/draft-irtf-cfrg-aegis-aead-a", 5, 4),
    ("aegis-256", "generated/libaegis", 20, 0),
    ("aes-128-cbc+hmac-sha256", "rfc/rfc-7518-b.1", 1, 0),
    ("aes-192-cbc+hmac-sha384", "rfc/rfc-7518-b.2", 1, 0),
    ("aes-128-cbc+hmac-sha1", "generated/chained", 15, 4),
    ("aes-128-cbc+hmac-sha256", "generated/chained", 15, 4),
    ("aes-128-cbc+hmac-sha384", "generated/chained", 15, 4),
    ("aes-192-cbc+hmac-sha1", "generated/chained", 15, 4),
    ("aes-192-cbc+hmac-sha256", "generated/chained", 15, 4),
    ("aes-192-cbc+hmac-sha384", "generated/chained", 15, 4),
    ("aes-256-cbc+hmac-sha1", "generated/chained", 15, 4),
    ("aes-256-cbc+hmac-sha256", "generated/chained", 15, 4),
    ("aes-256-cbc+hmac-sha384", "generated/chained", 15, 4),
    ("aes-128-ctr+hmac-sha1", "generated/chained", 16, 4),
    ("aes-128-ctr+hmac-sha256", "generated/chained", 16, 4),
    ("aes-128-ctr+hmac-sha384", "generated/chained", 16, 4),
    ("aes-256-ctr+hmac-sha1", "generated/chained", 16, 4),
    ("aes-256-ctr+hmac-sha256", "generated/chained", 16, 4),
    ("aes-256-ctr+hmac-sha384", "generated/chained", 16, 4),
];

/// Of the vectors beside the workspace: two cases of every section of NIST's files.
const SHARED: &[(&str, &str, usize, usize)] = &[
    ("aes-128-gcm", "gcmEncryptExtIV128", 1050, 0),
    ("aes-128-gcm", "gcmDecrypt128", 521, 529),
    ("aes-128-gcm", "generated/aead_mac.jsonl", 18, 18),
    ("aes-192-gcm", "gcmEncryptExtIV192", 1050, 0),
    ("aes-192-gcm", "gcmDecrypt192", 518, 532),
    ("aes-192-gcm", "generated/aead_mac.jsonl", 18, 18),
    ("aes-256-gcm", "gcmEncryptExtIV256", 1050, 0),
    ("aes-256-gcm", "gcmDecrypt256", 517, 533),
    ("aes-256-gcm", "generated/aead_mac.jsonl", 18, 18),
    ("chacha20-poly1305", "generated/aead_mac.jsonl", 18, 18),
];

/// Asserts that no vector is missing: a file that was read in part would go unnoticed otherwise.
fn assert_whole(lines: &[Vector], files: &[(&str, &str, usize, usize)]) {
    for &(name, source, good, bad) in files {
        let of_it = |line: &&Vector| line.algorithm.to_string() == name && line.source == source;
        let (accepted, refused): (Vec<_>, Vec<_>) =
            lines.iter().filter(of_it).partition(|line| line.plain.is_some());
        assert_eq!((accepted.len(), refused.len()), (good, bad), "{name} of {source}");
    }
}

/// A vector under its key, at one level.
struct Case<'v> {
    line: &'v Vector,
    cipher: Cipher,
    place: String,
    /// Places of buffers, from a 64-byte boundary on.
    from: usize,
    to: usize,
}

impl<'v> Case<'v> {
    fn new(isa: Isa, line: &'v Vector, seed: usize) -> Self {
        let place = format!("{} {} {}", line.place, line.algorithm, isa.level());
        let mut cipher = Cipher::with_isa(isa, line.algorithm, &line.key).expect(&place);
        cipher.set_tag_length(line.tag.len()).expect(&place);
        Self { line, cipher, place, from: seed * 7 % 64, to: seed * 13 % 64 }
    }

    fn run(&self) {
        match &self.line.plain {
            Some(plain) => {
                self.seals(plain);
                self.opens(&Ok(plain));
                if !self.line.algorithm.has_pieces() {
                    return;
                }
                for pieces in splits(plain.len(), self.line.algorithm.granularity(), &[]) {
                    self.seals_in(plain, &pieces);
                    self.opens_in(Some(plain), &pieces);
                }
            }
            None => {
                self.opens(&Err(Error::Authentication));
                if !self.line.algorithm.has_pieces() {
                    return;
                }
                let unit = self.line.algorithm.granularity();
                for pieces in splits(self.line.ciphertext.len(), unit, &[]) {
                    self.opens_in(None, &pieces);
                }
            }
        }
    }

    /// In one call.
    fn seals(&self, plain: &[u8]) {
        let (cipher, place) = (&self.cipher, &self.place);
        let Vector { nonce, aad, ciphertext, tag, .. } = self.line;
        let packet = [&ciphertext[..], tag].concat();
        let mut made = Fenced::room(tag.len(), self.from);

        let mut data = Fenced::new(plain, self.to);
        cipher.seal_detached(nonce, aad, data.bytes(), made.bytes()).expect(place);
        assert_eq!((data.checked(), made.checked()), (&ciphertext[..], &tag[..]), "{place}");

        let source = Fenced::new(plain, self.from);
        let mut data = Fenced::room(plain.len(), self.to);
        let apart = InOutBuf::new(source.slice(), data.bytes()).expect("equal lengths");
        cipher.seal_detached(nonce, aad, apart, made.bytes()).expect(place);
        assert_eq!((data.checked(), made.checked()), (&ciphertext[..], &tag[..]), "{place}: apart");

        let mut data = Fenced::new(&[plain, &vec![0; tag.len()]].concat(), self.to);
        cipher.seal(nonce, aad, data.bytes()).expect(place);
        assert_eq!(data.checked(), packet, "{place}: a packet");

        let mut data = Fenced::room(packet.len(), self.to);
        cipher.seal_to(nonce, aad, source.slice(), data.bytes()).expect(place);
        assert_eq!(data.checked(), packet, "{place}: a packet apart");
    }

    /// In one call; if it must be refused, all that was written is zero.
    fn opens(&self, expected: &Result<&Vec<u8>, Error>) {
        let (cipher, place) = (&self.cipher, &self.place);
        let Vector { nonce, aad, ciphertext, tag, .. } = self.line;
        let verdict = expected.map(drop);
        let wiped = vec![0; ciphertext.len()];
        let output = expected.unwrap_or(&wiped);
        let packet = [&ciphertext[..], tag].concat();

        let mut data = Fenced::new(ciphertext, self.to);
        assert_eq!(cipher.open_detached(nonce, aad, data.bytes(), tag), verdict, "{place}");
        assert_eq!(data.checked(), output, "{place}");

        let source = Fenced::new(ciphertext, self.from);
        let mut data = Fenced::room(ciphertext.len(), self.to);
        let apart = InOutBuf::new(source.slice(), data.bytes()).expect("equal lengths");
        assert_eq!(cipher.open_detached(nonce, aad, apart, tag), verdict, "{place}: apart");
        assert_eq!(data.checked(), output, "{place}: apart");

        let mut data = Fenced::new(&packet, self.to);
        let opened = cipher.open(nonce, aad, data.bytes()).map(|message| message.to_vec());
        assert_eq!(opened.as_ref(), expected.as_ref().copied(), "{place}: a packet");
        assert_eq!(data.checked()[..wiped.len()], output[..], "{place}: a packet");

        let source = Fenced::new(&packet, self.from);
        let mut data = Fenced::room(ciphertext.len(), self.to);
        let answer = cipher.open_to(nonce, aad, source.slice(), data.bytes());
        assert_eq!(answer, verdict, "{place}: a packet apart");
        assert_eq!(data.checked(), output, "{place}: a packet apart");
    }

    /// In pieces of these sizes, every other time apart; associated data in two pieces.
    fn seals_in(&self, plain: &[u8], pieces: &[usize]) {
        let place = format!("{} {pieces:?}", self.place);
        let Vector { nonce, aad, ciphertext, tag, .. } = self.line;
        let mut sealer = self.cipher.sealer(nonce).expect(&place);
        let (first, second) = aad.split_at(aad.len().min(pieces[0]));
        sealer.associate(first).expect(&place);
        sealer.associate(second).expect(&place);
        let source = Fenced::new(plain, self.from);
        let mut data = Fenced::new(plain, self.to);
        each(pieces, |range| {
            let piece = &mut data.bytes()[range.clone()];
            let answer = if self.from.is_multiple_of(2) {
                sealer.encrypt(piece)
            } else {
                sealer.encrypt(InOutBuf::new(&source.slice()[range], piece).expect("equal"))
            };
            answer.expect(&place);
        });
        let mut made = Fenced::room(tag.len(), self.from);
        sealer.finish(made.bytes()).expect(&place);
        assert_eq!((data.checked(), made.checked()), (&ciphertext[..], &tag[..]), "{place}");
    }

    fn opens_in(&self, expected: Option<&Vec<u8>>, pieces: &[usize]) {
        let place = format!("{} {pieces:?}", self.place);
        let Vector { nonce, aad, ciphertext, tag, .. } = self.line;
        let mut opener = self.cipher.opener(nonce).expect(&place);
        let (first, second) = aad.split_at(aad.len().min(pieces[0]));
        opener.associate(first).expect(&place);
        opener.associate(second).expect(&place);
        let source = Fenced::new(ciphertext, self.from);
        let mut data = Fenced::new(ciphertext, self.to);
        each(pieces, |range| {
            let piece = &mut data.bytes()[range.clone()];
            let answer = if self.to.is_multiple_of(2) {
                opener.decrypt_unverified(piece)
            } else {
                let apart = InOutBuf::new(&source.slice()[range], piece).expect("equal");
                opener.decrypt_unverified(apart)
            };
            answer.expect(&place);
        });
        let plain = data.checked();
        match expected {
            Some(expected) => {
                assert_eq!(opener.finish(tag), Ok(()), "{place}");
                assert_eq!(plain, expected, "{place}");
            }
            None => assert_eq!(opener.finish(tag), Err(Error::Authentication), "{place}"),
        }
    }
}
