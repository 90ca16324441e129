//! Kernels on 128-bit registers. Constant time in key and data.

macro_rules! kernel {
    ($level:ident, $(#[$feature:meta])*) => {
        use core::arch::x86_64::{
            _mm_add_epi32 as add, _mm_aesenc_si128 as aesenc, _mm_aesenclast_si128 as aesenclast,
            _mm_xor_si128 as xor, *,
        };

        use inout::InOutBuf;

        use crate::aes::x86_64::aesni::{expand128, expand256};
        use crate::aes::{MAX_KEYS, first};
        use crate::gcm::x86_64::part::{
            first_bytes, load_part, load_part as load_block, store_part,
            store_part as store_block,
        };
        use crate::gcm_siv::{SEAL, words};
        use crate::ghash::x86_64::aesni::{
            self as narrow, Product, four_from, multiply, reduce, sum_of_halves,
        };
        use crate::isa::Mode;
        use crate::simd::{
            load128, load128 as load, load128 as round_key, opaque_place, store128,
            store128 as store, together128 as together,
        };
        use crate::{Isa, Level, wipe};

        pub(crate) const NEEDS: Level = Level::$level;

        /// Bytes from which eight powers pay.
        const LONG: usize = 16 * 16;

        polyval!(__m128i, 16, $(#[$feature])*);
        message!(__m128i, 16, $(#[$feature])*);

        /// The products of four powers and the highest of them.
        #[inline]
        $(#[$feature])*
        fn next_four(four: [__m128i; 4]) -> [__m128i; 4] {
            four.map(|power| reduce(multiply(power, four[0])))
        }

        #[inline]
        $(#[$feature])*
        fn reduced(products: Product) -> __m128i {
            reduce(products.completed())
        }

        /// A block in the first place of a register.
        #[inline]
        fn widened(x: __m128i) -> __m128i {
            x
        }

        /// The counters of the first register.
        #[inline]
        fn counters(counter: __m128i) -> __m128i {
            counter
        }

        /// The distance of counters in registers side by side.
        #[inline]
        $(#[$feature])*
        fn distance() -> __m128i {
            _mm_set_epi32(0, 0, 0, 1)
        }

        /// Makes the compiler multiply between two rounds, not before all of them.
        #[inline]
        $(#[$feature])*
        fn in_order(products: &mut Product, state: &mut [__m128i; STEP]) {
            products.in_order(state);
        }
    };
}
