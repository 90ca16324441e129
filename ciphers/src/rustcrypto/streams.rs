//! Stream ciphers.

use core::fmt;

use cipher::consts::{U8, U12, U16, U24, U32};
use cipher::{
    AlgorithmName, InOutBuf, Iv, IvSizeUser, Key, KeyIvInit, KeySizeUser, OverflowError, SeekNum,
    StreamCipher, StreamCipherError, StreamCipherSeek,
};
use lanecrypt_kernels::aes::AesCtr;
use lanecrypt_kernels::chacha::{ChaCha, Counter64, Ietf};
use lanecrypt_kernels::{Isa, StreamCore};
use zeroize::ZeroizeOnDrop;

use crate::hazmat;

/// The contract of the unchecked methods: they are asked for no more than is left.
pub(super) const CHECKED: &str = "the caller has made sure that the keystream is long enough";

/// Makes one type with all traits of stream ciphers from a stream core and from how it takes its
/// key.
macro_rules! stream_cipher {
    ($(#[$doc:meta])* $name:ident, $core:ty, $size:literal $bytes:ident => $parsed:expr,
     key $key:ty, iv $iv:ty) => {
        $(#[$doc])*
        ///
        /// The keystream ends with its last block, and no method goes past it: the unchecked ones
        /// panic. Buffered keystream is wiped on drop.
        pub struct $name(hazmat::StreamCipher<$core>);

        impl KeySizeUser for $name {
            type KeySize = $key;
        }

        impl IvSizeUser for $name {
            type IvSize = $iv;
        }

        impl KeyIvInit for $name {
            #[inline]
            fn new(key: &Key<Self>, iv: &Iv<Self>) -> Self {
                let $bytes = <&[u8; $size]>::from(key);
                Self(hazmat::StreamCipher::new(Isa::detect(), $parsed, iv.into()))
            }
        }

        impl StreamCipher for $name {
            #[inline]
            fn check_remaining(&self, data_len: usize) -> Result<(), StreamCipherError> {
                if data_len as u64 <= self.0.remaining() { Ok(()) } else { Err(StreamCipherError) }
            }

            #[inline]
            fn unchecked_apply_keystream_inout(&mut self, buf: InOutBuf<'_, '_, u8>) {
                self.0.xor(buf).expect(CHECKED);
            }

            #[inline]
            fn unchecked_write_keystream(&mut self, buf: &mut [u8]) {
                self.0.keystream(buf).expect(CHECKED);
            }
        }

        impl StreamCipherSeek for $name {
            fn try_current_pos<T: SeekNum>(&self) -> Result<T, OverflowError> {
                position(self.0.position(), <$core as StreamCore>::BLOCK)
            }

            fn try_seek<T: SeekNum>(&mut self, pos: T) -> Result<(), StreamCipherError> {
                let offset = offset(pos, <$core as StreamCore>::BLOCK).ok_or(StreamCipherError)?;
                self.0.seek(offset).map_err(|_| StreamCipherError)
            }
        }

        impl AlgorithmName for $name {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        // The stream wipes itself.
        impl ZeroizeOnDrop for $name {}
    };
}

/// A byte offset in the form of the traits: the number of a block, from 1 on, and how many of its
/// bytes have been used.
pub(super) fn position<T: SeekNum>(offset: u64, block: usize) -> Result<T, OverflowError> {
    let size = u8::try_from(block).map_err(|_| OverflowError)?;
    let number = offset.div_ceil(u64::from(size));
    // A full block has no unused bytes; the second remainder is for that.
    let unused = (u64::from(size) - offset % u64::from(size)) % u64::from(size);
    T::from_block_byte(number, size - u8::try_from(unused).map_err(|_| OverflowError)?, size)
}

/// A position as a byte offset; `None` if the offset needs more than 64 bits.
pub(super) fn offset<T: SeekNum>(position: T, block: usize) -> Option<u64> {
    let size = u8::try_from(block).ok()?;
    let (number, byte) = position.into_block_byte::<u64>(size).ok()?;
    number.checked_mul(u64::from(size))?.checked_add(u64::from(byte))
}

stream_cipher!(
    /// AES-128 in counter mode: all 16 bytes of the initialization vector count, big-endian, as
    /// `ctr::Ctr128BE` does.
    Aes128Ctr, AesCtr<128>, 16 key => key, key U16, iv U16
);
stream_cipher!(
    /// AES-192 in counter mode, as [`Aes128Ctr`].
    Aes192Ctr, AesCtr<192>, 24 key => key, key U24, iv U16
);
stream_cipher!(
    /// AES-256 in counter mode, as [`Aes128Ctr`].
    Aes256Ctr, AesCtr<256>, 32 key => key, key U32, iv U16
);
stream_cipher!(
    /// ChaCha8 in the form of RFC 8439: a 96-bit nonce, 2^38 bytes.
    ChaCha8, ChaCha<8, Ietf>, 32 key => &key.into(), key U32, iv U12
);
stream_cipher!(
    /// ChaCha12 in the form of RFC 8439: a 96-bit nonce, 2^38 bytes.
    ChaCha12, ChaCha<12, Ietf>, 32 key => &key.into(), key U32, iv U12
);
stream_cipher!(
    /// ChaCha20 of RFC 8439: a 96-bit nonce, 2^38 bytes.
    ChaCha20, ChaCha<20, Ietf>, 32 key => &key.into(), key U32, iv U12
);
stream_cipher!(
    /// ChaCha20 as Bernstein defined it: a 64-bit nonce and counter.
    ChaCha20Legacy, ChaCha<20, Counter64>, 32 key => &key.into(), key U32, iv U8
);
