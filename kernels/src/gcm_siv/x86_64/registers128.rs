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
        use crate::gcm::x86_64::part::{first_bytes, load_part, store_part};
        use crate::gcm_siv::{SEAL, words};
        use crate::ghash::x86_64::aesni::{self as narrow, Product, multiply, reduce, sum_of_halves};
        use crate::isa::Mode;
        use crate::simd::{
            load128, load128 as load, load128 as round_key, opaque_place, store128,
            store128 as store, together128 as together,
        };
        use crate::{Isa, Level, wipe};

        pub(crate) const NEEDS: Level = Level::$level;

        polyval!(__m128i, 16, $(#[$feature])*);
        message!(__m128i, 16, [0 1 2 3 4 5 6 7], $(#[$feature])*);

        /// From the eighth down to the first.
        #[inline]
        $(#[$feature])*
        fn powers(h: __m128i) -> [__m128i; REGISTERS] {
            let h2 = reduce(multiply(h, h));
            let h4 = reduce(multiply(h2, h2));
            let h3 = reduce(multiply(h2, h));
            let by4 = |power| reduce(multiply(power, h4));
            [by4(h4), by4(h3), by4(h2), by4(h), h4, h3, h2, h]
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
        fn first_counters(counter: __m128i) -> __m128i {
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
