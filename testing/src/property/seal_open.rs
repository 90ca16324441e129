//! What must hold for any message of any cipher with authentication: shared by a test, which runs
//! it on a fixed corpus, and by the fuzz target `seal_open`, which searches for inputs that break
//! it.

use lanecrypt_ciphers::{Algorithm, Cipher, Error, InOutBuf, Isa, Level};

use super::Bytes;
use crate::aeads::{aeads, tag_lengths, whole};

/// The longest message, in bytes: several steps of the widest kernel.
const LONGEST: usize = 6000;

/// Takes a case from the bytes of `input`, and asserts, at the level chosen and at the portable
/// one: sealing gives what the portable kernels give in one call, in pieces too; opening gives the
/// message back; one bit changed anywhere, and it is refused and wiped. What one refuses, all
/// refuse.
pub fn seal_open(input: &[u8]) {
    let case = Case::parse(&mut Bytes::new(input));
    let portable = case.cipher(Isa::PORTABLE);
    let expected = case.sealed(&portable);
    for isa in [Isa::PORTABLE, Isa::of_processor().at_most(case.level)] {
        let cipher = case.cipher(isa);
        assert_eq!(case.sealed(&cipher), expected, "{case:?} {}", isa.level());
        match (case.sealed_in_pieces(&cipher), &expected) {
            (Err(Error::Unsupported), _) => assert!(!case.algorithm.has_pieces(), "{case:?}"),
            // A message in pieces has its nonce before anything is known to be too long.
            (Err(Error::NonceLength), Err(_)) => {}
            (sealed, expected) => assert_eq!(sealed, *expected, "{case:?} {}", isa.level()),
        }
        match &expected {
            Ok(packet) => case.opens(&cipher, packet),
            Err(error) => case.does_not_open(&cipher, *error),
        }
    }
}

#[derive(Debug)]
struct Case {
    algorithm: Algorithm,
    level: Level,
    key: Vec<u8>,
    nonce: Vec<u8>,
    tag: usize,
    aad: Vec<u8>,
    /// Sizes of successive calls; the last call takes the rest.
    cuts: Vec<usize>,
    /// The bit of nonce, associated data and packet that is changed, modulo their number.
    bit: usize,
    message: Vec<u8>,
}

impl Case {
    fn parse(bytes: &mut Bytes<'_>) -> Self {
        let algorithm = *bytes.choice(&aeads().collect::<Vec<_>>());
        let level = *bytes.choice(Level::built());
        let tag = *bytes.choice(&tag_lengths(algorithm));
        // Mostly of the usual length; others are refused, or hashed.
        let nonce = match bytes.byte() {
            other @ 0..40 => usize::from(other),
            _ => algorithm.nonce_length(),
        };
        let key = bytes.take(algorithm.key_lengths().longest());
        let nonce = bytes.take(nonce);
        let aad = match bytes.byte() {
            short @ 0..200 => usize::from(short % 50),
            _ => bytes.length() % LONGEST,
        };
        let cuts = (0..bytes.byte() % 24).map(|_| whole(algorithm, bytes.length() % 400)).collect();
        let bit = bytes.length();
        let wanted = match bytes.byte() {
            short @ 0..128 => whole(algorithm, usize::from(short)),
            // Most ends of blocks that are missing are refused.
            uneven @ 128..136 => usize::from(uneven),
            _ => whole(algorithm, bytes.length() % LONGEST),
        };
        let aad = bytes.take(aad.min(32)).into_iter().cycle().take(aad).collect();
        let message = bytes.repeated(wanted);
        Self { algorithm, level, key, nonce, tag, aad, cuts, bit, message }
    }

    fn cipher(&self, isa: Isa) -> Cipher {
        let mut cipher = Cipher::with_isa(isa, self.algorithm, &self.key).expect("a good key");
        cipher.set_tag_length(self.tag).expect("a good length");
        cipher
    }

    /// The ciphertext with its tag.
    fn sealed(&self, cipher: &Cipher) -> Result<Vec<u8>, Error> {
        let mut packet = vec![0x5a; self.message.len() + self.tag];
        cipher.seal_to(&self.nonce, &self.aad, &self.message, &mut packet)?;
        Ok(packet)
    }

    fn sealed_in_pieces(&self, cipher: &Cipher) -> Result<Vec<u8>, Error> {
        let mut packet = self.message.clone();
        let mut sealer = cipher.sealer(&self.nonce)?;
        self.pieces(self.aad.len(), |from, to| sealer.associate(&self.aad[from..to]))?;
        self.pieces(packet.len(), |from, to| sealer.encrypt(&mut packet[from..to]))?;
        let mut tag = vec![0; self.tag];
        sealer.finish(&mut tag)?;
        packet.extend(tag);
        Ok(packet)
    }

    /// Calls `each` with where the pieces of `len` bytes begin and end.
    fn pieces(
        &self,
        len: usize,
        mut each: impl FnMut(usize, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut at = 0;
        for cut in self.cuts.iter().copied().chain([len]) {
            let end = len.min(at + cut);
            each(at, end)?;
            at = end;
        }
        Ok(())
    }

    /// The packet is opened, and with a bit changed it is not.
    fn opens(&self, cipher: &Cipher, packet: &[u8]) {
        let len = self.message.len();
        let (text, tag) = packet.split_at(len);
        let mut whole = packet.to_vec();
        let opened =
            cipher.open(&self.nonce, &self.aad, &mut whole).map(|message| message.to_vec());
        assert_eq!(opened.as_ref(), Ok(&self.message), "{self:?}");
        if self.algorithm.has_pieces() {
            self.opens_in_pieces(cipher, text, tag);
        }

        let (mut nonce, mut aad, mut packet) =
            (self.nonce.clone(), self.aad.clone(), packet.to_vec());
        let bytes = nonce.len() + aad.len() + packet.len();
        let mut all = nonce.iter_mut().chain(&mut aad).chain(&mut packet);
        let bit = self.bit % (8 * bytes);
        *all.nth(bit / 8).expect("there are so many") ^= 1 << (bit % 8);
        drop(all);
        let refused = Err(Error::Authentication);
        let (text, tag) = packet.split_at(len);
        let mut out = vec![0x5a; len];
        let apart = InOutBuf::new(text, &mut out).expect("equal lengths");
        assert_eq!(cipher.open_detached(&nonce, &aad, apart, tag), refused, "{self:?}");
        assert!(out.iter().all(|&byte| byte == 0), "{self:?}");
        assert_eq!(cipher.open(&nonce, &aad, &mut packet).map(drop), refused, "{self:?}");
        assert!(packet[..len].iter().all(|&byte| byte == 0), "{self:?}");
    }

    fn opens_in_pieces(&self, cipher: &Cipher, text: &[u8], tag: &[u8]) {
        let mut out = text.to_vec();
        let mut opener = cipher.opener(&self.nonce).expect("it was sealed");
        self.pieces(self.aad.len(), |from, to| opener.associate(&self.aad[from..to]))
            .and_then(|()| {
                self.pieces(text.len(), |from, to| opener.decrypt_unverified(&mut out[from..to]))
            })
            .and_then(|()| opener.finish(tag))
            .expect("it was sealed");
        assert_eq!(out, self.message, "{self:?}");
    }

    /// What cannot be sealed cannot be opened, for the same reason, and nothing is written.
    fn does_not_open(&self, cipher: &Cipher, error: Error) {
        let packet = vec![0x5a; self.message.len() + self.tag];
        let mut out = packet.clone();
        let answer = cipher.open(&self.nonce, &self.aad, &mut out).map(drop);
        assert_eq!(answer, Err(error), "{self:?}");
        assert_eq!(out, packet, "{self:?}");
    }
}
