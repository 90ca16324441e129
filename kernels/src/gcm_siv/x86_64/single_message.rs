//! AES-GCM-SIV with the AES instructions of the processor, one message at a time. Constant time in
//! key and data.
//!
//! Of a short message everything waits for what is before it: blocks for the keys, the key
//! schedule, the tag, the keystream. The hash runs beside the key schedule: it takes blocks in
//! pairs, which share a reduction, and only two powers of its key. Longer messages have eight
//! powers, and eight blocks of keystream at a time.

/// The kernel of one level.
macro_rules! level {
    ($level:ident, $module:ident, $features:literal) => {
        pub(crate) mod $module {
            use core::arch::x86_64::*;

            use inout::InOutBuf;

            use crate::aes::x86_64::aesni;
            use crate::aes::{MAX_KEYS, first};
            use crate::gcm::x86_64::part::{load_part, store_part};
            use crate::gcm_siv::{SEAL, words};
            use crate::ghash::x86_64::aesni::{Product, multiply, reduce};
            use crate::isa::Mode;
            use crate::simd::{load128, store128};
            use crate::{Isa, Level, wipe};

            pub(crate) const NEEDS: Level = Level::$level;

            /// Blocks that a long message takes at once, in the hash and in counter mode.
            const WIDTH: usize = 8;
            /// Bytes from which the powers that this takes pay.
            const LONG: usize = 16 * 16;

            #[target_feature(enable = $features)]
            pub(crate) fn run<const N: usize, const MODE: bool>(
                _isa: Isa,
                keys: &[[u8; 16]; N],
                nonce: &[u8; 12],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                received: &[u8; 16],
                _: Mode<MODE>,
            ) -> [u8; 16] {
                let mut data = data;
                let mut own = Own::empty();
                let number = words(nonce);
                let h = derive(keys, number, &mut own);
                let own = first::<N>(&own.keys);
                let mut tag = [0; 16];
                if MODE == SEAL {
                    let computed = tag_of(own, h, number, aad, data.get_in());
                    crypt(own, computed, data);
                    store128(&mut tag, computed);
                } else {
                    crypt(own, load128(received), data.reborrow());
                    store128(&mut tag, tag_of(own, h, number, aad, data.get_out()));
                }
                tag
            }

            /// The schedule of a message's own key, and the key as it is expanded.
            struct Own {
                keys: [[u8; 16]; MAX_KEYS],
                key: [u8; 32],
            }

            impl Own {
                #[inline]
                fn empty() -> Self {
                    Self { keys: [[0; 16]; MAX_KEYS], key: [0; 32] }
                }
            }

            impl Drop for Own {
                #[inline]
                fn drop(&mut self) {
                    wipe::memory(self.keys.as_flattened_mut());
                    wipe::memory(&mut self.key);
                }
            }

            /// Makes the keys of a nonce, and returns that of the hash.
            #[inline]
            #[target_feature(enable = $features)]
            fn derive<const N: usize>(
                keys: &[[u8; 16]; N],
                [a, b, c]: [i32; 3],
                own: &mut Own,
            ) -> __m128i {
                let block = |number| _mm_set_epi32(c, b, a, number);
                let [first, second, low, high] =
                    encrypted(keys, [block(0), block(1), block(2), block(3)]);
                let (key, rest) = own.key.split_at_mut(16);
                let low = _mm_unpacklo_epi64(low, high);
                if N == MAX_KEYS {
                    let [low2, high2] = encrypted(keys, [block(4), block(5)]);
                    if let (Some(key), Some(rest)) = (key.first_chunk_mut(), rest.first_chunk_mut())
                    {
                        store128(key, low);
                        store128(rest, _mm_unpacklo_epi64(low2, high2));
                    }
                    aesni::expand256(&own.key, &mut own.keys);
                } else if let Some(key) = key.first_chunk_mut() {
                    store128(key, low);
                    aesni::expand128(key, &mut own.keys);
                }
                _mm_unpacklo_epi64(first, second)
            }

            /// Encrypts blocks side by side.
            #[inline]
            #[target_feature(enable = $features)]
            fn encrypted<const N: usize, const V: usize>(
                keys: &[[u8; 16]; N],
                blocks: [__m128i; V],
            ) -> [__m128i; V] {
                let mut blocks = blocks;
                let key = load128(&keys[0]);
                for block in &mut blocks {
                    *block = _mm_xor_si128(*block, key);
                }
                for key in &keys[1..N - 1] {
                    let key = load128(key);
                    for block in &mut blocks {
                        *block = _mm_aesenc_si128(*block, key);
                    }
                }
                let key = load128(&keys[N - 1]);
                for block in &mut blocks {
                    *block = _mm_aesenclast_si128(*block, key);
                }
                blocks
            }

            /// The tag of associated data and plaintext.
            #[inline]
            #[target_feature(enable = $features)]
            fn tag_of<const N: usize>(
                keys: &[[u8; 16]; N],
                h: __m128i,
                [a, b, c]: [i32; 3],
                aad: &[u8],
                text: &[u8],
            ) -> __m128i {
                let mut hash = Hash::new(h, aad.len().div_ceil(16) + text.len().div_ceil(16) + 1);
                if aad.len().max(text.len()) >= LONG {
                    let powers = powers(h, hash.h2);
                    hash.absorb(powers, aad);
                    hash.absorb(powers, text);
                } else {
                    hash.push_all(aad);
                    hash.push_all(text);
                }
                let bits = |bytes: &[u8]| (8 * bytes.len() as u64).cast_signed();
                hash.push(_mm_set_epi64x(bits(text), bits(aad)));
                let nonce = _mm_set_epi32(0, c, b, a);
                let sum = _mm_xor_si128(hash.end(), nonce);
                let block = _mm_and_si128(sum, _mm_set_epi64x(i64::MAX, -1));
                let [tag] = encrypted(keys, [block]);
                tag
            }

            /// POLYVAL of blocks that come one by one.
            struct Hash {
                sum: __m128i,
                h: __m128i,
                h2: __m128i,
                held: __m128i,
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
                #[target_feature(enable = $features)]
                fn new(h: __m128i, blocks: usize) -> Self {
                    let (zero, h2) = (_mm_setzero_si128(), reduce(multiply(h, h)));
                    let next = if blocks.is_multiple_of(2) { Next::Waits } else { Next::Alone };
                    Self { sum: zero, h, h2, held: zero, next }
                }

                #[inline]
                #[target_feature(enable = $features)]
                fn push(&mut self, block: __m128i) {
                    self.next = match self.next {
                        Next::Alone => {
                            self.sum = reduce(multiply(_mm_xor_si128(self.sum, block), self.h));
                            Next::Waits
                        }
                        Next::Waits => {
                            self.held = block;
                            Next::Joins
                        }
                        Next::Joins => {
                            let before = multiply(_mm_xor_si128(self.sum, self.held), self.h2);
                            self.sum = reduce(before.add(multiply(block, self.h)));
                            Next::Waits
                        }
                    };
                }

                /// Bytes, filled up with zeros to whole blocks.
                #[inline]
                #[target_feature(enable = $features)]
                fn push_all(&mut self, bytes: &[u8]) {
                    let (whole, rest) = bytes.as_chunks();
                    for block in whole {
                        self.push(load128(block));
                    }
                    if !rest.is_empty() {
                        self.push(load_part(rest));
                    }
                }

                /// The same of many bytes, with the powers from the eighth on down.
                #[inline]
                #[target_feature(enable = $features)]
                fn absorb(&mut self, powers: [__m128i; WIDTH], bytes: &[u8]) {
                    let (parts, rest) = bytes.as_chunks::<{ 16 * WIDTH }>();
                    if !parts.is_empty() {
                        self.sum = self.end();
                        self.next = Next::Waits;
                    }
                    for part in parts {
                        let mut products = Product::zero();
                        let mut before = self.sum;
                        for (block, power) in part.as_chunks().0.iter().zip(powers) {
                            let block = _mm_xor_si128(load128(block), before);
                            products = products.add(multiply(block, power));
                            before = _mm_setzero_si128();
                        }
                        self.sum = reduce(products);
                    }
                    self.push_all(rest);
                }

                #[inline]
                #[target_feature(enable = $features)]
                fn end(&self) -> __m128i {
                    if self.next == Next::Joins {
                        reduce(multiply(_mm_xor_si128(self.sum, self.held), self.h))
                    } else {
                        self.sum
                    }
                }
            }

            /// From the eighth down to the first.
            #[inline]
            #[target_feature(enable = $features)]
            fn powers(h: __m128i, h2: __m128i) -> [__m128i; WIDTH] {
                let h4 = reduce(multiply(h2, h2));
                let h3 = reduce(multiply(h2, h));
                let by4 = |power| reduce(multiply(power, h4));
                [by4(h4), by4(h3), by4(h2), by4(h), h4, h3, h2, h]
            }

            /// Counter mode from the tag on.
            #[inline]
            #[target_feature(enable = $features)]
            fn crypt<const N: usize>(
                keys: &[[u8; 16]; N],
                tag: __m128i,
                data: InOutBuf<'_, '_, u8>,
            ) {
                let first = _mm_or_si128(tag, _mm_set_epi64x(i64::MIN, 0));
                let mut counter = first;
                let mut rest = data;
                while rest.len() >= 16 * WIDTH {
                    let (part, after) = rest.split_at(16 * WIDTH);
                    counter = some::<N, WIDTH>(keys, counter, part);
                    rest = after;
                }
                // Four blocks take no longer than one.
                while !rest.is_empty() {
                    let length = rest.len().min(16 * 4);
                    let (part, after) = rest.split_at(length);
                    counter = some::<N, 4>(keys, counter, part);
                    rest = after;
                }
            }

            /// At most `V` blocks, the last of which may be incomplete; and the next counter.
            #[inline]
            #[target_feature(enable = $features)]
            fn some<const N: usize, const V: usize>(
                keys: &[[u8; 16]; N],
                counter: __m128i,
                data: InOutBuf<'_, '_, u8>,
            ) -> __m128i {
                let mut counter = counter;
                let mut blocks = [counter; V];
                for block in &mut blocks {
                    *block = counter;
                    counter = _mm_add_epi32(counter, _mm_set_epi32(0, 0, 0, 1));
                }
                let mut rest = data;
                for stream in encrypted(keys, blocks) {
                    let length = rest.len().min(16);
                    let (mut part, after) = rest.split_at(length);
                    rest = after;
                    let text = load_part(part.get_in());
                    store_part(part.get_out(), _mm_xor_si128(text, stream));
                }
                counter
            }
        }
    };
}

level!(AesNi, aesni, "aes,pclmulqdq,sse4.1,ssse3");
#[cfg(feature = "isa-avx2")]
level!(Avx2, avx2, "aes,avx2,bmi2,pclmulqdq");
