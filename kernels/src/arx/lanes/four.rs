//! Four blocks of different keys, one in each lane of 32 bits, written once for all registers of
//! 128 bits.

/// The kernel. A message goes beside others if `$beside` says so of its number of blocks.
///
/// The module brings `across`, `row`, `splat`, `sums`, `add32` and `xor32`, and loads and stores:
/// `load128`, `store128` and `load_pair`.
macro_rules! four_lanes {
    ($vector:ty, $beside:expr, $(#[$feature:meta])*) => {
        /// XORs the keystream of each message into its data, by the cipher's double rounds.
        #[inline]
        $(#[$feature])*
        pub fn xor<M: StreamLane>(
            isa: Isa,
            rounds: Rounds,
            lanes: &mut [M],
            double_rounds: impl Fn([$vector; 16], usize) -> [$vector; 16] + Copy,
        ) {
            let four = |pass: &mut Pass<'_, M, 4>| four(rounds.count / 2, pass, double_rounds);
            fill(isa, rounds, lanes, $beside, four);
        }

        #[inline(never)]
        $(#[$feature])*
        fn four<M: StreamLane>(
            count: usize,
            pass: &mut Pass<'_, M, 4>,
            double_rounds: impl Fn([$vector; 16], usize) -> [$vector; 16],
        ) {
            let start = start(pass, 0);
            put(pass, 0, &sums(double_rounds(start, count), start));
        }

        /// XORs four blocks from the lane `first` on, in rows, into their places.
        #[inline]
        $(#[$feature])*
        fn put<M: StreamLane, const N: usize>(
            pass: &mut Pass<'_, M, N>,
            first: usize,
            blocks: &[[$vector; 4]; 4],
        ) {
            for (at, block) in (first..pass.count).zip(blocks) {
                let mut part = pass.part(at);
                if part.len() == 64 {
                    let mut other = *block;
                    for (other, text) in other.iter_mut().zip(part.get_in().as_chunks().0) {
                        *other = xor32(load128(text), *other);
                    }
                    for (out, other) in part.get_out().as_chunks_mut().0.iter_mut().zip(other) {
                        store128(out, other);
                    }
                } else {
                    let mut stream = [0; 64];
                    for (bytes, row) in stream.as_chunks_mut().0.iter_mut().zip(block) {
                        store128(bytes, *row);
                    }
                    let len = part.len();
                    part.xor_in2out(&stream[..len]);
                    wipe::memory(&mut stream);
                }
            }
        }

        /// The starts of four blocks from the lane `first` on.
        #[inline]
        $(#[$feature])*
        fn start<S: Starts<N>, const N: usize>(starts: &S, first: usize) -> [$vector; 16] {
            let words = |at| words(starts, first, at);
            state(S::CIPHER, [words(0), words(1), words(2), last(starts, first)])
        }

        /// Four words of the keys, each of all blocks.
        #[inline]
        $(#[$feature])*
        fn words<const N: usize>(
            starts: &impl Starts<N>,
            first: usize,
            at: usize,
        ) -> [$vector; 4] {
            let of = |block| row(row_of(starts.key(first + block), at));
            across([of(0), of(1), of(2), of(3)])
        }

        /// The last four words of all blocks.
        #[inline]
        $(#[$feature])*
        fn last<const N: usize>(starts: &impl Starts<N>, first: usize) -> [$vector; 4] {
            let pair = |at: usize| load_pair(starts.last(first + at));
            let [c0, c1, n0, n1] = across([pair(0), pair(1), pair(2), pair(3)]);
            let bits = starts.ahead() >> (4 * first);
            let ahead = |at: u64| u32::from((bits >> (4 * at)).to_le_bytes()[0] & 15);
            let ahead = row(&[ahead(0), ahead(1), ahead(2), ahead(3)]);
            let ahead = add32(ahead, splat(starts.all_ahead()));
            [add32(c0, ahead), c1, n0, n1]
        }
    };
}
