//! What the kernels with registers of 128 bits and of more share: each block of a register belongs
//! to another message.
//!
//! A macro, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands it brings `xor`, `and` and `aesenc` of its registers.
//! Blocks of data come in pairs, of which AEGIS-256 leaves out the second.

/// When data are added to a round of AES.
///
/// Known data go in as its key, so that the next step waits only for the instruction. Data that
/// the state itself decrypts come after it, because they take as long.
pub(in crate::aegis) const EARLY: bool = true;
pub(in crate::aegis) const LATE: bool = false;

macro_rules! steps {
    ($vector:ty, $zero:ident, $(#[$feature:meta])*) => {
        type Vectors = [$vector; 8];

        /// `Init`.
        #[inline]
        $(#[$feature])*
        fn begun<const KEY: usize>(
            key: [$vector; 2],
            nonce: [$vector; 2],
            [zero, one]: [$vector; 2],
        ) -> Vectors {
            let both = [xor(key[0], nonce[0]), xor(key[1], nonce[1])];
            let keys = [xor(key[0], zero), xor(key[1], one)];
            if KEY == 16 {
                let mut s = [both[0], one, zero, one, both[0], keys[0], keys[1], keys[0]];
                for _ in 0..10 {
                    s = step::<KEY, EARLY>(s, [nonce[0], key[0]]);
                }
                s
            } else {
                let none = $zero();
                let mut s = [both[0], both[1], one, zero, keys[0], keys[1], none, none];
                for _ in 0..4 {
                    for block in [key[0], key[1], both[0], both[1]] {
                        s = step::<KEY, EARLY>(s, [block, none]);
                    }
                }
                s
            }
        }

        /// `Update`.
        #[inline]
        $(#[$feature])*
        fn step<const KEY: usize, const WHEN: bool>(s: Vectors, data: [$vector; 2]) -> Vectors {
            let [a, b, c, d, e, f, g, h] = s;
            if KEY == 16 {
                [
                    added::<WHEN>(h, a, data[0]),
                    aesenc(a, b),
                    aesenc(b, c),
                    aesenc(c, d),
                    added::<WHEN>(d, e, data[1]),
                    aesenc(e, f),
                    aesenc(f, g),
                    aesenc(g, h),
                ]
            } else {
                [
                    added::<WHEN>(f, a, data[0]),
                    aesenc(a, b),
                    aesenc(b, c),
                    aesenc(c, d),
                    aesenc(d, e),
                    aesenc(e, f),
                    g,
                    h,
                ]
            }
        }

        /// A round of AES, with data besides the key.
        #[inline]
        $(#[$feature])*
        fn added<const WHEN: bool>(block: $vector, key: $vector, data: $vector) -> $vector {
            let (first, second) = if WHEN == EARLY { (data, key) } else { (key, data) };
            xor(aesenc(block, first), second)
        }

        #[inline]
        $(#[$feature])*
        fn keystream<const KEY: usize>([_, b, c, d, e, f, g, h]: Vectors) -> [$vector; 2] {
            if KEY == 16 {
                [xor(xor(g, b), and(c, d)), xor(xor(c, f), and(g, h))]
            } else {
                [xor(xor(xor(b, e), f), and(c, d)), $zero()]
            }
        }

        /// `Finalize`.
        #[inline]
        $(#[$feature])*
        fn ended<const KEY: usize>(s: Vectors, lengths: $vector) -> $vector {
            let mut s = s;
            let last = xor(lengths, s[if KEY == 16 { 2 } else { 3 }]);
            for _ in 0..7 {
                s = step::<KEY, EARLY>(s, [last, last]);
            }
            let [a, b, c, d, e, f, g, _] = s;
            let sum = xor(xor(xor(a, b), xor(c, d)), xor(e, f));
            if KEY == 16 { xor(sum, g) } else { sum }
        }
    };
}
