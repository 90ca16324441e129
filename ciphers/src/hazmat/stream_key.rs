//! The keys of stream ciphers.

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, Seek, StreamCore};

use super::block_modes::sized;
use super::legacy::raw_ciphers;
use super::stream_cipher::message;
use super::table::kernels;
use crate::key_bytes::either;
use crate::{Algorithm, Error, KeyError, Mode, Primitive};

/// Makes the type and its methods.
macro_rules! stream_key {
    ({} blocks $blocks:tt streams {
        $([$primitive:ident $mode:ident] $stream:ident: $core:ty;)+
    } unseekable $unseekable:tt hc128 { $($hc128:ident)? }) => {
        /// The key of a stream cipher that makes a new state for each nonce.
        pub(super) enum StreamKey {
            $($stream(ParsedKey<$core>),)+
            $($hc128(super::legacy::Hc128Key),)?
        }

        impl StreamKey {
            pub(super) fn empty(isa: Isa, algorithm: Algorithm) -> Result<Self, KeyError> {
                Ok(match (algorithm.primitive(), algorithm.mode()) {
                    $((Primitive::$primitive, Mode::$mode) => {
                        Self::$stream(ParsedKey::empty(isa))
                    })+
                    $((Primitive::$hc128, Mode::Stream) => {
                        Self::$hc128(super::legacy::Hc128Key::empty(isa))
                    })?
                    // ARC4 has no nonce: every message under its key would have the same keystream.
                    _ => return Err(KeyError::new(algorithm, Error::Unsupported)),
                })
            }

            pub(super) fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
                match self {
                    $(Self::$stream(parsed) => parsed.set_key(key),)+
                    $(Self::$hc128(kept) => kept.set_key(key),)?
                }
            }

            /// XORs the keystream of `nonce` into `data`.
            pub(super) fn message(
                &self,
                nonce: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> Result<(), Error> {
                match self {
                    $(Self::$stream(key) => key.message(nonce, data),)+
                    $(Self::$hc128(key) => key.message(nonce, data),)?
                }
            }
        }
    };
}

raw_ciphers!(stream_key! {});

/// The parsed key of the stream core `C`, which wipes itself.
pub(super) struct ParsedKey<C: StreamCore> {
    pub(super) key: C::Key,
    pub(super) isa: Isa,
}

impl<C: StreamCore> ParsedKey<C>
where
    C::Key: for<'a> From<&'a [u8; 16]> + for<'a> From<&'a [u8; 32]>,
{
    fn empty(isa: Isa) -> Self {
        Self { key: (&[0; 32]).into(), isa }
    }

    fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.key = either(key)?;
        Ok(())
    }
}

impl<C: Seek> ParsedKey<C> {
    #[inline]
    fn message<const N: usize>(&self, iv: &[u8], data: InOutBuf<'_, '_, u8>) -> Result<(), Error>
    where
        C: StreamCore<Nonce = [u8; N]>,
    {
        let (block, nonce) = block_and_nonce(iv)?;
        let mut core = C::new(self.isa, &self.key, nonce);
        core.seek(block);
        message(core, data)
    }
}

/// The first block of the data, and the nonce. An `iv` that is the nonce alone means block 0.
/// Otherwise it has 16 bytes, and the first of them are the number of the block, little-endian.
#[inline]
pub(super) fn block_and_nonce<const N: usize>(iv: &[u8]) -> Result<(u64, &[u8; N]), Error> {
    const { assert!(N == 8 || N == 12) };
    if let Ok(nonce) = iv.try_into() {
        return Ok((0, nonce));
    }
    let whole: &[u8; 16] = sized(iv)?;
    let (_, nonce) = whole.split_last_chunk().expect("asserted: less than 16 bytes");
    let [a, b, c, d, e, f, g, h, ..] = *whole;
    let block = match N {
        12 => u32::from_le_bytes([a, b, c, d]).into(),
        _ => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
    };
    Ok((block, nonce))
}
