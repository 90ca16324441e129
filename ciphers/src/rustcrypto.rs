//! The traits of RustCrypto's crate [`cipher`] 0.5, so that programs written for them run on these
//! kernels: `cbc::Encryptor<Aes128>` with the crate `cbc`, for instance.
//!
//! As constant time as the kernels are. Like [`hazmat`](crate::hazmat), nothing here authenticates
//! or keeps a nonce from being used twice.
//!
//! Through these traits parallel modes reach the kernels' full width, 32 blocks a call. Serial
//! ones, such as CBC encryption, call for each block, which
//! [`hazmat::Cipher`](crate::hazmat::Cipher) does not. For CTR take the types here, such as
//! [`Aes128Ctr`], rather than the crate `ctr` over a block cipher.
//!
//! The kernels are those of [`Isa::detect`](crate::Isa::detect).
//!
//! ```
//! use cipher::{BlockModeEncrypt, KeyIvInit};
//! use lanecrypt_ciphers::rustcrypto::Aes128;
//!
//! let mut encryptor = cbc::Encryptor::<Aes128>::new(&[1; 16].into(), &[2; 16].into());
//! let mut block = [3; 16].into();
//! encryptor.encrypt_block(&mut block);
//! ```

mod blocks;
mod streams;

pub use blocks::{Aes128, Aes192, Aes256, Serpent128, Serpent192, Serpent256};
#[cfg(feature = "legacy")]
pub use blocks::{Des, TdesEde2, TdesEde3};
pub use streams::{
    Aes128Ctr, Aes192Ctr, Aes256Ctr, ChaCha8, ChaCha12, ChaCha20, ChaCha20Legacy, Salsa8, Salsa12,
    Salsa20,
};
