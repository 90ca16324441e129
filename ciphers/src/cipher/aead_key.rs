//! The expanded key of each algorithm that authenticates, and its nonces.

use inout::InOutBuf;
pub(super) use lanecrypt_kernels as kernels;
use lanecrypt_kernels::chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use lanecrypt_kernels::gcm::AesGcm;
use lanecrypt_kernels::gcm_siv::AesGcmSiv;
use lanecrypt_kernels::siv::AesSiv;
use lanecrypt_kernels::{Aead, Isa, Siv};

pub(super) use super::chained::Chained;
use super::kernel::{Kernel, NoPieces};
use super::keyed::Fixed;
use super::limits::Limits;
use super::tag;
use crate::key_bytes::array;
use crate::{Algorithm, Error, KeyError, Mode, Primitive};

/// The table of ciphers with authentication: calls the macro `$make` with `$arguments` and a row
/// for each, which has its [`Primitive`] and [`Mode`], its variant and its kernel.
macro_rules! sealing_ciphers {
    ($make:ident! $arguments:tt) => {
        $make! { $arguments
            [Aes128 Gcm] Aes128Gcm: kernels::gcm::AesGcm<128>;
            [Aes192 Gcm] Aes192Gcm: kernels::gcm::AesGcm<192>;
            [Aes256 Gcm] Aes256Gcm: kernels::gcm::AesGcm<256>;
            [Aes128 GcmSiv] Aes128GcmSiv: kernels::gcm_siv::AesGcmSiv<128>;
            [Aes256 GcmSiv] Aes256GcmSiv: kernels::gcm_siv::AesGcmSiv<256>;
            [Aes128 Siv] AesSiv256: kernels::siv::AesSiv<128>;
            [Aes256 Siv] AesSiv512: kernels::siv::AesSiv<256>;
            [ChaCha20 Poly1305] ChaCha20Poly1305: kernels::chacha20poly1305::ChaCha20Poly1305;
            [XChaCha20 Poly1305] XChaCha20Poly1305: kernels::chacha20poly1305::XChaCha20Poly1305;
            [Aes128 Cbc] Aes128CbcHmac: Chained<kernels::aes::Aes<128>>;
            [Aes192 Cbc] Aes192CbcHmac: Chained<kernels::aes::Aes<192>>;
            [Aes256 Cbc] Aes256CbcHmac: Chained<kernels::aes::Aes<256>>;
            [Aes128 Ctr] Aes128CtrHmac: Chained<kernels::aes::AesForward<128>>;
            [Aes256 Ctr] Aes256CtrHmac: Chained<kernels::aes::AesForward<256>>;
        }
    };
}

/// Makes the type and what is done with it.
macro_rules! aead_key {
    ({} $([$primitive:ident $mode:ident] $variant:ident: $kernel:ty;)+) => {
        /// An expanded key; a request finds its kernel by one branch.
        //
        // The head has the same offset in all variants, so that reading it does not depend on the
        // tag. Head and tag share a cache line with the start of the key: with many sessions,
        // requests have few cache lines to spare.
        #[repr(u8)]
        pub(super) enum AeadKey {
            $($variant(Head, $kernel),)+
        }

        impl AeadKey {
            /// A key that must be set before it is used. `keep` turns it into the result.
            ///
            /// Each arm returns its own result: if the arms were joined first, each result would be
            /// copied.
            #[inline(always)]
            fn empty<T>(isa: Isa, head: Head, keep: impl Fn(Self) -> T) -> Result<T, KeyError> {
                match (head.algorithm.primitive(), head.algorithm.mode()) {
                    $((Primitive::$primitive, Mode::$mode) => {
                        let kernel = <$kernel as Kernel>::empty(isa, head.algorithm);
                        return Ok(keep(Self::$variant(head, kernel)));
                    })+
                    _ => Err(KeyError::new(head.algorithm, Error::Unsupported)),
                }
            }

            #[inline]
            pub(super) fn head(&self) -> &Head {
                match self {
                    $(Self::$variant(head, _))|+ => head,
                }
            }

            pub(super) fn head_mut(&mut self) -> &mut Head {
                match self {
                    $(Self::$variant(head, _))|+ => head,
                }
            }

            /// Replaces the key.
            #[inline]
            pub(super) fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
                match self {
                    $(Self::$variant(_, kernel) => Kernel::set_key(kernel, key),)+
                }
            }
        }
    };
}

sealing_ciphers!(aead_key! {});

pub(super) use sealing_ciphers;

/// The fields of a cipher besides its key.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) limits: Limits,
    pub(super) algorithm: Algorithm,
    pub(super) isa: Isa,
    pub(super) tag_length: usize,
}

impl Head {
    /// A key of `algorithm` that must be set before it is used, as [`AeadKey::empty`] makes it.
    #[inline(always)]
    pub(super) fn empty<T>(
        isa: Isa,
        algorithm: Algorithm,
        keep: impl Fn(AeadKey) -> T,
    ) -> Result<T, KeyError> {
        let tag_length = algorithm.tag_length();
        let limits = Limits::new(algorithm, tag_length)
            .map_err(|reason| KeyError::new(algorithm, reason))?;
        AeadKey::empty(isa, Self { limits, algorithm, isa, tag_length }, keep)
    }
}

/// The methods of a [`Kernel`] that set keys and seal: the same for an [`Aead`] and a [`Siv`].
macro_rules! sealing {
    ($trait:ident, $key:literal, $nonce:literal) => {
        #[inline(always)]
        fn empty(isa: Isa, _algorithm: Algorithm) -> Self {
            <Self as $trait<$key, $nonce>>::empty(isa)
        }

        #[inline]
        fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
            $trait::set_key(self, array(key)?);
            Ok(())
        }

        #[inline(always)]
        fn seal_message(
            &self,
            nonce: &[u8],
            aad: &[u8],
            data: InOutBuf<'_, '_, u8>,
            tag: &mut [u8],
        ) -> Result<(), Error> {
            match nonce.try_into() {
                Ok(nonce) => {
                    tag::put(&self.seal(nonce, aad, data), tag);
                    Ok(())
                }
                Err(_) => self.seal_under_other(nonce, aad, data, tag),
            }
        }
    };
}

/// A kernel with nonces of one usual length: the [`Kernel`] of an [`Aead`], of one algorithm.
macro_rules! aead {
    ($kernel:ty, $key:literal, $nonce:literal, $algorithm:ident) => {
        impl Fixed for $kernel {
            const ALGORITHM: Algorithm = Algorithm::$algorithm;
        }

        impl Kernel for $kernel {
            type Message = <Self as Aead<$key, $nonce>>::Message;

            sealing!(Aead, $key, $nonce);

            #[inline(always)]
            fn open_message(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8],
            ) -> Result<(), Error> {
                match nonce.try_into() {
                    Ok(nonce) => tag::compare(&self.open(nonce, aad, data), tag),
                    Err(_) => self.open_under_other(nonce, aad, data, tag),
                }
            }

            #[inline]
            fn begin_message(&self, nonce: &[u8]) -> Result<Self::Message, Error> {
                match nonce.try_into() {
                    Ok(nonce) => Ok(self.begin(nonce)),
                    Err(_) => self.begin_under_other(nonce),
                }
            }

            #[inline]
            fn associate_next(&self, message: &mut Self::Message, aad: &[u8]) {
                self.associate(message, aad);
            }

            #[inline]
            fn encrypt_next(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>) {
                self.encrypt(message, data);
            }

            #[inline]
            fn decrypt_next(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>) {
                self.decrypt(message, data);
            }

            #[inline]
            fn finish(&self, message: Self::Message, tag: &mut [u8]) {
                tag::put(&self.tag(message), tag);
            }

            #[inline]
            fn verify(&self, message: Self::Message, tag: &[u8]) -> Result<(), Error> {
                tag::compare(&self.tag(message), tag)
            }
        }
    };
}

aead!(AesGcm<128>, 16, 12, AES_128_GCM);
aead!(AesGcm<192>, 24, 12, AES_192_GCM);
aead!(AesGcm<256>, 32, 12, AES_256_GCM);
aead!(ChaCha20Poly1305, 32, 12, CHACHA20_POLY1305);
aead!(XChaCha20Poly1305, 32, 24, XCHACHA20_POLY1305);

/// The [`Kernel`] of a [`Siv`], of one algorithm. It has no messages in pieces.
macro_rules! siv {
    ($kernel:ty, $key:literal, $nonce:literal, $algorithm:ident) => {
        impl Fixed for $kernel {
            const ALGORITHM: Algorithm = Algorithm::$algorithm;
        }

        impl Kernel for $kernel {
            type Message = NoPieces;

            sealing!(Siv, $key, $nonce);

            #[inline(always)]
            fn open_message(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8],
            ) -> Result<(), Error> {
                let came = tag.try_into().map_err(|_| Error::TagLength)?;
                match nonce.try_into() {
                    Ok(nonce) => tag::compare(&self.open(nonce, aad, data, came), tag),
                    Err(_) => self.open_under_other(nonce, aad, data, tag),
                }
            }

            no_pieces!();
        }
    };
}

/// The methods of a [`Kernel`] for messages in pieces, where there are none.
macro_rules! no_pieces {
    () => {
        #[inline]
        fn begin_message(&self, _nonce: &[u8]) -> Result<NoPieces, Error> {
            Err(Error::Unsupported)
        }

        fn associate_next(&self, message: &mut NoPieces, _aad: &[u8]) {
            match *message {}
        }

        fn encrypt_next(&self, message: &mut NoPieces, _data: InOutBuf<'_, '_, u8>) {
            match *message {}
        }

        fn decrypt_next(&self, message: &mut NoPieces, _data: InOutBuf<'_, '_, u8>) {
            match *message {}
        }

        fn finish(&self, message: NoPieces, _tag: &mut [u8]) {
            match message {}
        }

        fn verify(&self, message: NoPieces, _tag: &[u8]) -> Result<(), Error> {
            match message {}
        }
    };
}

siv!(AesGcmSiv<128>, 16, 12, AES_128_GCM_SIV);
siv!(AesGcmSiv<256>, 32, 12, AES_256_GCM_SIV);
siv!(AesSiv<128>, 32, 16, AES_SIV_256);
siv!(AesSiv<256>, 64, 16, AES_SIV_512);

/// What a kernel does with a nonce that does not have the usual length: it refuses, unless it says
/// otherwise.
trait OtherNonces: Kernel {
    #[cold]
    fn seal_under_other(
        &self,
        _nonce: &[u8],
        _aad: &[u8],
        _data: InOutBuf<'_, '_, u8>,
        _tag: &mut [u8],
    ) -> Result<(), Error> {
        Err(Error::NonceLength)
    }

    #[cold]
    fn open_under_other(
        &self,
        _nonce: &[u8],
        _aad: &[u8],
        _data: InOutBuf<'_, '_, u8>,
        _tag: &[u8],
    ) -> Result<(), Error> {
        Err(Error::NonceLength)
    }

    #[cold]
    fn begin_under_other(&self, _nonce: &[u8]) -> Result<Self::Message, Error> {
        Err(Error::NonceLength)
    }
}

impl OtherNonces for ChaCha20Poly1305 {}
impl OtherNonces for XChaCha20Poly1305 {}
impl OtherNonces for AesGcmSiv<128> {}
impl OtherNonces for AesGcmSiv<256> {}

/// SIV hashes nonces of all lengths alike.
macro_rules! hashes_strings {
    ($kernel:ty) => {
        impl OtherNonces for $kernel {
            #[cold]
            #[inline(never)]
            fn seal_under_other(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &mut [u8],
            ) -> Result<(), Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                tag::put(&self.seal_after(self.strings(), &[aad, nonce], data), tag);
                Ok(())
            }

            #[cold]
            #[inline(never)]
            fn open_under_other(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8],
            ) -> Result<(), Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                let came = tag.try_into().map_err(|_| Error::TagLength)?;
                tag::compare(&self.open_after(self.strings(), &[aad, nonce], came, data), tag)
            }
        }
    };
}

hashes_strings!(AesSiv<128>);
hashes_strings!(AesSiv<256>);

/// GCM hashes nonces of other lengths to a counter block.
macro_rules! hashes_nonces {
    ($kernel:ty) => {
        impl OtherNonces for $kernel {
            #[cold]
            #[inline(never)]
            fn seal_under_other(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &mut [u8],
            ) -> Result<(), Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                tag::put(&self.seal_from(&self.counter_block(nonce), aad, data), tag);
                Ok(())
            }

            #[cold]
            #[inline(never)]
            fn open_under_other(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8],
            ) -> Result<(), Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                tag::compare(&self.open_from(&self.counter_block(nonce), aad, data), tag)
            }

            #[cold]
            #[inline(never)]
            fn begin_under_other(&self, nonce: &[u8]) -> Result<Self::Message, Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                Ok(self.begin_from(&self.counter_block(nonce)))
            }
        }
    };
}

hashes_nonces!(AesGcm<128>);
hashes_nonces!(AesGcm<192>);
hashes_nonces!(AesGcm<256>);
