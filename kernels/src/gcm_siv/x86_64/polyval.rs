//! POLYVAL (RFC 8452, section 3) of one message.
//!
//! A macro, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. See `message` for the names that a module brings.

macro_rules! polyval {
    ($vector:ty, $bytes:literal, $(#[$feature:meta])*) => {
        /// Blocks that share a reduction, as many as there are powers.
        const GROUP: usize = 8;

        /// Registers of a group.
        const REGISTERS: usize = GROUP * 16 / $bytes;

        /// The powers of a hash key from the eighth down, and the sums of their halves; behind them
        /// a block of zeros. Wiped on drop.
        struct Powers {
            powers: [[u8; 16]; GROUP + 1],
            halves: [[u8; 16]; GROUP + 1],
        }

        impl Powers {
            #[inline]
            fn empty() -> Self {
                Self { powers: [[0; 16]; GROUP + 1], halves: [[0; 16]; GROUP + 1] }
            }

            #[inline]
            $(#[$feature])*
            fn set(&mut self, h: __m128i) {
                let places = self.powers.as_flattened_mut().as_chunks_mut().0;
                let halves = self.halves.as_flattened_mut().as_chunks_mut().0;
                for ((place, half), x) in places.iter_mut().zip(halves).zip(powers(h)) {
                    store(place, x);
                    store(half, sum_of_halves(x));
                }
            }

            /// Powers that stand side by side, from that of `exponent` down.
            #[inline]
            $(#[$feature])*
            fn from(&self, exponent: usize) -> impl Iterator<Item = (&[u8; $bytes], &[u8; $bytes])> {
                let powers = self.powers[GROUP - exponent..].as_flattened().as_chunks().0;
                let halves = self.halves[GROUP - exponent..].as_flattened().as_chunks().0;
                powers.iter().zip(halves)
            }

            /// Multiplies a register of some groups, and ends a group by a reduction. The first of a
            /// group comes last, because it waits for the sum.
            #[inline]
            $(#[$feature])*
            fn multiply<const V: usize>(
                &self,
                products: &mut Product,
                sum: &mut __m128i,
                groups: &[[u8; $bytes]; V],
                i: usize,
            ) {
                let place = (i + 1) % REGISTERS;
                let mut x = load(&groups[i / REGISTERS * REGISTERS + place]);
                if place == 0 {
                    x = xor(x, widened(*sum));
                }
                if let Some((power, halves)) = self.from(GROUP - place * ($bytes / 16)).next() {
                    *products = products.add_by_three(x, load(power), load(halves));
                }
                if place == 0 {
                    *sum = reduced(*products);
                    *products = Product::zero();
                }
            }

            /// Takes in whole groups, and returns what is left.
            #[inline]
            $(#[$feature])*
            fn absorb<'a>(&self, sum: &mut __m128i, bytes: &'a [u8]) -> &'a [u8] {
                let (groups, rest) = bytes.as_chunks::<{ 16 * GROUP }>();
                let mut products = Product::zero();
                for group in groups {
                    let this = opaque_place(self);
                    if let Some(group) = group.as_chunks().0.first_chunk::<REGISTERS>() {
                        for i in 0..REGISTERS {
                            this.multiply(&mut products, sum, group, i);
                        }
                    }
                }
                rest
            }

            /// Takes in at most one group, of which the last register is `last`, with zeros behind
            /// its bytes, and the lengths.
            #[inline]
            $(#[$feature])*
            fn end(
                &self,
                sum: __m128i,
                bytes: &[u8],
                last: $vector,
                lengths: Option<__m128i>,
            ) -> __m128i {
                let mut sum = sum;
                let mut products = Product::zero();
                let count = bytes.len().div_ceil(16);
                if count > 0 {
                    let is_apart = count == GROUP || lengths.is_none();
                    let mut before = widened(sum);
                    let whole = bytes[..bytes.len() - 1].as_chunks().0;
                    let mut powers = self.from(count + usize::from(!is_apart));
                    for (block, (power, halves)) in whole.iter().zip(&mut powers) {
                        let x = xor(load(block), before);
                        products = products.add_by_three(x, load(power), load(halves));
                        before = widened(_mm_setzero_si128());
                    }
                    if let Some((power, halves)) = powers.next() {
                        let x = xor(last, before);
                        products = products.add_by_three(x, load(power), load(halves));
                    }
                    sum = _mm_setzero_si128();
                    if is_apart {
                        sum = reduced(products);
                        products = Product::zero();
                    }
                }
                if let Some(lengths) = lengths {
                    let x = widened(_mm_xor_si128(sum, lengths));
                    let power = widened(load128(&self.powers[GROUP - 1]));
                    let halves = widened(load128(&self.halves[GROUP - 1]));
                    sum = reduced(products.add_by_three(x, power, halves));
                }
                sum
            }
        }
    };
}
