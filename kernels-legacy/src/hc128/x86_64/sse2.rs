//! Blocks whose table words change in vectors of four. Every x86-64 processor has SSE2.
//!
//! A word needs the one 3 places back, so only three at a time are independent of each other. Word
//! n is always in lane n % 4; each round gives three new words, the other lanes mean nothing:
//!
//! | round | words in lanes 0 to 3 |
//! |---|---|
//! | 0 | 0, 1, 2, – |
//! | 1 | 4, 5, –, 3 |
//! | 2 | 8, –, 6, 7 |
//! | 3 | –, 9, 10, 11 |
//! | 4 | 12, 13, 14, – |
//! | 5 | –, –, –, 15 |
//!
//! That makes 6 rounds of 5 dependent instructions a block. What the keystream draws from the other
//! table stays scalar: there is no faster way to load words at 32 different places.

use core::arch::asm;
use core::arch::x86_64::*;

use inout::InOutBuf;
use lanecrypt_kernels::simd::{load_words, store_words};

use crate::hc128::table::{AROUND, Table, reload};

/// Sixteen steps for each 64 bytes of `data`, from the word `at` on; `data` is whole blocks that
/// end within the table.
#[target_feature(enable = "sse2")]
pub(crate) fn blocks<const SECOND: bool, const OTHER: bool, const XOR: bool>(
    table: &mut Table<SECOND>,
    at: usize,
    other: &Table<OTHER>,
    mut data: InOutBuf<'_, '_, u8>,
) {
    let words = table.around(at);
    let [mut a, mut b, mut c] = [load(words, 0), load(words, 4), load(words, 8)];
    for at in (at..).step_by(16).take(data.len() / 64) {
        let words = table.around(at);
        let (part, rest) = data.split_at(64);
        let first = Sums::of::<SECOND>(words, 12, a, b);
        let second = Sums::of::<SECOND>(words, 16, b, c);
        let round0 = first.mix::<SECOND>(c);
        let round1 = either(second, first).mix::<SECOND>(round0);
        let d = last_lane(round0, round1);
        store(words, 12, d);
        let third = Sums::of::<SECOND>(words, 20, c, d);
        let round2 = either(third, second).mix::<SECOND>(round1);
        a = halves(round1, round2);
        store(words, 16, a);
        let round3 = third.mix::<SECOND>(round2);
        b = first_lane(round2, round3);
        store(words, 20, b);
        let fourth = Sums::of::<SECOND>(words, 24, d, a);
        let round4 = fourth.mix::<SECOND>(round3);
        let round5 = fourth.mix::<SECOND>(round4);
        c = last_lane(round4, round5);
        store(words, 24, c);

        put::<OTHER, XOR>(words, other, part);
        data = rest;
    }
}

/// The parts of four words, except the words 3 places back.
#[derive(Clone, Copy)]
struct Sums {
    /// The words as they are and, rotated, those 10 places back.
    near: __m128i,
    /// The words 511 places back, one on, rotated.
    far: __m128i,
}

impl Sums {
    /// For the words from `at` on; `a` holds those 12 to 9 places back, `b` those 8 to 5 back.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn of<const SECOND: bool>(words: &[u32; AROUND], at: usize, a: __m128i, b: __m128i) -> Self {
        let ten = _mm_castpd_si128(_mm_shuffle_pd::<1>(_mm_castsi128_pd(a), _mm_castsi128_pd(b)));
        let near = _mm_add_epi32(load(words, at), rotate::<SECOND, 8, 24>(ten));
        let far = rotate::<SECOND, 23, 9>(load(words, at + 1));
        Self { near, far }
    }

    /// One round: each lane from the lane of the word 3 places back.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn mix<const SECOND: bool>(self, last: __m128i) -> __m128i {
        let three = _mm_shuffle_epi32::<0b00_11_10_01>(last);
        _mm_add_epi32(self.near, _mm_xor_si128(self.far, rotate::<SECOND, 10, 22>(three)))
    }
}

/// Lanes 0 and 1 of the one, lanes 2 and 3 of the other.
#[inline]
#[target_feature(enable = "sse2")]
fn either(low: Sums, high: Sums) -> Sums {
    Sums { near: halves(low.near, high.near), far: halves(low.far, high.far) }
}

/// Lanes 0 and 1 of the one, lanes 2 and 3 of the other.
#[inline]
#[target_feature(enable = "sse2")]
fn halves(low: __m128i, high: __m128i) -> __m128i {
    let (low, high) = (_mm_castsi128_pd(low), _mm_castsi128_pd(high));
    _mm_castpd_si128(_mm_shuffle_pd::<0b10>(low, high))
}

/// Lane 0 of the one, lanes 1 to 3 of the other.
#[inline]
#[target_feature(enable = "sse2")]
fn first_lane(first: __m128i, others: __m128i) -> __m128i {
    _mm_castps_si128(_mm_move_ss(_mm_castsi128_ps(others), _mm_castsi128_ps(first)))
}

/// Lanes 0 to 2 of the one, lane 3 of the other.
#[inline]
#[target_feature(enable = "sse2")]
fn last_lane(others: __m128i, last: __m128i) -> __m128i {
    let lane = _mm_setr_epi32(0, 0, 0, -1);
    _mm_or_si128(_mm_andnot_si128(lane, others), _mm_and_si128(lane, last))
}

/// Rotates each lane by `R` bits, to the right for the first table and to the left for the second;
/// `L` is 32 - `R`.
#[inline]
#[target_feature(enable = "sse2")]
fn rotate<const SECOND: bool, const R: i32, const L: i32>(v: __m128i) -> __m128i {
    const { assert!(R + L == 32) };
    if SECOND {
        _mm_or_si128(_mm_slli_epi32::<R>(v), _mm_srli_epi32::<L>(v))
    } else {
        _mm_or_si128(_mm_srli_epi32::<R>(v), _mm_slli_epi32::<L>(v))
    }
}

/// The four words from `at` on.
#[inline]
#[target_feature(enable = "sse2")]
fn load(words: &[u32; AROUND], at: usize) -> __m128i {
    load_words(words[at..].first_chunk().expect("within the block's words"))
}

/// Stores the four words from `at` on.
#[inline]
#[target_feature(enable = "sse2")]
fn store(words: &mut [u32; AROUND], at: usize, v: __m128i) {
    store_words(words[at..].first_chunk_mut().expect("within the block's words"), v);
}

/// The keystream of a block whose words have been changed: writes it over `part`, or XORs it in.
///
/// The words are loaded from the table again; taking them out of the vectors costs more.
#[inline(always)]
fn put<const OTHER: bool, const XOR: bool>(
    words: &[u32; AROUND],
    other: &Table<OTHER>,
    mut part: InOutBuf<'_, '_, u8>,
) {
    for k in 0..16 {
        let word = opaque(other.draw(&words[k]) ^ reload(&words[k + 12]));
        let text = if XOR { u32::from_le_bytes(part.get_in().as_chunks().0[k]) } else { 0 };
        part.get_out().as_chunks_mut().0[k] = (word ^ text).to_le_bytes();
    }
}

/// Hides the origin of a word: the compiler would gather words into vectors that it then loads
/// across two stores, which stalls.
#[inline(always)]
fn opaque(mut word: u32) -> u32 {
    // SAFETY: the assembly is empty and leaves the register as it was.
    unsafe { asm!("/* {0:e} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}
