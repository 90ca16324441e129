//! Keys, each with its portable cipher, which gives the right results.

use lanecrypt_ciphers::{Cipher, hazmat};
use lanecrypt_engine::{Algorithm, Engine, Error, InOutBuf, Isa, Operation, Session};

use super::numbers::Numbers;

/// A key, and the cipher that it is for.
pub struct Key {
    pub algorithm: Algorithm,
    pub bytes: Vec<u8>,
    /// The specification: one message at a time, by the portable kernels.
    portable: Keyed,
}

/// A cipher with its key expanded.
pub enum Keyed {
    Sealed(Cipher),
    Raw(hazmat::RawCipher),
}

impl Keyed {
    fn new(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Self {
        if algorithm.is_aead() {
            Self::Sealed(Cipher::with_isa(isa, algorithm, key).expect("a good key"))
        } else {
            Self::Raw(hazmat::RawCipher::with_isa(isa, algorithm, key).expect("a good key"))
        }
    }
}

impl Key {
    pub fn new(algorithm: Algorithm, bytes: Vec<u8>) -> Self {
        let portable = Keyed::new(Isa::PORTABLE, algorithm, &bytes);
        Self { algorithm, bytes, portable }
    }

    /// A key of one of the algorithm's lengths.
    pub fn random(algorithm: Algorithm, numbers: &mut impl Numbers) -> Self {
        let lengths: Vec<usize> = algorithm.key_lengths().iter().collect();
        let length = *numbers.choice(&lengths);
        let mut bytes = numbers.bytes(length);
        // An input of a fuzz target may end here. Then all bytes of the key depend on one number,
        // and equal halves would be refused.
        if let Some(first) = bytes.first_mut() {
            *first ^= 0x80;
        }
        Self::new(algorithm, bytes)
    }

    /// The cipher with the kernels of `isa`.
    pub fn at(&self, isa: Isa) -> Keyed {
        Keyed::new(isa, self.algorithm, &self.bytes)
    }

    /// The length of a tag in bytes, 0 without authentication.
    pub fn tag_length(&self) -> usize {
        match &self.portable {
            Keyed::Sealed(cipher) => cipher.tag_length(),
            Keyed::Raw(_) => 0,
        }
    }

    /// Serves a message whose data and tag are apart.
    pub fn serve(
        &self,
        operation: Operation,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        match (&self.portable, operation) {
            (Keyed::Sealed(cipher), Operation::Seal) => cipher.seal_detached(nonce, aad, data, tag),
            (Keyed::Sealed(cipher), Operation::Open) => cipher.open_detached(nonce, aad, data, tag),
            (Keyed::Raw(cipher), Operation::Encrypt) => cipher.encrypt(nonce, data),
            (Keyed::Raw(cipher), Operation::Decrypt) => cipher.decrypt(nonce, data),
            _ => Err(Error::Unsupported),
        }
    }

    /// Serves a packet, whose last bytes are the tag or room for it.
    pub fn serve_packet(
        &self,
        operation: Operation,
        nonce: &[u8],
        aad: &[u8],
        packet: &mut [u8],
    ) -> Result<(), Error> {
        match (&self.portable, operation) {
            (Keyed::Sealed(cipher), Operation::Seal) => cipher.seal(nonce, aad, packet),
            (Keyed::Sealed(cipher), Operation::Open) => cipher.open(nonce, aad, packet).map(drop),
            _ => Err(Error::Unsupported),
        }
    }
}

/// Every algorithm that has sessions. The algorithms of ARC4 have none: they take a key for each
/// message.
pub fn algorithms() -> Vec<Algorithm> {
    let all = Algorithm::ALL.iter().copied();
    all.filter(|algorithm| algorithm.to_string() != "arc4").collect()
}

/// `each` keys of each algorithm.
pub fn random_keys(each: usize, of: &[Algorithm], numbers: &mut impl Numbers) -> Vec<Key> {
    let mut keys = Vec::new();
    for &algorithm in of {
        keys.extend((0..each).map(|_| Key::random(algorithm, numbers)));
    }
    keys
}

/// A session for each key. Every other session of the null cipher is on the driver `null`.
pub fn open(engine: &Engine, keys: &[Key]) -> Vec<Session> {
    let session = |(i, key): (usize, &Key)| {
        let (algorithm, bytes) = (key.algorithm, &key.bytes);
        match algorithm.is_aead() {
            _ if algorithm == Algorithm::NULL && i % 2 == 0 => {
                engine.session_on("null", algorithm, bytes)
            }
            _ if i % 3 == 1 => engine.session_on("software", algorithm, bytes),
            true => engine.session(algorithm, bytes),
            false => engine.raw_session(algorithm, bytes),
        }
    };
    keys.iter().enumerate().map(|key| session(key).expect("a good key")).collect()
}
