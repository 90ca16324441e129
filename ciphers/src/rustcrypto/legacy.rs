//! Block ciphers and streams that are old.

use core::fmt;

use cipher::consts::{U8, U16, U24, U32};
use cipher::{
    AlgorithmName, Array, Block, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt,
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut,
    InOutBuf, Iv, IvSizeUser, Key, KeyInit, KeyIvInit, KeySizeUser, OverflowError, ParBlocks,
    ParBlocksSizeUser, SeekNum, StreamCipher, StreamCipherError, StreamCipherSeek,
};
use lanecrypt_kernels::{BlockCipher, BlockEncrypt, Isa, StreamCore};
use lanecrypt_kernels_legacy::des::{self, TripleDes};
use lanecrypt_kernels_legacy::salsa::Salsa;
use lanecrypt_kernels_legacy::serpent::Serpent;
use zeroize::ZeroizeOnDrop;

use super::streams::{CHECKED, offset, position};
use crate::hazmat;

block_cipher!(
    /// Serpent with 128-bit keys, in the byte order of NESSIE.
    Serpent128, Serpent, 16 key => &key.into(), key U16, block U16
);
block_cipher!(
    /// Serpent with 192-bit keys, in the byte order of NESSIE.
    Serpent192, Serpent, 24 key => &key.into(), key U24, block U16
);
block_cipher!(
    /// Serpent with 256-bit keys, in the byte order of NESSIE.
    Serpent256, Serpent, 32 key => &key.into(), key U32, block U16
);
block_cipher!(
    /// DES. **Broken**: see [`Primitive::Des`](crate::Primitive::Des).
    Des, des::Des, 8 key => key, key U8, block U8
);
block_cipher!(
    /// Triple DES with two keys: see [`Primitive::TripleDes`](crate::Primitive::TripleDes).
    TdesEde2, TripleDes, 16 key => &key.into(), key U16, block U8
);
block_cipher!(
    /// Triple DES with three keys: see [`Primitive::TripleDes`](crate::Primitive::TripleDes).
    TdesEde3, TripleDes, 24 key => &key.into(), key U24, block U8
);
stream_cipher!(
    /// Salsa20/8: a 64-bit nonce and counter.
    Salsa8, Salsa<8>, 32 key => &key.into(), key U32, iv U8
);
stream_cipher!(
    /// Salsa20/12: a 64-bit nonce and counter.
    Salsa12, Salsa<12>, 32 key => &key.into(), key U32, iv U8
);
stream_cipher!(
    /// Salsa20/20: a 64-bit nonce and counter.
    Salsa20, Salsa<20>, 32 key => &key.into(), key U32, iv U8
);
