//! Messages of different keys side by side: see `arx::lanes`.

use core::fmt;

use inout::InOutBuf;

use super::{Key, State};
use crate::arx::lanes::{self, Message, Parts, SALSA};
use crate::{Isa, wipe};

/// One message of a batch: its key and nonce, the block of its keystream that its data begin at,
/// its data.
pub struct Lane<'a>(Parts<'a>);

impl<'a> Lane<'a> {
    /// A message whose data begin at `block` of the keystream; they may be of any length and lie in
    /// place or go from one buffer to another.
    ///
    /// They must not reach past the last block that the counter can name.
    #[must_use]
    #[inline]
    pub fn new(key: &'a Key, nonce: &[u8; 8], block: u64, data: InOutBuf<'a, 'a, u8>) -> Self {
        Self(Parts { key, last: [block, u64::from_le_bytes(*nonce)], wide: true, data })
    }
}

impl fmt::Debug for Lane<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("bytes", &self.0.data.len()).finish_non_exhaustive()
    }
}

/// XORs into the data of each message its keystream of Salsa20 with `ROUNDS` rounds: 8, 12 or 20;
/// any other number does not compile.
///
/// Constant time in keys, nonces and data; lengths are public. The lanes stay as they are.
#[inline]
pub fn xor_lanes<const ROUNDS: usize>(isa: Isa, lanes: &mut [Lane<'_>]) {
    const { assert!(matches!(ROUNDS, 8 | 12 | 20), "Salsa20 has 8, 12 or 20 rounds") };
    xor(isa, ROUNDS, lanes);
}

/// One for all numbers of rounds, so that callers need no kernel of their own.
#[inline(never)]
fn xor(isa: Isa, rounds: usize, lanes: &mut [Lane<'_>]) {
    lanes::xor(isa, rounds, lanes);
}

impl Message for Lane<'_> {
    const CIPHER: bool = SALSA;

    #[inline(always)]
    fn parts(&self) -> &Parts<'_> {
        &self.0
    }

    #[inline(always)]
    fn data(&mut self) -> InOutBuf<'_, '_, u8> {
        self.0.data.reborrow()
    }

    #[inline(never)]
    fn alone(&mut self, isa: Isa, rounds: usize) {
        if self.0.data.is_empty() {
            return;
        }
        match rounds {
            8 => whole::<8>(isa, &mut self.0),
            12 => whole::<12>(isa, &mut self.0),
            _ => whole::<20>(isa, &mut self.0),
        }
    }
}

#[inline]
fn whole<const ROUNDS: usize>(isa: Isa, parts: &mut Parts<'_>) {
    let [counter, nonce] = parts.last;
    let mut state = State::<ROUNDS> { key: parts.key.words, counter, nonce };
    super::xor(isa, &state, parts.data.reborrow());
    wipe::words(&mut state.key);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::assert_best;
    use crate::salsa::KERNELS;

    /// Fewer messages go one after the other, whose last dispatch says nothing of lanes.
    #[test]
    fn every_level_reaches_its_kernel() {
        let (one, two) = (Key::from(&[1; 32]), Key::from(&[2; 16]));
        let mut data = [[0; 50]; 4];
        assert_best(KERNELS, |isa| {
            let [a, b, c, d] = data.each_mut().map(|data| InOutBuf::from(&mut data[..]));
            let mut lanes = [
                Lane::new(&one, &[3; 8], 4, a),
                Lane::new(&two, &[5; 8], 6, b),
                Lane::new(&two, &[7; 8], 8, c),
                Lane::new(&one, &[9; 8], 1, d),
            ];
            xor_lanes::<12>(isa, &mut lanes);
        });
    }
}
