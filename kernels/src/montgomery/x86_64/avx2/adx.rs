//! Limbs of 64 bits, one number at a time, with MULX, ADCX and ADOX.

use core::arch::x86_64::*;

use super::Adx;
use super::fused::{self, Number};
use super::passes::{double_and_add_squares, subtract_if};
use crate::montgomery::context::Context;
use crate::montgomery::exponentiation::{self, Arithmetic};
use crate::montgomery::passes::{ByPasses, Passes};
use crate::opaque;
use crate::simd::{load256_words, store256_words};

impl Passes for Adx {
    fn double_and_add_squares(sum: &mut [u64], x: &[u64]) {
        double_and_add_squares(sum, x);
    }

    fn subtract_if(bit: u64, number: &[u64], other: &[u64], out: &mut [u64]) {
        subtract_if(bit, number, other, out);
    }

    fn look_up(table: &[u64], index: u64, out: &mut [u64]) {
        // SAFETY: the processor has AVX2, see `Adx`.
        unsafe { look_up(table, index, out) }
    }
}

/// One entry of the table, by reading all.
#[target_feature(enable = "avx2")]
fn look_up(table: &[u64], index: u64, out: &mut [u64]) {
    let mut at = 0;
    look_up_vectors::<4>(table, index, out, &mut at);
    look_up_vectors::<2>(table, index, out, &mut at);
    look_up_vectors::<1>(table, index, out, &mut at);
    if at < out.len() {
        exponentiation::look_up(&table[at..], out.len(), index, &mut out[at..]);
    }
}

/// The limbs of an entry from the one at `at` on, as long as there are V vectors of them. Masks are
/// never in memory.
#[target_feature(enable = "avx2")]
fn look_up_vectors<const V: usize>(table: &[u64], index: u64, out: &mut [u64], at: &mut usize) {
    let wanted = _mm256_set1_epi64x(opaque::word(index).cast_signed());
    while out.len() - *at >= 4 * V {
        let (mut place, mut chosen) = (_mm256_setzero_si256(), [_mm256_setzero_si256(); V]);
        for entry in table[*at..].chunks(out.len()) {
            let Some(vectors) = entry.as_chunks().0.first_chunk::<V>() else { break };
            let mask = _mm256_cmpeq_epi64(place, wanted);
            for (chosen, limbs) in chosen.iter_mut().zip(vectors) {
                *chosen = _mm256_or_si256(*chosen, _mm256_and_si256(load256_words(limbs), mask));
            }
            place = _mm256_add_epi64(place, _mm256_set1_epi64x(1));
        }
        for (chosen, limbs) in chosen.into_iter().zip(out[*at..].as_chunks_mut().0) {
            store256_words(limbs, chosen);
        }
        *at += 4 * V;
    }
}

/// Numbers of eight limbs; the same processors.
pub(super) struct Eight;

impl Arithmetic for Eight {
    // A kernel of a thousand bytes; there are many calls.
    #[inline(never)]
    fn multiply(modulus: &Context, number: &mut [u64], factor: &[u64], _: &mut [u64]) {
        let number = eight_mut(number);
        *number = fused::multiply(modulus, number, factor.try_into().expect("eight limbs"));
    }

    #[inline(never)]
    fn square(modulus: &Context, number: &mut [u64], room: &mut [u64]) {
        let number = eight_mut(number);
        *number = fused::square(modulus, number, room.try_into().expect("sixteen limbs"));
    }

    fn reduce(modulus: &Context, product: &mut [u64], out: &mut [u64]) {
        ByPasses::<Adx>::reduce(modulus, product, out);
    }

    fn look_up(table: &[u64], index: u64, out: &mut [u64]) {
        // SAFETY: the processor has AVX2, see `Eight`.
        unsafe { look_up(table, index, out) }
    }
}

fn eight_mut(number: &mut [u64]) -> &mut Number {
    number.try_into().expect("eight limbs")
}
