//! 256 messages, bitsliced with AVX2. Constant time in keys and data.

use core::arch::x86_64::*;

use lanecrypt_kernels::Level;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::simd::{load256, store256};

use crate::des::lanes::sliced::{self, Wide};
use crate::des::lanes::{Times, portable};
use crate::des::sliced::Word;
use crate::des::x86_64::avx2::Lanes;

pub(crate) const NEEDS: Level = Level::Avx2;

/// The fewest messages for which lanes are faster than tables for two at a time.
const FEWEST: usize = 40;

/// Encrypts the messages of all lanes.
#[target_feature(enable = "avx2")]
pub(crate) fn cbc_encrypt_lanes<C: Times<N>, const N: usize>(lanes: &mut [Lane<'_, C, 8>]) {
    // Registers of 64 bits finish so few messages in less than half the time.
    if lanes.len() <= 64 {
        return portable::cbc_encrypt_lanes(lanes);
    }
    sliced::cbc_encrypt_lanes::<Lanes, C, N, 256, FEWEST>(lanes);
}

impl Default for Lanes {
    #[inline(always)]
    fn default() -> Self {
        Self::fill(0)
    }
}

impl Wide<256> for Lanes {
    #[inline(always)]
    fn encrypt(keys: &[[Self; 64]], chain: &mut [[u8; 8]; 256], blocks: &mut [[u8; 8]; 256]) {
        // SAFETY: there are keys of this type only where there is AVX2.
        unsafe { encrypt(keys, chain, blocks) }
    }

    #[inline(always)]
    fn planes(words: &[[u8; 8]; 256], planes: &mut [Self; 64]) {
        // SAFETY: there are planes of this type only where there is AVX2.
        unsafe { self::planes(words, planes) }
    }
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn encrypt(keys: &[[Lanes; 64]], chain: &mut [[u8; 8]; 256], blocks: &mut [[u8; 8]; 256]) {
    let (blocks, _) = blocks.as_flattened_mut().as_chunks_mut();
    let (chain, _) = chain.as_flattened_mut().as_chunks_mut();
    let mut words = [Lanes(_mm256_setzero_si256()); 64];
    for (word, (block, chain)) in words.iter_mut().zip(blocks.iter().zip(&*chain)) {
        word.0 = _mm256_xor_si256(load256(block), load256(chain));
    }
    sliced::encrypt(keys, &mut words);
    for (word, (block, chain)) in words.iter().zip(blocks.iter_mut().zip(chain)) {
        store256(block, word.0);
        store256(chain, word.0);
    }
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn planes(words: &[[u8; 8]; 256], planes: &mut [Lanes; 64]) {
    let (words, _) = words.as_flattened().as_chunks();
    for (plane, word) in planes.iter_mut().zip(words) {
        plane.0 = load256(word);
    }
    Lanes::transpose(planes);
}
