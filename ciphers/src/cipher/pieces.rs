//! A message in pieces: the common part of sealing and opening.

use inout::InOutBuf;

use super::key::Key;
use crate::Error;

/// A message in progress, and how much of it has come.
pub(super) struct Pieces<'c, K: Key> {
    key: &'c K,
    state: K::Message,
    /// Bytes of associated data.
    aad: u64,
    /// Bytes of data.
    data: u64,
    /// Whether data has come. After that, associated data is refused.
    begun: bool,
}

impl<'c, K: Key> Pieces<'c, K> {
    #[inline]
    pub(super) fn new(key: &'c K, nonce: &[u8]) -> Result<Self, Error> {
        if !key.facts().algorithm.has_pieces() {
            return Err(Error::Unsupported);
        }
        key.admit_nonce(nonce)?;
        Ok(Self { key, state: key.begin_message(nonce)?, aad: 0, data: 0, begun: false })
    }

    pub(super) fn key(&self) -> &'c K {
        self.key
    }

    pub(super) fn associate(&mut self, aad: &[u8]) -> Result<(), Error> {
        if self.begun {
            return Err(Error::Finished);
        }
        let total = self.aad.checked_add(aad.len() as u64).ok_or(Error::AadLength)?;
        self.key.facts().limits.admit(total, self.data)?;
        self.aad = total;
        self.key.associate_next(&mut self.state, aad);
        Ok(())
    }

    #[inline]
    pub(super) fn encrypt(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.count(data.len())?;
        self.key.encrypt_next(&mut self.state, data);
        Ok(())
    }

    #[inline]
    pub(super) fn decrypt(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.count(data.len())?;
        self.key.decrypt_next(&mut self.state, data);
        Ok(())
    }

    /// Writes the tag of what has come: as much of it as there is room for.
    pub(super) fn finish(self, tag: &mut [u8]) {
        self.key.finish(self.state, tag);
    }

    /// Whether a tag is that of what has come.
    pub(super) fn verify(self, tag: &[u8]) -> Result<(), Error> {
        self.key.verify(self.state, tag)
    }

    /// Counts the next bytes of data, or refuses them.
    #[inline]
    fn count(&mut self, length: usize) -> Result<(), Error> {
        if !length.is_multiple_of(self.key.facts().algorithm.granularity()) {
            return Err(Error::DataLength);
        }
        let total = self.data.checked_add(length as u64).ok_or(Error::DataLength)?;
        self.key.facts().limits.admit(self.aad, total)?;
        self.data = total;
        self.begun = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::{Isa, chacha20poly1305::ChaCha20Poly1305, gcm::AesGcm};

    use super::*;
    use crate::cipher::AnyKey;
    use crate::cipher::key::SingleKey;
    use crate::{Algorithm, Cipher};

    const AEADS: [(Algorithm, u64, u64); 5] = [
        (Algorithm::AES_128_GCM, (1 << 61) - 1, (1 << 36) - 32),
        (Algorithm::AES_192_GCM, (1 << 61) - 1, (1 << 36) - 32),
        (Algorithm::AES_256_GCM, (1 << 61) - 1, (1 << 36) - 32),
        (Algorithm::CHACHA20_POLY1305, u64::MAX, (1 << 38) - 64),
        (Algorithm::XCHACHA20_POLY1305, u64::MAX, (1 << 38) - 64),
    ];

    fn keyed(algorithm: Algorithm) -> Cipher {
        let key = [1; 32];
        let key = &key[..algorithm.key_lengths().longest()];
        Cipher::new(algorithm, key).expect("a good key")
    }

    fn begun(cipher: &Cipher) -> Pieces<'_, AnyKey> {
        begun_by(&cipher.key)
    }

    fn begun_by<K: Key>(key: &K) -> Pieces<'_, K> {
        Pieces::new(key, &[2; 24][..key.facts().algorithm.nonce_length()]).expect("a good nonce")
    }

    #[test]
    fn data_end_at_the_longest_message() {
        for (algorithm, _, longest) in AEADS {
            data_end_at(longest, &keyed(algorithm).key);
        }
        data_end_at((1 << 36) - 32, &fixed::<AesGcm<256>>());
        data_end_at((1 << 38) - 64, &fixed::<ChaCha20Poly1305>());
    }

    fn fixed<K: SingleKey<Key = [u8; 32]>>() -> K {
        K::new(Isa::detect(), &[1; 32])
    }

    /// The counts are preset. The last byte that is allowed is taken and one more is refused. A
    /// refused call has changed neither data nor count.
    fn data_end_at<K: Key>(longest: u64, key: &K) {
        let algorithm = key.facts().algorithm;
        for left in [0, 1, 16, 33] {
            let mut data = [0xa5; 34];
            let mut pieces = begun_by(key);
            pieces.data = longest - left as u64;
            let long = Err(Error::DataLength);
            assert_eq!(pieces.encrypt((&mut data[..=left]).into()), long, "{algorithm}");
            assert_eq!(pieces.decrypt((&mut data[..=left]).into()), long, "{algorithm}");
            assert_eq!(data, [0xa5; 34], "{algorithm}: written");
            // Refused data does not count as data, so associated data may still come.
            assert_eq!(pieces.associate(b"aad"), Ok(()), "{algorithm}");
            assert_eq!(pieces.encrypt((&mut data[..left]).into()), Ok(()), "{algorithm}");
            assert_eq!(pieces.data, longest);
            assert_eq!(pieces.encrypt((&mut data[..1]).into()), long, "{algorithm}");
            assert_eq!(pieces.decrypt((&mut data[..1]).into()), long, "{algorithm}");
            assert_eq!(pieces.encrypt((&mut [][..]).into()), Ok(()), "{algorithm}");
        }
    }

    #[test]
    fn associated_data_end_where_their_length_does() {
        for (algorithm, longest, _) in AEADS {
            let cipher = keyed(algorithm);
            let mut pieces = begun(&cipher);
            pieces.aad = longest - 5;
            assert_eq!(pieces.associate(&[1; 6]), Err(Error::AadLength), "{algorithm}");
            assert_eq!(pieces.associate(&[1; 5]), Ok(()), "{algorithm}");
            assert_eq!(pieces.associate(&[1; 1]), Err(Error::AadLength), "{algorithm}");
            assert_eq!(pieces.associate(&[]), Ok(()), "{algorithm}");
            assert_eq!(pieces.encrypt((&mut [1][..]).into()), Ok(()), "{algorithm}");
        }
    }

    /// A count of data to which no more bytes can be added, whatever the limits are.
    #[test]
    fn counts_do_not_wrap() {
        let cipher = keyed(Algorithm::CHACHA20_POLY1305);
        let mut pieces = begun(&cipher);
        pieces.data = u64::MAX;
        assert_eq!(pieces.encrypt((&mut [1][..]).into()), Err(Error::DataLength));
    }

    /// A call that is refused leaves no trace in the tag.
    #[test]
    fn what_is_refused_is_not_hashed() {
        for (algorithm, ..) in AEADS {
            let cipher = keyed(algorithm);
            let run = |disturb: bool| {
                let mut pieces = begun(&cipher);
                pieces.associate(b"aad").expect("short enough");
                pieces.encrypt((&mut [1; 20][..]).into()).expect("short enough");
                if disturb {
                    let count = core::mem::replace(&mut pieces.data, u64::MAX);
                    assert_eq!(pieces.encrypt((&mut [1; 20][..]).into()), Err(Error::DataLength));
                    pieces.data = count;
                    assert_eq!(pieces.associate(b"aad"), Err(Error::Finished));
                }
                pieces.encrypt((&mut [1; 20][..]).into()).expect("short enough");
                let mut tag = [0; 16];
                pieces.finish(&mut tag);
                tag
            };
            assert_eq!(run(false), run(true), "{algorithm}");
        }
    }
}
