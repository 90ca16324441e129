//! Blocks lane by lane, blocks in groups, and the passes over data, written once for all widths and
//! for both ciphers.
//!
//! Macros, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands them brings the instructions under names that are the
//! same for all widths: `set32`, `add32`, `xor32`, `low32`, `high32`, `load` and `store`.

/// Words of many blocks, one block a lane, and the sums that end a block. The module also brings
/// `across`, which transposes four words, `blocks`, which makes whole blocks of four rows, and
/// `in_order`, which lists the blocks of all lanes.
macro_rules! sums {
    ($vector:ty, $block:ty, $lanes:literal, $(#[$feature:meta])*) => {
        /// A word, the same in all lanes.
        #[inline]
        $(#[$feature])*
        pub fn splat(word: u32) -> $vector {
            set32(word.cast_signed())
        }

        /// The blocks of keystream, one a lane: the result `x` of the rounds, added to their start.
        #[inline]
        $(#[$feature])*
        pub fn sums(x: [$vector; 16], start: [$vector; 16]) -> [$block; $lanes] {
            let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
            let [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15] = start;
            let [a0, a1, a2, a3] = across(plus([x0, x1, x2, x3], [s0, s1, s2, s3]));
            let [b0, b1, b2, b3] = across(plus([x4, x5, x6, x7], [s4, s5, s6, s7]));
            let [c0, c1, c2, c3] = across(plus([x8, x9, x10, x11], [s8, s9, s10, s11]));
            let [d0, d1, d2, d3] = across(plus([x12, x13, x14, x15], [s12, s13, s14, s15]));
            in_order([
                blocks([a0, b0, c0, d0]),
                blocks([a1, b1, c1, d1]),
                blocks([a2, b2, c2, d2]),
                blocks([a3, b3, c3, d3]),
            ])
        }

        /// The sum of four words with four others.
        #[inline]
        $(#[$feature])*
        pub fn plus(
            [x0, x1, x2, x3]: [$vector; 4],
            [y0, y1, y2, y3]: [$vector; 4],
        ) -> [$vector; 4] {
            [add32(x0, y0), add32(x1, y1), add32(x2, y2), add32(x3, y3)]
        }
    };
}

/// `across` by halves of 64 bits. The module also brings `low64` and `high64`.
#[cfg(feature = "_vectors")]
macro_rules! across {
    ($vector:ty, $(#[$feature:meta])*) => {
        /// Transposes four words, within lanes of 128 bits. Of words that lie lane by lane, the
        /// `i`-th result has the rows of the blocks `i`, 4 + `i`, 8 + `i` and so on; of rows, it
        /// has the `i`-th word of all blocks.
        #[inline]
        $(#[$feature])*
        pub fn across([x0, x1, x2, x3]: [$vector; 4]) -> [$vector; 4] {
            let (low01, high01) = (low32(x0, x1), high32(x0, x1));
            let (low23, high23) = (low32(x2, x3), high32(x2, x3));
            [
                low64(low01, low23),
                high64(low01, low23),
                low64(high01, high23),
                high64(high01, high23),
            ]
        }
    };
}

/// One state in all lanes.
macro_rules! words {
    ($vector:ty, $(#[$feature:meta])*) => {
        /// A column of the state, the same in all lanes.
        #[inline]
        $(#[$feature])*
        pub fn column(words: &[u32; 16], at: usize) -> [$vector; 4] {
            [splat(words[at]), splat(words[4 + at]), splat(words[8 + at]), splat(words[12 + at])]
        }

        /// Words, the same in all lanes.
        #[inline]
        $(#[$feature])*
        pub fn splat_all(words: &[u32; 16]) -> [$vector; 16] {
            let [w0, w4, w8, w12] = column(words, 0);
            let [w1, w5, w9, w13] = column(words, 1);
            let [w2, w6, w10, w14] = column(words, 2);
            let [w3, w7, w11, w15] = column(words, 3);
            [w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15]
        }
    };
}

/// The `BLOCKS` blocks of the first `N` of three groups of `$group` blocks in rows or diagonals,
/// from their starts. The groups do not depend on each other, and overlap in time.
///
/// The module brings `blocks`; `$zero` is a block of zeros.
#[doc(hidden)]
#[macro_export]
macro_rules! groups {
    ($starts:expr, $double_rounds:expr, $group:literal, $zero:expr) => {{
        const { assert!(N <= 3 && BLOCKS == $group * N) };
        let [x0, y0, z0] = $starts;
        let (mut x, mut y, mut z) = (x0, y0, z0);
        for _ in 0..opaque_count($double_rounds) {
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
        out
    }};
}

/// Several double rounds on the words of all lanes. The module also brings `double_round`.
#[doc(hidden)]
#[macro_export]
macro_rules! double_rounds {
    ($vector:ty, $(#[$feature:meta])*) => {
        /// `count` double rounds.
        #[inline]
        $(#[$feature])*
        fn double_rounds(mut x: [$vector; 16], count: usize) -> [$vector; 16] {
            for _ in 0..opaque_count(count) {
                x = double_round(x);
            }
            x
        }
    };
}

/// The passes over `$lanes` blocks lane by lane, whose numbers are `$numbers`, and over groups of
/// `$group` blocks. `$zero` is a block of zeros. The low word of the counter is the word `$counter`
/// of the state.
///
/// The module also brings the functions of `arx` for its width, `MOST` and `narrow`, and from its
/// cipher `words`, `starts` and the macro `all_rounds!`. The latter takes what `once` makes of the
/// words for all passes.
#[doc(hidden)]
#[macro_export]
macro_rules! passes {
    (
        $lanes:literal, $group:literal, $zero:expr, $counter:literal, $numbers:expr,
        $(#[$feature:meta])*
    ) => {
        /// Whole widths first, then the narrowest form that covers the rest.
        $(#[$feature])*
        pub(crate) fn apply<const XOR: bool>(
            state: &State,
            wide: bool,
            data: InOutBuf<'_, '_, u8>,
            _: Mode<XOR>,
        ) {
            let (mut data, mut counter) = (data, state.counter);
            // If the low word of a wide counter wraps within, only the narrower forms are used:
            // they carry.
            if data.len() > MOST * 64 && !(wide && wraps(counter, data.len())) {
                let len = data.len();
                data = whole::<XOR>(state, data);
                counter = later(counter, ((len - data.len()) / 64) as u64, wide);
            }
            while !data.is_empty() {
                data = narrow::<XOR>(state, counter, wide, data);
                counter = later(counter, MOST as u64, wide);
            }
        }

        /// Whole widths, until at most `MOST` blocks of `data` are left, which are returned.
        ///
        /// The low word of a wide counter must not wrap within: all lanes take the same high word.
        #[inline(never)]
        $(#[$feature])*
        fn whole<'i, 'o, const XOR: bool>(
            state: &State,
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            let mut data = data;
            let words = &words(state, state.counter);
            let started = &once(words);
            let mut counters = add32(splat(words[$counter]), $numbers);
            while data.len() > MOST * 64 {
                let x = all_rounds!(words, started, counters, state.double_rounds);
                let mut start = splat_all(words);
                start[$counter] = counters;
                data = put_lanes::<XOR>(x, start, data);
                counters = add32(counters, splat($lanes));
            }
            data
        }

        /// Up to `BLOCKS` blocks, in `N` groups. Returns the rest of `data`.
        #[inline(never)]
        $(#[$feature])*
        fn put_groups<
            'i,
            'o,
            const XOR: bool,
            const N: usize,
            const BLOCKS: usize,
        >(
            state: &State,
            counter: u64,
            wide: bool,
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            let starts = starts(state, counter, wide);
            put::<XOR, BLOCKS>(&$crate::groups!(starts, state.double_rounds, $group, $zero), data)
        }
    };
}

/// `narrow`, which takes up to `MOST` blocks in the narrowest form that covers them, and returns
/// the rest of `data`: one, two or three groups of `$group` blocks.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2", target_arch = "aarch64"))]
#[doc(hidden)]
#[macro_export]
macro_rules! narrow {
    ($group:literal, $(#[$feature:meta])*) => {
        /// The most blocks that are taken in groups.
        const MOST: usize = 3 * $group;

        #[inline]
        $(#[$feature])*
        fn narrow<'i, 'o, const XOR: bool>(
            state: &State,
            counter: u64,
            wide: bool,
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            match data.len().div_ceil(64 * $group) {
                0..=1 => put_groups::<XOR, 1, $group>(state, counter, wide, data),
                2 => put_groups::<XOR, 2, { 2 * $group }>(state, counter, wide, data),
                _ => put_groups::<XOR, 3, MOST>(state, counter, wide, data),
            }
        }
    };
}

/// Blocks of `$registers` registers, written over data or XORed into them. The module also brings
/// what `sums!` makes.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2", target_arch = "aarch64"))]
macro_rules! put {
    ($vector:ty, $lanes:literal, $registers:literal, $(#[$feature:meta])*) => {
        /// Puts the blocks of all lanes, as `sums` makes them, where `put` puts them.
        #[inline]
        $(#[$feature])*
        pub fn put_lanes<'i, 'o, const XOR: bool>(
            x: [$vector; 16],
            start: [$vector; 16],
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            if data.len() < 64 * $lanes {
                // A copy, so that only this path has the words in memory.
                let spilled = (x, start);
                return put_lanes_part::<XOR>(&spilled.0, &spilled.1, data);
            }
            let (front, rest) = data.split_at(64 * $lanes);
            put_whole::<XOR, $lanes>(sums(x, start), front);
            rest
        }

        /// The same for fewer bytes, out of line: the usual case needs all registers.
        #[inline(never)]
        $(#[$feature])*
        fn put_lanes_part<'i, 'o, const XOR: bool>(
            x: &[$vector; 16],
            start: &[$vector; 16],
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            put::<XOR, $lanes>(&sums(*x, *start), data)
        }

        /// Writes blocks over the front of `data`, or XORs them in, and returns the rest of `data`.
        #[inline]
        $(#[$feature])*
        pub fn put<'i, 'o, const XOR: bool, const N: usize>(
            blocks: &[[$vector; $registers]; N],
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            if data.len() < 64 * N {
                // A copy, so that only this path has the blocks in memory.
                let spilled = *blocks;
                return put_part::<XOR, N>(&spilled, data);
            }
            let (front, rest) = data.split_at(64 * N);
            put_whole::<XOR, N>(*blocks, front);
            rest
        }

        /// Writes blocks over `data`, which have their length, or XORs them in.
        #[inline]
        $(#[$feature])*
        pub fn put_whole<const XOR: bool, const N: usize>(
            blocks: [[$vector; $registers]; N],
            data: InOutBuf<'_, '_, u8>,
        ) {
            let mut data = data;
            let blocks = if XOR { xor_all(blocks, data.get_in()) } else { blocks };
            write(&blocks, data.get_out());
        }

        /// `put` for fewer bytes than there are: nothing is left of `data`.
        #[inline(never)]
        $(#[$feature])*
        fn put_part<'i, 'o, const XOR: bool, const N: usize>(
            blocks: &[[$vector; $registers]; N],
            data: InOutBuf<'i, 'o, u8>,
        ) -> InOutBuf<'i, 'o, u8> {
            let mut buffer = [[0; 64]; N];
            let part = data.len();
            let (mut front, rest) = data.split_at(part);
            if XOR {
                buffer.as_flattened_mut()[..part].copy_from_slice(front.get_in());
                write(&xor_all(*blocks, buffer.as_flattened()), buffer.as_flattened_mut());
            } else {
                write(blocks, buffer.as_flattened_mut());
            }
            front.get_out().copy_from_slice(&buffer.as_flattened()[..part]);
            rest
        }

        /// XORs bytes, as many as there are in the blocks, into them.
        #[inline]
        $(#[$feature])*
        fn xor_all<const N: usize>(
            mut blocks: [[$vector; $registers]; N],
            bytes: &[u8],
        ) -> [[$vector; $registers]; N] {
            let registers = blocks.as_flattened_mut().iter_mut();
            for (register, bytes) in registers.zip(bytes.as_chunks().0) {
                *register = xor32(*register, load(bytes));
            }
            blocks
        }

        /// Writes blocks over `out`, which has their length.
        #[inline]
        $(#[$feature])*
        fn write<const N: usize>(blocks: &[[$vector; $registers]; N], out: &mut [u8]) {
            for (register, bytes) in blocks.as_flattened().iter().zip(out.as_chunks_mut().0) {
                store(bytes, *register);
            }
        }
    };
}
