//! POLYVAL (RFC 8452, section 3) of one message, with eight powers of the key or with two.
//!
//! A macro, see `message`. A module that expands it also brings `four_from`, which makes H^4 down
//! to H^1, `next_four`, the products of four powers and the highest of them, `sum_of_halves`,
//! `widened`, which puts a block into a register, `reduced`, which ends a sum of products, and
//! `narrow`, the functions for 128-bit registers.

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
            fn set(&mut self, h: Block) {
                let four = four_from(h);
                self.put(4, four);
                self.put(8, next_four(four));
            }

            /// Stores four powers from that of `exponent` down.
            #[inline]
            $(#[$feature])*
            fn put(&mut self, exponent: usize, four: [$vector; REGISTERS / 2]) {
                let powers = self.powers[GROUP - exponent..].as_flattened_mut().as_chunks_mut().0;
                let halves = self.halves[GROUP - exponent..].as_flattened_mut().as_chunks_mut().0;
                for ((power, half), x) in powers.iter_mut().zip(halves).zip(four) {
                    store(power, x);
                    store(half, sum_of_halves(x));
                }
            }

            /// Powers that stand side by side, from that of `exponent` down.
            #[inline]
            $(#[$feature])*
            fn from(
                &self,
                exponent: usize,
            ) -> impl Iterator<Item = (&[u8; $bytes], &[u8; $bytes])> {
                let powers = self.powers[GROUP - exponent..].as_flattened().as_chunks().0;
                let halves = self.halves[GROUP - exponent..].as_flattened().as_chunks().0;
                powers.iter().zip(halves)
            }

            /// Multiplies one register of some groups, and ends each group by a reduction. The
            /// first register of a group comes last, because it waits for the sum.
            #[inline]
            $(#[$feature])*
            fn multiply<const V: usize>(
                &self,
                products: &mut Product,
                sum: &mut Block,
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
            fn absorb<'a>(&self, sum: &mut Block, bytes: &'a [u8]) -> &'a [u8] {
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

            /// Takes in at most one group, and the lengths. `last` is the last register of the
            /// group, with zeros behind its bytes.
            #[inline]
            $(#[$feature])*
            fn end(
                &self,
                sum: Block,
                bytes: &[u8],
                last: $vector,
                lengths: Option<Block>,
            ) -> Block {
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
                        before = widened(zero128());
                    }
                    if let Some((power, halves)) = powers.next() {
                        let x = xor(last, before);
                        products = products.add_by_three(x, load(power), load(halves));
                    }
                    sum = zero128();
                    if is_apart {
                        sum = reduced(products);
                        products = Product::zero();
                    }
                }
                if let Some(lengths) = lengths {
                    let x = widened(xor128(sum, lengths));
                    let power = widened(load128(&self.powers[GROUP - 1]));
                    let halves = widened(load128(&self.halves[GROUP - 1]));
                    sum = reduced(products.add_by_three(x, power, halves));
                }
                sum
            }
        }

        impl Drop for Powers {
            #[inline]
            fn drop(&mut self) {
                wipe::memory(self.powers.as_flattened_mut());
                wipe::memory(self.halves.as_flattened_mut());
            }
        }

        /// The hash of a message that takes two powers.
        #[inline]
        $(#[$feature])*
        fn short_hash(h: Block, aad: &[u8], text: &[u8]) -> Block {
            let mut hash = Hash::new(h, aad.len().div_ceil(16) + text.len().div_ceil(16) + 1);
            hash.push_all(aad);
            hash.push_all(text);
            hash.push(lengths(aad.len(), text.len()));
            hash.end()
        }

        /// POLYVAL of blocks that come one by one.
        struct Hash {
            sum: Block,
            h: Block,
            h2: Block,
            held: Block,
            next: Next,
        }

        /// What happens to the next block.
        #[derive(Clone, Copy, PartialEq)]
        enum Next {
            /// It is multiplied alone: the first of an odd number. Then the last two, for which
            /// all waits, are a pair.
            Alone,
            /// It waits for another one.
            Waits,
            /// It goes with the one that waits.
            Joins,
        }

        impl Hash {
            /// Of so many blocks.
            #[inline]
            $(#[$feature])*
            fn new(h: Block, blocks: usize) -> Self {
                let (zero, h2) = (zero128(), narrow::reduce(narrow::multiply(h, h)));
                let next = if blocks.is_multiple_of(2) { Next::Waits } else { Next::Alone };
                Self { sum: zero, h, h2, held: zero, next }
            }

            #[inline]
            $(#[$feature])*
            fn push(&mut self, block: Block) {
                self.next = match self.next {
                    Next::Alone => {
                        let block = xor128(self.sum, block);
                        self.sum = narrow::reduce(narrow::multiply(block, self.h));
                        Next::Waits
                    }
                    Next::Waits => {
                        self.held = block;
                        Next::Joins
                    }
                    Next::Joins => {
                        let before = narrow::multiply(xor128(self.sum, self.held), self.h2);
                        self.sum = narrow::reduce(before.add(narrow::multiply(block, self.h)));
                        Next::Waits
                    }
                };
            }

            /// Bytes, filled up with zeros to whole blocks.
            #[inline]
            $(#[$feature])*
            fn push_all(&mut self, bytes: &[u8]) {
                let (whole, rest) = bytes.as_chunks();
                for block in whole {
                    self.push(load128(block));
                }
                if !rest.is_empty() {
                    self.push(load_block(rest));
                }
            }

            #[inline]
            $(#[$feature])*
            fn end(&self) -> Block {
                if self.next == Next::Joins {
                    narrow::reduce(narrow::multiply(xor128(self.sum, self.held), self.h))
                } else {
                    self.sum
                }
            }
        }
    };
}
