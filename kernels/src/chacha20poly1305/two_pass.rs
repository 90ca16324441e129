//! The kernels of ChaCha20 and Poly1305 in turn, and the specification of those at the same time.

use inout::InOutBuf;

use super::{OPEN, SEAL, parts};
use crate::chacha::{ChaCha, Ietf, Key};
use crate::isa::Mode;
use crate::poly1305::Keep;
use crate::{Isa, StreamCore, wipe};

/// Bytes of a part, which Poly1305 finds in the first-level cache.
const PART: usize = 4096;

/// RFC 8439, section 2.8, from a pass over the key block and at most three blocks of data on.
//
// A function of its own, so that the check of the machine code finds it.
#[inline(never)]
pub(super) fn run<const MODE: bool, K: Keep>(
    isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    _: Mode<MODE>,
    keep: K,
) -> [u8; 16] {
    let sizes = (aad.len() as u64, data.len() as u64);
    let mut core = ChaCha::<20, Ietf>::new(isa, key, nonce);
    let front = data.len().min(3 * 64);
    let mut first = [0; 4 * 64];
    let used = &mut first[..64 + front.next_multiple_of(64)];
    core.keystream(used);

    let (block, keystream) = used.split_first_chunk().expect("block 0 is there");
    let mut hash = parts::begun(isa, block, aad);
    let (front, rest) = data.split_at(front);
    parts::apply::<MODE>(&mut hash, keystream, front);
    wipe::memory(used);

    let mut data = rest;
    while !data.is_empty() {
        let len = data.len().min(PART);
        let (mut part, rest) = data.split_at(len);
        if MODE == OPEN {
            hash.absorb_padded(part.get_in());
        }
        core.xor(part.reborrow());
        if MODE == SEAL {
            hash.absorb_padded(part.get_out());
        }
        data = rest;
    }
    parts::tag(hash, sizes.0, sizes.1, keep)
}
