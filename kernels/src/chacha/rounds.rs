//! The rounds over one register type, written once for all widths.
//!
//! Macros, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands them brings the instructions `add32`, `add64`, `xor32`
//! and `shuffle32`, and `xor_turned`: it XORs two words, then rotates the result left by its first
//! number of bits; the second number is 32 less the first.

/// The quarter-round, and a double round on rows.
macro_rules! rows {
    ($vector:ty, $(#[$feature:meta])*) => {
        /// A quarter-round in each lane of 32 bits.
        #[inline]
        $(#[$feature])*
        fn quarter([mut a, mut b, mut c, mut d]: [$vector; 4]) -> [$vector; 4] {
            a = add32(a, b);
            d = xor_turned::<16, 16>(d, a);
            c = add32(c, d);
            b = xor_turned::<12, 20>(b, c);
            a = add32(a, b);
            d = xor_turned::<8, 24>(d, a);
            c = add32(c, d);
            b = xor_turned::<7, 25>(b, c);
            [a, b, c, d]
        }

        /// The rows of as many blocks as a register has lanes of 128 bits, block `i` in the `i`-th.
        #[derive(Clone, Copy)]
        pub(crate) struct Rows {
            a: $vector,
            b: $vector,
            c: $vector,
            d: $vector,
        }

        impl Rows {
            /// A round of columns, a round of diagonals. The second row is ready last in each
            /// round, so the other three are rotated against it, and the rotation costs no time.
            #[inline]
            $(#[$feature])*
            pub(crate) fn double_round(self) -> Self {
                let [a, b, c, d] = quarter([self.a, self.b, self.c, self.d]);
                let a = shuffle32::<0x93>(a);
                let d = shuffle32::<0x4e>(d);
                let c = shuffle32::<0x39>(c);
                let [a, b, c, d] = quarter([a, b, c, d]);
                Self {
                    a: shuffle32::<0x39>(a),
                    b,
                    c: shuffle32::<0x93>(c),
                    d: shuffle32::<0x4e>(d),
                }
            }

            /// The rows of the keystream: the result of the rounds, added to `start`.
            #[inline]
            $(#[$feature])*
            pub(crate) fn sum(self, start: Self) -> [$vector; 4] {
                [
                    add32(self.a, start.a),
                    add32(self.b, start.b),
                    add32(self.c, start.c),
                    add32(self.d, start.d),
                ]
            }
        }
    };
}

/// The rounds on words that lie lane by lane, and the counter of rows.
macro_rules! lanes {
    ($vector:ty, $(#[$feature:meta])*) => {
        /// A round of diagonals on the words of all lanes.
        #[inline]
        $(#[$feature])*
        fn diagonals(x: [$vector; 16]) -> [$vector; 16] {
            let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
            let [x0, x5, x10, x15] = quarter([x0, x5, x10, x15]);
            let [x1, x6, x11, x12] = quarter([x1, x6, x11, x12]);
            let [x2, x7, x8, x13] = quarter([x2, x7, x8, x13]);
            let [x3, x4, x9, x14] = quarter([x3, x4, x9, x14]);
            [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
        }

        /// Last rows, later by `blocks`, a number of 64 bits in the low half of each lane.
        #[inline]
        $(#[$feature])*
        fn count(d: $vector, blocks: $vector, wide: bool) -> $vector {
            if wide { add64(d, blocks) } else { add32(d, blocks) }
        }
    };
}

/// A double round on words that lie lane by lane.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx512", target_arch = "aarch64"))]
macro_rules! double_round {
    ($vector:ty, $(#[$feature:meta])*) => {
        /// A round of columns on the words of all lanes.
        #[inline]
        $(#[$feature])*
        fn columns(x: [$vector; 16]) -> [$vector; 16] {
            let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
            let [x0, x4, x8, x12] = quarter([x0, x4, x8, x12]);
            let [x1, x5, x9, x13] = quarter([x1, x5, x9, x13]);
            let [x2, x6, x10, x14] = quarter([x2, x6, x10, x14]);
            let [x3, x7, x11, x15] = quarter([x3, x7, x11, x15]);
            [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
        }

        /// A double round on the words of all lanes.
        #[inline]
        $(#[$feature])*
        pub(crate) fn double_round(x: [$vector; 16]) -> [$vector; 16] {
            diagonals(columns(x))
        }
    };
}

/// Functions on the rows of one block, in registers of 128 bits. The module also brings
/// `row`, `load128`, `store128` and `low_number`, the lowest 64 bits of a row.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx512", target_arch = "aarch64"))]
macro_rules! one_block {
    ($vector:ty, $(#[$feature:meta])*) => {
        /// The first 8 bytes of the block whose last row is `last`.
        #[inline(never)]
        $(#[$feature])*
        pub(crate) fn front(key: &Key, last: &[u8; 16]) -> u64 {
            let start = start_of_one(key, last);
            let mut x = start;
            for _ in 0..opaque_count(9) {
                x = x.double_round();
            }
            // Separately, so that it computes only what `a` depends on.
            let [a, ..] = x.double_round().sum(start);
            low_number(a)
        }

        /// The key that the rounds make: the first and the last row, behind the constant.
        #[inline(never)]
        $(#[$feature])*
        pub(crate) fn hchacha20(key: &Key, nonce: &[u8; 16]) -> Key {
            let mut x = start_of_one(key, nonce);
            for _ in 0..opaque_count(10) {
                x = x.double_round();
            }
            let [k0, k1, k2, k3, ..] = key.words;
            let [[x0, x1, x2, x3], [x12, x13, x14, x15]] = [words_of(x.a), words_of(x.d)];
            Key { words: [k0, k1, k2, k3, x0, x1, x2, x3, x12, x13, x14, x15] }
        }

        /// The rows of the block whose last row is `last`.
        #[inline]
        $(#[$feature])*
        fn start_of_one(key: &Key, last: &[u8; 16]) -> Rows {
            let rows = key.words.as_chunks().0;
            Rows { a: row(&rows[0]), b: row(&rows[1]), c: row(&rows[2]), d: load128(last) }
        }

        /// The words of a row, which are stored together.
        #[inline]
        $(#[$feature])*
        fn words_of(row: $vector) -> [u32; 4] {
            let mut bytes = [0; 16];
            store128(&mut bytes, row);
            let number = u128::from_le_bytes(bytes);
            [0, 32, 64, 96].map(|bit| crate::chacha::portable::word(number >> bit))
        }
    };
}

/// `$count` double rounds on the words of all lanes. Of the first round, columns 1 to 3 have
/// `$started`; column 0 has the `$counters`.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2", target_arch = "aarch64"))]
macro_rules! all_rounds {
    ($words:ident, $started:ident, $counters:ident, $count:expr) => {{
        let first = [splat($words[0]), splat($words[4]), splat($words[8]), $counters];
        let [x0, x4, x8, x12] = quarter(first);
        let [x1, x5, x9, x13] = column($started, 1);
        let [x2, x6, x10, x14] = column($started, 2);
        let [x3, x7, x11, x15] = column($started, 3);
        let x = [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15];
        double_rounds(diagonals(x), $count - 1)
    }};
}

/// The starts of three groups, from `counter` on. The module also brings `Rows::{of, next}`.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2", target_arch = "aarch64"))]
macro_rules! starts {
    ($(#[$feature:meta])*) => {
        #[inline]
        $(#[$feature])*
        fn starts(
            state: &State,
            counter: u64,
            wide: bool,
        ) -> [Rows; 3] {
            let x = Rows::of(state, counter, wide);
            let y = x.next(wide);
            [x, y, y.next(wide)]
        }
    };
}

/// The first eight bytes of a shuffle that rotates words left by `bits`.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2", target_arch = "aarch64"))]
#[inline]
pub(super) fn bytes_turned(bits: i32) -> u64 {
    let turned = |word: u32| u64::from(word.rotate_left(bits.cast_unsigned()));
    turned(0x0706_0504) << 32 | turned(0x0302_0100)
}
