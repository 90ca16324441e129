//! Counter mode: the parts that all kernels share.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::AesForward;
use super::portable;
use crate::aes::RoundKeys;
use crate::isa::{Mode, WRITE, XOR};
use crate::{BlockEncrypt, Isa, Seek, StreamCore};

/// The place of the next counter block.
pub(crate) trait Counter {
    fn number(&self) -> u128;
    fn set(&mut self, number: u128);
}

impl Counter for u128 {
    #[inline]
    fn number(&self) -> u128 {
        *self
    }

    #[inline]
    fn set(&mut self, number: u128) {
        *self = number;
    }
}

impl Counter for [u8; 16] {
    #[inline]
    fn number(&self) -> u128 {
        u128::from_be_bytes(*self)
    }

    #[inline]
    fn set(&mut self, number: u128) {
        *self = number.to_be_bytes();
    }
}

/// XORs keystream from `counter` on into `data`, and leaves the next counter there.
///
/// Inlined into each method that does only this, so that a request makes one call less. It is not
/// one function with [`keystream`], generic over the data: callers would pass a copy of `data`.
#[inline(always)]
pub(crate) fn xor(
    isa: Isa,
    keys: &RoundKeys,
    counter: &mut impl Counter,
    data: InOutBuf<'_, '_, u8>,
) {
    let first = counter.number();
    let mode = XOR;
    if let Some(next) = after(first, data.len()) {
        // Before the kernel: the next request waits for the counter only.
        counter.set(next);
        best!(isa, ctr(keys, first, data, mode));
    } else {
        across(isa, keys, counter, data, mode);
    }
}

/// XORs keystream from `counter` on into `data`, in which the lower half of the counter does not
/// wrap. A caller that has kernels of its own from AES instructions on needs only `LOW` levels.
#[inline(always)]
pub(crate) fn xor_from<const LOW: bool>(
    isa: Isa,
    keys: &RoundKeys,
    counter: u128,
    data: InOutBuf<'_, '_, u8>,
) {
    let mode = XOR;
    if LOW {
        by_isa!(crate::aes, isa, ctr(keys, counter, data, mode): Ssse3, _ => portable);
    } else {
        best!(isa, ctr(keys, counter, data, mode));
    }
}

/// Writes keystream from `counter` on over `out`, and leaves the next counter there.
#[inline(always)]
pub(super) fn keystream(isa: Isa, keys: &RoundKeys, counter: &mut impl Counter, out: &mut [u8]) {
    let first = counter.number();
    if let Some(next) = after(first, out.len()) {
        counter.set(next);
        best!(isa, keystream(keys, first, out));
    } else {
        across(isa, keys, counter, out.into(), WRITE);
    }
}

/// [`xor`] or [`keystream`] past a wrap of the counter's lower half.
#[cold]
#[inline(never)]
fn across<const MODE: bool>(
    isa: Isa,
    keys: &RoundKeys,
    counter: &mut impl Counter,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<MODE>,
) {
    // The functions that other requests take, so that there are no more copies of them.
    let run = |first, mut part: InOutBuf<'_, '_, u8>| {
        if MODE {
            let mode = XOR;
            best!(isa, ctr(keys, first, part, mode));
        } else {
            let out = part.get_out();
            best!(isa, keystream(keys, first, out));
        }
    };
    let first = counter.number();
    let (bytes, next) = to_wrap(first, data.len());
    let (part, rest) = data.split_at(bytes);
    run(first, part);
    counter.set(next);
    match after(next, rest.len()) {
        Some(last) => {
            counter.set(last);
            run(next, rest);
        }
        None => across(isa, keys, counter, rest, Mode::<MODE>),
    }
}

/// The counter after a request of `bytes` from `counter` on, unless the lower half wraps before.
///
/// So kernels may add to the lower half alone.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half of the counter is meant")]
fn after(counter: u128, bytes: usize) -> Option<u128> {
    let blocks = bytes.div_ceil(16) as u64;
    (counter as u64).checked_add(blocks).map(|_| counter.wrapping_add(u128::from(blocks)))
}

/// For a request of `bytes` in which the lower half wraps: the bytes before it wraps, and the
/// counter there.
#[expect(clippy::cast_possible_truncation, reason = "the lower half of the counter is meant")]
fn to_wrap(counter: u128, bytes: usize) -> (usize, u128) {
    let blocks = (counter as u64).wrapping_neg();
    // No more blocks than the request has, whose bytes fit into a `usize`; the last may be a part.
    let room = (blocks as usize).saturating_mul(16);
    (room.min(bytes), counter.wrapping_add(u128::from(blocks)))
}

/// AES in counter mode (NIST SP 800-38A, section 6.5) with keys of `BITS` bits (128, 192 or 256).
///
/// The nonce is the first counter block, a 128-bit big-endian number. Each block adds one to the
/// whole of it, modulo 2^128. The key schedule is wiped on drop. Constant time in key and data;
/// counter and length are public.
pub struct AesCtr<const BITS: usize> {
    aes: AesForward<BITS>,
    /// The first counter block.
    nonce: u128,
    /// The next one.
    counter: u128,
}

macro_rules! key_size {
    ($bits:literal) => {
        impl StreamCore for AesCtr<$bits> {
            type Key = [u8; $bits / 8];
            type Nonce = [u8; 16];
            const BLOCK: usize = 16;

            #[inline]
            fn new(isa: Isa, key: &Self::Key, nonce: &Self::Nonce) -> Self {
                let nonce = u128::from_be_bytes(*nonce);
                Self { aes: AesForward::<$bits>::new(isa, key), nonce, counter: nonce }
            }

            fn remaining(&self) -> u64 {
                match self.nonce.wrapping_sub(self.counter) {
                    0 => u64::MAX,
                    left => u64::try_from(left).unwrap_or(u64::MAX),
                }
            }

            fn keystream(&mut self, out: &mut [u8]) {
                let (isa, keys) = (self.aes.isa(), self.aes.forward());
                keystream(isa, keys, &mut self.counter, out);
            }

            fn xor(&mut self, data: InOutBuf<'_, '_, u8>) {
                xor(self.aes.isa(), self.aes.forward(), &mut self.counter, data);
            }
        }

        impl Seek for AesCtr<$bits> {
            fn seek(&mut self, block: u64) {
                self.counter = self.nonce.wrapping_add(u128::from(block));
            }
        }
    };
}

key_size!(128);
key_size!(192);
key_size!(256);

impl<const BITS: usize> fmt::Debug for AesCtr<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AesCtr").field("aes", &self.aes).finish_non_exhaustive()
    }
}

// The schedule wipes itself; counters are public.
impl<const BITS: usize> ZeroizeOnDrop for AesCtr<BITS> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_is_exact_near_the_end() {
        let mut core = AesCtr::<128>::new(Isa::PORTABLE, &[0; 16], &[0xff; 16]);
        assert_eq!(core.remaining(), u64::MAX);
        let nonce = core.nonce;
        core.counter = nonce.wrapping_sub(1 << 64);
        assert_eq!(core.remaining(), u64::MAX);
        core.counter = core.counter.wrapping_add(1);
        assert_eq!(core.remaining(), u64::MAX);
        core.counter = core.counter.wrapping_add(1);
        assert_eq!(core.remaining(), u64::MAX - 1);
        core.counter = nonce.wrapping_sub(5);
        core.keystream(&mut [0; 33]);
        assert_eq!(core.remaining(), 2);
        core.keystream(&mut [0; 16]);
        assert_eq!(core.remaining(), 1);
    }
}
