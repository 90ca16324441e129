//! 64 messages, bitsliced in plain Rust. Constant time in keys and data.

use lanecrypt_kernels::lanes::Lane;

use super::super::sliced::Word;
use super::Times;
use super::sliced::{self, Wide};

/// The fewest messages for which lanes are faster than tables for two at a time.
const FEWEST: usize = 28;

/// Encrypts the messages of all lanes.
pub(super) fn cbc_encrypt_lanes<C: Times<N>, const N: usize>(lanes: &mut [Lane<'_, C, 8>]) {
    sliced::cbc_encrypt_lanes::<u64, C, N, 64, FEWEST>(lanes);
}

impl Wide<64> for u64 {
    #[inline(never)]
    fn encrypt(keys: &[[Self; 64]], chain: &mut [[u8; 8]; 64], blocks: &mut [[u8; 8]; 64]) {
        let mut words = blocks.map(Self::from_le_bytes);
        for (word, chain) in words.iter_mut().zip(&*chain) {
            *word ^= Self::from_le_bytes(*chain);
        }
        sliced::encrypt(keys, &mut words);
        *blocks = words.map(Self::to_le_bytes);
        *chain = *blocks;
    }

    #[inline(never)]
    fn planes(words: &[[u8; 8]; 64], planes: &mut [Self; 64]) {
        *planes = words.map(Self::from_le_bytes);
        Self::transpose(planes);
    }
}
