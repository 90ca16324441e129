//! AES-GCM-SIV with the AES instructions of the processor, one message at a time.

macro_rules! message {
    ($vector:ty, $bytes:literal, [$($i:literal)*], $(#[$feature:meta])*) => {
        /// Registers of a step, as many as keep both units for AES busy.
        const STEP: usize = 8;
        /// Bytes from which the powers that this takes pay.
        const LONG: usize = 16 * 16;

        $(#[$feature])*
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
            if aad.len().max(data.len()) >= LONG {
                store128(&mut tag, long::<N, MODE>(own, h, number, aad, data, received));
            } else if MODE == SEAL {
                let sum = short_hash(h, aad, data.get_in());
                let computed = tag_of(own, number, sum);
                crypt::<N>(own, computed, data);
                store128(&mut tag, computed);
            } else {
                crypt::<N>(own, load128(received), data.reborrow());
                let sum = short_hash(h, aad, data.get_out());
                store128(&mut tag, tag_of(own, number, sum));
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
        $(#[$feature])*
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
                if let (Some(key), Some(rest)) = (key.first_chunk_mut(), rest.first_chunk_mut()) {
                    store128(key, low);
                    store128(rest, _mm_unpacklo_epi64(low2, high2));
                }
                expand256(&own.key, &mut own.keys);
            } else if let Some(key) = key.first_chunk_mut() {
                store128(key, low);
                expand128(key, &mut own.keys);
            }
            _mm_unpacklo_epi64(first, second)
        }

        /// Encrypts blocks side by side.
        #[inline]
        $(#[$feature])*
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

        /// The tag of a message with that hash.
        #[inline]
        $(#[$feature])*
        fn tag_of<const N: usize>(
            keys: &[[u8; 16]; N],
            [a, b, c]: [i32; 3],
            sum: __m128i,
        ) -> __m128i {
            let sum = _mm_xor_si128(sum, _mm_set_epi32(0, c, b, a));
            let block = _mm_and_si128(sum, _mm_set_epi64x(i64::MAX, -1));
            let [tag] = encrypted(keys, [block]);
            tag
        }

        /// The last block of a hash.
        #[inline]
        $(#[$feature])*
        fn lengths(aad: usize, text: usize) -> __m128i {
            let bits = |bytes| (8 * bytes as u64).cast_signed();
            _mm_set_epi64x(bits(text), bits(aad))
        }

        /// A message whose hash takes eight powers. Opening does both in one pass: the hash of a
        /// step runs beside the rounds of the next.
        #[inline]
        $(#[$feature])*
        fn long<const N: usize, const MODE: bool>(
            keys: &[[u8; 16]; N],
            h: __m128i,
            number: [i32; 3],
            aad: &[u8],
            data: InOutBuf<'_, '_, u8>,
            received: &[u8; 16],
        ) -> __m128i {
            let lengths = lengths(aad.len(), data.len());
            let mut powers = Powers::empty();
            powers.set(h);
            let mut sum = _mm_setzero_si128();
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

        /// Decrypts a message and returns the hash of it.
        #[inline]
        $(#[$feature])*
        fn open<const N: usize>(
            keys: &[[u8; 16]; N],
            powers: &Powers,
            mut sum: __m128i,
            received: __m128i,
            data: InOutBuf<'_, '_, u8>,
            lengths: __m128i,
        ) -> __m128i {
            let mut counter = counters(received);
            let mut rest = data;
            let mut before: &[[u8; $bytes]] = &[];
            let mut products = Product::zero();
            while rest.len() >= $bytes * STEP {
                let (part, after) = rest.split_at($bytes * STEP);
                rest = after;
                let this = opaque_place(powers);
                before = if let Some(text) = before.first_chunk::<STEP>() {
                    step(keys, &mut counter, part, |i, state| {
                        this.multiply(&mut products, &mut sum, text, i);
                        in_order(&mut products, state);
                    })
                } else {
                    step(keys, &mut counter, part, |_, _| ())
                };
            }
            if let Some(text) = before.first_chunk::<STEP>() {
                for i in 0..STEP {
                    powers.multiply(&mut products, &mut sum, text, i);
                }
            }
            let last = some(keys, counter, rest.reborrow());
            let rest = rest.into_out();
            let rest = powers.absorb(&mut sum, &*rest);
            powers.end(sum, rest, last, Some(lengths))
        }

        /// Counter mode from the tag on.
        #[inline]
        $(#[$feature])*
        fn crypt<const N: usize>(
            keys: &[[u8; 16]; N],
            tag: __m128i,
            data: InOutBuf<'_, '_, u8>,
        ) {
            let mut counter = counters(tag);
            let mut rest = data;
            while rest.len() >= $bytes * STEP {
                let (part, after) = rest.split_at($bytes * STEP);
                rest = after;
                step(keys, &mut counter, part, |_, _| ());
            }
            some(keys, counter, rest);
        }

        /// The first counters after a tag.
        #[inline]
        $(#[$feature])*
        fn counters(tag: __m128i) -> $vector {
            first_counters(_mm_or_si128(tag, _mm_set_epi64x(i64::MIN, 0)))
        }

        /// A step, with something else after each of its first rounds. Returns the output.
        #[inline]
        $(#[$feature])*
        fn step<'a, const N: usize>(
            keys: &[[u8; 16]; N],
            counter: &mut $vector,
            data: InOutBuf<'_, 'a, u8>,
            beside: impl FnMut(usize, &mut [$vector; STEP]),
        ) -> &'a [[u8; $bytes]] {
            let (data, _) = crate::into_blocks::<$bytes>(data);
            let (mut data, _) = data.split_at(STEP);
            let keys = opaque_place(keys);
            let mut stream = stream::<N>(keys, counter, beside);
            for (x, block) in stream.iter_mut().zip(data.get_in()) {
                *x = xor(*x, load(block));
            }
            for (block, x) in data.get_out().iter_mut().zip(stream) {
                store(block, x);
            }
            data.into_out()
        }

        /// Less than a step. Returns the last register of the output, with zeros after it.
        #[inline]
        $(#[$feature])*
        fn some<const N: usize>(
            keys: &[[u8; 16]; N],
            counter: $vector,
            data: InOutBuf<'_, '_, u8>,
        ) -> $vector {
            let mut counter = counter;
            let mut rest = data;
            if rest.is_empty() {
                return counter;
            }
            for x in stream::<N>(keys, &mut counter, |_, _| ()) {
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

        /// Keystream for a step and the next counter, with something else after each of eight rounds.
        #[inline]
        $(#[$feature])*
        fn stream<const N: usize>(
            keys: &[[u8; 16]; N],
            counter: &mut $vector,
            mut beside: impl FnMut(usize, &mut [$vector; STEP]),
        ) -> [$vector; STEP] {
            let mut state = [*counter; STEP];
            let key = round_key(&keys[0]);
            for x in &mut state {
                *x = xor(*counter, key);
                *counter = add(*counter, distance());
            }
            let mut middle = keys[1..N - 1].iter();
            let mut round = |state: &mut [$vector; STEP]| {
                if let Some(key) = middle.next() {
                    let key = round_key(key);
                    for x in &mut *state {
                        *x = aesenc(*x, key);
                    }
                    together(state);
                }
            };
            $(
                round(&mut state);
                beside($i, &mut state);
                if N == MAX_KEYS && $i % 2 == 1 {
                    round(&mut state);
                }
            )*
            round(&mut state);
            let key = round_key(&keys[N - 1]);
            for x in &mut state {
                *x = aesenclast(*x, key);
            }
            state
        }

        /// The hash of a message that takes two powers.
        #[inline]
        $(#[$feature])*
        fn short_hash(h: __m128i, aad: &[u8], text: &[u8]) -> __m128i {
            let mut hash = Hash::new(h, aad.len().div_ceil(16) + text.len().div_ceil(16) + 1);
            hash.push_all(aad);
            hash.push_all(text);
            hash.push(lengths(aad.len(), text.len()));
            hash.end()
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
            $(#[$feature])*
            fn new(h: __m128i, blocks: usize) -> Self {
                let (zero, h2) = (_mm_setzero_si128(), narrow::reduce(narrow::multiply(h, h)));
                let next = if blocks.is_multiple_of(2) { Next::Waits } else { Next::Alone };
                Self { sum: zero, h, h2, held: zero, next }
            }

            #[inline]
            $(#[$feature])*
            fn push(&mut self, block: __m128i) {
                self.next = match self.next {
                    Next::Alone => {
                        self.sum = narrow::reduce(narrow::multiply(_mm_xor_si128(self.sum, block), self.h));
                        Next::Waits
                    }
                    Next::Waits => {
                        self.held = block;
                        Next::Joins
                    }
                    Next::Joins => {
                        let before = narrow::multiply(_mm_xor_si128(self.sum, self.held), self.h2);
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
                    self.push(crate::gcm::x86_64::part::load_part(rest));
                }
            }

            #[inline]
            $(#[$feature])*
            fn end(&self) -> __m128i {
                if self.next == Next::Joins {
                    narrow::reduce(narrow::multiply(_mm_xor_si128(self.sum, self.held), self.h))
                } else {
                    self.sum
                }
            }
        }
    };
}
