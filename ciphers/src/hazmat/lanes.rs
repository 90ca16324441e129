//! Many messages at once, each with its own key. Messages run in lanes if there is a kernel for
//! that, and otherwise one by one.
//!
//! Each message gets the same result as from [`RawCipher::encrypt`] or [`RawCipher::decrypt`]. A
//! refused message changes nothing for the others. `lanecrypt-engine` sorts mixed batches, and
//! knows at which lengths lanes are faster.

use core::fmt;

use arrayvec::ArrayVec;
use inout::InOutBuf;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::{BlockEncrypt, StreamCore, in_parts, into_blocks};

use super::RawCipher;
use super::block_modes::sized;
use super::expanded_key::ExpandedKey;
use super::legacy::raw_ciphers;
use super::stream_key::{ParsedKey, StreamKey, block_and_nonce};
use super::table::{SideBySide, kernels};
pub use crate::cipher::lanes::Lengths;
use crate::{Algorithm, Error, Mode, Primitive};

/// The number of messages of a block cipher that a kernel gets at once: as many as fill the widest
/// registers for DES with AVX2.
const CHAINS: usize = 256;
/// The number of messages of a stream cipher that a kernel gets at once.
const STREAMS: usize = 64;

/// Longer messages of a stream cipher run alone, where the end of the keystream is checked. They
/// would fill all registers by themselves anyway.
const LONGEST_STREAM: u32 = 1 << 20;
/// Messages that begin at a later block run alone, too. Before it, no message of at most
/// `LONGEST_STREAM` bytes reaches the end of the shortest counter.
const LAST_START: u64 = (1 << 32) - LONGEST_STREAM as u64 / 64;

/// A message to encrypt or decrypt: the arguments of [`RawCipher::encrypt`].
#[expect(clippy::exhaustive_structs, reason = "the owner of a batch makes it, field by field")]
pub struct Message<'a> {
    /// Its key.
    pub cipher: &'a RawCipher,
    /// Its initialization vector, its nonce, or block and nonce: see [`RawCipher`].
    pub iv: &'a [u8],
    /// The data to encrypt or decrypt, in place or from one buffer to another.
    pub data: InOutBuf<'a, 'a, u8>,
    /// The place for an error. Nothing is written there without an error.
    pub outcome: &'a mut Result<(), Error>,
}

/// Encrypts each message, as [`RawCipher::encrypt`] does, and returns how many were refused.
///
/// All messages should be of `algorithm`. A message of another algorithm is encrypted as well, but
/// alone. Messages of these `lengths` run in lanes, if there is a kernel for that. As constant-time
/// as the algorithm is.
pub fn encrypt<'a>(
    algorithm: Algorithm,
    lengths: Lengths,
    messages: impl Iterator<Item = Message<'a>>,
) -> usize {
    macro_rules! chains {
        ({} blocks {
            $([$($primitive:ident)+] $cbc:ident $ctr:ident $ecb:ident:
              $cipher:ty, $forward:ty, $core:ty;)+
        } streams $streams:tt $($more:tt)*) => {
            match (algorithm.primitive(), algorithm.mode()) {
                $(($(Primitive::$primitive)|+, Mode::Cbc) => {
                    let key = |expanded: &'a ExpandedKey| match expanded {
                        ExpandedKey::$cbc(key) => Some(key),
                        _ => None,
                    };
                    chained(lengths, messages, key, <$cipher>::cbc_encrypt_lanes)
                })+
                _ => xor(algorithm, lengths, messages, encrypt_alone),
            }
        };
    }
    raw_ciphers!(chains! {})
}

/// Decrypts each message, as [`RawCipher::decrypt`] does, and returns how many were refused.
///
/// All messages should be of `algorithm`. A message of another algorithm is decrypted as well, but
/// alone. Messages of these `lengths` run in lanes, if there is a kernel for that. Only streams
/// have one, because the other modes decrypt many blocks of one message at once. As constant-time
/// as the algorithm is.
pub fn decrypt<'a>(
    algorithm: Algorithm,
    lengths: Lengths,
    messages: impl Iterator<Item = Message<'a>>,
) -> usize {
    xor(algorithm, lengths, messages, decrypt_alone)
}

/// Both directions of a stream. `alone` serves messages that have no lanes.
#[inline(never)]
fn xor<'a>(
    algorithm: Algorithm,
    lengths: Lengths,
    messages: impl Iterator<Item = Message<'a>>,
    alone: fn(Message<'a>) -> usize,
) -> usize {
    macro_rules! streams {
        ({} blocks $blocks:tt streams {
            $([$primitive:ident $mode:ident] $stream:ident: $core:ty;)+
        } $($more:tt)*) => {
            match (algorithm.primitive(), algorithm.mode()) {
                _ if lengths == Lengths::NONE => messages.map(alone).sum(),
                $((Primitive::$primitive, Mode::$mode) => {
                    let key = |expanded: &'a ExpandedKey| match expanded {
                        ExpandedKey::Stream(StreamKey::$stream(key)) => Some(key),
                        _ => None,
                    };
                    side_by_side(lengths, messages, key, alone)
                })+
                _ => messages.map(alone).sum(),
            }
        };
    }
    raw_ciphers!(streams! {})
}

// Messages are passed by value. If the address of a message were taken anywhere, even on a rare
// path, the whole message would be stored each time and read again at other widths, which stalls on
// the stores.

/// Serves a message of any algorithm alone. Returns 1 if it is refused.
#[inline(never)]
fn encrypt_alone(message: Message<'_>) -> usize {
    // The buffer was just stored in parts, and is read in parts.
    match message.cipher.encrypt(message.iv, in_parts(message.data)) {
        Ok(()) => 0,
        Err(error) => refuse(message.outcome, error),
    }
}

/// Serves a message of any algorithm alone. Returns 1 if it is refused.
#[inline(never)]
fn decrypt_alone(message: Message<'_>) -> usize {
    // The buffer was just stored in parts, and is read in parts.
    match message.cipher.decrypt(message.iv, in_parts(message.data)) {
        Ok(()) => 0,
        Err(error) => refuse(message.outcome, error),
    }
}

/// CBC encryption. `run` takes messages in lanes.
#[inline(never)]
fn chained<'a, C: BlockEncrypt<N> + 'a, const N: usize>(
    lengths: Lengths,
    messages: impl Iterator<Item = Message<'a>>,
    key: impl Fn(&'a ExpandedKey) -> Option<&'a C>,
    run: impl Fn(&mut [Lane<'a, C, N>]),
) -> usize {
    let mut lanes = ArrayVec::<_, CHAINS>::new();
    let mut refused = 0;
    for Message { cipher, iv, data, outcome } in messages {
        let Some(key) = key(&cipher.key) else {
            refused += encrypt_alone(Message { cipher, iv, data, outcome });
            continue;
        };
        let Ok(iv) = sized(iv) else {
            refused += refuse(outcome, Error::NonceLength);
            continue;
        };
        let bytes = data.len();
        if bytes % N != 0 {
            refused += refuse(outcome, Error::DataLength);
        } else if lengths.contains(bytes) {
            let (blocks, _) = into_blocks(data);
            lanes.push(Lane { key, iv, blocks });
            if lanes.is_full() {
                run(&mut lanes);
                lanes.clear();
            }
        } else {
            let (blocks, _) = into_blocks(data);
            let mut chain: [u8; N] = *iv;
            key.cbc_encrypt(&mut chain, blocks);
        }
    }
    if !lanes.is_empty() {
        run(&mut lanes);
    }
    refused
}

/// A stream. `alone` takes messages one by one.
#[inline(never)]
fn side_by_side<'a, C: SideBySide + StreamCore<Nonce = [u8; N]> + 'a, const N: usize>(
    lengths: Lengths,
    messages: impl Iterator<Item = Message<'a>>,
    key: impl Fn(&'a ExpandedKey) -> Option<&'a ParsedKey<C>>,
    alone: fn(Message<'a>) -> usize,
) -> usize {
    let lengths = Lengths { longest: lengths.longest.min(LONGEST_STREAM), ..lengths };
    let mut lanes = ArrayVec::<_, STREAMS>::new();
    let mut isa = None;
    let mut refused = 0;
    for Message { cipher, iv, data, outcome } in messages {
        if lengths.contains(data.len())
            && let Some(parsed) = key(&cipher.key)
            && let Ok((block, nonce)) = block_and_nonce(iv)
            && block <= LAST_START
            && *isa.get_or_insert(parsed.isa) == parsed.isa
        {
            lanes.push(C::lane(&parsed.key, nonce, block, data));
            if lanes.is_full() {
                C::xor_lanes(parsed.isa, &mut lanes);
                lanes.clear();
            }
        } else {
            refused += alone(Message { cipher, iv, data, outcome });
        }
    }
    if let Some(isa) = isa
        && !lanes.is_empty()
    {
        C::xor_lanes(isa, &mut lanes);
    }
    refused
}

#[cold]
fn refuse(outcome: &mut Result<(), Error>, error: Error) -> usize {
    *outcome = Err(error);
    1
}

/// Without key and data.
impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("cipher", self.cipher).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stray<'a>(
        cipher: &'a RawCipher,
        data: &'a mut [u8],
        outcome: &'a mut Result<(), Error>,
    ) -> impl Iterator<Item = Message<'a>> {
        core::iter::once(Message { cipher, iv: &[2; 16], data: data.into(), outcome })
    }

    /// A message of another algorithm than the named one is served correctly.
    #[test]
    fn strays_are_served_alone() {
        let cbc = RawCipher::new(Algorithm::AES_128_CBC, &[1; 16]).expect("a good key");
        let mut right = [7; 32];
        cbc.encrypt(&[2; 16], &mut right[..]).expect("whole blocks");
        for named in [Algorithm::AES_128_CTR, Algorithm::CHACHA20_IETF, Algorithm::SERPENT_128_CBC]
        {
            for lengths in [Lengths::NONE, Lengths::ALL] {
                let (mut data, mut outcomes) = ([7; 32], [Ok(()); 2]);
                let [to, back] = &mut outcomes;
                let strays = stray(&cbc, &mut data, to);
                assert_eq!(encrypt(named, lengths, strays), 0, "{named}");
                assert_eq!(data, right, "{named}");
                let strays = stray(&cbc, &mut data, back);
                assert_eq!(decrypt(named, lengths, strays), 0, "{named}");
                assert_eq!((data, outcomes), ([7; 32], [Ok(()); 2]), "{named}");
            }
        }
    }
}
