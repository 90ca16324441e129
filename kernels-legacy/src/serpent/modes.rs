//! The modes over registers that hold several blocks, written once for all widths.
//!
//! A macro for the same reason as in [`circuit`](super::circuit). A module that expands it brings,
//! beside what the circuits need, `load` and `store` of a register, `load_part` and `store_part` of
//! the front of one, `across`, which transposes 4 x 4 words within each 128 bits of four registers,
//! and `counters`.
//!
//! A group is four registers, 4 x `LANES` blocks; two groups are in flight while the data last.

use super::{bytes, words};

/// The counter of a request whose last word does not wrap.
pub(super) struct Counter {
    /// The first three words of all blocks.
    pub(super) words: [u32; 3],
    /// The last one as a number.
    pub(super) number: u32,
}

impl Counter {
    #[inline]
    pub(super) fn new(block: &[u8; 16]) -> Self {
        let [a, b, c, d] = words(block);
        Self { words: [a, b, c], number: d.swap_bytes() }
    }

    #[inline]
    pub(super) fn block(&self) -> [u8; 16] {
        let [a, b, c] = self.words;
        bytes([a, b, c, self.number.swap_bytes()])
    }
}

/// `$lanes` is the number of blocks in a register; `$few` the module whose kernels take requests of
/// up to `$most` blocks.
macro_rules! modes {
    ($vector:ty, $lanes:literal, $few:ident, $most:literal, $(#[$feature:meta])*) => {
        /// Blocks in a register.
        const LANES: usize = $lanes;
        /// Blocks in a group.
        const GROUP: usize = 4 * LANES;
        /// Bytes in a register.
        const WIDTH: usize = 16 * LANES;

        $(#[$feature])*
        pub(crate) fn encrypt(
            keys: &[[u32; 4]; 33],
            blocks: InOutBuf<'_, '_, [u8; 16]>,
        ) {
            let mut blocks = blocks;
            while blocks.len() >= 2 * GROUP {
                let (part, rest) = blocks.split_at(2 * GROUP);
                encrypt_part::<2>(keys, part);
                blocks = rest;
            }
            match blocks.len() {
                0 => {}
                1..=$most => $few::encrypt(keys, blocks),
                count if count <= GROUP => encrypt_part::<1>(keys, blocks),
                _ => encrypt_part::<2>(keys, blocks),
            }
        }

        $(#[$feature])*
        pub(crate) fn decrypt(
            keys: &[[u32; 4]; 33],
            blocks: InOutBuf<'_, '_, [u8; 16]>,
        ) {
            let mut blocks = blocks;
            while blocks.len() >= 2 * GROUP {
                let (part, rest) = blocks.split_at(2 * GROUP);
                decrypt_part::<2>(keys, part);
                blocks = rest;
            }
            match blocks.len() {
                0 => {}
                1..=$most => $few::decrypt(keys, blocks),
                count if count <= GROUP => decrypt_part::<1>(keys, blocks),
                _ => decrypt_part::<2>(keys, blocks),
            }
        }

        $(#[$feature])*
        pub(crate) fn cbc_decrypt(
            keys: &[[u32; 4]; 33],
            iv: &mut [u8; 16],
            blocks: InOutBuf<'_, '_, [u8; 16]>,
        ) {
            let mut blocks = blocks;
            while blocks.len() >= 2 * GROUP {
                let (part, rest) = blocks.split_at(2 * GROUP);
                cbc_decrypt_part::<2>(keys, iv, part);
                blocks = rest;
            }
            match blocks.len() {
                0 => {}
                1..=$most => $few::cbc_decrypt(keys, iv, blocks),
                count if count <= GROUP => cbc_decrypt_part::<1>(keys, iv, blocks),
                _ => cbc_decrypt_part::<2>(keys, iv, blocks),
            }
        }

        $(#[$feature])*
        pub(crate) fn xor_stream(
            keys: &[[u32; 4]; 33],
            counter: &[u8; 16],
            data: InOutBuf<'_, '_, u8>,
        ) {
            ctr::<true>(keys, counter, data);
        }

        $(#[$feature])*
        pub(crate) fn write_stream(
            keys: &[[u32; 4]; 33],
            counter: &[u8; 16],
            out: &mut [u8],
        ) {
            ctr::<false>(keys, counter, out.into());
        }

        /// Writes keystream, or if `XOR` adds it to the input.
        #[inline]
        $(#[$feature])*
        fn ctr<const XOR: bool>(
            keys: &[[u32; 4]; 33],
            counter: &[u8; 16],
            data: InOutBuf<'_, '_, u8>,
        ) {
            let mut data = data;
            const FEW: usize = 16 * $most;
            let mut counter = Counter::new(counter);
            while data.len() >= 2 * 16 * GROUP {
                let (part, rest) = data.split_at(2 * 16 * GROUP);
                ctr_part::<2, XOR>(keys, &mut counter, part);
                data = rest;
            }
            match data.len() {
                0 => {}
                1..=FEW if XOR => $few::xor_stream(keys, &counter.block(), data),
                1..=FEW => $few::write_stream(keys, &counter.block(), data.get_out()),
                count if count <= 16 * GROUP => ctr_part::<1, XOR>(keys, &mut counter, data),
                _ => ctr_part::<2, XOR>(keys, &mut counter, data),
            }
        }

        /// Writes keystream, or if `XOR` adds it to the input.
        #[inline]
        $(#[$feature])*
        fn ctr_part<const G: usize, const XOR: bool>(
            keys: &[[u32; 4]; 33],
            counter: &mut Counter,
            data: InOutBuf<'_, '_, u8>,
        ) {
            let mut data = data;
            let [a, b, c] = counter.words;
            let mut states = [[splat(a), splat(b), splat(c), splat(0)]; G];
            for x in &mut states {
                x[3] = counters(counter.number);
                counter.number = counter.number.wrapping_add(4 * $lanes);
            }
            encrypt_rounds(keys, &mut states);
            let mut stream = across_all(states);
            if XOR {
                let input = data.get_in();
                for (n, x) in stream.as_flattened_mut().iter_mut().enumerate() {
                    *x = xor(*x, load_at(input, n * WIDTH));
                }
            }
            store_all(data.get_out(), stream);
        }

        #[inline]
        $(#[$feature])*
        fn encrypt_part<const G: usize>(
            keys: &[[u32; 4]; 33],
            blocks: InOutBuf<'_, '_, [u8; 16]>,
        ) {
            let mut blocks = blocks;
            let mut x = across_all(load_all::<G>(blocks.get_in().as_flattened()));
            encrypt_rounds(keys, &mut x);
            store_all(blocks.get_out().as_flattened_mut(), across_all(x));
        }

        #[inline]
        $(#[$feature])*
        fn decrypt_part<const G: usize>(
            keys: &[[u32; 4]; 33],
            blocks: InOutBuf<'_, '_, [u8; 16]>,
        ) {
            let mut blocks = blocks;
            let mut x = across_all(load_all::<G>(blocks.get_in().as_flattened()));
            decrypt_rounds(keys, &mut x);
            store_all(blocks.get_out().as_flattened_mut(), across_all(x));
        }

        #[inline]
        $(#[$feature])*
        fn cbc_decrypt_part<const G: usize>(
            keys: &[[u32; 4]; 33],
            iv: &mut [u8; 16],
            blocks: InOutBuf<'_, '_, [u8; 16]>,
        ) {
            let mut blocks = blocks;
            let input = blocks.get_in().as_flattened();
            let mut x = across_all(load_all::<G>(input));
            decrypt_rounds(keys, &mut x);
            let mut x = across_all(x);
            // The values that are XORed into the registers begin one block before them, with the
            // IV. In place, all of the input is read before any of it is overwritten.
            let mut first = [0; WIDTH];
            let (front, back) = first.split_at_mut(16);
            front.copy_from_slice(iv);
            let len = back.len().min(input.len());
            back[..len].copy_from_slice(&input[..len]);
            for (n, x) in x.as_flattened_mut().iter_mut().enumerate() {
                let before = match n {
                    0 => load(&first),
                    _ => load_at(input, n * WIDTH - 16),
                };
                *x = xor(*x, before);
            }
            if let Some(last) = blocks.get_in().last() {
                *iv = *last;
            }
            store_all(blocks.get_out().as_flattened_mut(), x);
        }

        /// Loads groups, whose ends may be missing.
        #[inline]
        $(#[$feature])*
        fn load_all<const G: usize>(bytes: &[u8]) -> [[$vector; 4]; G] {
            let mut groups = [[splat(0); 4]; G];
            for (n, x) in groups.as_flattened_mut().iter_mut().enumerate() {
                *x = load_at(bytes, n * WIDTH);
            }
            groups
        }

        #[inline]
        $(#[$feature])*
        fn load_at(bytes: &[u8], at: usize) -> $vector {
            let bytes = bytes.get(at..).unwrap_or(&[]);
            match bytes.first_chunk() {
                Some(register) => load(register),
                // A masked load of no bytes is slow if no memory is mapped there.
                None if bytes.is_empty() => splat(0),
                None => load_part(bytes),
            }
        }

        /// Stores as many bytes as there is room for.
        #[inline]
        $(#[$feature])*
        fn store_all<const G: usize>(out: &mut [u8], groups: [[$vector; 4]; G]) {
            for (part, x) in out.chunks_mut(WIDTH).zip(groups.as_flattened()) {
                match part.first_chunk_mut() {
                    Some(register) => store(register, *x),
                    None => store_part(part, *x),
                }
            }
        }

        #[inline]
        $(#[$feature])*
        fn across_all<const G: usize>(mut groups: [[$vector; 4]; G]) -> [[$vector; 4]; G] {
            for group in &mut groups {
                *group = across(*group);
            }
            groups
        }
    };
}
