//! Messages of different keys side by side: see `arx::lanes`.

use inout::InOutBuf;
use lanecrypt_kernels::arx::lanes::{Parts, SALSA};
use lanecrypt_kernels::isa::XOR;
use lanecrypt_kernels::{Isa, stream_lane};

use super::{Key, State};

/// One message of a batch: its key and nonce, the block of the keystream at which its data begin,
/// its data.
pub struct Lane<'a>(Parts<'a>);

impl<'a> Lane<'a> {
    /// A message whose data begin at `block` of the keystream. They may be of any length, in place
    /// or from one buffer to another.
    ///
    /// They must not extend past the last block that the counter can number.
    #[must_use]
    #[inline]
    pub fn new(key: &'a Key, nonce: &[u8; 8], block: u64, data: InOutBuf<'a, 'a, u8>) -> Self {
        Self(Parts { key, last: [block, u64::from_le_bytes(*nonce)], wide: true, data })
    }
}

stream_lane!(SALSA, Salsa, crate::salsa);

/// XORs the keystream into one message.
#[inline(never)]
fn alone<const ROUNDS: usize>(isa: Isa, parts: Parts<'_>) {
    if parts.data.is_empty() {
        return;
    }
    let state = State::new::<ROUNDS>(parts.key, parts.last);
    super::apply(isa, &state, parts.data, XOR);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::salsa::KERNELS;
    use lanecrypt_kernels::isa::reached::assert_best;

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
