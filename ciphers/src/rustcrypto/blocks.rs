//! Block ciphers.

use core::fmt;

use cipher::consts::{U16, U24, U32};
use cipher::{
    AlgorithmName, Array, Block, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt,
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut,
    InOutBuf, Key, KeyInit, KeySizeUser, ParBlocks, ParBlocksSizeUser,
};
use lanecrypt_kernels::aes::Aes;
use lanecrypt_kernels::{BlockCipher, BlockEncrypt, Isa};
use zeroize::ZeroizeOnDrop;

/// The traits of one direction, with their methods.
macro_rules! direction {
    (
        $name:ident, $apply:ident: $cipher:ident, $backend:ident, $closure:ident,
        $with_backend:ident, $blocks_inout:ident, $blocks:ident, $block:ident,
        $par_blocks:ident, $tail_blocks:ident
    ) => {
        impl $cipher for $name {
            #[inline]
            fn $with_backend(&self, f: impl $closure<BlockSize = Self::BlockSize>) {
                f.call(self);
            }

            #[inline]
            fn $blocks_inout(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                self.$tail_blocks(blocks);
            }

            #[inline]
            fn $blocks(&self, blocks: &mut [Block<Self>]) {
                self.0.$apply(Array::cast_slice_to_core_mut(blocks).into());
            }
        }

        impl $backend for $name {
            #[inline]
            fn $block(&self, block: InOut<'_, '_, Block<Self>>) {
                let out = core::slice::from_mut(block.into_out_with_copied_in());
                self.0.$apply(Array::cast_slice_to_core_mut(out).into());
            }

            #[inline]
            fn $par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
                let out = blocks.into_out_with_copied_in();
                self.0.$apply(Array::cast_slice_to_core_mut(out).into());
            }

            #[inline]
            fn $tail_blocks(&self, blocks: InOutBuf<'_, '_, Block<Self>>) {
                let out = blocks.into_out_with_copied_in();
                self.0.$apply(Array::cast_slice_to_core_mut(out).into());
            }
        }
    };
}

/// Makes one type with all traits of block ciphers from a kernel and from how it takes its key.
macro_rules! block_cipher {
    ($(#[$doc:meta])* $name:ident, $kernel:ty, $size:literal $bytes:ident => $parsed:expr,
     key $key:ty, block $block:ty) => {
        $(#[$doc])*
        ///
        /// The expanded key is wiped on drop.
        pub struct $name($kernel);

        impl KeySizeUser for $name {
            type KeySize = $key;
        }

        impl BlockSizeUser for $name {
            type BlockSize = $block;
        }

        impl ParBlocksSizeUser for $name {
            type ParBlocksSize = U32;
        }

        impl KeyInit for $name {
            #[inline]
            fn new(key: &Key<Self>) -> Self {
                let $bytes = <&[u8; $size]>::from(key);
                Self(<$kernel>::new(Isa::detect(), $parsed))
            }
        }

        direction!($name, encrypt: BlockCipherEncrypt, BlockCipherEncBackend, BlockCipherEncClosure,
            encrypt_with_backend, encrypt_blocks_inout, encrypt_blocks, encrypt_block,
            encrypt_par_blocks, encrypt_tail_blocks);
        direction!($name, decrypt: BlockCipherDecrypt, BlockCipherDecBackend, BlockCipherDecClosure,
            decrypt_with_backend, decrypt_blocks_inout, decrypt_blocks, decrypt_block,
            decrypt_par_blocks, decrypt_tail_blocks);

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

        // The kernel wipes its key.
        impl ZeroizeOnDrop for $name {}
    };
}

block_cipher!(
    /// AES with 128-bit keys (FIPS 197).
    Aes128, Aes<128>, 16 key => key, key U16, block U16
);
block_cipher!(
    /// AES with 192-bit keys (FIPS 197).
    Aes192, Aes<192>, 24 key => key, key U24, block U16
);
block_cipher!(
    /// AES with 256-bit keys (FIPS 197).
    Aes256, Aes<256>, 32 key => key, key U32, block U16
);
