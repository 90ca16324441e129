//! Messages of different keys and nonces side by side.
//!
//! What a message makes one after the other (its keys, their schedule, its tag, its keystream) is
//! independent of other messages. At `Avx512` a register holds a block of each of four messages,
//! and up to eight are in flight. Longer messages fill the processor alone and go one by one, as
//! all do at lower levels.

pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;

use super::{AesGcmSiv, OPEN, SEAL};
use crate::isa::{Mode, lowest};
use crate::{AeadLanes, Isa, Level};

/// One message of a batch: its key, nonce, associated data and data, and the place of its tag.
pub struct Lane<'a, const BITS: usize> {
    cipher: &'a AesGcmSiv<BITS>,
    /// Behind four zeros.
    nonce: [u8; 16],
    aad: &'a [u8],
    data: InOutBuf<'a, 'a, u8>,
    tag: &'a mut [u8; 16],
}

impl<const BITS: usize> fmt::Debug for Lane<'_, BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("bytes", &self.data.len()).finish_non_exhaustive()
    }
}

macro_rules! key_size {
    ($bits:literal) => {
        impl AeadLanes for AesGcmSiv<$bits> {
            const FROM: Level = Level::Avx512;

            type Lane<'a> = Lane<'a, $bits>;

            #[inline(always)]
            fn lane<'a>(
                &'a self,
                nonce: &[u8; 12],
                aad: &'a [u8],
                data: InOutBuf<'a, 'a, u8>,
                tag: &'a mut [u8; 16],
            ) -> Lane<'a, $bits> {
                let [a, b, c, d, e, f, g, h, i, j, k, l] = *nonce;
                let nonce = [0, 0, 0, 0, a, b, c, d, e, f, g, h, i, j, k, l];
                Lane { cipher: self, nonce, aad, data, tag }
            }

            #[inline(never)]
            fn seal_lanes(lanes: &mut [Lane<'_, $bits>]) {
                by_level::<$bits, SEAL>(lanes);
            }

            #[inline(never)]
            fn open_lanes(lanes: &mut [Lane<'_, $bits>]) {
                by_level::<$bits, OPEN>(lanes);
            }

            #[inline(always)]
            fn lane_tag<'l>(lane: &'l Lane<'_, $bits>) -> &'l [u8; 16] {
                lane.tag
            }

            #[inline(always)]
            fn lane_output<'l>(lane: &'l mut Lane<'_, $bits>) -> &'l mut [u8] {
                lane.data.get_out()
            }
        }
    };
}

key_size!(128);
key_size!(256);

#[inline(always)]
fn by_level<const BITS: usize, const MODE: bool>(lanes: &mut [Lane<'_, BITS>]) {
    let isas = lanes.iter().map(|lane| lane.cipher.cipher.isa());
    let (isa, mode) = (lowest(isas).unwrap_or(Isa::PORTABLE), Mode::<MODE>);
    by_isa!(crate::gcm_siv::lanes, isa, run(lanes, mode): Avx512, _ => sequential);
}

/// A message alone.
fn one<const BITS: usize, const MODE: bool>(lane: &mut Lane<'_, BITS>) {
    let [_, _, _, _, a, b, c, d, e, f, g, h, i, j, k, l] = lane.nonce;
    let nonce = [a, b, c, d, e, f, g, h, i, j, k, l];
    let received = *lane.tag;
    *lane.tag = lane.cipher.run::<MODE>(&nonce, lane.aad, lane.data.reborrow(), &received);
}

mod sequential {
    use super::{Lane, Mode, one};

    pub(super) fn run<const BITS: usize, const MODE: bool>(
        lanes: &mut [Lane<'_, BITS>],
        _: Mode<MODE>,
    ) {
        for lane in lanes {
            one::<BITS, MODE>(lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Aead;
    use crate::isa::reached::assert_best;

    /// Below `Avx512` the last dispatch is that of a message alone.
    #[test]
    fn every_level_reaches_its_kernel() {
        let (mut data, mut tags) = ([[0; 50]; 4], [[0; 16]; 4]);
        let levels = [
            Level::Portable,
            Level::Ssse3,
            Level::AesNi,
            Level::Avx2,
            Level::Avx2Vaes,
            Level::Avx512,
            Level::ArmAes,
        ];
        for run in [AesGcmSiv::<128>::seal_lanes, AesGcmSiv::<128>::open_lanes] {
            assert_best(&levels, |isa| {
                let cipher = AesGcmSiv::<128>::new(isa, &[1; 16]);
                let mut places = data.iter_mut().zip(&mut tags);
                let mut lanes = [0; 4].map(|_| {
                    let (data, tag) = places.next().expect("four of each");
                    cipher.lane(&[2; 12], &[3], (&mut data[..]).into(), tag)
                });
                run(&mut lanes);
            });
        }
    }
}
