//! The rounds over one register type, written once for all widths.
//!
//! Macros, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands them brings the instructions `add32` and `shuffle32`,
//! and `xor_turned`: it rotates its second argument left by its first number of bits and XORs it
//! into the first argument; the second number is 32 less the first.

/// The quarter-round, the rounds on words that lie lane by lane, and those on diagonals. The module
/// also brings `blend`, which takes from the second words those whose bits are set; `$odd` are
/// those of the second and the fourth word of each 128 bits, `$upper` of the third and the fourth.
macro_rules! rounds {
    ($vector:ty, $odd:literal, $upper:literal, $(#[$feature:meta])*) => {
        /// A round of columns on the words of all lanes.
        #[inline]
        $(#[$feature])*
        fn columns(x: [$vector; 16]) -> [$vector; 16] {
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
        fn rows(x: [$vector; 16]) -> [$vector; 16] {
            let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
            let [x0, x1, x2, x3] = quarter([x0, x1, x2, x3]);
            let [x5, x6, x7, x4] = quarter([x5, x6, x7, x4]);
            let [x10, x11, x8, x9] = quarter([x10, x11, x8, x9]);
            let [x15, x12, x13, x14] = quarter([x15, x12, x13, x14]);
            [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
        }

        /// A double round on the words of all lanes.
        #[inline]
        $(#[$feature])*
        pub(crate) fn double_round(x: [$vector; 16]) -> [$vector; 16] {
            rows(columns(x))
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
            /// so the other three are rotated against it, and the rotation costs no time.
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

            /// The rows of the keystream: the result of the rounds, added to `start`.
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

/// `$count` double rounds on the words of all lanes. Of the first one, `$started` has all that does
/// not depend on the `$counters`.
macro_rules! all_rounds {
    ($words:ident, $started:ident, $counters:ident, $count:expr) => {{
        let first = [splat($words[0]), splat($words[4]), $counters, splat($words[12])];
        let [x0, _, x8, x12] = quarter(first);
        let [_, x4, _, _] = column($started, 0);
        let [x1, x5, x9, x13] = column($started, 1);
        let [x2, x6, x10, x14] = column($started, 2);
        let [x3, x7, x11, x15] = column($started, 3);
        let [x0, x1, x2, x3] = quarter([x0, x1, x2, x3]);
        let [x10, x11, x8, x9] = quarter([x10, x11, x8, x9]);
        let [x15, x12, x13, x14] = quarter([x15, x12, x13, x14]);
        let x = [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15];
        double_rounds(x, $count - 1)
    }};
}
