//! What the kernels of messages side by side share, whatever the width of their registers.
//!
//! A macro, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands it brings what [`steps!`] needs, `WIDTH`, the messages
//! of a register, `joined` and `parts`, which make a register of blocks and blocks of it, and
//! `load_part` and `store_part` of a shorter end that is not empty.

macro_rules! beside {
    ($vector:ty, $zero:ident, $(#[$feature:meta])*) => {
        steps!($vector, $zero, $(#[$feature])*);

        /// `A` messages.
        #[inline(never)]
        $(#[$feature])*
        pub(super) fn messages<const KEY: usize, const A: usize, const MODE: bool>(
            lanes: [&mut Lane<'_, KEY>; A],
        ) {
            let mut lengths = [_mm_setzero_si128(); WIDTH];
            for (lengths, lane) in lengths.iter_mut().zip(&lanes) {
                let [aad, data] = [lane.aad.len() as u64, lane.data.len() as u64];
                *lengths = _mm_set_epi64x((8 * data).cast_signed(), (8 * aad).cast_signed());
            }
            let mut lanes = lanes;
            let mut s = first(&lanes);
            let aads = aads(&lanes);
            if aads.iter().any(|aad| !aad.is_empty()) {
                s = associated::<KEY, A>(s, aads);
            }
            let texts = texts(&mut lanes);
            s = if MODE == SEAL {
                pass::<KEY, A, ENCRYPT, _>(s, texts)
            } else {
                pass::<KEY, A, DECRYPT, _>(s, texts)
            };
            for (lane, tag) in lanes.iter_mut().zip(parts(ended::<KEY>(s, joined(lengths)))) {
                store128(lane.tag, tag);
            }
        }

        #[inline]
        $(#[$feature])*
        fn first<const KEY: usize, const A: usize>(lanes: &[&mut Lane<'_, KEY>; A]) -> Vectors {
            let (mut keys, mut nonces) = ([$zero(); 2], [$zero(); 2]);
            for (b, (keys, nonces)) in keys.iter_mut().zip(&mut nonces).enumerate() {
                let mut blocks = [[_mm_setzero_si128(); WIDTH]; 2];
                for (l, lane) in lanes.iter().enumerate() {
                    let at = |bytes: &'_ [u8; KEY]| load128(&bytes.as_chunks().0[b % (KEY / 16)]);
                    blocks[0][l] = at(&lane.cipher.key);
                    blocks[1][l] = at(&lane.nonce);
                }
                (*keys, *nonces) = (joined(blocks[0]), joined(blocks[1]));
            }
            let constants = &CONSTANTS;
            let zero = joined([load128(&constants[0]); WIDTH]);
            begun::<KEY>(keys, nonces, [zero, joined([load128(&constants[1]); WIDTH])])
        }

        #[inline(never)]
        $(#[$feature])*
        fn associated<const KEY: usize, const A: usize>(s: Vectors, aads: [&[u8]; A]) -> Vectors {
            pass::<KEY, A, ABSORB, _>(s, aads)
        }

        /// Takes all of the texts: first the steps that all messages have, then those that some
        /// have.
        #[inline]
        $(#[$feature])*
        fn pass<const KEY: usize, const A: usize, const KIND: u8, T: Text>(
            s: Vectors,
            texts: [T; A],
        ) -> Vectors {
            let (mut s, mut texts) = (s, texts);
            let (mut least, mut most) = (usize::MAX, 0);
            for text in &mut texts {
                least = least.min(text.input().len());
                most = most.max(text.input().len());
            }
            let mut at = 0;
            // Two at a time, so that fewer registers are renamed.
            while least - at >= 2 * rate(KEY) {
                s = whole::<KEY, A, KIND, T>(s, &mut texts, at);
                s = whole::<KEY, A, KIND, T>(s, &mut texts, at + rate(KEY));
                at += 2 * rate(KEY);
            }
            if least - at >= rate(KEY) {
                s = whole::<KEY, A, KIND, T>(s, &mut texts, at);
                at += rate(KEY);
            }
            if least != most {
                s = uneven::<KEY, A, KIND, T>(s, texts, at);
            } else if at < most {
                s = part::<KEY, A, KIND, T>(s, &mut texts, at);
            }
            s
        }

        /// A step of every message.
        #[inline]
        $(#[$feature])*
        fn whole<const KEY: usize, const A: usize, const KIND: u8, T: Text>(
            s: Vectors,
            texts: &mut [T; A],
            at: usize,
        ) -> Vectors {
            let mut blocks = [[_mm_setzero_si128(); WIDTH]; 2];
            for (l, text) in texts.iter_mut().enumerate() {
                let now = text.input()[at..][..rate(KEY)].as_chunks().0;
                for (blocks, block) in blocks.iter_mut().zip(now) {
                    blocks[l] = load128(block);
                }
            }
            let taken = [joined(blocks[0]), if KEY == 16 { joined(blocks[1]) } else { $zero() }];
            if KIND == ABSORB {
                return step::<KEY, EARLY>(s, taken);
            }
            let stream = keystream::<KEY>(s);
            let other = [xor(taken[0], stream[0]), xor(taken[1], stream[1])];
            let blocks = other.map(|x| parts(x));
            for (l, text) in texts.iter_mut().enumerate() {
                let now = text.output()[at..][..rate(KEY)].as_chunks_mut().0;
                for (blocks, block) in blocks.iter().zip(now) {
                    store128(block, blocks[l]);
                }
            }
            if KIND == ENCRYPT {
                step::<KEY, EARLY>(s, taken)
            } else {
                step::<KEY, LATE>(s, other)
            }
        }

        /// A step of which each message has all, a part or nothing.
        #[inline]
        $(#[$feature])*
        fn part<const KEY: usize, const A: usize, const KIND: u8, T: Text>(
            s: Vectors,
            texts: &mut [T; A],
            at: usize,
        ) -> Vectors {
            let mut taken = [$zero(); 2];
            let streams = keystream::<KEY>(s);
            for (b, (taken, stream)) in taken.iter_mut().zip(streams).enumerate() {
                if 16 * b >= rate(KEY) {
                    break;
                }
                let mut blocks = [_mm_setzero_si128(); WIDTH];
                let streams = parts(stream);
                for (l, text) in texts.iter_mut().enumerate() {
                    let from = at + 16 * b;
                    let Some(now) = text.input().get(from..).filter(|now| !now.is_empty()) else {
                        continue;
                    };
                    let (count, block) = (now.len().min(16), load_part(&now[..now.len().min(16)]));
                    blocks[l] = block;
                    if KIND != ABSORB {
                        let other = _mm_xor_si128(block, streams[l]);
                        store_part(&mut text.output()[from..from + count], other);
                        if KIND == DECRYPT {
                            blocks[l] = first_bytes(other, count);
                        }
                    }
                }
                *taken = joined(blocks);
            }
            step::<KEY, LATE>(s, taken)
        }

        /// The steps from `at` on, of messages that do not all have the same number: the state of
        /// one that ends is kept until all have ended.
        #[inline(never)]
        $(#[$feature])*
        fn uneven<const KEY: usize, const A: usize, const KIND: u8, T: Text>(
            s: Vectors,
            texts: [T; A],
            at: usize,
        ) -> Vectors {
            let (mut s, mut texts, mut at) = (s, texts, at);
            let mut kept = Kept([[[0; 16]; WIDTH]; 8]);
            let mut ended = [false; WIDTH];
            loop {
                let mut going = false;
                for (l, text) in texts.iter_mut().enumerate() {
                    let ends = text.input().len() <= at;
                    going |= !ends;
                    if ends && !ended[l] {
                        for (kept, x) in kept.0.iter_mut().zip(s) {
                            store128(&mut kept[l], parts(x)[l]);
                        }
                        ended[l] = true;
                    }
                }
                if !going {
                    break;
                }
                s = part::<KEY, A, KIND, T>(s, &mut texts, at);
                at += rate(KEY);
            }
            for (kept, x) in kept.0.iter().zip(&mut s) {
                let mut blocks = [_mm_setzero_si128(); WIDTH];
                for (x, block) in blocks.iter_mut().zip(kept) {
                    *x = load128(block);
                }
                *x = joined(blocks);
            }
            s
        }

        /// States of messages that have ended, wiped on drop.
        struct Kept([[[u8; 16]; WIDTH]; 8]);

        impl Drop for Kept {
            #[inline]
            fn drop(&mut self) {
                wipe::memory(self.0.as_flattened_mut().as_flattened_mut());
            }
        }
    };
}
