//! One keyed stream of any stream algorithm of the table.

use core::fmt;

use lanecrypt_kernels::null::Null;
use lanecrypt_kernels::{Isa, Seek};
use zeroize::ZeroizeOnDrop;

use super::StreamCipher;
use super::legacy::raw_ciphers;
use super::table::kernels;
use crate::key_bytes::FromBytes;
use crate::{Algorithm, Buffers, Error, KeyError, Mode, Primitive};

/// One keyed stream of an algorithm that is chosen at run time.
///
/// Lengths are checked once, when the stream is made. A request costs its bytes and one branch. If
/// the algorithm is known at compile time, [`StreamCipher`] saves the branch.
pub struct Stream(AnyCore);

/// Makes the type and its methods.
macro_rules! any_core {
    ({} blocks {
        $([$($block:ident)+] $cbc:ident $ctr:ident $ecb:ident:
          $cipher:ty, $forward:ty, $counter:ty;)+
    } streams {
        $([$primitive:ident $mode:ident] $stream:ident: $core:ty;)+
    } unseekable {
        $([$old:ident] $unseekable:ident: $walk:ty;)*
    } hc128 $hc128:tt) => {
        enum AnyCore {
            $($ctr(StreamCipher<$counter>),)+
            $($stream(StreamCipher<$core>),)+
            Null(StreamCipher<Null>),
            $($unseekable(super::legacy::Boxed<$walk>),)*
        }

        impl AnyCore {
            /// The stream of an algorithm from block `first` on. Key and nonce have the right
            /// lengths.
            fn open(
                isa: Isa,
                algorithm: Algorithm,
                key: &[u8],
                nonce: &[u8],
                first: u64,
            ) -> Result<Self, Error> {
                Ok(match (algorithm.primitive(), algorithm.mode()) {
                    $(($(Primitive::$block)|+, Mode::Ctr) => {
                        Self::$ctr(open(isa, key, nonce, first)?)
                    })+
                    $((Primitive::$primitive, Mode::$mode) => {
                        Self::$stream(open(isa, key, nonce, first)?)
                    })+
                    (Primitive::Null, _) => {
                        Self::Null(StreamCipher::at_block(isa, &(), &(), first)?)
                    }
                    $((Primitive::$old, _) => {
                        Self::$unseekable(super::legacy::Unseekable::open(isa, key, nonce)?)
                    })*
                    _ => return Err(Error::Unsupported),
                })
            }
        }
    };
}

raw_ciphers!(any_core! {});

/// Evaluates an expression for the core of the stream, or another one if that core cannot seek.
macro_rules! for_core {
    ($core:expr, $stream:ident => $result:expr) => {
        for_core!($core, $stream => $result, else $result)
    };
    ($core:expr, $stream:ident => $result:expr, else $unseekable:expr) => {
        raw_ciphers!(for_core_of! { $core, $stream => $result, else $unseekable })
    };
}

/// Same as [`for_core`], with the rows of the table.
macro_rules! for_core_of {
    ({ $value:expr, $found:ident => $result:expr, else $unseekable:expr } blocks {
        $([$($block:ident)+] $cbc:ident $ctr:ident $ecb:ident:
          $cipher:ty, $forward:ty, $counter:ty;)+
    } streams {
        $([$($algorithm:ident)+] $stream:ident: $core:ty;)+
    } unseekable {
        $([$primitive:ident] $old:ident: $walk:ty;)*
    } hc128 $hc128:tt) => {
        match $value {
            $(AnyCore::$ctr($found) => $result,)+
            $(AnyCore::$stream($found) => $result,)+
            AnyCore::Null($found) => $result,
            $(AnyCore::$old($found) => $unseekable,)*
        }
    };
}

impl Stream {
    /// A stream that begins at block 0.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`]; [`Error::NonceLength`]; [`Error::Unsupported`] if `algorithm` is not a
    /// stream.
    pub fn new(isa: Isa, algorithm: Algorithm, key: &[u8], nonce: &[u8]) -> Result<Self, KeyError> {
        Self::at_block(isa, algorithm, key, nonce, 0)
    }

    /// A stream that begins at block `first`: RFC 8439, for example, begins at block 1. Byte
    /// offsets count from there.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new); [`Error::KeystreamExhausted`] if there is no such block;
    /// [`Error::Unsupported`] if `first` is not 0 and the algorithm does not number its blocks.
    pub fn at_block(
        isa: Isa,
        algorithm: Algorithm,
        key: &[u8],
        nonce: &[u8],
        first: u64,
    ) -> Result<Self, KeyError> {
        if !algorithm.is_stream() {
            return Err(KeyError::new(algorithm, Error::Unsupported));
        }
        if !algorithm.key_lengths().contains(key.len()) {
            return Err(KeyError::of_key(algorithm, key, Error::KeyLength));
        }
        if nonce.len() != algorithm.nonce_length() {
            return Err(KeyError::of_nonce(algorithm, nonce));
        }
        if first != 0 && !algorithm.is_seekable() {
            return Err(KeyError::new(algorithm, Error::Unsupported));
        }
        let core = AnyCore::open(isa, algorithm, key, nonce, first);
        core.map(Self).map_err(|reason| KeyError::of_key(algorithm, key, reason))
    }

    /// The number of bytes to the end of the keystream, saturating at `u64::MAX`.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        for_core!(&self.0, stream => stream.remaining())
    }

    /// Goes to a byte offset, counted from the beginning of the stream.
    ///
    /// An algorithm that [is seekable](Algorithm::is_seekable) does this at once. Other algorithms
    /// only go forward, at the cost of the keystream in between, and at most [64
    /// MiB](StreamCipher::MAX_ADVANCE) at a time.
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if the offset is past the end; [`Error::OutOfReach`] if the
    /// algorithm cannot go there. After an error nothing has changed.
    pub fn seek(&mut self, offset: u64) -> Result<(), Error> {
        for_core!(&mut self.0, stream => stream.seek(offset), else stream.advance_to(offset))
    }

    /// Writes the next keystream bytes over `out`, which is never read.
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if `out` is longer than [`remaining`](Self::remaining). After
    /// an error nothing has changed.
    pub fn keystream(&mut self, out: &mut [u8]) -> Result<(), Error> {
        for_core!(&mut self.0, stream => stream.keystream(out))
    }

    /// XORs the next keystream bytes into `data`: a slice in place, or an
    /// [`InOutBuf`](crate::InOutBuf) from one buffer to another. The same call encrypts and
    /// decrypts.
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if `data` is longer than [`remaining`](Self::remaining). After
    /// an error nothing has changed.
    pub fn xor<'i, 'o>(&mut self, data: impl Buffers<'i, 'o>) -> Result<(), Error> {
        let data = data.in_out();
        for_core!(&mut self.0, stream => stream.xor(data))
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl ZeroizeOnDrop for Stream {}

fn open<C: Seek<Key: FromBytes, Nonce = [u8; N]>, const N: usize>(
    isa: Isa,
    key: &[u8],
    nonce: &[u8],
    first: u64,
) -> Result<StreamCipher<C>, Error> {
    let nonce = nonce.try_into().map_err(|_| Error::NonceLength)?;
    C::Key::from_bytes(key, |key| StreamCipher::at_block(isa, key, nonce, first))?
}
