//! HMAC-SHA-256 (RFC 2104).

use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::streams::Jobs;
use super::{MOST, absorb256, rounds256, sha256, step256, write256};
use crate::{Isa, wipe};

/// A key of HMAC-SHA-256 after its two first blocks. Wiped on drop.
#[derive(Clone)]
pub struct HmacKey {
    inner: [u32; 8],
    outer: [u32; 8],
}

impl HmacKey {
    /// A key of any length.
    #[must_use]
    pub fn new(isa: Isa, key: &[u8]) -> Self {
        let mut keys = [Self::default()];
        hmac_keys(isa, &[key], &mut keys);
        let [key] = keys;
        key
    }
}

/// The place for a key that [`hmac_keys`] makes.
impl Default for HmacKey {
    fn default() -> Self {
        Self { inner: [0; 8], outer: [0; 8] }
    }
}

impl Drop for HmacKey {
    #[inline]
    fn drop(&mut self) {
        wipe::words(&mut self.inner);
        wipe::words(&mut self.outer);
    }
}

impl ZeroizeOnDrop for HmacKey {}

impl fmt::Debug for HmacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HmacKey").finish_non_exhaustive()
    }
}

/// Keys from bytes of any lengths.
///
/// # Panics
///
/// If there are fewer keys or more of them than places.
pub fn hmac_keys(isa: Isa, keys: &[&[u8]], out: &mut [HmacKey]) {
    assert_eq!(keys.len(), out.len(), "a place for each key");
    if let ([_], [_]) = (keys, &*out) {
        return make::<1>(isa, keys, out);
    }
    for (keys, out) in keys.chunks(MOST).zip(out.chunks_mut(MOST)) {
        make::<MOST>(isa, keys, out);
    }
}

/// At most `N` keys.
fn make<const N: usize>(isa: Isa, keys: &[&[u8]], out: &mut [HmacKey]) {
    let mut states = [[rounds256::START; 2]; N];
    let mut blocks = [[[0; 64]; 2]; N];
    let states = &mut states[..keys.len()];
    let blocks = &mut blocks[..keys.len()];
    for (key, [inner, outer]) in keys.iter().zip(&mut *blocks) {
        if let Some(bytes) = inner.get_mut(..key.len()) {
            bytes.copy_from_slice(key);
        } else {
            let (place, _) = inner.as_chunks_mut();
            sha256(isa, &[&[key]], &mut place[..1]);
        }
        *outer = inner.map(|byte| byte ^ 0x5c);
        *inner = inner.map(|byte| byte ^ 0x36);
    }
    step256(isa, states.as_flattened_mut(), blocks.as_flattened());
    for (key, &[inner, outer]) in out.iter_mut().zip(&*states) {
        (key.inner, key.outer) = (inner, outer);
    }
    wipe::words(states.as_flattened_mut().as_flattened_mut());
    wipe::memory(blocks.as_flattened_mut().as_flattened_mut());
}

/// HMAC-SHA-256 of messages, each in parts, each under its key.
///
/// # Panics
///
/// If there are not as many keys as messages and as places for tags.
pub fn hmac_sha256_with(isa: Isa, keys: &[&HmacKey], messages: &[&[&[u8]]], out: &mut [[u8; 32]]) {
    let fits = keys.len() == messages.len() && messages.len() == out.len();
    assert!(fits, "a key and a place for each message");
    if let [_] = keys {
        return tags::<1>(isa, keys, messages, out);
    }
    let chunks = keys.chunks(MOST).zip(messages.chunks(MOST)).zip(out.chunks_mut(MOST));
    for ((keys, messages), out) in chunks {
        tags::<MOST>(isa, keys, messages, out);
    }
}

/// At most `N` tags.
fn tags<const N: usize>(isa: Isa, keys: &[&HmacKey], messages: &[&[&[u8]]], out: &mut [[u8; 32]]) {
    let mut states = [[0; 8]; N];
    let states = &mut states[..keys.len()];
    for (state, key) in states.iter_mut().zip(keys) {
        *state = key.inner;
    }
    absorb256(isa, Jobs { messages, absorbed: 64, states: &mut *states });
    let mut blocks = [OUTER; N];
    let blocks = &mut blocks[..keys.len()];
    for ((block, state), key) in blocks.iter_mut().zip(&mut *states).zip(keys) {
        // There is no hash for the second half of the block.
        write256(&[*state], block.as_chunks_mut().0);
        *state = key.outer;
    }
    step256(isa, states, blocks);
    write256(states, out);
    wipe::words(states.as_flattened_mut());
    wipe::memory(blocks.as_flattened_mut());
}

/// HMAC-SHA-256 of messages, each in parts, each under a key of any length.
///
/// # Panics
///
/// If there are not as many keys as messages and as places for tags.
pub fn hmac_sha256(isa: Isa, keys: &[&[u8]], messages: &[&[&[u8]]], out: &mut [[u8; 32]]) {
    let fits = keys.len() == messages.len() && messages.len() == out.len();
    assert!(fits, "a key and a place for each message");
    let chunks = keys.chunks(MOST).zip(messages.chunks(MOST)).zip(out.chunks_mut(MOST));
    for ((keys, messages), out) in chunks {
        let mut made = [const { HmacKey { inner: [0; 8], outer: [0; 8] } }; MOST];
        hmac_keys(isa, keys, &mut made[..keys.len()]);
        hmac_sha256_with(isa, &made.each_ref()[..keys.len()], messages, out);
    }
}

/// The last block of a tag: a hash, and the padding of 96 bytes.
const OUTER: [u8; 64] = {
    let mut block = [0; 64];
    block[32] = 0x80;
    [block[62], block[63]] = (96 * 8_u16).to_be_bytes();
    block
};
