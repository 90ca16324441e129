//! The kernels of ChaCha20 and Poly1305 in turn, and the specification of those at the same time.

use inout::InOutBuf;

use super::parts::{Kept, Keystream, PASS};
use super::{OPEN, SEAL, parts};
use crate::chacha::{ChaCha, Ietf, Key, continue_ietf, ietf};
use crate::isa::{WRITE, XOR};
use crate::poly1305::{PartialHash, Poly1305};
use crate::{Isa, Level, Seek, StreamCore, wipe};

/// Bytes of a part, which Poly1305 finds in the first-level cache.
pub(super) const PART: usize = 4096;

/// RFC 8439, section 2.8, from a pass over the key block and at most three blocks of data on.
//
// A function of its own, so that the check of the machine code finds it.
#[inline(never)]
pub(super) fn run(
    isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
    mut keep: Option<&mut Kept>,
) -> [u8; 16] {
    // Higher levels have kernels of their own. The compiler uses this bound, so that a program does
    // not link those of ChaCha20 for them.
    let isa = isa.at_most(Level::Ssse3);
    let mut state = ietf(key, nonce);
    let sizes = (aad.len() as u64, data.len() as u64);
    let front = data.len().min(3 * 64);
    let mut first = [0; 4 * 64];
    let used = &mut first[..64 + front.next_multiple_of(64)];
    continue_ietf(isa, &mut state, (&mut *used).into(), WRITE);

    let (block, keystream) = used.split_first_chunk().expect("block 0 is there");
    let mut hash = parts::begun(isa, block, aad);
    let (front, rest) = data.split_at(front);
    if let (true, Some(kept)) = (rest.is_empty(), &mut keep) {
        kept.keystream.set(&keystream[front.len()..]);
    }
    parts::apply(&mut hash, keystream, front, direction);
    wipe::memory(used);
    in_parts(|part| continue_ietf(isa, &mut state, part, XOR), &mut hash, rest, direction);
    parts::tag(hash, sizes.0, sizes.1, Kept::hash(keep))
}

/// The ciphers in turn on a part each.
#[inline(always)]
fn in_parts(
    mut stream: impl FnMut(InOutBuf<'_, '_, u8>),
    hash: &mut Poly1305,
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
) {
    let mut data = data;
    while !data.is_empty() {
        let len = data.len().min(PART);
        let (mut part, rest) = data.split_at(len);
        if direction == OPEN {
            hash.absorb_padded(part.get_in());
        }
        stream(part.reborrow());
        if direction == SEAL {
            hash.absorb_padded(part.get_out());
        }
        data = rest;
    }
}

/// The first part of a call that resumes a message with a block of keystream: whole blocks, one or
/// more. The hash is in progress then.
pub(super) fn first_part<'a>(
    core: ChaCha<20, Ietf>,
    hash: &'a mut PartialHash,
    part: InOutBuf<'_, '_, u8>,
    direction: bool,
) -> &'a mut Poly1305 {
    let (mut core, mut part) = (core, part);
    if direction == SEAL {
        core.xor(part.reborrow());
    }
    let (blocks, _) = if direction == SEAL { &*part.get_out() } else { part.get_in() }.as_chunks();
    let hash = hash.go_on(&blocks[0]);
    hash.absorb(&blocks[1..]);
    if direction == OPEN {
        core.xor(part);
    }
    hash
}

/// The rest of a call that resumes a message, from the beginning of a block of Poly1305 on: takes
/// the keystream that is left, then the keystream from block `next` on. At least `least` bytes of
/// it are made at a time, and what is not used is left.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "a message so far, and what is to be done")]
pub(super) fn go_on(
    isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    next: u64,
    hash: &mut Poly1305,
    keystream: &mut Keystream,
    least: usize,
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
) {
    let length = data.len().min(keystream.left().len());
    let (front, data) = data.split_at(length);
    parts::apply(hash, keystream.left(), front, direction);
    keystream.skip(length);
    let mut core = ChaCha::<20, Ietf>::new(isa, key, nonce);
    core.seek(next);
    let whole = data.len() - data.len() % PASS;
    let (whole, rest) = data.split_at(whole);
    in_parts(|part| core.xor(part), hash, whole, direction);
    if !rest.is_empty() {
        let length = rest.len();
        keystream.fill(|bytes| fill(&mut core, bytes, length, least));
        parts::apply(hash, keystream.left(), rest, direction);
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
