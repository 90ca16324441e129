//! What the kernels with 128-bit and with 256-bit registers share, of all architectures.
//!
//! A macro, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands it brings `xor`, `round`, `last_round`, `load` and
//! `store` of a register, `State` of a register between rounds, `load_part` and `store_part` of a
//! shorter end, `first_bytes`, which clears what is behind one, `to_number`, which makes numbers of
//! blocks, `round_key`, which fills a register with a key and also gives it once, `absorb` of its
//! level, `HEAD`, the registers of the first step, `whole`, `head`, `step` and `end`, and `narrow`,
//! the module of kernels with 128-bit registers.

/// The place in a message from which a function is called. It makes a separate function for each
/// place, so that each is called only once and compiled into its place.
pub(in crate::gcm) const WHOLE: u8 = 0;
pub(in crate::gcm) const BEGIN: u8 = 1;
pub(in crate::gcm) const LAST: u8 = 2;

/// Registers in a step.
pub(in crate::gcm) const STEP: usize = 8;

/// Messages in steps of eight registers of `$bytes` bytes. Those of one block are for registers of
/// 128 bits, and those of `$count` registers are a step by themselves, `whole`; each kernel has its
/// own copies of both. All but `step` have one body for both directions.
macro_rules! steps {
    ($vector:ty, $bytes:literal, [$($count:literal)*], $zero:ident, $(#[$feature:meta])*) => {
        $(#[$feature])*
        pub(crate) fn run(
            hash: &ghash::Key,
            keys: &RoundKeys,
            first: u128,
            aad: &[u8],
            data: InOutBuf<'_, '_, u8>,
            mode: bool,
        ) -> [u8; 16] {
            let powers = hash.powers();
            let lengths = lengths(aad.len() as u64, data.len() as u64);
            let before = associated(powers, aad);
            let counter = of_number(first ^ 1);
            let (sum, mask) = match data.len().div_ceil($bytes) {
                0 => narrow::whole::<0, $bytes>(keys, mode, powers, before, counter, data, lengths),
                1 if data.len() <= 16 => {
                    narrow::whole::<1, $bytes>(keys, mode, powers, before, counter, data, lengths)
                }
                $($count => {
                    whole::<$count, $bytes>(keys, mode, powers, before, counter, data, lengths)
                })*
                _ => long(keys, mode, powers, first, before, data, lengths),
            };
            let mut tag = [0; 16];
            store128(&mut tag, xor128(turned(sum), mask));
            tag
        }

        /// A message of more than a step: its hash, and the mask of the tag.
        #[inline(never)]
        $(#[$feature])*
        fn long(
            keys: &RoundKeys,
            mode: bool,
            powers: &[[u8; 16]; ROOM],
            // In registers: it comes in halves, and a load of both would wait for their stores.
            first: u128,
            before: Block,
            data: InOutBuf<'_, '_, u8>,
            lengths: u128,
        ) -> (Block, Block) {
            let mut counter = of_number(first ^ 1);
            let blocks = of_number(STEP as u128 * $bytes / 16);
            let (part, mut data) = data.split_at($bytes * HEAD);
            let mut begun = [[0; $bytes]; STEP];
            let (mut sum, mask) = head(keys, mode, powers, before, counter, part, &mut begun);
            let mut sealed = &begun;
            by_key_size!(keys, middle => if mode == SEAL {
                while data.len() > $bytes * STEP {
                    let (part, rest) = data.split_at($bytes * STEP);
                    data = rest;
                    counter = add_halves(counter, blocks);
                    (sum, sealed) =
                        step::<_, SEAL>(keys, middle, powers, sum, sealed, counter, part);
                }
            } else {
                while data.len() > $bytes * STEP {
                    let (part, rest) = data.split_at($bytes * STEP);
                    data = rest;
                    counter = add_halves(counter, blocks);
                    (sum, sealed) =
                        step::<_, OPEN>(keys, middle, powers, sum, sealed, counter, part);
                }
            });
            counter = add_halves(counter, blocks);
            let before = (sum, sealed);
            let sum = match data.len().div_ceil($bytes) {
                1 => end::<1>(keys, mode, powers, before, counter, data, lengths),
                2 => end::<2>(keys, mode, powers, before, counter, data, lengths),
                3 => end::<3>(keys, mode, powers, before, counter, data, lengths),
                4 => end::<4>(keys, mode, powers, before, counter, data, lengths),
                5 => end::<5>(keys, mode, powers, before, counter, data, lengths),
                6 => end::<6>(keys, mode, powers, before, counter, data, lengths),
                7 => end::<7>(keys, mode, powers, before, counter, data, lengths),
                _ => end::<8>(keys, mode, powers, before, counter, data, lengths),
            };
            (sum, mask)
        }

        /// The hash before the last block of associated data, and that block added.
        #[inline]
        $(#[$feature])*
        fn associated(powers: &[[u8; 16]; ROOM], aad: &[u8]) -> Block {
            if aad.len() <= 16 {
                return of_number(number(aad));
            }
            associated_long(powers, aad)
        }

        // A call of its own, so that short data do not pay for the registers that it saves.
        #[inline(never)]
        $(#[$feature])*
        fn associated_long(powers: &[[u8; 16]; ROOM], aad: &[u8]) -> Block {
            let (before, last) = aad.split_at((aad.len() - 1) / 16 * 16);
            let mut sum = [0; 16];
            absorb(powers, &mut sum, before.as_chunks().0);
            turned(xor128(load128(&sum), simd::load_part(last)))
        }

        /// All rounds, on states to which the first round key has been added.
        #[inline]
        $(#[$feature])*
        fn rounds<const V: usize>(
            keys: &RoundKeys,
            middle: &[[u8; 16]],
            state: [State; V],
            mask: InRounds,
        ) -> ([$vector; V], Block) {
            let (mut state, mut mask) = (state, mask);
            for key in middle {
                let (key, key128) = round_key(key);
                mask = simd::round(mask, key128);
                for x in &mut state {
                    *x = round(*x, key);
                }
            }
            let (key, key128) = round_key(keys.last());
            let stream = state.map(|x| last_round(x, key));
            (stream, simd::last_round(mask, key128))
        }

        /// Adds the keystream to `V` registers of data, of which the last may be a part. Returns
        /// the ciphertext as numbers, with zeros where there is none.
        #[inline]
        $(#[$feature])*
        fn add<const V: usize, const PLACE: u8>(
            mode: bool,
            mut stream: [$vector; V],
            data: InOutBuf<'_, '_, u8>,
        ) -> [$vector; V] {
            if V == 0 {
                return stream;
            }
            let (mut whole, mut last) = data.split_at($bytes * (V - 1));
            let mut text = [$zero(); V];
            for (x, part) in text.iter_mut().zip(whole.get_in().as_chunks().0) {
                *x = load(part);
            }
            text[V - 1] = load_part(last.get_in());
            for (x, text) in stream.iter_mut().zip(text) {
                *x = xor(*x, text);
            }
            for (part, x) in whole.get_out().as_chunks_mut().0.iter_mut().zip(stream) {
                store(part, x);
            }
            store_part(last.get_out(), stream[V - 1]);
            if mode == SEAL {
                // One by one: of arrays the compiler would choose the place in memory.
                for (text, x) in text.iter_mut().zip(stream) {
                    *text = x;
                }
            }
            text[V - 1] = first_bytes(text[V - 1], last.len());
            for x in &mut text {
                *x = to_number(*x);
            }
            text
        }
    };
}
