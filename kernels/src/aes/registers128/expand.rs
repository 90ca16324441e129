//! Key schedules (FIPS 197, section 5.2) with AES instructions. Constant time in the key.
//!
//! `AESENCLAST` of a word repeated in all four columns is the S-box on that word, because
//! `ShiftRows` then changes nothing; a byte shuffle repeats and rotates the word. That is several
//! times faster than `AESKEYGENASSIST`. `AESENCLAST` also adds a vector. The words that the next
//! last word takes from older words are added there, and each step of the recurrence takes one
//! shuffle and one `AESENCLAST`.
//!
//! Notation: `P` is the sum of each word with all words before it (`sums`), by which one round key
//! follows from another; `P P` adds to each word the one two places before it (`sums2`).

use crate::Isa;
use crate::aes::RoundKeys;
use crate::simd::*;

/// Round constants, each in all four words.
const RCON: [[u8; 16]; 10] = {
    let bytes = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];
    let mut vectors = [[0; 16]; 10];
    let mut i = 0;
    while i < 160 {
        if i % 4 == 0 {
            vectors[i / 16][i % 16] = bytes[i / 16];
        }
        i += 1;
    }
    vectors
};

with_aes! {
    /// With `k` the round keys and `t` the changed last words: `k[i + 1] = P k[i] + t[i]` in all
    /// words, so `k[i + 1] = P P k[i - 1] + (t[i - 1], 0, t[i - 1], 0) + t[i]`. The middle term
    /// does not touch the last word, which is all that the next step waits for.
    #[inline]
    pub(crate) fn expand128(key: &[u8; 16], keys: &mut RoundKeys) {
        let keys = keys.room_mut();
        let even = of_words([-1, 0, -1, 0]);
        let mut key = load128(key);
        store128(&mut keys[0], key);
        // The first step has no round key before it.
        let mut change = substituted::<ROTATED>(key, load128(&RCON[0]));
        let mut older = sums2(key);
        key = xor128(sums(key), change);
        store128(&mut keys[1], key);
        let mut last = key;
        for (rcon, out) in RCON[1..].iter().zip(&mut keys[2..11]) {
            let next = substituted::<ROTATED>(last, xor128(older, load128(rcon)));
            let middle = and128(change, even);
            change = xor128(next, older);
            older = sums2(key);
            key = xor128(next, middle);
            last = next;
            store128(out, key);
        }
    }

    /// The words come in groups of six, `a` the first four and `b` the other two, and
    /// `b' = (b[0], b[0] + b[1]) + t + (P a)[3]`, all but `t` known before the S-box is done.
    #[inline]
    pub(crate) fn expand192(key: &[u8; 24], keys: &mut RoundKeys) {
        let keys = keys.room_mut();
        let (first, _) = key.split_first_chunk().expect("24 is more than 16");
        let (_, last) = key.split_last_chunk().expect("24 is more than 16");
        let mut a = load128(first);
        let mut b = down_by_half(load128(last));
        store128(&mut keys[0], a);
        for i in 0..4 {
            let (a1, b1) = next192(a, b, &RCON[2 * i]);
            store128(&mut keys[3 * i + 1], low_halves(b, a1));
            store128(&mut keys[3 * i + 2], inner_halves(a1, b1));
            (a, b) = next192(a1, b1, &RCON[2 * i + 1]);
            store128(&mut keys[3 * i + 3], a);
        }
    }

    #[inline]
    fn next192(a: Block, b: Block, rcon: &[u8; 16]) -> (Block, Block) {
        let rotate = of_word(0x0407_0605);
        let t = last_round(first_key(bytes_of(b, rotate), zero128()), load128(rcon));
        let sums_a = sums(a);
        let known = xor128(b, up_by_word(b));
        let known = xor128(known, highest_word(sums_a));
        (xor128(sums_a, t), xor128(known, t))
    }

    /// `k[i + 1] = P k[i - 1] + t[i]`, where `P k[i - 1]` is known before the S-box is done.
    #[inline]
    pub(crate) fn expand256(key: &[u8; 32], keys: &mut RoundKeys) {
        let keys = keys.room_mut();
        let (first, _) = key.split_first_chunk().expect("32 is more than 16");
        let (_, last) = key.split_last_chunk().expect("32 is more than 16");
        let (mut a, mut b) = (load128(first), load128(last));
        store128(&mut keys[0], a);
        store128(&mut keys[1], b);
        for i in 0..7 {
            a = substituted::<ROTATED>(b, xor128(sums(a), load128(&RCON[i])));
            store128(&mut keys[2 * i + 2], a);
            if i < 6 {
                b = substituted::<UNCHANGED>(a, sums(b));
                store128(&mut keys[2 * i + 3], b);
            }
        }
    }
}

/// Both schedules of a key: what `expand` makes of it, and the equivalent inverse cipher's (FIPS
/// 197, section 5.3.5) in the order in which decryption takes it.
macro_rules! both {
    ($bits:literal, $both:ident, $expand:ident) => {
        with_aes! {
            pub(crate) fn $both(
                _isa: Isa,
                key: &[u8; $bits / 8],
                [forward, inverse]: [&mut RoundKeys; 2],
            ) {
                $expand(key, forward);
                let [first, middle @ .., last] = inverse.all_mut() else { return };
                *first = *forward.last();
                for (key, out) in forward.middle().iter().rev().zip(middle) {
                    store128(out, inverse_key(load128(key)));
                }
                *last = *forward.first();
            }
        }
    };
}

both!(128, both128, expand128);
both!(192, both192, expand192);
both!(256, both256, expand256);

/// Picks the bytes of the last word as they are.
const UNCHANGED: i32 = 0x0f0e_0d0c;
/// Picks the bytes of the last word, rotated (`RotWord`).
const ROTATED: i32 = 0x0c0f_0e0d;

with_aes! {
    /// The S-box on the last word, its bytes picked by `PICK`, in all words; plus `add`.
    #[inline]
    fn substituted<const PICK: i32>(key: Block, add: Block) -> Block {
        last_round(first_key(bytes_of(key, of_word(PICK)), zero128()), add)
    }

    /// Each word plus all words before it.
    #[inline]
    fn sums(key: Block) -> Block {
        let pairs = xor128(key, up_by_word(key));
        xor128(pairs, up_by_half(pairs))
    }

    /// Each word plus the one two places before it.
    #[inline]
    fn sums2(key: Block) -> Block {
        xor128(key, up_by_half(key))
    }
}
