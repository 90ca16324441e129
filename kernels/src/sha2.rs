//! SHA-256 and SHA-512 (FIPS 180-4) of many messages, HMAC-SHA-256 (RFC 2104), HKDF-SHA-256
//! (RFC 5869), and the nonces of RFC 6979.
//!
//! A message is a list of parts of any lengths. Messages of one call share lanes, whatever their
//! lengths: a lane whose message ends takes the next one.
//!
//! Constant time in all bytes at every level: additions, rotations and masks only. Times depend on
//! lengths. What a computation keeps in memory is wiped before a function returns, except in
//! registers and on the stack.
//!
//! | level | SHA-512 | SHA-256 |
//! |---|---|---|
//! | `Portable` | one message at a time | one message at a time |
//! | `AesNi` | as `Portable` | with SHA-NI, up to four messages side by side |
//! | `Avx2` | four messages side by side | with SHA-NI as `AesNi`, else eight side by side |
//! | `Avx512` | eight messages side by side | as `Avx2` |

/// Runs a statement for 16 constants, without a loop: a register then stands for each word.
macro_rules! sixteen {
    ($i:ident => $body:expr) => {
        sixteen!(@each $i $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    };
    (@each $i:ident $body:expr; $($number:literal)+) => {
        $({
            const $i: usize = $number;
            $body;
        })+
    };
}

mod blocks;
mod hkdf;
mod hmac;
mod portable;
mod rounds256;
mod rounds512;
mod streams;
pub(crate) mod x86_64;

pub use self::hkdf::{Expand, HKDF_MOST, hkdf_expand, hkdf_extract};
pub use self::hmac::{HmacKey, hmac_keys, hmac_sha256, hmac_sha256_with};
use self::streams::Jobs;
use crate::{Isa, Level, wipe};

/// Calls the kernel of SHA-512 of the highest level that there is.
macro_rules! best512 {
    ($($call:tt)+) => { by_isa!(crate::sha2, $($call)+: Avx512, Avx2, _ => portable) };
}

/// Calls the kernel of SHA-256 of the highest level that there is.
macro_rules! best256 {
    ($($call:tt)+) => { by_isa!(crate::sha2, $($call)+: Avx2, AesNi, _ => portable) };
}

/// The levels with a kernel of SHA-512, lowest first; others run the next one below.
pub const KERNELS_512: &[Level] = best512!(levels);

/// The levels with a kernel of SHA-256, lowest first; others run the next one below.
pub const KERNELS_256: &[Level] = best256!(levels);

/// How many messages one call of a kernel takes.
const MOST: usize = 8;

/// SHA-512 of messages, each in parts.
///
/// # Panics
///
/// If there are fewer messages or more of them than places for hashes.
pub fn sha512(isa: Isa, messages: &[&[&[u8]]], out: &mut [[u8; 64]]) {
    assert_eq!(messages.len(), out.len(), "a place for each hash");
    for (messages, out) in messages.chunks(MOST).zip(out.chunks_mut(MOST)) {
        let mut states = [rounds512::START; MOST];
        let states = &mut states[..messages.len()];
        let jobs = Jobs { messages, absorbed: 0, states };
        best512!(isa, absorb512(jobs));
        for (state, out) in states.iter().zip(out) {
            for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(state) {
                *bytes = word.to_be_bytes();
            }
        }
        wipe::words(states.as_flattened_mut());
    }
}

/// SHA-256 of messages, each in parts.
///
/// # Panics
///
/// If there are fewer messages or more of them than places for hashes.
pub fn sha256(isa: Isa, messages: &[&[&[u8]]], out: &mut [[u8; 32]]) {
    assert_eq!(messages.len(), out.len(), "a place for each hash");
    for (messages, out) in messages.chunks(MOST).zip(out.chunks_mut(MOST)) {
        let mut states = [rounds256::START; MOST];
        let states = &mut states[..messages.len()];
        absorb256(isa, Jobs { messages, absorbed: 0, states });
        write256(states, out);
        wipe::words(states.as_flattened_mut());
    }
}

fn absorb256(isa: Isa, jobs: Jobs<'_, u32>) {
    best256!(isa, absorb256(jobs));
}

/// Absorbs one block of each message.
fn step256(isa: Isa, states: &mut [[u32; 8]], blocks: &[[u8; 64]]) {
    best256!(isa, step256(states, blocks));
}

/// The hashes that states are.
fn write256(states: &[[u32; 8]], out: &mut [[u8; 32]]) {
    for (state, out) in states.iter().zip(out) {
        for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(state) {
            *bytes = word.to_be_bytes();
        }
    }
}

#[cfg(test)]
mod tests;
