//! The state of a stream cipher within one message.

use inout::InOutBuf;
use lanecrypt_kernels::{Seek, StreamCore};

use super::StreamCipher;
use super::legacy::raw_ciphers;
use super::stream_key::{ParsedKey, StreamKey, block_and_nonce};
use super::table::kernels;
use crate::Error;

/// Makes the type and its methods.
macro_rules! running_stream {
    ({} blocks $blocks:tt streams {
        $([$($algorithm:ident)+] $stream:ident: $core:ty;)+
    } unseekable $unseekable:tt hc128 { $($hc128:ident)? }) => {
        /// One stream of an algorithm that has a [`StreamKey`].
        pub(super) enum RunningStream {
            $($stream(StreamCipher<$core>),)+
            $($hc128(super::legacy::Boxed<lanecrypt_kernels_legacy::hc128::Hc128>),)?
        }

        impl RunningStream {
            /// The stream of `nonce`, from block `first` on.
            fn open(key: &StreamKey, nonce: &[u8], first: u64) -> Result<Self, Error> {
                Ok(match key {
                    $(StreamKey::$stream(key) => Self::$stream(stream(key, nonce, first)?),)+
                    $(StreamKey::$hc128(key) => Self::$hc128(key.stream(nonce, first)?),)?
                })
            }

            /// Makes `running` the stream of `nonce` from block `first` on, or refuses and changes
            /// nothing.
            ///
            /// A stream of the same algorithm is restarted in its place.
            #[inline]
            pub(super) fn start(
                running: &mut Option<Self>,
                key: &StreamKey,
                nonce: &[u8],
                first: u64,
            ) -> Result<(), Error> {
                match (&mut *running, key) {
                    $((Some(Self::$stream(running)), StreamKey::$stream(key)) => {
                        restart(running, key, nonce, first)
                    })+
                    _ => {
                        *running = Some(Self::open(key, nonce, first)?);
                        Ok(())
                    }
                }
            }

            /// XORs the next keystream bytes into `data`.
            pub(super) fn xor(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
                match self {
                    $(Self::$stream(stream) => stream.xor(data),)+
                    $(Self::$hc128(stream) => stream.xor(data),)?
                }
            }
        }
    };
}

raw_ciphers!(running_stream! {});

#[inline]
fn stream<C: Seek + StreamCore<Nonce = [u8; N]>, const N: usize>(
    key: &ParsedKey<C>,
    iv: &[u8],
    first: u64,
) -> Result<StreamCipher<C>, Error> {
    let (block, nonce) = block_and_nonce(iv)?;
    StreamCipher::at_block(key.isa, &key.key, nonce, later(block, first)?)
}

#[inline]
fn restart<C: Seek + StreamCore<Nonce = [u8; N]>, const N: usize>(
    running: &mut StreamCipher<C>,
    key: &ParsedKey<C>,
    iv: &[u8],
    first: u64,
) -> Result<(), Error> {
    let (block, nonce) = block_and_nonce(iv)?;
    running.restart(key.isa, &key.key, nonce, later(block, first)?)
}

#[inline]
fn later(block: u64, by: u64) -> Result<u64, Error> {
    block.checked_add(by).ok_or(Error::KeystreamExhausted)
}
