//! Many messages with authentication at once, each with its own key. Messages run in lanes if there
//! is a kernel for that, and otherwise one by one.
//!
//! Each message gets the same result as from [`Cipher::seal_detached`] or
//! [`Cipher::open_detached`]. A refused message changes nothing for the others. `lanecrypt-engine`
//! sorts mixed batches, and knows at which lengths lanes are faster.

use arrayvec::ArrayVec;
use inout::InOutBuf;
use lanecrypt_kernels::aes::Aes;
use lanecrypt_kernels::chacha20poly1305::{
    ChaCha20Poly1305, Lane, XChaCha20Poly1305, open_lanes, seal_lanes,
};
use lanecrypt_kernels::gcm_siv::{self, AesGcmSiv};
use lanecrypt_kernels::{lanes, wipe};

use super::aead_key::AeadKey;
use super::chained;
use super::keyed::Keyed;
use super::{Cipher, tag};
use crate::{Algorithm, Mode, Primitive};

pub(super) mod message;

use self::message::{AT_ONCE, open_alone, refuse, seal_alone};
pub use self::message::{Lengths, Opening, Sealing};
pub use lanecrypt_kernels::in_parts;

/// What finds the key of a message that is of the variant.
macro_rules! keyed {
    ($variant:ident) => {
        |cipher: &'a Cipher| match &cipher.key {
            AeadKey::$variant(_, key) => Some(key),
            _ => None,
        }
    };
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
        (Primitive::ChaCha20 | Primitive::XChaCha20, Mode::Poly1305)
            if lengths != Lengths::NONE =>
        {
            seal_beside(lengths, messages)
        }
        (Primitive::Aes128, Mode::GcmSiv) if lengths != Lengths::NONE => {
            seal_siv(lengths, messages, keyed!(Aes128GcmSiv), AesGcmSiv::<128>::seal_lanes)
        }
        (Primitive::Aes256, Mode::GcmSiv) if lengths != Lengths::NONE => {
            seal_siv(lengths, messages, keyed!(Aes256GcmSiv), AesGcmSiv::<256>::seal_lanes)
        }
        _ if lengths == Lengths::NONE || algorithm.mac().is_none() => {
            messages.map(seal_alone).sum()
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
        (Primitive::ChaCha20 | Primitive::XChaCha20, Mode::Poly1305)
            if lengths != Lengths::NONE =>
        {
            open_beside(lengths, messages)
        }
        (Primitive::Aes128, Mode::GcmSiv) if lengths != Lengths::NONE => {
            open_siv(lengths, messages, keyed!(Aes128GcmSiv), AesGcmSiv::<128>::open_lanes)
        }
        (Primitive::Aes256, Mode::GcmSiv) if lengths != Lengths::NONE => {
            open_siv(lengths, messages, keyed!(Aes256GcmSiv), AesGcmSiv::<256>::open_lanes)
        }
        _ if lengths == Lengths::NONE || algorithm.mac().is_none() => {
            messages.map(open_alone).sum()
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

/// The key and the nonce of a message that may run in lanes.
enum LaneKey<'a> {
    Plain(&'a ChaCha20Poly1305, &'a [u8; 12]),
    Extended(&'a XChaCha20Poly1305, &'a [u8; 24]),
}

impl<'a> LaneKey<'a> {
    #[inline(always)]
    fn new(cipher: &'a Cipher, nonce: &'a [u8]) -> Option<Self> {
        match &cipher.key {
            AeadKey::ChaCha20Poly1305(_, key) => Some(Self::Plain(key, nonce.try_into().ok()?)),
            AeadKey::XChaCha20Poly1305(_, key) => Some(Self::Extended(key, nonce.try_into().ok()?)),
            _ => None,
        }
    }

    #[inline(always)]
    fn lane(self, aad: &'a [u8], data: InOutBuf<'a, 'a, u8>, tag: &'a mut [u8; 16]) -> Lane<'a> {
        match self {
            Self::Plain(key, nonce) => Lane::new(key, nonce, aad, data, tag),
            Self::Extended(key, nonce) => Lane::extended(key, nonce, aad, data, tag),
        }
    }
}

#[inline(never)]
fn seal_beside<'a>(lengths: Lengths, messages: impl Iterator<Item = Sealing<'a>>) -> usize {
    let mut lanes = ArrayVec::<Lane<'a>, AT_ONCE>::new();
    let mut refused = 0;
    for message in messages {
        let Sealing { cipher, nonce, aad, data, tag, outcome } = message;
        if lengths.contain(data.len())
            && let Some(key) = LaneKey::new(cipher, nonce)
            && cipher.key.admit_whole(aad.len(), data.len(), tag.len()).is_ok()
            && tag.len() == 16
        {
            // The length was just compared.
            let Some(tag) = tag.first_chunk_mut() else { continue };
            lanes.push(key.lane(aad, data, tag));
            if lanes.is_full() {
                seal_lanes(&mut lanes);
                lanes.clear();
            }
        } else {
            refused += seal_alone(Sealing { cipher, nonce, aad, data, tag, outcome });
        }
    }
    if !lanes.is_empty() {
        seal_lanes(&mut lanes);
    }
    refused
}

#[inline(never)]
fn open_beside<'a>(lengths: Lengths, mut messages: impl Iterator<Item = Opening<'a>>) -> usize {
    let mut refused = 0;
    loop {
        let mut right = [[0; 16]; AT_ONCE];
        let mut right = right.iter_mut();
        let mut lanes = ArrayVec::<Lane<'_>, AT_ONCE>::new();
        let mut others = ArrayVec::<_, AT_ONCE>::new();
        while !lanes.is_full()
            && let Some(message) = messages.next()
        {
            let Opening { cipher, nonce, aad, data, tag, outcome } = message;
            if lengths.contain(data.len())
                && let Some(key) = LaneKey::new(cipher, nonce)
                && cipher.key.admit_whole(aad.len(), data.len(), tag.len()).is_ok()
                && let Some(right) = right.next()
            {
                lanes.push(key.lane(aad, data, right));
                others.push((tag, outcome));
            } else {
                refused += open_alone(Opening { cipher, nonce, aad, data, tag, outcome });
            }
        }
        let last = !lanes.is_full();
        open_lanes(&mut lanes);
        for (lane, (came, outcome)) in lanes.iter_mut().zip(others) {
            if let Err(error) = tag::compare(lane.tag(), came) {
                wipe::memory(lane.output());
                refused += refuse(outcome, error);
            }
        }
        if last {
            return refused;
        }
    }
}

/// AES-GCM-SIV with keys of `BITS` bits, which `keyed` finds and `run` seals side by side.
#[inline(never)]
fn seal_siv<'a, const BITS: usize>(
    lengths: Lengths,
    messages: impl Iterator<Item = Sealing<'a>>,
    keyed: impl Fn(&'a Cipher) -> Option<&'a AesGcmSiv<BITS>>,
    run: impl Fn(&mut [gcm_siv::Lane<'a, BITS>]),
) -> usize {
    let mut lanes = ArrayVec::<gcm_siv::Lane<'a, BITS>, AT_ONCE>::new();
    let mut refused = 0;
    for message in messages {
        let Sealing { cipher, nonce, aad, data, tag, outcome } = message;
        if lengths.contain(data.len())
            && let Some(key) = keyed(cipher)
            && let Ok(own) = nonce.try_into()
            && cipher.key.admit_whole(aad.len(), data.len(), tag.len()).is_ok()
            && tag.len() == 16
        {
            // The length was just compared.
            let Some(tag) = tag.first_chunk_mut() else { continue };
            lanes.push(gcm_siv::Lane::new(key, own, aad, data, tag));
            if lanes.is_full() {
                run(&mut lanes);
                lanes.clear();
            }
        } else {
            refused += seal_alone(Sealing { cipher, nonce, aad, data, tag, outcome });
        }
    }
    if !lanes.is_empty() {
        run(&mut lanes);
    }
    refused
}

/// The same for messages to open. Their data are decrypted under the tags that came.
#[inline(never)]
fn open_siv<'a, const BITS: usize>(
    lengths: Lengths,
    mut messages: impl Iterator<Item = Opening<'a>>,
    keyed: impl Fn(&'a Cipher) -> Option<&'a AesGcmSiv<BITS>>,
    run: impl Fn(&mut [gcm_siv::Lane<'_, BITS>]),
) -> usize {
    let mut refused = 0;
    loop {
        let mut tags = [[0; 16]; AT_ONCE];
        let mut tags = tags.iter_mut();
        let mut lanes = ArrayVec::<gcm_siv::Lane<'_, BITS>, AT_ONCE>::new();
        let mut others = ArrayVec::<_, AT_ONCE>::new();
        while !lanes.is_full()
            && let Some(message) = messages.next()
        {
            let Opening { cipher, nonce, aad, data, tag, outcome } = message;
            if lengths.contain(data.len())
                && let Some(key) = keyed(cipher)
                && let Ok(own) = nonce.try_into()
                && let Ok(came) = tag.try_into()
                && cipher.key.admit_whole(aad.len(), data.len(), tag.len()).is_ok()
                && let Some(place) = tags.next()
            {
                *place = came;
                lanes.push(gcm_siv::Lane::new(key, own, aad, data, place));
                others.push((tag, outcome));
            } else {
                refused += open_alone(Opening { cipher, nonce, aad, data, tag, outcome });
            }
        }
        let last = !lanes.is_full();
        run(&mut lanes);
        for (lane, (came, outcome)) in lanes.iter_mut().zip(others) {
            if let Err(error) = tag::compare(lane.tag(), came) {
                wipe::memory(lane.output());
                refused += refuse(outcome, error);
            }
        }
        if last {
            return refused;
        }
    }
}
