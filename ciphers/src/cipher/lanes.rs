//! Many messages with authentication at once, each with its own key. Messages run in lanes if there
//! is a kernel for that, and otherwise one by one.
//!
//! Each message gets the same result as from [`Cipher::seal_detached`] or
//! [`Cipher::open_detached`]. A refused message changes nothing for the others. `lanecrypt-engine`
//! sorts mixed batches, and knows at which lengths lanes are faster.

use arrayvec::ArrayVec;
use lanecrypt_kernels as kernels;
use lanecrypt_kernels::aes::Aes;
use lanecrypt_kernels::{AeadLanes, Bytes, lanes, wipe};

use super::any_key::Variants;
use super::chained;
use super::key::Key;
use super::{Cipher, tag};
use crate::table::algorithms;
use crate::{Algorithm, Level, Mode, Primitive};

pub(super) mod message;

use self::message::{AT_ONCE, open_alone, refuse, seal_alone};
pub use self::message::{Lengths, Opening, Sealing};
pub use lanecrypt_kernels::in_parts;

/// What finds the key of a message that is of the variant.
macro_rules! keyed {
    ($variant:ident) => {
        |cipher: &'a Cipher| match &cipher.key.0 {
            Variants::$variant(_, key) => Some(key),
            _ => None,
        }
    };
}

/// Calls `$run` with what finds the keys of an algorithm whose kernel has lanes, or `$alone` for
/// each message.
macro_rules! by_lanes {
    ({ $run:ident, $algorithm:expr, $lengths:expr, $messages:expr, $alone:expr }
     aead { $($(#[doc = $doc:literal])+ $constant:ident = $number:literal $name:literal
              $primitive:ident $mode:ident [$($openssl:literal)*]
              $typed:ident: $kernel:ty $(, $lanes:ident)?;)+ }
     $($others:tt)*) => {
        match ($algorithm.primitive(), $algorithm.mode()) {
            $($((Primitive::$primitive, Mode::$mode) => {
                // Rows without lanes have no such arm.
                const _: Level = <$kernel as kernels::$lanes>::FROM;
                $run::<'a, $kernel>($lengths, $messages, keyed!($typed))
            })?)+
            _ => $messages.map($alone).sum(),
        }
    };
}

macro_rules! aead {
    ($($arguments:tt)*) => { algorithms!(by_lanes! { $($arguments)* }) };
}

/// Seals each message, as [`Cipher::seal_detached`] does, and returns how many were refused.
///
/// All messages should be of `algorithm`. A message of another algorithm is sealed as well, but
/// alone. Messages of these `lengths` run in lanes, if there is a kernel for that. Constant time
/// except for lengths.
pub fn seal<'a>(
    algorithm: Algorithm,
    lengths: Lengths,
    messages: impl Iterator<Item = Sealing<'a>>,
) -> usize {
    match (algorithm.primitive(), algorithm.mode()) {
        _ if lengths == Lengths::NONE => messages.map(seal_alone).sum(),
        _ if algorithm.mac().is_none() => {
            aead!(seal_beside, algorithm, lengths, messages, seal_alone)
        }
        (Primitive::Aes128, Mode::Cbc) => {
            let run = |lanes: &mut [lanes::Lane<'a, _, 16>]| Aes::<128>::cbc_encrypt_lanes(lanes);
            chained::lanes::seal_cbc(lengths, messages, keyed!(Aes128CbcHmac), run)
        }
        (Primitive::Aes128, Mode::Ctr) => {
            chained::lanes::seal(lengths, messages, keyed!(Aes128CtrHmac))
        }
        (Primitive::Aes192, Mode::Cbc) => {
            let run = |lanes: &mut [lanes::Lane<'a, _, 16>]| Aes::<192>::cbc_encrypt_lanes(lanes);
            chained::lanes::seal_cbc(lengths, messages, keyed!(Aes192CbcHmac), run)
        }
        (Primitive::Aes256, Mode::Cbc) => {
            let run = |lanes: &mut [lanes::Lane<'a, _, 16>]| Aes::<256>::cbc_encrypt_lanes(lanes);
            chained::lanes::seal_cbc(lengths, messages, keyed!(Aes256CbcHmac), run)
        }
        (Primitive::Aes256, Mode::Ctr) => {
            chained::lanes::seal(lengths, messages, keyed!(Aes256CtrHmac))
        }
        _ => messages.map(seal_alone).sum(),
    }
}

/// Opens each message, as [`Cipher::open_detached`] does, and returns how many were refused. The
/// output of messages that are not authentic has been wiped.
///
/// All messages should be of `algorithm`. A message of another algorithm is opened as well, but
/// alone. Messages of these `lengths` run in lanes, if there is a kernel for that. Constant time
/// except for lengths and for whether a message is authentic.
pub fn open<'a>(
    algorithm: Algorithm,
    lengths: Lengths,
    messages: impl Iterator<Item = Opening<'a>>,
) -> usize {
    match (algorithm.primitive(), algorithm.mode()) {
        _ if lengths == Lengths::NONE => messages.map(open_alone).sum(),
        _ if algorithm.mac().is_none() => {
            aead!(open_beside, algorithm, lengths, messages, open_alone)
        }
        (Primitive::Aes128, Mode::Cbc) => {
            chained::lanes::open(lengths, messages, keyed!(Aes128CbcHmac))
        }
        (Primitive::Aes128, Mode::Ctr) => {
            chained::lanes::open(lengths, messages, keyed!(Aes128CtrHmac))
        }
        (Primitive::Aes192, Mode::Cbc) => {
            chained::lanes::open(lengths, messages, keyed!(Aes192CbcHmac))
        }
        (Primitive::Aes256, Mode::Cbc) => {
            chained::lanes::open(lengths, messages, keyed!(Aes256CbcHmac))
        }
        (Primitive::Aes256, Mode::Ctr) => {
            chained::lanes::open(lengths, messages, keyed!(Aes256CtrHmac))
        }
        _ => messages.map(open_alone).sum(),
    }
}

/// Seals the messages that may run in lanes, as many at once as given, and the others one
/// by one.
#[inline(never)]
fn seal_beside<'a, K: AeadLanes + 'a>(
    lengths: Lengths,
    messages: impl Iterator<Item = Sealing<'a>>,
    key: impl Fn(&'a Cipher) -> Option<&'a K>,
) -> usize {
    let mut lanes = ArrayVec::<K::Lane<'a>, AT_ONCE>::new();
    let mut refused = 0;
    for message in messages {
        let Sealing { cipher, nonce, aad, data, tag, outcome } = message;
        if lengths.contains(data.len())
            && let Some(key) = key(cipher)
            && let Some(nonce) = K::Nonce::from_slice(nonce)
            && cipher.key.facts().admit(aad.len(), data.len(), tag.len()).is_ok()
            && tag.len() == 16
        {
            // The length was just compared.
            let Some(tag) = tag.first_chunk_mut() else { continue };
            lanes.push(key.lane(nonce, aad, data, tag));
            if lanes.is_full() {
                K::seal_lanes(&mut lanes);
                lanes.clear();
            }
        } else {
            refused += seal_alone(Sealing { cipher, nonce, aad, data, tag, outcome });
        }
    }
    if !lanes.is_empty() {
        K::seal_lanes(&mut lanes);
    }
    refused
}

/// The same for messages to open, whose tags are compared here.
#[inline(never)]
fn open_beside<'a, K: AeadLanes + 'a>(
    lengths: Lengths,
    mut messages: impl Iterator<Item = Opening<'a>>,
    key: impl Fn(&'a Cipher) -> Option<&'a K>,
) -> usize {
    let mut refused = 0;
    loop {
        let mut tags = [[0; 16]; AT_ONCE];
        let mut tags = tags.iter_mut();
        let mut lanes = ArrayVec::<K::Lane<'_>, AT_ONCE>::new();
        let mut others = ArrayVec::<_, AT_ONCE>::new();
        while !lanes.is_full()
            && let Some(message) = messages.next()
        {
            let Opening { cipher, nonce, aad, data, tag, outcome } = message;
            if lengths.contains(data.len())
                && let Some(key) = key(cipher)
                && let Some(nonce) = K::Nonce::from_slice(nonce)
                && cipher.key.facts().admit(aad.len(), data.len(), tag.len()).is_ok()
                && let Some(right) = tags.next()
            {
                // Kernels that need the tag that came have tags of this length only.
                if let Ok(came) = tag.try_into() {
                    *right = came;
                }
                lanes.push(key.lane(nonce, aad, data, right));
                others.push((tag, outcome));
            } else {
                refused += open_alone(Opening { cipher, nonce, aad, data, tag, outcome });
            }
        }
        let last = !lanes.is_full();
        K::open_lanes(&mut lanes);
        for (lane, (came, outcome)) in lanes.iter_mut().zip(others) {
            if let Err(error) = tag::compare(K::lane_tag(lane), came) {
                wipe::memory(K::lane_output(lane));
                refused += refuse(outcome, error);
            }
        }
        if last {
            return refused;
        }
    }
}
