//! The key schedule (FIPS 46-3, Appendix 1): plain Rust, constant time.
//!
//! Every bit of a round key is one bit of the key. The bits of the key are taken one by one. A mask
//! puts each into all words of the schedule at once, so that nothing depends on its value.

use super::spec;

/// Words of a schedule, all spread: the first two round keys; each of the others plus the one two
/// rounds before; the last two.
///
/// Kernels keep each half with the key of its next round already added. When the round function of
/// the other half is added, that key must go and the key two rounds later must come: the sum of
/// both. Backwards, the words are the schedule of decryption.
pub(super) const KEYS: usize = 18;

/// The schedule of one DES.
#[inline(never)]
pub(super) fn expand(key: &[u8; 8]) -> [u64; KEYS] {
    expand_inline(key)
}

#[inline(always)]
pub(super) fn expand_inline(key: &[u8; 8]) -> [u64; KEYS] {
    let mut words = [0; KEYS];
    for (byte, bits) in key.iter().zip(&PLACES) {
        for (i, places) in bits.iter().enumerate() {
            let mask =
                lanecrypt_kernels::opaque::word(u64::from(byte >> (7 - i) & 1).wrapping_neg());
            for (word, place) in words.iter_mut().zip(places) {
                *word ^= mask & place;
            }
        }
    }
    words
}

/// The place of each bit of the key in each word, if it has one; the last bit of each byte is
/// parity and is not used.
static PLACES: [[[u64; KEYS]; 7]; 8] = {
    let mut places = [[[0; KEYS]; 7]; 8];
    let mut i = 0;
    while i < 768 {
        let (round, sbox, input) = (i / 48, i / 6 % 8, i % 6);
        let bit = spec::key_bits(round, sbox)[input];
        let place = 1 << (8 * spec::place(sbox) + 5 - input);
        places[bit / 8][bit % 8][round] ^= place;
        places[bit / 8][bit % 8][round + 2] ^= place;
        i += 1;
    }
    places
};
