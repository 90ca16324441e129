//! CBC encryption of many messages side by side, each with its own key: a register holds one word
//! of a block of each of several messages. Constant time in keys and data; lengths are public.
//!
//! A form of the kernel works on a fixed number of lanes. Round keys lie transposed like the data,
//! in a table of 33 x 4 registers a group, so that adding one costs a load. A run lasts until the
//! shortest message ends; lanes that have ended take the next one that waits. When none waits and
//! few are left, these continue in a narrower form, the last one in the serial kernel.
//!
//! The limit, for 16 lanes of 512 bits: 7.4 instructions for an S-box and 16 for the linear
//! transformation with the key, 32 times, at two a cycle: 375 cycles of the core for 256 bytes, and
//! 20 more for loads, stores and transposing.

pub(super) mod sequential;
#[cfg(feature = "_vectors")]
pub(super) mod slots;

#[cfg(feature = "_vectors")]
use inout::InOutBuf;
#[cfg(feature = "_vectors")]
use lanecrypt_kernels::lanes::Lane;

#[cfg(feature = "_vectors")]
use self::slots::Slots;
#[cfg(feature = "_vectors")]
use crate::serpent::Serpent;

/// Encrypts all messages: `run` takes as many lanes as suit the number that is left, until fewer
/// are, and `alone` takes one message. Two messages go side by side if each has `worth_two` blocks.
#[cfg(feature = "_vectors")]
#[inline(always)]
pub(super) fn drive<const MOST: usize>(
    lanes: &mut [Lane<'_, Serpent, 16>],
    worth_two: usize,
    alone: impl Fn(&[[u32; 4]; 33], &mut [u8; 16], InOutBuf<'_, '_, [u8; 16]>),
    run: impl Fn(&mut Slots<'_, '_, MOST>, u32),
) {
    if lanes.len() < 2 || lanes.len() == 2 && lanes.iter().any(|l| l.blocks.len() < worth_two) {
        for lane in lanes {
            let mut chain = *lane.iv;
            alone(&lane.key.keys, &mut chain, lane.blocks.reborrow());
        }
        return;
    }
    let Some(mut slots) = Slots::new(lanes) else { return };
    while !slots.are_short(worth_two) {
        let count = slots.count();
        run(&mut slots, count);
        slots.close_up();
    }
    while let Some((keys, chain, blocks)) = slots.take_out() {
        alone(keys, chain, blocks);
    }
}

/// Defines `encrypt_lanes`, for `G` groups of as many lanes as there are words in a register: the
/// steps of one group fill the waits of the other.
///
/// A macro for the same reason as in [`circuit`](super::circuit). A module that expands it brings
/// `s0` to `s7`, `xor`, `linear_with`, which takes a round key in registers, `load` and `store` of
/// a register, `join`, which makes a register of blocks, `split`, its inverse, and `across`, which
/// transposes 4 x 4 words within each 128 bits of four registers. `$quarter` counts the blocks in a
/// register, `$most` is the number of lanes of the widest form of the instruction set.
#[cfg(feature = "_vectors")]
macro_rules! lanes {
    ($vector:ty, [$($quarter:literal)*], $most:literal, $(#[$feature:meta])*) => {
        /// Bytes in a register.
        const WIDTH: usize = size_of::<$vector>();
        /// Lanes in a group.
        const GROUP: usize = WIDTH / 4;
        /// More new keys in a group are transposed together with the others.
        const FEW_KEYS: usize = GROUP / 4;

        /// Round keys. Word `i` of a round key of all lanes of a group makes one register.
        ///
        /// [`encrypt_lanes`] writes all of it first; zeros before would cost a short batch a tenth.
        #[repr(align(64))]
        struct Keys<const G: usize>([[[MaybeUninit<[u8; WIDTH]>; 4]; G]; 33]);

        /// Encrypts until at most `fewer` messages are left and a narrower form suits them.
        #[inline(never)]
        $(#[$feature])*
        pub(super) fn encrypt_lanes<const G: usize>(
            slots: &mut Slots<'_, '_, $most>,
            fewer: u32,
        ) {
            slots.lend(G * GROUP);
            let mut keys = Keys([[[MaybeUninit::uninit(); 4]; G]; 33]);
            for group in 0..G {
                set_keys(&mut keys, slots, group);
            }
            while !slots.suit(fewer) {
                // SAFETY: a message is left, all are in these lanes, and the other lanes have been
                // lent its input: at first above, and whenever a message ended by `pass`.
                let end = unsafe { run(&keys, slots) };
                let changed = slots.pass(G * GROUP, end);
                for group in 0..G {
                    let mut changed = changed >> (group * GROUP) & ((1 << GROUP) - 1);
                    if changed.count_ones() as usize > FEW_KEYS {
                        set_keys(&mut keys, slots, group);
                    } else {
                        while changed > 0 {
                            set_key(&mut keys, slots, group, changed.trailing_zeros() as usize);
                            changed &= changed - 1;
                        }
                    }
                }
            }
        }

        /// Fills the table for all lanes of a group.
        #[inline(never)]
        $(#[$feature])*
        fn set_keys<const G: usize>(
            table: &mut Keys<G>,
            slots: &Slots<'_, '_, $most>,
            group: usize,
        ) {
            let keys: &[_; GROUP] = slots.keys(group);
            for (round, table) in table.0.iter_mut().enumerate() {
                let rows = [
                    join([$(block_of(&keys[4 * $quarter][round])),*]),
                    join([$(block_of(&keys[4 * $quarter + 1][round])),*]),
                    join([$(block_of(&keys[4 * $quarter + 2][round])),*]),
                    join([$(block_of(&keys[4 * $quarter + 3][round])),*]),
                ];
                for (table, x) in table[group].iter_mut().zip(across(rows)) {
                    let mut words = [0; WIDTH];
                    store(&mut words, x);
                    table.write(words);
                }
            }
        }

        /// Changes the table for one lane of a group.
        //
        // Without wide registers, where the compiler would scatter the words: it is no faster, and
        // no kernel may have such an instruction.
        #[inline(never)]
        fn set_key<const G: usize>(
            table: &mut Keys<G>,
            slots: &Slots<'_, '_, $most>,
            group: usize,
            lane: usize,
        ) {
            let key = slots.keys::<GROUP>(group)[lane];
            for (table, key) in table.0.iter_mut().zip(key) {
                for (table, word) in table[group].iter_mut().zip(key) {
                    // SAFETY: the whole table has been written before any lane is changed.
                    let table = unsafe { table.assume_init_mut() };
                    table.as_chunks_mut().0[lane] = word.to_le_bytes();
                }
            }
        }

        /// Encrypts the blocks of all lanes to before the one where a message ends, and returns
        /// the number of that one.
        ///
        /// # Safety
        ///
        /// All messages, at least one, must be in these lanes, and the others must have been lent
        /// the input of one since the last message ended or came.
        #[inline(never)]
        $(#[$feature])*
        unsafe fn run<const G: usize>(keys: &Keys<G>, slots: &mut Slots<'_, '_, $most>) -> usize {
            let end = slots.first_end(G * GROUP);
            let mut x = [load_chains(slots, 0); G];
            for (group, x) in x.iter_mut().enumerate().skip(1) {
                *x = load_chains(slots, group);
            }
            let live = slots.live();
            for at in (16 * slots.now()..16 * end).step_by(16) {
                for (group, x) in x.iter_mut().enumerate() {
                    // SAFETY: all messages have the block, for the first one ends behind it; all
                    // lanes have a message or another's input.
                    *x = mix_with(*x, unsafe { take(slots, group, at) });
                }
                // Otherwise the loop would first load all round keys, or rather onto the stack.
                x = rounds(opaque_place(keys), x);
                for (group, x) in x.iter().enumerate() {
                    // SAFETY: these lanes have a message, and the message has the block.
                    unsafe { give(slots, live, group, at, *x) };
                }
            }
            for (group, x) in x.iter().enumerate() {
                store_chains(slots, group, *x);
            }
            end
        }

        #[inline]
        $(#[$feature])*
        fn load_chains(slots: &mut Slots<'_, '_, $most>, group: usize) -> [$vector; 4] {
            let chains: &[_; GROUP] = slots.chains(group);
            across([
                join([$(load128(&chains[4 * $quarter])),*]),
                join([$(load128(&chains[4 * $quarter + 1])),*]),
                join([$(load128(&chains[4 * $quarter + 2])),*]),
                join([$(load128(&chains[4 * $quarter + 3])),*]),
            ])
        }

        #[inline]
        $(#[$feature])*
        fn store_chains(slots: &mut Slots<'_, '_, $most>, group: usize, x: [$vector; 4]) {
            let chains: &mut [_; GROUP] = slots.chains(group);
            let [a, b, c, d] = across(x);
            let [a, b, c, d] = [split(a), split(b), split(c), split(d)];
            $(
                store128(&mut chains[4 * $quarter], a[$quarter]);
                store128(&mut chains[4 * $quarter + 1], b[$quarter]);
                store128(&mut chains[4 * $quarter + 2], c[$quarter]);
                store128(&mut chains[4 * $quarter + 3], d[$quarter]);
            )*
        }

        /// The next block of each lane of a group.
        ///
        /// # Safety
        ///
        /// That of [`Slots::block`], for all lanes of the group.
        #[inline]
        $(#[$feature])*
        unsafe fn take(slots: &Slots<'_, '_, $most>, group: usize, at: usize) -> [$vector; 4] {
            let mut rows = [[[0; 16]; WIDTH / 16]; 4];
            for (row, blocks) in rows.iter_mut().enumerate() {
                for (quarter, block) in blocks.iter_mut().enumerate() {
                    // SAFETY: the caller vouches for it.
                    *block = unsafe { slots.block(group * GROUP + 4 * quarter + row, at) };
                }
            }
            across([
                join([$(load128(&rows[0][$quarter])),*]),
                join([$(load128(&rows[1][$quarter])),*]),
                join([$(load128(&rows[2][$quarter])),*]),
                join([$(load128(&rows[3][$quarter])),*]),
            ])
        }

        /// Writes a block of each lane of a group whose bit is set.
        ///
        /// # Safety
        ///
        /// That of [`Slots::set_block`], for these lanes.
        #[inline]
        $(#[$feature])*
        unsafe fn give(
            slots: &Slots<'_, '_, $most>,
            live: u32,
            group: usize,
            at: usize,
            x: [$vector; 4],
        ) {
            let live = live >> (group * GROUP);
            let [a, b, c, d] = across(x);
            for (row, x) in [split(a), split(b), split(c), split(d)].into_iter().enumerate() {
                // Otherwise the compiler would test the bits of several lanes in a vector.
                let live = lanecrypt_kernels::opaque::word(live.into());
                for (quarter, x) in x.into_iter().enumerate() {
                    let lane = 4 * quarter + row;
                    if live >> lane & 1 == 1 {
                        let mut block = [0; 16];
                        store128(&mut block, x);
                        // SAFETY: the caller vouches for lanes whose bit is set.
                        unsafe { slots.set_block(group * GROUP + lane, at, block) };
                    }
                }
            }
        }

        /// The words of a round key, in one load.
        #[inline]
        $(#[$feature])*
        fn block_of(words: &[u32; 4]) -> __m128i {
            let [a, b, c, d] = words.map(u32::cast_signed);
            _mm_setr_epi32(a, b, c, d)
        }

        #[inline]
        $(#[$feature])*
        fn mix_with(x: [$vector; 4], y: [$vector; 4]) -> [$vector; 4] {
            [xor(x[0], y[0]), xor(x[1], y[1]), xor(x[2], y[2]), xor(x[3], y[3])]
        }

        #[inline]
        $(#[$feature])*
        fn words_of(key: &[MaybeUninit<[u8; WIDTH]>; 4]) -> [$vector; 4] {
            [word_of(&key[0]), word_of(&key[1]), word_of(&key[2]), word_of(&key[3])]
        }

        #[inline]
        $(#[$feature])*
        fn word_of(words: &MaybeUninit<[u8; WIDTH]>) -> $vector {
            // SAFETY: the whole table has been written before the first round.
            load(unsafe { words.assume_init_ref() })
        }

        /// The 32 rounds for all groups.
        #[inline]
        $(#[$feature])*
        fn rounds<const G: usize>(
            keys: &Keys<G>,
            mut x: [[$vector; 4]; G],
        ) -> [[$vector; 4]; G] {
            let (parts, last) = keys.0.as_chunks::<8>();
            for (n, k) in parts.iter().enumerate() {
                for (x, k) in x.iter_mut().zip(&k[0]) {
                    let k = words_of(k);
                    *x = if n == 0 { mix_with(*x, k) } else { linear_with(*x, k) };
                }
                for (x, k) in x.iter_mut().zip(&k[1]) {
                    *x = linear_with(s0(*x), words_of(k));
                }
                for (x, k) in x.iter_mut().zip(&k[2]) {
                    *x = linear_with(s1(*x), words_of(k));
                }
                for (x, k) in x.iter_mut().zip(&k[3]) {
                    *x = linear_with(s2(*x), words_of(k));
                }
                for (x, k) in x.iter_mut().zip(&k[4]) {
                    *x = linear_with(s3(*x), words_of(k));
                }
                for (x, k) in x.iter_mut().zip(&k[5]) {
                    *x = linear_with(s4(*x), words_of(k));
                }
                for (x, k) in x.iter_mut().zip(&k[6]) {
                    *x = linear_with(s5(*x), words_of(k));
                }
                for (x, k) in x.iter_mut().zip(&k[7]) {
                    *x = linear_with(s6(*x), words_of(k));
                }
                for x in &mut x {
                    *x = s7(*x);
                }
            }
            for (x, k) in x.iter_mut().zip(&last[0]) {
                *x = mix_with(*x, words_of(k));
            }
            x
        }
    };
}
