//! The compression function of SHA-256 (FIPS 180-4, 6.2.2) on one block.

/// The state before the first block.
pub(super) const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The constants of the rounds.
pub(super) const ROUNDS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// A word of 32 bits of one message, or of eight side by side.
///
/// A register implements it for functions that have its instructions, and only these name its type.
/// All methods are inlined there.
pub(super) trait Word: Copy {
    /// The same word for each message.
    fn splat(word: u32) -> Self;
    /// Sums modulo 2^32.
    fn add(self, other: Self) -> Self;
    /// Bits that both have.
    fn and(self, other: Self) -> Self;
    /// Bits that one of them has.
    fn xor(self, other: Self) -> Self;
    /// Words moved down by `BITS`.
    fn shr<const BITS: u32>(self) -> Self;
    /// Words turned right by `BITS`, which is from 1 to 31.
    fn rotate_right<const BITS: u32>(self) -> Self;
}

impl Word for u32 {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        word
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }
    #[inline(always)]
    fn shr<const BITS: u32>(self) -> Self {
        self >> BITS
    }
    #[inline(always)]
    fn rotate_right<const BITS: u32>(self) -> Self {
        self.rotate_right(BITS)
    }
}

/// Absorbs a block of one message.
#[inline(always)]
pub(super) fn compress_one(state: &mut [u32; 8], block: &[u8; 64]) {
    compress(state, words(block));
}

/// The words of a block.
#[inline(always)]
pub(super) fn words(block: &[u8; 64]) -> [u32; 16] {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    words
}

/// Absorbs the words of blocks.
#[inline(always)]
pub(super) fn compress<W: Word>(state: &mut [W; 8], mut w: [W; 16]) {
    let mut s = *state;
    let (rounds, _) = ROUNDS.as_chunks::<16>();
    for constants in &rounds[..3] {
        sixteen!(T => {
            s = round(s, w[T], constants[T]);
            w[T] = next(w[T], w[(T + 1) & 15], w[(T + 9) & 15], w[(T + 14) & 15]);
        });
    }
    sixteen!(T => s = round(s, w[T], rounds[3][T]));
    for (word, new) in state.iter_mut().zip(s) {
        *word = word.add(new);
    }
}

#[inline(always)]
fn round<W: Word>([a, b, c, d, e, f, g, h]: [W; 8], word: W, constant: u32) -> [W; 8] {
    let sum = e.rotate_right::<6>().xor(e.rotate_right::<11>()).xor(e.rotate_right::<25>());
    let chosen = g.xor(e.and(f.xor(g)));
    let one = h.add(word.add(W::splat(constant))).add(chosen).add(sum);
    let sum = a.rotate_right::<2>().xor(a.rotate_right::<13>()).xor(a.rotate_right::<22>());
    let majority = a.xor(b).and(c).xor(a.and(b));
    [one.add(majority.add(sum)), a, b, c, d.add(one), e, f, g]
}

/// Word `t + 16` of the schedule from the words `t`, `t + 1`, `t + 9` and `t + 14`.
#[inline(always)]
fn next<W: Word>(w0: W, w1: W, w9: W, w14: W) -> W {
    let s0 = w1.rotate_right::<7>().xor(w1.rotate_right::<18>()).xor(w1.shr::<3>());
    let s1 = w14.rotate_right::<17>().xor(w14.rotate_right::<19>()).xor(w14.shr::<10>());
    w0.add(s0).add(w9).add(s1)
}
