//! Messages of different keys and nonces side by side.
//!
//! The steps of a message follow one another, and with registers of 128 bits one message keeps the
//! units for AES busy. From `Avx2Vaes` on a register holds a block of each of two messages, which
//! then take as long as one. Those side by side are of about the same length.

#[cfg(feature = "isa-avx2")]
mod group;
pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;

use super::{Aegis, OPEN, SEAL};
use crate::isa::{Mode, lowest};
use crate::{AeadLanes, Isa, Level};

/// One message of a batch: its key, nonce, associated data and data, and the place of its tag.
pub struct Lane<'a, const KEY: usize> {
    cipher: &'a Aegis<KEY>,
    nonce: [u8; KEY],
    aad: &'a [u8],
    data: InOutBuf<'a, 'a, u8>,
    tag: &'a mut [u8; 16],
}

impl<const KEY: usize> fmt::Debug for Lane<'_, KEY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("bytes", &self.data.len()).finish_non_exhaustive()
    }
}

macro_rules! key_size {
    ($bytes:literal) => {
        impl AeadLanes for Aegis<$bytes> {
            const FROM: Level = Level::Avx2Vaes;

            type Lane<'a> = Lane<'a, $bytes>;

            #[inline(always)]
            fn lane<'a>(
                &'a self,
                nonce: &[u8; $bytes],
                aad: &'a [u8],
                data: InOutBuf<'a, 'a, u8>,
                tag: &'a mut [u8; 16],
            ) -> Lane<'a, $bytes> {
                Lane { cipher: self, nonce: *nonce, aad, data, tag }
            }

            #[inline(never)]
            fn seal_lanes(lanes: &mut [Lane<'_, $bytes>]) {
                by_level::<$bytes, SEAL>(lanes);
            }

            #[inline(never)]
            fn open_lanes(lanes: &mut [Lane<'_, $bytes>]) {
                by_level::<$bytes, OPEN>(lanes);
            }

            #[inline(always)]
            fn lane_tag<'l>(lane: &'l Lane<'_, $bytes>) -> &'l [u8; 16] {
                lane.tag
            }

            #[inline(always)]
            fn lane_output<'l>(lane: &'l mut Lane<'_, $bytes>) -> &'l mut [u8] {
                lane.data.get_out()
            }
        }
    };
}

key_size!(16);
key_size!(32);

#[inline(always)]
fn by_level<const KEY: usize, const MODE: bool>(lanes: &mut [Lane<'_, KEY>]) {
    let isas = lanes.iter().map(|lane| lane.cipher.isa);
    let (isa, mode) = (lowest(isas).unwrap_or(Isa::PORTABLE), Mode::<MODE>);
    by_isa!(crate::aegis::lanes, isa, run(lanes, mode): Avx2Vaes, _ => sequential);
}

/// A message alone.
fn one<const KEY: usize, const MODE: bool>(lane: &mut Lane<'_, KEY>) {
    *lane.tag = lane.cipher.run::<MODE>(&lane.nonce, lane.aad, lane.data.reborrow());
}

mod sequential {
    use super::{Lane, Mode, one};

    pub(super) fn run<const KEY: usize, const MODE: bool>(
        lanes: &mut [Lane<'_, KEY>],
        _: Mode<MODE>,
    ) {
        for lane in lanes {
            one::<KEY, MODE>(lane);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Aead;
    use crate::isa::reached::assert_best;

    /// Below `Avx2Vaes` the last dispatch is that of a message alone.
    #[test]
    fn every_level_reaches_its_kernel() {
        let (mut data, mut tags) = ([[0; 50]; 4], [[0; 16]; 4]);
        let levels: Vec<_> = [crate::aegis::KERNELS, &[Level::Avx2Vaes]].concat();
        for run in [Aegis::<16>::seal_lanes, Aegis::<16>::open_lanes] {
            assert_best(&levels, |isa| {
                let cipher = Aegis::<16>::new(isa, &[1; 16]);
                let mut places = data.iter_mut().zip(&mut tags);
                let mut lanes = [0; 4].map(|_| {
                    let (data, tag) = places.next().expect("four of each");
                    cipher.lane(&[2; 16], &[3], (&mut data[..]).into(), tag)
                });
                run(&mut lanes);
            });
        }
    }
}
