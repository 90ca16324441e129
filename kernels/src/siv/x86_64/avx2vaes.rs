//! SIV with CTR in 256-bit registers, from messages of more than four blocks on. Constant time in
//! key and data.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::aes::RoundKeys;
use crate::isa::XOR;
use crate::simd::load128;
use crate::siv::cmac::doubled;
use crate::siv::x86_64::aesni::{block, chain, number, short_ctr};
use crate::siv::{Keys, counter};
use crate::{Level, aes, in_parts};

pub(crate) const NEEDS: Level = Level::Avx2Vaes;

kernels!(#[target_feature(enable = "avx2,vaes")]);

/// CTR from V on.
#[inline]
#[target_feature(enable = "avx2,vaes")]
fn crypt(keys: &RoundKeys, v: __m128i, data: InOutBuf<'_, '_, u8>) {
    match data.len() {
        0 => {}
        1..=16 => short_ctr::<1>(keys, v, data),
        17..=32 => short_ctr::<2>(keys, v, data),
        33..=48 => short_ctr::<3>(keys, v, data),
        49..=64 => short_ctr::<4>(keys, v, data),
        _ => aes::x86_64::avx2vaes::ctr(keys, counter(number(v)), data, XOR),
    }
}
