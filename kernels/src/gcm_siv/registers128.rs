//! Kernels on 128-bit registers, by the GHASH of a level and by `together`, see `message`. Constant
//! time in key and data.

macro_rules! kernel {
    ($level:ident, $(#[$feature:meta])*) => {
        use inout::InOutBuf;

        use crate::aes::registers128::{expand128, expand256};
        use crate::aes::RoundKeys;
        use crate::gcm_siv::{SEAL, words};
        use crate::isa::Mode;
        use crate::simd::{
            self, Block, InRounds as State, add_words, add_words as add, and128,
            cut128 as first_bytes, first_key, last_round, load_part, load_part as load_block,
            load128, load128 as load, load128 as round_key, low_halves, of_halves, of_words,
            opaque_place, or128, round, store_part, store_part as store_block, store128,
            store128 as store, xor128, xor128 as xor, zero128,
        };
        use crate::{Isa, Level, wipe};

        pub(crate) const NEEDS: Level = Level::$level;

        /// Bytes from which eight powers pay.
        const LONG: usize = 16 * 16;

        polyval!(Block, 16, $(#[$feature])*);
        message!(Block, 16, $(#[$feature])*);

        /// The products of four powers and the highest of them.
        #[inline]
        $(#[$feature])*
        fn next_four(four: [Block; 4]) -> [Block; 4] {
            four.map(|power| reduce(multiply(power, four[0])))
        }

        #[inline]
        $(#[$feature])*
        fn reduced(products: Product) -> Block {
            reduce(products.completed())
        }

        /// A block in the first place of a register.
        #[inline]
        fn widened(x: Block) -> Block {
            x
        }

        /// The counters of the first register.
        #[inline]
        fn counters(counter: Block) -> Block {
            counter
        }

        /// The distance of counters in registers side by side.
        #[inline]
        $(#[$feature])*
        fn distance() -> Block {
            of_words([1, 0, 0, 0])
        }

        /// Makes the compiler multiply between two rounds, not before all of them.
        #[inline]
        $(#[$feature])*
        fn in_order(products: &mut Product, state: &mut [State; STEP]) {
            products.in_order(state);
        }
    };
}
