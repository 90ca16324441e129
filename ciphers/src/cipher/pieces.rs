//! A message in pieces: the common part of sealing and opening.

use inout::InOutBuf;

use super::Cipher;
use super::aead_key::{AeadKey, Chained, kernels, sealing_ciphers};
use super::kernel::Kernel;
use crate::Error;

/// A message in progress, and how much of it has come.
pub(super) struct Pieces<'c> {
    cipher: &'c Cipher,
    state: State<'c>,
    /// Bytes of associated data.
    aad: u64,
    /// Bytes of data.
    data: u64,
    /// Whether data has come. After that, associated data is refused.
    begun: bool,
}

impl<'c> Pieces<'c> {
    #[inline]
    pub(super) fn new(cipher: &'c Cipher, nonce: &[u8]) -> Result<Self, Error> {
        let state = State::new(&cipher.key, nonce)?;
        Ok(Self { cipher, state, aad: 0, data: 0, begun: false })
    }

    pub(super) fn cipher(&self) -> &'c Cipher {
        self.cipher
    }

    pub(super) fn associate(&mut self, aad: &[u8]) -> Result<(), Error> {
        if self.begun {
            return Err(Error::Finished);
        }
        let total = self.aad.checked_add(aad.len() as u64).ok_or(Error::AadLength)?;
        self.cipher.key.head().limits.admit(total, self.data)?;
        self.aad = total;
        self.state.associate(aad);
        Ok(())
    }

    #[inline]
    pub(super) fn encrypt(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.count(data.len())?;
        self.state.encrypt(data);
        Ok(())
    }

    #[inline]
    pub(super) fn decrypt(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        self.count(data.len())?;
        self.state.decrypt(data);
        Ok(())
    }

    /// Writes the tag of what has come: as much of it as there is room for.
    pub(super) fn finish(self, tag: &mut [u8]) {
        self.state.finish(tag);
    }

    /// Whether a tag is that of what has come.
    pub(super) fn verify(self, tag: &[u8]) -> Result<(), Error> {
        self.state.verify(tag)
    }

    /// Counts the next bytes of data, or refuses them.
    #[inline]
    fn count(&mut self, length: usize) -> Result<(), Error> {
        if !length.is_multiple_of(self.cipher.algorithm().granularity()) {
            return Err(Error::DataLength);
        }
        let total = self.data.checked_add(length as u64).ok_or(Error::DataLength)?;
        self.cipher.key.head().limits.admit(self.aad, total)?;
        self.data = total;
        self.begun = true;
        Ok(())
    }
}

/// Makes the type, and the code that chooses between its variants.
macro_rules! state {
    ({} $([$($algorithm:ident)+] $variant:ident: $kernel:ty;)+) => {
        /// A key, and the kernel's state of one message under it, which wipes itself.
        enum State<'c> {
            $($variant(&'c $kernel, <$kernel as Kernel>::Message),)+
        }

        impl<'c> State<'c> {
            fn new(keyed: &'c AeadKey, nonce: &[u8]) -> Result<Self, Error> {
                Ok(match keyed {
                    $(AeadKey::$variant(_, key) => Self::$variant(key, key.begin_message(nonce)?),)+
                })
            }
        }
    };
}

sealing_ciphers!(state! {});

/// Evaluates an expression for the kernel and the state of a [`State`].
macro_rules! by_state {
    ($state:expr, ($key:ident, $message:ident) => $result:expr) => {
        sealing_ciphers!(by_state_of! { $state, ($key, $message) => $result })
    };
}

/// Same as [`by_state`], with the rows of the table.
macro_rules! by_state_of {
    ({ $state:expr, ($found:ident, $message:ident) => $result:expr }
     $([$($algorithm:ident)+] $variant:ident: $kernel:ty;)+) => {
        match $state {
            $(State::$variant($found, $message) => $result,)+
        }
    };
}

impl State<'_> {
    fn associate(&mut self, aad: &[u8]) {
        by_state!(self, (key, message) => key.associate_next(message, aad));
    }

    fn encrypt(&mut self, data: InOutBuf<'_, '_, u8>) {
        by_state!(self, (key, message) => key.encrypt_next(message, data));
    }

    fn decrypt(&mut self, data: InOutBuf<'_, '_, u8>) {
        by_state!(self, (key, message) => key.decrypt_next(message, data));
    }

    fn finish(self, tag: &mut [u8]) {
        by_state!(self, (key, message) => key.finish(message, tag));
    }

    fn verify(self, tag: &[u8]) -> Result<(), Error> {
        by_state!(self, (key, message) => key.verify(message, tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;

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

    fn begun(cipher: &Cipher) -> Pieces<'_> {
        let nonce = [2; 24];
        Pieces::new(cipher, &nonce[..cipher.algorithm().nonce_length()]).expect("a good nonce")
    }

    /// The counts are preset. The last byte that is allowed is taken and one more is refused. A
    /// refused call has changed neither data nor count.
    #[test]
    fn data_end_at_the_longest_message() {
        for (algorithm, _, longest) in AEADS {
            let cipher = keyed(algorithm);
            for left in [0, 1, 16, 33] {
                let mut data = [0xa5; 34];
                let mut pieces = begun(&cipher);
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
