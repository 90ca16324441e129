//! The families of old ciphers.

use lanecrypt_kernels::Level;
use lanecrypt_kernels_legacy::{arc4, des, hc128, salsa, serpent};

use super::{AES, CHACHA, Family, NULL};

/// Constant time as ChaCha is.
pub(super) const SALSA: Family = Family { kernels: salsa::KERNELS, ..CHACHA };

/// Constant time: bitsliced, with Boolean operations and rotations by constants.
pub(super) const SERPENT: Family = Family {
    kernels: serpent::KERNELS,
    lanes: |kernel| match kernel {
        Level::Ssse3 => 8,
        Level::Avx2 => 16,
        Level::Avx512 => 32,
        _ => 1,
    },
    shallow: None,
    ..AES
};

/// The cache lines that it uses depend on the key.
pub(super) const ARC4: Family = Family {
    numbered: false,
    kernels: arc4::KERNELS,
    timing_leak: Some("indexes tables by secrets"),
    broken: true,
    ..NULL
};

pub(super) const HC128: Family =
    Family { block_size: 64, nonce_length: 16, kernels: hc128::KERNELS, broken: false, ..ARC4 };

pub(super) const TRIPLE_DES: Family = Family {
    block_size: 8,
    kernels: des::KERNELS,
    lanes: |kernel| match kernel {
        Level::Avx2 => 256,
        _ => 64,
    },
    timing_leak: Some("indexes tables by secrets (single blocks)"),
    ..SERPENT
};

pub(super) const DES: Family = Family { broken: true, ..TRIPLE_DES };
