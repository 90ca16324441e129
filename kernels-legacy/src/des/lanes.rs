//! CBC encryption of many messages side by side, each under its own key.
//!
//! CBC encrypts the blocks of one message one after the other, so the lanes of a register take
//! blocks of different messages. `Avx512` has 64 lanes; bitslicing has 256 with `Avx2`, and 64 in
//! plain Rust. The alternative is tables, for two messages at a time. One step of all lanes takes
//! as long as a few blocks by tables: 4 at `Avx512`, 40 at `Avx2`, 28 in plain Rust.
//!
//! Lanes are constant time, except in lengths. Tables are NOT constant time; see the
//! [module](super).
//!
//! **When tables take over.** A batch goes through lanes while at least `FEWEST` messages are
//! unfinished: 5 at `Avx512`; 40 at `Avx2` in batches of more than 64 messages; else 28. When fewer
//! are left and none waits, tables finish them. A batch that is smaller than `FEWEST` uses only
//! tables. So does a batch of at most 64 messages at `Avx512` whose blocks together are at most 16
//! more than four times those of its longest message. A message is therefore encrypted in constant
//! time to its end only if enough others end with it.

mod portable;
mod scalar;
mod sliced;
mod slots;
pub(crate) mod x86_64;

use core::cmp::Reverse;

use lanecrypt_kernels::Isa;
use lanecrypt_kernels::isa::lowest;
use lanecrypt_kernels::lanes::Lane;

use super::schedule::KEYS;
use super::{Des, TripleDes};

impl Des {
    /// Encrypts each lane's message as
    /// [`cbc_encrypt`](lanecrypt_kernels::BlockEncrypt::cbc_encrypt) does.
    ///
    /// Any number of lanes, of any lengths; their order may change. If the keys were expanded for
    /// different instruction sets, the lowest of them is used. Blocks that go through lanes, not
    /// tables, are encrypted in constant time in keys and data, not in lengths.
    pub fn cbc_encrypt_lanes(lanes: &mut [Lane<'_, Self, 8>]) {
        cbc_encrypt_lanes(lanes);
    }
}

impl TripleDes {
    /// Encrypts each lane's message as
    /// [`cbc_encrypt`](lanecrypt_kernels::BlockEncrypt::cbc_encrypt) does.
    ///
    /// Any number of lanes, of any lengths; their order may change. If the keys were expanded for
    /// different instruction sets, the lowest of them is used. Blocks that go through lanes, not
    /// tables, are encrypted in constant time in keys and data, not in lengths.
    pub fn cbc_encrypt_lanes(lanes: &mut [Lane<'_, Self, 8>]) {
        cbc_encrypt_lanes(lanes);
    }
}

/// Messages that take a lane all at once, at every level.
const SIDE_BY_SIDE: usize = 64;

/// `N` times DES.
pub(crate) trait Times<const N: usize> {
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
    let Some(isa) = lowest(lanes.iter().map(|lane| lane.key.isa())) else { return };
    // Longest first: the last messages then have few blocks, and end together.
    if lanes.len() > SIDE_BY_SIDE {
        lanes.sort_unstable_by_key(|lane| Reverse(lane.blocks.len()));
    }
    by_isa!(crate::des::lanes, isa, cbc_encrypt_lanes(lanes): Avx512, Avx2, _ => portable);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::des;
    use lanecrypt_kernels::BlockEncrypt;
    use lanecrypt_kernels::isa::reached::{assert_best, forget};

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
