//! The expanded key of each raw algorithm.

use lanecrypt_kernels::xts::AesXts;
use lanecrypt_kernels::{BlockEncrypt, Isa};

use super::legacy::raw_ciphers;
use super::stream_key::StreamKey;
use super::table::kernels;
use crate::key_bytes::{FromBytes, two_halves};
use crate::{Algorithm, Error, KeyError, Mode, Primitive};

/// Makes the type and its methods.
macro_rules! expanded_key {
    ({} blocks {
        $([$($primitive:ident)+] $cbc:ident $ctr:ident $ecb:ident:
          $cipher:ty, $forward:ty, $core:ty;)+
    } streams $streams:tt $($more:tt)*) => {
        /// An expanded key and its mode. There is one variant for each mode, so that a request
        /// finds its kernel by one branch. Counter mode expands the key for the forward direction
        /// only.
        pub(super) enum ExpandedKey {
            $($cbc($cipher),)+
            $($ctr($forward),)+
            $($ecb($cipher),)+
            Aes128Xts(AesXts<128>),
            Aes256Xts(AesXts<256>),
            Stream(StreamKey),
            Null,
        }

        impl ExpandedKey {
            /// A key that must be set before it is used. `keep` turns it into the result.
            ///
            /// Each arm returns its own result: if the arms were joined first, each result would be
            /// copied.
            #[inline(always)]
            pub(super) fn empty<T>(
                isa: Isa,
                algorithm: Algorithm,
                keep: impl Fn(Self) -> T,
            ) -> Result<T, KeyError> {
                match (algorithm.primitive(), algorithm.mode()) {
                    _ if algorithm.is_aead() => {
                        Err(KeyError::new(algorithm, Error::Unsupported))
                    }
                    $(($(Primitive::$primitive)|+, Mode::Cbc) => {
                        return Ok(keep(Self::$cbc(<$cipher>::empty(isa))));
                    }
                    ($(Primitive::$primitive)|+, Mode::Ctr) => {
                        return Ok(keep(Self::$ctr(<$forward>::empty(isa))));
                    }
                    ($(Primitive::$primitive)|+, Mode::Ecb) => {
                        return Ok(keep(Self::$ecb(<$cipher>::empty(isa))));
                    })+
                    (Primitive::Aes128, Mode::Xts) => {
                        return Ok(keep(Self::Aes128Xts(AesXts::<128>::empty(isa))));
                    }
                    (Primitive::Aes256, Mode::Xts) => {
                        return Ok(keep(Self::Aes256Xts(AesXts::<256>::empty(isa))));
                    }
                    (Primitive::Null, _) => Ok(keep(Self::Null)),
                    _ => Ok(keep(Self::Stream(StreamKey::empty(isa, algorithm)?))),
                }
            }

            /// Replaces the key by one of a right length.
            #[inline(always)]
            pub(super) fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
                match self {
                    $(Self::$cbc(cipher) | Self::$ecb(cipher) => set_key(cipher, key)?,
                    Self::$ctr(cipher) => set_key(cipher, key)?,)+
                    Self::Aes128Xts(cipher) => cipher.set_key(two_halves(key)?),
                    Self::Aes256Xts(cipher) => cipher.set_key(two_halves(key)?),
                    Self::Stream(stream) => stream.set_key(key)?,
                    Self::Null => {}
                }
                Ok(())
            }
        }
    };
}

raw_ciphers!(expanded_key! {});

#[inline(always)]
fn set_key<C, const N: usize>(cipher: &mut C, key: &[u8]) -> Result<(), Error>
where
    C: BlockEncrypt<N, Key: FromBytes>,
{
    C::Key::from_bytes(key, |key| cipher.set_key(key))
}

/// Evaluates the expression for the mode of an [`ExpandedKey`].
macro_rules! by_mode {
    ($value:expr, $($arms:tt)+) => {
        raw_ciphers!(by_mode_of! { $value, $($arms)+ })
    };
}

/// Same as [`by_mode`], with the rows of the table.
macro_rules! by_mode_of {
    ({ $value:expr, cbc $in_cbc:ident => $cbc_result:expr, ctr $in_ctr:ident => $ctr_result:expr,
       ecb $in_ecb:ident => $ecb_result:expr, stream $stream:ident => $stream_result:expr,
       xts $xts:ident => $xts_result:expr, null => $null_result:expr $(,)? }
     blocks {
        $([$($primitive:ident)+] $cbc:ident $ctr:ident $ecb:ident:
          $cipher:ty, $forward:ty, $core:ty;)+
     } streams $streams:tt $($more:tt)*) => {
        match $value {
            $(ExpandedKey::$cbc($in_cbc) => $cbc_result,)+
            $(ExpandedKey::$ctr($in_ctr) => $ctr_result,)+
            $(ExpandedKey::$ecb($in_ecb) => $ecb_result,)+
            ExpandedKey::Stream($stream) => $stream_result,
            ExpandedKey::Aes128Xts($xts) => $xts_result,
            ExpandedKey::Aes256Xts($xts) => $xts_result,
            ExpandedKey::Null => $null_result,
        }
    };
}

pub(super) use {by_mode, by_mode_of};
