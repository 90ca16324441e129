//! The kernels of ChaCha20 and Poly1305 in turn, and the specification of those at the same time.

use inout::InOutBuf;

use super::parts::{Keystream, PASS};
use super::{OPEN, SEAL, parts};
use crate::chacha::{ChaCha, Ietf, Key};
use crate::isa::Mode;
use crate::poly1305::{Keep, PartialHash, Poly1305};
use crate::{Isa, Seek, StreamCore, wipe};

/// Bytes of a part, which Poly1305 finds in the first-level cache.
pub(super) const PART: usize = 4096;

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
    mut keep: K,
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
    if rest.is_empty() {
        keep.keystream(&keystream[front.len()..]);
    }
    parts::apply::<MODE>(&mut hash, keystream, front);
    wipe::memory(used);
    in_parts::<MODE>(&mut core, &mut hash, rest);
    parts::tag(hash, sizes.0, sizes.1, keep)
}

/// The ciphers in turn on a part each.
#[inline(always)]
fn in_parts<const MODE: bool>(
    core: &mut ChaCha<20, Ietf>,
    hash: &mut Poly1305,
    data: InOutBuf<'_, '_, u8>,
) {
    let mut data = data;
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
}

/// The first part of a call that resumes a message with a block of keystream: whole blocks, one or
/// more. The hash is in progress then.
pub(super) fn first_part<'a, const MODE: bool>(
    core: ChaCha<20, Ietf>,
    hash: &'a mut PartialHash,
    part: InOutBuf<'_, '_, u8>,
) -> &'a mut Poly1305 {
    let (mut core, mut part) = (core, part);
    if MODE == SEAL {
        core.xor(part.reborrow());
    }
    let (blocks, _) = if MODE == SEAL { &*part.get_out() } else { part.get_in() }.as_chunks();
    let hash = hash.go_on(&blocks[0]);
    hash.absorb(&blocks[1..]);
    if MODE == OPEN {
        core.xor(part);
    }
    hash
}

/// The rest of a call that resumes a message, from the beginning of a block of Poly1305 on: takes
/// the keystream that is left, then the keystream from block `next` on. At least `least` bytes of
/// it are made at a time, and what is not used is left.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "a message so far, and what is to be done")]
pub(super) fn go_on<const MODE: bool>(
    isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    next: u64,
    hash: &mut Poly1305,
    keystream: &mut Keystream,
    least: usize,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<MODE>,
) {
    let length = data.len().min(keystream.left().len());
    let (front, data) = data.split_at(length);
    parts::apply::<MODE>(hash, keystream.left(), front);
    keystream.skip(length);
    let mut core = ChaCha::<20, Ietf>::new(isa, key, nonce);
    core.seek(next);
    let whole = data.len() - data.len() % PASS;
    let (whole, rest) = data.split_at(whole);
    in_parts::<MODE>(&mut core, hash, whole);
    if !rest.is_empty() {
        let length = rest.len();
        keystream.fill(|bytes| fill(&mut core, bytes, length, least));
        parts::apply::<MODE>(hash, keystream.left(), rest);
        keystream.skip(length);
    }
}

/// Makes whole blocks of keystream: at least `length` and `least` bytes, or as many as there is a
/// place for or a block counter. The number of bytes is returned.
pub(super) fn fill(
    core: &mut ChaCha<20, Ietf>,
    bytes: &mut [u8; PASS],
    length: usize,
    least: usize,
) -> usize {
    let made = length.max(least).next_multiple_of(64).min(PASS);
    let made =
        usize::try_from(core.remaining()).map_or(made, |left| made.min(left.saturating_mul(64)));
    core.keystream(&mut bytes[..made]);
    made
}
