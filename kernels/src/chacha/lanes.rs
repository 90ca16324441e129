//! Messages of different keys side by side: see `arx::lanes`.

use inout::InOutBuf;

use super::{Form, Key, State};
use crate::arx::lanes::{CHACHA, Parts};
use crate::arx::{halves, later};
use crate::isa::XOR;
use crate::{Isa, stream_lane, wipe};

/// One message of a batch: its key and nonce, the block of the keystream at which its data begin,
/// its data.
pub struct Lane<'a>(Parts<'a>);

impl<'a> Lane<'a> {
    /// A message in the form `F`, whose data begin at `block` of the keystream. They may be of any
    /// length, in place or from one buffer to another.
    ///
    /// They must not extend past the last block that the counter can number.
    #[must_use]
    #[inline]
    pub fn new<F: Form>(
        key: &'a Key,
        nonce: &F::Nonce,
        block: u64,
        data: InOutBuf<'a, 'a, u8>,
    ) -> Self {
        let [counter, nonce] = F::last_row(nonce);
        Self(Parts { key, last: [later(counter, block, F::WIDE), nonce], wide: F::WIDE, data })
    }
}

stream_lane!(CHACHA, ChaCha, crate::chacha);

/// XORs the keystream into one message.
#[inline(never)]
fn alone<const ROUNDS: usize>(isa: Isa, parts: Parts<'_>) {
    if parts.data.is_empty() {
        return;
    }
    let state = State::new::<ROUNDS>(parts.key, parts.last);
    super::apply(isa, &state, parts.wide, parts.data, XOR);
}

/// HChaCha20 of at most 16 keys and nonces side by side, as [`hchacha20`](super::hchacha20) for
/// one. The result of the rounds is a block of keystream less the words that are added after them.
#[inline(never)]
pub(crate) fn subkeys(isa: Isa, sources: &[(&Key, [u8; 16])], keys: &mut [Key; 16]) {
    let mut blocks = [[0; 64]; 16];
    let mut at = 0;
    let mut lanes = blocks.each_mut().map(|block| {
        let (key, nonce) = &sources[at.min(sources.len() - 1)];
        at += 1;
        // There is only one block, so its counter does not matter.
        Lane(Parts { key, last: numbers(nonce), wide: false, data: (&mut block[..]).into() })
    });
    xor_lanes::<20>(isa, &mut lanes[..sources.len()]);
    for ((computed, block), (key, nonce)) in keys.iter_mut().zip(&blocks).zip(sources) {
        let constant = key.words.first_chunk().expect("the constant is there");
        let [n0, n1] = numbers(nonce).map(halves);
        let [[n0, n1], [n2, n3]] = [n0, n1];
        let rows = block.as_chunks().0;
        computed.words[..4].copy_from_slice(constant);
        computed.words[4..8].copy_from_slice(&less(&rows[0], *constant));
        computed.words[8..].copy_from_slice(&less(&rows[3], [n0, n1, n2, n3]));
    }
    wipe::memory(blocks.as_flattened_mut());
}

/// The first 8 bytes of `count` blocks with these keys and last rows: the keystream of messages of
/// zeros.
pub(super) fn header_masks(
    isa: Isa,
    blocks: &[(&Key, &[u8; 16]); 16],
    count: usize,
    masks: &mut [[u8; 8]; 16],
) {
    let mut blocks = blocks.iter();
    let mut lanes = masks.each_mut().map(|front| {
        let (key, last) = blocks.next().expect("as many blocks as masks");
        *front = [0; 8];
        // There is only one block, so its counter does not matter.
        Lane(Parts { key, last: numbers(last), wide: false, data: (&mut front[..]).into() })
    });
    xor_lanes::<20>(isa, &mut lanes[..count]);
}

/// The words of a row less others.
#[inline]
fn less(row: &[u8; 16], words: [u32; 4]) -> [u32; 4] {
    let mut computed = words;
    for (word, bytes) in computed.iter_mut().zip(row.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes).wrapping_sub(*word);
    }
    computed
}

#[inline]
fn numbers(nonce: &[u8; 16]) -> [u64; 2] {
    let number = u128::from_le_bytes(*nonce);
    [low(number), low(number >> 64)]
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
fn low(number: u128) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::chacha::{Counter64, Ietf, KERNELS, hchacha20};
    use crate::isa::reached::assert_best;

    #[test]
    fn subkeys_are_those_of_hchacha20() {
        let sources: Vec<_> = (0..16_u8).map(|n| (Key::from(&[n; 32]), [255 - n; 16])).collect();
        for &level in Level::built() {
            let isa = Isa::of_processor().at_most(level);
            for count in [1, 2, 3, 8, 16] {
                let sources: Vec<_> =
                    sources[..count].iter().map(|(key, nonce)| (key, *nonce)).collect();
                let mut keys = [0; 16].map(|_| Key::from(&[0; 32]));
                subkeys(isa, &sources, &mut keys);
                for ((key, nonce), computed) in sources.iter().zip(&keys) {
                    let one = hchacha20(Isa::PORTABLE, key, nonce);
                    assert_eq!(computed.words, one.words, "{level}, {count} keys");
                }
            }
        }
    }

    /// Fewer messages go one after the other, whose last dispatch says nothing of lanes.
    #[test]
    fn every_level_reaches_its_kernel() {
        let (one, two) = (Key::from(&[1; 32]), Key::from(&[2; 16]));
        let mut data = [[0; 50]; 4];
        assert_best(KERNELS, |isa| {
            let [a, b, c, d] = data.each_mut().map(|data| InOutBuf::from(&mut data[..]));
            let mut lanes = [
                Lane::new::<Ietf>(&one, &[3; 12], 4, a),
                Lane::new::<Counter64>(&two, &[5; 8], 6, b),
                Lane::new::<Ietf>(&two, &[7; 12], 8, c),
                Lane::new::<Ietf>(&one, &[9; 12], 1, d),
            ];
            xor_lanes::<12>(isa, &mut lanes);
        });
    }
}
