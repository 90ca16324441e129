//! CBC encryption of many messages side by side: each register holds one block of each of several
//! messages, which have keys, initialization vectors and lengths of their own.
//!
//! One message alone is a chain: a processor that could begin one or two rounds a cycle waits three
//! or four for each. Sixteen messages in four 512-bit registers, or in eight of 256 bits, keep it
//! busy; so do eight in 128-bit ones. Fewer messages take as many registers as they fill. All run
//! until the shortest ends; the next message takes its place. When there is none, the others close
//! up, and the last one continues alone. Without AES instructions, messages go one by one.
//!
//! Short messages also go one by one, because the processor overlaps them by itself. Constant time
//! in keys and data, not in lengths.

pub(crate) mod aarch64;
mod registers128;
mod table;
pub(crate) mod x86_64;

use core::{mem, slice};

use super::{Aes, AesForward, RoundKeys, portable};
use crate::Isa;
use crate::lanes::Lane;

macro_rules! key_size {
    ($aes:ident, $bits:literal) => {
        impl $aes<$bits> {
            /// Encrypts a chain of blocks (CBC; NIST SP 800-38A, section 6.2) in each of `lanes`,
            /// side by side: the same as [`cbc_encrypt`] one by one.
            ///
            /// Any number of messages of any lengths, none included, each with its own key.
            /// Constant time in keys and data. Round keys stay on the stack until
            /// [`wipe::stack`](crate::wipe::stack) is called, as with any kernel.
            ///
            /// [`cbc_encrypt`]: crate::BlockEncrypt::cbc_encrypt
            pub fn cbc_encrypt_lanes(lanes: &mut [Lane<'_, Self, 16>]) {
                const { assert!(mem::offset_of!(Self, forward) == 0) };
                let (first, count) = (lanes.as_mut_ptr(), lanes.len());
                // SAFETY: both types of lanes have the same layout, and a reference to a key leads
                // to its schedule, which is its first field. No kernel replaces a key.
                cbc_encrypt(unsafe { slice::from_raw_parts_mut(first.cast(), count) });
            }
        }
    };
}

key_size!(Aes, 128);
key_size!(Aes, 192);
key_size!(Aes, 256);
key_size!(AesForward, 128);
key_size!(AesForward, 192);
key_size!(AesForward, 256);

/// A message with the schedule of its key, whatever type that has. All of a batch have the same
/// number of rounds.
pub(crate) type Chain<'a> = Lane<'a, RoundKeys, 16>;

fn cbc_encrypt(lanes: &mut [Chain<'_>]) {
    let Some(isa) = lanes.first().map(|lane| lane.key.isa()) else { return };
    by_isa!(crate::aes::lanes, isa, cbc_encrypt(isa, lanes):
        Avx512, Avx2Vaes, AesNi, ArmAes, _ => one_by_one);
}

/// Without AES instructions.
mod one_by_one {
    use super::{Chain, Isa, alone};

    pub(super) fn cbc_encrypt(_isa: Isa, lanes: &mut [Chain<'_>]) {
        lanes.iter_mut().for_each(alone);
    }
}

/// One message by itself.
#[inline(never)]
fn alone(lane: &mut Chain<'_>) {
    let (keys, chain, blocks) = (lane.key, &mut { *lane.iv }, lane.blocks.reborrow());
    best!(keys.isa(), cbc_encrypt(keys, chain, blocks));
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::BlockEncrypt;
    use crate::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        let kernels = crate::aes::KERNELS;
        let mut data = [[[0; 16]; 5]; 3];
        assert_best(kernels, |isa| {
            let key = Aes::<128>::new(isa, &[1; 16]);
            let mut lanes = data.each_mut().map(|data| Lane {
                key: &key,
                iv: &[2; 16],
                blocks: (&mut data[..]).into(),
            });
            forget();
            Aes::<128>::cbc_encrypt_lanes(&mut lanes);
        });
    }
}
