//! One message, with the AES instructions of the processor. Constant time in key, nonce and data.
//!
//! At `Avx2` the instructions name where the result goes, which saves a copy of most blocks in each
//! step.

/// The kernel of one level.
macro_rules! level {
    ($level:ident, $module:ident, $features:literal) => {
        pub(crate) mod $module {
            use core::arch::x86_64::{
                __m128i, _mm_aesenc_si128 as aesenc, _mm_and_si128 as and, _mm_set_epi64x,
                _mm_setzero_si128, _mm_xor_si128 as xor,
            };

            use inout::InOutBuf;

            use crate::Level;
            use crate::aegis::x86_64::steps::{EARLY, LATE};
            use crate::aegis::{CONSTANTS, SEAL, State, rate};
            use crate::gcm::x86_64::part::{first_bytes, load_part, store_part};
            use crate::isa::Mode;
            use crate::simd::{load128, store128};

            pub(crate) const NEEDS: Level = Level::$level;

            steps!(__m128i, _mm_setzero_si128, #[target_feature(enable = $features)]);

            /// A whole message.
            #[target_feature(enable = $features)]
            pub(in crate::aegis) fn run<const KEY: usize, const MODE: bool>(
                key: &[u8; KEY],
                nonce: &[u8; KEY],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                _: Mode<MODE>,
            ) -> [u8; 16] {
                let [bits_of_aad, bits_of_data] = [aad.len(), data.len()].map(|n| 8 * n as u64);
                let mut s = first::<KEY>(key, nonce);
                s = absorbed::<KEY>(s, aad);
                s = crypted::<KEY, MODE>(s, data);
                last::<KEY>(s, bits_of_aad, bits_of_data)
            }

            #[target_feature(enable = $features)]
            pub(in crate::aegis) fn begin<const KEY: usize>(
                key: &[u8; KEY],
                nonce: &[u8; KEY],
                state: &mut State<KEY>,
            ) {
                store(state, first::<KEY>(key, nonce));
            }

            /// Takes associated data, or plaintext; zeros fill a last step.
            #[target_feature(enable = $features)]
            pub(in crate::aegis) fn absorb<const KEY: usize>(state: &mut State<KEY>, bytes: &[u8]) {
                store(state, absorbed::<KEY>(load(state), bytes));
            }

            #[target_feature(enable = $features)]
            pub(in crate::aegis) fn crypt<const KEY: usize, const MODE: bool>(
                state: &mut State<KEY>,
                data: InOutBuf<'_, '_, u8>,
                _: Mode<MODE>,
            ) {
                store(state, crypted::<KEY, MODE>(load(state), data));
            }

            /// The tag, of these numbers of bits.
            #[target_feature(enable = $features)]
            pub(in crate::aegis) fn tag<const KEY: usize>(
                state: &State<KEY>,
                aad: u64,
                data: u64,
            ) -> [u8; 16] {
                last::<KEY>(load(state), aad, data)
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn first<const KEY: usize>(key: &[u8; KEY], nonce: &[u8; KEY]) -> Vectors {
                let [zero, one] = &CONSTANTS;
                begun::<KEY>(pair(key), pair(nonce), [load128(zero), load128(one)])
            }

            /// The first and the last block.
            #[inline]
            #[target_feature(enable = $features)]
            fn pair<const KEY: usize>(bytes: &[u8; KEY]) -> [__m128i; 2] {
                let (blocks, _) = bytes.as_chunks();
                [load128(&blocks[0]), load128(&blocks[KEY / 16 - 1])]
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn load<const KEY: usize>(state: &State<KEY>) -> Vectors {
                let mut s = [_mm_setzero_si128(); 8];
                for (x, block) in s.iter_mut().zip(&state.0) {
                    *x = load128(block);
                }
                s
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn store<const KEY: usize>(state: &mut State<KEY>, s: Vectors) {
                for (block, x) in state.0.iter_mut().zip(s) {
                    store128(block, x);
                }
            }

            /// `Absorb`.
            #[inline]
            #[target_feature(enable = $features)]
            fn absorbed<const KEY: usize>(s: Vectors, bytes: &[u8]) -> Vectors {
                let (mut s, mut bytes) = (s, bytes);
                while bytes.len() >= rate(KEY) {
                    let (now, rest) = bytes.split_at(rate(KEY));
                    bytes = rest;
                    s = step::<KEY, EARLY>(s, blocks(now));
                }
                if !bytes.is_empty() {
                    s = step::<KEY, EARLY>(s, blocks(bytes));
                }
                s
            }

            /// `Enc` and `Dec`; of a last part, what is left of the plaintext and zeros are taken.
            #[inline]
            #[target_feature(enable = $features)]
            fn crypted<const KEY: usize, const MODE: bool>(
                s: Vectors,
                data: InOutBuf<'_, '_, u8>,
            ) -> Vectors {
                let (mut s, mut data) = (s, data);
                while data.len() >= rate(KEY) {
                    let (mut now, rest) = data.split_at(rate(KEY));
                    data = rest;
                    let (text, stream) = (blocks(now.get_in()), keystream::<KEY>(s));
                    let other = [xor(text[0], stream[0]), xor(text[1], stream[1])];
                    put(now.get_out(), other);
                    s = if MODE == SEAL {
                        step::<KEY, EARLY>(s, text)
                    } else {
                        step::<KEY, LATE>(s, other)
                    };
                }
                if !data.is_empty() {
                    let (text, stream) = (blocks(data.get_in()), keystream::<KEY>(s));
                    let other = [xor(text[0], stream[0]), xor(text[1], stream[1])];
                    put(data.get_out(), other);
                    let count = data.len();
                    s = if MODE == SEAL {
                        step::<KEY, EARLY>(s, text)
                    } else {
                        let other =
                            [first_bytes(other[0], count), first_bytes(other[1], count.max(16) - 16)];
                        step::<KEY, LATE>(s, other)
                    };
                }
                s
            }

            /// The data of a step, with zeros behind them.
            #[inline]
            #[target_feature(enable = $features)]
            fn blocks(bytes: &[u8]) -> [__m128i; 2] {
                let (first, second) = bytes.split_at(bytes.len().min(16));
                [load_part(first), load_part(second)]
            }

            /// The inverse of `blocks`.
            #[inline]
            #[target_feature(enable = $features)]
            fn put(bytes: &mut [u8], [a, b]: [__m128i; 2]) {
                let (first, second) = bytes.split_at_mut(bytes.len().min(16));
                store_part(first, a);
                store_part(second, b);
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn last<const KEY: usize>(s: Vectors, aad: u64, data: u64) -> [u8; 16] {
                let lengths = _mm_set_epi64x(data.cast_signed(), aad.cast_signed());
                let mut tag = [0; 16];
                store128(&mut tag, ended::<KEY>(s, lengths));
                tag
            }
        }
    };
}

level!(AesNi, aesni, "aes,sse4.1,ssse3");
#[cfg(feature = "isa-avx2")]
level!(Avx2, avx2, "aes,avx2");
