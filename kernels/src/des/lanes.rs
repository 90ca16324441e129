//! CBC encryption of many messages side by side, each under its own key.
//!
//! One block after the other is all that CBC allows within a message; the lanes of a register take
//! blocks of different messages. `Avx512` has 64 lanes, and a step of all of them takes as long as
//! four blocks by tables, two messages at a time. Bitslicing has 256 lanes with `Avx2` and 64 in
//! plain Rust; a step is worth 40 blocks there, or 28. What is too little for lanes, or left over
//! when no message waits any more, goes by tables, two messages at a time: NOT constant time, see
//! the [module](super). In lanes everything is constant time but lengths.
//!
//! By tables goes whatever is left of the last messages when fewer than so many that are not empty
//! are on their way: 5 at `Avx512`, 40 at `Avx2` in batches of more than 64, else 28. A smaller
//! batch goes so from the beginning; at `Avx512` also one of at most 64 messages that have together
//! no more blocks than four times the longest and 16. So only messages that end with enough others
//! are encrypted in constant time to their ends.

#[cfg(all(target_arch = "x86_64", feature = "isa-avx2"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
mod avx512;
mod portable;
mod scalar;
mod sliced;
mod slots;

use core::cmp::Reverse;

use super::schedule::KEYS;
use super::{Des, TripleDes};
use crate::Isa;
use crate::lanes::Lane;

impl Des {
    /// Encrypts each lane's message as [`cbc_encrypt`](crate::BlockEncrypt::cbc_encrypt) does.
    ///
    /// Any number of lanes, of any lengths; they may come out in another order. Where their keys
    /// were expanded for different instruction sets, the lowest serves all. What goes in lanes and not by tables is constant
    /// time in keys and data, not in lengths.
    pub fn cbc_encrypt_lanes(lanes: &mut [Lane<'_, Self, 8>]) {
        cbc_encrypt_lanes(lanes);
    }
}

impl TripleDes {
    /// Encrypts each lane's message as [`cbc_encrypt`](crate::BlockEncrypt::cbc_encrypt) does.
    ///
    /// Any number of lanes, of any lengths; they may come out in another order. Where their keys
    /// were expanded for different instruction sets, the lowest serves all. What goes in lanes and not by tables is constant
    /// time in keys and data, not in lengths.
    pub fn cbc_encrypt_lanes(lanes: &mut [Lane<'_, Self, 8>]) {
        cbc_encrypt_lanes(lanes);
    }
}

/// Messages that all take a lane at once at every level.
const SIDE_BY_SIDE: usize = 64;

/// `N` times DES.
trait Times<const N: usize> {
    fn keys(&self) -> &[[u64; KEYS]; N];
    fn isa(&self) -> Isa;
}

impl Times<1> for Des {
    fn keys(&self) -> &[[u64; KEYS]; 1] {
        &self.keys
    }

    fn isa(&self) -> Isa {
        self.isa
    }
}

impl Times<3> for TripleDes {
    fn keys(&self) -> &[[u64; KEYS]; 3] {
        &self.keys
    }

    fn isa(&self) -> Isa {
        self.isa
    }
}

fn cbc_encrypt_lanes<C: Times<N>, const N: usize>(lanes: &mut [Lane<'_, C, 8>]) {
    let Some(isa) = lanes.iter().map(|lane| lane.key.isa()).min() else { return };
    // Longest first: what is left when no more wait is then of few blocks, and ends together.
    if lanes.len() > SIDE_BY_SIDE {
        lanes.sort_unstable_by_key(|lane| Reverse(lane.blocks.len()));
    }
    by_isa!(isa, cbc_encrypt_lanes(lanes): Avx512 => avx512, Avx2 => avx2, _ => portable);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::{assert_best, forget};
    use crate::{BlockEncrypt, des};

    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [[[0; 8]; 3]; 300];
        assert_best(des::KERNELS, |isa| {
            let keys = [1, 2].map(|byte| Des::new(isa, &[byte; 8]));
            forget();
            let mut lanes: Vec<_> = data
                .iter_mut()
                .zip(keys.iter().cycle())
                .map(|(data, key)| Lane { key, iv: &[3; 8], blocks: (&mut data[..]).into() })
                .collect();
            Des::cbc_encrypt_lanes(&mut lanes);
        });
        assert_best(des::KERNELS, |isa| {
            let key = TripleDes::new(isa, &(&[1; 24]).into());
            forget();
            let blocks = (&mut data[0][..]).into();
            TripleDes::cbc_encrypt_lanes(&mut [Lane { key: &key, iv: &[3; 8], blocks }]);
        });
    }
}
