//! What must hold for any message, cut in any way: shared by a test, which runs it on a fixed
//! corpus, and by the fuzz target `streaming_splits`, which searches for inputs that break it.

use lanecrypt_ciphers::hazmat::{Padding, RawCipher, Stream};
use lanecrypt_ciphers::{Algorithm, Error, InOutBuf, Isa, Level, Mode};

use super::Bytes;

/// The longest message, in bytes: several steps of the widest kernel.
const LONGEST: usize = 6000;

/// Takes a case from the bytes of `input`, and asserts that streaming gives what the portable
/// kernel gives in one call: in both directions, for valid messages and for others, with and
/// without padding, at the level chosen and at the portable one. What one refuses, the other
/// refuses.
pub fn streaming_splits(input: &[u8]) {
    let case = Case::parse(&mut Bytes::new(input));
    for isa in [Isa::PORTABLE, Isa::of_processor().at_most(case.level)] {
        if case.algorithm.is_stream() {
            case.check_keystream(isa);
        }
        let expected = case.whole(Isa::PORTABLE, Way::Encrypt, &case.data);
        case.check(isa, Way::Encrypt, &case.data, &expected);
        if let Ok(encrypted) = &expected {
            case.check(isa, Way::Decrypt, encrypted, &Ok(case.data.clone()));
        }
        // As if it were a ciphertext: what comes out is noise, and its padding mostly wrong.
        let expected = case.whole(Isa::PORTABLE, Way::Decrypt, &case.data);
        case.check(isa, Way::Decrypt, &case.data, &expected);
    }
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Encrypt,
    Decrypt,
}

#[derive(Debug)]
struct Case {
    algorithm: Algorithm,
    level: Level,
    padding: Padding,
    key: Vec<u8>,
    iv: Vec<u8>,
    /// Sizes of successive calls; the last call takes the rest.
    cuts: Vec<usize>,
    data: Vec<u8>,
}

impl Case {
    fn parse(bytes: &mut Bytes<'_>) -> Self {
        let algorithm = *bytes.choice(Algorithm::ALL);
        let level = *bytes.choice(Level::built());
        let padding = *bytes.choice(&[Padding::None, Padding::Pkcs7]);
        let lengths: Vec<usize> = algorithm.key_lengths().iter().collect();
        let length = *bytes.choice(&lengths);
        let key = bytes.take(length);
        let iv = bytes.take(algorithm.nonce_length());
        let cuts = (0..bytes.byte() % 24).map(|_| bytes.length() % 400).collect();
        // Longer messages than the input, and mostly of whole blocks.
        let wanted = match bytes.byte() {
            multiple @ 0..200 => usize::from(multiple) * 16,
            _ => bytes.length() % LONGEST,
        };
        let data = bytes.repeated(wanted);
        Self { algorithm, level, padding, key, iv, cuts, data }
    }

    /// The sizes of the calls that take `len` bytes, all but the last multiples of `unit`.
    fn calls(&self, mut len: usize, unit: usize) -> Vec<usize> {
        let mut calls = Vec::new();
        for cut in &self.cuts {
            let call = (cut / unit * unit).min(len);
            calls.push(call);
            len -= call;
        }
        calls.push(len);
        calls
    }

    fn check(&self, isa: Isa, way: Way, data: &[u8], expected: &Result<Vec<u8>, Error>) {
        let level = isa.level();
        assert_eq!(self.whole(isa, way, data), *expected, "{self:?} {level} {way:?} whole");
        assert_eq!(self.in_place(isa, way, data), *expected, "{self:?} {level} {way:?} in place");
        if self.algorithm.mode() == Mode::Xts {
            // A data unit comes whole.
            let refused = self.updated(isa, way, data);
            assert!(matches!(refused, Err(Error::Unsupported | Error::WeakKey)), "{self:?}");
            return;
        }
        assert_eq!(self.updated(isa, way, data), *expected, "{self:?} {level} {way:?} updated");
        if self.padding == Padding::None {
            for apart in [false, true] {
                let applied = self.applied(isa, way, data, apart);
                assert_eq!(applied, *expected, "{self:?} {level} {way:?} applied, {apart}");
            }
        }
    }

    /// In one call, from one buffer to another.
    fn whole(&self, isa: Isa, way: Way, data: &[u8]) -> Result<Vec<u8>, Error> {
        let cipher = RawCipher::with_isa(isa, self.algorithm, &self.key)?;
        let mut out = vec![0x5a; data.len() + 16];
        let length = match (self.padding, way) {
            (Padding::Pkcs7, Way::Encrypt) => cipher.encrypt_padded(&self.iv, data, &mut out)?,
            (Padding::Pkcs7, Way::Decrypt) => cipher.decrypt_padded(&self.iv, data, &mut out)?,
            (_, way) => {
                let message = buffers(data, &mut out[..data.len()]);
                match way {
                    Way::Encrypt => cipher.encrypt(&self.iv, message)?,
                    Way::Decrypt => cipher.decrypt(&self.iv, message)?,
                }
                data.len()
            }
        };
        out.truncate(length);
        Ok(out)
    }

    /// In one call, in place.
    fn in_place(&self, isa: Isa, way: Way, data: &[u8]) -> Result<Vec<u8>, Error> {
        let (cipher, iv) = (RawCipher::with_isa(isa, self.algorithm, &self.key)?, &self.iv[..]);
        let mut buffer = data.to_vec();
        match (self.padding, way) {
            (Padding::Pkcs7, Way::Encrypt) => {
                buffer.resize(data.len() + 16, 0x5a);
                let length = cipher.encrypt_padded_in_place(iv, &mut buffer, data.len())?;
                buffer.truncate(length);
            }
            (Padding::Pkcs7, Way::Decrypt) => {
                let length = cipher.decrypt_padded_in_place(iv, &mut buffer)?;
                buffer.truncate(length);
            }
            (_, Way::Encrypt) => cipher.encrypt(iv, &mut buffer[..])?,
            (_, Way::Decrypt) => cipher.decrypt(iv, &mut buffer[..])?,
        }
        Ok(buffer)
    }

    /// In calls that cut blocks apart.
    fn updated(&self, isa: Isa, way: Way, data: &[u8]) -> Result<Vec<u8>, Error> {
        let cipher = RawCipher::with_isa(isa, self.algorithm, &self.key)?;
        let mut out = vec![0x5a; data.len() + 16];
        let (mut from, mut to) = (0, 0);
        let calls = self.calls(data.len(), 1);
        match way {
            Way::Encrypt => {
                let mut running = cipher.encryptor(&self.iv, self.padding)?;
                for call in calls {
                    to += running.update(&data[from..from + call], &mut out[to..])?;
                    from += call;
                }
                to += running.finish(&mut out[to..])?;
            }
            Way::Decrypt => {
                let mut running = cipher.decryptor(&self.iv, self.padding)?;
                for call in calls {
                    to += running.update(&data[from..from + call], &mut out[to..])?;
                    from += call;
                }
                to += running.finish(&mut out[to..])?;
            }
        }
        out.truncate(to);
        Ok(out)
    }

    /// In calls of whole blocks, in place or from one buffer to another.
    fn applied(&self, isa: Isa, way: Way, data: &[u8], apart: bool) -> Result<Vec<u8>, Error> {
        let cipher = RawCipher::with_isa(isa, self.algorithm, &self.key)?;
        let mut out = if apart { vec![0x5a; data.len()] } else { data.to_vec() };
        let calls = self.calls(data.len(), self.algorithm.granularity());
        let mut at = 0;
        let mut pass = |f: &mut dyn FnMut(InOutBuf<'_, '_, u8>) -> Result<(), Error>| {
            for &call in &calls {
                let (from, to) = (&data[at..at + call], &mut out[at..at + call]);
                f(if apart { buffers(from, to) } else { to.into() })?;
                at += call;
            }
            Ok::<(), Error>(())
        };
        match way {
            Way::Encrypt => {
                let mut running = cipher.encryptor(&self.iv, Padding::None)?;
                pass(&mut |piece| running.apply(piece))?;
            }
            Way::Decrypt => {
                let mut running = cipher.decryptor(&self.iv, Padding::None)?;
                pass(&mut |piece| running.apply(piece))?;
            }
        }
        Ok(out)
    }

    /// The raw keystream: cut in pieces, and from any position.
    fn check_keystream(&self, isa: Isa) {
        let mut expected = self.data.clone();
        let open =
            |isa| Stream::new(isa, self.algorithm, &self.key, &self.iv).expect("good lengths");
        open(Isa::PORTABLE).xor(&mut expected[..]).expect("far from the end");
        let mut stream = open(isa);
        let mut at = 0;
        for call in self.calls(self.data.len(), 1) {
            if self.cuts.len().is_multiple_of(2) {
                stream.seek(at as u64).expect("where it is");
            }
            let mut piece = self.data[at..at + call].to_vec();
            stream.xor(&mut piece[..]).expect("far from the end");
            assert_eq!(piece, expected[at..at + call], "{self:?} {} at {at}", isa.level());
            at += call;
        }
    }
}

fn buffers<'a>(from: &'a [u8], to: &'a mut [u8]) -> InOutBuf<'a, 'a, u8> {
    InOutBuf::new(from, to).expect("equal lengths")
}
