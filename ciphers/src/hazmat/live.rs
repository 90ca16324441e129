//! The running state of a stream cipher within one message.

#[cfg(feature = "legacy")]
use alloc::boxed::Box;

use inout::InOutBuf;
use lanecrypt_kernels::chacha::{ChaCha, Counter64, Ietf};
#[cfg(feature = "legacy")]
use lanecrypt_kernels::hc128::Hc128;
use lanecrypt_kernels::salsa::Salsa;
use lanecrypt_kernels::{Seek, StreamCore};

use super::StreamCipher;
#[cfg(feature = "legacy")]
use super::block_modes::sized;
use super::keyed::{Kept, StreamKey, block_and_nonce};
use crate::Error;

/// One stream, of the algorithms that have a [`StreamKey`].
pub(super) enum Live {
    ChaCha8Djb(StreamCipher<ChaCha<8, Counter64>>),
    ChaCha12Djb(StreamCipher<ChaCha<12, Counter64>>),
    ChaCha20Djb(StreamCipher<ChaCha<20, Counter64>>),
    ChaCha8Ietf(StreamCipher<ChaCha<8, Ietf>>),
    ChaCha12Ietf(StreamCipher<ChaCha<12, Ietf>>),
    ChaCha20Ietf(StreamCipher<ChaCha<20, Ietf>>),
    Salsa8(StreamCipher<Salsa<8>>),
    Salsa12(StreamCipher<Salsa<12>>),
    Salsa20(StreamCipher<Salsa<20>>),
    // Boxed, because its tables would make every message larger by kilobytes.
    #[cfg(feature = "legacy")]
    Hc128(Box<StreamCipher<Hc128>>),
}

impl Live {
    /// The stream of `nonce` from block `first` on.
    fn open(key: &StreamKey, nonce: &[u8], first: u64) -> Result<Self, Error> {
        Ok(match key {
            StreamKey::ChaCha8Djb(kept) => Self::ChaCha8Djb(stream(kept, nonce, first)?),
            StreamKey::ChaCha12Djb(kept) => Self::ChaCha12Djb(stream(kept, nonce, first)?),
            StreamKey::ChaCha20Djb(kept) => Self::ChaCha20Djb(stream(kept, nonce, first)?),
            StreamKey::ChaCha8Ietf(kept) => Self::ChaCha8Ietf(stream(kept, nonce, first)?),
            StreamKey::ChaCha12Ietf(kept) => Self::ChaCha12Ietf(stream(kept, nonce, first)?),
            StreamKey::ChaCha20Ietf(kept) => Self::ChaCha20Ietf(stream(kept, nonce, first)?),
            StreamKey::Salsa8(kept) => Self::Salsa8(stream(kept, nonce, first)?),
            StreamKey::Salsa12(kept) => Self::Salsa12(stream(kept, nonce, first)?),
            StreamKey::Salsa20(kept) => Self::Salsa20(stream(kept, nonce, first)?),
            #[cfg(feature = "legacy")]
            StreamKey::Hc128(key, isa) => {
                let nonce = sized(nonce)?;
                if first != 0 {
                    return Err(Error::Unsupported);
                }
                Self::Hc128(Box::new(StreamCipher::<Hc128>::new(*isa, key, nonce)))
            }
        })
    }

    /// Makes `live` the stream of `nonce` from block `first` on, or refuses and changes nothing.
    ///
    /// A stream of the same algorithm is begun again where it lies.
    #[inline]
    pub(super) fn start(
        live: &mut Option<Self>,
        key: &StreamKey,
        nonce: &[u8],
        first: u64,
    ) -> Result<(), Error> {
        match (&mut *live, key) {
            (Some(Self::ChaCha8Djb(live)), StreamKey::ChaCha8Djb(kept)) => {
                restart(live, kept, nonce, first)
            }
            (Some(Self::ChaCha12Djb(live)), StreamKey::ChaCha12Djb(kept)) => {
                restart(live, kept, nonce, first)
            }
            (Some(Self::ChaCha20Djb(live)), StreamKey::ChaCha20Djb(kept)) => {
                restart(live, kept, nonce, first)
            }
            (Some(Self::ChaCha8Ietf(live)), StreamKey::ChaCha8Ietf(kept)) => {
                restart(live, kept, nonce, first)
            }
            (Some(Self::ChaCha12Ietf(live)), StreamKey::ChaCha12Ietf(kept)) => {
                restart(live, kept, nonce, first)
            }
            (Some(Self::ChaCha20Ietf(live)), StreamKey::ChaCha20Ietf(kept)) => {
                restart(live, kept, nonce, first)
            }
            (Some(Self::Salsa8(live)), StreamKey::Salsa8(kept)) => {
                restart(live, kept, nonce, first)
            }
            (Some(Self::Salsa12(live)), StreamKey::Salsa12(kept)) => {
                restart(live, kept, nonce, first)
            }
            (Some(Self::Salsa20(live)), StreamKey::Salsa20(kept)) => {
                restart(live, kept, nonce, first)
            }
            _ => {
                *live = Some(Self::open(key, nonce, first)?);
                Ok(())
            }
        }
    }

    /// XORs the next keystream bytes into `data`.
    pub(super) fn xor(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        match self {
            Self::ChaCha8Djb(stream) => stream.xor(data),
            Self::ChaCha12Djb(stream) => stream.xor(data),
            Self::ChaCha20Djb(stream) => stream.xor(data),
            Self::ChaCha8Ietf(stream) => stream.xor(data),
            Self::ChaCha12Ietf(stream) => stream.xor(data),
            Self::ChaCha20Ietf(stream) => stream.xor(data),
            Self::Salsa8(stream) => stream.xor(data),
            Self::Salsa12(stream) => stream.xor(data),
            Self::Salsa20(stream) => stream.xor(data),
            #[cfg(feature = "legacy")]
            Self::Hc128(stream) => stream.xor(data),
        }
    }
}

#[inline]
fn stream<C: Seek + StreamCore<Nonce = [u8; N]>, const N: usize>(
    kept: &Kept<C>,
    iv: &[u8],
    first: u64,
) -> Result<StreamCipher<C>, Error> {
    let (block, nonce) = block_and_nonce(iv)?;
    StreamCipher::at_block(kept.isa, &kept.key, nonce, later(block, first)?)
}

#[inline]
fn restart<C: Seek + StreamCore<Nonce = [u8; N]>, const N: usize>(
    live: &mut StreamCipher<C>,
    kept: &Kept<C>,
    iv: &[u8],
    first: u64,
) -> Result<(), Error> {
    let (block, nonce) = block_and_nonce(iv)?;
    live.restart(kept.isa, &kept.key, nonce, later(block, first)?)
}

#[inline]
fn later(block: u64, by: u64) -> Result<u64, Error> {
    block.checked_add(by).ok_or(Error::KeystreamExhausted)
}
