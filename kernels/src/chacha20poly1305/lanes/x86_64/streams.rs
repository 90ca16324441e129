//! Keystream of eight short messages at a time, in lanes; then each message by itself.

#[cfg(feature = "isa-ssse3")]
use crate::Level;
use crate::chacha::{self, Ietf};
use crate::chacha20poly1305::lanes::{Lane, alone};
use crate::chacha20poly1305::parts;
use crate::isa::Mode;
use crate::{Isa, wipe};

/// The kernel of ChaCha20 in lanes checks by itself for higher levels.
#[cfg(feature = "isa-ssse3")]
pub(crate) const NEEDS: Level = Level::Ssse3;

/// The most bytes of a message whose keystream is made beside that of others.
pub(super) const LONGEST: usize = 64;

/// Messages at a time.
const MANY: usize = 8;

#[target_feature(enable = "ssse3")]
pub(crate) fn run<const MODE: bool>(lanes: &mut [Lane<'_>], _: Mode<MODE>) {
    for lanes in lanes.chunks_mut(MANY) {
        if lanes.len() < 3 || lanes.iter().any(|lane| lane.data.len() > LONGEST) {
            alone::<MODE>(lanes);
        } else {
            side_by_side::<MODE>(lanes[0].isa, lanes);
        }
    }
}

#[inline(never)]
fn side_by_side<const MODE: bool>(isa: Isa, lanes: &mut [Lane<'_>]) {
    let mut streams = [[0; 64 + LONGEST]; MANY];
    let mut places = streams.iter_mut();
    let mut makers: [chacha::Lane<'_>; MANY] = core::array::from_fn(|at| {
        // A missing message takes no bytes of the keystream of the first one.
        let lane = lanes.get(at).unwrap_or(&lanes[0]);
        let bytes = lanes.get(at).map_or(0, |lane| 64 + lane.data.len().next_multiple_of(64));
        let place = places.next().map_or(&mut [][..], |place| &mut place[..bytes]);
        chacha::Lane::new::<Ietf>(lane.key, &lane.nonce, 0, place.into())
    });
    chacha::xor_lanes::<20>(isa, &mut makers);
    for (lane, stream) in lanes.iter_mut().zip(&mut streams) {
        let sizes = (lane.aad.len() as u64, lane.data.len() as u64);
        let (block, rest) = stream.split_first_chunk().expect("block 0 is there");
        let mut hash = parts::begun(isa, block, lane.aad);
        parts::apply(&mut hash, rest, lane.data.reborrow(), MODE);
        *lane.tag = parts::tag(hash, sizes.0, sizes.1, None);
    }
    wipe::memory(streams.as_flattened_mut());
}
