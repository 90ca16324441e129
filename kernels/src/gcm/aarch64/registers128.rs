//! GCM in one pass. Constant time in key and data.
//!
//! As with 128-bit registers of x86-64: eight blocks a step, from a counter that is a multiple of
//! eight. The counter block of each is that of the step with a number added to the last byte, and
//! the instruction that adds the first round key adds that. The first step of a message has the
//! mask of the tag and six blocks of data; up to eight blocks take one step. GHASH takes the last
//! block of associated data as one more block before the data, and the lengths as one after them,
//! with the same reduction.
//!
//! A step hashes eight blocks between its rounds: its own when it decrypts, those of the step
//! before when it encrypts. Some processors have one unit for both AES and PMULL, and another that
//! does the rest.

use crate::gcm::steps::STEP;

/// Numbers that are added to a counter block.
pub(super) static COUNTERS: [[u8; 16]; STEP + 2] = {
    let mut counters = [[0; 16]; STEP + 2];
    let (mut number, mut place) = (0, 0);
    while place < counters.len() {
        counters[place][15] = number;
        (number, place) = (number + 1, place + 1);
    }
    counters
};

/// The kernel of a level. Where that has EOR3, the compiler takes it for sums of three.
macro_rules! kernel {
    ($level:ident, $module:ident, $(#[$feature:meta])*) => {
        use inout::InOutBuf;

        use crate::Level;
        use crate::aes::RoundKeys;
        use crate::gcm::aarch64::$module as narrow;
        use crate::gcm::aarch64::registers128::COUNTERS;
        use crate::gcm::steps::{BEGIN, LAST, STEP, WHOLE};
        use crate::gcm::{OPEN, SEAL, lengths, number};
        use crate::ghash::aarch64::armaes::{Product, absorb, reduce_turned as reduce};
        use crate::ghash::{self, ROOM};
        use crate::simd::{
            self, Block, InRounds, InRounds as State, add_halves, cut128 as first_bytes, first_key,
            last_round, load_part, load128, load128 as load, of_number, opaque_place, round,
            store_part, store128, store128 as store, turned, turned as to_number, xor128,
            xor128 as xor, zero128,
        };

        pub(crate) const NEEDS: Level = Level::$level;

        /// The blocks of data in the step that begins a message.
        const HEAD: usize = STEP - 2;

        steps!(
            Block,
            16,
            [2 3 4 5 6 7 8],
            zero128,
            $(#[$feature])*
        );

        /// A round key.
        #[inline]
        $(#[$feature])*
        fn round_key(key: &[u8; 16]) -> (Block, Block) {
            let key = load128(key);
            (key, key)
        }

        /// A message of `V` blocks, of which the last may be a part: its hash, and the mask of the
        /// tag.
        #[inline]
        $(#[$feature])*
        fn whole<const V: usize, const FROM: usize>(
            keys: &RoundKeys,
            mode: bool,
            powers: &[[u8; 16]; ROOM],
            before: Block,
            counter: Block,
            data: InOutBuf<'_, '_, u8>,
            lengths: u128,
        ) -> (Block, Block) {
            let [mask] = states(keys, counter, 1);
            let (stream, mask) = rounds::<V>(keys, keys.middle(), states(keys, counter, 2), mask);
            let numbers = add::<V, WHOLE>(mode, stream, data);
            // The associated data come before as one more block, and the lengths behind.
            let products = Product::zero().add_power(powers, V + 2, before);
            (finish(powers, products, numbers, lengths), mask)
        }

        /// The first six blocks of a longer message: the hash, or the input of the next step's hash
        /// in `begun`, and the mask of the tag. The associated data and a block of zeros come
        /// before the data.
        #[inline]
        $(#[$feature])*
        fn head(
            keys: &RoundKeys,
            mode: bool,
            powers: &[[u8; 16]; ROOM],
            before: Block,
            counter: Block,
            data: InOutBuf<'_, '_, u8>,
            begun: &mut [[u8; 16]; STEP],
        ) -> (Block, Block) {
            let [mask] = states(keys, counter, 1);
            let state = states(keys, counter, 2);
            let (stream, mask) = rounds::<HEAD>(keys, keys.middle(), state, mask);
            let [a, b, c, d, e, f] = add::<HEAD, BEGIN>(mode, stream, data);
            let mut sum = zero128();
            if mode == OPEN {
                let products = Product::zero().add_power(powers, HEAD + 1, before);
                sum = reduce(hash(powers, products, [a, b, c, d, e, f]).completed());
            } else {
                for (place, number) in begun.iter_mut().zip([sum, before, a, b, c, d, e, f]) {
                    store128(place, turned(number));
                }
            }
            (sum, mask)
        }

        /// Eight blocks. The hash takes these, if they are the ciphertext, or else the blocks that
        /// were sealed before them. Returns it, and the newly sealed blocks.
        #[inline]
        $(#[$feature])*
        fn step<'a, K: AsRef<[[u8; 16]]>, const MODE: bool>(
            keys: &RoundKeys,
            middle: &K,
            powers: &[[u8; 16]; ROOM],
            sum: Block,
            sealed: &'a [[u8; 16]; STEP],
            counter: Block,
            data: InOutBuf<'_, 'a, u8>,
        ) -> (Block, &'a [[u8; 16]; STEP]) {
            let (data, _) = crate::into_blocks::<16>(data);
            let (mut data, _) = data.split_at(STEP);
            let (keys, powers) = (opaque_place(keys), opaque_place(powers));
            let own = data.get_in().first_chunk().unwrap_or(sealed);
            let blocks = if MODE == SEAL { sealed } else { own };
            let mut state = states::<STEP>(keys, counter, 0);
            let mut products = Product::zero();
            let (first, rest) = middle.as_ref().split_at(8);
            let pairs = blocks.as_chunks::<2>().0;
            let rounds = first.as_chunks::<2>().0;
            // The sum so far is added to the first block, which comes last because it waits for
            // that.
            let (zero, state) = (zero128(), &mut state);
            products = two_rounds(powers, products, &rounds[0], state, &pairs[1], zero, 6);
            products = two_rounds(powers, products, &rounds[1], state, &pairs[2], zero, 4);
            products = two_rounds(powers, products, &rounds[2], state, &pairs[3], zero, 2);
            products = two_rounds(powers, products, &rounds[3], state, &pairs[0], sum, 8);
            for key in rest {
                all_round(state, key);
            }
            let key = load128(keys.last());
            let mut stream = [zero128(); STEP];
            for ((block, x), text) in stream.iter_mut().zip(state).zip(data.get_in()) {
                *block = xor128(last_round(*x, key), load128(text));
            }
            for (block, x) in data.get_out().iter_mut().zip(stream) {
                store128(block, x);
            }
            (reduce(products.completed()), data.into_out().first_chunk().unwrap_or(sealed))
        }

        /// Two rounds of eight blocks, and the products of a pair of blocks, `sum` added to the
        /// first, with the powers from that of `exponent` down.
        #[inline]
        $(#[$feature])*
        fn two_rounds(
            powers: &[[u8; 16]; ROOM],
            products: Product,
            keys: &[[u8; 16]; 2],
            state: &mut [InRounds; STEP],
            blocks: &[[u8; 16]; 2],
            sum: Block,
            exponent: usize,
        ) -> Product {
            all_round(state, &keys[0]);
            let [a, b] = blocks.each_ref().map(|block| turned(load128(block)));
            let mut products = products.add_pair(powers, exponent, [xor128(a, sum), b]);
            all_round(state, &keys[1]);
            products.in_order(state);
            products
        }

        /// A round of eight blocks.
        #[inline]
        $(#[$feature])*
        fn all_round(state: &mut [InRounds; STEP], key: &[u8; 16]) {
            let key = load128(key);
            for x in state {
                *x = round(*x, key);
            }
        }

        /// The last `V` blocks of a longer message, of which the last may be a part: the hash.
        #[inline]
        $(#[$feature])*
        fn end<const V: usize>(
            keys: &RoundKeys,
            mode: bool,
            powers: &[[u8; 16]; ROOM],
            (mut sum, sealed): (Block, &[[u8; 16]; STEP]),
            counter: Block,
            data: InOutBuf<'_, '_, u8>,
            lengths: u128,
        ) -> Block {
            let [idle] = states(keys, counter, 0);
            let (stream, _) = rounds::<V>(keys, keys.middle(), states(keys, counter, 0), idle);
            if mode == SEAL {
                let mut numbers = sealed.each_ref().map(|block| turned(load128(block)));
                numbers[0] = xor128(numbers[0], sum);
                sum = reduce(hash(powers, Product::zero(), numbers).completed());
            }
            let mut numbers = add::<V, LAST>(mode, stream, data);
            numbers[0] = xor128(numbers[0], sum);
            finish(powers, Product::zero(), numbers, lengths)
        }

        /// The counter blocks from that number in a step on, and the first round key.
        #[inline]
        $(#[$feature])*
        fn states<const V: usize>(
            keys: &RoundKeys,
            counter: Block,
            from: usize,
        ) -> [InRounds; V] {
            let base = xor128(load128(keys.first()), turned(counter));
            let counters = opaque_place(&COUNTERS);
            let mut states = [first_key(base, base); V];
            for (x, number) in states.iter_mut().zip(&counters[from..]) {
                *x = first_key(load128(number), base);
            }
            states
        }

        /// Adds the products of `V` numbers and the powers from that of `V` down.
        #[inline]
        $(#[$feature])*
        fn hash<const V: usize>(
            powers: &[[u8; 16]; ROOM],
            mut products: Product,
            numbers: [Block; V],
        ) -> Product {
            let (pairs, rest) = numbers.as_chunks();
            for (i, pair) in pairs.iter().enumerate() {
                products = products.add_pair(powers, V - 2 * i, *pair);
            }
            if let [x] = rest {
                products = products.add_power(powers, 1, *x);
            }
            products
        }

        /// Hashes the last blocks and the lengths.
        #[inline]
        $(#[$feature])*
        fn finish<const V: usize>(
            powers: &[[u8; 16]; ROOM],
            mut products: Product,
            numbers: [Block; V],
            lengths: u128,
        ) -> Block {
            let lengths = of_number(lengths);
            let (pairs, rest) = numbers.as_chunks();
            for (i, pair) in pairs.iter().enumerate() {
                products = products.add_pair(powers, V + 1 - 2 * i, *pair);
            }
            products = match rest {
                [x] => products.add_pair(powers, 2, [*x, lengths]),
                _ => products.add_power(powers, 1, lengths),
            };
            reduce(products.completed())
        }
    };
}
