//! The rounds over one register type, and the passes, written once for all widths.
//!
//! Macros, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands them brings the instructions `add32` and `shuffle32`,
//! and `xor_turned`, which rotates the second words left by the number of bits that comes first and
//! XORs them into the first; the other number is 32 less that.

/// The quarter-round, the rounds on words that lie lane by lane, and those on diagonals. The module
/// also brings `blend`, which takes from the second words those whose bits are set; `$odd` are
/// those of the second and the fourth word of each 128 bits, `$upper` of the third and the fourth.
macro_rules! rounds {
    ($vector:ty, $odd:literal, $upper:literal, $(#[$feature:meta])*) => {
        /// A round of columns on the words of all lanes.
        #[inline]
        $(#[$feature])*
        pub(crate) fn columns(x: [$vector; 16]) -> [$vector; 16] {
            let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
            let [x0, x4, x8, x12] = quarter([x0, x4, x8, x12]);
            let [x5, x9, x13, x1] = quarter([x5, x9, x13, x1]);
            let [x10, x14, x2, x6] = quarter([x10, x14, x2, x6]);
            let [x15, x3, x7, x11] = quarter([x15, x3, x7, x11]);
            [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
        }

        /// A round of rows on the words of all lanes.
        #[inline]
        $(#[$feature])*
        pub(crate) fn rows(x: [$vector; 16]) -> [$vector; 16] {
            let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
            let [x0, x1, x2, x3] = quarter([x0, x1, x2, x3]);
            let [x5, x6, x7, x4] = quarter([x5, x6, x7, x4]);
            let [x10, x11, x8, x9] = quarter([x10, x11, x8, x9]);
            let [x15, x12, x13, x14] = quarter([x15, x12, x13, x14]);
            [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
        }

        /// A quarter-round in each lane of 32 bits.
        #[inline]
        $(#[$feature])*
        fn quarter([mut a, mut b, mut c, mut d]: [$vector; 4]) -> [$vector; 4] {
            b = xor_turned::<7, 25>(b, add32(a, d));
            c = xor_turned::<9, 23>(c, add32(b, a));
            d = xor_turned::<13, 19>(d, add32(c, b));
            a = xor_turned::<18, 14>(a, add32(d, c));
            [a, b, c, d]
        }

        /// The diagonals of as many blocks as a register has lanes of 128 bits, block `i` in the
        /// `i`-th: `a` is the main one, the `j`-th word of `b`, `c` and `d` stands one, two and
        /// three rows below the `j`-th of `a`.
        #[derive(Clone, Copy)]
        struct Diagonals {
            a: $vector,
            b: $vector,
            c: $vector,
            d: $vector,
        }

        impl Diagonals {
            /// A round of columns, a round of rows. The main diagonal is ready last in each round,
            /// so the other three are turned against it and the turning costs no time.
            #[inline]
            $(#[$feature])*
            fn double_round(self) -> Self {
                let [a, b, c, d] = quarter([self.a, self.b, self.c, self.d]);
                let b = shuffle32::<0x93>(b);
                let c = shuffle32::<0x4e>(c);
                let d = shuffle32::<0x39>(d);
                let [a, d, c, b] = quarter([a, d, c, b]);
                Self {
                    a,
                    b: shuffle32::<0x39>(b),
                    c: shuffle32::<0x4e>(c),
                    d: shuffle32::<0x93>(d),
                }
            }

            /// The rows of the keystream: what the rounds made of `start`, added to it.
            #[inline]
            $(#[$feature])*
            fn sum(self, start: Self) -> [$vector; 4] {
                let a = add32(self.a, start.a);
                let b = add32(self.b, start.b);
                let c = add32(self.c, start.c);
                let d = add32(self.d, start.d);
                let ad = blend::<$odd>(a, d);
                let ba = blend::<$odd>(b, a);
                let cb = blend::<$odd>(c, b);
                let dc = blend::<$odd>(d, c);
                [
                    blend::<$upper>(ad, cb),
                    blend::<$upper>(ba, dc),
                    blend::<$upper>(cb, ad),
                    blend::<$upper>(dc, ba),
                ]
            }
        }
    };
}

/// The passes over `$lanes` blocks lane by lane, and over groups of `$group` blocks in diagonals.
/// `$zero` is a block of zeros, `$numbers` are the numbers of the lanes. The module also brings the
/// functions of `arx` for its width, `starts`, which gives the first blocks of up to three groups, and `narrow`, which takes
/// up to `MOST` blocks in the narrowest form that covers them and gives back what is left.
macro_rules! passes {
    ($zero:expr, $lanes:literal, $group:literal, $numbers:expr, $(#[$feature:meta])*) => {
        /// Writes keystream over `out`.
        $(#[$feature])*
        pub(super) fn keystream<const ROUNDS: usize>(state: &State<ROUNDS>, out: &mut [u8]) {
            apply::<ROUNDS, false>(state, out.into());
        }

        /// XORs keystream into `data`.
        $(#[$feature])*
        pub(super) fn xor<const ROUNDS: usize>(state: &State<ROUNDS>, data: InOutBuf<'_, '_, u8>) {
            apply::<ROUNDS, true>(state, data);
        }

        /// Whole widths first, then the narrowest form that covers what is left.
        #[inline]
        $(#[$feature])*
        fn apply<const ROUNDS: usize, const XOR: bool>(
            state: &State<ROUNDS>,
            data: InOutBuf<'_, '_, u8>,
        ) {
            let (mut data, mut counter) = (data, state.counter);
            // When the low word of the counter wraps within, the narrower forms, which carry, do
            // all.
            if data.len() > MOST * 64 && !wraps(counter, data.len()) {
                let len = data.len();
                data = whole::<ROUNDS, XOR>(state, data);
                counter = counter.wrapping_add(((len - data.len()) / 64) as u64);
            }
            while !data.is_empty() {
                data = narrow::<ROUNDS, XOR>(state, counter, data);
                counter = counter.wrapping_add(MOST as u64);
            }
        }

        /// Whole widths, until at most `MOST` blocks are left of `data`, which is given back.
        ///
        /// The low word of the counter must not wrap within: all lanes take the same high word.
        #[inline(never)]
        $(#[$feature])*
        fn whole<'i, 'o, const ROUNDS: usize, const XOR: bool>(
            state: &State<ROUNDS>,
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            let mut data = data;
            let words = &words(state, state.counter);
            let started = &first_double_round(words);
            let mut counters = add32(splat(words[8]), $numbers);
            while data.len() > MOST * 64 {
                let first = [splat(words[0]), splat(words[4]), counters, splat(words[12])];
                let [x0, _, x8, x12] = quarter(first);
                let [_, x4, _, _] = column(started, 0);
                let [x1, x5, x9, x13] = column(started, 1);
                let [x2, x6, x10, x14] = column(started, 2);
                let [x3, x7, x11, x15] = column(started, 3);
                let [x0, x1, x2, x3] = quarter([x0, x1, x2, x3]);
                let [x10, x11, x8, x9] = quarter([x10, x11, x8, x9]);
                let [x15, x12, x13, x14] = quarter([x15, x12, x13, x14]);
                let mut x = [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15];
                for _ in 1..opaque_count(ROUNDS / 2) {
                    x = rows(columns(x));
                }
                let mut start = splat_all(words);
                start[8] = counters;
                data = put_lanes::<XOR>(x, start, data);
                counters = add32(counters, splat($lanes));
            }
            data
        }

        /// Up to `BLOCKS` blocks, as `N` independent groups of diagonals, at most 3, that overlap
        /// in time. Gives back what is left of `data`.
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
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            const { assert!(N <= 3 && BLOCKS == $group * N) };
            let [x0, y0, z0] = starts(state, counter);
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
            let mut out = [$zero; BLOCKS];
            out[..$group].copy_from_slice(&blocks(x.sum(x0)));
            if N > 1 {
                out[$group..2 * $group].copy_from_slice(&blocks(y.sum(y0)));
            }
            if N > 2 {
                out[2 * $group..].copy_from_slice(&blocks(z.sum(z0)));
            }
            put::<XOR, BLOCKS>(&out, data)
        }
    };
}

/// `narrow` with one, two or three groups of `$group` blocks.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2"))]
macro_rules! narrow {
    ($group:literal, $(#[$feature:meta])*) => {
        /// The most blocks that are taken in diagonals.
        const MOST: usize = 3 * $group;

        #[inline]
        $(#[$feature])*
        fn narrow<'i, 'o, const ROUNDS: usize, const XOR: bool>(
            state: &State<ROUNDS>,
            counter: u64,
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            match data.len().div_ceil(64 * $group) {
                0..=1 => groups::<ROUNDS, XOR, 1, $group>(state, counter, data),
                2 => groups::<ROUNDS, XOR, 2, { 2 * $group }>(state, counter, data),
                _ => groups::<ROUNDS, XOR, 3, MOST>(state, counter, data),
            }
        }
    };
}
