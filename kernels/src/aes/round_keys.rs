//! The key schedule of a direction, for keys of any length.

use zeroize::ZeroizeOnDrop;

use crate::{Isa, wipe};

/// Round keys of the longest schedule, that of AES-256: one before each of 14 rounds and a last.
pub(crate) const MAX_KEYS: usize = 15;

/// Rounds of a key size, so that an index of a round key is known to be one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounds {
    Ten = 10,
    Twelve = 12,
    Fourteen = 14,
}

/// The round keys of a direction in the order in which the rounds take them, wiped on drop.
///
/// Kernels have one body for all key sizes. The number of rounds is public.
//
// With this alignment no key lies across two cache lines.
#[repr(C, align(16))]
pub(crate) struct RoundKeys {
    keys: [[u8; 16]; MAX_KEYS],
    rounds: Rounds,
    isa: Isa,
}

impl RoundKeys {
    /// Room for the schedule of a key of `bits` bits (128, 192 or 256), for the kernels of `isa`.
    #[inline]
    pub(crate) const fn empty(bits: usize, isa: Isa) -> Self {
        let rounds = match bits {
            128 => Rounds::Ten,
            192 => Rounds::Twelve,
            _ => Rounds::Fourteen,
        };
        Self { keys: [[0; 16]; MAX_KEYS], rounds, isa }
    }

    /// Room for another schedule of as many keys.
    #[inline]
    pub(crate) fn room(&self) -> Self {
        Self { keys: [[0; 16]; MAX_KEYS], rounds: self.rounds, isa: self.isa }
    }

    /// Whether they come from a key of 256 bits.
    #[inline(always)]
    pub(crate) fn are_longest(&self) -> bool {
        self.rounds == Rounds::Fourteen
    }

    #[inline(always)]
    pub(crate) fn isa(&self) -> Isa {
        self.isa
    }

    /// The number of rounds: 10, 12 or 14.
    #[inline(always)]
    pub(crate) fn rounds(&self) -> usize {
        self.rounds as usize
    }

    /// The key that is added before the first round.
    #[inline(always)]
    pub(crate) fn first(&self) -> &[u8; 16] {
        &self.keys[0]
    }

    /// Those of all rounds but the last.
    #[inline(always)]
    pub(crate) fn middle(&self) -> &[[u8; 16]] {
        &self.keys[1..self.rounds()]
    }

    /// [`middle`](Self::middle) in two parts: those that every schedule has, and 0, 2 or 4 others.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[inline(always)]
    pub(crate) fn nine_and_more(&self) -> (&[[u8; 16]; 9], &[[u8; 16]]) {
        let [_, nine @ .., _, _, _, _, _] = &self.keys;
        (nine, &self.keys[10..self.rounds()])
    }

    /// [`middle`](Self::middle) as an array.
    #[inline(always)]
    pub(crate) fn middle_by_size(&self) -> Middle<'_> {
        match self.rounds {
            Rounds::Ten => Middle::Nine(middle(&self.keys)),
            Rounds::Twelve => Middle::Eleven(middle(&self.keys)),
            Rounds::Fourteen => Middle::Thirteen(middle(&self.keys)),
        }
    }

    /// That of the last round.
    #[inline(always)]
    pub(crate) fn last(&self) -> &[u8; 16] {
        &self.keys[self.rounds()]
    }

    /// That of a round, or zeros after the last.
    #[inline(always)]
    pub(crate) fn of_round(&self, round: usize) -> &[u8; 16] {
        &self.keys[round]
    }

    #[inline(always)]
    pub(crate) fn all(&self) -> &[[u8; 16]] {
        &self.keys[..=self.rounds()]
    }

    #[inline(always)]
    pub(crate) fn all_mut(&mut self) -> &mut [[u8; 16]] {
        let rounds = self.rounds();
        &mut self.keys[..=rounds]
    }

    /// Room for the longest schedule.
    #[inline(always)]
    pub(crate) fn room_mut(&mut self) -> &mut [[u8; 16]; MAX_KEYS] {
        &mut self.keys
    }
}

/// The round keys between the first and the last, as many as the key size has.
pub(crate) enum Middle<'a> {
    Nine(&'a [[u8; 16]; 9]),
    Eleven(&'a [[u8; 16]; 11]),
    Thirteen(&'a [[u8; 16]; 13]),
}

#[inline(always)]
fn middle<const N: usize>(keys: &[[u8; 16]; MAX_KEYS]) -> &[[u8; 16]; N] {
    const { assert!(N + 1 < MAX_KEYS) };
    keys[1..].first_chunk().expect("asserted: the array is longer")
}

impl Drop for RoundKeys {
    #[inline]
    fn drop(&mut self) {
        wipe::memory(self.keys.as_flattened_mut());
    }
}

impl ZeroizeOnDrop for RoundKeys {}
