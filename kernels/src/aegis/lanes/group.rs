//! The messages of a batch in order, and what is done with the texts of those side by side.

use inout::InOutBuf;

use super::Lane;

/// Messages that are ordered by length at a time.
pub(in crate::aegis::lanes) const MANY: usize = 64;

/// The places of messages that are in order.
static IN_ORDER: [u8; MANY] = {
    let mut order = [0; MANY];
    let mut at = 0;
    while at < MANY {
        order[at] = at.to_le_bytes()[0];
        at += 1;
    }
    order
};

/// Messages that are longer count as this long.
const LONGEST: u32 = u32::MAX >> 8;

/// The places of at most [`MANY`] messages, the longest first, so that those side by side end
/// together. `room` is for those that are not in order.
//
// A separate call, for the baseline: wider registers are for the messages.
#[inline(never)]
pub(in crate::aegis::lanes) fn order<'o, const KEY: usize>(
    lanes: &[Lane<'_, KEY>],
    room: &'o mut [u8; MANY],
) -> &'o [u8] {
    let count = lanes.len().min(MANY);
    if lanes.is_sorted_by(|one, next| one.data.len() >= next.data.len()) {
        return &IN_ORDER[..count];
    }
    // By how much a message is shorter than the longest that counts, and its index.
    let mut keys = [0_u32; MANY];
    for (at, (key, lane)) in (0..).zip(keys.iter_mut().zip(lanes)) {
        *key = (LONGEST - u32::try_from(lane.data.len()).map_or(LONGEST, |len| len.min(LONGEST)))
            << 8
            | at;
    }
    keys[..count].sort_unstable();
    let order = &mut room[..count];
    for (at, key) in order.iter_mut().zip(&keys) {
        [*at, ..] = key.to_le_bytes();
    }
    order
}

/// The associated data of messages.
#[inline(always)]
pub(in crate::aegis::lanes) fn aads<'a, const KEY: usize, const A: usize>(
    lanes: &[&mut Lane<'a, KEY>; A],
) -> [&'a [u8]; A] {
    lanes.each_ref().map(|lane| lane.aad)
}

/// The data of messages.
#[inline(always)]
pub(in crate::aegis::lanes) fn texts<'l, const KEY: usize, const A: usize>(
    lanes: &'l mut [&mut Lane<'_, KEY>; A],
) -> [InOutBuf<'l, 'l, u8>; A] {
    lanes.each_mut().map(|lane| lane.data.reborrow())
}

/// What is done with a text: associated data are taken, data are encrypted or decrypted.
pub(in crate::aegis::lanes) const ABSORB: u8 = 0;
pub(in crate::aegis::lanes) const ENCRYPT: u8 = 1;
pub(in crate::aegis::lanes) const DECRYPT: u8 = 2;

/// Associated data, which have no output, or data.
pub(in crate::aegis::lanes) trait Text {
    fn input(&mut self) -> &[u8];

    fn output(&mut self) -> &mut [u8];
}

impl Text for &[u8] {
    #[inline(always)]
    fn input(&mut self) -> &[u8] {
        self
    }

    #[inline(always)]
    fn output(&mut self) -> &mut [u8] {
        &mut []
    }
}

impl Text for InOutBuf<'_, '_, u8> {
    #[inline(always)]
    fn input(&mut self) -> &[u8] {
        self.get_in()
    }

    #[inline(always)]
    fn output(&mut self) -> &mut [u8] {
        self.get_out()
    }
}
