//! One message with the AES instructions of the processor.
//!
//! Of a short message each part waits for the one before: the blocks of the keys, the key schedule,
//! the tag, the keystream. The hash runs beside the key schedule: it takes blocks in pairs, which
//! share a reduction, and only two powers of its key. Longer messages have eight powers, see
//! `polyval`. A message to seal is hashed first, because its tag is the first counter block. One to
//! open is decrypted and hashed in one pass: the hash takes the blocks that the step before has
//! decrypted, so that neither waits for the other.
//!
//! A macro, because functions that enable an instruction set cannot be generic over the registers
//! that come with it. A module that expands it brings `xor`, `add`, `first_key`, `round`,
//! `last_round`, `load` and `store` of a register, `State` of a register between rounds,
//! `load_part` and `store_part` of a shorter end, `load_block` and `store_block` of a part of a
//! block, `first_bytes`, which clears what is behind one, `round_key`, which fills a register with
//! a key, `counters` of the first register, the `distance` to those of the next, `in_order` and
//! `together`, which keep the compiler from another order, and `LONG`, the bytes from which eight
//! powers pay.

macro_rules! message {
    (@ [$($i:literal)*] $vector:ty, $bytes:literal, $(#[$feature:meta])*) => {
        /// Registers of a step, as many as keep both units for AES busy.
        const STEP: usize = 8;
        /// Blocks that take no longer than one.
        const FEW: usize = 4;

        $(#[$feature])*
        pub(crate) fn run<const MODE: bool>(
            _isa: Isa,
            keys: &RoundKeys,
            nonce: &[u8; 12],
            aad: &[u8],
            data: InOutBuf<'_, '_, u8>,
            received: &[u8; 16],
            _: Mode<MODE>,
        ) -> [u8; 16] {
            let mut data = data;
            let mut own = Own { keys: keys.room(), key: [0; 32] };
            let number = words(nonce);
            let h = derive(keys, number[0], number[1], number[2], &mut own);
            let own = &own.keys;
            let mut tag = [0; 16];
            if aad.len().max(data.len()) >= LONG {
                store128(&mut tag, long::<MODE>(own, h, number, aad, data, received));
            } else if MODE == SEAL {
                let sum = short_hash(h, aad, data.get_in());
                let computed = tag_of(own, number, sum);
                crypt(own, computed, data);
                store128(&mut tag, computed);
            } else {
                crypt(own, load128(received), data.reborrow());
                let sum = short_hash(h, aad, data.get_out());
                store128(&mut tag, tag_of(own, number, sum));
            }
            tag
        }

        /// The schedule of a message's own key, and the key as it is expanded.
        struct Own {
            keys: RoundKeys,
            key: [u8; 32],
        }

        impl Drop for Own {
            #[inline]
            fn drop(&mut self) {
                wipe::memory(&mut self.key);
            }
        }

        /// Makes the keys of a nonce, and returns that of the hash. The words of the nonce come in
        /// registers: a load of two at once would wait for their stores.
        #[inline]
        $(#[$feature])*
        fn derive(
            keys: &RoundKeys,
            a: i32,
            b: i32,
            c: i32,
            own: &mut Own,
        ) -> Block {
            let block = |number| of_words([number, a, b, c]);
            let [first, second, low, high] =
                encrypted(keys, [block(0), block(1), block(2), block(3)]);
            let (key, rest) = own.key.split_at_mut(16);
            let low = low_halves(low, high);
            if keys.are_longest() {
                let [low2, high2] = encrypted(keys, [block(4), block(5)]);
                if let (Some(key), Some(rest)) = (key.first_chunk_mut(), rest.first_chunk_mut()) {
                    store128(key, low);
                    store128(rest, low_halves(low2, high2));
                }
                expand256(&own.key, &mut own.keys);
            } else if let Some(key) = key.first_chunk_mut() {
                store128(key, low);
                expand128(key, &mut own.keys);
            }
            low_halves(first, second)
        }

        /// Encrypts blocks side by side.
        #[inline]
        $(#[$feature])*
        fn encrypted<const V: usize>(
            keys: &RoundKeys,
            blocks: [Block; V],
        ) -> [Block; V] {
            let key = load128(keys.first());
            let mut state = blocks.map(|block| simd::first_key(block, key));
            let (nine, more) = keys.nine_and_more();
            state = rounds_of(nine, state);
            if let Some(four) = more.first_chunk::<4>() {
                state = rounds_of(four, state);
            }
            let key = load128(keys.last());
            state.map(|x| simd::last_round(x, key))
        }

        /// A round for each key of an array, unrolled.
        #[inline]
        $(#[$feature])*
        fn rounds_of<const N: usize, const V: usize>(
            keys: &[[u8; 16]; N],
            mut state: [simd::InRounds; V],
        ) -> [simd::InRounds; V] {
            for key in keys {
                let key = load128(key);
                for x in &mut state {
                    *x = simd::round(*x, key);
                }
            }
            state
        }

        /// The tag of a message with that hash.
        #[inline]
        $(#[$feature])*
        fn tag_of(
            keys: &RoundKeys,
            [a, b, c]: [i32; 3],
            sum: Block,
        ) -> Block {
            let sum = xor128(sum, of_words([a, b, c, 0]));
            let block = and128(sum, of_halves([u64::MAX, u64::MAX >> 1]));
            let [tag] = encrypted(keys, [block]);
            tag
        }

        /// The last block of a hash.
        #[inline]
        $(#[$feature])*
        fn lengths(aad: usize, text: usize) -> Block {
            of_halves([aad, text].map(|bytes| 8 * bytes as u64))
        }

        /// The tag of a message whose hash takes eight powers.
        #[inline]
        $(#[$feature])*
        fn long<const MODE: bool>(
            keys: &RoundKeys,
            h: Block,
            number: [i32; 3],
            aad: &[u8],
            data: InOutBuf<'_, '_, u8>,
            received: &[u8; 16],
        ) -> Block {
            let lengths = lengths(aad.len(), data.len());
            let mut powers = Powers::empty();
            powers.set(h);
            let mut sum = zero128();
            let rest = powers.absorb(&mut sum, aad);
            sum = powers.end(sum, rest, load_end(rest), None);
            if MODE == SEAL {
                let rest = powers.absorb(&mut sum, data.get_in());
                sum = powers.end(sum, rest, load_end(rest), Some(lengths));
                let tag = tag_of(keys, number, sum);
                crypt(keys, tag, data);
                tag
            } else {
                let sum = open(keys, &powers, sum, load128(received), data, lengths);
                tag_of(keys, number, sum)
            }
        }

        /// The last register of some bytes, with zeros after them.
        #[inline]
        $(#[$feature])*
        fn load_end(bytes: &[u8]) -> $vector {
            load_part(&bytes[bytes.len().saturating_sub(1) / $bytes * $bytes..])
        }

        /// Decrypts a message and returns its hash.
        #[inline]
        $(#[$feature])*
        fn open(
            keys: &RoundKeys,
            powers: &Powers,
            mut sum: Block,
            received: Block,
            data: InOutBuf<'_, '_, u8>,
            lengths: Block,
        ) -> Block {
            let mut counter = counters(first_block(received));
            let mut rest = data;
            let mut decrypted: &[[u8; $bytes]] = &[];
            let mut products = Product::zero();
            while rest.len() >= $bytes * STEP {
                let (part, after) = rest.split_at($bytes * STEP);
                rest = after;
                decrypted = if let Some(text) = decrypted.first_chunk::<STEP>() {
                    let powers = opaque_place(powers);
                    step(keys, &mut counter, part, |i, state| {
                        powers.multiply(&mut products, &mut sum, text, i);
                        in_order(&mut products, state);
                    })
                } else {
                    step(keys, &mut counter, part, |_, _| ())
                };
            }
            powers.absorb(&mut sum, decrypted.as_flattened());
            let last = crypt_rest(keys, counter, rest.reborrow());
            let rest = powers.absorb(&mut sum, rest.into_out());
            powers.end(sum, rest, last, Some(lengths))
        }

        /// Counter mode from the tag on.
        #[inline]
        $(#[$feature])*
        fn crypt(
            keys: &RoundKeys,
            tag: Block,
            data: InOutBuf<'_, '_, u8>,
        ) {
            if data.is_empty() {
                return;
            }
            if data.len() <= 16 * FEW {
                return few(keys, first_block(tag), data);
            }
            let mut counter = counters(first_block(tag));
            let mut rest = data;
            while rest.len() >= $bytes * STEP {
                let (part, after) = rest.split_at($bytes * STEP);
                rest = after;
                step(keys, &mut counter, part, |_, _| ());
            }
            crypt_rest(keys, counter, rest);
        }

        /// The first counter block.
        #[inline]
        $(#[$feature])*
        fn first_block(tag: Block) -> Block {
            or128(tag, of_halves([0, 1 << 63]))
        }

        /// A message of a few blocks.
        #[inline]
        $(#[$feature])*
        fn few(
            keys: &RoundKeys,
            counter: Block,
            data: InOutBuf<'_, '_, u8>,
        ) {
            let mut blocks = [counter; FEW];
            for (block, number) in blocks.iter_mut().zip(0..) {
                *block = add_words(*block, of_words([number, 0, 0, 0]));
            }
            let mut rest = data;
            for x in encrypted(keys, blocks) {
                let length = rest.len().min(16);
                let (mut part, after) = rest.split_at(length);
                rest = after;
                let text = xor128(x, load_block(part.get_in()));
                store_block(part.get_out(), text);
            }
        }

        /// A step. Returns its output.
        #[inline]
        $(#[$feature])*
        fn step<'a>(
            keys: &RoundKeys,
            counter: &mut $vector,
            data: InOutBuf<'_, 'a, u8>,
            between: impl FnMut(usize, &mut [State; STEP]),
        ) -> &'a [[u8; $bytes]] {
            let (data, _) = crate::into_blocks::<$bytes>(data);
            let (mut data, _) = data.split_at(STEP);
            let keys = opaque_place(keys);
            let mut stream = stream(keys, counter, between);
            for (x, block) in stream.iter_mut().zip(data.get_in()) {
                *x = xor(*x, load(block));
            }
            for (block, x) in data.get_out().iter_mut().zip(stream) {
                store(block, x);
            }
            data.into_out()
        }

        /// At most a step. Returns the last register of the output, with zeros after it.
        #[inline]
        $(#[$feature])*
        fn crypt_rest(
            keys: &RoundKeys,
            counter: $vector,
            data: InOutBuf<'_, '_, u8>,
        ) -> $vector {
            let (mut counter, mut rest) = (counter, data);
            if rest.is_empty() {
                return counter;
            }
            for x in stream(keys, &mut counter, |_, _| ()) {
                let length = rest.len().min($bytes);
                let (mut part, after) = rest.split_at(length);
                rest = after;
                let text = xor(x, load_part(part.get_in()));
                store_part(part.get_out(), text);
                if rest.is_empty() {
                    return first_bytes(text, length);
                }
            }
            counter
        }

        /// Keystream, and the next counter. Calls `between` with the numbers 0 to 7 between rounds.
        #[inline]
        $(#[$feature])*
        fn stream(
            keys: &RoundKeys,
            counter: &mut $vector,
            mut between: impl FnMut(usize, &mut [State; STEP]),
        ) -> [$vector; STEP] {
            let key = round_key(keys.first());
            let mut state = [first_key(*counter, key); STEP];
            for x in &mut state {
                *x = first_key(*counter, key);
                *counter = add(*counter, distance());
            }
            let mut middle = keys.middle().iter();
            let mut all_round = |state: &mut [State; STEP]| {
                if let Some(key) = middle.next() {
                    let key = round_key(key);
                    for x in &mut *state {
                        *x = round(*x, key);
                    }
                    together(state);
                }
            };
            $(
                all_round(&mut state);
                between($i, &mut state);
                if keys.are_longest() && $i % 2 == 1 {
                    all_round(&mut state);
                }
            )*
            all_round(&mut state);
            let key = round_key(keys.last());
            let mut stream = [*counter; STEP];
            for (block, x) in stream.iter_mut().zip(state) {
                *block = last_round(x, key);
            }
            stream
        }
    };
    ($vector:ty, $bytes:literal, $(#[$feature:meta])*) => {
        message!(@ [0 1 2 3 4 5 6 7] $vector, $bytes, $(#[$feature])*);
    };
}
