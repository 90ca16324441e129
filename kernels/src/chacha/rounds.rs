//! The rounds over one register type, and the passes of the narrower levels, written once for all
//! widths.
//!
//! Macros, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands them brings the instructions `add32`, `add64`, `xor32`
//! and `shuffle32`, and `xor_turned`: two words XORed, then rotated left by the number of bits that
//! comes first; the second is 32 less that.

/// The quarter-round, and a double round on rows.
macro_rules! rows {
    ($vector:ty, $(#[$feature:meta])*) => {
        /// A quarter-round in each lane of 32 bits.
        #[inline]
        $(#[$feature])*
        pub(crate) fn quarter([mut a, mut b, mut c, mut d]: [$vector; 4]) -> [$vector; 4] {
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
            /// round, so the other three are turned against it and the turning costs no time.
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

            /// The rows of the keystream: what the rounds made of `start`, added to it.
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
        /// A round of columns on the words of all lanes.
        #[inline]
        $(#[$feature])*
        pub(crate) fn columns(x: [$vector; 16]) -> [$vector; 16] {
            let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
            let [x0, x4, x8, x12] = quarter([x0, x4, x8, x12]);
            let [x1, x5, x9, x13] = quarter([x1, x5, x9, x13]);
            let [x2, x6, x10, x14] = quarter([x2, x6, x10, x14]);
            let [x3, x7, x11, x15] = quarter([x3, x7, x11, x15]);
            [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
        }

        /// A round of diagonals on the words of all lanes.
        #[inline]
        $(#[$feature])*
        pub(crate) fn diagonals(x: [$vector; 16]) -> [$vector; 16] {
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

/// What needs the rows of one block only, in registers of 128 bits. The module also brings `row`.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx512"))]
macro_rules! one_block {
    ($(#[$feature:meta])*) => {
        /// The first 8 bytes of the block whose last row is `last`.
        #[inline(never)]
        $(#[$feature])*
        pub(in crate::chacha) fn front(key: &Key, last: &[u8; 16]) -> u64 {
            let start = start_of_one(key, last);
            let mut x = start;
            for _ in 0..opaque_count(9) {
                x = x.double_round();
            }
            // By itself, so that nothing is computed in it that only other words depend on.
            let [a, ..] = x.double_round().sum(start);
            _mm_cvtsi128_si64(a).cast_unsigned()
        }

        /// The key that the rounds make: the first and the last row, behind the constant.
        #[inline(never)]
        $(#[$feature])*
        pub(in crate::chacha) fn hchacha20(key: &Key, nonce: &[u8; 16]) -> Key {
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

        /// The words of a row, which stay together when they are stored.
        #[inline]
        $(#[$feature])*
        fn words_of(row: __m128i) -> [u32; 4] {
            let mut bytes = [0; 16];
            store128(&mut bytes, row);
            let number = u128::from_le_bytes(bytes);
            [0, 32, 64, 96].map(|bit| crate::chacha::portable::word(number >> bit))
        }
    };
}

/// The passes of the levels that take `$lanes` blocks lane by lane, and one, two or three groups of
/// `$group` blocks in rows. `$numbers` are the numbers of the lanes. The module also brings the
/// functions of `arx` for its width, and `Rows::{of, next, blocks}`.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2"))]
macro_rules! passes {
    ($lanes:literal, $group:literal, $numbers:expr, $(#[$feature:meta])*) => {
        /// The most blocks that are taken in rows.
        const MOST: usize = 3 * $group;

        /// Writes keystream over `out`.
        $(#[$feature])*
        pub(crate) fn keystream<const ROUNDS: usize>(
            state: &State<ROUNDS>,
            wide: bool,
            out: &mut [u8],
        ) {
            apply::<ROUNDS, false>(state, wide, out.into());
        }

        /// XORs keystream into `data`.
        $(#[$feature])*
        pub(crate) fn xor<const ROUNDS: usize>(
            state: &State<ROUNDS>,
            wide: bool,
            data: InOutBuf<'_, '_, u8>,
        ) {
            apply::<ROUNDS, true>(state, wide, data);
        }

        /// Whole widths first, then the narrowest form that covers what is left.
        #[inline]
        $(#[$feature])*
        fn apply<const ROUNDS: usize, const XOR: bool>(
            state: &State<ROUNDS>,
            wide: bool,
            data: InOutBuf<'_, '_, u8>,
        ) {
            let (mut data, mut counter) = (data, state.counter);
            // When the low word of a wide counter wraps within, the narrower forms, which carry, do
            // all.
            if data.len() > MOST * 64 && !(wide && wraps(counter, data.len())) {
                let len = data.len();
                data = whole::<ROUNDS, XOR>(state, data);
                counter = later(counter, ((len - data.len()) / 64) as u64, wide);
            }
            while !data.is_empty() {
                data = match data.len().div_ceil(64 * $group) {
                    0..=1 => groups::<ROUNDS, XOR, 1, { $group }>(state, counter, wide, data),
                    2 => groups::<ROUNDS, XOR, 2, { 2 * $group }>(state, counter, wide, data),
                    _ => groups::<ROUNDS, XOR, 3, MOST>(state, counter, wide, data),
                };
                counter = later(counter, MOST as u64, wide);
            }
        }

        /// Whole widths, until at most `MOST` blocks are left of `data`, which is given back.
        ///
        /// The low word of a wide counter must not wrap within: all lanes take the same high word.
        #[inline(never)]
        $(#[$feature])*
        fn whole<'i, 'o, const ROUNDS: usize, const XOR: bool>(
            state: &State<ROUNDS>,
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            let mut data = data;
            let words = &words(state, state.counter);
            let started = &first_columns(words);
            let mut counters = add32(splat(words[12]), $numbers);
            while data.len() > MOST * 64 {
                let first = [splat(words[0]), splat(words[4]), splat(words[8]), counters];
                let [x0, x4, x8, x12] = quarter(first);
                let [x1, x5, x9, x13] = column(started, 1);
                let [x2, x6, x10, x14] = column(started, 2);
                let [x3, x7, x11, x15] = column(started, 3);
                let mut x = [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15];
                x = diagonals(x);
                for _ in 1..opaque_count(ROUNDS / 2) {
                    x = diagonals(columns(x));
                }
                let mut start = splat_all(words);
                start[12] = counters;
                data = put_lanes::<XOR>(x, start, data);
                counters = add32(counters, splat($lanes));
            }
            data
        }

        /// Up to `BLOCKS` blocks, as `N` independent groups of rows, at most 3, that overlap in
        /// time. Gives back what is left of `data`.
        #[inline(never)]
        $(#[$feature])*
        fn groups<
            'i,
            'o,
            const ROUNDS: usize,
            const XOR: bool,
            const N: usize,
            const BLOCKS: usize,
        >(
            state: &State<ROUNDS>,
            counter: u64,
            wide: bool,
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            const { assert!(N <= 3 && BLOCKS == $group * N) };
            let x0 = Rows::of(state, counter, wide);
            let y0 = x0.next(wide);
            let z0 = y0.next(wide);
            let (mut x, mut y, mut z) = (x0, y0, z0);
            for _ in 0..opaque_count(ROUNDS / 2) {
                x = x.double_round();
                if N > 1 {
                    y = y.double_round();
                }
                if N > 2 {
                    z = z.double_round();
                }
            }
            let mut blocks = [[set32(0); 4 / $group]; BLOCKS];
            blocks[..$group].copy_from_slice(&x.blocks(x0));
            if N > 1 {
                blocks[$group..2 * $group].copy_from_slice(&y.blocks(y0));
            }
            if N > 2 {
                blocks[2 * $group..].copy_from_slice(&z.blocks(z0));
            }
            put::<XOR, BLOCKS>(&blocks, data)
        }
    };
}

/// How a shuffle lists the first eight bytes so that words come out rotated left by `bits`.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2"))]
#[inline]
pub(super) fn bytes_turned(bits: i32) -> u64 {
    let turned = |word: u32| u64::from(word.rotate_left(bits.cast_unsigned()));
    turned(0x0706_0504) << 32 | turned(0x0302_0100)
}
